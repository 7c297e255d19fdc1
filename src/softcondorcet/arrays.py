"""Array types, read-only copies, sums by group, and rows divided among the cores of this machine."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

Ints = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
T = TypeVar("T")


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view that cannot be written through; the array itself stays as it is for whoever made it."""
    view = array.view()
    view.setflags(write=False)
    return view


def frozen_copy(values: Any, dtype: Any) -> NDArray[Any]:
    """A read-only array of their own for a frozen container; one that is that already is not copied again."""
    if isinstance(values, np.ndarray) and values.dtype == dtype and values.base is None and not values.flags.writeable:
        return values
    array: NDArray[Any] = np.array(values, dtype=dtype)
    array.setflags(write=False)
    return array


def taken(values: NDArray[Any], index: NDArray[Any]) -> NDArray[Any]:
    """Some of the values as an array of their own, read-only: ``frozen_copy`` leaves it as it is."""
    array: NDArray[Any] = values[index]
    array.setflags(write=False)
    return array


def sum_by(index: Ints, values: Floats, size: int) -> Floats:
    """Sum of the values that have each index from 0 to size - 1."""
    return np.bincount(index, weights=values, minlength=size).astype(np.float64, copy=False)


def in_order_of(number: Ints, size: int) -> Ints:
    """The places of numbers from 0 to size - 1, sorted by number: a stable argsort, by radix where they fit 2 bytes."""
    small = number.astype(np.uint16) if size <= 2**16 else number
    return np.argsort(small, kind="stable")


def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def free_memory() -> float:
    """Bytes of memory that this process may still take: what the system has free, and what its container may have."""
    free = float("inf")
    with suppress(OSError, ValueError):
        lines = (line.split() for line in Path("/proc/meminfo").read_text().splitlines())
        free = next(float(line[1]) * 1024 for line in lines if line[0] == "MemAvailable:")
    with suppress(OSError, ValueError):  # control groups, as containers have
        group = Path("/sys/fs/cgroup")
        stat = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        held = float((group / "memory.current").read_text()) - float(stat["inactive_file"])  # a cache may go
        free = min(free, float((group / "memory.max").read_text()) - held)
    return max(free, 0.0)


def cut(cost: Ints, smallest: float, parts: int | None = None) -> list[tuple[int, int]]:
    """Ranges of rows of about equal cost, one per core, and no range cheaper than `smallest` where that can be.

    `cost` is cumulative: row k costs ``cost[k + 1] - cost[k]``.
    """
    total = int(cost[-1] - cost[0])
    parts = max(1, min(parts or cores(), int(total // smallest) if smallest else total))
    edges = np.searchsorted(cost, cost[0] + total * np.arange(1, parts) / parts)
    bounds = [0, *(int(e) for e in edges), len(cost) - 1]
    return [(a, b) for a, b in pairwise(bounds) if a < b] or [(0, len(cost) - 1)]


def run_ranges(
    work: Callable[[int, int], T], ranges: list[tuple[int, int]], pool: ThreadPoolExecutor | None = None
) -> list[T]:
    """`work(first, last)` for each range, in threads where there are several: kernels give the lock away."""
    if len(ranges) == 1:
        return [work(*ranges[0])]
    if pool is not None:
        return list(pool.map(lambda r: work(*r), ranges))
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(len(ranges)) as own:
        return list(own.map(lambda r: work(*r), ranges))
