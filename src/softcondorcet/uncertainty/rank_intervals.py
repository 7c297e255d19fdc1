"""Rank intervals: the best and the worst plausible rank of each agent.

A rank interval answers: where could this agent stand? Its best plausible rank counts only the agents that are surely
above it, its worst one leaves out only those that are surely below, sure meaning by a share of the samples that
`surely_above` derives. Why not the tails of the ranks in the samples: ranks come in steps, and both ends of an interval
let in a whole step; and in a resample all agents move at once, around an order in which they have moved already. How
often both kinds of intervals hold the true rank is measured by ``benchmarks/rank_intervals.py``.

Each interval holds its agent's rank at the level. Where all are to hold *at once* ("all"), every statement "a is above
b" that one of them makes must be right at once. In each sample the largest number of deviations is taken by which any
pair is off its mean (max-t): the quantile of these at the level is the number of deviations from which on a lead is
sure, by the samples and by the likelihood. Above some thousand agents it is Bonferroni's for as many pairs.

Of samples that stand for new ones, such as one task each ("new"), the interval holds the ranks that they have but for
the tails, and all ranks for an agent of which there are too few.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal

import numpy as np

from softcondorcet.arrays import Floats, Ints
from softcondorcet.solvers.laplace import normal_below

if TYPE_CHECKING:
    from softcondorcet.uncertainty.intervals import Uncertainty

Ranges = Literal["each", "all", "new"]
# Comparisons, or samples of their own, that say nothing about a rank, however they ended.
_TOO_FEW = 5
# Up to so many agents each is held against every other; beyond, against some of them, to count those above and below:
# fewer for an agent without a place, whose range is more than half of the ranks.
_MATRIX, _BESIDE, _ROUGHLY = 2_000, 500, 100
# Samples of pairs that are looked at in one go.
_AT_ONCE = 2_000_000


def surely_above(level: float) -> float:
    """The share of samples in which another agent must be above this one to be counted above it: 0.917 at level 0.95.

    An interval of one rating reaches z of its deviations to either side, z the normal quantile of the level. The
    difference of two ratings, each as uncertain as the other, scatters by the root of two as much as one; so where one
    is z of its own deviations off, the difference is z / sqrt(2) of its own: Phi(z / sqrt(2)).
    """
    normal = NormalDist()
    return normal.cdf(normal.inv_cdf((1 + level) / 2) / math.sqrt(2))


def number_above(values: Floats, limit: Floats) -> Ints:
    """How many of the values are above each limit."""
    return len(values) - np.searchsorted(np.sort(values), limit, side="right")


def rank_intervals(found: Uncertainty) -> tuple[Ints, Ints]:
    """By those surely above and below, of all that count or, where they are many, of some all along the order.

    Agents with a place are held against all that comparisons link to them, one without a place against everybody.
    """
    m, placed, values = len(found.board), found.placed, found.board.values
    if found.ranges == "new":
        return _new_ranks(found)
    ranks = np.where(placed, 1 + number_above(values[placed], values), found.board.ranks)
    low, high = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64)
    order, inside = found.board.index, placed[found.board.index]
    linked = order[np.isin(found.group[order], found.group[placed])]
    reach = _joint_reach(found) if found.ranges == "all" else None
    for whose, among, beside in ((order[inside], linked, _BESIDE), (order[~inside], order, _ROUGHLY)):
        low[whose], high[whose] = _among(found, whose, among, beside, reach)
    return np.minimum(low, ranks), np.maximum(high, ranks)


def _among(found: Uncertainty, whose: Ints, others: Ints, beside: int, reach: float | None) -> tuple[Ints, Ints]:
    """Of some agents, among others, or where these are many `beside` of them.

    `reach` is how many deviations of a lead are sure, where all hold at once.
    """
    size = len(others)
    others = others[:: 1 if size <= _MATRIX else math.ceil(size / beside)]
    each = size / max(len(others), 1)
    above, below = np.empty(len(whose)), np.empty(len(whose))
    some = max(1, _AT_ONCE // max(len(found) * len(others), 1))
    for first in range(0, len(whose), some):
        part = slice(first, first + some)
        a, b = whose[part, None], others[None, :]
        if reach is None:
            chance, sure = found.confidence(a, b), _surely(found, a, b)
        else:
            chance, sure = 0.5 + _lead(found, a, b) / (2 * reach), 1.0
        if found.evidence is not None:
            chance[np.minimum(found.comparisons[a], found.comparisons[b]) <= _TOO_FEW] = np.nan
        above[part], below[part] = each * (chance <= 1 - sure).sum(axis=1), each * (chance >= sure).sum(axis=1)
    return 1 + np.round(above).astype(np.int64), size - np.round(below).astype(np.int64)


def _surely(found: Uncertainty, a: Ints, others: Ints) -> Floats | float:
    """From which chance on agent a counts as above another, for rank intervals: see ``surely_above``.

    Where the likelihood is asked too, the one of the two that is known less decides how far its interval reaches: z of
    its own deviations, which is all of the difference's where the other is known well.
    """
    if found.evidence is None:
        return surely_above(found.level)
    own, theirs = found.evidence.sd[a], found.evidence.sd[others]
    reach = NormalDist().inv_cdf(found.sure) * np.maximum(own, theirs) / np.hypot(own, theirs)
    return normal_below(reach)


def _lead(found: Uncertainty, a: Ints, others: Ints) -> Floats:
    """By how many deviations agent a leads each of the others: the less sure of the samples and of the likelihood.

    nan where comparisons never link the two.
    """
    values = found.board.values
    lead = _deviations(values[a] - values[others], _spread(found, a, others))
    if found.evidence is not None:
        other = found.evidence.leads(a, others)
        lead = np.where(lead * other > 0, np.sign(lead) * np.minimum(np.abs(lead), np.abs(other)), 0.0)
    return np.where(found.group[others] == found.group[a], lead, np.nan)


def _spread(found: Uncertainty, a: Ints, others: Ints) -> Floats:
    spread: Floats = (found.filled[:, a] - found.filled[:, others]).std(axis=0)
    return spread


def _deviations(lead: Floats, spread: Floats) -> Floats:
    """Leads in deviations; infinite for one that never varies."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(lead == 0, 0.0, lead / spread)


def _joint_reach(found: Uncertainty) -> float:
    """How many deviations of a lead are sure of all pairs at once."""
    m = len(found.board)
    if m > _MATRIX:
        return -NormalDist().inv_cdf((1 - found.level) / (m * (m - 1)))
    most, everybody = np.zeros(len(found)), np.arange(m)
    for a in range(m):
        others = everybody[a + 1 :][found.group[a + 1 :] == found.group[a]]
        lead = found.filled[:, a, None] - found.filled[:, others]
        off, spread = lead - lead.mean(axis=0), lead.std(axis=0)
        varies = spread > 0
        most = np.maximum(most, (np.abs(off[:, varies]) / spread[varies]).max(axis=1, initial=0.0))
    return max(float(np.quantile(most, found.level, method="higher")), NormalDist().inv_cdf(found.sure))


def _new_ranks(found: Uncertainty) -> tuple[Ints, Ints]:
    """The ranks of each agent in its samples but for the tails; all ranks where it has too few samples."""
    tail, last = (1 - found.level) / 2, max(int(found.placed.sum()), 1)
    low, high = np.empty(len(found.board), dtype=np.int64), np.empty(len(found.board), dtype=np.int64)
    for a in range(len(found.board)):
        ranks = np.sort(found.ranks[~found.absent[:, a], a])
        # One more sample is as likely to be in each of the gaps between those there are.
        out = math.floor(tail * (len(ranks) + 1))
        few = len(ranks) <= _TOO_FEW
        low[a] = 1 if few else ranks[max(out - 1, 0)]
        high[a] = len(found.board) if few and not found.placed[a] else last if few else ranks[-max(out, 1)]
    return low, high
