#!/usr/bin/env python3
"""Makes the tables of docs/benchmarks.md, section "Scan algorithms", from bench_scan's JSON.

    bench/micro/scan_table.py alone.json [pairs.json]

alone.json: one thread, medians of CPU time, which waiting for a busy machine does not enter; the spread is that of the
sequential scan's repetitions, (third quartile - first) / median. pairs.json: many short repetitions, of which each
algorithm's shortest real time counts, the nearest thing to a quiet machine.
"""
import collections
import json
import statistics
import sys

ALONE = ["sequential", "hillis_steele", "blelloch", "chunked"]


def load(path):
    """cpu and real: name -> the times of its repetitions in ns."""
    cpu, real = collections.defaultdict(list), collections.defaultdict(list)
    for row in json.load(open(path))["benchmarks"]:
        if row["run_type"] == "iteration":
            assert row["time_unit"] == "ns"
            name = row["name"].split("/real_time")[0]
            cpu[name].append(row["cpu_time"])
            real[name].append(row["real_time"])
    return cpu, real


def cases(times):
    """(kind, T) of every sequential scan, in order."""
    found = {(n.rsplit("/", 2)[0], int(n.split("/")[2])) for n in times if n.endswith("/sequential")}
    return sorted(found, key=lambda c: (c[0].split("/")[0], int(c[0].split("/")[1]), c[1]))


def alone(path):
    cpu, _ = load(path)
    print("| operator/channels | T | sequential, ns a value (spread) | Hillis-Steele | Blelloch | chunked |")
    print("|---|---:|---:|---:|---:|---:|")
    for kind, size in cases(cpu):
        median = {a: statistics.median(cpu[f"{kind}/{size}/{a}"]) for a in ALONE}
        first, _, third = statistics.quantiles(cpu[f"{kind}/{size}/sequential"], n=4)
        base = median["sequential"]
        ratios = " | ".join(f"{base / median[a]:.2f}" for a in ALONE[1:])
        print(f"| {kind} | {size} | {base / size:.2f} ({100 * (third - first) / base:.0f} %) | {ratios} |")
    print("\n| chunk | ns a value |\n|---:|---:|")
    for chunk in sorted(int(n.split("/")[1]) for n in cpu if n.startswith("chunk/")):
        print(f"| {chunk} | {statistics.median(cpu[f'chunk/{chunk}']) / (1 << 20):.2f} |")


def pairs(path):
    _, real = load(path)
    print("\n| operator/channels | T | sequential, us | chunked, pool of 1 | chunked, pool of 2 | 2 against 1 |")
    print("|---|---:|---:|---:|---:|---:|")
    for kind, size in cases(real):
        base, one, two = (min(real[f"{kind}/{size}/{a}"]) for a in
                          ("sequential", "chunked_1_thread", "chunked_2_threads"))
        print(f"| {kind} | {size} | {base / 1000:.0f} | {base / one:.2f} | {base / two:.2f} | {one / two:.2f} |")


if __name__ == "__main__":
    alone(sys.argv[1])
    if len(sys.argv) > 2:
        pairs(sys.argv[2])
