"""What people pass: shapes, candidates, arrays. Everything is checked here, so that messages name the argument."""

import numbers
from collections.abc import Mapping
from typing import Any, Iterable, List, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: One symmetry in shorthand, several, or several with names of their own.
Candidates = Union[str, Iterable[str], Mapping[str, str]]
#: The sides of one example: ``(3, 28, 28)``, ``"3x28x28"``, or a number for a sequence.
Shape = Union[int, str, Sequence[int]]
#: Names of candidates: one, or several.
Names = Union[str, Iterable[str]]


def shape_of(shape: Shape) -> Tuple[int, ...]:
    """The sides as numbers."""
    if isinstance(shape, str):
        parts = shape.lower().replace("×", "x").split("x")
        if not all(part.strip().isdigit() for part in parts):
            raise ValueError(f"shape: expected sides joined by x, such as '3x28x28', got {shape!r}")
        return tuple(int(part) for part in parts)
    try:
        listed: List[Any] = [shape] if isinstance(shape, (int, numbers.Number)) else list(shape)
    except TypeError:
        raise TypeError(f"shape: expected a tuple of whole numbers, got {type(shape).__name__}") from None
    for side in listed:
        if not isinstance(side, numbers.Integral) or isinstance(side, bool):
            raise TypeError(f"shape: expected whole numbers, got {side!r}")
        if side < 1:
            raise ValueError(f"shape: every side must be at least 1, got {tuple(listed)}")
    return tuple(int(side) for side in listed)


def candidates_of(candidates: Candidates) -> List[str]:
    """Candidates in shorthand, each with its name in front if it has one."""
    if isinstance(candidates, str):
        return [candidates]
    if isinstance(candidates, Mapping):
        for name, text in candidates.items():
            if not isinstance(name, str) or not isinstance(text, str):
                raise TypeError(f"candidates: expected names and symmetries as texts, got {name!r}: {text!r}")
        return [f"{name}={text}" for name, text in candidates.items()]
    try:
        listed = list(candidates)
    except TypeError:
        raise TypeError(f"candidates: expected texts such as 'rot90(1,2)', got {type(candidates).__name__}") from None
    for text in listed:
        if not isinstance(text, str):
            raise TypeError(f"candidates: expected texts such as 'rot90(1,2)', got {text!r}")
    return listed


def places_of(names: Names, known: Sequence[str]) -> List[int]:
    """Where names stand in the list of candidates."""
    asked = [names] if isinstance(names, str) else list(names)
    for name in asked:
        if name not in known:
            listed = ", ".join(known[:12]) + (", ..." if len(known) > 12 else "")
            raise ValueError(f"no candidate is called {name!r}; there are {listed}")
    return sorted({known.index(name) for name in asked})


def numbers_of(values: ArrayLike, what: str, dtype: Any) -> NDArray[Any]:
    """An array of real, finite numbers."""
    array = np.asarray(values)
    if array.dtype == object:
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError):
            raise TypeError(f"{what}: expected numbers, got an array of objects") from None
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{what}: expected real numbers, got an array of {array.dtype}")
    array = array.astype(dtype, copy=False)
    if not np.isfinite(array).all():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(f"{what}: expected finite numbers, got {array[place]} at {place}")
    return array


def examples_of(values: ArrayLike, shape: Tuple[int, ...], what: str, dtype: Any = np.float32) -> NDArray[Any]:
    """Examples of a shape as rows of numbers. Each may be one long row, and axes of size 1 may be missing."""
    array = numbers_of(values, what, dtype)
    width = int(np.prod(shape))

    def long(sides: Tuple[int, ...]) -> Tuple[int, ...]:
        return tuple(side for side in sides if side != 1)

    fits = array.ndim >= 1 and (long(array.shape[1:]) == long(shape) or array.shape[1:] == (width,))
    if not fits:
        sides = " x ".join(map(str, shape))
        raise ValueError(f"{what}: expected an array of examples of {sides}, got an array of shape {array.shape}")
    return np.ascontiguousarray(array.reshape(len(array), width))
