"""Layers for networks of your own in PyTorch, on the invariant subspaces of :func:`invar.lattice`.

- :class:`CgLinear`, :class:`CgConv2d`: weights that are combinations of invariant subspaces (Eq. 10 of the paper)
- :class:`LevelPenalty`: how much invariance they give up (Eq. 12), to be added to a loss
- :class:`Program`: a trained model of invar as a module, made by :meth:`invar.Model.to_torch`

PyTorch is imported here and nowhere else in the package.
"""

import contextlib
import os
import tempfile
import warnings
from typing import Dict, Iterator, List, Literal, Optional, Sequence, Tuple

try:
    import torch
except ImportError as error:  # pragma: no cover
    raise ImportError("invar.torch needs PyTorch: pip install 'invar-symmetry[torch]'") from error

import numpy as np
from torch import Tensor, nn
from torch.nn import functional

from ._arguments import Candidates, Names, Shape
from ._groups import groups
from ._lattice import lattice
from ._program import Program

__all__ = ["CgConv2d", "CgLayer", "CgLinear", "LevelPenalty", "Program"]

#: How many biases a layer has: one for each neuron (Eq. 10), one for all of them (as published), or none.
Bias = Literal["neuron", "layer", "none"]
#: What the amount of a subspace in use is: the norm of its coefficients, its square, or its part of the sum of all norms.
Size = Literal["norm", "squared", "relative"]
#: The smooth stand-in for "is in use": t z / (t z + 1), or 2 sigmoid(t z) - 1.
Proxy = Literal["ratio", "sigmoid"]

#: Keeps the square root differentiable at 0: sqrt(s) becomes s / sqrt(s + FLOOR), exact at 0, with slope 0 there.
FLOOR = 1e-12


class CgLayer(nn.Module):
    """Weights W = sum over M of B(M) omega(M), for neurons that see each point through one or more features.

    ``basis``, ``(dim, rank)``, holds all B(M) side by side and is fixed; ``coefficients``, ``(rank, features, neurons)``, are
    trained. ``blocks`` tells of each subspace, most invariant first, its level, its first row in the coefficients, and how many rows.
    """

    basis: Tensor

    def __init__(
        self, shape: Shape, candidates: Candidates, features: int, neurons: int, imposed: Optional[Names], mode: str
    ) -> None:
        super().__init__()
        for name, value in (("features", features), ("neurons", neurons)):
            if value < 1:
                raise ValueError(f"{name}: expected at least 1, got {value}")
        #: The lattice that the layer is built on.
        self.lattice = lattice(shape, candidates, mode)
        self._groups = groups(shape, candidates)
        dim = int(np.prod(self.lattice.shape))
        if imposed is None:
            vectors = np.concatenate([space.basis.reshape(-1, dim) for space in self.lattice])
            sizes = [(space.level, space.dimension) for space in self.lattice]
        else:
            vectors = self._groups.join(imposed).invariants().reshape(-1, dim)
            if len(vectors) == 0:
                raise ValueError("imposed: no weights but zero are invariant to all of these")
            vectors = np.linalg.qr(vectors.T)[0].T
            # What is imposed needs no penalty: one block, which is free.
            sizes = [(len(self.lattice.candidates), len(vectors))]
        starts = np.cumsum([0, *(count for _, count in sizes)])
        self.blocks: List[Tuple[int, int, int]] = [(level, int(at), count) for (level, count), at in zip(sizes, starts)]
        self.register_buffer("basis", torch.tensor(vectors.T.copy(), dtype=torch.get_default_dtype()))
        self.bound = float(1.0 / np.sqrt(dim * features))
        self.coefficients = nn.Parameter(torch.empty(len(vectors), features, neurons))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws the parameters anew: uniform in +-1/sqrt(inputs of a neuron)."""
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -self.bound, self.bound)

    @property
    def weights(self) -> Tensor:
        """W, ``(dim, features, neurons)``."""
        return torch.tensordot(self.basis, self.coefficients, dims=1)

    def squares(self) -> Tensor:
        """The squared norm of the coefficients of each subspace."""
        rows = self.coefficients.square().sum(dim=(1, 2))
        return torch.stack([rows[start : start + count].sum() for _, start, count in self.blocks])

    def norms(self) -> Tensor:
        """The norm of the coefficients of each subspace, most invariant first: how much of it is in use."""
        squares = self.squares()
        return squares / (squares + FLOOR).sqrt()

    def violations(self) -> Dict[str, float]:
        """Of each candidate the part of the weights that is not invariant to it: 0 where it is kept."""
        weights = self.weights.detach().double().flatten(1).T.cpu().numpy()
        size = float(np.linalg.norm(weights)) or 1.0
        shaped = weights.reshape(-1, *self.lattice.shape)
        return {
            group.name: float(np.linalg.norm(shaped - group.project(shaped, weights=True))) / size for group in self._groups
        }


class CgLinear(CgLayer):
    """Neurons x W + b with W a combination of invariant subspaces (Eq. 10), in place of ``nn.Linear``.

    Parameters
    ----------
    shape
        The shape of an example that the candidates act on.
    candidates
        Symmetries, as for :func:`invar.lattice`.
    out_features
        Neurons.
    features
        Numbers at each entry of the shape, each with coefficients of its own.
    bias
        ``"neuron"``, ``"layer"`` for one in all, or ``"none"``.
    imposed
        Candidates that the weights must be invariant to, by name. The layer is then free of penalty.

    Takes ``(..., *shape)``, or ``(..., *shape, features)`` where there are several; gives ``(..., out_features)``.

    Examples
    --------
    >>> import torch
    >>> from invar.torch import CgLinear
    >>> layer = CgLinear(5, "swaps(0)", 3, imposed=["swap(0;0,1)"])
    >>> x = torch.randn(2, 5)
    >>> torch.allclose(layer(x), layer(x[:, [1, 0, 2, 3, 4]]), atol=1e-6)
    True
    """

    def __init__(
        self,
        shape: Shape,
        candidates: Candidates,
        out_features: int,
        *,
        features: int = 1,
        bias: Bias = "neuron",
        imposed: Optional[Names] = None,
        mode: str = "paper",
    ) -> None:
        super().__init__(shape, candidates, features, out_features, imposed, mode)
        if bias not in ("neuron", "layer", "none"):
            raise ValueError(f"bias: expected 'neuron', 'layer' or 'none', got {bias!r}")
        self.features, self.out_features = features, out_features
        count = {"neuron": out_features, "layer": 1, "none": 0}[bias]
        self.bias = nn.Parameter(torch.empty(count)) if count else None
        self.reset_parameters()

    def forward(self, x: Tensor) -> Tensor:
        """Applies the layer."""
        shape = self.lattice.shape + ((self.features,) if self.features > 1 else ())
        if tuple(x.shape[x.ndim - len(shape) :]) != shape:
            raise ValueError(f"expected inputs that end in {shape}, got {tuple(x.shape)}")
        y = x.flatten(x.ndim - len(shape)) @ self.weights.flatten(0, 1)
        return y if self.bias is None else y + self.bias

    def fold(self) -> nn.Linear:
        """The same as an ordinary layer on flattened examples, bases multiplied out."""
        weight = self.weights.detach().flatten(0, 1).T
        layer = nn.Linear(weight.shape[1], weight.shape[0], bias=self.bias is not None, dtype=weight.dtype, device=weight.device)
        with torch.no_grad():
            layer.weight.copy_(weight)
            if self.bias is not None:
                layer.bias.copy_(self.bias.expand(self.out_features))
        return layer

    def extra_repr(self) -> str:
        """What stands in its name."""
        return f"shape={self.lattice.shape}, candidates={len(self.lattice.candidates)}, out_features={self.out_features}"


class CgConv2d(CgLayer):
    """A convolution whose filters are combinations of invariant subspaces (Appendix E.1), in place of ``nn.Conv2d``.

    Parameters
    ----------
    candidates
        Symmetries of a filter of ``in_channels x kernel_size x kernel_size``: ``"rot90(1,2)"``, ``"permute(0)"``; or with
        ``channels=False`` of ``kernel_size x kernel_size``: ``"rot90(0,1)"``. Each input channel then has coefficients of its own.
    in_channels, out_channels, kernel_size, stride
        As of ``nn.Conv2d``. The side of a filter must be odd.
    padding
        As of ``nn.Conv2d``; by default images keep their size.
    bias
        Whether there is one for each output channel.
    imposed
        Candidates that the filters must be invariant to, by name.
    """

    def __init__(
        self,
        candidates: Candidates,
        in_channels: int,
        out_channels: int,
        kernel_size: int = 3,
        *,
        channels: bool = True,
        stride: int = 1,
        padding: Optional[int] = None,
        bias: bool = False,
        imposed: Optional[Names] = None,
        mode: str = "paper",
    ) -> None:
        if kernel_size % 2 == 0:
            raise ValueError(f"kernel_size: expected an odd number, got {kernel_size}")
        side = (kernel_size, kernel_size)
        shape = (in_channels, *side) if channels else side
        super().__init__(shape, candidates, 1 if channels else in_channels, out_channels, imposed, mode)
        self.in_channels, self.out_channels, self.kernel_size, self.channels = in_channels, out_channels, kernel_size, channels
        self.stride, self.padding = stride, kernel_size // 2 if padding is None else padding
        self.bias = nn.Parameter(torch.empty(out_channels)) if bias else None
        self.reset_parameters()

    @property
    def filters(self) -> Tensor:
        """The filters, ``(out_channels, in_channels, kernel_size, kernel_size)``."""
        weights = self.weights
        if self.channels:
            filters = weights[:, 0].T
        else:
            filters = weights.permute(2, 1, 0)
        return filters.reshape(self.out_channels, self.in_channels, self.kernel_size, self.kernel_size)

    def forward(self, x: Tensor) -> Tensor:
        """Applies the layer to images, channels first."""
        return functional.conv2d(x, self.filters, self.bias, self.stride, self.padding)

    def fold(self) -> nn.Conv2d:
        """The same as an ordinary convolution, bases multiplied out."""
        filters = self.filters.detach()
        layer = nn.Conv2d(
            self.in_channels,
            self.out_channels,
            self.kernel_size,
            self.stride,
            self.padding,
            bias=self.bias is not None,
            dtype=filters.dtype,
            device=filters.device,
        )
        with torch.no_grad():
            layer.weight.copy_(filters)
            if self.bias is not None and layer.bias is not None:
                layer.bias.copy_(self.bias)
        return layer

    def extra_repr(self) -> str:
        """What stands in its name."""
        return f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, candidates={len(self.lattice.candidates)}"


class LevelPenalty(nn.Module):
    """The penalty R of Eq. 12 in its smooth form (Appendix F.2), summed over all CG layers of a network.

    It counts subspaces from the most invariant level down to the least invariant one in use: adding it to a loss makes a network
    give up an invariance only where the data ask for it.

    Parameters
    ----------
    size
        ``"norm"``, ``"squared"`` or ``"relative"``.
    proxy
        ``"ratio"`` or ``"sigmoid"``.
    temperature
        At least 1. The larger, the nearer to a count.

    Examples
    --------
    >>> import torch
    >>> from invar.torch import CgLinear, LevelPenalty
    >>> network = torch.nn.Sequential(CgLinear(5, "swaps(0)", 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
    >>> loss = network(torch.randn(8, 5)).square().mean() + 0.1 * LevelPenalty()(network)
    >>> loss.backward()
    """

    def __init__(self, size: Size = "norm", proxy: Proxy = "ratio", temperature: float = 1.0) -> None:
        super().__init__()
        if size not in ("norm", "squared", "relative"):
            raise ValueError(f"size: expected 'norm', 'squared' or 'relative', got {size!r}")
        if proxy not in ("ratio", "sigmoid"):
            raise ValueError(f"proxy: expected 'ratio' or 'sigmoid', got {proxy!r}")
        if not 1.0 <= temperature < float("inf"):
            raise ValueError(f"temperature: expected a number of at least 1, got {temperature}")
        self.size, self.proxy, self.temperature = size, proxy, temperature

    def forward(self, network: nn.Module) -> Tensor:
        """The sum over the CG layers of a network, which may be one of them."""
        layers = [module for module in network.modules() if isinstance(module, CgLayer)]
        if not layers:
            raise ValueError("the network has no CG layer")
        return torch.stack([self._of(layer) for layer in layers]).sum()

    def _of(self, layer: CgLayer) -> Tensor:
        sizes = self._sizes(layer)
        used = self._soft(sizes)
        free = len(layer.lattice.candidates)
        levels = [level for level, _, _ in layer.blocks]
        penalty: Optional[Tensor] = None
        for level in sorted(set(levels) - {free}, reverse=True):
            first, count = levels.index(level), levels.count(level)
            here = slice(first, first + count)
            above = used[here].sum() + first
            is_used = self._soft(sizes[here].sum())
            penalty = is_used * above if penalty is None else (1.0 - is_used) * penalty + is_used * above
        return sizes.new_zeros(()) if penalty is None else penalty

    def _sizes(self, layer: CgLayer) -> Tensor:
        if self.size == "squared":
            return layer.squares()
        norms = layer.norms()
        return norms / (norms.sum() + FLOOR) if self.size == "relative" else norms

    def _soft(self, size: Tensor) -> Tensor:
        scaled = size * self.temperature
        return scaled / (scaled + 1.0) if self.proxy == "ratio" else 2.0 * torch.sigmoid(scaled) - 1.0


@contextlib.contextmanager
def _as_onnx(module: nn.Module, shape: Sequence[int]) -> Iterator[str]:
    """The path of an ONNX file of the module, which is there as long as the context."""
    if not isinstance(module, nn.Module):
        raise TypeError(f"expected a torch.nn.Module, a model of invar or a path, got {type(module).__name__}")
    was_training = module.training
    parameter = next(module.parameters(), None)
    example = torch.zeros(1, *shape, device=None if parameter is None else parameter.device)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "module.onnx")
        module.eval()
        try:
            with warnings.catch_warnings():
                # It tells of its own future.
                warnings.simplefilter("ignore")
                torch.onnx.export(module, (example,), path, input_names=["x"], dynamo=False)
        finally:
            module.train(was_training)
        yield path
