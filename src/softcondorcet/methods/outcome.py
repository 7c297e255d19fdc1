"""From an array of ratings to a ``Ratings`` that says what the votes say and what limits it. Every method ends here."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from softcondorcet import majority
from softcondorcet.arrays import Floats, sum_by
from softcondorcet.errors import NotConverged, some
from softcondorcet.pairs import Pairs, as_pairs
from softcondorcet.profile import Profile
from softcondorcet.ratings import Ratings, rounded_up

Data = Profile | Pairs


def rated(
    data: Data,
    values: Floats,
    method: str,
    options: Mapping[str, Any],
    *,
    converged: bool | None = None,
    error: float | None = None,
    lower_bound: float | None = None,
    **facts: Any,
) -> Ratings:
    """The result of `method`, with its discrete loss, the majority's view and warnings."""
    pairs = as_pairs(data)
    loss = pairs.discrete_loss(values)
    notes = list(limits(pairs))
    if converged is False:
        notes.insert(0, unfinished(method, options, error, facts.get("status")))
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
        condorcet_winner=majority.condorcet_winner(pairs),
        smith_set=majority.smith_set(pairs),
        warnings=tuple(notes),
        votes=votes_per_agent(data),
        **facts,
    )


def unfinished(method: str, options: Mapping[str, Any], error: float | None, status: str | None = None) -> str:
    """That a method stopped before its end, and what would let it go on."""
    if status is None:
        return f"{method} did not converge: error {error:.2g}; tol is {options['tol']:g}; raise steps"
    more = {"stalled": "more time would not raise the bound", "node_limit": "raise nodes"}
    lower = f"the least loss may be up to {rounded_up(error or 0.0)} lower"
    return f"{method} did not converge: {lower}; {more.get(status, 'raise time_limit')}"


def limits(pairs: Pairs) -> list[str]:
    """What the data cannot tell, in words."""
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
            notes.append(f"{len(names)} agent{'s' * (len(names) > 1)} {words}: {some(names)}")
    return notes


def votes_per_agent(data: Data) -> Floats | None:
    """Total weight of the votes that hold each agent; unknown when only pairs are given."""
    if isinstance(data, Pairs):
        return None
    return sum_by(data.agent, np.repeat(data.weight, data.length), data.n_agents)
