"""Copeland: how many agents an agent beats, less how many beat it.

A pair of equal margin counts nothing for either, nor does a pair never compared; so 0 is as good as bad. Where every
pair was compared, this orders the agents as "a point for a win, half for a tie" does: that count is (m - 1 +
rating)/2. It keeps that order on sparse data, where counting wins alone would rate those who played most.

A Condorcet winner, with m - 1, is first alone; and no agent outside the Smith set reaches one inside: of m agents, one
in a Smith set of s beats at least m - s and loses to at most s - 1, one outside beats at most m - s - 1 and loses to
s.

When it misleads: a narrow win counts as much as a clear one, and ties are common. O(pairs).
"""

from __future__ import annotations

import numpy as np

from softcondorcet.arrays import sum_by
from softcondorcet.methods.result import Data, rated
from softcondorcet.pairs import as_pairs
from softcondorcet.ratings import Ratings


def copeland(data: Data) -> Ratings:
    """Agents beaten minus agents beaten by.

    >>> from softcondorcet import Profile
    >>> copeland(Profile.from_rankings([["a", "b", "c"], ["a", "c", "b"]])).values.tolist()
    [2.0, -1.0, -1.0]
    """
    pairs = as_pairs(data)
    won, m = np.sign(pairs.margin), pairs.n_agents
    return rated(data, sum_by(pairs.left, won, m) - sum_by(pairs.right, won, m), "copeland", {})
