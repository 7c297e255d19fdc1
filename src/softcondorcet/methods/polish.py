"""From descended ratings to the best order near them, and back to ratings that follow it.

Best insertion on the discrete loss removes what the smooth loss leaves undecided; components of the majority that are
small enough are then ordered exactly (``optimal``). The ratings are spread evenly along the order and descended once
more, to a minimum of the smooth loss near that order; where neighbours have changed places in it, their ratings are
sorted back along the order. `converged` and `error` are those of that descent, before anything is sorted back. No
agent of the result can be moved to a better place, so a Condorcet winner is first; since raising it never raises the
smooth loss (the paper's theorem 1), descent leaves it at the upper bound exactly.

Groups of agents that were never compared are ordered apart, each around the middle of the box with the same spacing:
nothing says where one group stands against another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from softcondorcet.arrays import Flags, Floats, Ints
from softcondorcet.kernels import insertion
from softcondorcet.majority import linked_labels
from softcondorcet.methods.cycles import packed
from softcondorcet.methods.descent import Descent, Loss, Stage, descend
from softcondorcet.methods.optimal import Solved, best_order, loss_as_listed
from softcondorcet.options import Box, Watch
from softcondorcet.pairs import Pairs

# Ratings closer than this share of the box are equal up to rounding; a strict order is kept apart by less than that.
EQUAL, _APART = 1e-6, 1e-9


@dataclass(frozen=True)
class Tiers:
    """Agents in connected groups, best first in each, with their ties: ``tier[k]`` is the tier of ``agents[k]``.

    Of each tier: its `group`, its `place` from the top of the group, and the `size` of the group in tiers. `bound` is
    proven: no order contradicts smaller margins; None where nobody asked for it.
    """

    agents: Ints
    tier: Ints
    group: Ints
    place: Ints
    size: Ints
    bound: float | None

    def spread(self, bounds: Box) -> Floats:
        """A value per tier: the group with most tiers fills the box, the others keep its spacing around the middle."""
        low, high = bounds
        most = self.size.max()
        if most == 1:
            return np.full(len(self.size), (low + high) / 2)
        spread: Floats = np.interp(self.place + (most - self.size) / 2, [0, most - 1], [high, low])
        return spread

    def follow(self, values: Floats, bounds: Box) -> Floats:
        """The mean value of each tier, sorted inside its group and kept apart, so that tiers strictly fall."""
        low, high = bounds
        mean = np.bincount(self.tier, values[self.agents]) / np.bincount(self.tier)
        falling = mean[np.lexsort((-mean, self.group))]
        apart = _APART * (high - low)
        # A step down by twice the box between groups lets one running minimum serve all of them.
        shift = apart * self.place - 2 * (high - low) * self.group
        falling = np.minimum.accumulate(falling + shift) - shift
        kept: Floats = np.clip(falling, low + apart * (self.size - 1 - self.place), high)
        return kept

    def put(self, ratings: Floats, value: Floats) -> Floats:
        """Ratings with each tier's value; agents in no tier keep theirs."""
        new = ratings.copy()
        new[self.agents] = value[self.tier]
        return new


def descend_and_polish(
    loss: Loss,
    pairs: Pairs,
    start: Floats,
    walk: Sequence[Stage],
    *,
    bounds: Box,
    steps: int,
    tol: float,
    watch: Watch | None = None,
) -> Descent:
    """Walk to the last stage, improve the order found there, and make the ratings follow it; at most `steps` in all."""
    near, walked = Descent(start, 0, np.inf, False), min(len(walk), steps - 1)
    if walked:
        near = descend(loss, start, walk, bounds=bounds, steps=walked, tol=tol, watch=_within(watch, 0, steps))
    tiers = best_tiers(pairs, near.ratings, EQUAL * (bounds[1] - bounds[0]))
    if not len(tiers.agents):
        return Descent(near.ratings, near.steps, 0.0, True, near.errors, tiers.bound)
    even = tiers.put(near.ratings, tiers.spread(bounds))
    left, later = steps - near.steps, _within(watch, near.steps, steps)
    final = descend(loss, even, walk[-1:], bounds=bounds, steps=left, tol=tol, watch=later)
    ratings = tiers.put(final.ratings, tiers.follow(final.ratings, bounds))
    steps, errors = near.steps + final.steps, near.errors + final.errors
    return Descent(ratings, steps, final.error, final.converged, errors, tiers.bound)


def _within(watch: Watch | None, done: int, steps: int) -> Watch | None:
    """Report the steps of a part as steps of the whole."""
    return None if watch is None else lambda step, _, ratings: watch(done + step, steps, ratings)


def best_tiers(pairs: Pairs, ratings: Floats, equal: float, exact: bool = True) -> Tiers:
    """The best order near these ratings; agents that no margin speaks about are left out.

    Neighbours stay tied when their ratings were equal and no margin between them says who is better. Without `exact`
    the order is only improved by insertion, and there is no bound.
    """
    rows, decided = pairs.by_agent, pairs.margin != 0
    left, right = pairs.left[decided], pairs.right[decided]
    # Equal up to rounding must not mean ordered by rounding: the larger total margin goes first, then the first named.
    order: Ints = np.lexsort((-rows.sums(rows.margin), -np.round(ratings / equal)))
    insertion.improve_order(rows.row, rows.column, rows.margin, order, len(order) + 100)
    order, bound = _exact_where_small(pairs, order) if exact else (order, None)
    component = linked_labels(pairs, decided)
    spoken = np.zeros(pairs.n_agents, dtype=bool)
    spoken[left] = spoken[right] = True
    order = order[spoken[order]]
    order = order[np.argsort(component[order], kind="stable")]
    starts = _tier_starts(order, component, ratings, left, right, equal)
    return _number(order, np.cumsum(starts) - 1, component[order[starts]], bound)


def _exact_where_small(pairs: Pairs, order: Ints) -> tuple[Ints, float]:
    """The order with its small components at their optimum, or as it is if that is no better; and a bound."""
    value = np.empty(len(order))
    value[order] = -np.arange(len(order))
    best = best_order(pairs, value, packed_as_it_is)
    lead = np.sign(value[pairs.left] - value[pairs.right]) * pairs.margin
    loss = float(np.maximum(-lead, 0).sum())
    better = best.loss < loss - 1e-12 * float(np.abs(lead).sum())  # by more than rounding
    return best.order if better else order, best.bound


def packed_as_it_is(part: Pairs) -> Solved:
    """A component too large for subsets: left in the order it came in, with a bound that is cheaper than descent."""
    listed, loss = np.arange(part.n_agents), loss_as_listed(part)
    bound = min(packed(part, listed), loss)
    return Solved(listed, loss, bound, bound >= loss)


def _tier_starts(order: Ints, component: Ints, ratings: Floats, left: Ints, right: Ints, equal: float) -> Flags:
    """Where the order begins a new tier: another group, another rating, or a margin against a member of the tier."""
    place = np.full(len(component), -1)
    place[order] = np.arange(len(order))
    a, b = place[left], place[right]
    rival = np.full(len(order), -1)  # the last place above an agent held by one it has a margin with
    np.maximum.at(rival, np.maximum(a, b), np.minimum(a, b))
    apart = np.ones(len(order), dtype=bool)
    apart[1:] = (np.diff(component[order]) != 0) | (np.abs(np.diff(ratings[order])) > equal)
    first = 0
    for k, (split, last) in enumerate(zip(apart.tolist(), rival.tolist(), strict=True)):
        if split or last >= first:
            apart[k], first = True, k
    return apart


def _number(order: Ints, tier: Ints, component: Ints, bound: float | None) -> Tiers:
    """Number the groups and the tiers in them."""
    _, first, group, size = np.unique(component, return_index=True, return_inverse=True, return_counts=True)
    return Tiers(order, tier, group, np.arange(len(component)) - first[group], size[group], bound)
