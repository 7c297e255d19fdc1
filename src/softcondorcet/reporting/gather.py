"""All that a report shows, computed once: ratings, how sure they are, other methods, and what the data is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import Any, Literal

import numpy as np

from softcondorcet import majority
from softcondorcet.arrays import Flags
from softcondorcet.bootstrapping import bootstrap
from softcondorcet.comparison import Comparison, as_methods, run
from softcondorcet.doctor import Inspection, inspect
from softcondorcet.errors import DataError
from softcondorcet.options import Watch
from softcondorcet.pairs import Pairs
from softcondorcet.profile import Profile
from softcondorcet.ratings import Ratings
from softcondorcet.reporting.titles import title_of
from softcondorcet.reporting.verdict import Verdict, verdict
from softcondorcet.tables import clipped
from softcondorcet.uncertainty import Uncertainty

# The answers that people know, next to which the ratings stand.
USUAL = ("sco", "bradley_terry", "elo", "copeland", "kemeny")
# Above this many agents a search for the exact order ends by its time limit, and so differs from run to run.
_EXACT = 1000
# Letters of a name.
_LONGEST = 120


@dataclass(frozen=True)
class Material:
    """What there is to say about a profile; ``unsure`` says why where ``uncertainty`` is None."""

    profile: Profile
    board: Ratings
    uncertainty: Uncertainty | None
    unsure: str
    comparison: Comparison
    inspection: Inspection
    verdict: Verdict
    provisional: Flags


def gather(
    profile: Profile,
    *,
    method: str,
    options: Mapping[str, Any],
    methods: Sequence[str],
    resamples: int,
    by: Literal["votes", "groups"],
    seed: int,
    time_limit: float | None = None,
    watch: Watch | None = None,
) -> Material:
    """Fit, resample, compare and inspect. Names too long to be shown are cut first: a page repeats them many times."""
    profile = with_brief_names(profile)
    uncertainty, unsure = None, "Intervals were not asked for."
    if resamples:
        try:
            uncertainty = bootstrap(profile, method, n=resamples, by=by, seed=seed, watch=watch, **options)
        except DataError as error:
            unsure = f"There are no intervals: {error}."
    board = run(profile, method, options, seed) if uncertainty is None else uncertainty.board
    inspection = inspect(profile)
    return Material(
        profile,
        board,
        uncertainty,
        unsure,
        _compared(profile, board, methods, seed, time_limit),
        inspection,
        verdict(profile.pairs(), board),
        provisional(profile, inspection),
    )


def with_brief_names(profile: Profile) -> Profile:
    if all(len(name) <= _LONGEST for name in (*profile.agents, *profile.groups)):
        return profile
    return replace(profile, agents=brief(profile.agents), groups=brief(profile.groups))


def brief(names: Sequence[str]) -> tuple[str, ...]:
    """The same names, none longer than a line or two, still different from each other."""
    found: dict[str, None] = {}
    for name in names:
        short = name if len(name) <= _LONGEST else clipped(name, _LONGEST)
        candidates = chain([short], (f"{short} ({k})" for k in count(2)))
        found[next(candidate for candidate in candidates if candidate not in found)] = None
    return tuple(found)


def _compared(
    profile: Profile, board: Ratings, methods: Sequence[str], seed: int, time_limit: float | None
) -> Comparison:
    """The board beside other methods, over the agents of the largest linked group: ranks across groups mean nothing."""
    others = [method for _, (method, _) in as_methods(methods).items() if method != board.method]
    left_out = {}
    if profile.n_agents > _EXACT and "kemeny" in others:
        others.remove("kemeny")
        left_out[title_of("kemeny")] = f"the exact order of more than {_EXACT:,} agents takes too long"
    boards = {title_of(board.method): board}
    for name in others:
        try:
            boards[title_of(name)] = run(profile, name, {}, seed, time_limit)
        except DataError as error:
            left_out[title_of(name)] = str(error)
    core = majority.largest_group(profile)
    return Comparison(
        {title: _kept(ratings, core) for title, ratings in boards.items()},
        majority.condorcet_winner(core),
        majority.condorcet_loser(core),
        majority.smith_set(core),
        left_out,
    )


def _kept(board: Ratings, core: Pairs) -> Ratings:
    """The ratings of the agents of `core` alone."""
    if len(core.agents) == len(board):
        return board
    return Ratings(core.agents, np.array([board[name] for name in core.agents]), board.method)


def provisional(profile: Profile, found: Inspection) -> Flags:
    """Agents with few votes, as the doctor finds them, and those outside the largest linked group."""
    few = {name for finding in found.findings if finding.name == "few-votes" for name in finding.names}
    linked = majority.linked_labels(profile.pairs())
    largest = np.argmax(np.bincount(linked, minlength=1))
    return np.array([k != largest or name in few for name, k in zip(profile.agents, linked, strict=True)], dtype=bool)
