"""Elo, online: one pass over the votes in the order they came (Elo, The Rating of Chessplayers, 1978).

After a battle of a and b, with y = 1, 1/2 or 0 for a win, a tie or a loss of a,

    r_a <- r_a + k (y - p),    r_b <- r_b - k (y - p),    p = 1 / (1 + base^((r_b - r_a) / scale)),

the update of the paper's appendix on Elo: a stochastic gradient step on the loss of Bradley-Terry. A vote of several
agents counts as all its pairs, and all of them are judged by the ratings before the vote, as one gradient step would:
no pair of a vote comes first. A weight multiplies k. Cost: one exponential per pair of a vote.

When it misleads: the result depends on the order of the votes, and late votes weigh most. It never settles: at k = 32
ratings keep moving by tens of points. For a table of results that all count the same, use ``bradley_terry``.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from softcondorcet.arrays import Floats
from softcondorcet.checks import check, not_negative, positive
from softcondorcet.errors import DataError
from softcondorcet.kernels.batch import frozen
from softcondorcet.kernels.bradley_terry import run_elo
from softcondorcet.methods.result import as_votes, rated
from softcondorcet.profile import Profile
from softcondorcet.ratings import Ratings


def elo(data: Profile, *, k: float = 32.0, scale: float = 400.0, base: float = 10.0, start: float = 1000.0) -> Ratings:
    """Elo ratings after one pass over the votes, in their order.

    k: the most that a battle moves a rating. scale, base: a lead of `scale` points makes the odds `base` to 1. start:
    the rating before the first vote, and the mean of all ratings after any number of them.

    >>> battles = Profile.from_rankings([["a", "b"], ["b", "c"], ["a", "c"]])
    >>> elo(battles).values.round().tolist()
    [1030.0, 1001.0, 969.0]
    """
    profile = as_votes(data)
    positive("k", k)
    positive("scale", scale)
    positive("base", base)
    check(base > 1, "base", "a number above 1", base)
    not_negative("start", start)
    unit = scale / math.log(base)
    board = rated(
        profile,
        start + _one_pass(profile, k, unit),
        "elo",
        {"k": k, "scale": scale, "base": base, "start": start},
        steps=profile.n_votes,
        unit=unit,
    )
    return replace(board, warnings=(*board.warnings, *_leaps(profile, k, unit)))


def _one_pass(profile: Profile, k: float, unit: float) -> Floats:
    """The change of each rating after one pass over the votes."""
    ratings, longest = np.zeros(profile.n_agents), int(profile.length.max(initial=0))
    votes = frozen(profile.start, np.int64), frozen(profile.agent, np.int32), frozen(profile.tier, np.int32)
    room = np.empty(longest), np.empty(longest)
    run_elo(ratings, *votes, frozen(profile.weight, np.float64), float(k), unit, *room)
    if not np.isfinite(ratings).all():
        raise DataError(f"weights: up to {profile.weight.max():g}, so that ratings overflow; expected a smaller k")
    return ratings


def _leaps(profile: Profile, k: float, unit: float) -> list[str]:
    """A warning where a vote moves ratings further than it could ask for.

    Expected wins of an agent grow by at most size / (4 unit) per point, so a gradient step longer than the inverse of
    that overshoots: the next vote that says the same would take part of it back.
    """
    too_far = k * profile.weight * profile.length > 4 * unit
    if not too_far.any():
        return []
    most = k / 2 * float((profile.weight * (profile.length - 1)).max())
    return [
        f"{int(too_far.sum()):,} votes are so heavy or long that ratings overshoot, by up to {most:,.0f} points in one "
        "vote; lower k, or use bradley_terry"
    ]
