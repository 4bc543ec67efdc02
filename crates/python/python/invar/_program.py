"""A trained model of invar as a PyTorch module: the same operations, one after the other."""

import json
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Tuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

if TYPE_CHECKING:
    from ._model import Model

#: The values of tensors, by the name they have in the program.
Values = Mapping[str, NDArray[np.float32]]


class Program(nn.Module):
    """The operations of a model. Takes a batch of examples, ``(batch, *shape)``, and gives one score per class, or the value.

    Its weights are parameters, so that it can be trained further; what it keeps is then no longer proved.
    """

    def __init__(self, description: Dict[str, Any], values: Values) -> None:
        super().__init__()
        kind = description["input"]
        sides = {"tokens": lambda: [kind["length"]], "array": lambda: kind["shape"]}
        image = lambda: [kind["channels"], kind["height"], kind["width"]]  # noqa: E731
        #: The shape of one example.
        self.shape: Tuple[int, ...] = tuple(sides.get(kind["kind"], image)())
        self.operations = _chain(description["ops"], values, "", self.shape)

    @classmethod
    def _of(cls, model: "Model") -> "Program":
        text, values = model._core.program()
        return cls(json.loads(text), values)

    def forward(self, x: Tensor) -> Tensor:
        """The outputs of examples."""
        if tuple(x.shape[1:]) != self.shape:
            raise ValueError(f"expected a batch of {self.shape}, got {tuple(x.shape)}")
        return self.operations(x)


def _chain(operations: List[Dict[str, Any]], values: Values, place: str, shape: Tuple[int, ...]) -> nn.Sequential:
    return nn.Sequential(*(_operation(op, values, f"{place}{index}.", shape) for index, op in enumerate(operations)))


def _operation(op: Dict[str, Any], values: Values, place: str, shape: Tuple[int, ...]) -> nn.Module:
    """One operation; ``place`` is what the names of its tensors begin with, ``shape`` that of the example of the whole program."""

    def tensor(name: str) -> Tensor:
        return torch.tensor(values[place + name]).reshape(op[name]["shape"])

    makers: Dict[str, Callable[[], nn.Module]] = {
        "gather": lambda: Gather(tensor("table")),
        "normalise": lambda: Normalise(tensor("mean"), tensor("scale")),
        "reshape": lambda: Reshape(op["shape"]),
        "transpose": lambda: Transpose(op["order"]),
        "linear": lambda: _linear(tensor("weight"), tensor("bias") if op["bias"] else None),
        "conv": lambda: _conv(tensor("filters"), tensor("bias") if op["bias"] else None),
        "batch_norm": lambda: BatchNorm(
            tensor("gamma"), tensor("beta"), tensor("mean"), tensor("variance"), float(op["epsilon"])
        ),
        "activate": lambda: _activation(op["activation"]),
        "max_pool": lambda: nn.MaxPool2d(tuple(op["window"]), tuple(op["stride"])),
        "group_max": lambda: GroupMax(op["size"]),
        "sum_channels": SumChannels,
        "pool_space": lambda: PoolSpace(op["pooling"]),
        "pool_rows": lambda: PoolRows(tensor("sums"), tensor("largest")),
        "orbit": lambda: Orbit(tensor("views"), _chain(op["ops"], values, f"{place}inner.", shape), shape),
        "median": lambda: Median(
            [_chain(ops, values, f"{place}member{k}.", shape) for k, ops in enumerate(op["members"])]
        ),
    }
    if op["op"] not in makers:
        raise ValueError(f"the operation {op['op']!r} is not known to this version of the package")
    return makers[op["op"]]()


def _linear(weight: Tensor, bias: "Tensor | None") -> nn.Linear:
    layer = nn.Linear(weight.shape[1], weight.shape[0], bias=bias is not None)
    layer.weight = nn.Parameter(weight)
    if bias is not None:
        layer.bias = nn.Parameter(bias)
    return layer


def _conv(filters: Tensor, bias: "Tensor | None") -> nn.Conv2d:
    outputs, inputs, side, _ = filters.shape
    layer = nn.Conv2d(inputs, outputs, side, padding=side // 2, bias=bias is not None)
    layer.weight = nn.Parameter(filters)
    if bias is not None:
        layer.bias = nn.Parameter(bias)
    return layer


def _activation(name: str) -> nn.Module:
    known = {"relu": nn.ReLU, "leaky_relu": nn.LeakyReLU, "gelu": nn.GELU, "sigmoid": nn.Sigmoid, "tanh": nn.Tanh}
    if name not in known:
        raise ValueError(f"the activation {name!r} is not known to this version of the package")
    return known[name]()


class Gather(nn.Module):
    """A row of a table for every token."""

    def __init__(self, table: Tensor) -> None:
        super().__init__()
        self.table = nn.Parameter(table)

    def forward(self, x: Tensor) -> Tensor:
        """Tokens to vectors."""
        return functional.embedding(x.long(), self.table)


class Normalise(nn.Module):
    """(x - mean) * scale: one number for all entries, one per index of the first axis, or one per entry."""

    mean: Tensor
    scale: Tensor

    def __init__(self, mean: Tensor, scale: Tensor) -> None:
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("scale", scale)

    def forward(self, x: Tensor) -> Tensor:
        """Normalised examples."""
        parts = x.reshape(x.shape[0], len(self.mean), -1)
        return ((parts - self.mean[:, None]) * self.scale[:, None]).reshape(x.shape)


class Reshape(nn.Module):
    """The same entries in another shape."""

    def __init__(self, shape: List[int]) -> None:
        super().__init__()
        self.shape = tuple(shape)

    def forward(self, x: Tensor) -> Tensor:
        """Reshaped examples."""
        return x.reshape(x.shape[0], *self.shape)


class Transpose(nn.Module):
    """The axes in another order."""

    def __init__(self, order: List[int]) -> None:
        super().__init__()
        self.order = (0, *(axis + 1 for axis in order))

    def forward(self, x: Tensor) -> Tensor:
        """Transposed examples."""
        return x.permute(self.order)


class BatchNorm(nn.Module):
    """gamma (x - mean) / sqrt(variance + epsilon) + beta, along the first axis, with known statistics."""

    mean: Tensor
    variance: Tensor

    def __init__(self, gamma: Tensor, beta: Tensor, mean: Tensor, variance: Tensor, epsilon: float) -> None:
        super().__init__()
        self.gamma, self.beta, self.epsilon = nn.Parameter(gamma), nn.Parameter(beta), epsilon
        self.register_buffer("mean", mean)
        self.register_buffer("variance", variance)

    def forward(self, x: Tensor) -> Tensor:
        """Normalised channels."""
        scale = self.gamma / (self.variance + self.epsilon).sqrt()
        shift = self.beta - self.mean * scale
        sides = (-1, *(1 for _ in x.shape[2:]))
        return x * scale.reshape(sides) + shift.reshape(sides)


class GroupMax(nn.Module):
    """The largest of every ``size`` neighbouring channels."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def forward(self, x: Tensor) -> Tensor:
        """Fewer channels."""
        return x.reshape(x.shape[0], x.shape[1] // self.size, self.size, *x.shape[2:]).amax(dim=2)


class SumChannels(nn.Module):
    """One channel, the sum of all."""

    def forward(self, x: Tensor) -> Tensor:
        """One channel."""
        return x.sum(dim=1, keepdim=True)


class PoolSpace(nn.Module):
    """One number per channel: the sum or the mean of its pixels."""

    def __init__(self, pooling: str) -> None:
        super().__init__()
        if pooling not in ("sum", "mean"):
            raise ValueError(f"the pooling {pooling!r} is not known to this version of the package")
        self.pooling = pooling

    def forward(self, x: Tensor) -> Tensor:
        """Channels."""
        return x.sum(dim=(2, 3)) if self.pooling == "sum" else x.mean(dim=(2, 3))


class PoolRows(nn.Module):
    """Sums of sets of rows, then the largest values of sets of rows; a row of number -1 is in none."""

    sums: Tensor

    def __init__(self, sums: Tensor, largest: Tensor) -> None:
        super().__init__()
        sets = torch.arange(int(sums.max()) + 1)
        self.register_buffer("sums", (sums[None, :] == sets[:, None]).to(sums.dtype))
        self.largest: List[List[int]] = [
            torch.nonzero(largest == number)[:, 0].tolist() for number in range(int(largest.max()) + 1)
        ]

    def forward(self, x: Tensor) -> Tensor:
        """One vector, set after set."""
        parts = [self.sums @ x]
        parts.extend(x[:, rows].amax(dim=1, keepdim=True) for rows in self.largest)
        return torch.cat(parts, dim=1).flatten(1)


class Orbit(nn.Module):
    """The same operations on an example as seen from every side."""

    views: Tensor

    def __init__(self, views: Tensor, inner: nn.Module, shape: Tuple[int, ...]) -> None:
        super().__init__()
        self.inner, self.shape = inner, shape
        self.matrices = views.ndim == 3
        if self.matrices:
            self.register_buffer("views", views)
        else:
            # -1 - i is entry i with its sign changed.
            self.register_buffer("views", torch.where(views < 0, -1 - views, views).long())
            self.register_buffer("signs", torch.where(views < 0, -1.0, 1.0))

    def forward(self, x: Tensor) -> Tensor:
        """Elements x features."""
        flat = x.flatten(1)
        if self.matrices:
            seen = torch.einsum("eij,bj->bei", self.views, flat)
        else:
            seen = flat[:, self.views]
            if flat.is_floating_point():
                seen = seen * self.signs
        inner = self.inner(seen.reshape(-1, *self.shape))
        return inner.reshape(x.shape[0], len(self.views), -1)


class Median(nn.Module):
    """The median, output by output, of what several networks say."""

    def __init__(self, members: List[nn.Sequential]) -> None:
        super().__init__()
        self.members = nn.ModuleList(members)

    def forward(self, x: Tensor) -> Tensor:
        """The answer in the middle."""
        return torch.stack([member(x) for member in self.members]).median(dim=0).values
