"""Scores of agents by task: the mean score, who is first on which task, and how well each task agrees with an order.

A score table becomes votes over tasks, which ratings are made of; this is the table itself, agent by task. Of a task
with several items it has the mean of the scores of an agent. Cost: agents x tasks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from softcondorcet.arrays import Flags, Floats
from softcondorcet.profile import Profile

# Cells above which a table is not made: 40 MB.
_CELLS = 5_000_000


@dataclass(frozen=True, eq=False)
class TaskScores:
    """`scores[a, t]` is the score of agent a on task t, nan without one; `higher[t]`: whether higher is better."""

    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    scores: Floats
    higher: Flags

    @cached_property
    def standing(self) -> Floats:
        """The share of the others on a task that each agent is above, equal scores as half; nan without a score."""
        signed = np.where(self.higher, self.scores, -self.scores)
        found = np.full(signed.shape, np.nan)
        for t in range(len(self.tasks)):
            (there,) = np.nonzero(~np.isnan(signed[:, t]))
            values, ordered = signed[there, t], np.sort(signed[there, t])
            below = np.searchsorted(ordered, values, side="left")
            level = np.searchsorted(ordered, values, side="right") - below - 1
            found[there, t] = (below + level / 2) / max(len(there) - 1, 1)
        return found

    @cached_property
    def means(self) -> Floats | None:
        """The mean score of each agent over its tasks, nan without any; None where tasks point different ways."""
        if not len(self.tasks) or self.higher.any() != self.higher.all():
            return None
        there = ~np.isnan(self.scores)
        count = there.sum(axis=1)
        means: Floats = np.where(there, self.scores, 0.0).sum(axis=1) / np.where(count, count, np.nan)
        return means

    @cached_property
    def mean_order(self) -> Floats | None:
        """The same, higher is better; None too where an agent has no score at all."""
        means = self.means
        if means is None or np.isnan(means).any():
            return None
        return means if self.higher.all() else -means

    def first(self, task: int) -> list[int]:
        """The agents with the best score on a task."""
        column = self.scores[:, task]
        if np.isnan(column).all():
            return []
        best = np.nanmax(column) if self.higher[task] else np.nanmin(column)
        return np.flatnonzero(column == best).tolist()

    def agreement(self, values: Floats) -> Floats:
        """How well each task agrees with ratings of the agents, from -1 to 1: the correlation of ranks (Spearman)."""
        found = np.zeros(len(self.tasks))
        for t in range(len(self.tasks)):
            (there,) = np.nonzero(~np.isnan(self.standing[:, t]))
            place = np.argsort(np.argsort(values[there], kind="stable"), kind="stable").astype(float)
            own = self.standing[there, t]
            if len(there) > 1 and np.ptp(own) > 0:
                found[t] = np.corrcoef(place, own)[0, 1]
        return found


def task_scores(profile: Profile) -> TaskScores | None:
    """The table of scores that a profile was made of; None where it has no scores, or too many to lay out.

    >>> from softcondorcet.io.assemble import as_table
    >>> table = {"agent": ["a", "b", "a"], "task": ["x", "x", "y"], "score": [1.0, 2.0, 3.0]}
    >>> found = task_scores(Profile.from_scores(table))
    >>> found.tasks, found.means.tolist(), found.first(0)
    (('x', 'y'), [2.0, 2.0], [1])
    """
    if profile.score is None or profile.higher_is_better is None or not profile.n_votes:
        return None
    if profile.group is None:
        codes, names = np.arange(profile.n_votes), tuple(f"task {v + 1}" for v in range(profile.n_votes))
    else:
        used, codes = np.unique(profile.group, return_inverse=True)
        names = tuple(profile.groups[code] for code in used.tolist())
    if profile.n_agents * len(names) > _CELLS:
        return None
    known = ~np.isnan(profile.score)
    cell = profile.agent * len(names) + np.repeat(codes, profile.length)
    shape, cells = (profile.n_agents, len(names)), profile.n_agents * len(names)
    total = np.bincount(cell[known], weights=profile.score[known], minlength=cells)
    count = np.bincount(cell[known], minlength=cells)
    scores = (total / np.where(count, count, np.nan)).reshape(shape)
    higher = np.zeros(len(names), dtype=bool)
    higher[codes] = profile.higher_is_better
    return TaskScores(profile.agents, names, scores, higher)
