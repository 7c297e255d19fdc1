"""The panel of a report about groups of votes: ranks by category, language or judge, and what differs beyond chance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from softcondorcet.columns import VOTER
from softcondorcet.errors import DataError
from softcondorcet.evaluation.budget import fit_cost, fits_worth
from softcondorcet.formatting import number
from softcondorcet.profile import Profile
from softcondorcet.uncertainty.by_group import ByGroup, by_group

# So many groups a column may have, panels a report, agents a table, and sentences a list.
_MOST, _PANELS, _AGENTS, _SAID = 12, 2, 15, 8
# Votes that a group needs, and votes above which only the column that votes are grouped by is looked at.
_FEWEST, _MANY = 20, 500_000
# What people want to see ranks by, most wanted first.
_WANTED = ("language", "category", "topic", "domain", "task", "benchmark", "subject", "country", "judge")


@dataclass(frozen=True)
class GroupPanel:
    """Ranks by the names of one `column`: `heads` are (name, votes), `rows` (agent, overall rank, cells by group).

    A cell is a rank and "up" or "down" where the agent does better or worse there beyond chance, as `said` in words,
    and `more` that are not said. `tested`: whether that was asked at all.
    """

    column: str
    heads: Sequence[tuple[str, str]]
    rows: Sequence[tuple[str, str, Sequence[tuple[str, str]]]]
    said: Sequence[str]
    more: int
    tested: bool
    noun: str


def group_panels(profile: Profile, method: str, options: Mapping[str, Any], seed: int = 0) -> list[GroupPanel]:
    """A panel for each of the columns that votes are best divided by; none where that would take too long."""
    panels: list[GroupPanel] = []
    for name in _columns(profile):
        if len(panels) == _PANELS or _too_large(profile, options):
            break
        try:
            found = by_group(profile, name, method, most=_MOST, least=_FEWEST, seed=seed, **options)
        except DataError:
            continue
        if len(found) > 1:
            panels.append(_panel(found, profile.noun))
    return panels


def groups_left_out(profile: Profile, options: Mapping[str, Any]) -> list[str]:
    """What is said where there are groups, but rating each of them takes too long."""
    if not _too_large(profile, options) or next(_columns(profile), None) is None:
        return []
    return [f"There are no ranks by group: rating {number(fit_cost(profile, options))} pairs again takes too long."]


def _too_large(profile: Profile, options: Mapping[str, Any]) -> bool:
    return fits_worth(profile, options) < 2


def _columns(profile: Profile) -> Iterator[str]:
    """Columns with a few names that hold enough votes each, the most wanted first."""
    grouped = profile.group_by
    names = [grouped] if grouped is not None else []
    if profile.n_votes <= _MANY:
        others = [name for name in profile.columns if name not in (grouped, VOTER)]
        names += [name for name in others if not profile.columns[name].numeric]
    wanted = {name: k for k, name in enumerate(_WANTED)}
    for name in sorted(names, key=lambda name: wanted.get(name.casefold(), len(_WANTED))):
        column = profile.columns[name].grouped()
        assert column.codes is not None
        votes = np.bincount(column.codes, weights=profile.counts, minlength=len(column.names))
        if (votes >= _FEWEST).sum() >= 2 and (votes > 0).sum() <= _MOST:
            yield name


def _panel(found: ByGroup, noun: str) -> GroupPanel:
    differ = found.differences or []
    kinds = {(one.agent, one.group): "up" if one.won > one.expected else "down" for one in differ}
    shown = list(found.groups.values())
    overall = found.overall
    placed = [overall.agents[k] for k in overall.listing.tolist() if overall.places[k]]
    moved = {agent for agent, _ in kinds}
    placed = [agent for place, agent in enumerate(placed) if place < _AGENTS or agent in moved][: 2 * _AGENTS]
    rows = [
        (
            agent,
            str(overall.place_of(agent)),
            [(_rank(group.board, agent), kinds.get((agent, group.name), "")) for group in shown],
        )
        for agent in placed
    ]
    heads = [(group.name, number(group.votes)) for group in shown]
    tested, more = found.differences is not None, max(len(differ) - _SAID, 0)
    return GroupPanel(found.column, heads, rows, [one.words() for one in differ[:_SAID]], more, tested, noun)


def _rank(board: Any, agent: str) -> str:
    return str(board.place_of(agent) or "") if agent in board else ""
