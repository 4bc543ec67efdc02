"""Labels of any type that can be hashed."""

from typing import Any, Dict, List, Optional, Tuple

import numpy as np
from numpy.typing import NDArray


def objects_of(y: Any) -> Optional[List[Any]]:
    """Labels that NumPy would change: tuples, enums, texts beside numbers. Nothing where it would not."""
    if isinstance(y, np.ndarray) and y.dtype != object or hasattr(y, "dtype") and y.dtype != object:
        return None
    if isinstance(y, (str, bytes)) or not hasattr(y, "__iter__") or getattr(y, "ndim", 1) != 1:
        return None
    listed = list(y)
    kinds = {str if isinstance(label, str) else float if isinstance(label, (int, float, np.number, np.bool_)) else type(label) for label in listed}
    if kinds <= {str} or kinds <= {float} or any(issubclass(kind, (np.ndarray, list)) for kind in kinds):
        return None
    return listed


def classes_of(labels: List[Any]) -> Tuple[NDArray[Any], NDArray[np.int64]]:
    """The classes, in their own order if they have one, else as they come; and the class of each label."""
    places: Dict[Any, int] = {}
    for label in labels:
        if label is None or label != label:
            raise ValueError(f"y: expected a label for each example, got {label!r}")
        try:
            places.setdefault(label, len(places))
        except TypeError:
            raise TypeError(f"y: expected labels that can be hashed, got {label!r}") from None
    try:
        ordered = sorted(places)
    except TypeError:
        ordered = list(places)
    classes = np.empty(len(ordered), dtype=object)
    for number, label in enumerate(ordered):
        classes[number] = label
    place = {label: number for number, label in enumerate(ordered)}
    return classes, np.array([place[label] for label in labels], dtype=np.int64)
