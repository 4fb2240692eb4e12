#!/usr/bin/env python3
"""The peers train the shapes that `foxhunt bench ssd` trains, and the parameter count is what foxhunt states for them."""
import pathlib
import re
import unittest

from shapes import SHAPES

SOURCE = pathlib.Path(__file__).resolve().parents[2] / "foxhunt/train/bench_ssd.cpp"
ROW = re.compile(r'\{"(\w+)", (\d+), (\d+), (\d+), (\d+), (\d+), (\d+)\}')


class Shapes(unittest.TestCase):
    def test_shapes_are_those_of_foxhunt_bench_ssd(self):
        found = {name: tuple(map(int, numbers)) for name, *numbers in ROW.findall(SOURCE.read_text())}
        ours = {name: (s.batch, s.tokens, s.d_model, s.layers, s.d_state, s.headdim) for name, s in SHAPES.items()}
        self.assertEqual(found, ours)

    def test_the_default_hft_model_with_headdim_32_has_113907_parameters(self):
        # `foxhunt bench ssd --shape hft --json` says so; compare.py holds every run to it, this one needs no build.
        self.assertEqual(SHAPES["hft"].parameters, 113907)

    def test_every_window_is_whole_chunks(self):
        for name, shape in SHAPES.items():
            for chunk in (32, 64):
                self.assertEqual(shape.tokens % chunk, 0, name)


if __name__ == "__main__":
    unittest.main()
