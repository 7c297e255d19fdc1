"""The panel of a report about score tables: scores by agent and task, who is first where, and which tasks decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from softcondorcet.errors import DataError
from softcondorcet.evaluation.budget import fits_worth, over_votes
from softcondorcet.evaluation.robustness import Robustness, robustness
from softcondorcet.evaluation.task_scores import TaskScores
from softcondorcet.formatting import listing, plural, shortened, signed
from softcondorcet.leaderboard import decimals
from softcondorcet.profile import Profile
from softcondorcet.ratings import Ratings

# Agents and tasks that the table of scores has room for, and steps of its colour.
AGENTS, TASKS, SHADES = 25, 30, 6
# Agents that are named as first on a task, and letters of a name in the head of the table.
_FIRST, _NAME = 3, 26
# Tasks that are left out in turn.
_TRIED = 50


@dataclass(frozen=True)
class Score:
    """A cell: the score in words, and how far up it is on its task, from 0 to ``SHADES``; -1 where there is none."""

    text: str
    shade: int
    best: bool = False


@dataclass(frozen=True)
class TaskPanel:
    """`rows` are (rank, agent, scores) in the order of the board, `firsts` are (task, who is first, the score, and who
    would lead without the task, where that was tried).

    `tasks` are those of the columns, the ones that agree with the order first; `decides` sums up what the tasks decide,
    `n_tasks` counts all of them.
    """

    tasks: Sequence[str]
    rows: Sequence[tuple[str, str, Sequence[Score]]]
    firsts: Sequence[tuple[str, str, str, str]]
    decides: str
    n_tasks: int


def task_panel(
    profile: Profile, table: TaskScores | None, ratings: Ratings, options: Mapping[str, Any], seed: int = 0
) -> TaskPanel | None:
    """The panel for a profile and its ratings by a method with `options`; None where it has no table of scores."""
    if table is None:
        return None
    left_out = _left_out(profile, ratings, options, seed)
    order = np.argsort(-table.agreement(ratings.values), kind="stable")
    placed = ratings.listing[ratings.places[ratings.listing] > 0]
    digits = [decimals(column[~np.isnan(column)]) for column in table.scores.T]
    chosen, shown = (placed if len(placed) else ratings.listing)[:AGENTS].tolist(), order[:TASKS].tolist()
    names = shortened([ratings.agents[a] for a in chosen], _NAME)
    rows = [
        (str(ratings.places[a] or ""), name, [_score(table, a, t, digits[t]) for t in shown])
        for a, name in zip(chosen, names, strict=True)
    ]
    without = {} if left_out is None else {change.name: change.top for change in left_out.of("group")}
    firsts = []
    for t in order.tolist():
        best = table.first(t)
        if best:
            winners = listing([table.agents[a] for a in best], _FIRST)
            score = signed(float(table.scores[best[0], t]), digits[t])
            firsts.append((table.tasks[t], winners, score, without.get(table.tasks[t], "")))
    tasks = shortened([table.tasks[t] for t in shown], _NAME)
    return TaskPanel(tasks, rows, firsts[:TASKS], _decides(left_out, len(table.tasks)), len(table.tasks))


def _score(table: TaskScores, agent: int, task: int, digits: int) -> Score:
    value = float(table.scores[agent, task])
    if np.isnan(value):
        return Score("", -1)
    return Score(signed(value, digits), round(SHADES * float(table.standing[agent, task])), agent in table.first(task))


def _left_out(profile: Profile, ratings: Ratings, options: Mapping[str, Any], seed: int) -> Robustness | None:
    """What changes without each task; None where no single agent is first, or there is no time for so many fits."""
    if profile.group is None or (ratings.places == 1).sum() != 1:
        return None
    tasks = min(len(profile.groups), _TRIED)
    if fits_worth(profile, {**options, **over_votes(profile, ratings.method, options)}) < tasks:
        return None
    try:
        return robustness(profile, ratings.method, options=options, parts=("groups",), groups=_TRIED, seed=seed)
    except DataError:
        return None


def _decides(found: Robustness | None, n_tasks: int) -> str:
    """Whether the first place hangs on a task, in a sentence."""
    changes = [] if found is None else found.of("group")
    if not changes:
        return ""
    top, moved = changes[0].top_before, [change for change in changes if change.top_changed]
    tried = plural(n_tasks, "task") if len(changes) == n_tasks else f"{len(changes)} tasks tried (of {n_tasks:,})"
    if not moved:
        return f"{top} stays first without any one of {tried}."
    names = listing([change.name for change in moved], 6)
    if len(moved) == 1:
        return f"Without {names} {moved[0].top} leads; without any other of {tried} {top} stays first."
    return f"{len(moved)} of {tried} decide: without any one of them another agent leads ({names})."
