"""Tests of paired outcomes: sign flips, McNemar, bootstrap of a mean, Holm's correction, and the votes that they need.

What is independent is a unit: one vote, or all votes of a judge or task (a cluster). A unit has the sum ``total`` of
its outcomes, a against b, over ``size`` votes; ``count`` says how many units are alike. The effect is the mean outcome
of a vote, sum(total) / sum(size). Units of unequal size, or whose votes go together, need nothing else: flips,
resamples and power all act on whole units.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from softcondorcet.arrays import Floats

NORMAL = NormalDist()
POWER = 0.8
# Units of which all sign flips are tried: half a million sums.
_ALL_FLIPS = 20
# Of more units, the flips of the largest so many are all tried and the sum of the rest is taken as normal. p was within
# 2 % of 400,000 random flips for 21 units and more, also where a few units outweigh all others.
_LARGEST = 12
# Tosses of a coin up to which tails are summed, exactly.
_TOSSES = 1000
# Rows of units up to which resamples are drawn; above, the mean of so many units is normal. Also the resamples on which
# power is measured, to 1 %, where up to so many units are needed.
_DRAWN, _POWERED = 2000, 200


@dataclass(frozen=True, eq=False)
class Units:
    """Independent units: the sum of outcomes, number of votes, and how many units are alike."""

    total: Floats
    size: Floats
    count: Floats

    @property
    def n(self) -> int:
        return int(self.count.sum())

    @property
    def effect(self) -> float:
        return float(self.count @ self.total / (self.count @ self.size))

    @property
    def mean_size(self) -> float:
        return float(self.count @ self.size / self.count.sum())

    @property
    def spread(self) -> float:
        """The variance of the mean outcome of a vote, times the number of units (cluster-robust)."""
        if self.n < 2:
            return math.nan
        rest = self.total - self.effect * self.size
        return float(self.count @ rest**2) / (self.n - 1) / self.mean_size**2


def sign_flip(units: Units) -> float:
    """Two-sided p-value: the share of all sign flips of the units whose sum is as far from 0 as the one seen.

    If a and b are alike, each unit could as well have come out with their names exchanged (Fisher, 1935). Up to 20
    units all flips are tried. Above, flips that come out just as far count one half (the mid-p of Lancaster, 1961),
    which brings the share of false alarms near the level; the exact test of wins and losses falls short of it.
    """
    seen = units.total != 0
    total, count = np.abs(units.total[seen]), units.count[seen]
    n = int(count.sum())
    if n == 0:
        return 1.0
    total = total / total.max()
    far = abs(float(np.sign(units.total[seen]) @ (total * count)))
    if bool((total == 1).all()) and n <= _TOSSES:
        won = round((n + far) / 2)
        return coin(won, n) if n <= _ALL_FLIPS else max(coin(won, n) - _atom(won, n), math.ldexp(1.0, -n))
    order = np.argsort(-total, kind="stable")[: max(_ALL_FLIPS, _LARGEST)]
    largest = np.repeat(total[order], np.minimum(count[order], _ALL_FLIPS).astype(np.int64))
    if n <= _ALL_FLIPS:
        return float((np.abs(_flipped(largest)) >= far - 1e-9).mean())  # of a largest unit of 1: rounding
    largest = largest[:_LARGEST]
    rest = math.sqrt(max(float(count @ total**2 - largest @ largest), 1e-300))
    tails = [math.erfc(max(min(z, 50.0), -50.0)) for z in ((far - _flipped(largest)) / (rest * math.sqrt(2))).tolist()]
    return min(1.0, math.fsum(tails) / len(tails))


def _flipped(values: Floats) -> Floats:
    """The sum of the values with each choice of signs."""
    sums = np.zeros(1)
    for value in values.tolist():
        sums = np.concatenate([sums + value, sums - value])
    return sums


def coin(won: int, n: int) -> float:
    """Two-sided exact p-value of `won` heads in `n` tosses of a fair coin."""
    most = max(won, n - won)
    tail = sum(math.comb(n, k) for k in range(most, n + 1))
    return min(1.0, 2 * tail / (1 << n))


def _atom(won: int, n: int) -> float:
    """The chance of just `won` heads: what a two-sided mid-p counts less."""
    return math.comb(n, won) / (1 << n)


def mcnemar(wins: int, losses: int) -> float:
    """McNemar's p-value: exact up to 1,000 wins and losses, above by chi-squared with Edwards' correction (1948)."""
    n = wins + losses
    if n <= _TOSSES:
        return coin(wins, n)
    z = max(abs(wins - losses) - 1, 0) / math.sqrt(n)
    return math.erfc(z / math.sqrt(2))


def holm(values: list[float]) -> list[float]:
    """Holm's (1979) adjusted p-values: the smallest times their number, the next times one less, and never falling."""
    adjusted, least = [0.0] * len(values), 0.0
    for place, k in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        least = adjusted[k] = max(least, min(1.0, (len(values) - place) * values[k]))
    return adjusted


def interval(units: Units, level: float, n: int, rng: np.random.Generator, *, bounded: bool) -> tuple[float, float]:
    """Bootstrap interval of the effect, from `n` resamples of the units.

    Outcomes from -1 to 1 (`bounded`): the percentiles, after one unit of mean size that was won throughout and one that
    was lost are added, so that five wins of five leave room for a loss (Agresti and Coull, 1998, add two of each to one
    share; Bonett and Price, 2012, one of each to a difference of two). Others: studentised (Efron, 1981), infinite
    where too few units say how far they spread. From 2,000 units on the mean is normal, and so is the interval.
    """
    if units.effect < 0:  # the interval of b against a is that of a against b, turned round
        low, high = interval(Units(-units.total, units.size, units.count), level, n, rng, bounded=bounded)
        return -high, -low
    if bounded:
        size = units.mean_size
        more = np.array([[size, size, 1.0], [-size, size, 1.0]])
        units = Units(*np.concatenate([np.stack([units.total, units.size, units.count], axis=1), more]).T)
    order = np.lexsort((units.size, units.total))  # so that the order of votes does not matter
    units = Units(units.total[order], units.size[order], units.count[order])
    tail, error = (1 - level) / 2, math.sqrt(units.spread / units.n) if units.n > 1 else math.nan
    center = units.effect
    if len(units.total) > _DRAWN:
        half = NORMAL.inv_cdf(1 - tail) * error
        low, high = center - half, center + half
    elif bounded:
        low, high = np.quantile(_resampled(units, n, rng)[0], [tail, 1 - tail]).tolist()
    elif not error > 0:
        return -math.inf, math.inf
    else:
        mean, spread = _resampled(units, n, rng)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.sort(np.nan_to_num((mean - center) / spread, nan=math.inf, posinf=math.inf, neginf=-math.inf))
        cut = int(tail * n)
        low, high = center - error * float(t[n - 1 - cut]), center - error * float(t[cut])
    return (max(low, -1.0), min(high, 1.0)) if bounded else (low, high)


def _resampled(units: Units, n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """The effect and its standard error in each of `n` resamples of the units."""
    drawn = _draws(units.count, n, rng)
    total, size = units.total, units.size
    votes = drawn @ size
    mean = (drawn @ total) / votes
    square = drawn @ total**2 - 2 * mean * (drawn @ (total * size)) + mean**2 * (drawn @ size**2)
    many = units.n
    # Rounding leaves a little where all units of a resample are alike.
    square[square < 1e-12 * (drawn @ total**2)] = 0.0
    return mean, np.sqrt(square * many / max(many - 1, 1)) / votes


def _draws(count: Floats, n: int, rng: np.random.Generator) -> Floats:
    """How often each row of units is drawn, in each of `n` resamples of as many units as there are."""
    rows, size = len(count), int(count.sum())
    if size > rows:
        return rng.multinomial(size, count / size, size=n).astype(float)
    chosen: NDArray[np.int64] = rng.integers(rows, size=(n, rows)) + rows * np.arange(n)[:, None]
    return np.bincount(chosen.ravel(), minlength=n * rows).reshape(n, rows).astype(float)


def votes_needed(units: Units, level: float, rng: np.random.Generator) -> float:
    """Votes, in units like these, with which the sign-flip test finds the effect seen in 80 % of the cases.

    For units whose sums have mean m and standard deviation s, Guenther's (1981) approximation for Student's test:

        (z_level + z_power)^2 (s / m)^2 + z_level^2 / 2 units.

    Clusters enter by their sums: votes that go together make s larger, so the design effect is in it. Up to 200 units,
    where skewed sums or steps of the test matter, the power of so many is then measured on resamples of the units,
    compared with z_level times the root of their squares, and the number corrected. Infinite where nothing was seen.
    """
    share, total = units.count / units.count.sum(), units.total / (float(np.abs(units.total).max(initial=0.0)) or 1.0)
    mean = float(share @ total)
    if mean == 0:
        return math.inf
    z, z_power, fewest = NORMAL.inv_cdf((1 + level) / 2), NORMAL.inv_cdf(POWER), fewest_units(level)
    needed = max((z + z_power) ** 2 * float(share @ (total - mean) ** 2) / mean**2 + z**2 / 2, fewest)
    total = math.copysign(1.0, mean) * total  # the votes that b against a needs are those of a against b
    total, share = np.sort(total), share[np.argsort(total, kind="stable")]
    tried: list[tuple[float, float]] = []
    while needed <= _POWERED and len(tried) < 4:
        power = min(max(_power(total, share, math.ceil(needed), z, rng), 0.01), 0.99)
        tried.append((abs(power - POWER), needed))
        needed = max(needed * ((z + z_power) / (z + NORMAL.inv_cdf(power))) ** 2, fewest)
    return math.ceil(min(tried)[1] if tried else needed) * units.mean_size


def _power(total: Floats, share: Floats, n: int, z: float, rng: np.random.Generator) -> float:
    """How often `n` units, drawn from those seen, are told apart by z."""
    if len(total) <= 3:
        drawn = rng.multinomial(n, share, size=_DRAWN)
        sums, squares = drawn @ total, drawn @ total**2
    else:
        chosen = rng.choice(total, size=(_DRAWN, n), p=None if bool((share == share[0]).all()) else share)
        sums, squares = chosen.sum(axis=1), (chosen**2).sum(axis=1)
    return float((np.abs(sums) > z * np.sqrt(squares)).mean())


def fewest_units(level: float) -> int:
    """The fewest units of which any sign flips can reach the level: 6 for 95 %, as 2 / 2^6 is 3 %."""
    return math.ceil(math.log2(2 / (1 - level)) - 1e-9)


def detectable(units: Units, level: float) -> float:
    """The smallest effect that the test finds in 80 % of the cases with as many units that spread as these do."""
    z = NORMAL.inv_cdf((1 + level) / 2) + NORMAL.inv_cdf(POWER)
    return z * math.sqrt(units.spread / units.n)
