"""The order that contradicts the votes least, component by component of the majority: what `sco` and `kemeny` end with.

Only margins matter: the loss of an order is a constant plus the margins it contradicts. Let the strict majority graph
lead from a to b where a beats b, and let C1, C2, ... be its strongly connected components, from the top down. *An
optimum is the concatenation of optima of the components.* Proof: every edge between components leads downwards, so an
order that concatenates them contradicts no margin between components; its loss is the sum of the losses inside. Any
order at all, restricted to a component, contradicts at least the optimum of that component. So none can be better.

A component of up to 20 agents is solved here, by dynamic programming over subsets, O(2^c c). What is done with a larger
one, the caller says.

For components too large for a program there is a lower bound on what any order contradicts, from cycles.

Going round a cycle of agents of which each beats the next, every order contradicts at least one margin. Give cycles C
weights y_C >= 0, and let the load of a margin m_e be the weights of the cycles through it. Then

    sum over C of y_C  -  sum over e of max(0, load_e - m_e)

bounds from below the margins any order contradicts. Proof: let z_e be 1 where the order contradicts e, else 0; every
cycle has sum of z_e >= 1. So sum y_C <= sum of y_C z_e over its margins = sum of load_e z_e <= sum of m_e z_e + sum of
max(0, load_e - m_e). It holds for *any* weights: what finds them may round and stop as it likes.

The best weights are a linear program, whose value for all cycles is the bound of ``linear_ordering``: the greatest
smallest value of sum y_C - sum z_e (load_e - m_e) over prices 0 <= z_e <= 1. The primal-dual hybrid gradient method
(Chambolle and Pock, 2011, with the diagonal steps of Pock and Chambolle, 2011) walks there in cheap steps. There are
far too many cycles to list; in rounds, as a program generates columns, those join that cost less than 1 at the present
prices: one for each margin that a good order contradicts, closed by margins it respects, of any length. Such cycles
alone reach the optimum where the program has a whole solution.

One round looks along every arc below each agent at most a few times, O(m x pairs) at worst, and in practice some 10^8
steps for 2,000 agents.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import pairwise

import numpy as np

from softcondorcet.arrays import Flags, Floats, Ints, sum_by
from softcondorcet.kernels import insertion, linear_ordering
from softcondorcet.majority import strong_labels
from softcondorcet.pairs import Pairs
from softcondorcet.solvers.subsets import SUBSETS, choose

# By how much the losses of two orders of whole margins differ at least, less what may be rounding.
WHOLE = 1 - 1e-6


@dataclass(frozen=True)
class Solved:
    """An order, the margins it contradicts, a proven lower bound on what any order does, and whether they meet.

    Margins that are multiples of a step meet or do not; others count as met within a millionth of the loss, and the
    bound says by how much it is below. `late` is True where a time limit ended the search. `only` says whether the
    order is the only one that contradicts as little; None where that is not known.
    """

    order: Ints
    loss: float
    bound: float
    proven: bool
    late: bool = False
    only: bool | None = None


# From the pairs of one component, its agents numbered in the order to start from, to its order and bound.
Solve = Callable[[Pairs], Solved]


def best_order(pairs: Pairs, values: Floats, large: Solve, label: Ints | None = None, subsets: int = SUBSETS) -> Solved:
    """Component by component, each near the order of `values`; those over 20 agents are solved by `large`.

    `label` numbers the component of each agent from the top down, where that is to follow more than the majority.
    """
    label = strong_labels(pairs, by="majority") if label is None else label
    order, loss, bound, proven, late = np.lexsort((-values, label)), 0.0, 0.0, True, False
    only: list[bool | None] = []
    for first, part in components(pairs, label, order):
        members = order[first : first + part.n_agents]
        solved = solve_by_subsets(part, values[members]) if part.n_agents <= subsets else large(part)
        order[first : first + part.n_agents] = members[solved.order]
        loss, bound = loss + solved.loss, bound + solved.bound
        proven, late = proven and solved.proven, late or solved.late
        only.append(solved.only)
    several = False in only or not _forced(pairs, order)
    return Solved(order, loss, bound, proven, late, False if several else None if None in only else True)


def _forced(pairs: Pairs, order: Ints) -> bool:
    """Whether each agent has a margin with the next one: else the two may change places, and nothing is lost."""
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    next_to = np.abs(place[pairs.left] - place[pairs.right]) == 1
    return int((next_to & (pairs.margin != 0)).sum()) == max(len(order) - 1, 0)


def in_sequence(pairs: Pairs, values: Floats) -> Ints:
    """Number of the component of each agent, from the top down: of two that no majority orders, the better by `values`.

    Of all components that none left is above, the one with the best agent comes next, then the one with the first.
    O(pairs log pairs).
    """
    label = strong_labels(pairs, by="majority")
    count = int(label.max(initial=-1)) + 1
    won = pairs.margin > 0
    above = label[np.where(won, pairs.left, pairs.right)]
    below = label[np.where(won, pairs.right, pairs.left)]
    edges = np.unique((above * count + below)[(pairs.margin != 0) & (above != below)])
    first = np.searchsorted(edges, count * np.arange(count + 1)).tolist()
    waits, reached = np.bincount(edges % count, minlength=count).tolist(), (edges % count).tolist()
    best = np.full(count, -np.inf)
    np.maximum.at(best, label, values)
    _, listed = np.unique(label, return_index=True)
    ready = [(-best[k], listed[k], k) for k in range(count) if not waits[k]]
    heapify(ready)
    place = np.empty(count, dtype=np.int64)
    for number in range(count):
        *_, k = heappop(ready)
        place[k] = number
        for other in reached[first[k] : first[k + 1]]:
            waits[other] -= 1
            if not waits[other]:
                heappush(ready, (-best[other], listed[other], other))
    return place[label]


def solve_by_subsets(part: Pairs, values: Floats) -> Solved:
    """An optimum of a few agents: the one nearest to `values`, whatever their names."""
    margin = margin_matrix(part)
    order, only = choose(margin, values, part.agents)
    loss = contradicted(margin, np.array(order))
    return Solved(np.array(order), loss, loss, True, only=only)


def improve_order(
    row: Ints, column: Ints, margin: Floats, order: Ints, passes: int, stale: Flags | None = None
) -> tuple[float, bool]:
    """Best insertion on `order`, in place. Returns the loss removed and whether a full pass was idle.

    Only agents in `stale` are looked at, all by default; it is kept, for a search that goes on with the same order.
    """
    place, agents, spots = np.empty((3, len(order)), np.int64)
    stale = np.ones(len(order), dtype=bool) if stale is None else stale
    removed, idle = insertion.improve(
        row, column, margin, order, passes, stale, place, agents, spots, np.zeros(len(order))
    )
    return float(removed), bool(idle)


def loss_as_listed(pairs: Pairs) -> float:
    """What the order of the agents' numbers contradicts."""
    return float(np.maximum(-pairs.margin, 0).sum())


def unavoidable(pairs: Pairs) -> float:
    """What every strict order costs: the smaller side of each pair, and half of each tie."""
    return float(np.minimum(pairs.wins, pairs.losses).sum() + pairs.ties.sum() / 2)


def margin_matrix(pairs: Pairs) -> Floats:
    margin = np.zeros((pairs.n_agents, pairs.n_agents))
    margin[pairs.left, pairs.right], margin[pairs.right, pairs.left] = pairs.margin, -pairs.margin
    return margin


def only_margins(agents: tuple[str, ...], above: Ints, below: Ints, margin: Floats) -> Pairs:
    """Pairs that hold margins and nothing else: of `above` over `below`, sorted."""
    won, lost = np.maximum(margin, 0), np.maximum(-margin, 0)
    return Pairs(agents, above.astype(np.int32), below.astype(np.int32), won, lost, np.zeros(len(margin)))


def contradicted(margin: Floats, order: Ints) -> float:
    """The margins of a matrix that an order contradicts."""
    return float(np.maximum(-np.triu(margin[np.ix_(order, order)], 1), 0).sum())


def components(pairs: Pairs, label: Ints, order: Ints) -> Iterator[tuple[int, Pairs]]:
    """Each component of two agents or more: where it begins in `order`, and its pairs, its agents numbered from there.

    The small ones come first: what they leave of their share of the time is for the large ones. Only margins are kept
    of the pairs. Pairs are grouped once, so the cost does not grow with the number of components.
    """
    size = np.bincount(label)
    begin = np.concatenate([[0], np.cumsum(size)])
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    inside = np.flatnonzero((label[pairs.left] == label[pairs.right]) & (pairs.margin != 0))
    a, b = place[pairs.left[inside]], place[pairs.right[inside]]
    above, below = np.minimum(a, b), np.maximum(a, b)
    turn = np.argsort(above * len(order) + below)  # by component too: a component holds a range of places
    above, below = above[turn], below[turn]
    margin = np.where(a < b, pairs.margin[inside], -pairs.margin[inside])[turn]
    several = np.flatnonzero(size > 1)
    for k in several[np.argsort(size[several], kind="stable")]:
        first, last = np.searchsorted(above, begin[k : k + 2])
        names = tuple(pairs.agents[agent] for agent in order[begin[k] : begin[k + 1]])
        yield (
            int(begin[k]),
            only_margins(names, above[first:last] - begin[k], below[first:last] - begin[k], margin[first:last]),
        )


# Weighing cycles through more margins than this would take gigabytes, and minutes a round.
MOST = 5_000_000
# Steps between two rounds that look for cycles, and pieces of such a round, between which the clock is read.
_STEPS, _PIECES = 20, 64
# A cycle without weight is forgotten when it costs this much more than it is worth.
_COSTLY = 1.2
# So many rounds without a hundredth of the gap closed are the last.
_PATIENCE = 10


def weigh(listed: Pairs, enough: float, ends: float) -> Weighing:
    """Weigh cycles through the pairs that the listed order contradicts, as well as can be.

    Stops when the bound is `enough`, when it hardly grows any more, or at `ends`, a time of the monotonic clock.
    """
    weighing, history = Weighing(listed), [0.0]
    while weighing.best < enough and time.monotonic() < ends:
        weighing.look(len(history) - 1, ends)
        weighing.balance()
        weighing.best = max(weighing.best, weighing.bound())
        history.append(weighing.best)
        if len(history) > _PATIENCE and weighing.best - history[-_PATIENCE] < 0.01 * (enough - weighing.best):
            break
    return weighing


def packed(pairs: Pairs, order: Ints, ends: float = math.inf) -> float:
    """A quick bound from 3-cycles through the pairs an order contradicts that share no margin, as they come.

    What was found by `ends`, a time of the monotonic clock, is a bound too.
    """
    rows, m = pairs.by_agent, pairs.n_agents
    place, left, bound = np.argsort(order), rows.margin.copy(), 0.0
    edges = np.linspace(0, m, _PIECES + 1).astype(np.int64).tolist()
    for first, last in pairwise(edges):
        bound += linear_ordering.packed_cycles(rows.row, rows.column, place, left, first, last)
        if time.monotonic() > ends:
            break
    return float(bound)


class Weighing:
    """Cycles with weights, prices of the margins, and the `best` bound so far.

    Kernels see margins in units of a typical contradicted one.
    """

    def __init__(self, listed: Pairs) -> None:
        m, kept = listed.n_agents, listed.margin > 0
        lost = ~kept & (listed.margin < 0)
        self.row, self.down = _rows(listed.left[kept], m), listed.right[kept]
        self.back, self.up = _rows(listed.left[lost], m), listed.right[lost]
        self.margin: Floats = np.concatenate([listed.margin[kept], -listed.margin[lost]])
        self.unit = float(-listed.margin[lost].mean()) if len(self.up) else 1.0
        self.scaled = (self.margin / self.unit).astype(np.float32)
        self.price = np.zeros(len(self.margin), dtype=np.float32)
        self.start: Ints = np.zeros(1, dtype=np.int64)
        self.arcs: Ints = np.empty(0, dtype=np.int32)
        self.weight = np.empty(0, dtype=np.float32)
        self.best = 0.0

    def look(self, turn: int, ends: float) -> None:
        """Let cheap cycles join, one for each contradicted margin that has one, as far as time allows.

        In the first rounds nearly all cycles are cheap, so every fourth agent, then every second, is enough to find
        some: what such a round costs is in proportion.
        """
        thin = max(1, 4 >> turn // 4)
        m, size = len(self.row) - 1, len(self.up)
        reach, arc, source = np.empty(m, np.float32), np.empty(m, np.int32), np.empty(m, np.int32)
        found, end, todo = np.empty(8 * size + m, np.int32), np.empty(size, np.int64), np.empty(m, np.int32)
        price, count = self.price.copy(), 0
        for first, last in pairwise(np.linspace(0, m, _PIECES + 1).astype(np.int64).tolist()):
            count = linear_ordering.cheap_cycles(
                self.row, self.down, self.back, self.up, self.scaled, price, thin, turn % thin, first, last,
                reach, arc, source, todo, found, end, count,
            )  # fmt: skip
            if time.monotonic() > ends:
                break
        if count:
            self.arcs = np.concatenate([self.arcs, found[: end[count - 1]]])
            self.start = np.concatenate([self.start, self.start[-1] + end[:count]])
            self.weight = np.concatenate([self.weight, np.zeros(count, dtype=np.float32)])

    def balance(self) -> None:
        """Weigh the cycles against each other, and forget those that turn out too dear."""
        many = np.bincount(self.arcs, minlength=len(self.margin))
        share = (1 / np.maximum(many, 1)).astype(np.float32)
        load, before = self.load().astype(np.float32), np.empty(len(share), dtype=np.float32)
        linear_ordering.balance(
            self.start, self.arcs, self.weight, self.scaled, self.price, share, load, before, _STEPS
        )
        cost = np.add.reduceat(self.price[self.arcs], self.start[:-1]) if len(self.weight) else self.weight
        keep = (self.weight > 0) | (cost < _COSTLY)
        length = np.diff(self.start)
        self.arcs, self.weight = self.arcs[np.repeat(keep, length)], self.weight[keep]
        self.start = np.concatenate([[0], np.cumsum(length[keep])])

    def load(self) -> Floats:
        """The weights of the cycles through each margin."""
        return sum_by(self.arcs, np.repeat(self.weight, np.diff(self.start)), len(self.margin))

    def bound(self) -> float:
        """What these weights prove, in double precision whatever the kernels used; less what may be rounding."""
        over = np.maximum(self.load() * self.unit - self.margin, 0).sum()
        return float((self.weight.sum(dtype=np.float64) * self.unit - over) * (1 - 1e-9))

    def triples(self) -> Ints:
        """The 3-cycles that cycles with weight are made of: rows (i, j, k, 1), i above j above k, as a program cuts.

        A longer cycle is a fan of 3-cycles around its highest agent, the inequalities of which add up to its own.
        """
        m, length = len(self.row) - 1, np.diff(self.start)
        inner = np.repeat(self.weight > 0, length)
        inner[self.start[:-1]] = inner[self.start[1:] - 1] = False  # the arc up, and the first one down from its end
        middle = np.repeat(np.arange(m), np.diff(self.row))
        top = np.repeat(np.arange(m), np.diff(self.back))[self.arcs[self.start[:-1]] - len(self.down)]
        arc = self.arcs[inner]
        key = np.unique((np.repeat(top, length)[inner] * m + middle[arc]) * m + self.down[arc])
        return np.stack([key // m**2, key // m % m, key % m, np.ones_like(key)], axis=1)


def _rows(left: Ints, m: int) -> Ints:
    """Where the row of each agent starts among pairs sorted by `left`."""
    return np.concatenate([[0], np.cumsum(np.bincount(left, minlength=m))])
