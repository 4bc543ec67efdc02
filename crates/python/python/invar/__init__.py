"""Neural networks that keep every symmetry the training data does not contradict.

- the algebra, exact: :func:`lattice`, :func:`groups`
- learners as in scikit-learn: :class:`InvarClassifier`, :class:`InvarRegressor`
- trained models: :func:`load`, :class:`Model`, :func:`certify`
- layers for your own network: :mod:`invar.torch`, which needs PyTorch

>>> import invar
>>> square = invar.lattice((3, 3), ["rot90(0,1)", "flip(0)"])
>>> [(space.level, space.dimension) for space in square]
[(2, 3), (1, 3), (0, 3)]
"""

from typing import TYPE_CHECKING, Any, List

from ._certificate import Certificate, Finding, certify
from ._groups import Group, Groups, Witness, groups
from ._invar import VERSION as __version__
from ._lattice import Check, Lattice, Subspace, Verification, lattice
from ._model import Candidate, Model, load

if TYPE_CHECKING:
    from ._learners import InvarClassifier, InvarRegressor

__all__ = [
    "Candidate",
    "Certificate",
    "Check",
    "Finding",
    "Group",
    "Groups",
    "InvarClassifier",
    "InvarRegressor",
    "Lattice",
    "Model",
    "Subspace",
    "Verification",
    "Witness",
    "__version__",
    "certify",
    "groups",
    "lattice",
    "load",
]

_LEARNERS = ("InvarClassifier", "InvarRegressor")


def __getattr__(name: str) -> Any:
    # scikit-learn takes a second to import, which whoever wants a lattice need not wait for.
    if name in _LEARNERS:
        from . import _learners

        return getattr(_learners, name)
    raise AttributeError(f"module 'invar' has no attribute {name!r}")


def __dir__() -> List[str]:
    return sorted(__all__)
