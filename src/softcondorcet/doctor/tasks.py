"""Tables of scores: agents that lack tasks, and tasks that point the other way."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from softcondorcet.arrays import Flags, Floats, Ints, sum_by
from softcondorcet.doctor.comparisons import Case
from softcondorcet.doctor.finding import Finding, Unchecked, critical
from softcondorcet.formatting import some

# An agent that lacks more than a tenth of the tasks, and more than one, has a mean over other tasks than the rest.
_SHARE = 0.1
_NO_TASKS = "not a table of scores: votes share groups, have none, or hold few of the agents"


def missing(case: Case) -> Iterator[Finding]:
    """Agents that lack tasks, and whether those are the tasks with stronger opponents."""
    profile = case.profile
    if not case.score_table:
        raise Unchecked(_NO_TASKS)
    present = np.zeros((profile.n_agents, profile.n_votes), dtype=bool)
    present[profile.agent, case.vote_of] = True
    lacks = profile.n_votes - present.sum(axis=1)
    if not lacks.any():
        return
    agents = np.flatnonzero(lacks)
    agents = agents[np.argsort(-lacks[agents], kind="stable")]
    names = tuple(profile.agents[k] for k in agents)
    shown = some([f"{profile.agents[k]} lacks {lacks[k]}" for k in agents])
    text = f"{len(agents):,} of {profile.n_agents:,} agents lack some of {profile.n_votes:,} tasks: {shown}"
    spared = [profile.agents[k] for k in _spared(present, agents, _strength(case))]
    if spared:
        text += f". The tasks that {some(spared)} lack are those of the stronger fields, so win rates flatter"
    advice = (
        "Means and win rates then compare different tasks: run the missing ones, or trust pairs only (sco, kemeny)."
    )
    severe = lacks.max() > max(1, _SHARE * profile.n_votes)
    yield Finding("caution" if severe else "note", "missing-tasks", len(agents), text, advice, names)


def _spared(present: Flags, agents: Ints, strength: Floats) -> list[int]:
    """Those of the agents that lack tasks with stronger fields than the tasks they have, by a rank-sum test.

    The strength of a field is the mean win share of the other agents in it. (Wilcoxon, 1945; normal from 8 on.)
    """
    total, size = strength @ present, present.sum(axis=0)
    spared = []
    for k in agents:
        here = present[k]
        lacked, had = int((~here).sum()), int(here.sum())
        if min(lacked, had) < 8:
            continue
        field = (total - strength[k] * here) / np.maximum(size - here, 1)
        _, place, ties = np.unique(field, return_inverse=True, return_counts=True)
        rank = (np.cumsum(ties) - (ties - 1) / 2)[place]
        middle, spread = lacked * (lacked + had + 1) / 2, math.sqrt(lacked * had * (lacked + had + 1) / 12)
        if (rank[~here].sum() - middle) / spread > critical(len(present)):
            spared.append(int(k))
    return spared


def _strength(case: Case) -> Floats:
    """Share of its comparisons that each agent won, ties as halves."""
    tally, m = case.tally, case.profile.n_agents
    won = sum_by(tally.left, tally.wins + tally.ties / 2, m) + sum_by(tally.right, tally.losses + tally.ties / 2, m)
    total = tally.wins + tally.losses + tally.ties
    return won / np.maximum(sum_by(tally.left, total, m) + sum_by(tally.right, total, m), 1.0)


def reversed_tasks(case: Case) -> Iterator[Finding]:
    """Tasks that order the agents opposite to all others: lower scores may be better there.

    Kendall's tau of each task against the majority of the others. For an order that has nothing to do with theirs it
    has the variance 2 (2k + 5) / (9 k (k - 1)) for k agents (Kendall, 1938).
    """
    profile = case.profile
    if not case.score_table:
        raise Unchecked(_NO_TASKS)
    each, n = case.comparisons, profile.n_votes
    own = 2 * each.result - 1
    rest = np.sign((case.tally.wins - case.tally.losses)[each.pair] - each.count * own)
    said = np.maximum(sum_by(each.vote, np.abs(own * rest), n), 1.0)
    tau = sum_by(each.vote, own * rest, n) / said
    k = np.maximum(profile.length, 2)
    z = tau / np.sqrt(2 * (2 * k + 5) / (9 * k * (k - 1)))
    opposite = np.flatnonzero(z < -critical(n))
    if len(opposite):
        opposite = opposite[np.argsort(z[opposite])]
        assert profile.group is not None
        names = tuple(profile.groups[profile.group[v]] for v in opposite)
        shown = some([f"{name} (tau {tau[v]:.2f})" for name, v in zip(names, opposite, strict=True)])
        text = f"{len(opposite)} of {n:,} tasks rank the agents the other way round than the rest: {shown}"
        advice = "Is a lower score better there? Say so in a column higher_is_better."
        yield Finding("caution", "reversed-tasks", len(opposite), text, advice, names)
