"""Ratings that know by how much a battle was won: a win by far says more than one by a hair.

A battle won by the margin d counts as a share of a win, s(d / scale), s the logistic function: next to 1/2 for a margin
that is small beside `scale`, next to 1 for a large one. Bradley-Terry on shares gives leads that are too small for
chances of winning, so they are stretched by the factor that makes the actual wins most likely.

For any method the evidence is adjusted as for circumstances: the shares of each pair, and what the stretched leads
expect above the others, w + sum s(stretch (r_a - r_b)) - sum s(r_a - r_b). Bradley-Terry on these wins gives about the
stretched ratings, and ``sco`` the order that contradicts them least.

`scale` is chosen by votes held out: each fifth is predicted, wins only, from the other four, and the scale with the
smallest log-loss is taken; none, where wins alone predict as well. The result says how sure the gain is.

When it misleads: where winners stop trying once they lead, or weak opponents are humbled for show, margins say less
than they seem to; the held-out votes tell on the whole, not for each agent. Margins in a unit that depends on the game
(goals here, points there) need a column of their own each.

Cost: some fifty fits of Bradley-Terry to choose the scale, one with a scale given.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from softcondorcet.arrays import Floats, Ints
from softcondorcet.checks import check, near, positive
from softcondorcet.errors import DataError
from softcondorcet.evaluation.adjusted import Adjusted, adjusted_pairs
from softcondorcet.formatting import number, plural, some
from softcondorcet.methods.bradley_terry import bradley_terry
from softcondorcet.methods.registry import METHODS, rank
from softcondorcet.methods.result import votes_per_agent
from softcondorcet.pairs import Pairs, as_pairs
from softcondorcet.profile import Profile, as_profile
from softcondorcet.ratings import Ratings
from softcondorcet.seeds import stream
from softcondorcet.solvers.logistic_regression import LogisticRegression, chance

_FOLDS, _NORMAL = 5, 1.96
# Scales that are tried, as shares of the median margin.
_SHARES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
# As for the half-life: about that of the log-odds of games, so that few votes are no certainty.
_PRIOR = 0.5


@dataclass(frozen=True, eq=False)
class Margins(Adjusted):
    """Ratings with margins of victory, beside those without.

    `scale` is None where margins predict no better than wins alone: then the ratings are those without. `tried` has
    each scale that was tried, with the log-loss of held-out wins; `gain` is that of the best over wins alone,
    `half_width` of its 95 % interval.
    """

    column: str
    scale: float | None
    stretch: float
    tried: Sequence[tuple[float, float]]
    gain: float | None
    half_width: float | None
    battles: int

    def summary(self) -> list[str]:
        lines = []
        if self.gain is not None and self.half_width is not None:
            sure = "" if self.gain > self.half_width else ", which may be chance"
            sure = sure if self.scale else ": they predict no better, so they are left out"
            gain = f"log-loss of held-out wins less by {self.gain:.4f} +- {self.half_width:.4f}"
            lines.append(f"margins of {self.column!r}: {gain}{sure}")
        if self.scale is not None:
            doubled = float(chance(np.array(1.0)))
            lines.append(
                f"a win by {number(float(f'{self.scale:.3g}'))} counts as {doubled:.2f} of a win; {self.moves()}"
            )
        return [*lines, *(f"warning: {note}" for note in self.board.warnings)]

    def to_json(self, top: int | None = None) -> str:
        data = self.board.to_dict(top)
        data["agents"] = self.rows(top)
        data["margin"] = {
            "column": self.column, "battles": self.battles, "scale": self.scale, "stretch": self.stretch,
            "gain": self.gain, "half_width": self.half_width, "moved": self.moved,
            "tried": [{"scale": scale, "log_loss": loss} for scale, loss in self.tried],
        }  # fmt: skip
        return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)


def margins(
    data: Profile,
    column: str,
    method: str = "sco",
    *,
    scale: float | Literal["auto"] = "auto",
    seed: int = 0,
    **options: Any,
) -> Margins:
    """Ratings of battles with margins of victory.

    Parameters
    ----------
    data: a Profile of battles.
    column: numbers that say by how much a battle was won; or two columns "A,B", the points of both agents. Where it is
        blank, a win counts in full.
    method: any method that takes pairs.
    scale: the margin that counts as 0.73 of a win; "auto" is chosen by votes held out, or none.
    seed: of the draw of these. options: of the method.

    >>> table = {"a": ["x", "y", "x"], "b": ["y", "z", "z"], "winner": ["x", "y", "z"], "goals": [4, 3, 1]}
    >>> found = margins(Profile.from_matches(table), "goals", "bradley_terry", scale=2.0)
    >>> found.board.order, found.plain.rank_of("x")
    (['x', 'y', 'z'], 1)
    """
    profile = as_profile(data, "a Profile: margins are those of single battles")
    check(method in METHODS and METHODS[method].takes_pairs(options), "method", "a method that takes pairs", method)
    if scale != "auto":
        positive("scale", scale)
    battles = profile.take((profile.length > 1) & (profile.weight > 0))
    longer = int((battles.length > 2).sum())
    if longer or not battles.n_votes:
        what = f"{plural(longer, 'vote')} of more than two agents" if longer else "no vote of two agents"
        raise DataError(f"margin: {what}; expected battles")
    votes = _Battles.of(battles, _margin(battles, column))
    tried, gain, half = _chosen(votes, seed) if scale == "auto" else ([], None, None)
    best: float | None = None if scale == "auto" else float(scale)
    if gain is not None and gain > 0:
        best = min(tried, key=lambda one: one[1])[0]
    plain = rank(as_pairs(battles), method, **options)
    if best is None:
        return Margins(plain, plain, as_pairs(battles), column, None, 1.0, tried, gain, half, battles.n_votes)
    pairs, stretch = votes.adjusted(best)
    board = rank(pairs, method, **options)
    board = replace(board, votes=votes_per_agent(battles), warnings=plain.warnings)
    plain = replace(plain, votes=board.votes)
    return Margins(board, plain, pairs, column, best, stretch, tried, gain, half, battles.n_votes)


def _margin(battles: Profile, column: str) -> Floats:
    """By how much each battle was won, nan where nobody knows."""
    names = [name.strip() for name in column.split(",")]
    check(len(names) <= 2 and all(names), "margin", "a column, or two: the points of both agents", column)
    values = []
    for name in names:
        found = battles.columns.get(name)
        if found is None:
            known = [*battles.columns]
            raise DataError(
                f"margin: no column {name!r}; there is {some(map(repr, known), 12) or 'none'}{near(name, known)}"
            )
        if found.values is None:
            raise DataError(f"margin: column {name!r}: expected numbers")
        values.append(found.values)
    apart = values[0] if len(values) == 1 else values[0] - values[1]
    if np.isnan(apart).all():
        raise DataError(f"margin: column {column!r} is blank")
    signed = len(values) == 2 or bool((apart < 0).any())
    tied = battles.tier[1::2] == 0
    if signed:  # what the first shown has over the second
        if battles.turned is None:
            raise DataError(f"margin: {column!r}: the battles do not say whose points come first")
        apart = np.where(battles.turned, -apart, apart)
    wrong = (apart < 0) & ~tied
    if wrong.any():
        vote = int(np.argmax(wrong))
        raise DataError(
            f"margin: vote {vote + 1}: the winner is {number(-float(apart[vote]))} behind; expected a margin that is "
            "not negative"
        )
    found_margin: Floats = np.where(tied, 0.0, apart)
    return found_margin


@dataclass(frozen=True)
class _Battles:
    """Battles by their two agents, the smaller number first: what that one won, and by how much."""

    profile: Profile
    left: Ints
    right: Ints
    weight: Floats
    won: Floats
    margin: Floats

    @classmethod
    def of(cls, battles: Profile, margin: Floats) -> _Battles:
        both = battles.agent.reshape(-1, 2)
        swap = both[:, 0] > both[:, 1]
        won = np.where(battles.tier[1::2] == 0, 0.5, np.where(swap, 0.0, 1.0))
        return cls(battles, both.min(axis=1), both.max(axis=1), battles.weight, won, margin)

    def take(self, votes: Any) -> _Battles:
        each = (self.left, self.right, self.weight, self.won, self.margin)
        return _Battles(self.profile, *(column[votes] for column in each))

    def shares(self, scale: float) -> Floats:
        """The share of a win that each battle counts as."""
        share = np.where(np.isnan(self.margin), 1.0, chance(np.nan_to_num(self.margin) / scale))
        return 0.5 + (share - 0.5) * (2 * self.won - 1)

    def pairs(self, won: Floats) -> Pairs:
        """The pairs, of which the agent of the smaller number won so much in each battle."""
        return adjusted_pairs(self.profile, self.left, self.right, self.weight, self.weight * won)

    def leads(self, of: Ratings) -> Floats:
        values: Floats = of.values
        return values[self.left] - values[self.right]

    def stretched(self, scale: float) -> tuple[Ratings, float]:
        """Ratings by shares, and the factor that makes the wins most likely."""
        graded = bradley_terry(self.pairs(self.shares(scale)), prior=_PRIOR, tol=1e-6)
        value = self.leads(graded)[:, None]
        model = LogisticRegression(
            np.zeros((len(value), 1), dtype=np.int64), value, self.weight, self.weight * self.won, np.full(1, 1e-6)
        )
        return graded, float(model.fit().x[0])

    def adjusted(self, scale: float) -> tuple[Pairs, float]:
        """The pairs on which Bradley-Terry gives about the stretched ratings, and the stretch."""
        graded, stretch = self.stretched(scale)
        lead = self.leads(graded)
        return self.pairs(self.shares(scale) + chance(stretch * lead) - chance(lead)), stretch


def _chosen(votes: _Battles, seed: int) -> tuple[list[tuple[float, float]], float, float]:
    """The log-loss of held-out wins by each scale; the gain of the best over wins alone, and its half width."""
    n = len(votes.weight)
    known = votes.margin[votes.margin > 0]
    if n < 4 * _FOLDS or not len(known):
        raise DataError(
            f"margin: {plural(n, 'battle')}, {len(known)} of them with a margin above 0, are too few to choose a scale "
            f"by; expected {4 * _FOLDS} or more, or a scale"
        )
    fold = stream(seed, "folds").permutation(n) % _FOLDS
    without = np.empty(n)
    scales = [float(np.median(known)) * share for share in _SHARES]
    surprise = np.empty((len(scales), n))
    for k in range(_FOLDS):
        train, late = votes.take(fold != k), votes.take(fold == k)
        plain = bradley_terry(train.pairs(train.won), prior=_PRIOR, tol=1e-6)
        without[fold == k] = _surprise(late, late.leads(plain))
        for row, scale in zip(surprise, scales, strict=True):
            graded, stretch = train.stretched(scale)
            row[fold == k] = _surprise(late, stretch * late.leads(graded))
    total = float(votes.weight.sum())
    losses = (surprise.sum(axis=1) / total).tolist()
    apart = without - surprise[int(np.argmin(losses))]
    gain = float(apart.sum()) / total
    half = _NORMAL * math.sqrt(float(((apart - gain * votes.weight) ** 2).sum())) / total
    return list(zip(scales, losses, strict=True)), gain, half


def _surprise(votes: _Battles, lead: Floats) -> Floats:
    """Minus the log-likelihood of each battle, times its weight."""
    found: Floats = votes.weight * (np.logaddexp(0.0, -lead) + (1 - votes.won) * lead)
    return found
