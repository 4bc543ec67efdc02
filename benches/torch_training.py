#!/usr/bin/env python3
"""The workloads of `invar bench` as a PyTorch user would write them, timed in the same way.

    python benches/torch_training.py [images] [images_cg] [lift] [sequences] [pairs_10] [pairs_30] [--threads 2] [--seconds 5]

One JSON line per variant: NCHW and channels-last for images, NCHW for the group convolutions, and for sequences the
pointwise network once per token (`tokens`) or once per entry of the vocabulary (`table`).
"""
import argparse
import json
import time

import torch
from torch import nn
from torch.nn import functional as F

PLAN = [(3, 64, True), (64, 128, True), (128, 128, False), (128, 128, True), (128, 128, False), (128, 128, True)]


class CombinedFilters(nn.Module):
    """Filters that are learned combinations of nine fixed ones."""

    def __init__(self, n_in, n_out):
        super().__init__()
        self.mix = nn.Parameter(torch.randn(n_out * n_in, 9) / (3 * n_in**0.5))
        self.bias = nn.Parameter(torch.zeros(n_out))
        self.register_buffer("basis", torch.linalg.qr(torch.randn(9, 9)).Q)
        self.sizes = (n_out, n_in, 3, 3)

    def forward(self, x):
        return F.conv2d(x, (self.mix @ self.basis).reshape(self.sizes), self.bias, padding=1)


def vgg(conv):
    blocks = []
    for n_in, n_out, pooled in PLAN:
        blocks += [conv(n_in, n_out), nn.BatchNorm2d(n_out), nn.ReLU(inplace=True)] + [nn.MaxPool2d(2)] * pooled
    blocks += [nn.Flatten(), nn.Linear(128, 50), nn.ReLU(inplace=True), nn.Linear(50, 10)]
    return nn.Sequential(*blocks)


def turned(x, g):
    x = torch.rot90(x, g % 4, (-2, -1))
    return x.flip(-2) if g >= 4 else x


def quotients():
    """For directions g and h the number of g^-1 h."""
    marks = torch.arange(9).reshape(3, 3)
    number = {tuple(turned(marks, g).flatten().tolist()): g for g in range(8)}
    times = lambda a, b: number[tuple(turned(turned(marks, b), a).flatten().tolist())]
    undo = [next(h for h in range(8) if times(g, h) == 0) for g in range(8)]
    return [[times(undo[g], h) for h in range(8)] for g in range(8)]


class GroupConv(nn.Module):
    order = quotients()

    def __init__(self, n_in, n_out, first=False):
        super().__init__()
        depth = 1 if first else 8
        self.first = first
        self.filters = nn.Parameter(torch.randn(n_out, n_in, depth, 3, 3) / (9 * depth * n_in / 2) ** 0.5)

    def forward(self, x):
        around = [turned(self.filters if self.first else self.filters[:, :, self.order[g]], g) for g in range(8)]
        filters = torch.stack(around, dim=1)
        return F.conv2d(x, filters.flatten(2, 3).flatten(0, 1), padding=1)


class DirectionNorm(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.BatchNorm3d(features)

    def forward(self, x):
        return self.norm(x.unflatten(1, (-1, 8))).flatten(1, 2)


class Lift(nn.Module):
    def __init__(self):
        super().__init__()
        sizes, layers = [(3, 8), (8, 16), (16, 16), (16, 32)], []
        for i, (n_in, n_out) in enumerate(sizes):
            layers += [GroupConv(n_in, n_out, i == 0), DirectionNorm(n_out), nn.ReLU(inplace=True)]
            layers += [nn.MaxPool2d(2)] * (i < 2)
        self.layers = nn.Sequential(*layers)
        self.last = nn.Sequential(DirectionNorm(32), nn.ReLU(inplace=True))
        self.head = nn.Sequential(nn.Linear(32, 128), nn.ReLU(inplace=True), nn.Linear(128, 10))

    def forward(self, x):
        means = self.last(self.layers(x).mean((2, 3), keepdim=True))
        return self.head(means.flatten(1).unflatten(1, (32, 8)).mean(2))


class Sequences(nn.Module):
    def __init__(self, by_token):
        super().__init__()
        self.by_token = by_token
        self.register_buffer("embedding", torch.randn(100, 128))
        self.phi, self.mix = nn.Linear(128, 128), nn.Linear(10, 128)
        self.rho = nn.Sequential(nn.Linear(128, 128), nn.ReLU(inplace=True), nn.Linear(128, 1))

    def forward(self, x):
        if self.by_token:
            h = F.relu(self.phi(self.embedding[x])).sum(2)
        else:
            h = F.relu(self.phi(self.embedding)).sum(1)[x]
        return self.rho(self.mix(h))[:, 0]


class Pairs(nn.Module):
    """Invariant to every exchange of entries: an equivariant layer, a layer for each entry, sums and largest values, and dense layers."""

    def __init__(self, features=32):
        super().__init__()
        self.own, self.all = nn.Parameter(torch.randn(features)), nn.Parameter(torch.randn(features) / 10)
        self.shift = nn.Parameter(torch.zeros(features))
        self.second = nn.Linear(features, features)
        width = 2 * (features + 2)
        self.rho = nn.Sequential(
            nn.Linear(width, 128), nn.ReLU(inplace=True), nn.Linear(128, 128), nn.ReLU(inplace=True), nn.Linear(128, 1)
        )

    def forward(self, x):
        total = x.sum(1, keepdim=True)
        h = F.relu(x.unsqueeze(2) * self.own + total.unsqueeze(2) * self.all + self.shift)
        h = F.relu(self.second(h))
        h = torch.cat([h, F.relu(x).unsqueeze(2), F.relu(-x).unsqueeze(2)], 2)
        pooled = torch.cat([h.sum(1) / x.shape[1] ** 0.5, h.amax(1)], 1)
        return self.rho(pooled)[:, 0]


def image_run(model, memory=torch.contiguous_format):
    x, y = torch.rand(64, 3, 28, 28).contiguous(memory_format=memory), torch.arange(64) % 10
    model = model.to(memory_format=memory)
    return model, torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9), lambda: F.cross_entropy(model(x), y)


def sequence_run(model):
    x = torch.randint(1, 100, (128, 10))
    y = x.sum(1) / 100
    return model, torch.optim.Adam(model.parameters()), lambda: F.mse_loss(model(x), y)


def pairs_run(model, entries):
    x = 2 * torch.rand(128, entries) - 1
    y = x.square().mean(1)
    return model, torch.optim.Adam(model.parameters()), lambda: F.mse_loss(model(x), y)


def variants(name):
    plain = lambda n_in, n_out: nn.Conv2d(n_in, n_out, 3, padding=1)
    if name in ("images", "images_cg"):
        conv = plain if name == "images" else CombinedFilters
        yield "nchw", 64, image_run(vgg(conv))
        yield "channels_last", 64, image_run(vgg(conv), torch.channels_last)
    elif name == "lift":
        yield "nchw", 64, image_run(Lift())
    elif name in ("pairs_10", "pairs_30"):
        yield "tied", 1, pairs_run(Pairs(), int(name.removeprefix("pairs_")))
    else:
        yield "tokens", 1, sequence_run(Sequences(True))
        yield "table", 1, sequence_run(Sequences(False))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", help="all of them without any")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=5.0)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    names = ["images", "images_cg", "lift", "sequences", "pairs_10", "pairs_30"]
    for name in args.workloads or names:
        if name not in names:
            parser.error(f"unknown workload {name}; there are {', '.join(names)}")
        for variant, per_step, (_, optimiser, loss) in variants(name):
            losses, shortest, end = [], float("inf"), None
            while end is None or time.perf_counter() < end:
                start = time.perf_counter()
                optimiser.zero_grad()
                value = loss()
                value.backward()
                optimiser.step()
                losses.append(value.item())
                if len(losses) > 4:
                    shortest = min(shortest, time.perf_counter() - start)
                    end = end or time.perf_counter() + args.seconds
            line = {"workload": f"{name}:{variant}", "unit": "steps/s" if per_step == 1 else "images/s"}
            print(json.dumps(line | {"rate": round(per_step / shortest, 1), "loss": [losses[0], losses[-1]]}), flush=True)


if __name__ == "__main__":
    main()
