"""Pairs: what the votes say about each two agents, counted once.

Each unordered pair seen together is kept once, with wins, losses and ties of the first against the second; never more,
however many votes there are. Methods work on this, so their cost grows with distinct pairs, not with votes.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softcondorcet.arrays import Floats, Ints, cut, read_only, run_ranges, sum_by
from softcondorcet.checks import one_of
from softcondorcet.errors import DataError
from softcondorcet.exact_sums import difference, exact, in_units
from softcondorcet.kernels import counting
from softcondorcet.profile import KINDS, Kind, Profile, as_profile
from softcondorcet.source import Source

Counted = tuple[Ints, Ints, Floats]
Real = NDArray[np.floating[Any]]

# Below this many raw pairs a second thread costs more than it saves (about 2 ms of work).
_WORTH_A_THREAD = 500_000
# Bytes per distinct pair while a method works: 32 for the counts, 24 for the rows of both agents.
BYTES = 56
# A matrix of 512 x 512 stays in cache; from about 1,000 agents on, rows are faster even for complete votes. Short votes
# are another matter: their rows jump from vote to vote, so a larger matrix wins once most of its cells are met, by five
# to eight times for battles of 1,000 to 4,000 agents.
_DENSE, _DENSE_IF_SHORT, _SHORT = 512, 4096, 8


@dataclass(frozen=True, eq=False)
class Pairs:
    """Distinct pairs ``left[k] < right[k]``, sorted, with weighted counts seen from ``left``.

    ``kind`` is that of the votes, "games" or "election", as a ``Profile`` has it; ``source`` says which votes of a file
    an engine was asked to count, ``balance`` by which column it weighed them, as a ``Profile`` has it. ``facts`` about
    agents go on to the ratings.
    """

    agents: tuple[str, ...]
    left: Ints
    right: Ints
    wins: Floats
    losses: Floats
    ties: Floats
    kind: Kind = field(default="election", kw_only=True)
    source: Source | None = field(default=None, kw_only=True)
    balance: str | None = field(default=None, kw_only=True)
    facts: Mapping[str, Mapping[str, str | float]] = field(default_factory=dict, kw_only=True)

    def __post_init__(self) -> None:
        one_of("kind", KINDS, self.kind)
        for name in ("left", "right", "wins", "losses", "ties"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def __len__(self) -> int:
        return len(self.left)

    def __repr__(self) -> str:
        return f"Pairs({self.n_agents} agents, {len(self)} pairs, {self.total:g} comparisons)"

    @cached_property
    def n_agents(self) -> int:
        return len(self.agents)

    @cached_property
    def margin(self) -> Floats:
        """Wins minus losses of ``left`` over ``right``; what only rounding has left of a level pair is 0.

        Weights of 0.1 and 0.2 against 0.3 are level, though their sums as floats differ in the last digit.
        """
        return read_only(difference(self.wins, self.losses))

    @cached_property
    def win_margin(self) -> Floats:
        """Wins minus losses of each agent."""
        margin, m = self.margin, self.n_agents
        return sum_by(self.left, margin, m) - sum_by(self.right, margin, m)

    @cached_property
    def total(self) -> float:
        """All comparisons counted."""
        return float(self.wins.sum() + self.losses.sum() + self.ties.sum())

    @cached_property
    def by_agent(self) -> ByAgent:
        """Each pair twice, once in the row of either agent: what the gradient and the local search walk over."""
        # A copy, which shares the arrays: in a cycle of references the memory of a resample would only be given back
        # when the interpreter looks for cycles, which a few hundred large arrays do not make it do.
        return ByAgent(copy(self), *_rows(self, self.margin, -self.margin))

    @cached_property
    def by_agent_single(self) -> ByAgent:
        """The same with margins in 4 bytes: 8 instead of 12 for each pair in each row. Exact below 2^24."""
        margin = self.margin.astype(np.float32)
        return ByAgent(copy(self), *_rows(self, margin, -margin))

    def renumbered(self, order: Ints) -> Pairs:
        """The same pairs of the agents in another order: agent ``order[k]`` gets number k."""
        place = np.empty(self.n_agents, dtype=np.int32)
        place[order] = np.arange(self.n_agents, dtype=np.int32)
        left, right = place[self.left], place[self.right]
        turned = left > right
        left, right = np.where(turned, right, left), np.where(turned, left, right)
        sort = np.argsort(left.astype(np.int64) * self.n_agents + right)
        wins, losses = np.where(turned, self.losses, self.wins), np.where(turned, self.wins, self.losses)
        agents = tuple(self.agents[k] for k in order)
        return Pairs(agents, left[sort], right[sort], wins[sort], losses[sort], self.ties[sort], kind=self.kind)

    def plus(self, other: Pairs) -> Pairs:
        """The counts of both; the agents of `other` must be the first of these."""
        if not len(other):
            return self
        m = self.n_agents
        keys = np.concatenate([part.left.astype(np.int64) * m + part.right for part in (self, other)])
        found, place = np.unique(keys, return_inverse=True)
        counts = (
            np.bincount(place, np.concatenate([mine, others]), minlength=len(found)).astype(float)
            for mine, others in ((self.wins, other.wins), (self.losses, other.losses), (self.ties, other.ties))
        )
        left, right = (found // m).astype(np.int32), (found % m).astype(np.int32)
        return Pairs(self.agents, left, right, *counts, kind=self.kind)

    def dense(self, chosen: Ints | None = None) -> tuple[Floats, Floats]:
        """Matrices for small m: ``wins[a, b]``, how often a was above b, and ``ties[a, b]``.

        Of all agents, or of the chosen ones in the order they are given.
        """
        left, right, m = self.left, self.right, self.n_agents
        inside = np.ones(len(self), dtype=bool)
        if chosen is not None:
            place, m = np.full(m, -1), len(chosen)
            place[chosen] = np.arange(m)
            left, right = place[left], place[right]
            inside = (left >= 0) & (right >= 0)
            left, right = left[inside], right[inside]
        wins, ties = np.zeros((m, m)), np.zeros((m, m))
        wins[left, right], wins[right, left] = self.wins[inside], self.losses[inside]
        ties[left, right] = ties[right, left] = self.ties[inside]
        return wins, ties

    def met(self, a: Ints, b: Ints) -> Floats:
        """How often each two agents were compared."""
        m = self.n_agents
        known = self.left.astype(np.int64) * m + self.right
        asked = np.minimum(a, b).astype(np.int64) * m + np.maximum(a, b)
        if not len(known):
            return np.zeros(len(asked))
        at = np.minimum(np.searchsorted(known, asked), len(known) - 1)
        counted = (self.wins + self.losses + self.ties)[at]
        met: Floats = np.where(known[at] == asked, counted, 0.0)
        return met

    def match_value(self, a: Ints, b: Ints, above: Floats) -> Floats:
        """What one more match of each two agents tells (``next_matches``): q (1 - q) / (n + 1), `above` being q."""
        value: Floats = above * (1 - above) / (self.met(a, b) + 1)
        return value

    def discrete_loss(self, ratings: Floats) -> float:
        """Sum of Kendall-tau distances of all votes to the order of these ratings.

        Equal ratings are half a mistake. So is a tie in a vote, whatever the ratings: no order can gain by it.
        """
        lead = np.sign(ratings[self.left] - ratings[self.right])
        strict = np.where(lead > 0, self.losses, np.where(lead < 0, self.wins, (self.wins + self.losses) / 2))
        return float(strict.sum() + self.ties.sum() / 2)


@dataclass(frozen=True, eq=False)
class ByAgent:
    """Row a, ``row[a]:row[a + 1]``, holds its partners in `column`, sorted, and its `margin` over each."""

    pairs: Pairs
    row: Ints
    column: Ints
    margin: Floats

    @cached_property
    def played(self) -> Floats:
        """Comparisons of each pair in the same rows; the sigmoid loss needs only margins, so this is made on demand."""
        return self._spread(self.pairs.wins + self.pairs.losses + self.pairs.ties)

    @cached_property
    def pair(self) -> Ints:
        """The number of each pair in the same rows, from 1; negative in the row of its right agent."""
        number = np.arange(1.0, len(self.pairs) + 1)
        numbered: Ints = _rows(self.pairs, number, -number)[2].astype(np.int64)
        return numbered

    @cached_property
    def tied(self) -> Floats:
        """Ties of each pair in the same rows."""
        return self._spread(self.pairs.ties)

    def _spread(self, counts: Floats) -> Floats:
        spread: Floats = _rows(self.pairs, counts, counts)[2]
        return spread

    def sums(self, values: Floats) -> Floats:
        """Sum of `values` over each agent's row."""
        sums, filled = np.zeros(len(self.row) - 1), np.diff(self.row) > 0
        if filled.any():
            sums[filled] = np.add.reduceat(values, self.row[:-1][filled], dtype=float)
        return sums

    def ranges(self) -> list[tuple[int, int]]:
        """Rows cut into one range per core, where the rows are worth it."""
        return cut(self.row, _WORTH_A_THREAD)


def _rows(pairs: Pairs, forward: Real, backward: Real) -> tuple[Ints, Ints, Any]:
    """Each pair in the rows of both agents: where rows start, partners, and `forward` or `backward` seen from there."""
    m, p = pairs.n_agents, len(pairs)
    lefts = np.bincount(pairs.left, minlength=m)
    begin = np.concatenate([[0], np.cumsum(lefts)])
    row = np.concatenate([[0], np.cumsum(lefts + np.bincount(pairs.right, minlength=m))])
    column, value = np.empty(2 * p, dtype=np.uint32), np.empty(2 * p, dtype=forward.dtype)
    width = 64 if p > m * m // 16 else m
    counting.spread_to_both(
        pairs.left, pairs.right, forward, backward, begin, begin[:-1].copy(), row[:-1].copy(), width, column, value
    )
    return row, column, value


def count_pairs(profile: Profile) -> Pairs:
    """Aggregate the votes of a profile. Checks that no comparison was lost or made up."""
    counted = profile if (profile.weight > 0).all() else profile.take(profile.weight > 0)
    weight, step = exact(counted.weight)
    left, right, counts = (count_dense if _fills_a_matrix(counted) else count_by_rows)(counted, weight)
    pairs = Pairs(profile.agents, left, right, *in_units(counts, step), kind=profile.kind, facts=profile.facts)
    check_total(pairs, profile.n_pairs_compared)
    return pairs


def _fills_a_matrix(profile: Profile) -> bool:
    m, length = profile.n_agents, profile.length
    if m <= _DENSE or m > _DENSE_IF_SHORT:
        return m <= _DENSE
    return len(profile.agent) < _SHORT * profile.n_votes and int((length * (length - 1)).sum()) >= m * m


def count_dense(profile: Profile, weight: Floats) -> Counted:
    """Pairs and their counts, in votes of such weights, by a matrix of all agents."""
    m = profile.n_agents
    above = np.zeros((m, m))
    level = np.zeros((m, m) if profile.has_ties else (0, 0))
    counting.count_dense(profile.start, profile.agent, profile.tier, weight, above, level)
    ties = level + level.T if profile.has_ties else np.zeros((m, m))
    left, right = np.nonzero(np.triu(above + above.T + ties, 1))
    counts = np.stack([above[left, right], above[right, left], ties[left, right]])
    return left.astype(np.int32), right.astype(np.int32), counts


def count_by_rows(
    profile: Profile, weight: Floats, smallest: float = _WORTH_A_THREAD, memory: float | None = None
) -> Counted:
    """The same by rows: agent by agent, in threads that count `smallest` raw pairs each or more, in so many bytes."""
    m = profile.n_agents
    agent, tier, begin, entry, vote = counting.sort_entries(profile.start, profile.agent, profile.tier, m)
    raw = np.concatenate([[0], np.cumsum(profile.start[1:][vote] - entry)])[begin]
    ranges = cut(raw, smallest)

    def partners(first: int, last: int) -> Ints:
        counted: Ints = counting.count_partners(profile.start, agent, begin, entry, vote, first, last)
        return counted

    row = np.zeros(m + 1, dtype=np.int64)
    np.cumsum(np.concatenate(run_ranges(partners, ranges)), out=row[1:])
    _refuse_more_than_memory(int(row[-1]), memory)
    right, counts = np.empty(row[-1], dtype=np.int32), np.empty((3, row[-1]))

    def fill(first: int, last: int) -> None:
        places = (begin, entry, vote, row, right, counts, first, last)
        counting.fill_rows(profile.start, agent, tier, weight, *places)

    run_ranges(fill, ranges)
    return np.repeat(np.arange(m, dtype=np.int32), np.diff(row)), right, counts


def too_long_for_pairs(profile: Profile, memory: float | None = None) -> bool:
    """Whether the pairs of the votes may not fit into so many bytes, those of this machine unless said otherwise."""
    distinct = min(int((profile.length.astype(float) * (profile.length - 1) / 2).sum()), profile.n_agents**2 // 2)
    return _is_beyond(distinct, memory)


def _is_beyond(distinct: int, memory: float | None) -> bool:
    if memory is None:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else np.inf
    return distinct * BYTES > memory


def _refuse_more_than_memory(distinct: int, memory: float | None) -> None:
    """Better an error with the numbers than a process that the system ends without a word."""
    if _is_beyond(distinct, memory):
        need = distinct * BYTES
        raise DataError(
            f"pairs: the votes compare {distinct:,} distinct pairs, which take {need / 1e9:,.0f} GB to fit; "
            "expected fewer than this machine can hold; leave out agents or cut long votes"
        )


def couples(start: Ints, length: Ints) -> tuple[Ints, Ints]:
    """Entries of all votes, two by two, the higher one first."""
    upper, lower = [], []
    for k in np.unique(length[length > 1]):
        first = start[length == k][:, None]
        i, j = np.triu_indices(k, 1)
        upper.append((first + i).ravel())
        lower.append((first + j).ravel())
    none = np.empty(0, dtype=np.int64)
    return np.concatenate([none, *upper]), np.concatenate([none, *lower])


def check_total(pairs: Pairs, expected: float) -> None:
    """The invariant of every aggregation, whoever did it: the counts add up to the pairs the votes compare."""
    if abs(pairs.total - expected) > 1e-9 * max(expected, 1.0):  # rounding of float sums, weights need not be integers
        raise DataError(f"pair counts add up to {pairs.total}; expected {expected} from the votes")


def add_pairs(parts: list[Pairs]) -> Pairs:
    """Pairs counted apart, added up by name, with the names in the order of the alphabet."""
    agents = tuple(sorted({name for part in parts for name in part.agents}))
    number = {name: k for k, name in enumerate(agents)}
    fields: list[tuple[Any, ...]] = []
    for part in parts:
        code = np.array([number[name] for name in part.agents], dtype=np.int32)
        left, right = code[part.left], code[part.right]
        turned = left > right
        wins, losses = np.where(turned, (part.losses, part.wins), (part.wins, part.losses))
        fields.append((np.minimum(left, right), np.maximum(left, right), wins, losses, part.ties))
    empty = Pairs(agents, *(field[:0] for field in fields[0]), kind=parts[0].kind)
    pairs = empty.plus(Pairs(agents, *map(np.concatenate, zip(*fields, strict=True)), kind=parts[0].kind))
    check_total(pairs, sum(part.total for part in parts))
    return pairs


def as_pairs(data: Profile | Pairs) -> Pairs:
    """The pairs of a profile, or pairs as they are: the only conversion a method on pairs makes."""
    if isinstance(data, Pairs):
        return data
    return as_profile(data).pairs()
