#!/usr/bin/env python3
"""What `foxhunt estimate` says against what `foxhunt train` then takes, over a grid of configurations.

    bench/memory/grid.py [--foxhunt build/release/foxhunt] [--out bench-memory.jsonl] [--only SUBSTRING] [--small]
                         [--device cuda] [--library]

Each configuration is estimated, then trained for two epochs of a few steps in a process of its own, on the sample in
data/es-sample. Measured are the peak of what was resident (the kernel's ru_maxrss) and the peak of what tensors took
(allocator_peak_bytes of metrics.jsonl). The figures go to --out, a line a configuration, as soon as they are there: a
second call goes on where the first one was stopped. Exit code 1 where an estimate is off by more than 15 %.

With --device cuda the peaks are those of the GPU: what LibTorch's allocator gave to tensors, which must meet the bound,
and what the process held, which is shown (its context is an assumption). --small takes six quick ones (a test); --library prints what a run of a tiny model takes: the constant that
foxhunt/train/memory/library_overhead.cpp holds.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
BOUND = 0.15
# Two days to train on, one to validate: the peak is there after a step.
COMMON = ["data.files=['data/es-sample/es-ohlcv-1m.dbn.zst']", 'split.train_end="2013-10-09"',
          'split.valid_end="2013-10-10"', "train.epochs=2", "train.patience=0", "evaluate.bootstrap_samples=10"]


def case(d, n, s, batch, window, *more):
    """d_model, layers, d_state, batch, window."""
    headdim = 64 if d >= 256 else 32
    # Two sequences of 1270 rows: windows overlap as far as two steps of a whole batch need.
    stride = max(1, min(window - window // 8, (1270 - window) // (batch + 1)))
    sets = [f"model.d_model={d}", f"model.n_layer={n}", f"model.d_state={s}", f"model.headdim={headdim}",
            f"train.batch_size={batch}", f"windows.length={window}", f"windows.burn_in={window // 8}",
            f"windows.stride={stride}"]
    name = f"d{d} L{n} N{s} B{batch} T{window}"
    for item in more:
        key, _, value = item.partition("=")
        sets.append(f"train.{key}={value}")
        name += f" {key} {value}"
    return name, sets


ATEN, BF16, AGAIN = "kernels=aten", "precision=bf16", "recompute=blocks"
GRID = [
    case(32, 1, 16, 1, 64), case(32, 1, 16, 64, 64), case(32, 8, 16, 32, 256), case(32, 2, 128, 32, 256),
    case(64, 4, 16, 4, 256), case(64, 4, 16, 32, 256), case(64, 4, 16, 64, 512), case(64, 8, 32, 16, 1024),
    case(64, 4, 16, 32, 256, "lanes=1"), case(64, 4, 16, 32, 256, "lanes=2"), case(64, 4, 16, 32, 256, "lanes=32"),
    case(64, 4, 16, 64, 256, "micro_batch=1"), case(64, 4, 16, 64, 256, "lanes=2", "micro_batch=4"),
    case(64, 4, 16, 64, 512, AGAIN), case(64, 4, 16, 32, 256, BF16), case(64, 4, 16, 64, 256, "threads=1"),
    case(128, 4, 64, 16, 256), case(128, 8, 32, 16, 512), case(128, 4, 128, 8, 256), case(128, 8, 64, 16, 512, AGAIN),
    case(256, 6, 64, 4, 256), case(256, 6, 64, 16, 256), case(256, 6, 64, 16, 256, BF16), case(256, 2, 128, 4, 1024),
    case(256, 6, 64, 16, 512, AGAIN), case(512, 2, 64, 2, 256), case(512, 8, 64, 1, 64), case(512, 4, 128, 4, 256),
    case(512, 4, 64, 4, 256, BF16), case(512, 4, 64, 8, 256, AGAIN, "lanes=2"),
    case(32, 2, 16, 16, 256, ATEN), case(64, 4, 16, 32, 256, ATEN), case(64, 4, 16, 8, 1024, ATEN),
    case(64, 4, 16, 32, 256, ATEN, "micro_batch=8"), case(64, 4, 16, 32, 256, ATEN, AGAIN),
    case(64, 4, 16, 32, 256, ATEN, BF16), case(128, 4, 64, 16, 256, ATEN), case(128, 8, 32, 8, 512, ATEN, AGAIN),
    case(256, 6, 64, 4, 256, ATEN), case(256, 6, 64, 4, 256, ATEN, BF16), case(512, 2, 64, 2, 256, ATEN),
    case(512, 4, 128, 2, 256, ATEN),
]
SMALL = [case(32, 1, 16, 1, 64), case(32, 2, 64, 16, 256, "lanes=2"), case(64, 4, 16, 16, 256, "micro_batch=1"),
         case(64, 4, 16, 16, 256, AGAIN), case(128, 2, 16, 8, 256, BF16), case(64, 2, 16, 8, 256, ATEN)]


def call(foxhunt, *arguments):
    done = subprocess.run([foxhunt, *arguments], cwd=TOP, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"foxhunt {' '.join(arguments)}\n{done.stderr[-2000:]}")
    return done.stdout


def settings(sets):
    return [word for item in COMMON + sets for word in ("--set", item)]


def measure(foxhunt, sets, folder, device="cpu"):
    """Peak of what the process holds and of tensors, in bytes, of a run in a process of its own."""
    run = folder / "run"
    with open(folder / "log", "w") as log:
        child = subprocess.Popen([foxhunt, "-q", "train", "--config", str(folder / "empty.toml"), *settings(sets),
                                  "--out", str(run), "--overwrite", "--device", device], cwd=TOP, stdout=log, stderr=log)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise RuntimeError((folder / "log").read_text()[-2000:])
    epochs = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    epochs = [line for line in epochs if "train_loss" in line]
    last = epochs[-1]
    if device != "cpu":
        return last["device_peak_bytes"], last["device_allocator_peak_bytes"], last["step"]
    return usage.ru_maxrss * 1024, last["allocator_peak_bytes"], last["step"]


def one(foxhunt, name, sets, device):
    with tempfile.TemporaryDirectory(prefix="foxhunt-memory-") as place:
        folder = pathlib.Path(place)
        (folder / "empty.toml").write_text("")
        told = json.loads(call(foxhunt, "estimate", "--config", str(folder / "empty.toml"), *settings(sets), "--json",
                               "--device", device))
        resident, allocator, steps = measure(foxhunt, sets, folder, device)
    return {"device": device, "name": name, "sets": sets, "steps": steps, "resident": resident, "resident_estimate": told["bytes"],
            "phase": told["fullest_phase"], "allocator": allocator, "allocator_estimate": told["allocator_bytes"]}


def table(results, device):
    mib = 2 ** 20
    print(f"| configuration | {'resident' if device == 'cpu' else 'held'}, MiB | estimate | ratio | tensors, MiB | estimate | ratio |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    worst = {"resident": (1.0, ""), "allocator": (1.0, "")}
    for r in results:
        cells = []
        for what in ("resident", "allocator"):
            ratio = r[what + "_estimate"] / r[what]
            cells += [f"{r[what] / mib:.0f}", f"{r[what + '_estimate'] / mib:.0f}", f"{ratio:.3f}"]
            if abs(ratio - 1) > abs(worst[what][0] - 1):
                worst[what] = (ratio, r["name"])
        print(f"| {r['name']} | {' | '.join(cells)} |")
    bound_to = ["resident", "allocator"] if device == "cpu" else ["allocator"]
    off = max(abs(worst[what][0] - 1) for what in bound_to)
    print(f"\n{len(results)} configurations; worst of what is held {worst['resident'][0]:.3f} "
          f"({worst['resident'][1]}), of tensors {worst['allocator'][0]:.3f} ({worst['allocator'][1]})")
    return off <= BOUND


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--foxhunt", default=os.environ.get("FOXHUNT", str(TOP / "build/release/foxhunt")))
    parser.add_argument("--out", default="", help="results, a JSON line each; empty: kept nowhere")
    parser.add_argument("--only", default="", help="configurations whose name holds this")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--library", action="store_true")
    options = parser.parse_args()
    foxhunt = os.path.abspath(options.foxhunt)
    if options.library:
        with tempfile.TemporaryDirectory(prefix="foxhunt-memory-") as place:
            folder = pathlib.Path(place)
            (folder / "empty.toml").write_text("")
            for kernels in ("native", "aten"):
                resident, allocator, _ = measure(foxhunt, case(16, 1, 16, 1, 16, f"kernels={kernels}")[1], folder)
                print(f"{kernels}: {(resident - allocator) / 2**20:.1f} MiB beside tensors")
        return 0
    known = {}
    if options.out and os.path.exists(options.out):
        for line in open(options.out):
            result = json.loads(line)
            known[(result["device"], result["name"], tuple(result["sets"]))] = result
    results = []
    for name, sets in SMALL if options.small else GRID:
        if options.only not in name:
            continue
        result = known.get((options.device, name, tuple(sets)))
        if result is None:
            result = one(foxhunt, name, sets, options.device)
            print(f"{name}: resident {result['resident_estimate'] / result['resident']:.3f}, "
                  f"tensors {result['allocator_estimate'] / result['allocator']:.3f}", file=sys.stderr)
            if options.out:
                with open(options.out, "a") as out:
                    out.write(json.dumps(result) + "\n")
        results.append(result)
    return 0 if table(results, options.device) else 1


if __name__ == "__main__":
    sys.exit(main())
