"""A network of your own in PyTorch that gives up an invariance only where the data ask for it.

Rows of six numbers, sorted in training: is the sum of the first five above the last? The order of the five means nothing, but no
training row says so. Needs `pip install 'invar-symmetry[torch]'`; takes half a minute.

    python examples/python/own_network.py
"""

import torch
from torch import nn

import invar
from invar.torch import CgLinear, LevelPenalty

torch.manual_seed(0)
torch.set_num_threads(1)


def rows(count: int, is_sorted: bool) -> "tuple[torch.Tensor, torch.Tensor]":
    """Rows with their labels."""
    x = torch.randn(count, 6)
    x[:, 5] *= 2.0
    y = (x[:, :5].sum(1) > x[:, 5]).long()
    if is_sorted:
        x[:, :5] = x[:, :5].sort(dim=1).values
    return x, y


def train(network: nn.Module, strength: float) -> nn.Module:
    """The usual loop, with the penalty added to the loss."""
    x, y = rows(2000, is_sorted=True)
    penalty = LevelPenalty(temperature=10.0)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-2)
    for _ in range(400):
        loss = nn.functional.cross_entropy(network(x), y)
        if strength > 0:
            loss = loss + strength * penalty(network)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return network


def accuracy(network: nn.Module, is_sorted: bool) -> float:
    """Percent of new rows that are answered right."""
    x, y = rows(4000, is_sorted)
    with torch.no_grad():
        return 100.0 * float((network(x).argmax(1) == y).float().mean())


# %% Every exchange of two entries is a candidate: those with the last are false.
first = CgLinear(6, "swaps(0)", 32)
print(first.lattice)

# %% With and without the penalty, and with an ordinary first layer.
networks = {
    "ordinary layer": train(nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2)), 0.0),
    "CG layer": train(nn.Sequential(CgLinear(6, "swaps(0)", 32), nn.ReLU(), nn.Linear(32, 2)), 0.0),
    "CG layer with penalty": train(nn.Sequential(first, nn.ReLU(), nn.Linear(32, 2)), 0.02),
}
for name, network in networks.items():
    print(f"{name:22} sorted rows {accuracy(network, True):.1f} %, shuffled rows {accuracy(network, False):.1f} %")

# %% What the layer kept: the part of its weights that is not invariant to each exchange.
for name, violation in first.violations().items():
    print(f"  {name}: {100 * violation:.1f} %")

# %% Whether the whole network has a symmetry is measured, on inputs that a search finds.
print(invar.certify(networks["CG layer with penalty"], 6, ["swap(0;0,1)", "swap(0;0,5)"]))

# %% An exact one: impose the true exchanges.
true = [f"swap(0;{i},{j})" for i in range(5) for j in range(i + 1, 5)]
exact = nn.Sequential(CgLinear(6, "swaps(0)", 32, imposed=true), nn.ReLU(), nn.Linear(32, 2))
train(exact, 0.0)
print(f"imposed: shuffled rows {accuracy(exact, False):.1f} %")
print(invar.certify(exact, 6, ["swap(0;0,1)", "swap(0;0,5)"]))
