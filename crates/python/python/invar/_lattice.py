"""The lattice of invariant subspaces."""

import os
from dataclasses import dataclass
from typing import Any, Iterator, List, Optional, Sequence, Tuple, Union, overload

import numpy as np
from numpy.typing import NDArray

from . import _invar
from ._arguments import Candidates, Names, Shape, candidates_of, places_of, shape_of


@dataclass(frozen=True)
class Check:
    """A law, and whether it holds."""

    #: The law.
    law: str
    #: Whether it was decided in exact arithmetic.
    exact: bool
    #: In how many cases it was checked.
    cases: int
    #: Those that failed, in words.
    failures: Tuple[str, ...]
    #: What is to be known about how it was checked.
    how: Optional[str]

    @property
    def holds(self) -> bool:
        """Whether no case failed."""
        return not self.failures


@dataclass(frozen=True)
class Verification:
    """What :meth:`Lattice.verify` found. True where every law holds."""

    #: One for each law.
    checks: Tuple[Check, ...]

    def __bool__(self) -> bool:
        return all(check.holds for check in self.checks)

    def __str__(self) -> str:
        cases = sum(check.cases for check in self.checks)
        if self:
            return f"all {len(self.checks)} laws hold, in {cases:,} cases"
        failed = [f"{check.law}: {check.failures[0]}" for check in self.checks if not check.holds]
        return "NOT verified: " + "; ".join(failed)


class Subspace:
    """Weights that are invariant to exactly these candidates: one node of a lattice."""

    def __init__(self, lattice: "Lattice", index: int) -> None:
        self._lattice, self._index = lattice, index
        core = lattice._core
        #: The candidates it is invariant to.
        self.groups: Tuple[str, ...] = tuple(lattice.candidates[place] for place in core.sets[index])
        #: How many these are.
        self.level: int = len(self.groups)
        #: The number of basis vectors.
        self.dimension: int = core.dimensions[index]
        #: The candidates in words.
        self.label: str = core.labels[index]

    @property
    def basis(self) -> NDArray[np.float64]:
        """An orthonormal basis: ``dimension`` arrays of the lattice's shape, one after the other."""
        return self._lattice._core.basis(self._index).reshape((self.dimension, *self._lattice.shape))

    @property
    def vectors(self) -> NDArray[Any]:
        """Integer vectors that span the same subspace exactly, in the same form; of Python's integers where 64 bits are too few."""
        found = self._lattice._core.vectors(self._index)
        if found is None:
            raise ValueError("there are no integer vectors where generators have decimals; write fractions, such as 1/2")
        array = found if isinstance(found, np.ndarray) else np.array(found, dtype=object)
        return array.reshape((self.dimension, *self._lattice.shape))

    def __repr__(self) -> str:
        return f"<Subspace {self.label}: level {self.level}, dimension {self.dimension}>"


class Lattice(Sequence[Subspace]):
    """The subspaces B(M) of a list of candidates, most invariant first. See :func:`lattice`."""

    def __init__(self, shape: Shape, candidates: Candidates, mode: str, cap: int, memory: Optional[int]) -> None:
        if mode not in ("paper", "complete"):
            raise ValueError(f"mode: expected 'paper' or 'complete', got {mode!r}")
        #: The sides of the tensors.
        self.shape: Tuple[int, ...] = shape_of(shape)
        #: How subspaces were chosen.
        self.mode: str = mode
        self._asked = (self.shape, candidates_of(candidates), mode, cap, memory)
        self._core = _invar.Lattice(list(self.shape), self._asked[1], mode == "complete", cap, memory)
        #: The names of the candidates; families such as ``swaps(0)`` spelled out.
        self.candidates: Tuple[str, ...] = tuple(self._core.names)
        self._subspaces: List[Subspace] = [Subspace(self, index) for index in range(len(self._core.dimensions))]
        #: What is odd about the candidates, such as one that changes nothing.
        self.warnings: Tuple[str, ...] = tuple(self._core.warnings)

    def __reduce__(self) -> Tuple[Any, ...]:
        # What was asked is short, and the answer is the same each time.
        return (Lattice, self._asked)

    @overload
    def __getitem__(self, index: int) -> Subspace: ...

    @overload
    def __getitem__(self, index: slice) -> List[Subspace]: ...

    def __getitem__(self, index: Union[int, slice]) -> Union[Subspace, List[Subspace]]:
        return self._subspaces[index]

    def __len__(self) -> int:
        return len(self._subspaces)

    def __iter__(self) -> Iterator[Subspace]:
        return iter(self._subspaces)

    @property
    def levels(self) -> List[int]:
        """How many candidates each subspace is invariant to."""
        return [subspace.level for subspace in self]

    @property
    def sets(self) -> List[Tuple[str, ...]]:
        """Which these are."""
        return [subspace.groups for subspace in self]

    @property
    def dimensions(self) -> List[int]:
        """The dimension of each subspace."""
        return [subspace.dimension for subspace in self]

    @property
    def edges(self) -> List[Tuple[int, int]]:
        """Pairs (upper, lower) of positions with no subspace between: the Hasse diagram."""
        return self._core.edges

    @property
    def is_exact(self) -> bool:
        """Whether every rank was found in exact arithmetic: not so for generators with decimals."""
        return self._core.gap is None

    def subspace(self, groups: Names) -> Subspace:
        """The subspace that is invariant to exactly these candidates."""
        places = places_of(groups, self.candidates)
        for subspace, found in zip(self, self._core.sets):
            if found == places:
                return subspace
        closed = ", ".join(self.closure(groups))
        raise ValueError(
            f"no subspace is invariant to exactly {{{', '.join(self.candidates[place] for place in places)}}}; "
            f"what is invariant to these is invariant to {{{closed}}}"
        )

    def basis(self, groups: Names) -> NDArray[np.float64]:
        """An orthonormal basis of the weights invariant to exactly these candidates, as ``dimension`` arrays of the shape."""
        return self.subspace(groups).basis

    def vectors(self, groups: Names) -> NDArray[Any]:
        """Integer vectors that span the same subspace exactly."""
        return self.subspace(groups).vectors

    def closure(self, groups: Names) -> Tuple[str, ...]:
        """Every candidate that all weights invariant to these are invariant to as well."""
        return tuple(self.candidates[place] for place in self._core.closure(places_of(groups, self.candidates)))

    def verify(self) -> Verification:
        """Checks every claim of the lattice: orthonormal, invariant to its set and to nothing more, spanning the space."""
        return Verification(tuple(Check(law, exact, cases, tuple(bad), how) for law, exact, cases, bad, how in self._core.verify()))

    def certificate(self) -> str:
        """The lattice written down with its checks, as JSON that ``invar verify`` checks again."""
        return self._core.certificate()

    def to_html(self, path: Union[str, "os.PathLike[str]", None] = None, *, title: Optional[str] = None, eigenspaces: bool = False) -> str:
        """The Hasse diagram with pictures of the bases as a web page of its own; written to ``path`` if there is one."""
        page = self._core.html(title, eigenspaces)
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(page)
        return page

    def _repr_svg_(self) -> str:
        return self._core.svg(None, False)

    def __repr__(self) -> str:
        sides = "x".join(map(str, self.shape))
        rows = [f"  level {space.level}, dimension {space.dimension}: {space.label}" for space in self._subspaces[:12]]
        more = [f"  ... and {len(self) - 12} more"] if len(self) > 12 else []
        return "\n".join([f"<Lattice on {sides}: {len(self)} subspaces of {len(self.candidates)} candidates", *rows, *more]) + ">"


def lattice(
    shape: Shape, candidates: Candidates, mode: str = "paper", *, cap: int = 4096, memory: Optional[int] = None
) -> Lattice:
    """The lattice of invariant subspaces of candidate symmetries, found in exact arithmetic.

    Every weight vector is a sum of parts from these subspaces; a part from B(M) is invariant to the candidates of M and to no other.

    Parameters
    ----------
    shape
        The sides of the tensors: ``(3, 28, 28)``, ``"3x28x28"`` or a number.
    candidates
        Symmetries in shorthand, such as ``["rot90(1,2)", "permute(0)"]``, or with names: ``{"rot": "rot90(1,2)"}``. Axes count
        from 0. ``invar groups --help`` lists all kinds.
    mode
        ``"paper"``: of each B(M) what is independent of everything before, so that dimensions sum to that of the space.
        ``"complete"``: all of every B(M); they may overlap.
    cap
        The most sets of candidates to look at.
    memory
        The most bytes it may take; by default half of what is free.

    Examples
    --------
    >>> import invar
    >>> patch = invar.lattice((3, 3, 3), {"rot": "rot90(1,2)", "color": "permute(0)"})
    >>> patch
    <Lattice on 3x3x3: 4 subspaces of 2 candidates
      level 2, dimension 3: {rot, color}
      level 1, dimension 6: {rot}
      level 1, dimension 6: {color}
      level 0, dimension 12: {}>
    >>> patch.basis("rot").shape
    (6, 3, 3, 3)
    >>> patch.vectors(["rot", "color"])[0].sum()
    np.int64(12)
    >>> print(patch.verify())
    all 5 laws hold, in 132 cases
    """
    return Lattice(shape, candidates, mode, cap, memory)
