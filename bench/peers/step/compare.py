#!/usr/bin/env python3
"""One step of a bundle's model through foxhunt and through what others would use, in turns on one core.

    compare.py BUNDLE [--foxhunt build/release/foxhunt] [--rounds 7] [--calls 2000] [--core N] [--peers ort,numpy] [--json out.json]

Peers: ort (ONNX Runtime, everything bound), numpy, eager, torchscript, compile (PyTorch), lstm_a (ONNX Runtime's step of an LSTM
of the size of STAC-ML's LSTM_A). Each that computes the model is held to foxhunt's answers before it is timed. What is not
installed is named and left out. README.md beside this file says how the times are taken.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

PEERS = ("ort", "numpy", "eager", "torchscript", "compile", "lstm_a")
NAMES = {"ort": "ONNX Runtime, bound", "numpy": "numpy", "eager": "PyTorch eager", "torchscript": "TorchScript",
         "compile": "torch.compile", "lstm_a": "ONNX Runtime, LSTM_A"}
AGREE = 1e-4  # of the largest answer: both round to float32 in another order, several layers after each other
WARM_CALLS = 300


def pin(core):
    """Before numpy and its kind are loaded: they count cores then."""
    os.sched_setaffinity(0, {core})
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"


def foxhunt_rows(args, bundle, core, peer_rows=None):
    command = [args.foxhunt, "bench", "step", bundle, "-q", "--json", "--pin", str(core), "--timed", "step", "--gaps", "0",
               "--sessions", "0", "--loads", "0", "--weights", args.weights, "--seconds", str(args.seconds), "--warm", "0.5",
               "--control", "0.1", "--floor", "0.1"]
    if peer_rows:
        command += ["--peer-rows", peer_rows]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        from model import Failed
        raise Failed(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}{done.stdout[:2000]}")
    return json.loads(done.stdout)


def make_peer(kind, model):
    """A function of one row [1, F]. Errors  ImportError: not installed."""
    import numpy as np
    if kind == "numpy":
        from model import NumpyStep
        step = NumpyStep(model)
        return lambda x: step(x[0])
    if kind in ("ort", "lstm_a"):
        import onnx_peers
        return onnx_peers.OrtStep(*(onnx_peers.step_graph(model) if kind == "ort" else onnx_peers.Lstm().graph()))
    import torch_peers
    return torch_peers.TorchStep(model, kind)


def difference(kind, step, model, told):
    """Largest difference from what it is held to, relative to the largest answer."""
    import numpy as np
    if kind == "lstm_a":
        import onnx_peers
        exact = onnx_peers.Lstm().numpy()
        rows = np.random.default_rng(5).normal(0, 1, (64, onnx_peers.Lstm.units)).astype(np.float32)
        answers = np.array([exact(x.astype(float)) for x in rows])
    else:
        rows, answers = np.array(told["features"], np.float32), np.array(told["answers"])
    got = np.array([np.asarray(step(row[None])).reshape(-1).copy() for row in rows])
    return float(np.abs(got - answers).max() / np.abs(answers).max()), [np.ascontiguousarray(row[None]) for row in rows]


def timed(step, rows, calls):
    """Microseconds of each call, clock reading included (0.05 us)."""
    import numpy as np
    clock, n = time.perf_counter_ns, len(rows)
    for i in range(WARM_CALLS):
        step(rows[i % n])
    ticks = np.empty(calls)
    for i in range(calls):
        row = rows[i % n]
        start = clock()
        step(row)
        ticks[i] = clock() - start
    return np.percentile(ticks / 1e3, [10, 50, 99]).tolist()


def ready_peers(args, model, told):
    from model import Failed
    peers = {}
    for kind in args.peers.split(","):
        if kind not in PEERS:
            raise Failed(f"there is no peer '{kind}'; there are {', '.join(PEERS)}")
        try:
            step = make_peer(kind, model)
        except ImportError as missing:
            print(f"{NAMES[kind]}: not installed ({missing})", file=sys.stderr)
            continue
        off, rows = difference(kind, step, model, told)
        if not off < AGREE:
            raise Failed(f"{NAMES[kind]} differs by {off:.2g} of the largest answer, more than {AGREE:g}: not the same model")
        peers[kind] = (step, rows, off)
    return peers


def add_round(args, core, peers, samples, first):
    def run_foxhunt():
        for row in foxhunt_rows(args, args.bundle, core)["rows"]:
            samples.setdefault("foxhunt " + row["weights"], []).append(row)

    def run_peer(kind):
        step, rows, _ = peers[kind]
        samples.setdefault(kind, []).append(timed(step, rows, args.calls))
    jobs = [run_foxhunt, *(lambda k=kind: run_peer(k) for kind in peers)]
    for job in jobs[first:] + jobs[:first]:
        job()


def summary(samples, peers):
    """A dict a program; ratios are medians over the rounds of the ratio within a round."""
    own = [k for k in samples if k.startswith("foxhunt ")]
    p50 = {k: [r["p50_us"] if k in own else r[1] for r in rounds] for k, rounds in samples.items()}
    lines = []
    for kind, rounds in samples.items():
        line = {"program": kind if kind in own else NAMES[kind], "p50_us": statistics.median(p50[kind]), "least_p50_us": min(p50[kind])}
        if kind in own:
            p99 = [r["p99_us"] for r in rounds if r["p99_us"] is not None]
            line |= {"floor_us": statistics.median(r["floor_us"] for r in rounds), "stalls_per_s": statistics.median(r["stalls_per_s"] for r in rounds),
                     "quiet_p99_us": statistics.median([r["quiet_p99_us"] for r in rounds if r["quiet_p99_us"] is not None] or [float("nan")])}
        else:
            p99 = [r[2] for r in rounds]
            line["difference"] = peers[kind][2]
        line["p99_us"] = statistics.median(p99) if p99 else None
        line["ratio"] = {o: statistics.median(a / b for a, b in zip(p50[kind], p50[o])) for o in own}
        lines.append(line)
    return lines


def print_table(lines):
    own = [line["program"] for line in lines if line["program"].startswith("foxhunt ")]
    head = ["program", "p50 us", "least", "p99 us", *(f"x {o[8:]}" for o in own), "difference"]
    rows = [[line["program"], f"{line['p50_us']:.2f}", f"{line['least_p50_us']:.2f}", "n/a" if line["p99_us"] is None else f"{line['p99_us']:.2f}",
             *(f"{line['ratio'][o]:.1f}" for o in own), f"{line['difference']:.0e}" if "difference" in line else ""] for line in lines]
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    show = lambda row: "| " + " | ".join(f"{c:<{w}}" if i == 0 else f"{c:>{w}}" for i, (c, w) in enumerate(zip(row, widths))) + " |"
    print(show(head))
    print("|" + "|".join("-" * (w + 1) + ("-" if i == 0 else ":") for i, w in enumerate(widths)) + "|")
    for row in rows:
        print(show(row))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("bundle")
    ap.add_argument("--foxhunt", default="build/release/foxhunt", help="the program")
    ap.add_argument("--weights", default="fp32,int8", help="forms of foxhunt's weights")
    ap.add_argument("--peers", default="ort,numpy,eager,torchscript,lstm_a")
    ap.add_argument("--rounds", type=int, default=7)
    ap.add_argument("--calls", type=int, default=2000, help="of a peer in a round")
    ap.add_argument("--seconds", type=float, default=0.5, help="of foxhunt in a round")
    ap.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)))
    ap.add_argument("--json")
    args = ap.parse_args()
    pin(args.core)
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    try:
        from model import Failed, Model
    except ImportError as missing:
        print(f"compare.py: numpy is not installed ({missing})", file=sys.stderr)
        return 1
    try:
        with tempfile.TemporaryDirectory() as folder:
            rows = os.path.join(folder, "rows.json")
            about = foxhunt_rows(args, args.bundle, args.core, rows)
            with open(rows) as file:
                told = json.load(file)
        model = Model(args.bundle)
        peers = ready_peers(args, model, told)
        samples, loads = {}, []
        for i in range(args.rounds):
            loads.append(os.getloadavg()[0])
            add_round(args, args.core, peers, samples, i % (len(peers) + 1))
    except (Failed, OSError) as error:
        print(f"compare.py: {error}", file=sys.stderr)
        return 1
    lines = summary(samples, peers)
    parameters = about["rows"][0]["parameters"]
    print(f"{about['cpu']}, core {args.core}; {about['model']}, {parameters} parameters; medians of {args.rounds} rounds; "
          f"load average {min(loads):.1f} to {max(loads):.1f}\n")
    print_table(lines)
    if args.json:
        with open(args.json, "w") as out:
            json.dump({"cpu": about["cpu"], "model": about["model"], "parameters": parameters, "rounds": args.rounds, "calls": args.calls,
                       "load_average": [min(loads), max(loads)], "programs": lines}, out, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
