"""A bundle's weights as arrays, and the model's step in plain numpy, which every peer starts from."""
import dataclasses
import json

import numpy as np


class Failed(Exception):
    """Something that makes the comparison meaningless; its text says what."""


@dataclasses.dataclass
class Layer:
    norm: np.ndarray       # [D]
    in_proj: np.ndarray    # [2 E D + 2 N + H, D]
    conv: np.ndarray       # [channels, W]
    conv_bias: np.ndarray  # [channels]
    dt_bias: np.ndarray    # [H]
    A: np.ndarray          # [H] negative
    D: np.ndarray          # [H]
    gate_norm: np.ndarray  # [E D]
    out_proj: np.ndarray   # [D, E D]


class Model:
    """Sizes in the letters of the model's definition: D, E D = inner, H heads of P channels, N state, W convolution."""

    def __init__(self, path):
        try:
            from safetensors import safe_open
        except ImportError as missing:
            raise Failed(f"the package 'safetensors' reads the bundle and is not installed ({missing})") from missing
        with safe_open(path, "np") as file:
            told = json.loads(file.metadata()["foxhunt.mamba2"])
            head = json.loads(file.metadata()["foxhunt.head"])
            get = lambda name: np.ascontiguousarray(file.get_tensor(name))
            has = set(file.keys())
            if told["ngroups"] != 1 or told["gate_norm"] != "gate_first" or told["proj_bias"]:
                raise Failed("the peers' step knows one group, the gate ahead of the norm and no bias in the projections")
            self.D, self.L, self.N, self.P, self.W = (told[k] for k in ("d_model", "n_layer", "d_state", "headdim", "d_conv"))
            self.eps = told["norm_eps"]
            self.dt_low, self.dt_high = float(told["dt_limit_min"]), float(told["dt_limit_max"])
            self.inner = told["expand"] * self.D
            self.H = self.inner // self.P
            self.channels = self.inner + 2 * self.N
            self.F = head["n_features"]
            self.in_w, self.in_b = get("backbone.in_proj.weight"), get("backbone.in_proj.bias")
            self.norm_f = get("backbone.norm_f.weight")
            self.head_w, self.head_b = get("head.weight"), get("head.bias")
            self.K = self.head_w.shape[0]
            self.layers = []
            for i in range(self.L):
                at = f"backbone.layers.{i}."
                or_zero = lambda name, n: get(at + name) if at + name in has else np.zeros(n, np.float32)
                self.layers.append(Layer(
                    norm=get(at + "norm.weight"), in_proj=get(at + "mixer.in_proj.weight"),
                    conv=get(at + "mixer.conv1d.weight")[:, 0, :].copy(), conv_bias=or_zero("mixer.conv1d.bias", self.channels),
                    dt_bias=get(at + "mixer.dt_bias"), A=-np.exp(get(at + "mixer.A_log")), D=or_zero("mixer.D", self.H),
                    gate_norm=get(at + "mixer.norm.weight"), out_proj=get(at + "mixer.out_proj.weight")))

    def limits_steps(self):
        return self.dt_low > 0 or self.dt_high != float("inf")

    def state_shapes(self):
        """One pair a layer: past inputs of the convolution, state."""
        return [shape for _ in range(self.L) for shape in ((self.channels, self.W - 1), (self.H, self.P, self.N))]


class NumpyStep:
    """x [F] -> [K]. The same arithmetic in float64 is the yardstick of every other peer."""

    def __init__(self, model, dtype=np.float32):
        self.m = model
        cast = lambda a: np.ascontiguousarray(a, dtype=dtype)
        self.layers = [Layer(*(cast(a) for a in dataclasses.astuple(layer))) for layer in model.layers]
        self.in_w, self.in_b, self.norm_f, self.head_w, self.head_b = map(
            cast, (model.in_w, model.in_b, model.norm_f, model.head_w, model.head_b))
        self.state = [np.zeros(shape, dtype) for shape in model.state_shapes()]
        self.one = dtype(1)

    def rms(self, h, weight):
        return h * (self.one / np.sqrt(h @ h / h.dtype.type(h.size) + h.dtype.type(self.m.eps))) * weight

    def __call__(self, x):
        m = self.m
        h = self.in_w @ x + self.in_b
        for i, w in enumerate(self.layers):
            past, S = self.state[2 * i], self.state[2 * i + 1]
            projected = w.in_proj @ self.rms(h, w.norm)
            z, now, dt = np.split(projected, (m.inner, m.inner + m.channels))
            v = (past * w.conv[:, :-1]).sum(1) + now * w.conv[:, -1] + w.conv_bias
            past[:, :-1] = past[:, 1:]
            past[:, -1] = now
            v = v / (1 + np.exp(-v))
            u, b, c = v[: m.inner].reshape(m.H, m.P), v[m.inner: m.inner + m.N], v[m.inner + m.N:]
            dt = np.logaddexp(0, dt + w.dt_bias)
            if m.limits_steps():
                dt = np.clip(dt, m.dt_low, m.dt_high)
            S *= np.exp(dt * w.A)[:, None, None]
            S += (dt[:, None] * u)[:, :, None] * b
            q = (S @ c + w.D[:, None] * u).reshape(m.inner) * (z / (1 + np.exp(-z)))
            h = h + w.out_proj @ self.rms(q, w.gate_norm)
        return self.head_w @ self.rms(h, self.norm_f) + self.head_b
