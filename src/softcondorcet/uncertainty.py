"""How sure is an order? Ratings of many resamples, or of a posterior, turned into intervals, ties and probabilities.

The point estimate is the fit to all votes, never a median of samples. Each row of `samples` is what the ratings could
have been; what is asked of an order is asked of every row: who is above whom, who is among the first k, in which place.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from softcondorcet.arrays import Flags, Floats, Ints, read_only, sum_by
from softcondorcet.errors import DataError, OptionError, some
from softcondorcet.intervals import bca_tails, chances_above, cut, number_above, shares_above, surely_above
from softcondorcet.options import check, whole
from softcondorcet.pairs import Pairs
from softcondorcet.ratings import Ratings

# Up to so many agents each is held against every other; beyond, against some of them, to count those above and below.
_MATRIX, _BESIDE = 2_000, 500
# Ratings closer than this share of their spread are equal up to rounding.
_EQUAL = 1e-6
# Groups of agents that the summary names.
_SAID = 5


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """A fit and the samples around it: what ``bootstrap`` and ``posterior`` give.

    ``samples[k, a]`` is the rating of agent a in sample k, nan where a resample lacks the agent: then it counts for no
    statement about itself, and stands at its fitted rating in those about others. `source` says in words where the
    samples come from; `skew`, where given, is the acceleration of each agent's BCa interval; `pairs` say who met whom.
    """

    board: Ratings
    samples: Floats
    source: str
    level: float = 0.95
    warnings: tuple[str, ...] = ()
    skew: Floats | None = None
    pairs: Pairs | None = None

    def __post_init__(self) -> None:
        samples = np.asarray(self.samples, dtype=float)
        if samples.ndim != 2 or samples.shape[1] != len(self.board):
            raise DataError(f"samples: expected rows of {len(self.board)} ratings, got an array of {samples.shape}")
        if len(samples) < 2:
            raise DataError(f"samples: expected at least 2, got {len(samples)}")
        check_level(self.level)
        object.__setattr__(self, "samples", read_only(samples))

    @property
    def agents(self) -> tuple[str, ...]:
        return self.board.agents

    @property
    def sure(self) -> float:
        """The chance from which on two agents count as told apart: 0.975 at level 0.95.

        So that as many samples may disagree as an interval leaves out at one of its ends.
        """
        return (1 + self.level) / 2

    def __len__(self) -> int:
        return len(self.samples)

    def __repr__(self) -> str:
        return f"Uncertainty({self.board.method}: {self.source})"

    @cached_property
    def absent(self) -> Flags:
        """Where a sample says nothing about an agent."""
        return np.isnan(self.samples)

    @cached_property
    def filled(self) -> Floats:
        """The samples with absent agents at their fitted rating."""
        return np.where(self.absent, self.board.values, self.samples) if self.absent.any() else self.samples

    @cached_property
    def _close(self) -> float:
        """Ratings closer than this are equal up to rounding."""
        return _EQUAL * float(np.ptp(self.board.values)) if len(self.board) else 0.0

    @cached_property
    def ranks(self) -> Ints:
        """Rank of each agent in each sample, as in ``Ratings.ranks``: equal ratings share the best rank."""
        ranks = np.empty(self.samples.shape, dtype=np.int32)
        for k, row in enumerate(self.filled):
            ranks[k] = 1 + number_above(row, row)
        return ranks

    @cached_property
    def _rating_interval(self) -> tuple[Floats, Floats]:
        tail = (1 - self.level) / 2
        below, above = (tail, tail) if self.skew is None else bca_tails(self.level, self._share_below(), self.skew)
        low, high = cut(self.samples, below, above)
        return read_only(np.minimum(low, self.board.values)), read_only(np.maximum(high, self.board.values))

    @property
    def rating_low(self) -> Floats:
        """Lower end of each agent's rating interval, which always holds the fit; nan for an agent in no sample."""
        return self._rating_interval[0]

    @property
    def rating_high(self) -> Floats:
        return self._rating_interval[1]

    def _share_below(self) -> Floats:
        """The share of samples below the fit, half of those equal to it."""
        fit, known = self.board.values, np.maximum((~self.absent).sum(axis=0), 1)
        share: Floats = ((self.samples < fit).sum(axis=0) + (self.samples == fit).sum(axis=0) / 2) / known
        return share

    @cached_property
    def _rank_interval(self) -> tuple[Ints, Ints]:
        """By those surely above and below, of all agents or, where they are many, of some all along the order."""
        m, sure = len(self.board), surely_above(self.level)
        others = self.board.index[:: 1 if m <= _MATRIX else math.ceil(m / _BESIDE)]
        theirs, each = self.samples[:, others], m / max(len(others), 1)
        above, below = np.empty(m), np.empty(m)
        for a in range(m):
            seen = np.minimum(self._comparisons[a], self._comparisons[others])
            chance = chances_above(self.samples[:, a, None], theirs, seen)
            above[a], below[a] = each * (chance <= 1 - sure).sum(), each * (chance >= sure).sum()
        best, worst = 1 + np.round(above).astype(np.int64), m - np.round(below).astype(np.int64)
        return read_only(np.minimum(best, self.board.ranks)), read_only(np.maximum(worst, self.board.ranks))

    @property
    def rank_low(self) -> Ints:
        """The best plausible rank of each agent."""
        return self._rank_interval[0]

    @property
    def rank_high(self) -> Ints:
        """The worst plausible rank of each agent."""
        return self._rank_interval[1]

    @cached_property
    def rank_ub(self) -> Ints:
        """Rank (UB) of arenas: 1 + the number of agents whose lower bound is above this one's upper bound."""
        low = np.where(np.isnan(self.rating_low), -np.inf, self.rating_low)
        high = np.where(np.isnan(self.rating_high), np.inf, self.rating_high)
        return read_only(1 + number_above(low, high + self._close))

    def above(self, a: str, b: str) -> float:
        """The share of samples in which a stands above b, equal ratings as half; nan if no sample has both."""
        return float(shares_above(self.samples[:, self._find(a), None], self.samples[:, [self._find(b)]])[0][0])

    def chances(self, a: int, others: Ints) -> Floats:
        """How sure it is that agent a stands above each of the others, by their numbers: what decisions are made by.

        Few votes look too sure: an agent that won its only battle wins it in every resample. So one undecided
        comparison more is counted than either of the two agents is in: with v comparisons of the agent that has fewer,
        or samples that have both if these are fewer,

            chance = (v share + 1/2) / (v + 1).

        At level 0.95, nobody is told apart by fewer than 19 comparisons, and 5 or fewer say nothing about a rank.
        """
        seen = np.minimum(self._comparisons[a], self._comparisons[others])
        return chances_above(self.samples[:, a, None], self.samples[:, others], seen)

    @cached_property
    def _comparisons(self) -> Floats:
        """How many comparisons each agent is in; no limit where that is not known."""
        if self.pairs is None:
            return np.full(len(self.board), np.inf)
        met, m = self.pairs.wins + self.pairs.losses + self.pairs.ties, len(self.board)
        return sum_by(self.pairs.left, met, m) + sum_by(self.pairs.right, met, m)

    @cached_property
    def above_matrix(self) -> Floats:
        """``above_matrix[a, b]``: the share of samples in which agent a stands above agent b, by number."""
        m = len(self.board)
        if m > _MATRIX:
            raise OptionError(f"a matrix of all pairs of {m:,} agents is too large; use above(a, b) for some of them")
        rows = [shares_above(self.samples[:, a, None], self.samples)[0] for a in range(m)]
        return read_only(np.array(rows).reshape(m, m))

    def top(self, k: int) -> Floats:
        """The share of samples in which each agent has rank k or better; nan for an agent in no sample."""
        whole("k", k)
        known = (~self.absent).sum(axis=0)
        inside = ((self.ranks <= k) & ~self.absent).sum(axis=0)
        share: Floats = inside / np.where(known, known, np.nan)
        return share

    @cached_property
    def tie_groups(self) -> list[list[str]]:
        """The order cut where it is sure: each group starts with the first agent told apart from the group's first.

        So nobody in a group can be told apart from its first agent. Neighbours on both sides of a cut need not be told
        apart from each other: being level is not transitive.
        """
        groups: list[list[str]] = []
        first = -1
        for a in self.board.index.tolist():
            if not groups or float(self.chances(first, np.array([a]))[0]) >= self.sure:
                groups.append([])
                first = a
            groups[-1].append(self.agents[a])
        return groups

    def orders(self, most: int = 10) -> list[tuple[list[str], float]]:
        """The most frequent orders of all agents among the samples, each with its share; ties by listing."""
        whole("most", most)
        seen = Counter(tuple(np.argsort(-row, kind="stable").tolist()) for row in self.filled)
        return [([self.agents[a] for a in order], count / len(self)) for order, count in seen.most_common(most)]

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """One dict per agent, best first, as arenas list them; None for the interval of an agent in no sample."""
        rows = []
        for row, k in zip(self.board.rows(top), self.board.index.tolist(), strict=False):
            known = {
                "rank": row["rank"],
                "rank_ub": int(self.rank_ub[k]),
                "rank_low": int(self.rank_low[k]),
                "rank_high": int(self.rank_high[k]),
                "agent": row["agent"],
                "rating": row["rating"],
                "rating_lower": _known(self.rating_low[k]),
                "rating_upper": _known(self.rating_high[k]),
            }
            rows.append(known | ({"votes": row["votes"]} if "votes" in row else {}))
        return rows

    def summary(self) -> list[str]:
        """What can be told and what cannot, in a few lines for people."""
        lines = [f"{self.board.method}, {self.source}; intervals of {100 * self.level:.4g} %"]
        first = self.board.index[: min(len(self.board), 1)]
        lines += [f"{self.agents[k]} is first in {self.top(1)[k]:.0%} of the samples" for k in first]
        place = 1
        for group in self.tie_groups[:_SAID]:
            if len(group) > 1:
                lines.append(f"ranks {place}-{place + len(group) - 1} cannot be told apart: {some(group, 8)}")
            place += len(group)
        alone = sum(len(group) == 1 for group in self.tie_groups)
        lines.append(f"{len(self.tie_groups)} groups in all, {alone} of them of one agent")
        return [*lines, *(f"warning: {note}" for note in (*self.board.warnings, *self.warnings))]

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        """Plain data, as ``to_json`` writes it."""
        return {
            "method": self.board.method,
            "options": dict(self.board.options),
            "source": self.source,
            "samples": len(self),
            "level": self.level,
            "interval": "percentile" if self.skew is None else "bca",
            "n_agents": len(self.board),
            "condorcet_winner": self.board.condorcet_winner,
            "tie_groups": self.tie_groups,
            "warnings": [*self.board.warnings, *self.warnings],
            "agents": self.rows(top),
        }

    def to_json(self, top: int | None = None) -> str:
        return json.dumps(self.to_dict(top), indent=2, ensure_ascii=False, allow_nan=False)

    def _find(self, agent: str) -> int:
        try:
            return self._number[agent]
        except KeyError:
            raise KeyError(f"no agent {agent!r} among {len(self.board)} rated agents") from None

    @cached_property
    def _number(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.agents)}


def check_level(level: Any) -> None:
    number = isinstance(level, int | float) and not isinstance(level, bool)
    check(number and 0.5 <= level < 1, "level", "a number from 0.5 to 1, as 0.95", level)


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
