"""Ratings with circumstances controlled: what is about a battle or a side of it, and not about the agent.

Home ground, being shown first, the length of an answer: each gets one effect, fitted with the ratings of Bradley-Terry,

    chance of a over b = s(r_a - r_b + sum_k effect_k x_k),    s the logistic function,

x_k the advantage of a over b in circumstance k. Ties are half a win for each. A weak Gaussian prior holds ratings and
effects. The interval of an effect is Wald's, with the ratings fitted too: from the Schur complement of the Hessian.

For any other method the evidence is adjusted: the wins of each pair, less what the circumstances are expected to have
added, w - sum s(r_a - r_b + effect x) + sum s(r_a - r_b). Bradley-Terry on these wins gives the ratings of the joint
fit, and ``sco`` keeps its logic: its order contradicts the adjusted comparisons least.

When it misleads: a circumstance that belongs to the agents is taken from them. Where better models write longer answers
and people rightly like these, controlling for length hides what they are better at. Where one agent is nearly always at
home or first, its strength and the effect cannot be told apart, and the interval of the effect is wide.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np

from softcondorcet.arrays import Flags, Floats, Ints
from softcondorcet.checks import check, near, positive
from softcondorcet.columns import Column
from softcondorcet.errors import DataError
from softcondorcet.formatting import percent, plural, some
from softcondorcet.io.cells import read_flag
from softcondorcet.leaderboard import as_dicts, leaderboard
from softcondorcet.methods.registry import METHODS, rank
from softcondorcet.methods.result import votes_per_agent
from softcondorcet.pairs import Pairs, as_pairs
from softcondorcet.profile import Profile, as_profile
from softcondorcet.ratings import Ratings
from softcondorcet.solvers.likelihood import minimise, solve

_STEPS, _TOL, _ROUGH = 100, 1e-9, 1e-9
# How the columns of the two sides may be called.
_SIDES = (("{}_a", "{}_b"), ("{}_model_a", "{}_model_b"), ("model_a_{}", "model_b_{}"), ("{}_1", "{}_2"))
_NEUTRAL = ("neutral", "neutral_ground", "neutral_venue")


@dataclass(frozen=True)
class Effect:
    """The effect of one circumstance in natural log-odds, with its 95 % interval.

    `share` is how often an agent wins against an equal one that it has the circumstance over: by one standard deviation
    where it is a number. `p` is the p-value of there being none; `unit` says what one of it is.
    """

    name: str
    effect: float
    low: float
    high: float
    p: float
    share: float
    unit: str


@dataclass(frozen=True, eq=False)
class Controlled:
    """Ratings with circumstances controlled, beside the ratings without.

    `board` and `plain` are by the same method; `pairs` is the adjusted evidence, which any method on pairs takes.
    """

    board: Ratings
    plain: Ratings
    effects: Sequence[Effect]
    pairs: Pairs
    battles: int
    ratings: Ratings

    def __getitem__(self, name: str) -> Effect:
        return {effect.name: effect for effect in self.effects}[name]

    @cached_property
    def moved(self) -> list[str]:
        """The agents whose rank the circumstances change, the best first."""
        return [name for name in self.board.order if self.board.rank_of(name) != self.plain.rank_of(name)]

    def probability(self, a: str, b: str, **ahead: float) -> float:
        """The chance of a over b by the joint fit, with what a has over b: ``first=1``; ``home=-1`` where b has it."""
        odds = self.ratings[a] - self.ratings[b]
        odds += sum(self[name].effect * value for name, value in ahead.items())
        return float(np.exp(-np.logaddexp(0.0, -odds)))

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """The leaderboard, with the rank of each agent without control."""
        before = [{"rank_without": self.plain.rank_of(name)} for name in self.board.agents]
        return as_dicts(leaderboard(self.board, top=top, more={"facts": before}))

    def summary(self) -> list[str]:
        lines = []
        for one in self.effects:
            sure = "" if one.p < 0.05 else ", which may be chance"
            odds = f"{one.effect:+.3g} log-odds, 95 %: {one.low:.3g} to {one.high:.3g}"
            lines.append(f"{one.name} ({one.unit}): wins {percent(one.share, 1)} against an equal ({odds}){sure}")
        names = f": {some(self.moved, 6)}" if self.moved else ""
        lines.append(f"{plural(len(self.moved), 'agent')} of {len(self.board)} would stand elsewhere without{names}")
        return [*lines, *(f"warning: {note}" for note in self.board.warnings)]

    def to_json(self, top: int | None = None) -> str:
        data = self.board.to_dict(top)
        data["agents"] = self.rows(top)
        data["control"] = {"battles": self.battles, "effects": [vars(one) for one in self.effects], "moved": self.moved}
        return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)


def controlled(
    data: Profile, columns: str | Collection[str], method: str = "sco", *, prior: float = 0.01, **options: Any
) -> Controlled:
    """Ratings of battles with circumstances controlled.

    Parameters
    ----------
    data: a Profile of battles.
    columns: the circumstances, a list or "first,length". "first": shown first. "home": the agent that a column of that
        name names, or else the one shown first, but for battles that a column `neutral` marks. Any other name: numbers
        in the columns NAME_a and NAME_b; their relative difference (a - b) / (a + b), in standard deviations.
    method: any method that takes pairs; "bradley_terry" gives the ratings of the joint fit.
    prior: precision of a Gaussian prior on ratings and effects, in natural log-odds.
    options: of the method.

    >>> sides = {"a": ["x", "y"] * 20, "b": ["y", "x"] * 20}
    >>> battles = Profile.from_matches({**sides, "winner": ["model_a"] * 30 + ["tie"] * 10})
    >>> found = controlled(battles, "first", "bradley_terry")
    >>> found["first"].share > 0.8, round(found.board["x"], 6) + 0.0
    (True, 0.0)
    """
    profile = as_profile(data, "a Profile: circumstances are those of single battles")
    names = [name.strip() for name in columns.split(",")] if isinstance(columns, str) else list(columns)
    check(
        bool(names) and all(names) and len(set(names)) == len(names), "control", "different names of columns", columns
    )
    check(method in METHODS and METHODS[method].takes_pairs(options), "method", "a method that takes pairs", method)
    positive("prior", prior)
    battles = profile.take((profile.length > 1) & (profile.weight > 0))
    longer = int((battles.length > 2).sum())
    if longer or not battles.n_votes:
        what = f"{plural(longer, 'vote')} of more than two agents" if longer else "no vote of two agents"
        raise DataError(f"control: {what}; expected battles")
    found = [circumstance(battles, name) for name in names]
    fit = _Joint(battles, np.stack([x for x, _ in found], axis=1), prior)
    end = minimise(fit, fit.precision, lambda x: x, steps=_STEPS, tol=_TOL)
    effects = _effects(fit, end.x, names, [unit for _, unit in found])
    values, pairs, given = end.x[: battles.n_agents], fit.adjusted(end.x), dict(options)
    joint = Ratings(battles.agents, values, "bradley_terry", {"prior": prior}, converged=end.converged, unit=1.0)
    if method == "bradley_terry":
        given = {"prior": prior, **given}
    plain, board = (rank(evidence, method, **given) for evidence in (as_pairs(battles), pairs))
    # What limits the ratings is what the votes say, not what they would be expected to say.
    board = replace(board, votes=votes_per_agent(battles), warnings=plain.warnings)
    if method == "bradley_terry" and given["prior"] == prior:
        board = replace(board, values=values, loss=None)
    return Controlled(board, plain, effects, pairs, battles.n_votes, joint)


def circumstance(battles: Profile, name: str) -> tuple[Floats, str]:
    """What the first entry of each battle has over the second, and what one of it is."""
    if name in ("first", "home"):
        column = battles.columns.get("home") if name == "home" else None
        if column is not None and not column.numeric:
            return _at_home(battles, column), "at home"
        if battles.turned is None:
            raise DataError(f"control: {name!r}: the battles do not say who was shown first")
        ahead = np.where(battles.turned, -1.0, 1.0)
        if name == "first":
            return ahead, "shown first"
        return np.where(_neutral(battles), 0.0, ahead), "shown first, not on neutral ground"
    for first, second in _SIDES:
        pair = first.format(name), second.format(name)
        if all(side in battles.columns for side in pair):
            return _difference(battles, *pair), "a standard deviation of the relative difference"
    known = [*battles.columns]
    hint = near(f"{name}_a", known)
    raise DataError(
        f"control: no columns {name}_a and {name}_b, one for each side; there is {some(map(repr, known), 12)}{hint}; "
        "or 'first' or 'home'"
    )


def _at_home(battles: Profile, column: Column) -> Floats:
    """1 where the column names the first entry, -1 for the second, 0 for nobody."""
    number = {agent: k for k, agent in enumerate(battles.agents)}
    codes = np.array([number.get(name, -1) for name in column.names] + [-1])
    assert column.codes is not None
    who, (one, other) = codes[column.codes], _sides(battles)
    found: Floats = (who == one).astype(float) - (who == other)
    if not found.any():
        raise DataError(
            f"control: 'home': the column names none of the two agents; found {some(map(repr, column.names))}"
        )
    return found


def _neutral(battles: Profile) -> Flags:
    """Battles that a column marks as on neutral ground."""
    name = next((name for name in battles.columns if name.strip().casefold() in _NEUTRAL), None)
    if name is None:
        return np.zeros(battles.n_votes, dtype=bool)
    try:
        return np.array([cell is not None and read_flag(cell) for cell in battles.columns[name].cells()], dtype=bool)
    except ValueError as error:
        raise DataError(f"control: 'home': column {name!r}: expected {error}") from None


def _difference(battles: Profile, a: str, b: str) -> Floats:
    """The relative difference of two columns, of the first entry to the second, in standard deviations."""
    if battles.turned is None:
        raise DataError(f"control: {a!r} and {b!r}: the battles do not say which agent is a")
    sides = []
    for name in (a, b):
        column = battles.columns[name]
        if column.values is None or (column.values[~np.isnan(column.values)] < 0).any():
            raise DataError(f"control: column {name!r}: expected numbers that are not negative")
        sides.append(column.values)
    total = sides[0] + sides[1]
    apart = np.where(total > 0, (sides[0] - sides[1]) / np.where(total > 0, total, 1.0), 0.0)
    blank = np.isnan(apart)
    if blank.all():
        raise DataError(f"control: columns {a!r} and {b!r} are blank")
    apart[blank] = 0.0  # nothing known, nothing assumed
    spread = math.sqrt(float((battles.weight * apart**2).sum() / battles.weight.sum()))
    found: Floats = np.where(battles.turned, -apart, apart) / (spread or 1.0)
    return found


def _sides(battles: Profile) -> tuple[Ints, Ints]:
    """The agents of each battle, in the order of the entries."""
    both = battles.agent.reshape(-1, 2)
    return both[:, 0], both[:, 1]


class _Joint:
    """The negative log-likelihood of battles by ratings and effects; equal battles are counted together."""

    def __init__(self, battles: Profile, x: Floats, prior: float) -> None:
        one, other = _sides(battles)
        swap = one > other
        left, right = np.where(swap, other, one), np.where(swap, one, other)
        x = np.where(swap[:, None], -x, x)
        share = np.where(battles.tier.reshape(-1, 2)[:, 1] == 0, 0.5, np.where(swap, 0.0, 1.0))
        values, kind = np.unique(x, axis=0, return_inverse=True)
        key = (left.astype(np.int64) * battles.n_agents + right) * len(values) + kind.ravel()
        found, place = np.unique(key, return_inverse=True)
        pair = found // len(values)
        self.agents, self.m = battles.agents, battles.n_agents
        self.left, self.right, self.x = pair // self.m, pair % self.m, values[found % len(values)]
        self.count = np.bincount(place, battles.weight)
        self.won = np.bincount(place, battles.weight * share)
        self.kind = battles.kind
        self.precision = np.full(self.m + x.shape[1], float(prior))
        self.curve = np.zeros(len(found))

    def leads(self, at: Floats) -> tuple[Floats, Floats]:
        """Log-odds of each row without and with the circumstances."""
        bare = at[self.left] - at[self.right]
        return bare, bare + self.x @ at[self.m :]

    def spread(self, push: Floats) -> Floats:
        """What a push on each row is on ratings and effects."""
        ratings = np.bincount(self.left, push, self.m) - np.bincount(self.right, push, self.m)
        return np.concatenate([ratings, self.x.T @ push])

    def move(self, at: Floats) -> tuple[Floats, Floats]:
        p = _logistic(self.leads(at)[1])
        self.curve = self.count * p * (1 - p)
        both = np.bincount(self.left, self.curve, self.m) + np.bincount(self.right, self.curve, self.m)
        return self.spread(self.count * p - self.won), np.concatenate([both, (self.x**2).T @ self.curve])

    def bend(self, v: Floats) -> Floats:
        return self.spread(self.curve * self.leads(v)[1])

    def adjusted(self, at: Floats) -> Pairs:
        """The wins of each pair as they would be expected without the circumstances."""
        bare, with_them = map(_logistic, self.leads(at))
        pair, place = np.unique(self.left * self.m + self.right, return_inverse=True)
        count: Floats = np.bincount(place, self.count).astype(float)
        won: Floats = np.bincount(place, self.won + self.count * (bare - with_them)).astype(float)
        # More wins than battles may be expected: then the margin stays, and nobody lost less often than never.
        lost: Floats = np.where(won < 0, count - 2 * won, np.maximum(count - won, 0.0))
        won = np.where(won > count, 2 * won - count, np.maximum(won, 0.0))
        nothing = np.zeros(len(pair))
        left, right = (pair // self.m).astype(np.int32), (pair % self.m).astype(np.int32)
        return Pairs(self.agents, left, right, won, lost, nothing, kind=self.kind)


def _effects(fit: _Joint, at: Floats, names: Sequence[str], units: Sequence[str]) -> list[Effect]:
    """The effects with their intervals: from the columns of the inverse of the Hessian."""
    diagonal = fit.move(at)[1] + fit.precision
    size, k = len(fit.precision), len(names)
    inverse = np.empty((k, k))
    for j in range(k):
        unit = np.zeros(size)
        unit[fit.m + j] = 1.0
        inverse[j] = solve(fit, fit.precision, unit, diagonal, _ROUGH)[fit.m :]
    normal, found = NormalDist(), []
    for j, name in enumerate(names):
        effect, error = float(at[fit.m + j]), math.sqrt(max(float(inverse[j, j]), 0.0))
        p = 2 * normal.cdf(-abs(effect) / error) if error else 1.0
        ends = effect - 1.959964 * error, effect + 1.959964 * error
        found.append(Effect(name, effect, *ends, p, float(_logistic(np.array(effect))), units[j]))
    return found


def _logistic(x: Floats) -> Floats:
    chance: Floats = np.exp(-np.logaddexp(0.0, -x))
    return chance
