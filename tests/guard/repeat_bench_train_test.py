#!/usr/bin/env python3
"""bench/repeat_bench_train.py on made-up reports: what it counts, what it only shows, and when it says no."""
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import repeat_bench_train  # noqa: E402


def figure(value, width=0.03):
    return {"value": value, "low": value * (1 - width), "high": value * (1 + width), "level": 0.97}


def report(speed=1.0, steps=1.0, ratio=3.0, fits=100, memory=1000):
    """`speed`: of the machine, seconds a reference program; `steps`: what a step costs in them."""
    cases = [{"case": f"cpu/fp32/native/{n}", "device": "cpu", "references_a_step": figure(n * steps),
              "step_seconds": figure(n * steps * speed), "peak_bytes": figure(1e8, 0),
              "task": {"hours": figure(10 * n * steps * speed), "cost": None}} for n in (1, 4, 16, 64)]
    return {"version": 2, "cases": [*cases, {"case": "cpu/fp32/aten/1", "left_out": "too slow"}],
            "reference": {"cpu": {"program_seconds": figure(speed)}}, "other_cores": 0.1, "machine": {"cores": 2}, "seconds": 300,
            "speed_ups": [{"fast": "a", "slow": "b", "ratio": figure(ratio)}],
            "largest_batch": [{"family": "cpu/fp32/native", "fits": fits, "memory_bytes": memory}]}


class Repeat(unittest.TestCase):
    def compare(self, first, second):
        with tempfile.TemporaryDirectory() as folder:
            names = []
            for i, one in enumerate((first, second)):
                names.append(pathlib.Path(folder) / f"{i}.json")
                names[-1].write_text(json.dumps(one))
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                code = repeat_bench_train.compare(*names)
            return code, out.getvalue()

    def test_a_slower_machine_moves_only_times_by_the_clock(self):
        code, text = self.compare(report(), report(speed=1.4, steps=1.01))
        self.assertEqual(code, 0, text)
        self.assertIn("references a step: 8 of 8", text)
        self.assertIn("hours, one speed: 8 of 8", text)
        self.assertIn("step by the clock: 0 of 8 in the other run's interval, 0%; not promised", text)

    def test_each_promised_kind_of_figure_can_fail_alone(self):
        for changed, kind in (({"steps": 1.1}, "references a step"), ({"ratio": 3.3}, "speed-up"), ({"fits": 101}, "largest batch")):
            code, text = self.compare(report(), report(**changed))
            self.assertEqual(code, 1, text)
            self.assertRegex(text, rf"{kind}: 0 of .*TOO FEW")

    def test_largest_batches_in_other_memory_are_not_compared(self):
        code, text = self.compare(report(), report(fits=150, memory=1500))
        self.assertEqual(code, 0, text)
        self.assertIn("largest batch: nothing to compare", text)

    def test_reports_without_a_reference_or_a_common_case_are_refused(self):
        self.assertEqual(self.compare(report(), {**report(), "version": 1})[0], 1)
        self.assertEqual(self.compare(report(), {**report(), "cases": []})[0], 1)


if __name__ == "__main__":
    unittest.main()
