"""All optimal orders: how many there are, which they are, and which is nearest to a given one.

Where several orders contradict the votes equally little, the distance to "the" optimum depends on which one a solver
happens to show. Here the optima are counted and compared with exactly, by the dynamic program of ``solvers.subsets``.

Cut the agents into blocks such that every agent of a block beats every agent of the blocks below. Any optimal order
puts the blocks one below the other, so its count is the product of the counts of the blocks. Agents whose margin is
zero, or that were never compared, may stand either way round, so they share a block. Cost: O(2^c c^2) for a block of
c agents, at most 20.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, product
from math import prod

import numpy as np

from softcondorcet.arrays import Floats, Ints
from softcondorcet.checks import check, natural
from softcondorcet.errors import DataError
from softcondorcet.methods.result import Data
from softcondorcet.metrics import kendall_tau_distance
from softcondorcet.pairs import Pairs, as_pairs
from softcondorcet.ratings import Ratings
from softcondorcet.solvers.components import margin_matrix, unavoidable
from softcondorcet.solvers.subsets import SUBSETS, Subsets, distances

# Up to this many agents a matrix of margins is small; above, a block of at most 20 agents is not to be expected.
_MATRIX = 2_000


@dataclass(frozen=True)
class Optima:
    """The orders with the smallest discrete loss: what it is, how many there are, and the first of them.

    `may_swap` are the pairs of agents that stand one way round in some of them, and the other way round in others.
    """

    loss: float
    count: int
    orders: list[list[str]]
    may_swap: list[tuple[str, str]]


def optimal_orders(data: Data, *, most: int = 100) -> Optima:
    """Count the optimal orders of the votes and list at most `most` of them.

    >>> from softcondorcet import Profile
    >>> found = optimal_orders(Profile.from_rankings([["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]]))
    >>> found.count, found.loss, found.orders
    (3, 4.0, [['a', 'b', 'c'], ['b', 'c', 'a'], ['c', 'a', 'b']])
    """
    pairs = as_pairs(data)
    natural("most", most)
    blocks = [(members, Subsets(margin)) for members, margin in _blocks(pairs)]
    listed = islice(product(*(list(islice(few.orders(), most)) for _, few in blocks)), most)
    return Optima(
        unavoidable(pairs) + sum(few.loss for _, few in blocks),
        prod(few.count() for _, few in blocks),
        [
            [pairs.agents[members[k]] for (members, _), part in zip(blocks, parts, strict=True) for k in part]
            for parts in listed
        ],
        [
            (pairs.agents[members[a]], pairs.agents[members[b]])
            for members, few in blocks
            for a, b in np.argwhere(np.triu(few.both_ways(), 1)).tolist()
        ],
    )


def counted(data: Data, board: Ratings) -> Ratings:
    """The same ratings with the number of optimal orders and the pairs that may swap, if the order is one of several.

    They stay as they are where the order is the only one, or not optimal, or where agents are too many to count.

    >>> from softcondorcet import Profile, kemeny
    >>> votes = Profile.from_rankings([["a", "b", "c"], ["a", "c", "b"]])
    >>> counted(votes, kemeny(votes)).may_swap
    (('b', 'c'),)
    """
    if board.gap is None or board.gap > 0 or board.only_optimum:
        return board
    try:
        optima = optimal_orders(data, most=0)
    except DataError:  # too many agents are linked by cycles, level margins or missing comparisons
        return board
    swaps = tuple(optima.may_swap)
    return replace(board, only_optimum=optima.count == 1, optimal_orders=optima.count, may_swap=swaps)


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
    order = [
        members[k] for members, margin in _blocks(pairs) for k in Subsets(margin).nearest(distances(values[members]))
    ]
    names = [pairs.agents[k] for k in order]
    return names, kendall_tau_distance(board, names)


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
