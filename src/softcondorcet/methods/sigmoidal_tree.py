"""Branch and bound on differences of ratings, for the global minimum of the sigmoid loss in a box.

A node bounds the differences x_a - x_b of ratings / temperature; a linear program bounds the loss from below
(``relaxation``), and its x, polished by Newton's method, may be the best ratings so far. The node with the lowest bound
is next, and is cut in two at the pair whose share the program gets most wrong. When no node is left whose bound is
clearly below the best loss, that loss is proven, up to what "clearly" allows.

A program that fails proves nothing: its node keeps the bound of its parent and is cut all the same.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np

from softcondorcet.arrays import Flags, Floats
from softcondorcet.kernels import newton
from softcondorcet.methods.differences import logistic, tighten
from softcondorcet.methods.relaxation import Relaxation, Relaxed, Rows

# A pair that stands the wrong way round is cut where it stands, but not further out than this: there s is flat.
_OUT = 6.0


class Best:
    """The best ratings so far, in temperatures above the lower bound of the box, and their loss in margins."""

    def __init__(self, margin: Floats, width: float) -> None:
        self.margin, self.width = margin, width
        self.silent: Flags = np.logical_not(margin.any(axis=1))
        self.x, self.loss = np.full(len(margin), width / 2), float(np.abs(margin).sum()) / 4

    def consider(self, x: Floats) -> None:
        """Keep the minimum next to x if it is better. Agents that no margin speaks about stay in the middle."""
        near = newton.polish(self.margin, np.where(self.silent, self.width / 2, x), self.width)
        loss = float(sum(newton.loss_parts(self.margin, near)))
        if loss < self.loss:
            self.x, self.loss = near, loss


@dataclass(order=True)
class Node:
    """Bounds on differences, a bound on the loss within them, and rows and a basis for the program to start from."""

    bound: float
    number: int
    most: Floats = field(compare=False)
    rows: Rows = field(compare=False)
    basis: Any = field(compare=False)


@dataclass(frozen=True)
class Proof:
    """A lower bound on the loss of any ratings in the box, how many nodes it took, and what ended the search."""

    bound: float
    nodes: int
    status: str


def branch_and_bound(
    best: Best,
    most: Floats,
    bound: float,
    allowed: Callable[[float], float],
    *,
    nodes: int,
    ends: float,
    watch: Callable[[int], None] | None = None,
) -> Proof:
    """Improve `best` until its loss is within `allowed(loss)` of a bound, or so many nodes or the time are spent.

    `most` and `bound` hold for some global minimum; `ends` is a time of the monotonic clock.
    """
    program, number = Relaxation(best.margin, best.width), count()
    heap = [Node(bound, next(number), most, program.first_rows(), None)]
    closed, done = np.inf, 0
    while heap:
        least, enough = min(heap[0].bound, closed), best.loss - allowed(best.loss)
        if heap[0].bound >= enough:
            return Proof(least, done, _proven(done))
        if done >= nodes:
            return Proof(least, done, "node_limit")
        if time.monotonic() >= ends:
            return Proof(least, done, "time_limit")
        node = heapq.heappop(heap)
        found = program.solve(node.most, node.rows, node.basis, enough, ends)
        done += 1
        if found.x is not None:
            best.consider(found.x)
        if watch is not None:
            watch(done)
        bound = max(node.bound, found.bound)
        if bound >= best.loss - allowed(best.loss):
            closed = min(closed, bound)
            continue
        a, b, at = cut(best.margin, node.most, found)
        for part in (tighten(node.most, a, b, at), tighten(node.most, b, a, -at)):
            heapq.heappush(heap, Node(bound, next(number), part, found.rows, found.basis))
    return Proof(closed, done, _proven(done))


def _proven(nodes: int) -> str:
    return "root" if nodes == 1 else "optimal"


def cut(margin: Floats, most: Floats, found: Relaxed) -> tuple[int, int, float]:
    """Two agents, the first of which beats the second, and a lead between them to cut at.

    The pair is the one whose share flatters the loss most. Where the lead is positive, cutting at 0 leaves one part on
    which s is concave, and its lines exact.
    """
    a, b = np.nonzero(margin > 0)
    low, high = -most[b, a], most[a, b]
    if found.x is None or found.shares is None:
        k = int(np.argmax(margin[a, b] * (logistic(high) - logistic(low))))
        return int(a[k]), int(b[k]), float(low[k] + high[k]) / 2
    lead = found.x[a] - found.x[b]
    k = int(np.argmax(margin[a, b] * (found.shares[a, b] - logistic(lead))))
    at, wide = (0.0 if lead[k] > 0 else max(lead[k], -_OUT)), high[k] - low[k]
    room = 0.05 * min(wide, 1.0)
    if not low[k] + room < at < high[k] - room:
        at = np.clip(lead[k], low[k] + wide / 5, high[k] - wide / 5)
    return int(a[k]), int(b[k]), float(at)
