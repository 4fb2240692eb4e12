#!/usr/bin/env python3
"""Times training steps of foxhunt and of its peers in turns, on the same shapes and threads, and prints one table.

    bench/peers/compare.py --foxhunt build/release/foxhunt [--shape hft,middle,layer] [--threads 1] [--repeats 15] [--json FILE]

Run it with the Python that has requirements.txt installed. README.md says how the times are taken and what is not compared.
"""
import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile

from shapes import SHAPES

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = ["hf64", "matmul64", "matmul32", "compile64", "compile32"]
TITLES = {
    "native": "foxhunt native",
    "aten": "foxhunt aten",
    "floor": "foxhunt floor",
    "hf": "transformers, chunk ",
    "matmul": "PyTorch products, chunk ",
    "compile": "the same compiled, chunk ",
}
CPU_STEPS = 4  # native's CPU time: two calls that differ by this many times the steps of a round
AGREE = 1e-3   # relative: float32 sums of 4096 tokens in another order differ by some 1e-6, a wrong formula by far more


class Failed(Exception):
    pass


class Peer:
    """A child process that does one step after the other when told."""

    def __init__(self, program, shape, threads):
        self.program = program
        self.cache = tempfile.TemporaryDirectory()  # nothing compiled before may be found: compile seconds are whole ones
        env = os.environ | {"TORCHINDUCTOR_CACHE_DIR": self.cache.name, "OMP_NUM_THREADS": str(threads)}
        self.errors = tempfile.TemporaryFile(mode="w+")
        self.process = subprocess.Popen(
            [sys.executable, os.path.join(HERE, "peer.py"), program, shape, str(threads)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True, env=env)
        self.facts = self._answer()

    def _answer(self):
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            self.errors.seek(0)
            raise Failed(f"{self.program} ended with status {self.process.returncode}\n{self.errors.read()[-2000:]}")
        return json.loads(line)

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self._answer()

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.errors.close()
        self.cache.cleanup()


class Foxhunt:
    """Fresh processes: each call makes its model anew and takes one step before it times any."""

    def __init__(self, binary, shape, threads):
        self.binary, self.built = binary, os.stat(binary)
        self.version = subprocess.run([binary, "--version"], stdout=subprocess.PIPE, check=True, text=True).stdout.strip()
        self.command = [binary, "bench", "ssd", "--json", "--shape", shape, "--threads", str(threads)]

    def call(self, steps, *more):
        """The row, and the CPU time of the whole call in milliseconds."""
        now = os.stat(self.binary)
        if (now.st_ino, now.st_mtime_ns) != (self.built.st_ino, self.built.st_mtime_ns):
            raise Failed(f"{self.binary} was built anew during the run; its rounds would be of two programs")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        out = subprocess.run([*self.command, "--repeats", str(steps), *more], stdout=subprocess.PIPE, check=True).stdout
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return json.loads(out)["rows"][0], 1e3 * cpu

    def native(self, steps):
        _, short = self.call(1, "--native-only")
        row, long = self.call(1 + CPU_STEPS * steps, "--native-only")
        return {"ms": [row["native_ms"]], "least_ms": row["native_ms_least"], "cpu_ms": [(long - short) / (CPU_STEPS * steps)]}

    def others(self, steps):
        return self.call(steps)[0]


def check_same(shape_name, row, peers):
    """Every program trains the model that the shape describes; the peers compute the same numbers."""
    shape = SHAPES[shape_name]
    tokens = row["tokens_per_s"] * row["native_ms"] / 1e3
    counts = {"foxhunt": row["parameters"]} | {name: p.facts["parameters"] for name, p in peers.items()}
    if round(tokens) != shape.batch * shape.tokens or set(counts.values()) != {shape.parameters}:
        raise Failed(f"{shape_name} is {shape.batch * shape.tokens} tokens and {shape.parameters} parameters here, but foxhunt "
                     f"has {tokens:.0f} tokens, and the programs {counts} parameters")
    for key in ("first_loss", "first_grad_norm"):
        values = {name: p.facts[key] for name, p in peers.items()}
        if values and max(values.values()) - min(values.values()) > AGREE * max(values.values()):
            raise Failed(f"{shape_name}: the peers disagree on {key}: {values}")


def measure(binary, shape_name, threads, programs, rounds, say):
    """{program: {"ms": one median a round, ...}}, every program once a round, each round begun by another one."""
    shape, foxhunt = SHAPES[shape_name], Foxhunt(binary, shape_name, threads)
    results = {name: {"ms": [], "least_ms": [], "cpu_ms": []} for name in ["native", "aten", "floor", *programs]}
    peers = {}
    try:
        for name in programs:
            say(f"{shape_name}, threads {threads}: start {name}")
            peers[name] = Peer(name, shape_name, threads)
        row = foxhunt.others(1)
        check_same(shape_name, row, peers)
        order = ["native", "others", *programs]
        for i in range(rounds):
            say(f"{shape_name}, threads {threads}: round {i + 1} of {rounds}")
            start = i % len(order)
            for name in order[start:] + order[:start]:
                if name == "others":
                    row = foxhunt.others(shape.steps)
                    for key in ("aten", "floor"):
                        results[key]["ms"].append(row[key + "_ms"])
                        results[key]["least_ms"].append(row[key + "_ms_least"])
                    for key in ("native", "aten"):
                        results[key]["peak_bytes"] = row[key + "_peak_bytes"]
                    continue
                sample = foxhunt.native(shape.steps) if name == "native" else peers[name].ask(f"step {shape.steps}")
                results[name]["ms"].append(statistics.median(sample["ms"]))
                results[name]["least_ms"].append(sample.get("least_ms", min(sample["ms"])))
                results[name]["cpu_ms"].append(statistics.median(sample["cpu_ms"]))
        for name, peer in peers.items():
            results[name] |= peer.facts | peer.ask("peak")
    finally:
        for peer in peers.values():
            peer.close()
    return {"shape": shape_name, "threads": threads, "foxhunt": foxhunt.version, "kernels": row["kernels"], "rounds": rounds,
            "load_average": os.getloadavg()[0], "programs": summary(shape, results)}


def summary(shape, results):
    """Ratios are medians of each round's own ratio: what slows a round slows both sides of it."""
    def over(name, other):
        return statistics.median(a / b for a, b in zip(results[name]["ms"], results[other]["ms"]))
    for name, r in results.items():
        quartiles = statistics.quantiles(r["ms"], n=4, method="inclusive") if len(r["ms"]) > 1 else r["ms"] * 3
        r["median_ms"], r["quartiles_ms"], r["best_ms"] = statistics.median(r["ms"]), [quartiles[0], quartiles[2]], min(r["least_ms"])
        r["cpu_median_ms"] = statistics.median(r["cpu_ms"]) if r["cpu_ms"] else None
        r["tokens_per_s"] = shape.batch * shape.tokens / r["median_ms"] * 1e3
        r["over_native"], r["over_floor"] = over(name, "native"), over(name, "floor")
        if name.startswith("compile"):
            r["compile_s"] = r["first_step_s"] - r["median_ms"] / 1e3
    return results


COLUMNS = ["shape", "threads", "program", "median ms", "quartiles", "least", "CPU ms", "tokens/s", "x native", "x floor",
           "peak MiB", "compile s"]


def title(name):
    stem = name.rstrip("0123456789")
    return TITLES[stem] + name[len(stem):]


def lines_of(result):
    number = lambda value, form: "" if value is None else format(value, form)
    short = lambda ms: f"{ms:.0f}" if ms >= 100 else f"{ms:.1f}"
    for name, r in result["programs"].items():
        peak = r.get("peak_bytes")
        yield [result["shape"], str(result["threads"]), title(name), short(r["median_ms"]),
               "[{}, {}]".format(*map(short, r["quartiles_ms"])), short(r["best_ms"]),
               "" if r["cpu_median_ms"] is None else short(r["cpu_median_ms"]),
               f"{r['tokens_per_s']:.0f}" if name != "floor" else "", number(r["over_native"], ".2f"), number(r["over_floor"], ".2f"),
               number(None if peak is None else peak / 2**20, ".0f"), number(r.get("compile_s"), ".0f")]


def print_table(lines):
    """Markdown, aligned: text to the left, numbers to the right."""
    lines = [COLUMNS, *lines]
    widths = [max(map(len, column)) for column in zip(*lines)]
    left = {0, 2}
    rule = [("-" * w) if i in left else "-" * (w - 1) + ":" for i, w in enumerate(widths)]
    for line in [lines[0], rule, *lines[1:]]:
        print("| " + " | ".join(c.ljust(w) if i in left else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths))) + " |")


def cpu_model():
    try:
        with open("/proc/cpuinfo") as info:
            return next(line.split(":", 1)[1].strip() for line in info if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def parsed_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words = lambda text: text.split(",")
    parser.add_argument("--foxhunt", required=True, help="the binary of a release build")
    parser.add_argument("--shape", type=words, default=list(SHAPES), help="hft, middle, layer; all by default")
    parser.add_argument("--threads", type=lambda text: [int(n) for n in words(text)], default=[1])
    parser.add_argument("--peers", type=words, default=PEERS, help=f"all by default: {','.join(PEERS)}")
    parser.add_argument("--repeats", type=int, default=15, help="rounds")
    parser.add_argument("--json", metavar="FILE", help="every round's times, written anew after each shape")
    arguments = parser.parse_args()
    for given, known in ((arguments.shape, SHAPES), (arguments.peers, PEERS)):
        for name in given:
            if name not in known:
                parser.error(f"unknown '{name}'; choose from {', '.join(known)}")
    if arguments.repeats < 1 or min(arguments.threads) < 1:
        parser.error("--repeats and --threads are at least 1")
    return arguments


def main():
    arguments = parsed_arguments()
    say = lambda text: print(text, file=sys.stderr, flush=True)
    results = []
    try:
        for threads in arguments.threads:
            for shape in arguments.shape:
                results.append(measure(arguments.foxhunt, shape, threads, arguments.peers, arguments.repeats, say))
                if arguments.json:
                    with open(arguments.json, "w") as out:
                        json.dump({"cpu": cpu_model(), "cores": len(os.sched_getaffinity(0)), "results": results}, out, indent=1)
    except (Failed, OSError, subprocess.CalledProcessError) as error:
        say(f"compare.py: {error}")
        return 1
    finally:
        if results:
            print(f"{cpu_model()}, {len(os.sched_getaffinity(0))} cores; {results[0]['foxhunt']}, kernels {results[0]['kernels']}; "
                  f"medians of {arguments.repeats} rounds; load average {results[-1]['load_average']:.1f}\n")
            print_table([line for result in results for line in lines_of(result)])
    return 0


if __name__ == "__main__":
    sys.exit(main())
