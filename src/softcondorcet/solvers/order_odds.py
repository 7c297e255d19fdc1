"""Log-odds under an order: Bradley-Terry ratings that keep a given order.

Of all ratings that fall along the order, level inside a tier, those that make the votes most likely:

    minimise  sum n_ab log(1 + exp(r_b - r_a)) over wins, + prior / 2 |r|^2,   r_1 >= r_2 >= ... in each group.

It is convex, so there is one answer. Agents pooled at one value: the votes support this order, not a gap. Newton's
method finds it (``kernels.order_odds``), some dozens of passes over the pairs: pools come apart where the gradient
tears them, and the signs of the multipliers prove the end right. Where nothing binds, this is Bradley-Terry.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from softcondorcet.arrays import Floats, Ints, sum_by
from softcondorcet.kernels import order_odds as kernels
from softcondorcet.kernels.batch import frozen
from softcondorcet.pairs import Pairs

# The last change of a rating, and most steps of Newton's method: a dozen are usual.
_TOL, _STEPS = 1e-8, 500
# A sample of a group has this many agents or more, each of which met about so many others of it; and no more than this
# share of the group.
_FEWEST, _MET, _SHARE = 100, 30, 0.7


def order_odds(
    pairs: Pairs, tier: Ints, group: Ints, prior: Floats, start: Floats | None = None, pull: Floats | None = None
) -> Floats:
    """Log-odds of each agent, falling along `tier` inside each `group`, with mean 0 in each.

    `tier` is 0 for the best, and level agents share one; `prior` is a precision for each group. Newton's method begins
    at `start`, which changes nothing but the time. `pull` times the ratings is taken from what is minimised: where it
    is the slope of the rest at some ratings, these are the minimum but for the order.
    """
    if start is None and (few := sample(pairs, group, -tier)) is not None:
        start = few.spread(order_odds(few.counts, tier[few.kept], group[few.kept], prior), -tier, group)
    order = np.lexsort((tier, group))
    link = np.full(len(order), kernels.BELOW, dtype=np.int8)
    same = np.diff(group[order], prepend=-1) == 0
    link[~same] = kernels.FREE
    link[same & (np.diff(tier[order], prepend=-1) == 0)] = kernels.LEVEL
    return centred(_Rows(pairs).solve(prior[group], order, link, start, pull=pull), group)


class BradleyTerry:
    """Bradley-Terry ratings without an order, under one prior after another; each fit starts from the last."""

    def __init__(self, pairs: Pairs, group: Ints, start: Floats | None = None) -> None:
        self._pairs, self._rows, self._group, self._ratings = pairs, _Rows(pairs), group, start
        self._scattered = None if start is not None else sample(pairs, group, pairs.win_margin)
        self._order, self._free = np.arange(len(group)), np.full(len(group), kernels.FREE, dtype=np.int8)

    def ratings(self, prior: Floats, tol: float = _TOL) -> Floats:
        """Ratings under a precision of the prior for each group."""
        if self._ratings is None and (few := self._scattered) is not None:
            known = BradleyTerry(few.counts, self._group[few.kept]).ratings(prior)
            self._ratings = few.spread(known, self._pairs.win_margin, self._group)
        found = self._rows.solve(prior[self._group], self._order, self._free, self._ratings, tol)
        self._ratings = centred(found, self._group)
        return self._ratings


def centred(ratings: Floats, group: Ints) -> Floats:
    """Ratings less their mean in each group."""
    size = np.bincount(group)
    moved: Floats = ratings - (sum_by(group, ratings, len(size)) / np.maximum(size, 1))[group]
    return moved


@dataclass(frozen=True)
class Sample:
    """Some of the agents: their `pairs`, which of all agents are `kept`, and how many of its group each stands for."""

    pairs: Pairs
    kept: Ints
    each: Floats

    @property
    def counts(self) -> Pairs:
        """The pairs, counted as often as agents are stood for: the pull on an agent is what it is among all."""
        each, pairs = self.each[self.pairs.left], self.pairs
        return replace(pairs, wins=pairs.wins * each, losses=pairs.losses * each, ties=pairs.ties * each)

    def spread(self, ratings: Floats, value: Floats | Ints, group: Ints) -> Floats:
        """Ratings of all agents, between those of the kept ones that are next by `value`: a start."""
        place = np.empty(len(group))
        place[np.lexsort((value, group))] = np.arange(len(group))
        at = place[self.kept]
        order = np.argsort(at)
        between: Floats = np.interp(place, at[order], ratings[order])
        return between


def sample(pairs: Pairs, group: Ints, value: Floats | Ints) -> Sample | None:
    """Evenly many agents from the highest to the lowest `value` of groups where a few know as much as all.

    That is where many of many agents met; all agents of other groups are kept. None where that is all there are.
    """
    size = np.bincount(group)
    met = np.bincount(group[pairs.left], minlength=len(size)) * 2 / np.maximum(size - 1, 1)  # of an agent with others
    wanted = np.maximum(_FEWEST, np.ceil(_MET * size / np.maximum(met, 1))).astype(np.int64)
    wanted = np.where(wanted < _SHARE * size, wanted, size)
    if (wanted == size).all():
        return None
    order = np.lexsort((value, group))
    place = np.empty(len(group), dtype=np.int64)
    place[order] = np.arange(len(group)) - np.repeat(np.cumsum(size) - size, size)
    inside = place * wanted[group] % size[group] < wanted[group]
    both, number = inside[pairs.left] & inside[pairs.right], np.cumsum(inside, dtype=np.int32) - 1
    kept = np.flatnonzero(inside)
    columns = (column[both] for column in (pairs.wins, pairs.losses, pairs.ties))
    agents = tuple(pairs.agents[k] for k in kept.tolist())
    few = Pairs(agents, number[pairs.left[both]], number[pairs.right[both]], *columns)
    return Sample(few, kept, (size / wanted)[group[kept]])


class _Rows:
    """Pairs as the kernel takes them."""

    def __init__(self, pairs: Pairs) -> None:
        rows, self.unit = pairs.by_agent, 1.0
        margin, played = rows.margin, rows.played
        most = float(played.max(initial=1.0))
        if not 1e-100 < most < 1e100:  # whose squares are no numbers; in another unit the loss has the same minimum
            self.unit = float(2.0 ** -np.frexp(most)[1])
            margin, played = margin * self.unit, played * self.unit
        self.arrays = (
            *(frozen(rows.row, np.int64), frozen(rows.column, np.uint32)),
            *(frozen(margin, np.float64), frozen(played, np.float64)),
        )

    def solve(
        self,
        precision: Floats,
        order: Ints,
        link: NDArray[np.int8],
        start: Floats | None,
        tol: float = _TOL,
        pull: Floats | None = None,
    ) -> Floats:
        m = len(order)
        ratings = np.zeros(m) if start is None else np.array(start, dtype=float)
        weak = np.maximum(precision * self.unit, np.finfo(float).tiny)
        places = np.empty(m + 1, dtype=np.int64), np.empty(m, dtype=np.int64)
        # A matrix of pools is worth adding up where it has no more entries than the rows, and their diagonal.
        curve, matrix = np.empty(len(self.arrays[1])), np.empty(len(self.arrays[1]) + m)
        room = curve, *places, matrix, tuple(np.empty((kernels.ROWS, m)))
        off = np.zeros(m) if pull is None else pull * self.unit
        kernels.solve(*self.arrays, weak, off, order, link, ratings, tol, _STEPS, *room)
        return ratings
