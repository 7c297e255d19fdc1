"""What readers see of a board: a snapshot of it at one moment, with the fit that it goes on from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from softcondorcet.arrays import Floats, Ints, read_only
from softcondorcet.profile import Profile
from softcondorcet.ratings import Ratings
from softcondorcet.server.ledger.writer import MICRO

# Elo points that make the odds e to 1.
UNIT = 400 / math.log(10)

# Kernels, and the pairs that are counted by them, are loaded when somebody looks: a server takes votes before.
if TYPE_CHECKING:
    from softcondorcet.pairs import Pairs
    from softcondorcet.reporting.verdict import Verdict


Facts = Mapping[str, Mapping[str, str | float]]


@dataclass(frozen=True)
class Fit:
    """A fit of all rows up to `last`: ratings, intervals, findings and more, as ``fit_process`` computes them."""

    id: int
    last: int
    made: float
    analysis: dict[str, Any]

    @property
    def n_votes(self) -> int:
        return int(self.analysis["n_votes"])

    @cached_property
    def values(self) -> Floats:
        return read_only(np.array(self.analysis["values"], dtype=float))


@dataclass(frozen=True)
class PastFit:
    """A fit of the history: its ratings, without intervals and findings."""

    id: int
    made: float
    n_votes: int
    values: Floats
    last: int = 0
    older: bool = False  # whether ratings are places from 0 to 100, as versions before had them


Rated = Fit | PastFit  # what pages of the past need


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
    pending: bool = False  # whether a fit is awaited without which ratings and ranks mean nothing

    @property
    def id(self) -> str:
        return snapshot_id(self.last, self.fit)

    @cached_property
    def version(self) -> str:
        """What an ETag names: the id, and which facts about agents are shown, as they may change with a restart."""
        facts = self.ratings.facts
        return f"{self.id}.{crc32(repr(facts).encode()):08x}" if facts else self.id

    @cached_property
    def verdict(self) -> Verdict:
        """What the pairs say about the first agent, computed once for all pages of a snapshot."""
        from softcondorcet.reporting.verdict import verdict

        return verdict(self.pairs, self.ratings)


@dataclass(frozen=True)
class Chosen:
    """Votes of a board as it was after row `last`, and the code of each one's voter."""

    board: str
    title: str
    last: int
    changed: float
    profile: Profile
    voters: Ints


def snapshot_id(last: int, fit: Fit | None) -> str:
    """The name of a snapshot: the last row of the ledger that it shows, and the number of the fit."""
    return f"{last}-{fit.id if fit else 0}"


def snapshot_of(votes: Chosen, fit: Fit) -> Snapshot:
    """A snapshot of some of a board's votes, rated by a fit of these alone."""
    profile = votes.profile
    pairs = profile.pairs()
    ratings = rated(profile.agents, fit.values, votes_of(profile), pairs, profile.facts)
    return Snapshot(votes.board, votes.title, votes.last, votes.changed, ratings, profile.n_votes, pairs, fit)


def rated(agents: tuple[str, ...], values: Floats, votes: Floats, pairs: Pairs, facts: Facts) -> Ratings:
    from softcondorcet.majority import condorcet_winner, smith_set
    from softcondorcet.methods.placement import main_pairs

    core = main_pairs(pairs)
    winner, circle = condorcet_winner(core), smith_set(core)
    return Ratings(
        agents,
        values,
        "sco",
        {"scale": "elo"},
        unit=UNIT,
        votes=votes,
        condorcet_winner=winner,
        smith_set=circle,
        facts=facts,
    )


def votes_of(profile: Profile) -> Floats:
    """The weight of the votes that each agent stands in."""
    weight = np.repeat(profile.cast, profile.length)
    return np.bincount(profile.agent, weight, minlength=profile.n_agents).astype(float)


def in_votes(pairs: Pairs) -> tuple[Floats, Floats, Floats]:
    return pairs.wins / MICRO, pairs.losses / MICRO, pairs.ties / MICRO


def listed(profile: Profile) -> Profile:
    """The same votes over the agents that stand in them."""
    used = np.unique(profile.agent)
    place = np.zeros(profile.n_agents, dtype=np.int64)
    place[used] = np.arange(len(used))
    return replace(profile, agents=tuple(profile.agents[k] for k in used), agent=place[profile.agent])
