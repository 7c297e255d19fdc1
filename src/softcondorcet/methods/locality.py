"""Agents renumbered so that partners stand close to each other in memory.

A gradient looks up the rating of every partner. Once the ratings of all agents are more than the cache of a core holds,
most of that time is spent waiting for memory, unless partners have near numbers. Where agents meet their like, as
matchmakers see to, the order by rating brings them together; a few steps of descent show it well enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from softcondorcet.arrays import Floats, Ints
from softcondorcet.options import Watch
from softcondorcet.pairs import Pairs

# Agents from which on it can pay, and steps of descent to look at first.
FAR, LOOK = 2**17, 20
# Sorting all pairs once pays where partners come at least this many times closer.
_CLOSER = 4.0


@dataclass(frozen=True)
class Numbering:
    """Pairs with agents in another order: agent ``order[k]`` of the data has number k."""

    pairs: Pairs
    order: Ints

    def there(self, values: Floats) -> Floats:
        """Values by agent, in the new order."""
        return values[self.order]

    def back(self, values: Floats) -> Floats:
        found = np.empty_like(values)
        found[self.order] = values
        return found

    def seen(self, watch: Watch | None) -> Watch | None:
        """What calls `watch` with ratings in the order of the data."""
        return None if watch is None else lambda step, steps, ratings: watch(step, steps, self.back(ratings))


def by_rating(pairs: Pairs, ratings: Floats) -> Numbering:
    """Agents in the order of rough ratings, where that brings partners much closer; else as they are."""
    order = np.argsort(ratings, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    now = np.abs(pairs.right - pairs.left).mean() if len(pairs) else 0.0
    then = np.abs(place[pairs.right] - place[pairs.left]).mean() if len(pairs) else 0.0
    if then * _CLOSER > now or not len(pairs):
        return as_they_are(pairs)
    return Numbering(pairs.renumbered(order), order)


def as_they_are(pairs: Pairs) -> Numbering:
    return Numbering(pairs, np.arange(pairs.n_agents))
