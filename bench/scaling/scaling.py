#!/usr/bin/env python3
"""What more threads and more processes bring on this machine.

    bench/scaling/scaling.py [--config FILE] [--set key=value]... [--rounds 5] [--epochs 2] [--json FILE]

Trains the same few epochs alone on one thread, alone on N threads, and in N processes of one thread each
(`foxhunt launch`), one after the other, ROUNDS times. Prints the median and the range of training rows a second, the
speed-up over one thread, and what the exchange of gradients took; checks that all end with the same weights. FOXHUNT
names the program (build/release/foxhunt).
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOXHUNT = os.environ.get("FOXHUNT", str(ROOT / "build/release/foxhunt"))
EXCHANGE = re.compile(r"exchange of gradients a step: (.*?) sent in (\d+) buckets, ([\d.]+) ms, ([\d.]+) ms")


def train(args, folder, ranks, threads):
    command = [FOXHUNT, *(["launch", "--nproc", str(ranks), "--json", "--"] if ranks > 1 else []), "train", "--config",
               args.config, "--set", f"train.threads={threads}", "--set", f"train.epochs={args.epochs}", "--set",
               "train.patience=0", *sum((["--set", s] for s in args.set), []), "--out", str(folder), "--quiet",
               *([] if ranks > 1 else ["--json"])]
    out = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if out.returncode != 0:
        sys.exit(out.stderr)
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    found = EXCHANGE.search((folder / "log.txt").read_text())
    return {"rows_per_second": max(line["rows_per_second"] for line in lines),
            "weights": json.loads(out.stdout)["weights_sha256"],
            "sent": found[1] if found else "", "exchange_ms": float(found[3]) if found else 0.0,
            "not_hidden_ms": float(found[4]) if found else 0.0}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", default="configs/mamba2_es.toml")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--n", type=int, default=os.cpu_count(), help="threads and processes (all cores)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--json")
    args = parser.parse_args()
    ways = {"1 process, 1 thread": (1, 1), f"1 process, {args.n} threads": (1, args.n),
            f"{args.n} processes, 1 thread each": (args.n, 1)}
    results = {name: [] for name in ways}
    with tempfile.TemporaryDirectory() as folder:
        for round_number in range(args.rounds):
            for name, (ranks, threads) in ways.items():
                results[name].append(train(args, pathlib.Path(folder) / f"{round_number}-{ranks}-{threads}", ranks, threads))
    weights = {run["weights"] for runs in results.values() for run in runs}
    base = None
    print(f"{args.config} {' '.join(args.set)}, {args.rounds} rounds")
    print("| how | rows/s, median (range) | speed-up | exchange a step | not hidden | sent a step |\n|---|---|---|---|---|---|")
    for name, runs in results.items():
        rows = [run["rows_per_second"] for run in runs]
        middle = statistics.median(rows)
        base = base or middle
        last = runs[-1]
        ms = lambda key: f"{statistics.median(run[key] for run in runs):.2f} ms" if last["sent"] else "–"
        print(f"| {name} | {middle:,.0f} ({min(rows):,.0f} to {max(rows):,.0f}) | {middle / base:.2f} | {ms('exchange_ms')} |"
              f" {ms('not_hidden_ms')} | {last['sent'] or '–'} |")
    print("weights " + ("equal bit for bit" if len(weights) == 1 else f"DIFFER: {sorted(weights)}"))
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(results, indent=2) + "\n")
    sys.exit(len(weights) != 1)


if __name__ == "__main__":
    main()
