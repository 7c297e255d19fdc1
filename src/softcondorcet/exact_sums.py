"""Sums of weights that do not depend on the order in which they are added, and which sums are level.

Floats round: 0.1 + 0.2 is not 0.3, and the same weights added in another order may end in another last digit. A tie
that the votes mean would then be broken by the order of the rows. Here weights become whole numbers of a step before
they are added: sums of whole numbers below 2^53 are exact in any order, so what is level is equal, and nothing else is.

The step is 1 for whole weights. Other weights mostly have few digits, up to a factor: then it is the largest number of
which all are multiples, 0.1 for weights of 0.1, 0.2 and 0.3. Weights without such a step are cut to 2^-52 of their sum,
which is what a float of that sum keeps. Only where that would leave fewer than 20 bits of the smallest weight are they
added as they are.
"""

from __future__ import annotations

import numpy as np

from softcondorcet.arrays import Floats

# The largest sum of whole numbers, and the least that a weight keeps of its digits.
_EXACT, _KEPT = 2.0**52, 2.0**20
# Shares that are rounding: of what was added for one difference, and of the largest of all differences.
_NO_VOTE, _ROUNDED = 1e-12, 1e-14
# So many values are tried first: most steps fail on them.
_FEW = 64


def exact(weights: Floats) -> tuple[Floats, float]:
    """Numbers of steps whose sums are exact, and the step.

    >>> exact(np.array([0.1, 0.2, 0.3]))
    (array([1., 2., 3.]), 0.1)
    """
    if (np.rint(weights) == weights).all() and np.abs(weights).sum() < _EXACT:
        return weights, 1.0
    if step := common_step(weights):
        return np.rint(weights / step), step
    size = np.abs(weights)
    step = float(np.ldexp(1.0, int(np.frexp(size.sum())[1]) - 52))
    if step == 0.0 or size[size > 0].min() < _KEPT * step:
        return weights, 1.0
    return np.rint(weights / step), step


def in_units(counts: Floats, step: float) -> Floats:
    """Numbers of steps as numbers again: 3 steps of 0.1 are 0.3."""
    if step == 1.0:
        return counts
    parts = np.rint(1 / step) if 1e-300 < step < 1 else 0.0
    found: Floats = counts / parts if parts * step == 1.0 else counts * step
    return found


def difference(plus: Floats, minus: Floats) -> Floats:
    """Difference of two arrays of sums, exact where all are multiples of a step; else what only rounding left is 0.

    Sums from elsewhere, such as a database, were added as floats: a trillionth of what was added is what a million
    roundings leave, and no vote. Differences that are equal but for as little are equal.
    """
    lead = plus - minus
    if (np.rint(plus) == plus).all() and (np.rint(minus) == minus).all():
        return lead
    if step := common_step(np.concatenate([plus, minus])):
        return in_units(np.rint(lead / step), step)
    lead = np.where(np.abs(lead) <= _NO_VOTE * (plus + minus), 0.0, lead)
    alike: Floats = np.copysign(level(np.abs(lead), _ROUNDED * float(np.abs(lead).max(initial=0.0))), lead)
    return alike


def level(values: Floats, within: float) -> Floats:
    """Values of which those that differ by no more than `within`, step by step, are made equal: all get the middle one.

    >>> level(np.array([0.0, 2.0, 1e-13]), 1e-12)
    array([0., 2., 0.])
    """
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    first = np.flatnonzero(np.append(True, np.diff(ascending) > within))[: len(values)]
    size = np.diff(np.append(first, len(values)))
    same = np.empty(len(values))
    same[order] = np.repeat(ascending[first + (size - 1) // 2], size)
    return same


def in_steps(margin: Floats) -> tuple[Floats, float, bool]:
    """Margins as whole multiples of their common step, or at most 1 where they have none; the unit; whether whole.

    Tolerances and solvers mean numbers of that size, whatever the weights of the votes.
    """
    step = common_step(margin)
    if step:
        return np.round(margin / step), step, True
    # A power of two: nothing is rounded.
    unit = float(np.ldexp(1.0, int(np.frexp(np.abs(margin).max(initial=0.0))[1])))
    return margin / unit, unit, False


def common_step(margin: Floats) -> float:
    """The largest number of which all margins are whole multiples, up to rounding; 0 where there is none.

    Two orders then have the same loss, or losses at least that far apart. Weights mostly have few digits, up to a
    factor: so the digits of the largest margin are tried, twelve of them, and the smallest margin. Numbers of which
    sums would not be exact have no step.
    """
    size = np.abs(margin[margin != 0])
    if not len(size):
        return 0.0
    first = int(np.floor(np.log10(size.max())))
    for unit in (*(10.0**place for place in range(first, first - 12, -1)), float(size.min())):
        few = size[:_FEW]
        if not unit or (np.abs(few - unit * np.round(few / unit)) > 1e-13 * size.max()).any():
            continue
        count = np.round(size / unit)
        off = np.abs(size - unit * count)
        # Rounding: far below the largest margin, and, all of it together, far below a step.
        whole = count.min() > 0 and off.max() <= 1e-13 * size.max() and off.sum() < 1e-3 * unit
        if whole and count.max() < 2.0**53:
            step = unit * int(np.gcd.reduce(count.astype(np.int64)))
            return step if size.sum() < 2.0**50 * step else 0.0
    return 0.0
