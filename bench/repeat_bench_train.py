#!/usr/bin/env python3
"""Do the figures of a training benchmark repeat? Two bench-train.json of `foxhunt bench train`, one beside the other.

    bench/repeat_bench_train.py FIRST.json SECOND.json
    bench/repeat_bench_train.py --run FOXHUNT [--config F] [--out DIR] [more options of bench train]

The second form runs the short form twice, one after the other, into DIR/first and DIR/second (default runs/repeat), and
compares; both in 4 GB of memory unless --memory says otherwise. A line a figure: both values, and whether each run's value lies in the interval of the other. What is promised to
repeat is counted apart: steps in reference programs, hours and cost at one speed of the machine, speed-ups, peak memory, the
largest batch. Times by the clock are shown and not counted: another load may move them. Exit code 1 where a kind of figure
repeats less often than its intervals say, less two standard deviations of a share of that many.
"""
import json
import math
import pathlib
import subprocess
import sys


def inside(value, figure):
    slack = 1e-9 * abs(value)  # an interval of no width, rounded once more
    return figure["low"] - slack <= value <= figure["high"] + slack


class Kind:
    """Figures of one sort: how many hold, both ways, and what they promise."""

    def __init__(self, name, promised):
        self.name, self.promised = name, promised
        self.held, self.compared, self.level = 0, 0, 1.0
        self.moved = []

    def compare(self, what, a, b):
        if a is None or b is None:
            return
        there, back = inside(b["value"], a), inside(a["value"], b)
        self.held += there + back
        self.compared += 2
        self.level = min(self.level, a["level"], b["level"])
        ratio = b["value"] / a["value"] if a["value"] else float("nan")
        self.moved.append(abs(math.log(ratio)) if ratio > 0 else 0.0)
        print(f"{self.name:<20} {what:<46} {a['value']:>12.5g} {b['value']:>12.5g} {ratio:>8.3f}"
              f"  {'yes' if there else 'NO':>4} {'yes' if back else 'NO':>4}")

    def keeps(self):
        """Neighbouring figures of one run share its noise, so that the deviation is no smaller than this."""
        if self.compared == 0:
            return True
        wanted = self.level - 2 * math.sqrt(max(self.level * (1 - self.level), 0) / self.compared)
        return self.held / self.compared >= wanted

    def summary(self):
        if self.compared == 0:
            return f"{self.name}: nothing to compare"
        text = f"{self.name}: {self.held} of {self.compared} in the other run's interval, {self.held / self.compared:.0%}"
        text += f"; promised {self.level:.0%}" if self.promised else "; not promised"
        text += f"; moved by up to {math.expm1(max(self.moved)):.1%}"
        return text + ("" if self.keeps() or not self.promised else "  TOO FEW")


def scaled(figure, factor):
    return figure and {**figure, **{k: figure[k] * factor for k in ("value", "low", "high")}}


def compare(first, second):
    first, second = (json.loads(pathlib.Path(name).read_text()) for name in (first, second))
    for report in (first, second):
        if report["version"] < 2:
            print("a report without the reference program: measure it again with this version")
            return 1
    others = {case["case"]: case for case in second["cases"] if "step_seconds" in case}
    kinds = [Kind("references a step", True), Kind("hours, one speed", True), Kind("cost, one speed", True),
             Kind("peak memory", True), Kind("speed-up", True), Kind("largest batch", True),
             Kind("step by the clock", False)]
    relative, hours, cost, memory, ratios, largest, clock = kinds
    print(f"{'':<20} {'':<46} {'first':>12} {'second':>12} {'ratio':>8}  in the first's, the second's interval")
    for case in first["cases"]:
        other = others.get(case["case"])
        if "step_seconds" not in case or other is None:
            continue
        key = case["case"]
        relative.compare(key, case["references_a_step"], other["references_a_step"])
        speed = [r["reference"][case["device"]]["program_seconds"]["value"] for r in (first, second)]
        to_first = speed[0] / speed[1]  # hours are in proportion to the machine's speed
        hours.compare(key, case["task"]["hours"], scaled(other["task"]["hours"], to_first))
        cost.compare(key, case["task"]["cost"], scaled(other["task"]["cost"], to_first))
        memory.compare(key, case["peak_bytes"], other["peak_bytes"])
        clock.compare(key, case["step_seconds"], other["step_seconds"])
    again = {(r["fast"], r["slow"]): r["ratio"] for r in second["speed_ups"]}
    for one in first["speed_ups"]:
        ratios.compare(f"{one['fast']} over {one['slow']}", one["ratio"], again.get((one["fast"], one["slow"])))
    # Without an interval: to the window, where both had the same memory to fill.
    fits = {(one["family"], one["memory_bytes"]): one["fits"] for one in second["largest_batch"]}
    for one in first["largest_batch"]:
        other = fits.get((one["family"], one["memory_bytes"]))
        exact = [n if n is None else {"value": n, "low": n, "high": n, "level": 1.0} for n in (one["fits"], other)]
        largest.compare(one["family"], *exact)
    print()
    if relative.compared == 0:
        print("no case was measured in both")
        return 1
    for kind in kinds:
        print(kind.summary())
    for name, report in (("first", first), ("second", second)):
        for device, speed in report["reference"].items():
            p = speed["program_seconds"]
            print(f"{name} run, {device}: reference program {1e3 * p['value']:.3f} ms [{1e3 * p['low']:.3f}, {1e3 * p['high']:.3f}],"
                  f" others used up to {report['other_cores']:.1f} of {report['machine']['cores']} cores; {report['seconds']:.0f} s")
    return 0 if all(kind.keeps() for kind in kinds if kind.promised) else 1


def run_twice(words):
    program, more, out = words[0], words[1:], "runs/repeat"
    if "--out" in more:
        at = more.index("--out")
        out = more[at + 1]
        more = more[:at] + more[at + 2:]
    if "--memory" not in more:
        more = [*more, "--memory", "4GB"]  # what is free changes, and with it the largest batch
    reports = []
    for name in ("first", "second"):
        folder = pathlib.Path(out) / name
        subprocess.run([program, "bench", "train", "--short", "--fresh", "--quiet", "--json", "--out", str(folder), *more],
                       check=True, stdout=subprocess.DEVNULL)
        reports.append(folder / "bench-train.json")
    return compare(*reports)


if __name__ == "__main__":
    if len(sys.argv) > 2 and sys.argv[1] == "--run":
        sys.exit(run_twice(sys.argv[2:]))
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(compare(*sys.argv[1:]))
