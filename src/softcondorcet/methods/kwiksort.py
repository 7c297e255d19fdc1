"""KwikSort (Ailon, Charikar and Newman, Aggregating Inconsistent Information, 2008): quicksort by the majority.

Draw an agent as pivot; those that beat it by majority go above, those it beats below; repeat on both sides. An agent
level with the pivot, or never compared with it, goes to either side by chance. For votes that all hold all agents the
expected loss is at most twice the smallest possible, and 11/7 of it if the best vote may be taken instead.

A Condorcet winner beats every pivot, so it is always first. Cost of a try: O(pairs + m log m), expected.

When it misleads: it looks at who wins a pair, never by how much, and only at pairs with a pivot; on sparse votes most
pairs were never compared and chance decides. Take the best of many tries, or ``insertion_search``, which is as cheap.
"""

from __future__ import annotations

import math

import numpy as np

from softcondorcet.checks import Box, box, natural, whole
from softcondorcet.kernels import voting
from softcondorcet.kernels.batch import seed_state
from softcondorcet.methods.local_search import contradicted_by, evenly
from softcondorcet.methods.result import Data, rated
from softcondorcet.pairs import as_pairs
from softcondorcet.ratings import Ratings
from softcondorcet.seeds import stream


def kwiksort(data: Data, *, tries: int = 20, bounds: Box = (0.0, 100.0), seed: int = 0) -> Ratings:
    """The best of several orders sorted by the majority around random pivots.

    Ratings are evenly spaced in `bounds` along the order; only the order has a meaning.

    >>> from softcondorcet import Profile
    >>> kwiksort(Profile.from_rankings([["A", "B", "C"], ["C", "A", "B"]], weights=[2, 3])).order
    ['C', 'A', 'B']
    """
    pairs = as_pairs(data)
    low, high = box("bounds", bounds)
    whole("tries", tries)
    natural("seed", seed)
    rows, m = pairs.by_agent, pairs.n_agents
    state = seed_state(stream(seed, "pivots"))
    line, hold, stack = np.zeros(m), np.empty(m, dtype=np.int64), np.empty(2 * m + 4, dtype=np.int64)
    best, least = np.arange(m), math.inf
    for _ in range(tries):
        order = np.arange(m)
        voting.pivot_order(rows.row, rows.column, rows.margin, order, line, hold, stack, state)
        loss = contradicted_by(pairs, order)
        if loss < least:
            best, least = order, loss
    options = {"tries": tries, "bounds": [low, high]}
    return rated(data, evenly(pairs, best, (low, high)), "kwiksort", options, seed=seed)
