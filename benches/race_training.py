#!/usr/bin/env python3
"""`invar bench` against PyTorch, interleaved: the best rate of either over all rounds, and their ratio.

    pip install torch
    cargo build --release
    python benches/race_training.py [--invar target/release/invar] [--rounds 5] [--seconds 4] [--threads 2] [WORKLOAD...]

Run it on a machine that does nothing else. Prints a Markdown table; above 1, invar is faster.
"""
import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def lines(command):
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", default=["images", "images_cg", "lift", "sequences", "pairs_10", "pairs_30"])
    parser.add_argument("--invar", default=str(HERE.parent / "target/release/invar"))
    parser.add_argument("--peer", default=str(HERE / "torch_training.py"), help="a program that prints the same lines")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    options = ["--seconds", str(args.seconds), "--threads", str(args.threads)]
    best, units = {}, {}
    for round_ in range(args.rounds):
        for workload in args.workloads:
            ours = lines([args.invar, "bench", workload, *options])
            theirs = lines([sys.executable, args.peer, workload, *options])
            for line in ours + theirs:
                best[line["workload"]] = max(best.get(line["workload"], 0.0), line["rate"])
                units[line["workload"]] = line["unit"]
        print(f"round {round_ + 1} of {args.rounds}, load {os.getloadavg()[0]:.1f}", file=sys.stderr)
    print("| workload | invar | PyTorch | | ratio |\n| --- | ---: | --- | ---: | ---: |")
    for name in (name for name in best if ":" in name):
        workload, variant = name.split(":")
        ours = best[workload]
        print(f"| {workload}, {units[name]} | {ours:,.0f} | {variant} | {best[name]:,.0f} | {ours / best[name]:.2f} |")


if __name__ == "__main__":
    main()
