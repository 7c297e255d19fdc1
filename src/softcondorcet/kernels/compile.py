"""How every kernel is compiled: on first use, cached on disk, free of the interpreter's lock, no division checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

Kernel = Callable[..., Any]


def kernel(function: Kernel) -> Kernel:
    """Exact arithmetic in the order written. `error_model="numpy"` lets loops with a division vectorise."""
    return numba.njit(cache=True, nogil=True, error_model="numpy")(function)


def summing_kernel(function: Kernel) -> Kernel:
    """Like `kernel`, but sums may be regrouped and fused, so that a reduction vectorises; same result on every call."""
    flags = {"reassoc", "contract", "nsz", "arcp"}
    return numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=flags)(function)
