#!/usr/bin/env python3
"""The kernels of crates/kernels against PyTorch in channels-last memory format, layer by layer, interleaved.

    pip install torch
    cargo build --release -p invar-kernels --example race
    python benches/race_conv.py target/release/examples/race [--threads 2] [--rounds 5]

Prints the best time of either side over all rounds and their ratio (above 1: our kernels are faster), and the rate of a
large matrix product, which is what the machine can do. Run it on a machine that does nothing else; if that cannot be had,
use one thread and more rounds.
"""
import argparse
import json
import os
import subprocess
import time

import torch
import torch.nn.functional as F

KERNELS = ("forward", "dx", "dw", "norm", "norm_back")


def best(run, seconds=0.2):
    run()
    shortest, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        run()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest * 1e3


def torch_layer(size, n_in, n_out, pool):
    x = torch.randn(64, n_in, size, size).contiguous(memory_format=torch.channels_last)
    w = torch.randn(n_out, n_in, 3, 3).contiguous(memory_format=torch.channels_last)
    with torch.no_grad():
        y = F.conv2d(x, w, padding=1)
        dy = torch.randn_like(y)

        def backward(mask):
            return lambda: torch.ops.aten.convolution_backward(dy, x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1, mask)

        times = {
            "forward": best(lambda: F.conv2d(x, w, padding=1)),
            "dx": best(backward([True, False, False])),
            "dw": best(backward([False, True, False])),
        }
    norm = torch.nn.BatchNorm2d(n_out).to(memory_format=torch.channels_last)
    z = y.clone(memory_format=torch.channels_last).requires_grad_()

    def forward_norm():
        out = F.relu(norm(z))
        return F.max_pool2d(out, 2) if pool else out

    times["norm"] = best(forward_norm)
    grad = torch.randn_like(forward_norm())

    def step():
        z.grad = None
        forward_norm().backward(grad)

    times["norm_back"] = best(step) - times["norm"]
    return times


def matrix_product():
    a, b = torch.randn(1024, 1024), torch.randn(1024, 1024)
    return 2 * 1024**3 / best(lambda: torch.mm(a, b)) / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    environment = dict(os.environ, RAYON_NUM_THREADS=str(args.threads))
    ours, theirs, peak = {}, {}, 0.0
    for _ in range(args.rounds):
        peak = max(peak, matrix_product())
        lines = subprocess.run([args.binary, "--json"], env=environment, check=True, capture_output=True, text=True).stdout
        for line in map(json.loads, lines.splitlines()):
            layer = (line["size"], line["inputs"], line["outputs"])
            times = torch_layer(*layer, pool=line["size"] > 7)
            for kernel in KERNELS:
                key = layer + (kernel,)
                ours[key] = min(ours.get(key, float("inf")), line[kernel])
                theirs[key] = min(theirs.get(key, float("inf")), times[kernel])
    print(f"matrix product: {peak:.0f} GFLOP/s on {args.threads} threads")
    for (size, n_in, n_out, kernel), time_ours in ours.items():
        time_theirs = theirs[size, n_in, n_out, kernel]
        inside = (3 * size - 2) ** 2
        rate = "" if kernel.startswith("norm") else f"  {2 * 64 * n_in * n_out * inside / time_ours / 1e6 / peak:4.0%} of the product"
        print(f"{n_in:>4}->{n_out:<4}{size:>3}x{size:<3}{kernel:>10}: {time_ours:7.2f} ms, torch {time_theirs:7.2f} ms, {time_theirs / time_ours:5.2f}x{rate}")


if __name__ == "__main__":
    main()
