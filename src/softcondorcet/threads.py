"""Work shared between cores: kernels release the interpreter's lock and each writes its own rows."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

import numpy as np

from softcondorcet.arrays import Ints

T = TypeVar("T")


def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def cut(cost: Ints, smallest: float, parts: int | None = None) -> list[tuple[int, int]]:
    """Ranges of rows of about equal cost, one per core, and no range cheaper than `smallest` where that can be.

    `cost` is cumulative: row k costs ``cost[k + 1] - cost[k]``.
    """
    total = int(cost[-1] - cost[0])
    parts = max(1, min(parts or cores(), int(total // smallest) if smallest else total))
    edges = np.searchsorted(cost, cost[0] + total * np.arange(1, parts) / parts)
    bounds = [0, *(int(e) for e in edges), len(cost) - 1]
    return [(a, b) for a, b in pairwise(bounds) if a < b] or [(0, len(cost) - 1)]


def run(
    work: Callable[[int, int], T], ranges: list[tuple[int, int]], pool: ThreadPoolExecutor | None = None
) -> list[T]:
    """`work(first, last)` for each range, side by side when there are several."""
    if len(ranges) == 1:
        return [work(*ranges[0])]
    if pool is not None:
        return list(pool.map(lambda r: work(*r), ranges))
    with ThreadPoolExecutor(len(ranges)) as own:
        return list(own.map(lambda r: work(*r), ranges))
