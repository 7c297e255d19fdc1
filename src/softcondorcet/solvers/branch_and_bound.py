"""Branch and bound for the global minimum of the sigmoid loss in a box: what ``sigmoidal_program`` searches by.

A node bounds the differences x_a - x_b of ratings / temperature; a linear program bounds the loss from below, and its
x, polished by Newton's method, may be the best ratings so far. The node with the lowest bound is next, and is cut in
two at the pair whose share the program gets most wrong. When no node is left whose bound is clearly below the best
loss, that loss is proven, up to what "clearly" allows. A program that fails proves nothing: its node keeps the bound
of its parent and is cut all the same.

Differences are bounded by most[a, b] >= x_a - x_b. Before any search this much is known of the ratings that are worth
looking at:

- *The box*: x_a - x_b <= width.
- *Pairs that cost too much.* Add independent Gumbel noise to x: the order of the sums puts b above a with probability
  s(x_b - x_a), s the logistic function, so the loss L(x) is the mean of K over random orders (K: the margins that an
  order contradicts; K*: the smallest). Orders with b above a contradict at least K* + detour[b, a] (``Discrete``),
  the others at least K*. So L(x) <= K* + slack implies s(x_b - x_a) <= slack / detour[b, a].
- *Exchange.* If a beats b or is level with it, and has at least b's margin over every third agent, then swapping the
  ratings of a and b where b's is higher does not raise the loss. Some minimum has x_a >= x_b for all such pairs at
  once: swap until there is none left to swap, which ends, because each swap sorts the ratings further.

Differences add up, so the bounds are closed under most[a, b] <= most[a, k] + most[k, b].

The linear program of a node has the columns y_a = x_a / width in [0, 1], and for agents i < j the share T_ij that
stands for s(x_i - x_j), in [s(low), s(high)] where that difference lies in [low, high]. The loss is linear in T:

    sum over i < j of max(margin_ij, 0) - margin_ij T_ij.

Rows, added as they are broken:

- *lines* above and below s on [low, high] (``kernels.sigmoidal``);
- *triples*: 0 <= T_ij + T_jk - T_ik <= 1. The shares are the probabilities of i above j in a random order
  (see above), so whatever holds for every order holds for them;
- *differences* x_i - x_j <= most[i, j].

Ratings within the bounds, with T = s, satisfy all of them, so the program is never infeasible. Its bound is computed
from dual values by weak duality, which holds for any dual values whatever: the solver's tolerances cannot make it too
high (Neumaier and Shcherbina, 2004).
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np

from softcondorcet.arrays import Flags, Floats, Ints
from softcondorcet.kernels import linear_ordering, sigmoidal


def logistic(d: Floats) -> Floats:
    """s(d) = 1 / (1 + exp(-d)), safe at any d."""
    t = np.exp(-np.abs(d))
    shares: Floats = np.where(d >= 0, 1.0, t) / (1 + t)
    return shares


def first_differences(margin: Floats, width: float, slack: float, detour: Floats) -> Floats:
    """Bounds that hold for some global minimum, if its loss is at most K* + `slack`."""
    with np.errstate(divide="ignore"):
        share = slack / detour
        # Shares next to 1 say next to nothing, and their logit is all rounding.
        by_cost = np.where(share < 1 - 1e-9, np.log(share) - np.log1p(-np.minimum(share, 1 - 1e-9)), np.inf)
    most = np.clip(by_cost, -width, width)
    most = np.where(exchangeable(margin).T, np.minimum(most, 0.0), most)
    np.fill_diagonal(most, 0.0)
    return close(most)


def exchangeable(margin: Floats) -> Flags:
    """Pairs a, b of which some minimum has a not below b. Twins count once, in the order they are listed."""
    number = np.arange(len(margin))
    # Compared at a and at b themselves, the margins say margin[a, b] >= 0.
    as_good = np.array([(own >= margin).all(axis=1) for own in margin])
    twins = as_good & as_good.T & (number[:, None] >= number[None, :])
    exchanged: Flags = as_good & ~twins
    return exchanged


def close(most: Floats) -> Floats:
    """All bounds that follow by adding bounds up (Floyd and Warshall)."""
    for k in range(len(most)):
        most = np.minimum(most, most[:, [k]] + most[[k], :])
    return most


def tighten(most: Floats, a: int, b: int, limit: float) -> Floats:
    """The closed bounds after x_a - x_b <= limit, which must not contradict them: every new path uses that one once."""
    return np.minimum(most, most[:, [a]] + limit + most[[b], :])


def certain_order(slack: float, detour: Floats) -> Flags:
    """Pairs a, b with a above b in every minimum, if its loss is at most K* + `slack`: s(x_b - x_a) < 1/2 by the above.

    A little less than 1/2, so that no rounding is certified.
    """
    return np.greater(detour.T, 2.00001 * slack)


# A line that touches s at 16 rises by 1e-7 per temperature, and leaves less than that between the share and 1.
FAR = 16.0
# Rows broken by less than this are not worth a round; triples per round, and per pair and round.
_BROKEN, _TRIPLES, _EACH = 1e-7, 5_000, 3
# Rounds per node, and the part of the missing bound that a late round must bring. Few rounds make far more nodes.
_ROUNDS, _EARLY, _WORTH = 20, 4, 0.01

LINE_ABOVE, LINE_BELOW, TRIPLE_ABOVE, TRIPLE_BELOW, DIFFERENCE = range(5)


@dataclass(frozen=True)
class Rows:
    """Rows by what they say, so that a child can state them anew for its own bounds.

    `agents` are i, j (and k) of each row; `point` is where a line should touch s, as a lead of the agent it favours.
    """

    kind: Ints
    agents: Ints
    point: Floats

    def __len__(self) -> int:
        return len(self.kind)

    def take(self, which: Flags) -> Rows:
        return Rows(self.kind[which], self.agents[which], self.point[which])


def rows_of(kind: int, i: Ints, j: Ints, *, k: Ints | None = None, point: Floats | None = None) -> Rows:
    agents = np.stack([i, j, i if k is None else k], axis=1)
    return Rows(np.full(len(i), kind), agents, np.zeros(len(i)) if point is None else point)


def join(parts: list[Rows]) -> Rows:
    kinds, agents, points = ([getattr(part, name) for part in parts] for name in ("kind", "agents", "point"))
    return Rows(np.concatenate(kinds), np.concatenate(agents), np.concatenate(points))


@dataclass(frozen=True)
class Relaxed:
    """What a program said: a proven bound, x and shares[a, b] (None where the solver has none), rows worth keeping.

    `basis` is the state of the columns from which a child with these rows can start.
    """

    bound: float
    x: Floats | None
    shares: Floats | None
    rows: Rows
    basis: Any


class Relaxation:
    """The program of one margin matrix; `solve` states it for given differences."""

    def __init__(self, margin: Floats, width: float) -> None:
        import highspy

        self.margin, self.width, self.m = margin, width, len(margin)
        self.i, self.j = np.triu_indices(self.m, 1)
        self.column = np.zeros((self.m, self.m), dtype=np.int64)
        self.column[self.i, self.j] = self.m + np.arange(len(self.i))
        self.cost = np.concatenate([np.zeros(self.m), -margin[self.i, self.j]])
        self.always = float(np.maximum(margin[self.i, self.j], 0).sum())
        # More than rounding can do to sums of this many numbers of this size.
        self.rounding = 1e-11 * float(np.abs(self.cost).sum())
        self.highspy: Any = highspy
        self.highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        self.highs.setOptionValue("output_flag", False)
        self.highs.setOptionValue("presolve", "off")  # it would take longer than the few pivots from a parent's basis
        self.highs.setOptionValue("primal_feasibility_tolerance", 1e-9)
        self.highs.setOptionValue("dual_feasibility_tolerance", 1e-9)

    def first_rows(self) -> Rows:
        """A line for each pair, on the side that the loss pulls to."""
        i, j, lead = self.i, self.j, self.margin[self.i, self.j]
        return join([rows_of(LINE_ABOVE, i[lead > 0], j[lead > 0]), rows_of(LINE_BELOW, i[lead < 0], j[lead < 0])])

    def solve(self, most: Floats, rows: Rows, basis: Any, enough: float, ends: float) -> Relaxed:
        """Solve and add broken rows until none is left, the bound is `enough`, or it hardly rises any more."""
        self._start(most, rows, basis)
        bound, x, shares = -np.inf, None, None
        for turn in range(_ROUNDS):
            left = ends - time.monotonic()
            solved = self.run(left) if left > 0 or not turn else None
            if solved is None:
                break
            before, bound = bound, max(bound, self._bound(solved[1]))
            x, shares = self._read(solved[0])
            if bound >= enough or (turn >= _EARLY and bound - before < _WORTH * (enough - bound)):
                break
            broken = self._broken(x, shares)
            if not len(broken) or turn == _ROUNDS - 1:
                break
            rows = join([rows, broken])
            self._add(broken)
        state = self.highs.getBasis()
        tight = np.array([status != self.highspy.HighsBasisStatus.kBasic for status in state.row_status], dtype=bool)
        if x is None or len(tight) != len(rows):
            return Relaxed(bound, x, shares, rows, None)
        return Relaxed(bound, x, shares, rows.take(tight), state.col_status)

    def _start(self, most: Floats, rows: Rows, basis: Any) -> None:
        """State the program afresh for these differences, from a basis in which all rows are tight."""
        self.most, self.low, self.high = most, -most.T, np.maximum(most, -most.T)
        n, highs = len(self.cost), self.highs
        self.least = np.concatenate([np.zeros(self.m), logistic(self.low[self.i, self.j])])
        self.largest = np.concatenate([np.ones(self.m), logistic(self.high[self.i, self.j])])
        self.stated: list[tuple[Ints, Floats, Floats, Floats]] = []
        highs.clearModel()
        highs.addVars(n, self.least, self.largest)
        highs.changeColsCost(n, np.arange(n, dtype=np.int32), self.cost)
        self._add(rows)
        if basis is not None:
            start = self.highspy.HighsBasis()
            start.col_status, start.row_status = basis, [self.highspy.HighsBasisStatus.kLower] * len(rows)
            highs.setBasis(start)

    def _add(self, rows: Rows) -> None:
        column, value, least, largest = self._state(rows)
        self.stated.append((column, value, least, largest))
        filled = value != 0
        begin = np.concatenate([[0], np.cumsum(filled.sum(axis=1))[:-1]]).astype(np.int32)
        self.highs.addRows(
            len(rows), least, largest, int(filled.sum()), begin, column[filled].astype(np.int32), value[filled]
        )

    def _state(self, rows: Rows) -> tuple[Ints, Floats, Floats, Floats]:
        """Of each row: three columns and their values, and the least and largest it may be."""
        i, j, k = rows.agents.T
        column, value = np.zeros((len(rows), 3), dtype=np.int64), np.zeros((len(rows), 3))
        least, largest = np.full(len(rows), -np.inf), np.full(len(rows), np.inf)
        for kind in (LINE_ABOVE, LINE_BELOW):
            r = rows.kind == kind
            intercept, slope = self._lines(kind, i[r], j[r], rows.point[r])
            column[r] = np.stack([self.column[i[r], j[r]], i[r], j[r]], axis=1)
            value[r] = np.stack([np.ones(len(slope)), -slope * self.width, slope * self.width], axis=1)
            if kind == LINE_ABOVE:
                largest[r] = intercept
            else:
                least[r] = 1 - intercept
        r = (rows.kind == TRIPLE_ABOVE) | (rows.kind == TRIPLE_BELOW)
        column[r] = np.stack([self.column[i[r], j[r]], self.column[j[r], k[r]], self.column[i[r], k[r]]], axis=1)
        value[r] = [1.0, 1.0, -1.0]
        largest[rows.kind == TRIPLE_ABOVE] = 1.0
        least[rows.kind == TRIPLE_BELOW] = 0.0
        r = rows.kind == DIFFERENCE
        column[r, :2], value[r, :2] = rows.agents[r, :2], [1.0, -1.0]
        largest[r] = self.most[i[r], j[r]] / self.width
        return column, value, least, largest

    def _lines(self, kind: int, i: Ints, j: Ints, point: Floats) -> Floats:
        """Intercepts and slopes. A line below s on [low, high] is one above it on [-high, -low], seen in the mirror."""
        ends = (self.low, self.high) if kind == LINE_ABOVE else (-self.high, -self.low)
        line = np.empty((2, len(i)))
        sigmoidal.lines_above(ends[0][i, j], ends[1][i, j], np.minimum(point, FAR), line)
        return line

    def run(self, seconds: float) -> tuple[Floats, Floats] | None:
        """Column values and row duals; None when the solver has none to offer, whatever it calls the reason."""
        self.highs.setOptionValue("time_limit", self.highs.getRunTime() + max(seconds, 0.01))
        self.highs.run()
        solution = self.highs.getSolution()
        if not (solution.value_valid and solution.dual_valid):
            return None
        return np.clip(np.array(solution.col_value), self.least, self.largest), np.array(solution.row_dual)

    def _read(self, column: Floats) -> tuple[Floats, Floats]:
        shares = np.full((self.m, self.m), 0.5)
        shares[self.i, self.j], shares[self.j, self.i] = column[self.m :], 1 - column[self.m :]
        return column[: self.m] * self.width, shares

    def _bound(self, dual: Floats) -> float:
        """Weak duality: each row at the side its dual pulls to, each column at its best for what the rows leave."""
        column, value, least, largest = (np.concatenate(part) for part in zip(*self.stated, strict=True))
        dual = np.where(np.isinf(least), np.minimum(dual, 0), np.maximum(dual, 0))
        rows = dual * np.where(np.isinf(least), largest, least)
        taken = np.bincount(column.ravel(), weights=(dual[:, None] * value).ravel(), minlength=len(self.cost))
        reduced = self.cost - taken
        columns = np.minimum(reduced * self.least, reduced * self.largest)
        return self.always + float(rows.sum()) + float(columns.sum()) - self.rounding

    def _broken(self, x: Floats, shares: Floats) -> Rows:
        """Rows that this solution breaks."""
        i, j, found = self.i, self.j, []
        for kind, a, b in ((LINE_ABOVE, i, j), (LINE_BELOW, j, i)):
            lead = x[a] - x[b]
            intercept, slope = self._lines(kind, i, j, lead)
            over = shares[a, b] > intercept + slope * lead + _BROKEN
            found.append(rows_of(kind, i[over], j[over], point=lead[over]))
        triples = np.empty((_TRIPLES, 4), dtype=np.int64)
        triples = triples[: linear_ordering.broken_triples(shares, _EACH, triples)]
        for kind, side in ((TRIPLE_ABOVE, 1), (TRIPLE_BELOW, 0)):
            first, second, third = triples[triples[:, 3] == side, :3].T
            found.append(rows_of(kind, first, second, k=third))
        found.append(rows_of(DIFFERENCE, *np.nonzero(x[:, None] - x[None, :] > self.most + _BROKEN * self.width)))
        return join(found)


# A pair that stands the wrong way round is cut where it stands, but not further out than this: there s is flat.
_OUT = 6.0


class Best:
    """The best ratings so far, in temperatures above the lower bound of the box, and their loss in margins."""

    def __init__(self, margin: Floats, width: float) -> None:
        self.margin, self.width = margin, width
        self.silent: Flags = np.logical_not(margin.any(axis=1))
        self.total = float(np.abs(margin).sum()) / 2
        self.x, self.loss = np.full(len(margin), width / 2), self.total / 2

    def consider(self, x: Floats) -> None:
        """Keep the minimum next to x if it is better by more than rounding, which must not choose among several.

        Agents that no margin speaks about stay in the middle.
        """
        near = sigmoidal.polish(self.margin, np.where(self.silent, self.width / 2, x), self.width)
        loss = float(sum(sigmoidal.loss_parts(self.margin, near)))
        if loss < self.loss - 1e-12 * self.total:
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
    relaxation: type[Relaxation] = Relaxation,
) -> Proof:
    """Improve `best` until its loss is within `allowed(loss)` of a bound, or so many nodes or the time are spent.

    `most` and `bound` hold for some global minimum; `ends` is a time of the monotonic clock.
    """
    program, number = relaxation(best.margin, best.width), count()
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
