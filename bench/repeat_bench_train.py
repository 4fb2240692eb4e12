#!/usr/bin/env python3
"""Do the figures of a training benchmark repeat? Two bench-train.json of `foxhunt bench train`, one beside the other.

    bench/repeat_bench_train.py FIRST.json SECOND.json

A line a case: both medians, and whether each run's median lies in the interval of the other. Exit code 1 where fewer figures
do than the intervals promise (their lowest level, less two standard deviations of a share of that many).
"""
import json
import math
import sys

FIGURES = ("step_seconds", "rows_per_second", "peak_bytes")


def inside(value, figure):
    return figure["low"] <= value <= figure["high"]


def main(first, second):
    first, second = (json.load(open(name)) for name in (first, second))
    others = {case["case"]: case for case in second["cases"] if "step_seconds" in case}
    held = compared = 0
    level = 1.0
    print(f"{'case':<28} {'figure':<16} {'first':>12} {'second':>12}   second/first  in the first's, the second's interval")
    for case in first["cases"]:
        other = others.get(case["case"])
        if "step_seconds" not in case or other is None:
            continue
        for name in FIGURES:
            a, b = case[name], other[name]
            if a is None or b is None:
                continue
            there, back = inside(b["value"], a), inside(a["value"], b)
            if name == "step_seconds":  # rows a second say the same again
                held += there + back
                compared += 2
                level = min(level, a["level"], b["level"])
            print(f"{case['case']:<28} {name:<16} {a['value']:>12.5g} {b['value']:>12.5g} {b['value'] / a['value']:>13.3f}"
                  f"  {'yes' if there else 'NO':>4} {'yes' if back else 'NO':>4}")
    ratios = ratios_held = 0
    again = {(r["fast"], r["slow"]): r["ratio"] for r in second["speed_ups"]}
    for one in first["speed_ups"]:
        a, b = one["ratio"], again.get((one["fast"], one["slow"]))
        if b is None:
            continue
        there, back = inside(b["value"], a), inside(a["value"], b)
        ratios += 2
        ratios_held += there + back
        print(f"{one['fast']:<28} over {one['slow']:<18} {a['value']:>5.3f} {b['value']:>12.3f} {b['value'] / a['value']:>13.3f}"
              f"  {'yes' if there else 'NO':>4} {'yes' if back else 'NO':>4}")
    if compared == 0:
        print("no case was measured in both")
        return 1
    wanted = level - 2 * math.sqrt(max(level * (1 - level), 0) / compared)
    print(f"{held} of {compared} medians lie in the other run's interval, {held / compared:.0%}; promised {level:.0%}")
    if ratios > 0:
        print(f"{ratios_held} of {ratios} speed-ups do")
    for name, report in (("first", first), ("second", second)):
        print(f"others used up to {report['other_cores']:.1f} of {report['machine']['cores']} cores in the {name} run")
    return 0 if held / compared >= wanted else 1


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
