#!/usr/bin/env python3
"""A model on paper of a training step on several ranks. Nothing here is measured but what you pass in.

    bench/scaling/model.py --parameters 115000 --step-ms 60 [--link NAME=GB/s,latency_us]... [--ranks 1,2,8,16]

T(W) = C / W  +  latencies  +  max(0, X - H C / W)
  C  one rank's time for the whole batch (--step-ms)
  X  time of the exchange's bytes: 2 (W - 1) / W * 4 P bytes sent by each rank, at the link's rate
  H  share of a step behind which buckets can go out: backward pass of a lane's last round (--hidden)
  latencies: two exchanges a bucket and one for the losses, (W - 1) messages each, one after the other
"""
import argparse

LINKS = ["loopback=0.8,60", "10 GbE=1.1,80", "100 GbE=11,40", "host memory of 8 GPUs=8,30"]


def step(args, ranks, rate, latency_us):
    compute = args.step_ms / ranks
    if ranks == 1:
        return compute, 0.0
    payload = 4.0 * args.parameters * 2 * (ranks - 1) / ranks
    buckets = max(1, round(4 * args.parameters / (4 << 20)))
    wire = payload / (rate * 1e9) * 1e3
    messages = (2 * buckets + 1) * (ranks - 1) * latency_us * 1e-3
    return compute + messages + max(0.0, wire - args.hidden * compute), payload


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parameters", type=float, required=True)
    parser.add_argument("--step-ms", type=float, required=True)
    parser.add_argument("--hidden", type=float, default=0.3)
    parser.add_argument("--link", action="append", help="NAME=GB/s,latency_us; default: " + "; ".join(LINKS))
    parser.add_argument("--ranks", default="1,2,4,8,16")
    args = parser.parse_args()
    print(f"model, not measured: {args.parameters:,.0f} parameters, {args.step_ms:g} ms a step on one rank, "
          f"{args.hidden:.0%} of a step can hide an exchange")
    print("| link | ranks | sent by each a step | step | speed-up | efficiency |\n|---|---|---|---|---|---|")
    for link in args.link or LINKS:
        name, numbers = link.split("=")
        rate, latency = map(float, numbers.split(","))
        for ranks in map(int, args.ranks.split(",")):
            time, payload = step(args, ranks, rate, latency)
            gain = args.step_ms / time
            print(f"| {name} ({rate:g} GB/s, {latency:g} us) | {ranks} | {payload / 2**20:.2f} MiB | {time:.2f} ms |"
                  f" {gain:.1f} | {gain / ranks:.0%} |")


if __name__ == "__main__":
    main()
