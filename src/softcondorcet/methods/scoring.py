"""Approval, plurality and Borda: every vote hands out points, the points add up.

Approval by places gives a point to each of the first k agents of a vote; plurality is k = 1. Borda gives an agent one
point for each agent below it in the vote. Points are multiplied by the weight of the vote. Cost: one pass over the
votes, or over the pairs for Borda.

When they mislead: points add up, so an agent that stands in more votes gets more of them, whatever its place; on
sparse data that counts how often agents were seen. None of them promises to put a Condorcet winner first.
"""

from __future__ import annotations

import numpy as np

from softcondorcet.arrays import Floats, sum_by
from softcondorcet.methods.outcome import Data, rated
from softcondorcet.options import whole
from softcondorcet.pairs import as_pairs
from softcondorcet.profile import Profile, as_profile
from softcondorcet.ratings import Ratings

_WHOLE_VOTES = "a Profile; pairs do not say who stood where in a vote"


def approval(data: Profile, *, k: int = 1) -> Ratings:
    """The weight of the votes that have an agent among their first `k`.

    A tier that begins within the first k places and ends after them shares what is left of the k points equally.

    >>> board = approval(Profile.from_rankings([["a", "b", "c"], ["b", ["a", "c"]]]), k=2)
    >>> board["a"], board["b"], board["c"]
    (1.5, 2.0, 0.5)
    """
    profile = as_profile(data, _WHOLE_VOTES)
    whole("k", k)
    return rated(profile, points_of_first(profile, k), "approval", {"k": int(k)})


def plurality(data: Profile) -> Ratings:
    """The weight of the votes that have an agent on top; agents tied on top share the vote equally.

    >>> plurality(Profile.from_rankings([["a", "b"], [["b", "c"], "a"]]))["c"]
    0.5
    """
    profile = as_profile(data, _WHOLE_VOTES)
    return rated(profile, points_of_first(profile, 1), "plurality", {})


def borda(data: Data) -> Ratings:
    """One point for each agent below in a vote, half a point for each agent tied.

    That is the usual count of places from the bottom of the vote, tied agents getting the mean of theirs; agents that
    are not in the vote neither give nor get points.

    >>> board = borda(Profile.from_rankings([["a", "b", "c"], ["b", ["a", "c"]]]))
    >>> board["a"], board["b"], board["c"]
    (2.5, 3.0, 0.5)
    """
    return rated(data, borda_points(data), "borda", {})


def borda_points(data: Data) -> Floats:
    """Wins plus half the ties, summed over the pairs of each agent."""
    pairs = as_pairs(data)
    m, half = pairs.n_agents, pairs.ties / 2
    return sum_by(pairs.left, pairs.wins + half, m) + sum_by(pairs.right, pairs.losses + half, m)


def points_of_first(profile: Profile, k: int) -> Floats:
    """Points of each agent when the first k places of a vote have one each."""
    vote = np.repeat(np.arange(profile.n_votes), profile.length)
    first = np.ones(len(vote), dtype=bool)  # of its tier
    first[1:] = (np.diff(vote) != 0) | (np.diff(profile.tier) != 0)
    begin = np.flatnonzero(first)
    size = np.diff(begin, append=len(vote))
    above = begin - profile.start[vote[begin]]
    share = np.clip(k - above, 0, size) / size
    points = np.repeat(profile.weight[vote[begin]] * share, size)
    # Thirds do not add up exactly: without rounding, the order of the votes would break ties.
    return np.round(sum_by(profile.agent, points, profile.n_agents), 9)
