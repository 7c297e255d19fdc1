"""Distances between orders, to be minimised.

An order is a list of agents, best first, in which a nested list is a tie; or ratings by agent (a ``Ratings`` or a
mapping), higher is better. As in the paper's definition, the first order may hold fewer agents than the second: only
the agents of the first are compared.

Ties: a pair tied in one order and not in the other counts one half, a pair tied in both counts nothing. (So a tie is
half a mistake whichever way it is broken; without ties this is the paper's definition.)
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from softcondorcet.arrays import Floats, Ints
from softcondorcet.errors import DataError
from softcondorcet.kernels import distances
from softcondorcet.pairs import Pairs, as_pairs
from softcondorcet.profile import Profile
from softcondorcet.ratings import Ratings
from softcondorcet.tiers import Ranking, entries

Order = Ranking | Mapping[str, float] | Ratings


def kendall_tau_distance(x: Order, y: Order) -> float:
    """Pairs of agents of ``x`` that ``y`` puts the other way round. O(k log k) for k agents.

    >>> kendall_tau_distance(["a", "b", "c"], ["c", "a", "d", "b"])
    2.0
    """
    first, second = _aligned(x, y)
    if len(first) < 2:
        return 0.0
    by_both = np.lexsort((second, first))
    a, b = first[by_both], second[by_both]
    tied_first, tied_second, tied_both = _tied_pairs(a), _tied_pairs(np.sort(b)), _tied_pairs(a, b)
    # Sorted by both, agents tied in `x` stand in the order of `y`, so they make no inversions.
    return float(distances.inversions(b)) + (tied_first + tied_second - 2 * tied_both) / 2


def normalized_kendall_tau_distance(x: Order, y: Order) -> float:
    """The Kendall-tau distance divided by the number of pairs of ``x``: between 0 and 1.

    >>> normalized_kendall_tau_distance(["a", "b", "c"], ["c", "b", "a"])
    1.0
    """
    k = len(_places(x))
    return kendall_tau_distance(x, y) / (k * (k - 1) / 2) if k > 1 else 0.0


def footrule_distance(x: Order, y: Order) -> float:
    """Spearman's footrule: sum over agents of ``x`` of how many places apart they stand, tied agents at the mean place.

    >>> footrule_distance(["a", "b", "c"], ["c", "a", "b"])
    4.0
    """
    first, second = _aligned(x, y)
    return float(np.abs(_mean_place(first) - _mean_place(second)).sum())


def discrete_loss(data: Profile | Pairs, order: Order) -> float:
    """Sum over votes of weight times the Kendall-tau distance to ``order``: what an optimal ranking minimises.

    A tie in a vote is half a mistake whatever the order, so that ties in the order can gain nothing by it.

    >>> p = Profile.from_rankings([["a", "b", "c"], ["c", "a", "b"]], weights=[2, 3])
    >>> discrete_loss(p, ["c", "a", "b"])
    4.0
    """
    pairs = as_pairs(data)
    places = _places(order)
    missing = [name for name in pairs.agents if name not in places]
    if missing:
        raise DataError(f"order: {len(missing)} agents of the votes are missing, the first is {missing[0]!r}")
    return pairs.discrete_loss(np.array([-places[name] for name in pairs.agents], dtype=float))


def mean_true_rating_distance(order: Order, truth: Mapping[str, float]) -> float:
    """Mean difference in true rating over the pairs that ``order`` puts the wrong way round; 0 if there are none.

    A pair tied in ``order`` is half a mistake, so it enters the mean with half the weight of one the wrong way round.

    >>> mean_true_rating_distance(["b", ["a", "c"]], {"a": 10.0, "b": 7.0, "c": 1.0})
    5.0
    """
    places = _places(order)
    names = list(places)
    unknown = [name for name in names if name not in truth]
    if unknown:
        raise DataError(f"truth: no rating of agent {unknown[0]!r}")
    place = np.array([places[name] for name in names])
    true = np.array([truth[name] for name in names])
    total = wrong = 0.0
    for k in range(len(names)):
        weight = np.where(place[k] == place, 0.5, place[k] < place) * (true[k] < true)
        total += float(weight @ (true - true[k]))
        wrong += float(weight.sum())
    return total / wrong if wrong else 0.0


def _places(order: Order) -> dict[str, int]:
    """Tier of each agent, 0 = best."""
    if isinstance(order, Ratings):
        return {name: int(rank) for name, rank in zip(order.agents, order.ranks, strict=True)}
    if isinstance(order, Mapping):
        levels = {value: tier for tier, value in enumerate(sorted(set(order.values()), reverse=True))}
        return {name: levels[value] for name, value in order.items()}
    places: dict[str, int] = {}
    for name, tier in entries(order, "order"):
        if name in places:
            raise DataError(f"order: agent {name!r} appears twice")
        places[name] = tier
    return places


def _aligned(x: Order, y: Order) -> tuple[Ints, Ints]:
    """Tiers in both orders of the agents of ``x``."""
    first, second = _places(x), _places(y)
    missing = [name for name in first if name not in second]
    if missing:
        raise DataError(f"order: agent {missing[0]!r} of the first order is not in the second")
    return (
        np.array(list(first.values()), dtype=np.int64),
        np.array([second[name] for name in first], dtype=np.int64),
    )


def _tied_pairs(*ascending: Ints) -> float:
    """Pairs with equal entries in all of the columns, which are sorted together."""
    changes = np.any([np.diff(column) != 0 for column in ascending], axis=0)
    size = np.diff(np.flatnonzero(np.concatenate([[True], changes, [True]])))
    return float((size * (size - 1) / 2).sum())


def _mean_place(tier: Ints) -> Floats:
    _, inverse, count = np.unique(tier, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return (last - (count - 1) / 2)[inverse]
