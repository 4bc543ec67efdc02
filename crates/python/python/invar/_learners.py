"""Learners with the manners of scikit-learn."""

from typing import Any, List, Optional, Tuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, validate_data

from ._labels import classes_of, objects_of
from ._learner import Learner
from ._model import Model, softmax

_PARAMETERS = """
    Parameters
    ----------
    candidates
        Symmetries that might hold, in shorthand, as for :func:`invar.lattice`. What the data contradict is not kept. By default those
        that ``invar init`` proposes: turns and mirrors of images, nothing for the columns of a table.
    shape
        The shape of one example, where X has it flat: ``(1, 28, 28)``. Images are channels x height x width.
    items
        Columns of a DataFrame that describe items of one kind: ``{"player": [["x1", "y1"], ["x2", "y2"]]}`` makes
        ``"exchange(player)"`` a candidate.
    network
        ``"auto"``, ``"pairs"``, ``"orbit"``, ``"feedforward"``, ``"lift"`` or ``"cnn"``.
    learner
        ``"screen"``: impose symmetries and measure what they cost; ``"cgreg"``: the paper's penalty.
    tolerance
        The cost that is accepted, in TOLERANCE
    only_shown
        Keep only what is shown to be harmless.
    require
        Candidates that are imposed whatever they cost.
    folds
        How many parts of the data decide in turn; 1 for a quick look. By default 5 below 2,000 examples, else 1.
    restarts
        Initialisations of the final model, of which the best is taken.
    epochs, learning_rate, batch
        Of every fit; by default they follow the size of the data.
    lambdas
        cgreg: strengths of the penalty.
    evidence
        ``"all"``: fit every candidate alone as well, for the picture of costs.
    augment
        Compare with a plain network that is augmented by every candidate that does not hurt.
    validation
        The share of X that is held out to decide on.
    random_state
        A number, as ``--seed`` of the command line: the same gives the same model. None draws one.
    n_jobs
        Fits at once; by default one for each core. The answer does not depend on it.
    folder
        Where the run is kept, as with ``invar train --out``; by default nowhere. A fit that was interrupted goes on from there.

    Attributes
    ----------
    kept_
        The names of the candidates that the model keeps, exactly.
    evidence_
        What was found about each candidate: cost with bounds, verdict.
    certificate_
        What is proved and measured about those that are kept.
    model_
        The :class:`invar.Model`: ``to_torch()``, ``certify()``, ``export_onnx()``.
    run_
        Everything that was found, as ``run.json`` says it.
"""


class InvarClassifier(ClassifierMixin, Learner):  # type: ignore[misc]
    __doc__ = (
        """A classifier that keeps every symmetry the data do not contradict.
"""
        + _PARAMETERS.replace("TOLERANCE", "percentage points of accuracy.")
        + """
    Examples
    --------
    >>> import numpy as np
    >>> from invar import InvarClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = np.sort(rng.normal(size=(300, 3)), axis=1)
    >>> y = np.where(X.sum(axis=1) > 0, "high", "low")
    >>> learner = InvarClassifier(["permute(0)"], folds=1, epochs=30).fit(X, y)
    >>> learner.kept_
    ['permute(0)']
    >>> learner.predict([[2.0, 1.0, 3.0], [-1.0, -3.0, 0.5]])
    array(['high', 'low'], dtype='<U4')
    """
    )

    _kind = "classification"

    def _validated(self, X: Any, y: Any) -> Tuple[NDArray[Any], NDArray[np.float64]]:
        labels = objects_of(y)
        if labels is None:
            X, y = validate_data(self, X, y, dtype=np.float32, allow_nd=True, ensure_min_samples=2)
            check_classification_targets(y)
            self.classes_, places = np.unique(y, return_inverse=True)
        else:
            X = validate_data(self, X, dtype=np.float32, allow_nd=True, ensure_min_samples=2)
            check_consistent_length(X, labels)
            self.classes_, places = classes_of(labels)
        if len(self.classes_) < 2:
            raise ValueError(f"expected two classes or more, got only one class: {self.classes_.tolist()[0]!r}")
        return X, places.astype(np.float64)

    def _numbers(self, y: Any, what: str) -> NDArray[np.float64]:
        known = {label: place for place, label in enumerate(self.classes_.tolist())}
        listed = np.asarray(y).tolist() if objects_of(y) is None else list(y)
        unknown = next((label for label in listed if label not in known), None)
        if unknown is not None:
            raise ValueError(f"{what}: the class {unknown!r} is not among those of y")
        return np.array([known[label] for label in listed], dtype=np.float64)

    def _names(self) -> List[str]:
        names = [str(label) for label in self.classes_.tolist()]
        # 1 and "1" are two classes.
        return names if len(set(names)) == len(names) else [repr(label) for label in self.classes_.tolist()]

    def _loaded(self, model: Model) -> None:
        if model.classes is None:
            raise ValueError("the model is a regression: InvarRegressor loads it")
        whole = all(name.lstrip("-").isdigit() and str(int(name)) == name for name in model.classes)
        self.classes_ = np.array([int(name) for name in model.classes] if whole else model.classes)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each example."""
        best = self._outputs(X).argmax(axis=1)
        return self.classes_[best]  # type: ignore[no-any-return]

    def predict_proba(self, X: Any) -> NDArray[np.float32]:
        """The probability of each class, in the order of ``classes_``."""
        return softmax(self._outputs(X))


class InvarRegressor(RegressorMixin, Learner):  # type: ignore[misc]
    __doc__ = (
        """A regression that keeps every symmetry the data do not contradict.
"""
        + _PARAMETERS.replace("TOLERANCE", "percent of the error that is left.")
        + """
    Examples
    --------
    >>> import numpy as np
    >>> from invar import InvarRegressor
    >>> X = np.sort(np.random.default_rng(0).normal(size=(300, 3)), axis=1)
    >>> learner = InvarRegressor("permute(0)", folds=1, epochs=30).fit(X, X.sum(axis=1))
    >>> bool(abs(learner.predict([[2.0, 0.0, 1.0]]) - learner.predict([[0.0, 1.0, 2.0]])) < 1e-5)
    True
    """
    )

    _kind = "regression"

    def _validated(self, X: Any, y: Any) -> Tuple[NDArray[Any], NDArray[np.float64]]:
        X, y = validate_data(self, X, y, dtype=np.float32, allow_nd=True, ensure_min_samples=2, y_numeric=True)
        return X, y.astype(np.float64)

    def _numbers(self, y: Any, what: str) -> NDArray[np.float64]:
        numbers = np.asarray(y, dtype=np.float64)
        if not np.isfinite(numbers).all():
            raise ValueError(f"{what}: expected finite labels")
        return numbers

    def _names(self) -> Optional[List[str]]:
        return None

    def _loaded(self, model: Model) -> None:
        if model.classes is not None:
            raise ValueError("the model is a classifier: InvarClassifier loads it")

    def predict(self, X: Any) -> NDArray[np.float32]:
        """The value of each example."""
        return self._outputs(X)[:, 0]
