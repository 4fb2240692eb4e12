#!/usr/bin/env python3
"""The summary of rounds, without any package: ratios are of one round, what foxhunt does not claim is left out."""
import contextlib
import io
import unittest

import compare


def own(p50, p99=None):
    return {"p50_us": p50, "p99_us": p99, "quiet_p99_us": p99, "floor_us": 2.0, "stalls_per_s": 10.0}


class Summary(unittest.TestCase):
    def setUp(self):
        samples = {"foxhunt fp32": [own(4.0, 6.0), own(8.0), own(4.0, 8.0)], "ort": [(90, 100, 120), (150, 160, 300), (88, 96, 100)]}
        self.fox, self.ort = compare.summary(samples, {"ort": (None, None, 3e-7)})

    def test_ratios_are_taken_within_a_round(self):
        self.assertEqual(self.ort["ratio"]["foxhunt fp32"], 24.0)  # of 25, 20 and 24; of the medians it would be 25
        self.assertEqual(self.fox["ratio"]["foxhunt fp32"], 1.0)

    def test_percentiles_that_are_not_claimed_are_left_out(self):
        self.assertEqual(self.fox["p99_us"], 7.0)
        self.assertEqual(self.ort["p99_us"], 120)
        silent, = compare.summary({"foxhunt int8": [own(3.0)]}, {})
        self.assertIsNone(silent["p99_us"])

    def test_the_table_has_a_line_a_program(self):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            compare.print_table([self.fox, self.ort])
        lines = said.getvalue().splitlines()
        self.assertEqual(len(lines), 4)
        self.assertEqual(len({len(line) for line in lines}), 1)
        self.assertIn("24.0", lines[3])
        self.assertIn("3e-07", lines[3])


if __name__ == "__main__":
    unittest.main()
