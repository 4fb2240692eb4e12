"""The same step as a PyTorch module: eager, as TorchScript, and compiled."""
import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)


class Step(nn.Module):
    def __init__(self, m):
        super().__init__()
        self.m = m
        keep = lambda a: nn.Parameter(torch.tensor(a), requires_grad=False)
        self.ends = nn.ParameterList([keep(a) for a in (m.in_w, m.in_b, m.norm_f, m.head_w, m.head_b)])
        names = ("norm", "in_proj", "conv", "conv_bias", "dt_bias", "A", "D", "gate_norm", "out_proj")
        self.w = nn.ModuleList(nn.ParameterList([keep(getattr(layer, n)) for n in names]) for layer in m.layers)

    def zero_state(self):
        return [torch.zeros(shape) for shape in self.m.state_shapes()]

    def forward(self, x, *state):
        m = self.m
        in_w, in_b, norm_f, head_w, head_b = self.ends
        h = F.linear(x, in_w, in_b)
        new = []
        for i, (norm, in_proj, conv, conv_bias, dt_bias, A, D, gate_norm, out_proj) in enumerate(self.w):
            past, S = state[2 * i], state[2 * i + 1]
            z, now, dt = F.linear(F.rms_norm(h, (m.D,), norm, m.eps), in_proj).split((m.inner, m.channels, m.H), 1)
            window = torch.cat((past, now.reshape(m.channels, 1)), 1)
            v = F.silu((window * conv).sum(1) + conv_bias)
            u, b, c = v.split((m.inner, m.N, m.N))
            u = u.reshape(m.H, m.P)
            dt = F.softplus(dt.reshape(m.H) + dt_bias)
            if m.limits_steps():
                dt = dt.clamp(m.dt_low, m.dt_high)
            S = torch.exp(dt * A).reshape(m.H, 1, 1) * S + (dt.reshape(m.H, 1) * u).unsqueeze(2) * b
            y = (S * c).sum(2) + D.reshape(m.H, 1) * u
            q = y.reshape(1, m.inner) * F.silu(z)
            h = h + F.linear(F.rms_norm(q, (m.inner,), gate_norm, m.eps), out_proj)
            new += [window[:, 1:], S]
        return (F.linear(F.rms_norm(h, (m.D,), norm_f, m.eps), head_w, head_b), *new)


class TorchStep:
    def __init__(self, m, kind):
        step = Step(m).eval()
        self.state = step.zero_state()
        example = (torch.zeros(1, m.F), *self.state)
        with torch.inference_mode():
            if kind == "torchscript":
                self.run = torch.jit.optimize_for_inference(torch.jit.trace(step, example))
            elif kind == "compile":
                self.run = torch.compile(step, dynamic=False)
            else:
                self.run = step

    def __call__(self, x):
        with torch.inference_mode():
            y, *self.state = self.run(torch.from_numpy(x), *self.state)
        return y
