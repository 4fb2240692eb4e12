#!/usr/bin/env bash
# Everything that only a GPU can tell, in one run and one JSON report. Meant to end within 8 minutes on 16 cores.
#
#   tools/gpu_check.sh REPORT.json [BUILD_FOLDER]       TORCH_ROOT=DIR: a LibTorch with its CUDA half
#
# Needs an NVIDIA GPU, nvcc, CMake, Ninja and the packages of scripts/setup; no network. Builds into BUILD_FOLDER
# (build/gpu-check). The report has one entry a check: name, ok, seconds, figures, error. Exit code 1 where one failed;
# without a GPU the report says so. FOXHUNT_GPU_SECONDS (450) bounds the whole run: what no time is left for has failed.
set -uo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
[ $# -ge 1 ] || { sed -n '2,8p' "$0" >&2; exit 2; }
report=$(realpath -m "$1")
build=$(realpath -m "${2:-$top/build/gpu-check}")
end=$((SECONDS + ${FOXHUNT_GPU_SECONDS:-450}))
parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT
cd "$top" || exit 2
failed=0
count=0

# check NAME MAX_SECONDS COMMAND…: runs it; standard output that is JSON (or JSON lines) becomes the figures.
check() {
  local name=$1 limit=$2 started=$SECONDS rc left
  shift 2
  count=$((count + 1))
  local base
  base=$parts/$(printf '%02d' $count)
  left=$((end - SECONDS))
  if [ "$left" -le 5 ]; then
    echo "no time was left for it" >"$base.err"
    : >"$base.out"
    rc=124
  else
    # shellcheck disable=SC2016  # the inner shell expands it
    timeout -k 5 $((limit < left ? limit : left)) bash -c '"$@"' check "$@" >"$base.out" 2>"$base.err"
    rc=$?
  fi
  printf '%s\n%s\n%s\n' "$name" "$rc" $((SECONDS - started)) >"$base.head"
  [ $rc -eq 0 ] || failed=1
  printf '%-28s %s %4d s\n' "$name" "$([ $rc -eq 0 ] && echo ok || echo FAILED)" $((SECONDS - started)) >&2
  return $rc
}

write_report() {
  python3 - "$parts" "$report" "$(git -C "$top" describe --always --dirty 2>/dev/null)" <<'PY'
import json, pathlib, sys

folder, report, revision = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]


def figures_of(text):
    text = text.strip()
    if not text:
        return {}
    for parse in (json.loads, lambda t: [json.loads(line) for line in t.splitlines() if line.startswith("{")]):
        try:
            return parse(text)
        except ValueError:
            continue
    return text[-2000:]


def last_lines(text, most=20):
    return "\n".join(text.strip().splitlines()[-most:])


checks = []
for head in sorted(folder.glob("*.head")):
    name, rc, seconds = head.read_text().split("\n")[:3]
    out = head.with_suffix(".out").read_text(errors="replace")
    err = head.with_suffix(".err").read_text(errors="replace")
    error = ""
    if rc != "0":
        error = ("ran out of time\n" if rc in ("124", "137") else "") + (last_lines(err) or last_lines(out))
    checks.append({"name": name, "ok": rc == "0", "seconds": int(seconds), "figures": figures_of(out), "error": error})
whole = {"ok": bool(checks) and all(c["ok"] for c in checks), "revision": revision, "checks": checks}
report.parent.mkdir(parents=True, exist_ok=True)
report.write_text(json.dumps(whole, indent=1) + "\n")
PY
}

finish() {
  write_report || failed=1
  echo "report: $report" >&2
  exit $failed
}

gpu() {
  command -v nvidia-smi >/dev/null || { echo "there is no GPU: nvidia-smi is not installed" >&2; return 1; }
  nvidia-smi --query-gpu=name,compute_cap,memory.total,driver_version --format=csv,noheader >"$parts/gpu" 2>&1 ||
    { echo "there is no GPU: $(head -1 "$parts/gpu")" >&2; return 1; }
  python3 -c 'import json,sys; print(json.dumps({"gpus": sys.stdin.read().strip().splitlines()}))' <"$parts/gpu"
}

configure() {
  cmake -G Ninja -S "$top" -B "$build" -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG" \
    -DFOXHUNT_CUDA=ON -DTORCH_ROOT="${TORCH_ROOT:-}" >&2 || return 1
  grep -q '^FOXHUNT_NVCC:INTERNAL=ON' "$build/CMakeCache.txt" || { echo "nvcc was not found" >&2; return 1; }
}

build() { cmake --build "$build" -j "$(nproc)" --target "$@" >&2; }

gtest() { # PROGRAM [FILTER]: figures are the tests' results; a skipped test has failed here
  local json=$parts/gtest.json rc
  rm -f "$json"
  "$1" --gtest_output="json:$json" --gtest_filter="${2:-*}" >&2
  rc=$?
  [ -e "$json" ] || return 1
  python3 - "$json" <<'PY' || return 1
import json, sys
tests, bad = {}, 0
for suite in json.load(open(sys.argv[1]))["testsuites"]:
    for test in suite["testsuite"]:
        name = f'{suite["name"]}.{test["name"]}'
        skipped = test.get("result") == "SKIPPED"
        known = {"name", "file", "line", "status", "result", "timestamp", "time", "classname", "failures", "skipped"}
        tests[name] = {"result": "SKIPPED" if skipped else "FAILED" if "failures" in test else "ok", "time": test["time"],
                       **{k: v for k, v in test.items() if k not in known}}
        if skipped and not suite["name"].startswith("CudaWithoutDevice"):
            bad = 1
            print(f"{name} was skipped", file=sys.stderr)
print(json.dumps(tests))
sys.exit(bad)
PY
  return $rc
}

train() { # NAME: a small training run
  rm -rf "$parts/$1"
  "$build/foxhunt" train --config configs/mamba2_es.toml --device cuda --test --seed 3 --json --out "$parts/$1" || return 1
  if grep -q 'own kernels are not used' "$parts/$1/log.txt"; then
    grep 'own kernels are not used' "$parts/$1/log.txt" >&2
    return 1
  fi
}

bench_train() { # the training benchmark's short form, in the time that is left here
  "$build/foxhunt" bench train --config configs/mamba2_es.toml --short --budget 75s --batches 4,64 --devices cpu,cuda \
    --out "$parts/bench-train" --json
}

# The table of memory: what `foxhunt estimate --device cuda` says against LibTorch's allocator, exit code 1 over 15 %.
memory() { # SUBSTRING of the grid's names
  python3 bench/memory/grid.py --foxhunt "$build/foxhunt" --device cuda --only "$1"
}

export -f gpu configure build gtest train bench_train memory
export parts build top
check gpu 30 gpu || finish
check configure 60 configure || finish
# The kernels need no LibTorch: what they say is known before the long build.
check build_kernels 240 build kernels_test kernels_device_test kernels_device_bench foxhunt_cuda
if [ -x "$build/kernels_device_test" ]; then
  check self_test_and_golden 120 gtest "$build/kernels_device_test"
  check block_algorithms_on_host 120 gtest "$build/rooms/kernels/kernels_test" 'Cuda*-*Long*'
  check benchmark_kernels 60 "$build/kernels_device_bench"
fi
check build_programs 330 build foxhunt cuda_test
if [ -x "$build/foxhunt" ]; then
  check doctor 30 "$build/foxhunt" doctor --json
  check aten_against_native 60 "$build/foxhunt" check --a aten --b native --device cuda --json
  check aten_against_native_large 60 "$build/foxhunt" check --a aten --b native --device cuda --json \
    --config configs/standard_es.toml --batch 4 --tokens 256
  check aten_against_native_odd 60 "$build/foxhunt" check --a aten --b native --device cuda --json \
    --set model.d_state=19 --set model.headdim=32 --set model.ngroups=2 --batch 3 --tokens 77
  check train_on_cuda 120 train run
  check device_audit 60 "$build/foxhunt" check device --device cuda --config configs/mamba2_es.toml --json
  check device_audit_large 60 "$build/foxhunt" check device --device cuda --config configs/standard_es.toml --json
  check bench_train 120 bench_train
  check memory_of_a_small_model 60 memory "d64 L4 N16 B4 T256"
  check memory_of_the_standard_model 60 memory "d256 L6 N64 B4 T256"
fi
[ -x "$build/cuda_test" ] && check tests_cuda 90 gtest "$build/cuda_test"
finish
