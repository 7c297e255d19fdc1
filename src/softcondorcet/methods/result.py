"""From an array of ratings to a ``Ratings`` that says what the votes say and what limits it. Every method ends here.

Ratings for rules that give an order, or less: who is above whom.

An agent is rated by the number of agents below it, plus half of those neither above nor below. For a full order that
is the number of places from the bottom; agents that share a place get the mean of the places they cover. For a
relation that is only a partial order it is an order that contradicts nothing: if a is above b, then all that is below
b is below a too, and a itself has less above it. Nothing depends on the listing of the agents.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from softcondorcet import majority
from softcondorcet.arrays import Floats, Ints, sum_by
from softcondorcet.errors import DataError, NotConverged
from softcondorcet.formatting import plural, rounded_up, some
from softcondorcet.kernels import graph
from softcondorcet.methods.placement import Placement
from softcondorcet.pairs import Pairs
from softcondorcet.profile import Profile, as_profile
from softcondorcet.ratings import Ratings

Data = Profile | Pairs
# Votes whose weights are repeated for each agent at a time.
_VOTES = 1 << 20


def as_votes(data: object) -> Profile:
    """The profile, for methods that need whole votes: pairs have none left."""
    return as_profile(data, "a Profile (this needs whole votes)")


def sampled(data: object) -> Profile:
    """A profile with at least one vote to sample."""
    profile = as_votes(data)
    if not (profile.weight > 0).any():
        raise DataError("profile: expected at least one vote with a positive weight to sample from, got none")
    return profile


def rated(
    data: Data,
    values: Floats,
    method: str,
    options: Mapping[str, Any],
    *,
    converged: bool | None = None,
    error: float | None = None,
    lower_bound: float | None = None,
    **more: Any,
) -> Ratings:
    """The result of `method`, with its discrete loss, the majority's view and warnings."""
    placement = Placement(data)
    pairs, core = placement.pairs, placement.main_pairs
    loss = pairs.discrete_loss(values)
    notes = list(limits(pairs))
    if converged is False:
        notes.insert(0, unfinished(method, options, error, more.get("status")))
        warnings.warn(notes[0], NotConverged, stacklevel=3)
    return Ratings(
        agents=pairs.agents,
        values=values,
        method=method,
        options=options,
        converged=converged,
        error=error,
        discrete_loss=loss,
        # Added up in another order, the same numbers may differ in the last digit.
        lower_bound=None if lower_bound is None else min(lower_bound, loss),
        condorcet_winner=majority.condorcet_winner(core),
        smith_set=majority.smith_set(core),
        warnings=tuple(notes),
        votes=votes_per_agent(data),
        facts=data.facts,
        placement=placement,
        pairs=pairs,
        **more,
    )


def unfinished(method: str, options: Mapping[str, Any], error: float | None, status: str | None = None) -> str:
    """The warning that a method stopped early, with the option that lets it go on."""
    if status is None:
        return f"{method} did not converge: error {error:.2g}; tol is {options['tol']:g}; raise steps"
    more = {"stalled": "more time would not raise the bound", "node_limit": "raise nodes"}
    lower = f"the least loss may be up to {rounded_up(error or 0.0)} lower"
    return f"{method} did not converge: {lower}; {more.get(status, 'raise time_limit')}"


def limits(pairs: Pairs) -> list[str]:
    """Warnings about what the data cannot tell: agents never compared, never beaten, never above another."""
    notes = []
    groups = [group for group in majority.connected_groups(pairs) if len(group) > 1]
    if len(groups) > 1:
        notes.append(
            f"{len(groups)} groups of agents were never compared with each other, so ratings across them mean "
            f"nothing; the smallest: {some(groups[-1])}"
        )
    for names, words in (
        (majority.unlisted(pairs), "in no comparison, so nothing is known of their strength"),
        (majority.undefeated(pairs), "never below another, so the votes set no limit above"),
        (majority.winless(pairs), "never above another, so the votes set no limit below"),
    ):
        if names:
            notes.append(f"{plural(len(names), 'agent')} {words}: {some(names)}")
    return notes


def votes_per_agent(data: Data) -> Floats | None:
    """Total weight of the votes that hold each agent; unknown when only pairs are given."""
    if isinstance(data, Pairs):
        return None
    total = np.zeros(data.n_agents)
    for first in range(0, data.n_votes, _VOTES):
        last = min(first + _VOTES, data.n_votes)
        entries = data.agent[data.start[first] : data.start[last]]
        total += sum_by(entries, np.repeat(data.weight[first:last], data.length[first:last]), data.n_agents)
    return total


# A window of 512 agents: one cache line per agent or group.
_WORDS = 8


def chosen(pairs: Pairs, kept: Ints | np.ndarray) -> Pairs:
    """Some of the pairs."""
    counts = (column[kept] for column in (pairs.wins, pairs.losses, pairs.ties))
    return Pairs(pairs.agents, pairs.left[kept], pairs.right[kept], *counts, kind=pairs.kind)


def standing(below: Ints, above: Ints) -> Floats:
    """Agents below, and half of those neither above nor below."""
    return (len(below) - 1 + below - above) / 2


def places(level: Floats | Ints) -> Floats:
    """The same for agents in levels, the highest best."""
    ascending = np.sort(level)
    below = np.searchsorted(ascending, level, side="left")
    return standing(below, len(level) - np.searchsorted(ascending, level, side="right"))


def reach_counts(source: Ints, target: Ints, label: Ints) -> tuple[Ints, Ints]:
    """How many agents each one leads to along edges, and how many lead to it; those of its own group do not count.

    Groups are numbered by `label` so that no edge leads to a lower number; edges inside a group are passed over.
    """
    last = int(label.max(initial=-1))
    return _reached(source, target, label), _reached(target, source, last - label)


def _reached(source: Ints, target: Ints, label: Ints) -> Ints:
    size = np.bincount(label)
    begin = np.concatenate([[0], np.cumsum(size)])
    tail, head = label[source], label[target]
    between = np.flatnonzero(tail != head)
    tail, head = tail[between], head[between]
    row = np.concatenate([[0], np.cumsum(np.bincount(tail, minlength=len(size)))])
    count, mask = np.zeros(len(size), dtype=np.int64), np.zeros((len(size), _WORDS), dtype=np.uint64)
    graph.reached(row, head[np.argsort(tail, kind="stable")], begin, mask, count)
    return count[label]
