"""How sure is an order? Ratings of many resamples, or of a posterior, turned into intervals, ties and probabilities.

The point estimate is the fit to all votes, never a median of samples. Each row of `samples` is what the ratings could
have been; what is asked of an order is asked of every row: who is above whom, who is among the first k, in which place.

A resample can only widen what it can lose: what never happened happens in no resample, and where skills are nearly
equal most of what looks clear is chance. So whether one agent is above another is also asked of the likelihood and its
curvature (``solvers.laplace``), with skills as equal as the votes allow, and the less sure of the two answers counts:
for rank intervals, tie groups, which match is next and the words about who is first. Agents of groups that never met
are unknown, not level.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import asdict, dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np

from softcondorcet.arrays import Flags, Floats, Ints, read_only, sum_by
from softcondorcet.checks import check, near, whole
from softcondorcet.errors import DataError, OptionError
from softcondorcet.formatting import confidence, some
from softcondorcet.leaderboard import SCHEMA, as_dicts, leaderboard
from softcondorcet.majority import linked_labels
from softcondorcet.pairs import Pairs
from softcondorcet.ratings import Ratings
from softcondorcet.solvers.laplace import Laplace, normal_below
from softcondorcet.tabular import Tabular
from softcondorcet.uncertainty.first_place import FirstPlace, first_place
from softcondorcet.uncertainty.majority_chances import MajorityChances
from softcondorcet.uncertainty.rank_intervals import Ranges, number_above, rank_intervals


def cut(samples: Floats, below: Floats | float, above: Floats | float) -> tuple[Floats, Floats]:
    """Of each agent, the lowest and highest sample left when these shares of them are cut off below and above.

    Whole samples are cut, and no number between two samples is made up. nan are no samples; an agent without samples
    has nan.
    """
    known = (~np.isnan(samples)).sum(axis=0)
    agent, ordered = np.arange(samples.shape[1]), np.sort(samples, axis=0)  # nan comes last
    first, last = (np.floor(share * known + 1e-9).astype(np.int64) for share in (below, above))
    most = np.maximum(known - 1, 0)
    return ordered[np.minimum(first, most), agent], ordered[np.maximum(most - last, 0), agent]


def bca_tails(level: float, below: Floats, skew: Floats) -> tuple[Floats, Floats]:
    """The shares of samples that BCa intervals leave out below and above, by agent (Efron, 1987).

    With z0 the normal quantile of `below`, the share of samples below the fit, and a the acceleration `skew`, the tail
    of normal quantile z is cut where Phi(z0 + (z0 + z) / (1 - a (z0 + z))) of the samples are below. A fit outside all
    samples counts as one in a thousand from their edge, so that z0 stays finite.
    """
    normal = NormalDist()
    z0 = np.array([normal.inv_cdf(min(max(share, 1e-3), 1 - 1e-3)) for share in below.tolist()])
    shares = np.empty((2, len(below)))
    for k, tail in enumerate(((1 - level) / 2, (1 + level) / 2)):
        z = z0 + normal.inv_cdf(tail)
        shares[k] = [normal.cdf(value) for value in (z0 + z / np.maximum(1 - skew * z, 0.1)).tolist()]
    return shares[0], 1 - shares[1]


def shares_above(mine: Floats, theirs: Floats) -> tuple[Floats, Ints]:
    """The share of samples in which the one is above each of the others, equal as half, and how many have both."""
    above, below = (mine > theirs).sum(axis=0), (mine < theirs).sum(axis=0)
    both = (~np.isnan(mine) & ~np.isnan(theirs)).sum(axis=0)
    return (both + above - below) / np.where(both, 2.0 * both, np.nan), both


def chances_above(mine: Floats, theirs: Floats, seen: Floats) -> Floats:
    """The same, with one undecided comparison more than were `seen`, or than samples have both if these are fewer."""
    share, both = shares_above(mine, theirs)
    known = np.minimum(seen, both)
    chance: Floats = (known * np.nan_to_num(share, nan=0.5) + 0.5) / (known + 1)
    return chance


def less_sure(one: Floats, other: Floats) -> Floats:
    """Of two chances the one nearer to 1/2; 1/2 where they are on different sides of it; nan where one is nan."""
    upper, lower = np.minimum(one, other), np.maximum(one, other)
    found: Floats = np.where(upper >= 0.5, upper, np.where(lower <= 0.5, lower, 0.5))
    return np.where(np.isnan(one) | np.isnan(other), np.nan, found)


# Agents up to which a matrix of all pairs is made.
_MATRIX = 2_000
# Ratings closer than this share of their spread are equal up to rounding.
_EQUAL = 1e-6
# Groups of agents that the summary names.
_SAID = 5


@dataclass(frozen=True, eq=False)
class Uncertainty(Tabular):
    """A fit and the samples around it: what ``bootstrap`` and ``posterior`` give.

    ``samples[k, a]`` is the rating of agent a in sample k, nan where a resample lacks the agent: then it counts for no
    statement about itself, and stands at its fitted rating in those about others. `source` says in words where the
    samples come from; `skew`, where given, is the acceleration of each agent's BCa interval; `pairs` say who met whom;
    `evidence` is what the likelihood says. `ranges` are rank intervals that hold the rank "each" at the level, those
    that hold "all" ranks at once (``simultaneous``), or those of a "new" sample. `majority` has chances to be the
    Condorcet winner and in the Smith set.
    """

    board: Ratings
    samples: Floats
    source: str
    level: float = 0.95
    warnings: tuple[str, ...] = ()
    skew: Floats | None = None
    pairs: Pairs | None = None
    evidence: Laplace | None = None
    ranges: Ranges = "each"
    majority: MajorityChances | None = None

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
        """Rank of each agent in each sample, among agents that have a place: equal ratings share the best rank."""
        ranks, placed = np.empty(self.samples.shape, dtype=np.int32), self.placed
        for k, row in enumerate(self.filled):
            ranks[k] = 1 + number_above(row[placed], row)
        return ranks

    @cached_property
    def placed(self) -> Flags:
        """Agents that have a rank on the board; all, where none has."""
        placed: Flags = self.board.places > 0
        return placed if placed.any() else ~placed

    @cached_property
    def group(self) -> Ints:
        """The group of agents linked by comparisons that each agent is in."""
        m = len(self.board)
        return np.zeros(m, dtype=np.int64) if self.pairs is None else linked_labels(self.pairs)

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
        low, high = rank_intervals(self)
        return read_only(low), read_only(high)

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
        """The share of samples in which a stands above b, equal ratings as half.

        nan where that is unknown: no sample has both, or comparisons never link them.
        """
        one, other = self._find(a), self._find(b)
        if self.group[one] != self.group[other]:
            return math.nan
        return float(shares_above(self.samples[:, one, None], self.samples[:, [other]])[0][0])

    def confidence(self, a: int | Ints, others: Ints) -> Floats:
        """How sure it is that agent a stands above each of the others, by their numbers: what decisions are made by.

        For several agents at once `a` is a column of numbers and `others` a row.

        The less sure of ``chances`` and of the likelihood's curvature; nan where comparisons never link the two.
        """
        chance = self.chances(a, others)
        if self.evidence is not None:
            chance = less_sure(chance, normal_below(self.evidence.leads(a, others)))
        return np.where(self.group[others] == self.group[a], chance, np.nan)

    def chances(self, a: int | Ints, others: Ints) -> Floats:
        """How sure the samples are that agent a stands above each of the others.

        Few votes look too sure: an agent that won its only battle wins it in every resample. So one undecided
        comparison more is counted than either of the two agents is in: with v comparisons of the agent that has fewer,
        or samples that have both if these are fewer,

            chance = (v share + 1/2) / (v + 1).

        At level 0.95, nobody is told apart by fewer than 19 comparisons, and 5 or fewer say nothing about a rank.
        Decisions take in the likelihood, too: see ``confidence``.
        """
        seen = np.minimum(self.comparisons[a], self.comparisons[others])
        return chances_above(self.samples[:, np.atleast_1d(a)], self.samples[:, others], seen)

    @cached_property
    def comparisons(self) -> Floats:
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
        same = self.group[:, None] == self.group
        return read_only(np.where(same, np.array(rows).reshape(m, m), np.nan))

    def top(self, k: int) -> Floats:
        """The share of samples in which each agent has rank k or better; nan for one in no sample or without a rank."""
        whole("k", k)
        known = np.where(self.placed, (~self.absent).sum(axis=0), 0)
        inside = ((self.ranks <= k) & ~self.absent).sum(axis=0)
        share: Floats = inside / np.where(known, known, np.nan)
        return share

    @cached_property
    def tie_groups(self) -> list[list[str]]:
        """The order cut where it is sure: each group starts with the first agent told apart from the group's first.

        So nobody in a group can be told apart from its first agent. Neighbours on both sides of a cut need not be told
        apart from each other: being level is not transitive. Agents without a place are in none.
        """
        groups: list[list[str]] = []
        first = -1
        for a in self.board.index[self.placed[self.board.index]].tolist():
            if not groups or float(self.confidence(first, np.array([a]))[0]) >= self.sure:
                groups.append([])
                first = a
            groups[-1].append(self.agents[a])
        return groups

    @cached_property
    def first_place(self) -> FirstPlace | None:
        """Who is first, and how sure that is; None where the votes give no agent a rank."""
        return first_place(self)

    def orders(self, most: int = 10) -> list[tuple[list[str], float]]:
        """The most frequent orders of all agents among the samples, each with its share; ties by listing."""
        whole("most", most)
        seen = Counter(tuple(np.argsort(-row, kind="stable").tolist()) for row in self.filled)
        return [([self.agents[a] for a in order], count / len(self)) for order, count in seen.most_common(most)]

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """One dict per agent, best first, with the keys of ``leaderboard.Row``, and as arenas list them: rank_ub.

        None for the interval of an agent in no sample. `rating_lower` and `rating_upper` are older names of two keys.
        """
        rows = as_dicts(leaderboard(self.board, self, top=top))
        places = {} if self.majority is None else self.majority.columns(self)
        chances = [{name: column[k] for name, column in places.items()} for k in self.board.listing.tolist()]
        ends = zip(rows, self.rank_ub[self.board.listing].tolist(), chances, strict=False)
        return [
            {**row, "rank_ub": ub, "rating_lower": row["rating_low"], "rating_upper": row["rating_high"], **more}
            for row, ub, more in ends
        ]

    def summary(self) -> list[str]:
        """What can be told and what cannot, in a few lines for people."""
        held = {"each": "", "all": ", rank ranges hold all at once", "new": ", for one more of the kind"}[self.ranges]
        lines = [f"{self.board.method}, {self.source}; intervals of {confidence(self.level)}{held}"]
        first = self.first_place
        if first is None:
            lines.append("the votes give no agent a rank")
        elif self.evidence is None:
            lines.append(f"{first.agent} is first in {first.share or 0.0:.0%} of the samples")
        else:
            lines.append(f"{first.words()}; it is first in {first.share_in_words()} of the samples")
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
            "schema": SCHEMA,
            "method": self.board.method,
            "options": dict(self.board.options),
            "source": self.source,
            "samples": len(self),
            "level": self.level,
            "interval": "percentile" if self.skew is None else "bca",
            "ranges": self.ranges,
            "top_k": None if self.majority is None else self.majority.k,
            "n_agents": len(self.board),
            "condorcet_winner": self.board.condorcet_winner,
            "first_place": None if self.first_place is None else asdict(self.first_place),
            "smith_set": list(self.board.smith_set),
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
            hint = near(agent, self.board.agents)
            raise KeyError(f"no agent {agent!r} among {len(self.board)} rated agents{hint}") from None

    @cached_property
    def _number(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.agents)}


def check_level(level: Any) -> None:
    number = isinstance(level, int | float) and not isinstance(level, bool)
    check(number and 0.5 <= level < 1, "level", "a number from 0.5 to 1, as 0.95", level)
