"""What both learners share: from the settings of a constructor to a run, and what a run tells."""

import json
import os
import tempfile
from contextlib import contextmanager
from html import escape
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from . import _invar
from ._arguments import Candidates, Shape, candidates_of, examples_of, shape_of
from ._certificate import Certificate
from ._model import Model, Path

#: Called with epochs done, epochs in all as far as it can be told, and what is going on.
Callback = Callable[[int, int, str], Any]
#: Examples with their labels.
Examples = Tuple[Any, Any]

#: What the settings of training are, beside those with a default.
_SETTINGS: Dict[str, Tuple[type, ...]] = {
    "learner": (str,),
    "tolerance": (int, float),
    "only_shown": (bool,),
    "folds": (int,),
    "restarts": (int,),
    "epochs": (int,),
    "learning_rate": (int, float),
    "batch": (int,),
    "lambdas": (list, tuple),
    "evidence": (str,),
    "augment": (bool,),
}


#: What is told about a candidate.
_EVIDENCE = ("symmetry", "shown", "kept", "verdict", "cost", "lower", "upper", "note")


class Learner(BaseEstimator):  # type: ignore[misc]
    """What both learners share."""

    def __init__(
        self,
        candidates: Optional[Candidates] = None,
        *,
        shape: Optional[Shape] = None,
        items: Optional[Mapping[str, Sequence[Sequence[str]]]] = None,
        network: str = "auto",
        learner: Optional[str] = None,
        tolerance: Optional[float] = None,
        only_shown: Optional[bool] = None,
        require: Optional[Candidates] = None,
        folds: Optional[int] = None,
        restarts: Optional[int] = None,
        epochs: Optional[int] = None,
        learning_rate: Optional[float] = None,
        batch: Optional[int] = None,
        lambdas: Optional[Sequence[float]] = None,
        evidence: Optional[str] = None,
        augment: Optional[bool] = None,
        validation: float = 0.2,
        random_state: Any = 0,
        n_jobs: Optional[int] = None,
        folder: Optional[Path] = None,
    ) -> None:
        self.candidates = candidates
        self.shape = shape
        self.items = items
        self.network = network
        self.learner = learner
        self.tolerance = tolerance
        self.only_shown = only_shown
        self.require = require
        self.folds = folds
        self.restarts = restarts
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.batch = batch
        self.lambdas = lambdas
        self.evidence = evidence
        self.augment = augment
        self.validation = validation
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.folder = folder

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        validation: Optional[Examples] = None,
        test: Optional[Examples] = None,
        callback: Optional[Callback] = None,
        **unknown: Any,
    ) -> Any:
        """Decides which symmetries to keep, and trains the model that keeps them.

        Parameters
        ----------
        X
            Examples: rows of a table, or arrays of any shape one after the other. A DataFrame gives its columns their names.
        y
            Their labels.
        validation
            Examples of the same environment with their labels, to decide on; by default a share of X is held out.
        test
            Examples of another environment with their labels, to see how the model extrapolates. Nothing is decided on them.
        callback
            Called with epochs done, epochs in all as far as it can be told, and what is going on.

        Ctrl-C stops it. What was finished is kept where ``folder`` names a folder, and another fit goes on from there.
        """
        if unknown:
            name = next(iter(unknown))
            why = "examples count alike: the bounds of verdicts are those of a mean" if name == "sample_weight" else "it is not known"
            raise TypeError(f"fit: {name} cannot be given; {why}")
        rows, labels = self._first(X, y)
        held = None if validation is None else self._part(validation, "validation")
        other = None if test is None else self._part(test, "test")
        project, about = json.dumps(self._project()), json.dumps(self._about())
        with _place(self.folder) as folder:
            text = _invar.train(project, about, (rows, labels), held, other, folder, self._threads(), callback)
            self.model_ = Model.load(os.path.join(folder, "model.invar"))
        #: What ``run.json`` says: everything that a report shows.
        self.run_: Optional[Dict[str, Any]] = json.loads(text)
        self._certificate: Optional[Certificate] = None
        self.kept_ = self.model_.kept
        return self

    def _first(self, X: Any, y: Any) -> Tuple[NDArray[np.float32], NDArray[np.float64]]:
        """The training examples, which tell the shape of all others."""
        X, labels = self._validated(X, y)
        given = tuple(X.shape[1:]) if self.shape is None else shape_of(self.shape)
        if self.candidates is None:
            sides, self._channels_last, self._candidates = _invar.suggest(examples_of(X, given, "X"), list(given))
        else:
            sides, self._channels_last, self._candidates = list(given), False, candidates_of(self.candidates)
        self.shape_: Tuple[int, ...] = tuple(sides)
        self._stored = list(X.shape[1:])
        self._columns = [str(name) for name in getattr(self, "feature_names_in_", [])] if len(self.shape_) == 1 else []
        return self._rows(X, "X"), labels

    def _rows(self, X: NDArray[Any], what: str) -> NDArray[np.float32]:
        if self._channels_last and X.ndim == 4:
            X = np.moveaxis(X, 3, 1)
        return examples_of(X, self.shape_, what)

    def _part(self, part: Examples, what: str) -> Tuple[NDArray[np.float32], NDArray[np.float64]]:
        if not isinstance(part, (tuple, list)) or len(part) != 2:
            raise TypeError(f"{what}: expected examples with their labels, ({what}_X, {what}_y)")
        X = validate_data(self, part[0], reset=False, dtype=np.float32, allow_nd=True)
        check_consistent_length(X, part[1])
        return self._rows(X, what), self._numbers(part[1], what)

    def _project(self) -> Dict[str, Any]:
        """What a project file would say."""
        train: Dict[str, Any] = {"seed": self._seed()}
        for name, types in _SETTINGS.items():
            value: Any = getattr(self, name)
            if value is None:
                continue
            if isinstance(value, np.generic):
                value = value.item()
            if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
                wanted = " or ".join(kind.__name__ for kind in types)
                raise TypeError(f"{name}: expected {wanted}, got {value!r}")
            if isinstance(value, int) and value < 0:
                raise ValueError(f"{name}: expected a number of at least 1, got {value}")
            train[name] = value
        if self.lambdas is not None:
            train["lambdas"] = [float(strength) for strength in self.lambdas]
        if self.require is not None:
            train["require"] = candidates_of(self.require)
        if not isinstance(self.validation, (int, float, np.number)) or not 0 < self.validation < 1:
            raise ValueError(f"validation: expected a share between 0 and 1, got {self.validation!r}")
        if not self._candidates:
            proposed = "" if self.candidates is not None else "; nothing is proposed for such data by itself"
            raise ValueError(f"candidates: expected at least one symmetry, such as 'swaps(0)'{proposed}")
        data: Dict[str, Any] = {"validation": float(self.validation)}
        if self.items is not None:
            data["items"] = {str(name): [[str(column) for column in item] for item in one] for name, one in self.items.items()}
        if len(self.shape_) > 1:
            last = [*self.shape_[1:], self.shape_[0]]
            data.update(shape=last if self._channels_last else list(self.shape_))
            data.update(layout="channels_last" if self._channels_last else "channels_first")
        return {
            "data": data,
            "task": {"kind": self._kind},
            "symmetries": {"candidates": self._candidates},
            "model": {"kind": self.network},
            "train": train,
        }

    def _about(self) -> Dict[str, Any]:
        return {"shape": list(self.shape_), "stored": self._stored, "columns": self._columns, "classes": self._names()}

    def _seed(self) -> int:
        if isinstance(self.random_state, (int, np.integer)) and not isinstance(self.random_state, bool):
            if self.random_state < 0:
                raise ValueError(f"random_state: expected a number of at least 0, got {self.random_state}")
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _threads(self) -> int:
        cores = os.cpu_count() or 1
        if self.n_jobs is None or self.n_jobs == -1:
            return cores
        if not isinstance(self.n_jobs, (int, np.integer)) or self.n_jobs < 1:
            raise ValueError(f"n_jobs: expected a number of at least 1, or -1 for all cores, got {self.n_jobs!r}")
        return int(self.n_jobs)

    def _outputs(self, X: Any) -> NDArray[np.float32]:
        check_is_fitted(self, "model_")
        if hasattr(X, "columns") and self._columns and not hasattr(self, "feature_names_in_"):
            return self.model_.outputs(X)
        X = validate_data(self, X, reset=False, dtype=np.float32, allow_nd=True)
        return self.model_._core.run(self._rows(X, "X"))

    @property
    def evidence_(self) -> Any:
        """What was found about each candidate: a DataFrame where pandas is installed, else a list of dictionaries.

        Costs are in points of accuracy, or percent of the error that is left, with one-sided 95 % bounds.
        """
        rows = self._evidence()
        try:
            import pandas
        except ImportError:
            return rows
        return pandas.DataFrame(rows, columns=list(_EVIDENCE))

    def _evidence(self) -> List[Dict[str, Any]]:
        check_is_fitted(self, "model_")
        nan = float("nan")
        if self.run_ is None:
            facts = [(c.name, c.name, c.kept, c.verdict, nan if c.cost is None else c.cost, nan, nan, "") for c in self.model_.candidates]
        else:
            facts = []
            for one in self.run_["symmetries"]:
                cost = one["cost"] or {"points": nan, "lower": nan, "upper": nan}
                bounds = (cost["points"], cost["lower"], cost["upper"])
                facts.append((one["name"], _words(one), one["kept"], one["verdict"], *bounds, one["note"]))
        return [dict(zip(_EVIDENCE, row)) for row in facts]

    @property
    def certificate_(self) -> Certificate:
        """What is proved and measured about each symmetry that is kept."""
        check_is_fitted(self, "model_")
        if self._certificate is None:
            self._certificate = self.model_.certify()
        return self._certificate

    def report(self, path: Optional[Path] = None) -> str:
        """The report on the run as one web page, as ``invar report`` writes it; written to ``path`` if there is one."""
        check_is_fitted(self, "model_")
        if self.run_ is None:
            raise ValueError("a model file has no run to report on: fit again, or use `invar report` on the folder of its run")
        page = _invar.report(json.dumps(self.run_), self.model_._core)
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(page)
        return page

    def save(self, path: Path) -> None:
        """Writes the model file, which the command line takes, too."""
        check_is_fitted(self, "model_")
        self.model_.save(path)

    def export_onnx(self, path: Path) -> None:
        """Writes the model for other programs."""
        check_is_fitted(self, "model_")
        self.model_.export_onnx(path)

    @classmethod
    def load(cls, path: Path) -> Any:
        """A learner that answers as a model file says, whoever wrote it. Classes that are whole numbers become numbers."""
        model = Model.load(path)
        written = [written for written, _ in model._core.candidates]
        learner = cls(written, shape=model.shape)
        learner._loaded(model)
        learner.model_, learner.run_, learner.kept_, learner._certificate = model, None, model.kept, None
        learner.shape_, learner._channels_last = model.shape, model._core.channels_last
        learner._columns, learner._candidates = model._core.columns or [], written
        if len(model.shape) == 1:
            learner.n_features_in_ = model.shape[0]
        return learner

    def _repr_html_inner(self) -> str:
        if not hasattr(self, "model_"):
            return str(super()._repr_html_inner())
        head = f"<p><b>{escape(type(self).__name__)}</b> keeps {escape(', '.join(self.kept_[:12]) or 'nothing')}"
        more = f" and {len(self.kept_) - 12} more" if len(self.kept_) > 12 else ""
        names = ("shown", "kept", "verdict", "cost", "lower", "upper")
        rows = ""
        for one in self._evidence()[:50]:
            rows += "<tr>" + "".join(f"<td>{escape(_shown(one[name]))}</td>" for name in names) + "</tr>"
        titles = "".join(f"<th>{name}</th>" for name in ("symmetry", *names[1:]))
        return f"{head}{more}</p><table><thead><tr>{titles}</tr></thead><tbody>{rows}</tbody></table>"

    def _repr_mimebundle_(self, **options: Any) -> Dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_inner()}


def _words(symmetry: Dict[str, Any]) -> str:
    """An exchange by the names of its columns, or by its positions from 1, as reports call it."""
    name, columns, pair = symmetry["name"], symmetry["columns"], symmetry["pair"]
    words = columns or [str(place + 1) for place in pair or ()]
    if not name.startswith("swap("):
        return f"{name}: exchange({', '.join(columns)})" if columns else str(name)
    return f"exchange({', '.join(words)})" if words else str(name)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "kept" if value else ""
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.2f}"
    return str(value)


@contextmanager
def _place(folder: Optional[Path]) -> Iterator[str]:
    """The folder of a run: the user's, or one that is gone afterwards."""
    if folder is not None:
        yield os.fspath(folder)
        return
    with tempfile.TemporaryDirectory(prefix="invar-") as scratch:
        yield scratch
