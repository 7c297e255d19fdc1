"""All optimal orders: how many there are, which they are, and which is nearest to a given one.

Where several orders contradict the votes equally little, the distance to "the" optimum depends on which one a solver
happens to show. Here the optima are counted and compared with exactly, by the dynamic program over subsets of
``optimal``.

Cut the agents into blocks such that every agent of a block beats every agent of the blocks below. Any optimal order
puts the blocks one below the other, so its count is the product of the counts of the blocks. Agents whose margin is
zero, or that were never compared, may stand either way round, so they share a block. Cost: O(2^c c^2) for a block of
c agents, at most 20.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, product
from math import prod

import numpy as np

from softcondorcet.arrays import Floats, Ints
from softcondorcet.errors import DataError
from softcondorcet.kernels import orders
from softcondorcet.methods.optimal import SUBSETS, in_steps, margin_matrix, unavoidable
from softcondorcet.methods.outcome import Data
from softcondorcet.metrics import kendall_tau_distance
from softcondorcet.options import check, natural
from softcondorcet.pairs import Pairs, as_pairs
from softcondorcet.ratings import Ratings

# Up to this many agents a matrix of margins is small; above, a block of at most 20 agents is not to be expected.
_MATRIX = 2_000
# Losses of margins without a common step are equal if they differ by less than this share of them, which is rounding:
# they are sums of up to 190 numbers, none of them negative.
_ROUNDING = 1e-13


@dataclass(frozen=True)
class Optima:
    """The orders with the smallest discrete loss: what it is, how many there are, and the first of them."""

    loss: float
    count: int
    orders: list[list[str]]


def optimal_orders(data: Data, *, most: int = 100) -> Optima:
    """Count the optimal orders of the votes and list at most `most` of them.

    >>> from softcondorcet import Profile
    >>> found = optimal_orders(Profile.from_rankings([["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]]))
    >>> found.count, found.loss, found.orders
    (3, 4.0, [['a', 'b', 'c'], ['b', 'c', 'a'], ['c', 'a', 'b']])
    """
    pairs = as_pairs(data)
    natural("most", most)
    blocks = [_Block(members, margin) for members, margin in _blocks(pairs)]
    listed = islice(product(*(list(islice(block.orders(), most)) for block in blocks)), most)
    return Optima(
        unavoidable(pairs) + sum(block.loss for block in blocks),
        prod(block.count() for block in blocks),
        [[pairs.agents[k] for part in parts for k in part] for parts in listed],
    )


def nearest_optimum(data: Data, board: Ratings) -> tuple[list[str], float]:
    """The optimal order with the smallest Kendall-tau distance to the order of `board`, and that distance.

    >>> from softcondorcet import Profile
    >>> votes = Profile.from_rankings([["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]])
    >>> nearest_optimum(votes, Ratings(("a", "b", "c"), [1, 3, 2], "mine"))
    (['b', 'c', 'a'], 0.0)
    """
    pairs = as_pairs(data)
    check(isinstance(board, Ratings), "board", "Ratings", board)
    values = board.values_of(pairs.agents)
    order = [k for members, margin in _blocks(pairs) for k in _Block(members, margin).nearest(values[members])]
    names = [pairs.agents[k] for k in order]
    return names, kendall_tau_distance(board, names)


class _Block:
    """The optima of a few agents. `cost[a, b]`, in `unit`, is what placing a below b costs.

    Losses up to `within` times the least are equal to it.
    """

    def __init__(self, members: Ints, margin: Floats) -> None:
        scaled, self.unit, whole = in_steps(margin)
        self.members, self.cost = members, np.maximum(scaled, 0)
        self.within = 1.0 if whole else 1 + _ROUNDING
        self.best = orders.subset_losses(self.cost)

    @property
    def loss(self) -> float:
        return float(self.best[-1]) * self.unit

    def count(self) -> int:
        return int(self._filled(np.zeros_like(self.cost))[0][-1])

    def nearest(self, values: Floats) -> list[int]:
        """The optimal order that has the fewest pairs the other way round than `values`, a tie being half of one."""
        above = (1 + np.sign(np.subtract.outer(values, values))) / 2
        np.fill_diagonal(above, 0)
        far = self._filled(above)[1]
        order, rest = [], (1 << len(values)) - 1
        while rest:
            inside = np.array([a for a in range(len(values)) if rest >> a & 1])
            below = rest ^ (1 << inside)
            lost, wrong = (table[np.ix_(inside, inside)].sum(axis=1) for table in (self.cost, above))
            optimal = self.best[below] + lost <= self.best[rest] * self.within
            last = int(np.argmin(np.where(optimal, far[below] + wrong, np.inf)))
            order.append(int(self.members[inside[last]]))
            rest = int(below[last])
        return order[::-1]

    def _filled(self, above: Floats) -> tuple[Ints, Floats]:
        count, far = np.empty(len(self.best), dtype=np.int64), np.empty(len(self.best))
        orders.fill_optima(self.cost, self.best, self.within, above, count, far)
        return count, far

    def orders(self) -> Iterator[tuple[int, ...]]:
        """Every optimal order, sorted: an agent may be first if what is left then can be ordered well enough."""

        def orders_of(rest: int) -> Iterator[tuple[int, ...]]:
            if not rest:
                yield ()
            for a in range(len(self.members)):
                below = rest ^ (1 << a)
                if below < rest and self.best[below] + self._on_top(a, below) <= self.best[rest] * self.within:
                    for others in orders_of(below):
                        yield (int(self.members[a]), *others)

        yield from orders_of((1 << len(self.members)) - 1)

    def _on_top(self, a: int, below: int) -> float:
        return float(sum(self.cost[b, a] for b in range(len(self.members)) if below >> b & 1))


def _blocks(pairs: Pairs) -> Iterator[tuple[Ints, Floats]]:
    """From the top down, agents of each block and their margins. An agent of a block beats all agents of those below.

    Sorted by the number of agents they beat, the members of a set that beats all others come first: each beats all
    outside, and nobody outside beats as many.
    """
    m = pairs.n_agents
    _refuse(m, _MATRIX, "")
    margin = margin_matrix(pairs)
    order = np.argsort(-(margin > 0).sum(axis=1), kind="stable")
    ahead = margin[np.ix_(order, order)] > 0
    not_beaten = np.where(ahead, -1, np.arange(m)).max(axis=1, initial=-1)  # the last such place; at least one's own
    cuts = np.flatnonzero(np.maximum.accumulate(not_beaten) == np.arange(m)) + 1
    for members in np.split(order, cuts[:-1]):
        _refuse(len(members), SUBSETS, " are linked by cycles, level margins or missing comparisons")
        yield np.sort(members), margin[np.ix_(np.sort(members), np.sort(members))]


def _refuse(size: int, limit: int, of: str) -> None:
    if size > limit:
        raise DataError(f"optimal orders: {size:,} agents{of}; expected at most {limit:,}")
