"""One peer in its own process, told what to do line by line: `step N`, `peak`; ends with its input. Started by compare.py.

    peer.py PROGRAM SHAPE THREADS        PROGRAM: hf64, matmul64, matmul32, compile64, compile32 (the number: chunk length)

Answers one JSON line a command on its standard output; the first line comes unasked, after the first step.
"""
import ctypes
import json
import os
import re
import sys
import time

# Answers go through a private copy of standard output, so that a package that prints cannot come between.
ANSWERS = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)

os.environ["HF_HUB_OFFLINE"] = "1"
import torch  # noqa: E402
from torch.nn import functional as F  # noqa: E402

import models  # noqa: E402
from shapes import CLASSES, FEATURES, SHAPES  # noqa: E402

KINDS = {"hf": "transformers", "matmul": "matmul", "compile": "matmul"}


def status_bytes(key):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(key + ":"))


class Peer:
    def __init__(self, program, shape):
        kind, chunk = re.fullmatch(r"([a-z]+)(\d+)", program).groups()
        self.net = models.make(KINDS[kind], shape, int(chunk))
        matrices = [p for p in self.net.parameters() if p.dim() >= 2]
        others = [p for p in self.net.parameters() if p.dim() < 2]
        self.optimizer = torch.optim.AdamW(
            [{"params": matrices, "weight_decay": 0.05}, {"params": others, "weight_decay": 0.0}],
            lr=1e-3, betas=(0.9, 0.95), eps=1e-8, fused=True)
        self.forward = torch.compile(self.net, dynamic=False) if kind == "compile" else self.net
        noise = torch.Generator().manual_seed(7)
        self.x = torch.randn(shape.batch, shape.tokens, FEATURES, generator=noise)
        self.classes = torch.randint(CLASSES, (shape.batch, shape.tokens), generator=noise)

    def step(self):
        """Loss and gradient norm before the step."""
        self.optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(self.forward(self.x).flatten(0, 1), self.classes.flatten())
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.optimizer.step()
        return loss.item(), norm.item()

    def timed(self, steps):
        wall, cpu = [], []
        for _ in range(steps):
            wall.append(-time.perf_counter())
            cpu.append(-time.process_time())
            loss, _ = self.step()
            cpu[-1] += time.process_time()
            wall[-1] += time.perf_counter()
        return {"ms": [1e3 * t for t in wall], "cpu_ms": [1e3 * t for t in cpu], "loss": loss}

    def peak(self):
        """Highest resident memory of a step over what was resident before it, gradients of the step before given back."""
        self.optimizer.zero_grad(set_to_none=True)
        ctypes.CDLL(None).malloc_trim(0)
        with open("/proc/self/clear_refs", "w") as reset:
            reset.write("5")
        before = status_bytes("VmRSS")
        self.step()
        return {"peak_bytes": status_bytes("VmHWM") - before}


def main():
    program, shape, threads = sys.argv[1:]
    torch.set_num_threads(int(threads))
    peer = Peer(program, SHAPES[shape])
    start = time.perf_counter()
    loss, norm = peer.step()
    say = lambda answer: print(json.dumps(answer), file=ANSWERS)
    say({"parameters": sum(p.numel() for p in peer.net.parameters()), "first_loss": loss, "first_grad_norm": norm,
         "first_step_s": time.perf_counter() - start, "threads": torch.get_num_threads(), "torch": torch.__version__})
    peer.step()
    for line in sys.stdin:
        command, *rest = line.split()
        say(peer.timed(int(rest[0])) if command == "step" else peer.peak())


if __name__ == "__main__":
    main()
