"""Ratings of single agents from games of teams: Bradley-Terry in which a side is as strong as its members together.

The chance of side A over side B is s(sum of r_a over A - sum of r_b over B), s the logistic function (Huang, Weng and
Lin, Generalized Bradley-Terry Models and Multi-Class Probability Estimates, 2006). Sides may be of different size: then
an agent of rating 0 adds nothing to its side. With ``combine="mean"`` a side is as strong as the mean of its members,
whatever their number. Ties are half a win for each. Ratings have a Gaussian prior around 0, whose precision is the most
likely one, with all ratings integrated out by Laplace's approximation: so few games are no certainty.

A vote over sides is a vote like any other: its agents are sides, called by their members, such as ``"ann+ben"``.

When it misleads: members add up, and nobody is better beside one partner than beside another. Agents that always play
together share a rating: the votes cannot tell them apart. Where all sides are of one size, only differences of ratings
have a meaning.

Cost: a pass over the pairs of sides and their members for each step; O(agents^3) for intervals up to 2,000 agents, and
above these some draws, which know a standard error to about a tenth.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from softcondorcet.arrays import Floats, sum_by
from softcondorcet.checks import check, one_of, positive
from softcondorcet.errors import DataError
from softcondorcet.formatting import plural, some
from softcondorcet.leaderboard import as_dicts, leaderboard
from softcondorcet.methods.result import votes_per_agent
from softcondorcet.pairs import Pairs, as_pairs
from softcondorcet.profile import Profile
from softcondorcet.ratings import Ratings
from softcondorcet.seeds import stream
from softcondorcet.solvers.laplace import independent_comparisons
from softcondorcet.solvers.likelihood import joined
from softcondorcet.solvers.logistic_regression import LogisticRegression, chance
from softcondorcet.solvers.shrinkage import SPREAD, USUAL

# Agents up to which the covariance is exact, and draws above.
_EXACT, _DRAWS = 2_000, 128
# The share of the prior's variance that is left of an agent of whom the votes say next to nothing.
_UNKNOWN = 0.4
SEPARATOR = "+"
# Steps in search of the prior, and the change of its logarithm that is none.
_STEPS, _CLOSE = 20, 0.01


@dataclass(frozen=True, eq=False)
class Teams:
    """Ratings of single agents, natural log-odds, with intervals.

    `together` has the groups of agents that always play together, who cannot be told apart; `unplaced` the agents of
    whom the votes say next to nothing, these among them.
    """

    board: Ratings
    low: Floats
    high: Floats
    level: float
    together: Sequence[tuple[str, ...]]
    unplaced: Sequence[str]

    def probability(self, a: Sequence[str], b: Sequence[str]) -> float:
        """The chance of side a over side b, lists of agents."""
        return float(chance(np.array(self._side(a) - self._side(b))))

    def _side(self, members: Sequence[str]) -> float:
        check(not isinstance(members, str) and len(members) > 0, "a side", "a list of agents", members)
        ratings = [self.board[name] for name in members]
        return math.fsum(ratings) / (len(ratings) if self.board.options["combine"] == "mean" else 1)

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """The leaderboard, with whom an agent cannot be told apart from."""
        partners = {name: some([one for one in group if one != name]) for group in self.together for name in group}
        more: dict[str, Any] = {"rating_low": self.low, "rating_high": self.high}
        if partners:
            more["facts"] = [{"always_with": partners.get(name, "")} for name in self.board.agents]
        return as_dicts(leaderboard(self.board, top=top, more=more))

    def summary(self) -> list[str]:
        return [
            f"a side is as strong as the {self.board.options['combine']} of its members "
            f"(natural log-odds, 1 is 174 Elo points); Bradley-Terry, intervals of {100 * self.level:g} %",
            *(f"warning: {note}" for note in self.board.warnings),
        ]

    def to_json(self, top: int | None = None) -> str:
        data = self.board.to_dict(top)
        data["agents"] = self.rows(top)
        data["teams"] = {
            "combine": self.board.options["combine"],
            "level": self.level,
            "together": [list(group) for group in self.together],
            "unplaced": list(self.unplaced),
        }
        return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)


def teams(
    data: Profile | Pairs,
    separator: str = SEPARATOR,
    *,
    combine: Literal["sum", "mean"] = "sum",
    prior: float | Literal["auto"] = "auto",
    level: float = 0.95,
) -> Teams:
    """Ratings of the members of teams.

    Parameters
    ----------
    data: a Profile or Pairs whose agents are sides, their members joined by `separator` in any order: "ann+ben".
        ``sc.read`` joins lists in the columns team_a and team_b.
    combine: whether a side is as strong as the "sum" of its members or their "mean".
    prior: precision of the Gaussian prior on the ratings, in natural log-odds; "auto" is found in the votes.
    level: of the intervals.

    >>> sides = {"team_a": [["ann", "ben"], ["ann", "cem"]], "team_b": [["cem", "dan"], ["dan", "ben"]]}
    >>> from softcondorcet import read
    >>> found = teams(read({**sides, "winner": ["team_a", "team_a"]}))
    >>> found.board.order[0], found.board.order[-1], round(found.probability(["ben"], ["cem"]), 2)
    ('ann', 'dan', 0.5)
    """
    one_of("combine", ("sum", "mean"), combine)
    if prior != "auto":
        positive("prior", prior)
    number = isinstance(level, int | float) and not isinstance(level, bool)
    check(number and 0.5 <= level < 1, "level", "a number from 0.5 to 1, as 0.95", level)
    check(isinstance(separator, str) and bool(separator.strip()), "separator", "a text such as +", separator)
    pairs = as_pairs(data)
    sides = [members_of(side, separator.strip()) for side in pairs.agents]
    design = _Design(pairs, sides, combine)
    independent = independent_comparisons(data)
    weight = _most_likely_prior(design, independent) if prior == "auto" else float(prior)
    end = design.regression(pairs, weight).fit()
    values = joined(end.x)
    variance = _variance(design.regression(independent, weight), end.x, centred=not design.value.sum(axis=1).any())
    half = NormalDist().inv_cdf((1 + level) / 2) * np.sqrt(variance)
    together = design.together()
    unplaced = [name for name, one in zip(design.agents, variance, strict=True) if one * weight > _UNKNOWN]
    board = Ratings(
        design.agents, values, "bradley_terry", {"prior": weight, "combine": combine, "separator": separator.strip()},
        converged=end.converged, steps=end.steps, error=end.error, unit=1.0, votes=_votes(data, design),
        warnings=tuple(_limits(end.converged, together, unplaced)),
    )  # fmt: skip
    return Teams(board, values - half, values + half, level, together, unplaced)


def members_of(side: str, separator: str) -> tuple[str, ...]:
    """The members of a side, in the order of the alphabet."""
    members = sorted(part.strip() for part in side.split(separator))
    if not all(members):
        raise DataError(f"side {side!r}: expected names with {separator!r} between them")
    if len(set(members)) < len(members):
        twice = next(one for one, other in pairwise(members) if one == other)
        raise DataError(f"side {side!r}: {twice!r} appears twice; expected each agent once")
    return tuple(members)


class _Design:
    """Who plays on which side of each pair of sides: 1 or -1, or its share of the side, and 0 to fill up."""

    def __init__(self, pairs: Pairs, sides: Sequence[tuple[str, ...]], combine: str) -> None:
        self.agents = tuple(dict.fromkeys(name for members in sides for name in members))
        number = {name: k for k, name in enumerate(self.agents)}
        most = max(map(len, sides), default=0)
        self.members, worth = np.zeros((len(sides), most), dtype=np.int64), np.zeros((len(sides), most))
        for k, members in enumerate(sides):
            self.members[k, : len(members)] = [number[name] for name in members]
            worth[k, : len(members)] = 1 / len(members) if combine == "mean" else 1.0
        self.there = worth > 0
        self.index = np.concatenate([self.members[pairs.left], self.members[pairs.right]], axis=1)
        self.value = np.concatenate([worth[pairs.left], -worth[pairs.right]], axis=1)
        if not len(pairs):
            raise DataError("votes: no two sides meet; expected at least one game")
        for a, b in zip(pairs.left.tolist(), pairs.right.tolist(), strict=True):
            if both := set(sides[a]) & set(sides[b]):
                raise DataError(
                    f"side {pairs.agents[a]!r} against {pairs.agents[b]!r}: {min(both)!r} plays on both; expected one"
                )

    def regression(self, pairs: Pairs, prior: float) -> LogisticRegression:
        count, precision = pairs.wins + pairs.losses + pairs.ties, np.full(len(self.agents), prior)
        return LogisticRegression(self.index, self.value, count, pairs.wins + pairs.ties / 2, precision)

    def together(self) -> list[tuple[str, ...]]:
        """Groups of agents that are on the same side of every pair of sides."""
        rows = np.repeat(np.arange(len(self.value)), self.value.shape[1])
        filled = self.value.ravel() != 0
        agent, row, value = self.index.ravel()[filled], rows[filled], self.value.ravel()[filled]
        order = np.lexsort((row, agent))
        begin = np.searchsorted(agent[order], np.arange(len(self.agents) + 1))
        alike: dict[bytes, list[str]] = {}
        for k, name in enumerate(self.agents):
            own = order[begin[k] : begin[k + 1]]
            alike.setdefault(row[own].tobytes() + value[own].tobytes(), []).append(name)
        return [tuple(group) for group in alike.values() if len(group) > 1]


def _most_likely_prior(design: _Design, pairs: Pairs) -> float:
    """The precision of ratings that makes the votes most likely (MacKay, Bayesian Interpolation, 1992).

    Along its logarithm the log-likelihood has the slope (known - prior * squares) / 2, where `known` counts the ratings
    that the votes determine. As in ``shrinkage``, few votes say little of how far agents lie apart.
    """
    at, usual = math.log(USUAL), math.log(USUAL)
    for _ in range(_STEPS):
        prior = math.exp(at)
        model = design.regression(pairs, prior)
        x = model.fit().x
        squares = prior * float((x**2).sum())
        known = len(x) - prior * float(_variance(model, x, centred=False).sum())
        slope = (known - squares) / 2 - (at - usual) / SPREAD**2
        step = slope / (squares / 2 + 1 / SPREAD**2)
        at += min(max(step, -1.0), 1.0)
        if abs(step) < _CLOSE:
            break
    return math.exp(at)


def _variance(model: LogisticRegression, at: Floats, centred: bool) -> Floats:
    """Of each rating, or of each less the mean of all, where that mean has no meaning."""
    if model.size <= _EXACT:
        covariance = model.covariance(at)
        found: Floats = np.diag(covariance).copy()
        if centred:
            along = covariance.mean(axis=1)
            found = found - 2 * along + along.mean()
        return np.maximum(found, 0.0)
    drawn = model.draws(at, stream(0, "teams"), _DRAWS)
    drawn = drawn - drawn.mean(axis=1, keepdims=True) if centred else drawn
    spread: Floats = (drawn**2).mean(axis=0)
    return spread


def _votes(data: Profile | Pairs, design: _Design) -> Floats | None:
    """Total weight of the votes of each agent; unknown where only pairs are given."""
    of_sides = votes_per_agent(data)
    if of_sides is None:
        return None
    return sum_by(design.members[design.there], np.repeat(of_sides, design.there.sum(axis=1)), len(design.agents))


def _limits(converged: bool, together: Sequence[tuple[str, ...]], unplaced: Sequence[str]) -> list[str]:
    """What the votes cannot tell, in words."""
    notes = [] if converged else ["not converged"]
    for group in together[:3]:
        notes.append(f"{some(group)} always play together, so they share a rating: the votes cannot tell them apart")
    if len(together) > 3:
        notes.append(f"{plural(len(together) - 3, 'more group')} of agents always play together")
    if unplaced:
        notes.append(f"the votes say next to nothing of {plural(len(unplaced), 'agent')}: {some(unplaced)}")
    return notes
