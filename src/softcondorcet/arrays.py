"""Names for the arrays that go around: whole numbers of any width, floats, yes or no; and one sum by index."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def sum_by(index: Ints, values: Floats, size: int) -> Floats:
    """Sum of the values that have each index from 0 to size - 1."""
    return np.bincount(index, weights=values, minlength=size).astype(np.float64, copy=False)
