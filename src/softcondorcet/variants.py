"""The same votes with something changed: without an agent, without some votes, with a copy of an agent.

What robustness asks is always: and if this had been otherwise? Votes keep their order, weight, group and time.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from softcondorcet.arrays import Floats, Ints
from softcondorcet.profile import Profile


def without_agent(profile: Profile, agent: int) -> Profile:
    """The votes over the other agents; a vote that then compares nobody, and did before, is gone.

    >>> votes = Profile.from_rankings([["a", "b", "c"], ["a", "b"]])
    >>> list(without_agent(votes, 0).rankings())
    [[['b'], ['c']]]
    """
    stays = profile.agent != agent
    length = np.add.reduceat(stays, profile.start[:-1]) if profile.n_votes else profile.length
    tells = (length > 1) | ((profile.length == 1) & (length == 1))
    kept = stays & np.repeat(tells, profile.length)
    number = profile.agent[kept]
    return replace(
        profile.take(tells),
        agents=profile.agents[:agent] + profile.agents[agent + 1 :],
        start=_starts(length[tells]),
        agent=number - (number > agent),
        tier=profile.tier[kept],
        turned=None,
    )


def with_copy(profile: Profile, agent: int) -> Profile:
    """The votes with one more agent, the last one, that ties with the original wherever that stands.

    >>> list(with_copy(Profile.from_rankings([["a", "b"]]), 1).rankings())
    [[['a'], ['b', 'copy of b']]]
    """
    name = f"copy of {profile.agents[agent]}"
    while name in profile.agents:
        name = f"copy of {name}"
    found = profile.agent == agent
    after = np.flatnonzero(found) + 1
    holds = np.add.reduceat(found, profile.start[:-1]) if profile.n_votes else profile.length
    return replace(
        profile,
        agents=(*profile.agents, name),
        start=_starts(profile.length + holds),
        agent=np.insert(profile.agent, after, profile.n_agents),
        tier=np.insert(profile.tier, after, profile.tier[found]),
        turned=None,
    )


def without_votes(profile: Profile, removed: Floats) -> Profile:
    """The votes less a part of their weight, one number for each; those with nothing left are gone."""
    left = profile.weight - removed
    kept = left > 0
    return replace(profile.take(kept), weight=left[kept])


def _starts(length: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(length)])
