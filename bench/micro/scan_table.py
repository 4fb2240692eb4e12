#!/usr/bin/env python3
"""Makes the tables of docs/benchmarks.md, section "Scan algorithms", from bench_scan's JSON.

    build/release/bench/bench_scan --benchmark_repetitions=15 --benchmark_min_time=0.01 \
        --benchmark_enable_random_interleaving=true --benchmark_out_format=json --benchmark_out=scan.json
    bench/micro/scan_table.py scan.json

Algorithms of one thread: medians of CPU time, which waiting for a busy machine does not enter. Two threads: the shortest
real time, against the shortest of `chunked_1_thread` in the same run. The spread is that of the sequential scan's
repetitions, (third quartile - first) / median.
"""
import collections
import json
import statistics
import sys

ALONE = ["sequential", "hillis_steele", "blelloch", "chunked", "chunked_1_thread"]


def main():
    report = json.load(open(sys.argv[1]))
    cpu = collections.defaultdict(list)
    real = collections.defaultdict(list)
    for row in report["benchmarks"]:
        if row["run_type"] == "iteration":
            name = row["name"].replace("/real_time", "").split("/repeats:")[0]
            assert row["time_unit"] == "ns"
            cpu[name].append(row["cpu_time"])
            real[name].append(row["real_time"])
    kinds = list(dict.fromkeys(n.rsplit("/", 2)[0] for n in cpu if n.endswith("/sequential")))
    print("| values | T | sequential, ns a value (spread) | Hillis-Steele | Blelloch | chunked | chunked, pool of 1 "
          "| pool of 2 against 1, real time |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for kind in kinds:
        for size in sorted(int(n.split("/")[2]) for n in cpu if n.startswith(kind + "/") and n.endswith("/sequential")):
            median = {a: statistics.median(cpu[f"{kind}/{size}/{a}"]) for a in ALONE}
            first, _, third = statistics.quantiles(cpu[f"{kind}/{size}/sequential"], n=4)
            base = median["sequential"]
            cells = [f"{base / size:.2f} ({100 * (third - first) / base:.0f} %)"]
            cells += [f"{base / median[a]:.2f}" for a in ALONE[1:]]
            cells += [f"{min(real[f'{kind}/{size}/chunked_1_thread']) / min(real[f'{kind}/{size}/chunked_2_threads']):.2f}"]
            print(f"| {kind} | {size} | " + " | ".join(cells) + " |")
    print("\n| chunk, decay/1, T 1048576 | ns a value |\n|---:|---:|")
    for name in (n for n in cpu if n.startswith("chunk/")):
        print(f"| {name.split('/')[1]} | {statistics.median(cpu[name]) / (1 << 20):.2f} |")
    for threads in (1, 2):
        times = real[f"empty_run/{threads}"]
        print(f"\nempty run of a pool of {threads}: shortest {min(times):.0f} ns, median {statistics.median(times):.0f} ns")


if __name__ == "__main__":
    main()
