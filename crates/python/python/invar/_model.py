"""Trained models."""

import json
import os
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _invar
from ._arguments import Candidates, candidates_of, examples_of
from ._certificate import Certificate

if TYPE_CHECKING:
    from .torch import Program

Path = Union[str, "os.PathLike[str]"]

#: Billions of multiplications that a certificate may take unless more are allowed: about a minute.
LIMIT = 300.0


@dataclass(frozen=True)
class Candidate:
    """The verdict on a candidate symmetry."""

    #: Its name.
    name: str
    #: Whether the model keeps it.
    kept: bool
    #: Why, in words.
    verdict: str
    #: What keeping it costs, if that was measured: points of accuracy, or of what is left of the error.
    cost: Optional[float]


class Model:
    """A trained model, as ``invar train`` or an estimator's ``save`` wrote it. See :func:`load`."""

    def __init__(self, core: _invar.Model) -> None:
        self._core = core

    @classmethod
    def load(cls, path: Path) -> "Model":
        """Reads a model file."""
        return cls(_invar.Model.load(os.fspath(path)))

    @classmethod
    def _from_bytes(cls, content: bytes) -> "Model":
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.invar")
            with open(path, "wb") as file:
                file.write(content)
            return cls.load(path)

    def _to_bytes(self) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.invar")
            self.save(path)
            with open(path, "rb") as file:
                return file.read()

    def __reduce__(self) -> Tuple[Any, ...]:
        return (Model._from_bytes, (self._to_bytes(),))

    def save(self, path: Path) -> None:
        """Writes the model file, which ``invar predict`` and others take."""
        self._core.save(os.fspath(path))

    @property
    def classes(self) -> Optional[List[str]]:
        """The names of the classes, in the order of the outputs; nothing for regression."""
        return self._core.classes

    @property
    def shape(self) -> Tuple[int, ...]:
        """The shape of one example, channels first."""
        return tuple(self._core.shape)

    @property
    def candidates(self) -> List[Candidate]:
        """Every candidate with its verdict; families such as ``swaps(0)`` spelled out."""
        return [Candidate(*member) for _, members in self._core.candidates for member in members]

    @property
    def kept(self) -> List[str]:
        """The names of the candidates that the model keeps."""
        return [candidate.name for candidate in self.candidates if candidate.kept]

    @property
    def version(self) -> str:
        """The version of invar that trained it."""
        return self._core.version

    @property
    def training(self) -> Dict[str, Any]:
        """How it was trained."""
        return json.loads(self._core.training)  # type: ignore[no-any-return]

    def outputs(self, X: ArrayLike) -> NDArray[np.float32]:
        """One score per class, or the value, for each example: an array of shape, or a DataFrame with the columns of training."""
        return self._core.run(self._rows(X))

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float32]:
        """The probability of each class."""
        if self.classes is None:
            raise ValueError("a regression has no probabilities: predict gives its values")
        return softmax(self.outputs(X))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The name of the class, or the value, for each example."""
        outputs, classes = self.outputs(X), self.classes
        if classes is None:
            return outputs[:, 0]
        return np.array([classes[best] for best in outputs.argmax(axis=1)])

    def certify(
        self,
        candidates: Optional[Candidates] = None,
        *,
        examples: Optional[ArrayLike] = None,
        count: int = 64,
        limit: float = LIMIT,
    ) -> Certificate:
        """Proves which symmetries the model has, operation by operation, and measures them.

        Parameters
        ----------
        candidates
            What to ask about: names of its candidates, or symmetries in shorthand; by default all that it keeps.
        examples
            Inputs to measure on; random ones by default.
        count
            How many of these.
        limit
            Billions of multiplications that it may take, by an estimate made beforehand.
        """
        listed = [] if candidates is None else candidates_of(candidates)
        if candidates is not None and not listed:
            return Certificate([])
        given = None if examples is None else self._rows(examples)
        return Certificate._read(self._core.certify(listed, given, count, limit))

    def export_onnx(self, path: Path) -> None:
        """Writes ONNX: ordinary nodes, operators of version 17, normalisation included."""
        self._core.export_onnx(os.fspath(path))

    def export_safetensors(self, path: Path) -> None:
        """Writes the weights alone."""
        self._core.export_safetensors(os.fspath(path))

    def to_torch(self) -> "Program":
        """The model as a ``torch.nn.Module`` with the same outputs, to within rounding."""
        from .torch import Program

        return Program._of(self)

    def _rows(self, X: Any) -> NDArray[np.float32]:
        columns = self._core.columns
        if self._core.is_coded:
            return self._coded(X)
        if hasattr(X, "columns") and columns is not None:
            there = [str(name) for name in X.columns]
            missing = [name for name in columns if name not in there]
            if missing:
                raise ValueError(f"X: expected the columns {columns}, of which {missing} are missing")
            X = X.iloc[:, [there.index(name) for name in columns]]
        values = X.to_numpy() if hasattr(X, "to_numpy") else np.asarray(X)
        if self._core.channels_last and values.ndim == 4 and values.shape[1:] != self.shape:
            values = np.moveaxis(values, 3, 1)
        return examples_of(values, self.shape, "X")

    def _coded(self, X: Any) -> NDArray[np.float32]:
        """Texts and gaps become entries where files are read: the same way for a DataFrame."""
        if not hasattr(X, "to_csv"):
            raise TypeError("X: expected a DataFrame with the columns of training, some of which are texts or have gaps")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "X.csv")
            X.to_csv(path, index=False)
            return self._core.read(path)

    def __repr__(self) -> str:
        sides = "x".join(map(str, self.shape))
        what = "regression" if self.classes is None else f"{len(self.classes)} classes"
        kept = self.kept
        shown = ", ".join(kept[:8]) + (", ..." if len(kept) > 8 else "") if kept else "nothing"
        return f"<Model of {self._core.kind}, {sides}: {what}, {self._core.parameters:,} weights, keeps {shown}>"


def softmax(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Probabilities from scores, as ``invar predict`` computes them."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]


def load(path: Path) -> Model:
    """Reads a model file that ``invar train`` or an estimator's ``save`` wrote.

    ::

        model = invar.load("run/model.invar")
        model.kept                      # names of the symmetries
        model.predict(X)
        model.certify()                 # proofs
        model.to_torch()                # a torch.nn.Module
    """
    return Model.load(path)
