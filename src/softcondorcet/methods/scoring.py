"""Approval, plurality, Borda and the win rate: every vote hands out points, the points add up.

Approval by places gives a point to each of the first k agents of a vote; plurality is k = 1. Borda gives an agent one
point for each agent below it in the vote. The win rate divides Borda's points by the comparisons that the agent is in.
Points are multiplied by the weight of the vote. Cost: one pass over the votes, or over the pairs for Borda.

When they mislead: points add up, so an agent that stands in more votes gets more of them, whatever its place; on
sparse data that counts how often agents were seen. The win rate does not, but it asks nobody whom an agent beat: who
met weak ones is high. None of them promises to put a Condorcet winner first.
"""

from __future__ import annotations

import numpy as np

from softcondorcet.arrays import Floats, sum_by
from softcondorcet.checks import whole
from softcondorcet.exact_sums import exact, in_units, level
from softcondorcet.methods.result import Data, rated
from softcondorcet.pairs import as_pairs
from softcondorcet.profile import Profile, as_profile
from softcondorcet.ratings import Ratings

# Points that differ by less than this share of the largest are equal: pairs may hold sums that were rounded.
_ROUNDED = 1e-14
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


def win_rate(data: Data) -> Ratings:
    """The share of its comparisons that an agent won, ties as half; one half for an agent in no comparison.

    >>> board = win_rate(Profile.from_rankings([["a", "b", "c"], ["b", ["a", "c"]]]))
    >>> board["a"], board["b"], board["c"]
    (0.625, 0.75, 0.125)
    """
    pairs = as_pairs(data)
    met = pairs.wins + pairs.losses + pairs.ties
    total = sum_by(pairs.left, met, pairs.n_agents) + sum_by(pairs.right, met, pairs.n_agents)
    rate = np.divide(borda_points(data), total, out=np.full(pairs.n_agents, 0.5), where=total > 0)
    return rated(data, level(rate, 1e-12), "win_rate", {})


def borda_points(data: Data) -> Floats:
    """Wins plus half the ties, summed over the pairs of each agent."""
    pairs = as_pairs(data)
    m, step = pairs.n_agents, 1.0
    wins, losses, ties = pairs.wins, pairs.losses, pairs.ties
    if not all(bool((np.rint(counts) == counts).all()) for counts in (wins, losses, ties)):
        steps, step = exact(np.concatenate([wins, losses, ties]))
        wins, losses, ties = np.split(steps, 3)
    points = sum_by(pairs.left, wins + ties / 2, m) + sum_by(pairs.right, losses + ties / 2, m)
    return in_units(level(points, _ROUNDED * float(points.max(initial=0.0))), step)


def points_of_first(profile: Profile, k: int) -> Floats:
    """Points of each agent when the first k places of a vote have one each."""
    vote = np.repeat(np.arange(profile.n_votes), profile.length)
    first = np.ones(len(vote), dtype=bool)  # of its tier
    first[1:] = (np.diff(vote) != 0) | (np.diff(profile.tier) != 0)
    begin = np.flatnonzero(first)
    size = np.diff(begin, append=len(vote))
    above = begin - profile.start[vote[begin]]
    weight, step = exact(profile.weight)
    points = weight[vote[begin]] * np.clip(k - above, 0, size)
    # Thirds do not add up exactly: so whole points are added up, those of each size of a tie, and then divided.
    m, total = profile.n_agents, np.zeros(profile.n_agents)
    for n in np.unique(size[points > 0]):
        shared = size == n
        entries = np.repeat(shared, size)
        total += sum_by(profile.agent[entries], np.repeat(points[shared], n), m) / n
    return in_units(level(total, 1e-12 * float(points.sum())), step)
