"""The votes of a board in memory, as columns that only grow, and which of them count.

A vote counts unless it was retracted or its voter is in quarantine. Both come as later rows of the ledger, so the
columns are a fold over it: the same rows give the same columns.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from dataclasses import dataclass, replace

import numpy as np

from softcondorcet.arrays import Flags, Floats, Ints
from softcondorcet.profile import Profile
from softcondorcet.serve.store import MICRO, Entry

# What stands for the group or voter of a vote that has none, beside others that have one.
NONE = "(none)"


class Codes:
    """Texts as numbers, in the order they came; -1 for none."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._code: dict[str, int] = {}

    def of(self, name: str | None) -> int:
        if name is None:
            return -1
        found = self._code.setdefault(name, len(self.names))
        if found == len(self.names):
            self.names.append(name)
        return found

    def find(self, name: str) -> int | None:
        return self._code.get(name)


@dataclass(frozen=True)
class Filter:
    """Which votes to look at: those of one group, and those cast from `since` on and before `until`."""

    group: str | None = None
    since: float | None = None
    until: float | None = None

    def __bool__(self) -> bool:
        return self != Filter()


class Votes:
    """Column by column: what came in, in the order of the ledger."""

    def __init__(self) -> None:
        self.voters, self.groups = Codes(), Codes()
        self._id, self._made, self._weight = array("q"), array("d"), array("q")
        self._voter, self._group, self._turned = array("i"), array("i"), array("b")
        self._start, self._agent, self._tier = array("q", [0]), array("i"), array("i")
        self._retracted, self._welcome = array("b"), array("b")
        self._quarantined: set[int] = set()
        self.removals = 0  # how often votes that counted before ceased to, or the reverse

    def __len__(self) -> int:
        return len(self._id)

    def add(self, entry: Entry) -> None:
        """Append one vote."""
        self._id.append(entry.id)
        self._made.append(entry.made)
        self._weight.append(entry.weight)
        self._voter.append(self.voters.of(entry.voter))
        self._group.append(self.groups.of(entry.group))
        self._turned.append(entry.winner == "b")
        self._retracted.append(False)
        self._welcome.append(self._voter[-1] not in self._quarantined)
        for tier, agents in enumerate(entry.body):
            self._agent.extend(agents)
            self._tier.extend([tier] * len(agents))
        self._start.append(len(self._agent))

    @property
    def most_agent(self) -> int:
        """The greatest number of an agent in a vote; -1 for none."""
        return max(self._agent, default=-1)

    def retract(self, vote: int) -> None:
        place = self.place(vote)
        if place is not None and not self._retracted[place]:
            self._retracted[place] = True
            self.removals += 1

    def quarantine(self, voter: str, *, release: bool = False) -> None:
        (self._quarantined.discard if release else self._quarantined.add)(self.voters.of(voter))
        self.removals += 1

    def place(self, vote: int) -> int | None:
        """Where the vote with this id stands."""
        place = bisect_left(self._id, vote)
        return place if place < len(self) and self._id[place] == vote else None

    def is_retracted(self, place: int) -> bool:
        return bool(self._retracted[place])

    def is_quarantined(self, voter: str | None) -> bool:
        return self.voters.of(voter) in self._quarantined

    @property
    def quarantined(self) -> list[str]:
        return sorted(self.voters.names[code] for code in self._quarantined)

    def after(self, row: int) -> int:
        """Place of the first vote after this row of the ledger."""
        return bisect_left(self._id, row + 1)

    def counted(self, wanted: Filter | None = None) -> Flags:
        """Which votes count, and are wanted."""
        kept = np.array(self._retracted, dtype=bool)
        np.logical_not(kept, out=kept)
        if self._quarantined:
            kept &= ~np.isin(np.array(self._voter), list(self._quarantined))
        if wanted is not None and wanted.group is not None:
            kept &= np.array(self._group) == self.groups.find(wanted.group)
        if wanted is not None and (wanted.since is not None or wanted.until is not None):
            made = np.array(self._made)
            kept &= (made >= (wanted.since or 0.0)) & (made < (np.inf if wanted.until is None else wanted.until))
        return kept

    def steps(self, first: int) -> tuple[Ints, Ints, Ints, Floats, Ints]:
        """The votes from place `first` on: start, agent, tier, weight; and those that were welcome when they came."""
        start = np.array(self._start[first:])
        entries = slice(int(start[0]), None)
        columns = np.array(self._agent[entries]), np.array(self._tier[entries]), np.array(self._weight[first:]) / MICRO
        return start - start[0], *columns, np.flatnonzero(self._welcome[first:])

    def voter_codes(self, kept: Flags) -> Ints:
        """Who cast the votes that are kept; -1 for nobody known."""
        return np.array(self._voter[: len(kept)])[kept]

    def ids(self, kept: Flags) -> Ints:
        """The rows of the ledger that hold the votes that are kept."""
        return np.array(self._id[: len(kept)])[kept]

    def profile(self, agents: tuple[str, ...], kept: Flags, first: int = 0, *, unit: int = MICRO) -> Profile:
        """The votes ``kept[first:]`` as a profile, weights in units of so many millionths.

        With ``unit=1`` all weights are whole numbers, and so are all counts: sums are exact whatever their order.
        """
        last = len(kept)
        part = slice(first, last)
        start = np.array(self._start[first : last + 1])
        entries = slice(int(start[0]), int(start[-1]))
        weight: Floats = np.array(self._weight[part]) / unit
        group, groups = np.array(self._group[part]), tuple(self.groups.names)
        profile = Profile(
            agents,
            start - start[0],
            np.array(self._agent[entries]),
            np.array(self._tier[entries]),
            weight,
            group=np.where(group < 0, len(groups), group) if groups else None,
            groups=(*groups, NONE) if groups else (),
            when=np.array(self._made[part]),
            turned=np.array(self._turned[part], dtype=bool),
        )
        return profile if kept[part].all() else profile.take(kept[part])


def listed(profile: Profile) -> Profile:
    """The same votes over the agents that stand in them."""
    used = np.unique(profile.agent)
    place = np.zeros(profile.n_agents, dtype=np.int64)
    place[used] = np.arange(len(used))
    return replace(profile, agents=tuple(profile.agents[k] for k in used), agent=place[profile.agent])
