"""Intervals of ratings and of ranks from samples of ratings.

A rank interval answers: where could this agent stand? Its best plausible rank counts only the agents that are surely
above it, its worst one leaves out only those that are surely below, sure meaning by a share of the samples that
`surely_above` derives. Why not the tails of the ranks in the samples: ranks come in steps, and both ends of an interval
let in a whole step; and in a resample all agents move at once, around an order in which they have moved already. How
often both kinds of intervals hold the true rank is measured by ``benchmarks/rank_intervals.py``.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from softcondorcet.arrays import Floats, Ints


def cut(samples: Floats, below: Floats | float, above: Floats | float) -> tuple[Floats, Floats]:
    """Of each agent, the lowest and highest sample left when these shares of them are cut off below and above.

    Whole samples are cut, and no number between two samples is made up. nan are no samples; an agent without samples
    has nan.
    """
    known = (~np.isnan(samples)).sum(axis=0)
    agent, ordered = np.arange(samples.shape[1]), np.sort(samples, axis=0)  # nan comes last
    first, last = (np.floor(share * known + 1e-9).astype(np.int64) for share in (below, above))
    most = np.maximum(known - 1, 0)
    return ordered[np.minimum(first, most), agent], ordered[np.maximum(most - last, 0), agent]


def bca_tails(level: float, below: Floats, skew: Floats) -> tuple[Floats, Floats]:
    """The shares of samples that BCa intervals leave out below and above, by agent (Efron, 1987).

    With z0 the normal quantile of `below`, the share of samples below the fit, and a the acceleration `skew`, the tail
    of normal quantile z is cut where Phi(z0 + (z0 + z) / (1 - a (z0 + z))) of the samples are below. A fit outside all
    samples counts as one in a thousand from their edge, so that z0 stays finite.
    """
    normal = NormalDist()
    z0 = np.array([normal.inv_cdf(min(max(share, 1e-3), 1 - 1e-3)) for share in below.tolist()])
    shares = np.empty((2, len(below)))
    for k, tail in enumerate(((1 - level) / 2, (1 + level) / 2)):
        z = z0 + normal.inv_cdf(tail)
        shares[k] = [normal.cdf(value) for value in (z0 + z / np.maximum(1 - skew * z, 0.1)).tolist()]
    return shares[0], 1 - shares[1]


def surely_above(level: float) -> float:
    """The share of samples in which another agent must be above this one to be counted above it: 0.917 at level 0.95.

    An interval of one rating reaches z of its deviations to either side, z the normal quantile of the level. The
    difference of two ratings, each as uncertain as the other, scatters by the root of two as much as one; so where one
    is z of its own deviations off, the difference is z / sqrt(2) of its own: Phi(z / sqrt(2)).
    """
    normal = NormalDist()
    return normal.cdf(normal.inv_cdf((1 + level) / 2) / math.sqrt(2))


def shares_above(mine: Floats, theirs: Floats) -> tuple[Floats, Ints]:
    """The share of samples in which the one is above each of the others, equal as half, and how many have both."""
    above, below = (mine > theirs).sum(axis=0), (mine < theirs).sum(axis=0)
    both = (~np.isnan(mine) & ~np.isnan(theirs)).sum(axis=0)
    return (both + above - below) / np.where(both, 2.0 * both, np.nan), both


def chances_above(mine: Floats, theirs: Floats, seen: Floats) -> Floats:
    """The same, with one undecided comparison more than were `seen`, or than samples have both if these are fewer."""
    share, both = shares_above(mine, theirs)
    known = np.minimum(seen, both)
    chance: Floats = (known * np.nan_to_num(share, nan=0.5) + 0.5) / (known + 1)
    return chance


def number_above(values: Floats, limit: Floats) -> Ints:
    """How many of the values are above each limit."""
    return len(values) - np.searchsorted(np.sort(values), limit, side="right")
