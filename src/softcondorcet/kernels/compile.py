"""How kernels are compiled: on first use, cached on disk, free of the interpreter's lock, without division checks.

The cache of a file is renewed when that file changes, not when a kernel it calls from another file does: after a change
to a shared kernel, delete ``kernels/__pycache__``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

Kernel = Callable[..., Any]

# error_model="numpy" lets loops with a division vectorise.
_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}
# Without _nrt=False numba counts references to every slice of an array, with locked instructions: for one short vote
# they take longer than the mathematics, and longer to compile. A kernel so compiled cannot allocate.
_LEAN = {**_OPTIONS, "_nrt": False}
_REGROUP = {"contract", "reassoc", "nsz"}


def kernel(function: Kernel) -> Kernel:
    """Exact arithmetic in the order written."""
    return numba.njit(**_OPTIONS)(function)  # type: ignore[no-any-return]


def summing_kernel(function: Kernel) -> Kernel:
    """Sums may be regrouped and fused, so that a reduction vectorises; the same result on every call."""
    return numba.njit(fastmath={*_REGROUP, "arcp"}, **_OPTIONS)(function)  # type: ignore[no-any-return]


def lean(function: Kernel) -> Kernel:
    """For kernels that allocate nothing: with fused multiply-add, otherwise in the order written."""
    return numba.njit(fastmath={"contract"}, **_LEAN)(function)  # type: ignore[no-any-return]


def lean_sum(function: Kernel) -> Kernel:
    """Like `lean`, but sums may be taken in any order. Not for a body that rounds, as `exp` does."""
    return numba.njit(fastmath=_REGROUP, **_LEAN)(function)  # type: ignore[no-any-return]
