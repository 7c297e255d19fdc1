"""Names for the arrays that go around: whole numbers, floats, yes or no; and what is done to them everywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view that cannot be written through; the array itself stays as it is for whoever made it."""
    view = array.view()
    view.setflags(write=False)
    return view


def sum_by(index: Ints, values: Floats, size: int) -> Floats:
    """Sum of the values that have each index from 0 to size - 1."""
    return np.bincount(index, weights=values, minlength=size).astype(np.float64, copy=False)
