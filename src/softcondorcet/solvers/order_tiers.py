"""The best order near given ratings, with its ties: who stands above whom, and who is level.

Every margin that is not zero puts one agent above the other, either as the majority has it or, in a cycle, as the
best order of that cycle does. All of that together still leaves open who stands where among agents without a margin
between them: their ratings decide. Let an agent's value be halfway between the best rating of those below it, its own
included, and the worst of those above it. Values never rise on the way down, they are the ratings where these
contradict no margin, and turned votes turn them round. Agents of equal value of which none is above the other are
level; and so nothing depends on the names of agents or on how they are listed.

That is for votes whose cycles hold up to 20 agents each (``subsets``). With a larger one, the order of the ratings is
improved by best insertion, which goes through it from the top: there the listing may decide between equal ratings, and
turned votes may end in another order that is as good.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from softcondorcet.arrays import Flags, Floats, Ints
from softcondorcet.checks import Box
from softcondorcet.exact_sums import level
from softcondorcet.kernels import graph
from softcondorcet.majority import linked_labels, strong_labels
from softcondorcet.pairs import Pairs
from softcondorcet.solvers.components import Solved, best_order, improve_order, loss_as_listed, packed
from softcondorcet.solvers.subsets import SUBSETS

# Ratings closer than this share of the box are equal up to rounding; a strict order is kept apart by less than that.
EQUAL, _APART = 1e-6, 1e-9


@dataclass(frozen=True)
class Tiers:
    """Agents in connected groups, best first in each, with their ties: ``tier[k]`` is the tier of ``agents[k]``.

    Of each tier: its `group`, its `place` from the top of the group, and the `size` of the group in tiers. `bound` is
    proven: no order contradicts smaller margins; None where nobody asked for it. `only` says whether an order with
    that bound is the only one; None where that is not known.
    """

    agents: Ints
    tier: Ints
    group: Ints
    place: Ints
    size: Ints
    bound: float | None = None
    only: bool | None = None

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

    def evenly(self, m: int, bounds: Box) -> Floats:
        """Ratings of m agents, `spread` over the box; agents in no tier stand at the middle."""
        middle = np.full(m, (bounds[0] + bounds[1]) / 2)
        return self.put(middle, self.spread(bounds)) if len(self.agents) else middle

    def put(self, ratings: Floats, value: Floats) -> Floats:
        """Ratings with each tier's value; agents in no tier keep theirs."""
        new = ratings.copy()
        new[self.agents] = value[self.tier]
        return new


def best_tiers(pairs: Pairs, ratings: Floats, equal: float, exact: bool = True) -> Tiers:
    """The best order near these ratings; agents that no margin speaks about are left out.

    Neighbours stay tied when their ratings were equal and no margin between them says who is better. Without `exact`
    the order is only improved by insertion, and there is no bound.
    """
    if not exact:
        return tiers_along(pairs, _inserted(pairs, ratings, equal), ratings, equal, loose=False)
    label = strong_labels(pairs, by="majority")
    if small(label):
        best = best_order(pairs, level(ratings, equal), packed_as_it_is, label)
        return tiers_along(pairs, best.order, ratings, equal, True, best)
    order, best = _exact_where_small(pairs, _inserted(pairs, ratings, equal), label)
    return tiers_along(pairs, order, ratings, equal, False, best)


def small(label: Ints) -> bool:
    """Whether all components of the majority, of which `label` has the numbers, are ordered exactly by subsets."""
    return int(np.bincount(label).max(initial=0)) <= SUBSETS


def tiers_along(
    pairs: Pairs, order: Ints, ratings: Floats, equal: float, loose: bool, best: Solved | None = None
) -> Tiers:
    """The order with its ties, group by group; a `loose` one keeps to margins only, and else follows the ratings."""
    decided = pairs.margin != 0
    left, right = pairs.left[decided], pairs.right[decided]
    group = linked_labels(pairs, decided)
    spoken = np.zeros(pairs.n_agents, dtype=bool)
    spoken[left] = spoken[right] = True
    if loose:
        tier = loose_tiers(pairs, order, ratings, equal)
        order = np.lexsort((tier, group))
        order = order[spoken[order]]
        starts = np.ones(len(order), dtype=bool)
        starts[1:] = (np.diff(tier[order]) != 0) | (np.diff(group[order]) != 0)
    else:
        order = order[spoken[order]]
        order = order[np.argsort(group[order], kind="stable")]
        starts = tier_starts(order, group, ratings, left, right, equal)
    bound, only = (None, None) if best is None else (best.bound, best.only)
    return _number(order, np.cumsum(starts) - 1, group[order[starts]], bound, only)


def loose_tiers(pairs: Pairs, order: Ints, ratings: Floats, equal: float) -> Ints:
    """Number of the tier of each agent: margins are kept as the order has them, agents else follow their ratings."""
    m, rows = len(order), pairs.by_agent
    place = np.empty(m, dtype=np.int64)
    place[order] = np.arange(m)
    best, above, below = level(ratings, equal), *np.zeros((2, m), dtype=np.int64)
    worst = best.copy()
    graph.relate(rows.row, rows.column, rows.margin, order, place, best, worst, above, below)
    key = np.stack([-level((best + worst) / 2, equal), above - below])
    found: Ints = np.unique(key, axis=1, return_inverse=True)[1].ravel()
    return found


def _inserted(pairs: Pairs, ratings: Floats, equal: float) -> Ints:
    """The order of the ratings, improved by best insertion."""
    rows = pairs.by_agent
    # Equal up to rounding must not mean ordered by rounding: the larger total margin goes first, then the first listed.
    order: Ints = np.lexsort((-rows.sums(rows.margin), -np.round(ratings / equal)))
    improve_order(rows.row, rows.column, rows.margin, order, len(order) + 100)
    return order


def _exact_where_small(pairs: Pairs, order: Ints, label: Ints) -> tuple[Ints, Solved]:
    """The order with its small components at their optimum, or as it is if that is no better; and what is proven."""
    value = np.empty(len(order))
    value[order] = -np.arange(len(order))
    best = best_order(pairs, value, packed_as_it_is, label)
    lead = np.sign(value[pairs.left] - value[pairs.right]) * pairs.margin
    loss = float(np.maximum(-lead, 0).sum())
    better = best.loss < loss - 1e-12 * float(np.abs(lead).sum())  # by more than rounding
    return best.order if better else order, best


def packed_as_it_is(part: Pairs) -> Solved:
    """A component too large for subsets: left in the order it came in, with a bound that is cheaper than descent."""
    listed, loss = np.arange(part.n_agents), loss_as_listed(part)
    bound = min(packed(part, listed), loss)
    return Solved(listed, loss, bound, bound >= loss)


def tier_starts(order: Ints, component: Ints, ratings: Floats, left: Ints, right: Ints, equal: float) -> Flags:
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


def _number(order: Ints, tier: Ints, group: Ints, bound: float | None, only: bool | None) -> Tiers:
    """Number the groups and the tiers in them."""
    _, first, number, size = np.unique(group, return_index=True, return_inverse=True, return_counts=True)
    return Tiers(order, tier, number, np.arange(len(group)) - first[number], size[number], bound, only)
