"""What was proved and measured about the symmetries of a model."""

import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple, Union, overload

from numpy.typing import ArrayLike

from . import _invar
from ._arguments import Candidates, Shape, candidates_of, examples_of, shape_of

if TYPE_CHECKING:
    import torch

    from ._model import Model


@dataclass(frozen=True)
class Finding:
    """What is known about one symmetry of a model."""

    #: Its name.
    name: str
    #: Whether the model claims to keep it.
    kept: bool
    #: ``proved``, ``proved_within`` a bound, ``not_proved``, ``contradicted``; where nothing can be proved ``holds`` or ``changes``.
    result: str
    #: Proved, where that was tried, and measured to hold.
    certified: bool
    #: What it rests on, in words.
    verdict: str
    #: The largest change of an output that was found, as a part of the largest output.
    change: float
    #: The proof, operation by operation, as ``invar certify --json`` writes it.
    proof: Optional[Dict[str, Any]] = field(repr=False)
    #: The measurement, in the same form.
    measured: Dict[str, Any] = field(repr=False)


class Certificate(Sequence[Finding]):
    """Findings on several symmetries. True where there are some, and each is certified."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self._findings = tuple(findings)

    @classmethod
    def _read(cls, text: str) -> "Certificate":
        def finding(one: Dict[str, Any]) -> Finding:
            return Finding(**{"proof": None, **one})

        return cls([finding(one) for one in json.loads(text)])

    @overload
    def __getitem__(self, index: int) -> Finding: ...

    @overload
    def __getitem__(self, index: slice) -> Tuple[Finding, ...]: ...

    def __getitem__(self, index: Union[int, slice]) -> Union[Finding, Tuple[Finding, ...]]:
        return self._findings[index]

    def __len__(self) -> int:
        return len(self._findings)

    def __bool__(self) -> bool:
        return bool(self._findings) and all(finding.certified for finding in self._findings)

    def __repr__(self) -> str:
        if not self:
            head = "nothing to certify" if not self._findings else "not certified"
        else:
            head = "certified"
        rows = [f"  {finding.name}: {finding.result}, outputs change by {finding.change:.0e}" for finding in self._findings[:20]]
        more = [f"  ... and {len(self) - 20} more"] if len(self) > 20 else []
        return "\n".join([f"<Certificate: {head}", *rows, *more]) + ">"


def certify(
    model: "Union[Model, torch.nn.Module, str, os.PathLike[str]]",
    shape: Optional[Shape] = None,
    candidates: Optional[Candidates] = None,
    *,
    examples: Optional[ArrayLike] = None,
    count: int = 64,
) -> Certificate:
    """Tells which symmetries a model has.

    Models of invar are proved operation by operation, and measured. A PyTorch module or an ONNX file of anybody is measured: inputs
    are searched for that a symmetry changes most.

    Parameters
    ----------
    model
        A :class:`invar.Model`, a ``torch.nn.Module`` that takes a batch of examples, or the path of an ONNX file of one input.
    shape
        The shape of one example; needed for modules and ONNX files.
    candidates
        The symmetries to ask about, as for :func:`invar.lattice`; by default those that the model keeps.
    examples
        Inputs to measure on; random ones by default.
    count
        How many of these.
    """
    from ._model import Model

    if isinstance(model, Model):
        if shape is not None and shape_of(shape) != model.shape:
            raise ValueError(f"shape: expected {model.shape}, which the model takes, got {shape_of(shape)}")
        return model.certify(candidates, examples=examples, count=count)
    if shape is None or candidates is None:
        raise TypeError("certify: shape and candidates are needed for anything but a model of invar")
    sides, listed = shape_of(shape), candidates_of(candidates)
    given = None if examples is None else examples_of(examples, sides, "examples")
    if isinstance(model, (str, os.PathLike)):
        return Certificate._read(_invar.measure(os.fspath(model), list(sides), listed, given, count))
    from .torch import _as_onnx

    with _as_onnx(model, sides) as path:
        return Certificate._read(_invar.measure(path, list(sides), listed, given, count))
