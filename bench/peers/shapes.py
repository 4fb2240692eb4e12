"""The shapes of `foxhunt bench ssd` (foxhunt/train/bench_ssd.cpp, ssd_bench_shapes); shapes_test.py holds the two equal."""
from dataclasses import dataclass

FEATURES, CLASSES = 32, 3
CONV_WIDTH, EXPAND = 4, 2
NORM_EPS = 1e-5
DT_LIMITS = (1e-6, 1.0)


@dataclass(frozen=True)
class Shape:
    batch: int
    tokens: int
    d_model: int
    layers: int
    d_state: int
    headdim: int
    steps: int  # timed steps of a program in a round: short ones more often

    @property
    def inner(self):
        return EXPAND * self.d_model

    @property
    def heads(self):
        return self.inner // self.headdim

    @property
    def conv_channels(self):
        return self.inner + 2 * self.d_state

    @property
    def parameters(self):
        proj = self.d_model * (self.inner + self.conv_channels + self.heads)
        conv = self.conv_channels * (CONV_WIDTH + 1)
        layer = self.d_model + proj + conv + 3 * self.heads + self.inner + self.inner * self.d_model
        ends = (FEATURES + 1) * self.d_model + self.d_model + (self.d_model + 1) * CLASSES
        return self.layers * layer + ends


SHAPES = {
    "hft": Shape(batch=32, tokens=128, d_model=64, layers=4, d_state=16, headdim=32, steps=3),
    "middle": Shape(batch=8, tokens=512, d_model=256, layers=6, d_state=64, headdim=64, steps=1),
    "layer": Shape(batch=2, tokens=256, d_model=256, layers=1, d_state=64, headdim=64, steps=9),
}
