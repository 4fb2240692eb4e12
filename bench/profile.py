#!/usr/bin/env python3
"""Where the time of a program goes, part by part, from a profile of its samples.

    bench/profile.py build/release/foxhunt train --config configs/mamba2_es.toml --epochs 2 --out runs/profile
    bench/profile.py build/release/foxhunt bench ssd --shape hft --native-only --repeats 100

Needs perf. Samples of start-up (dynamic linking, LibTorch's registration of its operations) are a part of their own.
"""
import re
import subprocess
import sys
import tempfile

PARTS = [  # the first that matches a line "dso symbol"
    ("matrix kernel", r"kernels::.*gemm"),
    ("state space", r"kernels::.*(ssd_|chunk_|head_dot|state_overlap|transpose|all_zero)"),
    ("convolution, gate, norm", r"kernels::.*(conv_|silu|gate_norm|step_size|softplus|norm_rows)"),
    ("block and mixer around them", r"kernels::(block|mixer|plan_chunks|\(anonymous namespace\)::(Forward|Backward))"),
    ("optimiser and sum over lanes", r"(adamw|sum_parts|Optimizer)"),
    ("data loading", r"(BatchFiller|WindowSampler|Normalizer|FeaturePipeline|market::|dbn|zstd|Zstd|ZSTD|features::)"),
    ("metrics and logging", r"(evaluation::|spdlog|fmt::|Progress|nlohmann)"),
    ("start-up", r"(ld-linux|OperatorEntry|Dispatcher|FunctionSchema|SchemaParser|jit::|c10::Argument|OperatorName|Library)"),
    ("memory", r"(libc\.so.*(malloc|free|memset|memmove|memcpy|unlink_chunk|consolidate)|c10::.*[Aa]lloc)"),
    ("operating system", r"\[k\]|kernel"),
    ("LibTorch: autograd, loss, small operations", r"(libtorch|libc10|torch::|at::|c10::)"),
]


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        return 2
    with tempfile.NamedTemporaryFile(suffix=".perf") as data:
        run = subprocess.run(["perf", "record", "-F", "2000", "-o", data.name, *sys.argv[1:]],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if run.returncode != 0:
            print(run.stderr[-2000:], file=sys.stderr)
            return run.returncode
        report = subprocess.run(["perf", "report", "-i", data.name, "--stdio", "--no-children", "--sort", "dso,sym",
                                 "--percent-limit", "0"], capture_output=True, text=True).stdout
    sums = {name: 0.0 for name, _ in PARTS}
    sums["other"] = 0.0
    for line in report.splitlines():
        hit = re.match(r"\s*([0-9.]+)%\s+(.*)", line)
        if not hit:
            continue
        part = next((name for name, pattern in PARTS if re.search(pattern, hit[2])), "other")
        sums[part] += float(hit[1])
    busy = sum(sums.values()) - sums["start-up"]
    print(f"{'part':<44} {'share':>7}   (start-up, {sums['start-up']:.1f} % of all samples, left out)")
    for name, share in sorted(sums.items(), key=lambda item: -item[1]):
        if name != "start-up":
            print(f"{name:<44} {100 * share / busy:6.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
