"""Candidate symmetries as groups."""

from dataclasses import dataclass
from typing import Any, Iterator, List, Optional, Sequence, Tuple, Union, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _invar
from ._arguments import Candidates, Names, Shape, candidates_of, numbers_of, places_of, shape_of


@dataclass(frozen=True)
class Witness:
    """Why a group is not normal: g h g⁻¹ is outside of it."""

    #: The candidate that g belongs to.
    of: str
    #: The conjugating element, in words.
    g: str
    #: The conjugated element.
    h: str
    #: g h g⁻¹.
    conjugate: str


class Group:
    """A candidate, or what several candidates generate."""

    def __init__(self, groups: "Groups", places: List[int], name: str) -> None:
        self._groups, self._places = groups, places
        #: Its name.
        self.name: str = name

    @property
    def order(self) -> int:
        """The number of its elements."""
        return self._groups._core.order(self._places)

    @property
    def orbits(self) -> Optional[NDArray[np.int64]]:
        """The number of the orbit of each entry, in an array of the shape; nothing for groups of matrices."""
        found = self._groups._core.orbits(self._places)
        return None if found is None else found.reshape(self._groups.shape)

    @property
    def generators(self) -> List[str]:
        """What its generators do, in words."""
        return self._groups._core.generators(self._places)

    @property
    def witness(self) -> Optional[Witness]:
        """Why it is not normal in the group that all candidates generate; nothing where it is."""
        found = self._groups._core.witness(self._places)
        return None if found is None else Witness(*found)

    @property
    def is_normal(self) -> bool:
        """Whether it is normal in the group that all candidates generate."""
        return self.witness is None

    def commutes_with(self, other: "Group") -> bool:
        """Whether every element of one commutes with every element of the other."""
        if other._groups._core is not self._groups._core:
            raise ValueError("expected a group of the same list of candidates")
        return self._groups._core.commute(self._places, other._places)

    def project(self, inputs: ArrayLike, *, weights: bool = False) -> NDArray[np.float64]:
        """The Reynolds operator: the mean of each array over the group, for arrays of the shape, alone or one after the other.

        With ``weights`` it acts on weight vectors, from the other side: that differs for matrices that are not orthogonal.
        """
        shape = self._groups.shape
        array = numbers_of(inputs, "inputs", np.float64)
        if array.shape[array.ndim - len(shape) :] != shape or array.ndim < len(shape):
            raise ValueError(f"inputs: expected arrays that end in {shape}, got one of {array.shape}")
        rows = np.ascontiguousarray(array.reshape(-1, int(np.prod(shape))))
        return self._groups._core.project(self._places, rows, weights).reshape(array.shape)

    def invariants(self) -> NDArray[np.float64]:
        """A basis of all weights that it leaves alone, as arrays of the shape."""
        found = self._groups._core.invariants(self._places)
        return found.reshape((len(found), *self._groups.shape))

    def __repr__(self) -> str:
        return f"<Group {self.name}: order {self.order}>"


class Groups(Sequence[Group]):
    """Candidate symmetries on one shape. See :func:`groups`."""

    def __init__(self, shape: Shape, candidates: Candidates) -> None:
        #: The sides of the tensors they act on.
        self.shape: Tuple[int, ...] = shape_of(shape)
        self._asked = (self.shape, candidates_of(candidates))
        self._core = _invar.Groups(list(self.shape), self._asked[1])
        #: Their names; families such as ``swaps(0)`` spelled out.
        self.names: Tuple[str, ...] = tuple(self._core.names)
        #: What is odd about them, such as one that changes nothing.
        self.warnings: Tuple[str, ...] = tuple(self._core.warnings)

    def __reduce__(self) -> Tuple[Any, ...]:
        return (Groups, self._asked)

    @overload
    def __getitem__(self, index: Union[int, str]) -> Group: ...

    @overload
    def __getitem__(self, index: slice) -> List[Group]: ...

    def __getitem__(self, index: Union[int, str, slice]) -> Union[Group, List[Group]]:
        if isinstance(index, slice):
            return [self[place] for place in range(len(self))[index]]
        place = places_of(index, self.names)[0] if isinstance(index, str) else range(len(self))[index]
        return Group(self, [place], self.names[place])

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Group]:
        return (self[place] for place in range(len(self)))

    def join(self, names: Optional[Names] = None) -> Group:
        """The group that these candidates generate; all of them if none are named."""
        places = list(range(len(self))) if names is None else places_of(names, self.names)
        return Group(self, places, "+".join(self.names[place] for place in places) or "nothing")

    @property
    def order(self) -> int:
        """The number of elements of the group that all of them generate."""
        return self.join().order

    def __repr__(self) -> str:
        sides = "x".join(map(str, self.shape))
        shown = ", ".join(self.names[:12]) + (", ..." if len(self) > 12 else "")
        return f"<Groups on {sides}: {shown}>"


def groups(shape: Shape, candidates: Candidates) -> Groups:
    """Candidate symmetries as groups: orders, orbits, which subsets are normal, and means over them.

    Nothing is enumerated: the 1000! permutations of an axis are as quick as a mirror.

    Parameters
    ----------
    shape
        The sides of the tensors they act on.
    candidates
        Symmetries in shorthand, as for :func:`invar.lattice`.

    Examples
    --------
    >>> import invar
    >>> import numpy as np
    >>> square = invar.groups((3, 3), {"turns": "rot90(0,1)", "mirror": "flip(0)"})
    >>> square.order
    8
    >>> square["turns"].orbits
    array([[0, 1, 0],
           [1, 2, 1],
           [0, 1, 0]])
    >>> square["mirror"].is_normal
    False
    >>> square["turns"].project(np.arange(9.0).reshape(3, 3))
    array([[4., 4., 4.],
           [4., 4., 4.],
           [4., 4., 4.]])
    >>> invar.groups(20, "permute(0)").order
    2432902008176640000
    """
    return Groups(shape, candidates)
