"""The state of one board: a fold over its ledger, and what readers may see of it.

Ratings follow votes as they come, by one online step each, from where the last fit left them. A fit of all votes is
made elsewhere; when it comes back, the steps of the votes that came meanwhile are made again on top of it. So ratings
are a function of the ledger and the last fit, and a server that starts again has the same numbers.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any

import numpy as np

from softcondorcet.arrays import Flags, Floats, Ints, read_only
from softcondorcet.errors import DataError
from softcondorcet.profile import Profile
from softcondorcet.ratings import Ratings
from softcondorcet.serve.store import MICRO, Entry
from softcondorcet.serve.votes import Filter, Votes, listed

# Kernels, and the pairs that are counted by them, are loaded when somebody looks: a server takes votes before.
if TYPE_CHECKING:
    from softcondorcet.pairs import Pairs
    from softcondorcet.reporting.verdict import Verdict

BOUNDS, RATE, TEMPERATURE = (0.0, 100.0), 0.1, 1.0
MIDDLE = sum(BOUNDS) / 2
# A vote of more weight takes no larger step: the next fit gives it all that is due to it.
_HEAVIEST = 10.0


@dataclass(frozen=True)
class Fit:
    """Ratings fitted to all rows up to `last`, and what else was found out about them (see ``refit``)."""

    id: int
    last: int
    made: float
    found: dict[str, Any]

    @property
    def n_votes(self) -> int:
        return int(self.found["n_votes"])

    @cached_property
    def values(self) -> Floats:
        return read_only(np.array(self.found["values"], dtype=float))


@dataclass(frozen=True)
class Snapshot:
    """A board as it was after row `last`: everything on a page comes from one of these."""

    board: str
    title: str
    last: int
    changed: float
    ratings: Ratings
    n_votes: int
    pairs: Pairs
    fit: Fit | None
    behind: int = 0  # rows of the board that the fit has not seen

    @property
    def id(self) -> str:
        return f"{self.last}-{self.fit.id if self.fit else 0}"

    @cached_property
    def verdict(self) -> Verdict:
        """What the pairs say about the first agent; found out once for all pages of a snapshot."""
        from softcondorcet.reporting.verdict import verdict

        return verdict(self.pairs, self.ratings)


@dataclass(frozen=True)
class Chosen:
    """Votes of a board as it was after row `last`, and the code of each one's voter."""

    last: int
    changed: float
    profile: Profile
    voters: Ints


@dataclass(frozen=True)
class _Counts:
    """Counts of the votes before place `upto`, in whole millionths: of pairs, and of votes by agent."""

    upto: int
    removals: int
    pairs: Pairs
    votes: Floats


@dataclass
class Board:
    """What is known of a board. The thread that writes changes it; others take snapshots."""

    id: int
    name: str
    title: str
    agents: list[str] = field(default_factory=list)
    votes: Votes = field(default_factory=Votes)
    last: int = 0
    changed: float = 0.0
    fit: Fit | None = None

    def __post_init__(self) -> None:
        self._lock, self._counting = RLock(), Lock()
        self._said: list[int] = []  # rows that are no votes but say something of them
        self._values, self._stepped = np.empty(0), 0  # ratings, after the votes before this place
        self._counts: _Counts | None = None
        self._snapshot: tuple[float, Snapshot] | None = None

    def tell(self, rows: Sequence[Entry], names: Sequence[str]) -> None:
        """Take in rows of the ledger, and the agents that they name for the first time."""
        with self._lock:
            self.agents.extend(names)
            for entry in rows:
                self._take(entry)

    def replay(self, rows: Iterable[Entry], agents: Sequence[str], fit: Fit | None = None) -> None:
        """Take in the whole ledger and the last fit: what a server does when it starts."""
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
        self.last, self.changed = entry.id, max(self.changed, entry.made)  # an import brings votes of long ago
        if entry.kind == "vote":
            self.votes.add(entry)
            return
        self._said.append(entry.id)
        if entry.kind == "retract":
            self.votes.retract(int(entry.body["vote"]))
        else:
            self.votes.quarantine(str(entry.voter), release=entry.kind == "release")

    def adopt(self, fit: Fit) -> None:
        """Go on from a fit: its ratings, and a step for each vote that it has not seen."""
        with self._lock:
            self.fit = fit
            self._values, self._stepped = fit.values.copy(), self.votes.after(fit.last)

    def _step(self) -> None:
        """One online step for each vote since the last that was welcome; new agents start in the middle.

        Steps are made when somebody looks: the same steps in the same order, however many votes come in between.
        """
        from softcondorcet.kernels import votes as steps

        new = len(self.agents) - len(self._values)
        if new:
            self._values = np.concatenate([self._values, np.full(new, MIDDLE)])
        if self._stepped == len(self.votes):
            return
        start, agent, tier, weight, welcome = self.votes.steps(self._stepped)
        self._stepped = len(self.votes)
        plan = steps.plan_sigmoid(start, agent, tier, np.ones(len(weight)), len(self.agents), 1, layout="votes")
        rates = RATE * np.minimum(weight[welcome], _HEAVIEST)
        nothing_drawn = np.zeros(1, np.uint64)
        steps.run_sigmoid(plan, self._values, rates, TEMPERATURE, *BOUNDS, nothing_drawn, welcome[:, None])

    def snapshot(self, max_age: float = 0.0) -> Snapshot:
        """The board now, or, where that is enough, as it was up to `max_age` seconds ago."""
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
            behind = self.behind
        counts = self._count(agents, counted, removals)
        pairs = Pairs(agents, counts.pairs.left, counts.pairs.right, *_in_votes(counts.pairs))
        ratings = _rated(agents, values, counts.votes / MICRO, pairs)
        return Snapshot(self.name, self.title, last, changed, ratings, int(counted.sum()), pairs, fit, behind)

    @property
    def last_said(self) -> int:
        """The last row that changed which votes count."""
        return self._said[-1] if self._said else 0

    @property
    def behind(self) -> int:
        """Votes, and what was said of votes, that the last fit has not seen."""
        seen = self.fit.last if self.fit else 0
        said = len(self._said) - bisect_right(self._said, seen)
        return len(self.votes) - self.votes.after(seen) + said

    def wanted(self, wanted: Filter) -> Chosen:
        """The votes that count and are wanted, as of now."""
        with self._lock:
            agents, counted, last, changed = tuple(self.agents), self.votes.counted(wanted), self.last, self.changed
        profile = self.votes.profile(agents, counted)
        return Chosen(last, changed, listed(profile) if wanted else profile, self.votes.voter_codes(counted))

    def chosen(self, wanted: Filter) -> tuple[tuple[str, ...], Ints]:
        """All agents, and the numbers in the ledger of the votes that count and are wanted."""
        with self._lock:
            return tuple(self.agents), self.votes.ids(self.votes.counted(wanted))

    def _count(self, agents: tuple[str, ...], counted: Flags, removals: int) -> _Counts:
        """Pair counts: those of before and those of the votes since; from the start only after votes were removed."""
        before = self._counts
        if before is not None and before.removals != removals:
            before = None
        new = self.votes.profile(agents, counted, before.upto if before else 0, unit=1)
        pairs, votes = new.pairs(), _votes_of(new)
        if before is not None:
            pairs = pairs.plus(before.pairs)
            votes[: len(before.votes)] += before.votes
        self._counts = _Counts(len(counted), removals, pairs, votes)
        return self._counts


def warm() -> None:
    """Load what the first look at a board would else have to wait for."""
    board = Board(0, "", "")
    board.tell([Entry(1, 0, "vote", 0.0, None, None, None, MICRO, None, [[0], [1]])], ["a", "b"])
    board.snapshot()


def snapshot_of(board: Board, votes: Chosen, fit: Fit) -> Snapshot:
    """A snapshot of some of a board's votes, rated by a fit of these alone."""
    profile = votes.profile
    pairs = profile.pairs()
    ratings = _rated(profile.agents, fit.values, _votes_of(profile), pairs)
    return Snapshot(board.name, board.title, votes.last, votes.changed, ratings, profile.n_votes, pairs, fit)


def _rated(agents: tuple[str, ...], values: Floats, votes: Floats, pairs: Pairs) -> Ratings:
    from softcondorcet.majority import condorcet_winner, smith_set

    winner, circle = condorcet_winner(pairs), smith_set(pairs)
    return Ratings(agents, values, "sco", {}, votes=votes, condorcet_winner=winner, smith_set=circle)


def _votes_of(profile: Profile) -> Floats:
    """The weight of the votes that each agent stands in."""
    weight = np.repeat(profile.weight, profile.length)
    return np.bincount(profile.agent, weight, minlength=profile.n_agents).astype(float)


def _in_votes(pairs: Pairs) -> tuple[Floats, Floats, Floats]:
    return pairs.wins / MICRO, pairs.losses / MICRO, pairs.ties / MICRO
