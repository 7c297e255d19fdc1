"""Ratings with circumstances controlled: what is about a battle or a side of it, and not about the agent.

Home ground, being shown first, the length of an answer: each gets one effect, fitted with the ratings of Bradley-Terry,

    chance of a over b = s(r_a - r_b + sum_k effect_k x_k),    s the logistic function,

x_k the advantage of a over b in circumstance k. Ties are half a win for each. A weak Gaussian prior holds ratings and
effects. The interval of an effect is Wald's, with the ratings fitted too. A ranking counts as all its pairs, which are
not independent: then the interval is the robust one, by vote.

A circumstance of entries, such as the lane of a race, has an effect for each level, held against the mean agent.

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
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from softcondorcet.arrays import Flags, Floats, Ints, sum_by
from softcondorcet.checks import check, positive
from softcondorcet.errors import DataError
from softcondorcet.evaluation.adjusted import Adjusted, adjusted_pairs
from softcondorcet.evaluation.circumstances import Circumstance, Comparisons, circumstances
from softcondorcet.formatting import percent, some
from softcondorcet.methods.registry import METHODS, rank
from softcondorcet.methods.result import votes_per_agent
from softcondorcet.pairs import Pairs, as_pairs
from softcondorcet.profile import Profile, as_profile
from softcondorcet.ratings import Ratings
from softcondorcet.solvers.logistic_regression import LogisticRegression, chance, distinct_rows, squares_by_vote

_Z = NormalDist().inv_cdf(0.975)
_LARGER = 2.0


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
class Controlled(Adjusted):
    """Ratings with circumstances controlled, beside the ratings without. `ratings` are those of the joint fit."""

    effects: Sequence[Effect]
    battles: int
    ratings: Ratings

    def __getitem__(self, name: str) -> Effect:
        known = {effect.name: effect for effect in self.effects}
        if name not in known:
            raise KeyError(f"no effect {name!r}; there is {some(map(repr, known), 12)}")
        return known[name]

    def probability(self, a: str, b: str, **ahead: Any) -> float:
        """The chance of a over b by the joint fit, with what a has over b, or the levels of both.

        ``first=1``; ``home=-1`` where b has it; ``lane=("1", "6")`` where a runs in lane 1 and b in lane 6.
        """
        odds = self.ratings[a] - self.ratings[b]
        for name, value in ahead.items():
            if isinstance(value, tuple):
                one, other = (self[f"{name}={level}"].effect for level in value)
                odds += one - other
            else:
                odds += self[name].effect * value
        return float(chance(np.array(odds)))

    def summary(self) -> list[str]:
        lines = []
        for one in self.effects:
            sure = "" if one.p < 0.05 else ", which may be chance"
            odds = f"{one.effect:+.3g} log-odds, 95 %: {one.low:.3g} to {one.high:.3g}"
            lines.append(f"{one.name} ({one.unit}): wins {percent(one.share, 1)} against an equal ({odds}){sure}")
        return [*lines, self.moves(), *(f"warning: {note}" for note in self.board.warnings)]

    def to_json(self, top: int | None = None) -> str:
        data = self.board.to_dict(top)
        data["agents"] = self.rows(top)
        data["control"] = {"battles": self.battles, "effects": [vars(one) for one in self.effects], "moved": self.moved}
        return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)


def controlled(
    data: Profile, columns: str | Collection[str], method: str = "sco", *, prior: float = 0.01, **options: Any
) -> Controlled:
    """Ratings with circumstances controlled.

    Parameters
    ----------
    data: a Profile.
    columns: the circumstances, a list or "first,length". Of battles "first": shown first. "home": the agent that a
        column of that name names, or else the one shown first, but for battles that a column `neutral` marks. Any other
        name: numbers in the columns NAME_a and NAME_b; their relative difference (a - b) / (a + b), in standard
        deviations. Of any votes, a column with a value for each agent, such as "lane": names, and whole numbers of
        at most 20 values, are levels, each with an effect; other numbers are compared as those of two sides.
        "NAME:number" and "NAME:levels" say which.
    method: any method that takes pairs; "bradley_terry" gives the ratings of the joint fit.
    prior: precision of a Gaussian prior on ratings and effects, in natural log-odds.
    options: of the method.

    >>> sides = {"a": ["x", "y"] * 20, "b": ["y", "x"] * 20}
    >>> battles = Profile.from_matches({**sides, "winner": ["model_a"] * 30 + ["tie"] * 10})
    >>> found = controlled(battles, "first", "bradley_terry")
    >>> found["first"].share > 0.8, round(found.board["x"], 6) + 0.0
    (True, 0.0)
    """
    profile = as_profile(data, "a Profile: circumstances are those of single votes")
    names = [name.strip() for name in columns.split(",")] if isinstance(columns, str) else list(columns)
    check(
        bool(names) and all(names) and len(set(names)) == len(names), "control", "different names of columns", columns
    )
    check(method in METHODS and METHODS[method].takes_pairs(options), "method", "a method that takes pairs", method)
    positive("prior", prior)
    votes = profile.take((profile.length > 1) & (profile.weight > 0))
    if not votes.n_votes:
        raise DataError("control: no vote compares two agents; expected battles or rankings")
    each = Comparisons.of(votes)
    found = circumstances(each, names)
    fit = _Joint(each, found, prior)
    end = fit.model.fit()
    values, pairs, given = end.x[: votes.n_agents], fit.adjusted(end.x), dict(options)
    joint = Ratings(votes.agents, values, "bradley_terry", {"prior": prior}, converged=end.converged, unit=1.0)
    if method == "bradley_terry":
        given = {"prior": prior, **given}
    plain, board = (rank(evidence, method, **given) for evidence in (as_pairs(votes), pairs))
    # What limits the ratings is what the votes say, not what they would be expected to say.
    board = replace(board, votes=votes_per_agent(votes), warnings=plain.warnings)
    if method == "bradley_terry" and given["prior"] == prior:
        board = replace(board, values=values, loss=None)
    return Controlled(board, plain, pairs, fit.effects(end.x), votes.n_votes, joint)


class _Joint:
    """Ratings and effects of circumstances as one logistic regression; equal comparisons are counted together."""

    def __init__(self, each: Comparisons, found: Sequence[Circumstance], prior: float) -> None:
        self.profile, self.each, self.found = each.profile, each, found
        agent, self.m = each.profile.agent, each.profile.n_agents
        one, other = agent[each.upper], agent[each.lower]
        swap = one > other
        self.left, self.right = np.where(swap, other, one), np.where(swap, one, other)
        won = np.where(each.profile.tier[each.upper] == each.profile.tier[each.lower], 0.5, np.where(swap, 0.0, 1.0))
        index, value = [self.left, self.right], [np.ones(len(one)), -np.ones(len(one))]
        alike, self.begin = [self.left * self.m + self.right], [self.m]
        for circumstance in found:
            begin = self.begin[-1]
            for where, size in _columns(circumstance, swap):
                index.append(begin + where)
                value.append(size)
                alike.append(size if circumstance.value is not None else (where + 1) * size)
            self.begin.append(begin + max(len(circumstance.levels), 1))
        first, self.row = distinct_rows(alike)
        self.won_share = won
        count, won = sum_by(self.row, each.weight, len(first)), sum_by(self.row, each.weight * won, len(first))
        precision = np.full(self.begin[-1], float(prior))
        rows = np.stack(index, axis=1)[first], np.stack(value, axis=1)[first]
        self.model = LogisticRegression(*rows, count, won, precision)

    def adjusted(self, at: Floats) -> Pairs:
        """The wins of each pair as they would be expected without the circumstances."""
        left, right = self.model.index[:, 0], self.model.index[:, 1]
        bare, with_them = chance(at[left] - at[right]), chance(self.model.leads(at))
        won = self.model.won + self.model.count * (bare - with_them)
        return adjusted_pairs(self.profile, left, right, self.model.count, won)

    def effects(self, at: Floats) -> list[Effect]:
        """The effects with their intervals; of a level less the mean level."""
        found = []
        for begin, one in zip(self.begin, self.found, strict=False):
            mean = _shares(one)
            for k, level in enumerate(one.levels or ("",)):
                contrast = np.zeros(self.model.size)
                contrast[begin : begin + len(mean)] = -mean
                contrast[begin + k] += 1
                effect, error = float((contrast * at).sum()), self._error(at, contrast)
                p = 2 * NormalDist().cdf(-abs(effect) / error) if error else 1.0
                ends = effect - _Z * error, effect + _Z * error
                name = f"{one.name}={level}" if one.levels else one.name
                found.append(Effect(name, effect, *ends, p, float(chance(np.array(effect))), one.unit))
        return found

    def _error(self, at: Floats, contrast: Floats) -> float:
        """The standard error of a sum of parameters: by vote, where votes make several comparisons."""
        solved = self.model.inverse_times(at, contrast)
        if not (self.profile.length > 2).any():
            return math.sqrt(max(float((contrast * solved).sum()), 0.0))
        rest = self.won_share - chance(self.model.leads(at))[self.row]
        slopes = rest * self.model.leads(solved)[self.row]
        votes, fitted = self.profile.n_votes, self.model.size - 1
        # The rest of a fit is smaller than that of the truth, by as many votes as parameters; agents of few votes
        # have parameters that say next to nothing of an effect.
        larger = min(votes / max(votes - fitted, 1), _LARGER)
        of_votes = squares_by_vote(slopes, self.each.vote, self.profile.weight)
        return math.sqrt(larger * of_votes + float((self.model.precision * solved**2).sum()))


def _columns(one: Circumstance, swap: Flags) -> Iterator[tuple[Ints, Floats]]:
    """The effects in each comparison, and how often, seen from the agent of the smaller number.

    The same level on both sides adds nothing.
    """
    if one.value is not None:
        yield np.zeros(len(swap), dtype=np.int64), np.where(swap, -one.value, one.value)
        return
    assert one.upper is not None and one.lower is not None
    sides = np.where(swap, one.lower, one.upper), np.where(swap, one.upper, one.lower)
    for side, sign in zip(sides, (1.0, -1.0), strict=True):
        there = (side >= 0) & (sides[0] != sides[1])
        yield np.where(there, side, 0), np.where(there, sign, 0.0)


def _shares(one: Circumstance) -> Floats:
    """How common each level is; of a number, nothing is to be taken off."""
    if one.upper is None or one.lower is None:
        return np.zeros(1)
    known = np.concatenate([one.upper, one.lower])
    count = np.bincount(known[known >= 0], minlength=len(one.levels))
    shares: Floats = count / max(int(count.sum()), 1)
    return shares
