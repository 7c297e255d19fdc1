"""Do early and late votes agree?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from softcondorcet.doctor.case import Case
from softcondorcet.doctor.finding import Finding, Unchecked
from softcondorcet.doctor.judges import by_agent
from softcondorcet.errors import some

# Twenty points of win share: 40 % early, 60 % late. Less moves an agent by a few places at most.
_MATTERS = 0.2


def drift(case: Case) -> Iterator[Finding]:
    """Agents whose results against the same agents changed between the first and the second half of the votes."""
    when, profile = case.profile.when, case.profile
    if when is None:
        raise Unchecked("votes have no time")
    turn = np.argsort(when, kind="stable")
    half = np.searchsorted(np.cumsum(case.count[turn]), case.count.sum() / 2)
    late = (when > when[turn[min(half, len(when) - 1)]]).astype(np.int64)
    if not late.any():
        raise Unchecked("all votes have one time")
    label = late[case.vote_of] * profile.n_agents + profile.agent
    found = by_agent(case, label, case.decided.room(late))
    moved = [(key - profile.n_agents, shift) for key, _, shift in found if key >= profile.n_agents]
    moved = sorted((one for one in moved if abs(one[1]) > _MATTERS), key=lambda one: -abs(one[1]))
    if moved:
        names = tuple(profile.agents[k] for k, _ in moved)
        shown = [f"{profile.agents[k]} ({100 * shift:+.0f} points of win share)" for k, shift in moved]
        text = f"{len(moved)} of {profile.n_agents:,} agents do better or worse in late votes: {some(shown)}"
        advice = "An agent that was changed under its name, or other voters? Rate a recent window, or use elo."
        yield Finding("caution", "time-drift", len(moved), text, advice, names)
