"""The state of one board in memory, computed from its ledger: votes as columns that only grow, ratings and counts.

Ratings are Elo points. They follow votes as they come, by one step of Elo each, from where the last fit left them. A
fit of all votes is made elsewhere; when it comes back, the steps of the votes that came meanwhile are made again on top
of it. So ratings are a function of the ledger and the last fit, and a server that starts again has the same numbers.

A vote counts unless it was retracted or its voter is in quarantine. Both come as later rows of the ledger.
"""

from __future__ import annotations

import logging
import time
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any

import numpy as np

from softcondorcet.arrays import Flags, Floats, Ints
from softcondorcet.errors import DataError
from softcondorcet.profile import Profile
from softcondorcet.server.ledger.older_fits import converted, is_older
from softcondorcet.server.ledger.snapshot import (
    UNIT,
    Chosen,
    Facts,
    Fit,
    Snapshot,
    in_votes,
    listed,
    rated,
    snapshot_id,
    votes_of,
)
from softcondorcet.server.ledger.writer import MICRO, Entry, n_compared

# Kernels, and the pairs that are counted by them, are loaded when somebody looks: a server takes votes before.
if TYPE_CHECKING:
    from softcondorcet.pairs import Pairs

_log = logging.getLogger(__name__)
# Where an agent starts, and how many points a surprise moves it until the next fit.
MIDDLE, STEP = 1000.0, 8.0
# Pairs are counted again for the limit on them after so many seconds at the earliest.
_RECOUNT = 1.0
# More agents than any board has: a pair as one number.
_KEY = 2**31
# A vote of more weight takes no larger step: the next fit gives it all that is due to it.
_HEAVIEST = 10.0


# What stands for the group or voter of a vote that has none, beside others that have one.
NONE = "(none)"


# Who of the two of a vote was shown first: the first entry, the second, or nobody knows.
_AS_LISTED, _TURNED, _UNKNOWN = 0, 1, 2


def _side(entry: Entry) -> int:
    if entry.winner is None and sum(map(len, entry.body)) == 2:
        return _UNKNOWN
    return _TURNED if entry.winner == "b" else _AS_LISTED


class Codes:
    """Codes for texts: 0, 1, 2, ... in the order they first came; -1 for none."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._code: dict[str, int] = {}

    def of(self, name: str | None) -> int:
        if name is None:
            return -1
        code = self._code.setdefault(name, len(self.names))
        if code == len(self.names):
            self.names.append(name)
        return code

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
    """The votes of a board as columns, in the order of the ledger."""

    def __init__(self) -> None:
        self.voters, self.groups = Codes(), Codes()
        self._id, self._made, self._weight = array("q"), array("d"), array("q")
        self._voter, self._group, self._side = array("i"), array("i"), array("b")
        self._start, self._agent, self._tier = array("q", [0]), array("i"), array("i")
        self._retracted, self._welcome = array("b"), array("b")
        self._quarantined: set[int] = set()
        self.removals = 0  # how often votes that counted before ceased to, or the reverse

    def __len__(self) -> int:
        return len(self._id)

    def add(self, entry: Entry) -> None:
        """Append one vote to the columns."""
        self._id.append(entry.id)
        self._made.append(entry.made)
        self._weight.append(entry.weight)
        self._voter.append(self.voters.of(entry.voter))
        self._group.append(self.groups.of(entry.group))
        self._side.append(_side(entry))
        self._retracted.append(False)
        self._welcome.append(self._voter[-1] not in self._quarantined)
        for tier, agents in enumerate(entry.body):
            self._agent.extend(agents)
            self._tier.extend([tier] * len(agents))
        self._start.append(len(self._agent))

    @property
    def most_agent(self) -> int:
        """The largest agent number in any vote; -1 if there are no votes."""
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
        """The place of the vote with this id in the columns; None if there is no such vote."""
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
        """Which votes count (they and their voters were not removed) and pass the filter."""
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
        """The votes from place `first` on as arrays, and which of them were cast by voters not in quarantine then."""
        start = np.array(self._start[first:])
        entries = slice(int(start[0]), None)
        columns = np.array(self._agent[entries]), np.array(self._tier[entries]), np.array(self._weight[first:]) / MICRO
        return start - start[0], *columns, np.flatnonzero(self._welcome[first:])

    def voter_codes(self, kept: Flags) -> Ints:
        """The code of who cast each kept vote; -1 where nobody is known."""
        return np.array(self._voter[: len(kept)])[kept]

    def ids(self, kept: Flags) -> Ints:
        """The rows of the ledger that hold the votes that are kept."""
        return np.array(self._id[: len(kept)])[kept]

    def profile(
        self, agents: tuple[str, ...], kept: Flags, first: int = 0, *, unit: int = MICRO, facts: Facts | None = None
    ) -> Profile:
        """The votes ``kept[first:]`` as a profile, weights in units of so many millionths.

        With ``unit=1`` all weights are whole numbers, and so are all counts: sums are exact whatever their order.
        """
        last = len(kept)
        part = slice(first, last)
        start = np.array(self._start[first : last + 1])
        entries = slice(int(start[0]), int(start[-1]))
        weight: Floats = np.array(self._weight[part]) / unit
        group, groups = np.array(self._group[part]), tuple(self.groups.names)
        side = np.array(self._side[part])
        profile = Profile(
            agents,
            start - start[0],
            np.array(self._agent[entries]),
            np.array(self._tier[entries]),
            weight,
            group=np.where(group < 0, len(groups), group) if groups else None,
            groups=(*groups, NONE) if groups else (),
            when=np.array(self._made[part]),
            # A ranking of two lists the winner first, whoever was shown first: then nothing is known of sides.
            turned=None if (side[kept[part]] == _UNKNOWN).any() else side == _TURNED,
            facts=facts,
        )
        return profile if kept[part].all() else profile.take(kept[part])


@dataclass(frozen=True)
class _Counts:
    """Counts of the votes before place `upto`, in whole millionths: of pairs, and of votes by agent."""

    upto: int
    removals: int
    pairs: Pairs
    votes: Floats
    compared: int  # by votes up to then, see ``Board.most_pairs``

    @cached_property
    def keys(self) -> Ints:
        """The pairs as numbers, ascending."""
        return self.pairs.left.astype(np.int64) * _KEY + self.pairs.right


@dataclass
class Board:
    """A board in memory. The thread that writes the ledger changes it; others take snapshots."""

    id: int
    name: str
    title: str
    agents: list[str] = field(default_factory=list)
    votes: Votes = field(default_factory=Votes)
    last: int = 0
    changed: float = 0.0
    fit: Fit | None = None
    fitted: bool = False  # whether fits of it are made
    facts: Facts = field(default_factory=dict)  # what pages say about agents
    balance: bool = False  # whether each group counts the same

    def __post_init__(self) -> None:
        self._lock, self._counting = RLock(), Lock()
        self.by_group: dict[str, Fit] = {}  # of the votes of each group that the last fit saw
        self._compared = 0
        self._removals: list[int] = []  # rows that retract votes, quarantine voters or release them
        self._values, self._stepped = np.empty(0), 0  # ratings, after the votes before this place
        self._counts: _Counts | None = None
        self._snapshot: tuple[float, Snapshot] | None = None

    def tell(self, rows: Sequence[Entry], names: Sequence[str]) -> None:
        """Add rows of the ledger to the board, with the agents that they name for the first time."""
        with self._lock:
            self.agents.extend(names)
            for entry in rows:
                self._take(entry)

    def replay(self, rows: Iterable[Entry], agents: Sequence[str], fit: Fit | None = None) -> None:
        """Build the board from its whole ledger and its last fit, as a server does when it starts."""
        with self._lock:
            self.agents.extend(agents)
            for entry in rows:
                self._take(entry)
            if self.votes.most_agent >= len(self.agents):  # kernels trust what they are given
                most, got = len(self.agents) - 1, self.votes.most_agent
                raise DataError(f"board {self.name}: expected agents 0 to {most} in the ledger, got {got}")
            if fit is not None:
                self.adopt(fit)

    def _take(self, entry: Entry) -> None:
        # An import brings votes of long ago, a clock that was wrong those of the future.
        self.last, self.changed = entry.id, min(max(self.changed, entry.made), time.time())
        if entry.kind == "vote":
            self.votes.add(entry)
            self._compared += n_compared(entry.body)
            return
        self._removals.append(entry.id)
        if entry.kind == "retract":
            self.votes.retract(int(entry.body["vote"]))
        else:
            self.votes.quarantine(str(entry.voter), release=entry.kind == "release")

    def adopt(self, fit: Fit, by_group: Mapping[str, dict[str, Any]] | None = None) -> None:
        """Start from a new fit: take its ratings, then make one online step for each vote that came after it."""
        if is_older(fit):
            _log.warning("board %s: its last fit has ratings of 0 to 100; they are shown in Elo points", self.name)
            fit = converted(fit, self.votes_upto(fit.last))
        with self._lock:
            self.fit = fit
            self.by_group = {
                name: Fit(fit.id, fit.last, fit.made, analysis) for name, analysis in (by_group or {}).items()
            }
            self._values, self._stepped = fit.values.copy(), self.votes.after(fit.last)

    def _step(self) -> None:
        """Bring ratings up to date: one step of Elo for each vote since the last call, but for voters in quarantine."""
        from softcondorcet.kernels.batch import frozen
        from softcondorcet.kernels.bradley_terry import run_elo

        new = len(self.agents) - len(self._values)
        if new:
            self._values = np.concatenate([self._values, np.full(new, MIDDLE)])
        if self._stepped == len(self.votes):
            return
        start, agent, tier, weight, welcome = self.votes.steps(self._stepped)
        self._stepped = len(self.votes)
        length, counted = np.diff(start), np.zeros(len(weight))
        # The others of a vote on many agents move each as far together as one battle.
        counted[welcome] = np.minimum(weight[welcome], _HEAVIEST) / np.maximum(length[welcome] - 1, 1)
        votes = frozen(start, np.int64), frozen(agent, np.int32), frozen(tier, np.int32), frozen(counted, np.float64)
        run_elo(self._values, *votes, STEP, UNIT, *np.empty((2, int(length.max(initial=0)))))

    def snapshot(self, max_age: float = 0.0) -> Snapshot:
        """A snapshot of the board: a new one, or an earlier one of at most `max_age` seconds."""
        made, kept = self._snapshot or (0.0, None)
        now = time.monotonic()
        if kept is not None and (now - made < max_age or (kept.last == self.last and kept.fit is self.fit)):
            return kept
        with self._counting:
            fresh = self._look()
            self._snapshot = now, fresh
        return fresh

    def _look(self) -> Snapshot:
        from softcondorcet.pairs import Pairs

        with self._lock:  # the thread that writes waits for this: only steps and copies are made here
            self._step()
            agents, values, counted = tuple(self.agents), self._values.copy(), self.votes.counted()
            last, changed, fit, removals = self.last, self.changed, self.fit, self.votes.removals
            behind, pending, compared = self.behind, self.pending, self._compared
        counts = self._count(agents, counted, removals, compared)
        pairs = Pairs(agents, counts.pairs.left, counts.pairs.right, *in_votes(counts.pairs))
        if self.balance and self.votes.groups.names:
            pairs = self._weighed(self.votes.profile(agents, counted)).pairs()
        ratings = rated(agents, values, counts.votes / MICRO, pairs, self.facts)
        n_votes = int(counted.sum())
        return Snapshot(self.name, self.title, last, changed, ratings, n_votes, pairs, fit, behind, pending)

    def _weighed(self, profile: Profile) -> Profile:
        """The votes as they count: balanced, where each group is to count the same."""
        return profile.balanced() if self.balance and profile.group is not None else profile

    @property
    def snapshot_id(self) -> str:
        """The id that a snapshot taken now would have."""
        return snapshot_id(self.last, self.fit)

    @property
    def last_removal(self) -> int:
        """The last row that changed which votes count: a retraction, a quarantine or a release."""
        return self._removals[-1] if self._removals else 0

    @property
    def behind(self) -> int:
        """Number of rows that the last fit does not know: votes, and removals of votes."""
        fitted_to = self.fit.last if self.fit else 0
        removals = len(self._removals) - bisect_right(self._removals, fitted_to)
        return len(self.votes) - self.votes.after(fitted_to) + removals

    @property
    def pending(self) -> bool:
        """Whether to show no ranks until the next fit: there is none yet, or votes have doubled since the last."""
        if not self.fitted or not len(self.votes):
            return False
        return self.fit is None or len(self.votes) - self.votes.after(self.fit.last) > self.fit.n_votes

    def most_pairs(self) -> int:
        """An upper bound on the pairs that count: those counted last, plus all that votes compared since."""
        counts = self._counts
        return self._compared if counts is None else len(counts.pairs) + self._compared - counts.compared

    def recount(self) -> None:
        """Count pairs again if votes came since the last count. Too slow for the event loop."""
        self.snapshot(_RECOUNT)

    def new_pairs(self, votes: Iterable[Sequence[Sequence[str]]], most: int) -> int:
        """How many pairs of these votes, tiers of names, do not count yet; more than `most` need not be told apart.

        Counts first where votes came since, so it is not for the event loop.
        """
        self.recount()
        assert self._counts is not None
        known = self._counts.keys
        number = {name: k for k, name in enumerate(self.agents)}
        fresh = np.empty(0, np.int64)
        for tiers in votes:
            names = [name for tier in tiers for name in tier]
            agents = np.sort([number.setdefault(name, len(number)) for name in names])
            left, right = np.triu_indices(len(agents), 1)
            keys = agents[left] * _KEY + agents[right]
            at = np.minimum(np.searchsorted(known, keys), max(len(known) - 1, 0))
            fresh = np.union1d(fresh, keys[known[at] != keys] if len(known) else keys)
            if len(fresh) > most:
                break
        return len(fresh)

    def wanted(self, wanted: Filter, upto: int | None = None) -> Chosen:
        """The votes that count and pass the filter, up to a row of the ledger if one is given."""
        with self._lock:
            agents, counted, last, changed = tuple(self.agents), self.votes.counted(wanted), self.last, self.changed
            if upto is not None:
                counted[self.votes.after(upto) :] = False
                last = min(last, upto)
        profile = self._weighed(self.votes.profile(agents, counted, facts=self.facts))
        voters = self.votes.voter_codes(counted)
        return Chosen(self.name, self.title, last, changed, listed(profile) if wanted else profile, voters)

    def votes_upto(self, row: int) -> Profile:
        return self.wanted(Filter(), row).profile

    def chosen(self, wanted: Filter) -> tuple[tuple[str, ...], Ints]:
        """All agents, and the numbers in the ledger of the votes that count and are wanted."""
        with self._lock:
            return tuple(self.agents), self.votes.ids(self.votes.counted(wanted))

    def _count(self, agents: tuple[str, ...], counted: Flags, removals: int, compared: int) -> _Counts:
        """Pair counts: those of before and those of the votes since; from the start only after votes were removed."""
        before = self._counts
        if before is not None and before.removals != removals:
            before = None
        new = self.votes.profile(agents, counted, before.upto if before else 0, unit=1)
        pairs, votes = new.pairs(), votes_of(new)
        if before is not None:
            pairs = pairs.plus(before.pairs)
            votes[: len(before.votes)] += before.votes
        self._counts = _Counts(len(counted), removals, pairs, votes, compared)
        return self._counts


def warm() -> None:
    """Load modules ahead of time that the first request for a board would have to wait for."""
    board = Board(0, "", "")
    board.tell([Entry(1, 0, "vote", 0.0, None, None, None, MICRO, None, [[0], [1]])], ["a", "b"])
    board.snapshot()
