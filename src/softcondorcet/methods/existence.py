"""When do the most likely ratings exist? What Bradley-Terry and Plackett-Luce have in common.

Without a prior they are finite, and one but for a constant, exactly if every agent leads to every other one by "was
ever above" (Zermelo, 1929; Ford, 1957; Hunter, 2004, assumption 1): otherwise a group that never lost to the rest could
be moved up for ever. A tie that attracts leads both ways. A prior keeps all ratings finite, and such groups are named
in a warning, because the prior, not the votes, then says how far apart they are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from softcondorcet.arrays import Flags, Floats, sum_by
from softcondorcet.errors import DataError, some
from softcondorcet.majority import linked_labels, strong_labels, undefeated, winless
from softcondorcet.methods.truncated_newton import Center
from softcondorcet.options import check, not_negative
from softcondorcet.pairs import Pairs


def check_prior(prior: float) -> None:
    not_negative("prior", prior)
    check(prior <= 1e9, "prior", "at most 1e9", prior)


def require_finite(pairs: Pairs, ties_lead: bool = True) -> None:
    """An error that names the agents that have no finite rating without a prior, if there are some.

    Where ties are an outcome of their own, they need not hold ratings together, so only wins count: enough for finite
    ratings, though not always necessary.
    """
    linked = linked_labels(pairs)
    elsewhere = linked != np.argmax(np.bincount(linked, minlength=1))
    lone = (_apart(pairs, ties_lead) | elsewhere) & _listed(pairs)
    if lone.any():
        names = [pairs.agents[k] for k in np.flatnonzero(lone)]
        raise DataError(
            f"votes: no finite rating without a prior for {len(names)} agents that never lost to, never beat or never "
            f"met the rest: {some(names)}; expected wins both ways, or a prior above 0"
        )


def held_by_prior(pairs: Pairs) -> list[str]:
    """A warning for groups that only the prior holds near the rest; single agents are warned about in any case."""
    known = {*undefeated(pairs), *winless(pairs)}
    names = [pairs.agents[k] for k in np.flatnonzero(_apart(pairs)) if pairs.agents[k] not in known]
    if not names:
        return []
    return [
        f"{len(names)} agents stand in groups that never lost to the rest, or never beat it; only the prior keeps the "
        f"distance finite: {some(names)}"
    ]


def centring(pairs: Pairs) -> Center:
    """Takes from each rating the mean of its linked group.

    The votes say nothing about a group as a whole, so every sum of slopes over one is 0, and so is, with a prior, the
    mean of the most likely ratings; what rounding leaves of it would be blown up by a weak prior.
    """
    group = linked_labels(pairs)
    size = np.maximum(np.bincount(group, minlength=pairs.n_agents), 1)

    def center(x: Floats) -> Floats:
        ratings = x[: len(group)]
        mean = sum_by(group, ratings, len(group)) / size
        return np.concatenate([ratings - mean[group], x[len(group) :]])

    return center


def _apart(pairs: Pairs, ties_lead: bool = True) -> Flags:
    """Agents outside the largest strongly connected group of those that comparisons link them to."""
    tied = pairs.ties if ties_lead else np.zeros(len(pairs))
    label = strong_labels(replace(pairs, wins=pairs.wins + tied, losses=pairs.losses + tied))
    linked, size = linked_labels(pairs), np.bincount(label, minlength=1)[label]
    largest = np.zeros(pairs.n_agents, dtype=np.int64)
    np.maximum.at(largest, linked, size)
    first = np.full(pairs.n_agents, pairs.n_agents)
    chosen = size == largest[linked]
    np.minimum.at(first, linked[chosen], label[chosen])
    apart: Flags = label != first[linked]
    return apart


def _listed(pairs: Pairs) -> Flags:
    listed = np.zeros(pairs.n_agents, dtype=bool)
    listed[pairs.left] = listed[pairs.right] = True
    return listed
