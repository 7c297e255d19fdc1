"""Ranked pairs (Tideman): lock the victories from the largest margin down, unless one closes a cycle.

What is locked has no cycle. Where every pair has a margin it is a full order: a pair that is not locked goes against a
path of larger or equal margins that is. Where pairs were never compared, or are level, agents may stay without an
order; a rating counts the agents below along locked pairs, plus half of those neither above nor below (``result``).

Equal margins need a rule, and on sparse data nearly all are equal. Here the pair goes first whose winner has the
greater lead over its loser in net margin (the sum of an agent's margins, which orders complete votes as Borda does);
pairs equal in that too go in the order in which the agents are listed: only there does the listing matter.

Whether an edge closes a cycle is found by a search between two places of an order that all locked edges follow, kept
up to date (``kernels.voting``; after Pearce and Kelly, 2006, and Bender, Fineman, Gilbert and Tarjan, 2015). It
starts with the strongly connected components of the majority one below the other. An edge between components is on no
cycle and leads forward; agents move only inside their component. So memory is that of the pairs, and no matrix is
needed.

Cost: a sort of the pairs, O(p log p), then mostly O(1) per pair; the searches make it about O(m^3) on complete votes
that are pure noise.
"""

from __future__ import annotations

import numpy as np

from softcondorcet.arrays import Flags, Ints, sum_by
from softcondorcet.kernels import voting
from softcondorcet.majority import strong_labels, victories
from softcondorcet.methods.result import Data, rated, reach_counts, standing
from softcondorcet.pairs import Pairs, as_pairs
from softcondorcet.ratings import Ratings


def ranked_pairs(data: Data) -> Ratings:
    """Places from the bottom in the order of locked pairs.

    >>> from softcondorcet import Profile
    >>> cycle = Profile.from_rankings([["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]], weights=[4, 3, 2])
    >>> ranked_pairs(cycle).order
    ['a', 'b', 'c']
    """
    pairs = as_pairs(data)
    winner, loser = sorted_victories(pairs)
    locked, place = lock(winner, loser, strong_labels(pairs, by="majority"))
    return rated(data, standing(*reach_counts(winner[locked], loser[locked], place)), "ranked_pairs", {})


def sorted_victories(pairs: Pairs) -> tuple[Ints, Ints]:
    """Winners and losers, the largest margin first."""
    winner, loser = victories(pairs)
    margin = np.abs(np.concatenate([pairs.margin[pairs.margin > 0], pairs.margin[pairs.margin < 0]]))
    m = pairs.n_agents
    net = sum_by(winner, margin, m) - sum_by(loser, margin, m)
    turn = np.lexsort((loser, winner, net[loser] - net[winner], -margin))
    return winner[turn], loser[turn]


def lock(winner: Ints, loser: Ints, label: Ints) -> tuple[Flags, Ints]:
    """Which edges are locked, and a place for each agent that all locked edges lead down from."""
    m, edges = len(label), len(winner)
    at = np.argsort(label, kind="stable").astype(np.int32)
    place, locked = np.empty(m, dtype=np.int32), np.zeros(edges, dtype=bool)
    place[at] = np.arange(m)
    row = np.zeros((2, m + 1), dtype=np.int64)
    for d, ends in enumerate((winner, loser)):
        np.cumsum(np.bincount(ends, minlength=m), out=row[d, 1:])
    partner, found = np.empty((2, edges), dtype=np.int32), np.empty((2, m), dtype=np.int32)
    filled, seen = np.zeros((2, m), dtype=np.int64), np.zeros((2, 3), dtype=np.int64)
    side = np.zeros(m, dtype=np.int8)
    voting.lock(winner, loser, at, place, row, partner, filled, side, found, seen, locked)
    return locked, place
