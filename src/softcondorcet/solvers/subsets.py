"""Orders of a few agents by dynamic programming over subsets: the least loss, every order that has it, and one of them.

Where several orders contradict the votes equally little, which of them is taken must not depend on the names of the
agents or on the order of the votes. So the one is taken that is nearest to given ratings, by the pairs that it has the
other way round; of several as near, the one that moves agents least far, first from the ratings, then from the sums of
their margins. Turned votes turn all of that round. Only where the agents stand in a cycle that the votes turn into
itself, as in Condorcet's paradox, does no such rule choose: then the first by name goes first.

Cost: O(2^c c) for c agents, at most 20; where several orders are optimal, O(c^2) more for each set of agents that
stands on top of one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from softcondorcet.arrays import Flags, Floats, Ints
from softcondorcet.exact_sums import in_steps, level
from softcondorcet.kernels import linear_ordering

# 2^20 subsets take 8 MB and less than a tenth of a second.
SUBSETS = 20
# Losses of margins without a common step are equal if they differ by less than this share of them, which is rounding:
# they are sums of up to 190 numbers, none of them negative.
_ROUNDING = 1e-13
# Above any sum of differences of ranks over the pairs of 20 agents, which is at most 1,330.
_BASE = 2048.0


class Subsets:
    """The optimal orders of a few agents, by their matrix of margins. `cost[a, b]` is what placing a below b costs."""

    def __init__(self, margin: Floats) -> None:
        scaled, self.unit, whole = in_steps(margin)
        self.cost = np.maximum(scaled, 0)
        self.within = 1.0 if whole else 1 + _ROUNDING
        self.best = linear_ordering.subset_losses(self.cost)

    @property
    def loss(self) -> float:
        return float(self.best[-1]) * self.unit

    @cached_property
    def one(self) -> tuple[list[int], bool]:
        """An optimal order, and whether it is the only one: then no step of it, from the last place up, has another."""
        order, rest, only = [], len(self.best) - 1, True
        while rest:
            inside, below, optimal = self._last(rest)
            only = only and int(optimal.sum()) == 1
            last = int(np.argmax(optimal))
            order.append(int(inside[last]))
            rest = int(below[last])
        return order[::-1], only

    def count(self) -> int:
        return int(self._filled(np.zeros_like(self.cost))[0][-1])

    def nearest(self, above: Floats, names: Sequence[str] = ()) -> list[int]:
        """The optimal order with the least sum of above[a, b] over a placed below b; of several, the first by name."""
        far = self._filled(above)[1]
        name = np.argsort(np.argsort(names)) if names else np.arange(len(above))
        order, rest = [], len(self.best) - 1
        while rest:
            inside, below, optimal = self._last(rest)
            total = np.where(optimal, far[below] + above[np.ix_(inside, inside)].sum(axis=1), np.inf)
            last = int(np.lexsort((-name[inside], total))[0])
            order.append(int(inside[last]))
            rest = int(below[last])
        return order[::-1]

    def orders(self) -> Iterator[tuple[int, ...]]:
        """Every optimal order, sorted: an agent may be first if what is left then can be ordered well enough."""

        def orders_of(rest: int) -> Iterator[tuple[int, ...]]:
            if not rest:
                yield ()
            for a in range(len(self.cost)):
                below = rest ^ (1 << a)
                if below < rest and self.best[below] + self._on_top(a, below) <= self.best[rest] * self.within:
                    for others in orders_of(below):
                        yield (a, *others)

        yield from orders_of(len(self.best) - 1)

    def both_ways(self) -> Flags:
        """Of each two agents, whether some optimal orders have the one above, and some the other."""
        above = self._optima[1]
        return above & above.T

    def _last(self, rest: int) -> tuple[Ints, Ints, Flags]:
        """The agents of a subset, the subset without each, and which of them may stand last in it."""
        inside = np.array([a for a in range(len(self.cost)) if rest >> a & 1])
        below = rest ^ (1 << inside)
        lost = self.cost[np.ix_(inside, inside)].sum(axis=1)
        return inside, below, self.best[below] + lost <= self.best[rest] * self.within

    def _filled(self, above: Floats) -> tuple[Ints, Floats]:
        count, far = np.zeros(len(self.best), dtype=np.int64), np.zeros(len(self.best))
        linear_ordering.fill_optima(self.cost, self.best, self.within, above, self._optima[0], count, far)
        return count, far

    @cached_property
    def _optima(self) -> tuple[Flags, Flags]:
        """The subsets that an optimal order begins with, and who stands above whom in any."""
        c = len(self.cost)
        reached, above = np.zeros(1 << c, dtype=bool), np.zeros((c, c), dtype=bool)
        linear_ordering.mark_optima(self.cost, self.best, self.within, reached, above)
        return reached, above

    def _on_top(self, a: int, below: int) -> float:
        return float(sum(self.cost[b, a] for b in range(len(self.cost)) if below >> b & 1))


def distances(values: Floats) -> Floats:
    """What it is to place a below b, by the pairs of `values` that this turns round; an equal pair is half of one."""
    above: Floats = (1 + np.sign(np.subtract.outer(values, values))) / 2
    np.fill_diagonal(above, 0)
    return above


def choose(margin: Floats, values: Floats, names: Sequence[str]) -> tuple[list[int], bool]:
    """One optimal order of a few agents, near `values`, by no name if that can be; and whether it is the only one.

    Of each criterion the whole numbers are digits of one number, so that all are minimised at once, exactly.
    """
    few = Subsets(margin)
    order, only = few.one
    if not only:
        sums = in_steps(margin)[0].sum(axis=1)
        near, borda = _ranks(values), _ranks(level(sums, 1e-9 * float(np.abs(sums).max())))
        turned = np.maximum(np.sign(np.subtract.outer(near, near)), 0)
        steps = [np.maximum(np.subtract.outer(rank, rank), 0) for rank in (near, borda)]
        order = few.nearest((turned * _BASE + steps[0]) * _BASE + steps[1], names)
    return order, only


def _ranks(values: Floats) -> Floats:
    return np.unique(values, return_inverse=True)[1].astype(float)
