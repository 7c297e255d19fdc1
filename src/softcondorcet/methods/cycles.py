"""A lower bound on what any order contradicts, from cycles of the majority: for components too large for a program.

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
from itertools import pairwise

import numpy as np

from softcondorcet.arrays import Floats, Ints, sum_by
from softcondorcet.kernels import cycles
from softcondorcet.pairs import Pairs

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
        bound += cycles.packed_cycles(rows.row, rows.column, place, left, first, last)
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
            count = cycles.cheap_cycles(
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
        cycles.balance(self.start, self.arcs, self.weight, self.scaled, self.price, share, load, before, _STEPS)
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
