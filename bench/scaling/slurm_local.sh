#!/usr/bin/env bash
# A real Slurm of one node, only for as long as this script runs, and trainings under it.
#
#   bench/scaling/slurm_local.sh [FOXHUNT]        one process and `srun -n2` end with the same weights; a killed rank;
#                                                 `foxhunt resume` with one process; the batch script of docs/scaling.md
#   bench/scaling/slurm_local.sh -- COMMAND …     COMMAND under that Slurm instead: … -- srun -n2 env
#
# FOXHUNT: the program, build/release/foxhunt by default. Needs munged, slurmctld, slurmd, srun (Debian: munge slurmctld
# slurmd slurm-client) and root; starts all daemons by itself, without systemd and cgroups, in a folder that it removes.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

missing=()
for program in munged slurmctld slurmd srun sbatch python3; do
  command -v "$program" >/dev/null || PATH=$PATH:/usr/sbin command -v "$program" >/dev/null || missing+=("$program")
done
[ ${#missing[@]} -eq 0 ] || {
  echo "missing: ${missing[*]}; on Debian: apt-get install munge slurmctld slurmd slurm-client" >&2
  exit 77
}
[ "$(id -u)" -eq 0 ] || { echo "needs root: slurmd starts tasks for others" >&2; exit 77; }
PATH=$PATH:/usr/sbin

state=$(mktemp -d "${TMPDIR:-/tmp}/foxhunt-slurm-XXXXXX")
pids=()
end() {
  local code=$? pid
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  if [ "$code" -ne 0 ]; then tail -n 5 "$state"/*.log >&2 || true; fi
  rm -rf "$state"
  exit "$code"
}
trap end EXIT

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])'; }

host=$(hostname -s)
chmod 755 "$state"
mkdir -p "$state/munge" "$state/ctld" "$state/d"
chmod 700 "$state/munge"
(umask 077 && dd if=/dev/urandom of="$state/munge/key" bs=1024 count=1 status=none)
cat >"$state/slurm.conf" <<CONF
ClusterName=local
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
AuthType=auth/munge
AuthInfo=socket=$state/munge.socket
CryptoType=crypto/munge
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$state/ctld
SlurmdSpoolDir=$state/d
SlurmctldPidFile=$state/ctld.pid
SlurmdPidFile=$state/d.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
SlurmctldTimeout=30
SlurmdTimeout=30
KillWait=5
NodeName=$host NodeAddr=127.0.0.1 $(slurmd -C | sed -n 's/^NodeName=[^ ]* //p' | head -1) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
CONF
export SLURM_CONF=$state/slurm.conf

start() { # name, command
  local name=$1
  shift
  "$@" >"$state/$name.log" 2>&1 &
  pids+=($!)
}
start munged munged --foreground --force --key-file="$state/munge/key" --socket="$state/munge.socket" \
  --pid-file="$state/munge.pid" --seed-file="$state/munge/seed" --log-file="$state/munge/log" --num-threads=2
for _ in $(seq 300); do [ -S "$state/munge.socket" ] && break; sleep 0.1; done
start slurmctld slurmctld -D
start slurmd slurmd -D -N "$host"
for _ in $(seq 600); do
  [ "$(sinfo -h -o %t 2>/dev/null || true)" = idle ] && break
  sleep 0.2
done
[ "$(sinfo -h -o %t)" = idle ] || { echo "the node did not come up: $(sinfo -h -o '%t %E')" >&2; exit 1; }
echo "Slurm $(srun --version | cut -d' ' -f2), node $host is idle" >&2

if [ "${1:-}" = -- ]; then
  shift
  "$@"
  exit
fi

foxhunt=$(realpath "${1:-$top/build/release/foxhunt}")
cd "$top"
small=(--config configs/mamba2_es.toml --set train.epochs=2 --set windows.length=64 --set windows.burn_in=16
  --set model.n_layer=1 --set train.batch_size=8 --set train.patience=0 --set train.lanes=5 --set train.threads=1)
hash_of() { python3 -c 'import json, sys; print(json.load(sys.stdin)["weights_sha256"])'; }
same() { # what, hash
  [ "$2" = "$alone" ] || { echo "$1: $2 is not the hash of one process, $alone" >&2; exit 1; }
  echo "$1: the weights of one process, ${2:0:16}"
}

alone=$("$foxhunt" train "${small[@]}" --out "$state/alone" --json | hash_of)
same "srun -n2" "$(srun -n2 "$foxhunt" train "${small[@]}" --out "$state/two" --json | hash_of)"

cat >"$state/job.sh" <<JOB
#!/bin/bash
#SBATCH --job-name=foxhunt
#SBATCH --ntasks=2
#SBATCH --output=$state/job.out
#SBATCH --error=$state/job.err
cd "$top"
srun --kill-on-bad-exit $(printf '%q ' "$foxhunt" train "${small[@]}" --out "$state/batch" --json)
JOB
sbatch --wait "$state/job.sh" >/dev/null || { cat "$state/job.err" >&2; exit 1; }
same "sbatch, srun --kill-on-bad-exit" "$(hash_of <"$state/job.out")"

# A rank is killed: the other says so and ends, without Slurm's help (no --kill-on-bad-exit).
alone=$("$foxhunt" train "${small[@]}" --set train.epochs=30 --out "$state/alone30" --json | hash_of)
srun -n2 "$foxhunt" train "${small[@]}" --set train.epochs=30 --set train.checkpoint_every=1 --out "$state/cut" \
  >"$state/cut.out" 2>"$state/cut.err" &
job=$!
for _ in $(seq 1200); do [ -e "$state/cut/last" ] && break; sleep 0.1; done
for pid in $(pgrep -f -- "$foxhunt train .*--out $state/cut"); do
  tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -qx SLURM_PROCID=1 || continue
  [ "$(realpath "/proc/$pid/exe")" = "$foxhunt" ] && kill -KILL "$pid"
done
begun=$(date +%s)
wait "$job" && { echo "srun of a killed rank ended without an error" >&2; exit 1; }
took=$(($(date +%s) - begun))
[ "$took" -lt 30 ] || { echo "the other rank took $took s to end" >&2; exit 1; }
grep -q "rank 1 of 2 was lost" "$state/cut.err" || { cat "$state/cut.err" >&2; exit 1; }
echo "rank 1 was killed: after $took s $(grep -o 'rank 1 of 2 was lost[^;]*' "$state/cut.err" | head -1)"
[ ! -e "$state/cut/result.json" ] || { echo "killed too late to show anything" >&2; exit 1; }
same "foxhunt resume, one process" "$("$foxhunt" resume "$state/cut" --json | hash_of)"
