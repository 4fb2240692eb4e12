"""Two Mamba-2 sequence classifiers with the same parameters: PyTorch matrix products, and the transformers package.

Both map x [B, T, 32] to logits [B, T, 3]: Linear, layers of (RMSNorm, mixer, residual), RMSNorm, Linear. Their parameters
have equal names, so that one's state_dict loads into the other.
"""
import math

import torch
from torch import nn
from torch.nn import functional as F

from shapes import CLASSES, CONV_WIDTH, DT_LIMITS, EXPAND, FEATURES, NORM_EPS


def strictly_before(n, offset):
    """[n, n] true where column <= row - offset: what row may see."""
    return torch.ones(n, n, dtype=torch.bool).tril(-offset)


def decay_between(ends, starts, visible):
    """exp(ends_i - starts_j) where visible, else 0. The mask goes in before exp: above the diagonal exp could overflow, and
    0 * inf in its gradient is not a number."""
    gap = ends[..., :, None] - starts[..., None, :]
    return gap.masked_fill(~visible, -math.inf).exp()


def scan(x, dt, log_decay, b, c, chunk):
    """y_t = c_t S_t, S_t = exp(log_decay_t) S_{t-1} + dt_t x_t b_t^T, in chunks, every heavy part a batched product.

    x [B, T, H, P], dt and log_decay [B, T, H], b and c [B, T, N]; T a multiple of chunk. Returns [B, T, H, P].
    """
    batch, tokens, heads, width = x.shape
    states, chunks = b.shape[-1], tokens // chunk
    fold = (batch, chunks, chunk)
    u = (x * dt[..., None]).reshape(*fold, heads, width).transpose(2, 3)          # B C H Q P
    b, c = b.reshape(*fold, 1, states).transpose(2, 3), c.reshape(*fold, 1, states).transpose(2, 3)
    run = log_decay.reshape(*fold, heads).transpose(2, 3).cumsum(-1)              # B C H Q
    total = run[..., -1]                                                          # B C H

    within = decay_between(run, run, strictly_before(chunk, 0)) * (c @ b.transpose(-1, -2))
    y = within @ u

    left = (u * (total[..., None] - run).exp()[..., None]).transpose(-1, -2) @ b  # B C H P N
    over = total.transpose(1, 2).cumsum(-1)                                       # B H C
    reach = decay_between(over - total.transpose(1, 2), over, strictly_before(chunks, 1))
    entering = (reach @ left.transpose(1, 2).flatten(3)).unflatten(-1, (width, states)).transpose(1, 2)
    y = y + run.exp()[..., None] * (c @ entering.transpose(-1, -2))
    return y.transpose(2, 3).reshape(batch, tokens, heads, width)


class Mixer(nn.Module):
    def __init__(self, shape, chunk):
        super().__init__()
        self.shape, self.chunk = shape, chunk
        self.in_proj = nn.Linear(shape.d_model, shape.inner + shape.conv_channels + shape.heads, bias=False)
        self.conv1d = nn.Conv1d(shape.conv_channels, shape.conv_channels, CONV_WIDTH, groups=shape.conv_channels)
        dt = torch.empty(shape.heads).uniform_(math.log(1e-3), math.log(1e-1)).exp()
        self.dt_bias = nn.Parameter(dt + torch.log(-torch.expm1(-dt)))
        self.A_log = nn.Parameter(torch.empty(shape.heads).uniform_(1, 16).log())
        self.D = nn.Parameter(torch.ones(shape.heads))
        self.norm = nn.RMSNorm(shape.inner, eps=NORM_EPS)
        self.out_proj = nn.Linear(shape.inner, shape.d_model, bias=False)

    def forward(self, u):
        s = self.shape
        z, xbc, dt = self.in_proj(u).split([s.inner, s.conv_channels, s.heads], dim=-1)
        xbc = self.conv1d(F.pad(xbc.transpose(1, 2), (CONV_WIDTH - 1, 0)))
        x, b, c = F.silu(xbc.transpose(1, 2)).split([s.inner, s.d_state, s.d_state], dim=-1)
        x = x.unflatten(-1, (s.heads, s.headdim))
        dt = F.softplus(dt + self.dt_bias).clamp(*DT_LIMITS)
        y = scan(x, dt, -dt * self.A_log.exp(), b, c, min(self.chunk, u.shape[1]))
        y = y + self.D[:, None] * x
        return self.out_proj(self.norm(y.flatten(2) * F.silu(z)))


class Block(nn.Module):
    def __init__(self, shape, chunk):
        super().__init__()
        self.norm = nn.RMSNorm(shape.d_model, eps=NORM_EPS)
        self.mixer = Mixer(shape, chunk)

    def forward(self, h):
        return h + self.mixer(self.norm(h))


class Backbone(nn.Module):
    def __init__(self, shape, chunk):
        super().__init__()
        self.layers = nn.ModuleList(Block(shape, chunk) for _ in range(shape.layers))
        self.norm_f = nn.RMSNorm(shape.d_model, eps=NORM_EPS)

    def forward(self, h):
        for layer in self.layers:
            h = layer(h)
        return self.norm_f(h)


def transformers_backbone(shape, chunk):
    from transformers import Mamba2Config, Mamba2Model

    class InputsAsEmbeddings(Mamba2Model):
        def forward(self, h):
            return super().forward(inputs_embeds=h, use_cache=False).last_hidden_state

    model = InputsAsEmbeddings(Mamba2Config(
        vocab_size=1, hidden_size=shape.d_model, num_hidden_layers=shape.layers, state_size=shape.d_state, head_dim=shape.headdim,
        num_heads=shape.heads, expand=EXPAND, n_groups=1, conv_kernel=CONV_WIDTH, use_bias=False, use_conv_bias=True,
        layer_norm_epsilon=NORM_EPS, time_step_limit=DT_LIMITS, chunk_size=chunk, use_cache=False))
    model.embeddings = nn.Identity()  # rows of features come in, not tokens
    return model


class Classifier(nn.Module):
    def __init__(self, shape, backbone):
        super().__init__()
        self.in_proj = nn.Linear(FEATURES, shape.d_model)
        self.backbone = backbone
        self.head = nn.Linear(shape.d_model, CLASSES)

    def forward(self, x):
        return self.head(self.backbone(self.in_proj(x)))


def make(kind, shape, chunk):
    """kind "matmul" or "transformers". The same weights for every kind and chunk."""
    torch.manual_seed(1)
    net = Classifier(shape, Backbone(shape, chunk))
    if kind == "transformers":
        other = Classifier(shape, transformers_backbone(shape, chunk))
        other.load_state_dict(net.state_dict())
        return other
    return net
