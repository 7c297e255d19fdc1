"""Position bias: does being shown first help? Battles keep which agent came first (``Profile.turned``)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from softcondorcet.arrays import sum_by
from softcondorcet.doctor.comparisons import Case
from softcondorcet.doctor.finding import FEWEST, Finding, Unchecked, critical

# A win share that shifts by less than two points moves no order where agents change sides.
_MATTERS = 0.02


def position_bias(case: Case) -> Iterator[Finding]:
    """Does an agent win more against the same rival when it is shown first?

    Each pair of agents is a table of its own: results when the one or the other was shown first. If the position did
    not matter, the results of the first kind would have the mean of both, with the variance of a draw without return
    (Mantel and Haenszel, 1959); so agents may differ in strength and in how often they are shown first.
    """
    profile = case.profile
    if profile.turned is None:
        raise Unchecked("votes do not say who was shown first")
    each, pairs = case.comparisons, case.tally
    battle = profile.length[each.vote] == 2
    size = len(pairs)
    # The agent of the smaller number is shown first if it is the first entry and these are not turned, or both not.
    leads = (each.entry[0] == profile.start[each.vote]) != profile.turned[each.vote]
    pair, count, result = each.pair[battle], each.count[battle], each.result[battle]
    first = count * leads[battle]
    total, ahead = sum_by(pair, count, size), sum_by(pair, first, size)
    mean = sum_by(pair, count * result, size) / np.maximum(total, 1)
    variance = sum_by(pair, count * result**2, size) / np.maximum(total, 1) - mean**2
    both_ways = ahead * (total - ahead) / np.maximum(total, 1)
    if both_ways.sum() < FEWEST:
        raise Unchecked("too few pairs of agents were shown both ways round")
    more = float(sum_by(pair, first * result, size).sum() - (ahead * mean).sum())
    spread = float(np.sqrt((ahead * (total - ahead) / np.maximum(total - 1, 1) * variance).sum()))
    shift = more / float(both_ways.sum()) / 2
    if spread > 0 and abs(more) / spread > critical(1, sides=2) and abs(shift) > _MATTERS:
        side = "first" if shift > 0 else "second"
        share = 100 * (0.5 + abs(shift))
        text = f"shown {side}, an agent wins {share:.0f} % of battles that would be even (z = {abs(more) / spread:.1f})"
        advice = (
            "Show each pair both ways round equally often, or judge each battle twice and keep what agrees; "
            "'sco rank FILE --control first' takes it out of the ratings."
        )
        yield Finding("caution", "position-bias", round(shift, 6), text, advice)
