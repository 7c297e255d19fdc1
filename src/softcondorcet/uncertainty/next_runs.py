"""Which agent should be run on which task next, where votes are the tasks of a score table?

A run of agent a on task t compares a with all agents that have a score there. Of each pair that is not told apart it
tells what one more match of the two would (``next_matches``):

    value of (a, t) = sum of q (1 - q) / (n + 1) over the open pairs of a with agents that have a score on t.

Only runs that are missing are named. Where the table has no gaps, only new tasks can tell more: then it is said about
how many like these would tell the first two apart, if they go on as they did.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from softcondorcet.arrays import Floats, Ints
from softcondorcet.checks import whole
from softcondorcet.errors import OptionError
from softcondorcet.evaluation.task_scores import TaskScores, task_scores
from softcondorcet.formatting import number, plural
from softcondorcet.profile import Profile, as_profile
from softcondorcet.uncertainty.intervals import Uncertainty
from softcondorcet.uncertainty.next_matches import open_pairs, settled_in_words


@dataclass(frozen=True)
class Run:
    """An agent to run on a task; `pairs` are those not told apart that it would compare, `value` is what it tells."""

    agent: str
    task: str
    pairs: int
    value: float


@dataclass(frozen=True)
class NextRuns:
    """The runs that tell most, best first. `settled`: no more are needed; `open`: how many pairs are open.

    `more` says, of a table without gaps, how many more tasks would tell the first two apart.
    """

    runs: Sequence[Run]
    settled: bool
    open: int
    missing: int
    top: int
    n_agents: int
    level: float
    source: str
    more: str = ""
    warnings: tuple[str, ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        return [asdict(run) for run in self.runs]

    def summary(self) -> list[str]:
        """The answer in words."""
        lines = [settled_in_words(self.settled, self.open, self.top, self.n_agents, self.level, self.source)]
        if not self.settled:
            gaps = "no score is missing: only new tasks can tell more"
            lines.append(f"{plural(self.missing, 'score is', 'scores are')} missing" if self.missing else gaps)
        lines += [self.more] if self.more else []
        return [*lines, *(f"warning: {note}" for note in self.warnings)]

    def to_dict(self) -> dict[str, Any]:
        return {**{name: value for name, value in vars(self).items() if name != "runs"}, "runs": self.rows()}

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)


def next_runs(data: Profile, found: Uncertainty, count: int = 10, *, top: int | None = None) -> NextRuns:
    """The missing scores of a table that would tell most about the order.

    Parameters
    ----------
    data: a Profile of a score table.
    found: what ``bootstrap`` gave for it.
    count: how many runs to name.
    top: settle only who the first `top` are, and their order; None for all agents.
    """
    profile = as_profile(data, "a Profile of scores: votes without scores have no tasks")
    whole("count", count)
    if top is not None:
        whole("top", top)
    table = task_scores(profile)
    if table is None or found.pairs is None:
        raise OptionError("data must be a Profile of scores, and found the result of bootstrap for it")
    m = len(found.board)
    places = m if top is None else min(top, m)
    a, b, above = open_pairs(found, places)
    value, pairs = _values(table, a, b, found.pairs.match_value(a, b, above))
    gaps = np.isnan(table.scores)
    best = np.argsort(-value, axis=None, kind="stable")[:count]
    runs = [
        Run(table.agents[agent], table.tasks[task], int(pairs[agent, task]), float(value[agent, task]))
        for agent, task in (divmod(place, len(table.tasks)) for place in best.tolist())
        if value[agent, task] > 0
    ]
    more = _tasks_needed(found) if len(a) and not gaps.any() else ""
    about = len(a), int(gaps.sum()), places, m, found.level, found.source, more, found.warnings
    return NextRuns(runs, not len(a), *about)


def _values(table: TaskScores, a: Ints, b: Ints, worth: Floats) -> tuple[Floats, Ints]:
    """What each missing score would tell, and of how many open pairs; 0 for scores that are there."""
    m = len(table.agents)
    value, pairs = np.zeros(table.scores.shape), np.zeros(table.scores.shape, dtype=np.int64)
    for t in range(len(table.tasks)):
        there = ~np.isnan(table.scores[:, t])
        for mine, other in ((a, b), (b, a)):
            told = there[other] & ~there[mine]
            value[:, t] += np.bincount(mine[told], weights=worth[told], minlength=m)
            pairs[:, t] += np.bincount(mine[told], minlength=m)
    return value, pairs


def _tasks_needed(found: Uncertainty) -> str:
    """About how many tasks like these would tell the first agent from the second, in a sentence."""
    first, second = found.board.listing[:2].tolist()
    assert found.pairs is not None
    wins, ties = found.pairs.dense(np.array([first, second]))
    won, lost, level = float(wins[0, 1]), float(wins[1, 0]), float(ties[0, 1])
    names = f"{found.agents[first]} from {found.agents[second]}"
    if won <= lost:
        return f"{found.agents[first]} and {found.agents[second]} are level on these tasks: more may tell them apart"
    # The lead grows with the tasks, its standard deviation with their root.
    total = won + lost + level
    spread = math.sqrt(won + lost - (won - lost) ** 2 / total)
    needed = total * (NormalDist().inv_cdf(found.sure) * spread / (won - lost)) ** 2
    more = max(1, math.ceil(needed - total))
    return f"about {number(float(f'{more:.2g}'))} more tasks like these would tell {names}, if they go on as they did"
