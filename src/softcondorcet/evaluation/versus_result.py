"""Two agents compared, or several with a baseline: the numbers, and what they say in words.

The headline follows the p-value alone: "beats" where it reaches the level, else "cannot be told apart".
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, Literal

from softcondorcet.evaluation.paired_tests import fewest_units
from softcondorcet.formatting import some
from softcondorcet.tabular import Tabular

Measure = Literal["scores", "wins"]
_COLUMNS = (
    "a", "b", "votes", "wins", "losses", "ties", "points", "low", "high", "log_odds", "p", "p_holm", "mcnemar",
    "needed", "more",
)  # fmt: skip


@dataclass(frozen=True)
class Part:
    """The votes of one group: a judge, a task, a language."""

    group: str
    votes: float
    wins: float
    losses: float
    ties: float
    points: float


@dataclass(frozen=True)
class Versus(Tabular):
    """Agent `a` against agent `b` on the `votes` that hold both. All numbers are from the side of `a`.

    measure: what the points are: "wins", the share of votes won, ties as half; or "scores", the mean score difference.
    points, low, high: the effect and its bootstrap interval. None where there is none, or where it has no end.
    log_odds, log_odds_low, log_odds_high: of a vote won, ties as half.
    p: two-sided, of sign flips; None where the two never met. p_holm: among several comparisons, adjusted.
    mcnemar: McNemar's p where outcomes are binary and votes independent, else None.
    by, clusters: what is independent, "votes" or the column of the groups, and how many there are.
    design_effect: by how much votes that go together raise the variance; 1 for independent ones.
    needed: votes, in all, for 80 % power at the effect seen; more: those still to come.
    detectable: the smallest effect, in points, that as many votes find in 80 % of the cases.
    parts: the same votes by group of the column `per`.
    """

    a: str
    b: str
    votes: float
    wins: float
    losses: float
    ties: float
    measure: Measure
    points: float | None
    low: float | None
    high: float | None
    log_odds: float | None
    log_odds_low: float | None
    log_odds_high: float | None
    p: float | None
    p_holm: float | None
    mcnemar: float | None
    by: str
    clusters: int
    design_effect: float | None
    needed: int | None
    detectable: float | None
    level: float
    unit: Literal["vote", "item"]
    per: str | None = None
    parts: tuple[Part, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def better(self) -> str | None:
        """The agent that is told apart as the better one, or None."""
        p = self.p if self.p_holm is None else self.p_holm
        if p is None or p > 1 - self.level + 1e-12 or self.points is None:
            return None
        return self.a if self.points > self.even else self.b

    @property
    def even(self) -> float:
        """The points of two agents that are alike."""
        return 0.5 if self.measure == "wins" else 0.0

    @property
    def more(self) -> int | None:
        """Votes still needed for 80 % power at the effect seen; None where no number will do."""
        return None if self.needed is None else max(0, self.needed - int(self.votes))

    def rows(self) -> list[dict[str, Any]]:
        """One row for a table."""
        return [{name: getattr(self, name) for name in _COLUMNS if name != "p_holm" or self.p_holm is not None}]

    def summary(self) -> list[str]:
        """The answer in one sentence, then what it rests on and what to do next."""
        return [_headline(self), *_basis(self), *_next(self), *(f"warning: {note}" for note in self.warnings)]

    def to_dict(self) -> dict[str, Any]:
        data = {**vars(self), "better": self.better, "more": self.more, "headline": self.summary()[0]}
        return {**data, "warnings": list(self.warnings), "parts": [dict(vars(part)) for part in self.parts]}

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)


@dataclass(frozen=True)
class Baseline(Tabular):
    """One agent against several others, each a ``Versus`` from the side of the baseline; p-values by Holm (1979)."""

    agent: str
    against: tuple[Versus, ...]

    def __getitem__(self, agent: str) -> Versus:
        return {one.b: one for one in self.against}[agent]

    def rows(self) -> list[dict[str, Any]]:
        """One row for each other agent."""
        rows = [row for one in self.against for row in one.rows()]
        return [{key: row.get(key) for key in max(rows, key=len)} for row in rows]

    def summary(self) -> list[str]:
        """Who is told apart from the baseline, then a sentence about each."""
        words: dict[str, list[str]] = {"beats": [], "loses to": [], "is not told apart from": [], "never met": []}
        for one in self.against:
            result = "never met" if one.p is None else "is not told apart from" if one.better is None else "loses to"
            words["beats" if one.better == one.a else result].append(one.b)
        tested = len(self.against) - len(words["never met"])
        said = "; ".join(f"{word} {some(names, 10)}" for word, names in words.items() if names)
        each = [_headline(one) for one in self.against[:_SENTENCES]]
        return [f"{self.agent} {said} (Holm's correction for {tested} comparison{'s' * (tested != 1)})", *each]

    def to_dict(self) -> dict[str, Any]:
        return {"baseline": self.agent, "correction": "holm", "against": [one.to_dict() for one in self.against]}

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)


# Sentences about single comparisons in the summary of many; the rows have all.
_SENTENCES = 10


def _headline(one: Versus) -> str:
    """The answer in one sentence."""
    if one.p is None or one.points is None:
        return f"{one.a} and {one.b} never met: no {one.unit} has both"
    over = f"{_number(one.votes)} {_plural(one.unit, one.votes)}"
    if not one.wins + one.losses and one.points == one.even:
        ties = f"all {over} are ties" if one.votes > 1 else f"their only {one.unit} is a tie"
        return f"{one.a} and {one.b} are level: {ties}"
    p = _p(one)
    if one.better is None:
        counts = f"{_number(one.wins)} won by {one.a}, {_number(one.losses)} by {one.b}{_tied(one)}"
        return f"{one.a} and {one.b} cannot be told apart on {over} ({p}): {counts}; {_effect(one, one.a)}"
    first = one.better == one.a
    winner, loser = (one.a, one.b) if first else (one.b, one.a)
    won, lost = (one.wins, one.losses) if first else (one.losses, one.wins)
    effect = _effect(one, winner)
    if won > lost:
        return f"{winner} beats {loser} on {_number(won)} of {over} ({p}): {_number(lost)} lost{_tied(one)}; {effect}"
    counts = f"{_number(won)} won, {_number(lost)} lost{_tied(one)}"
    return f"{winner} beats {loser} by score on {over} ({p}): {effect}; but {counts}"


def _effect(one: Versus, agent: str) -> str:
    """Effect and interval from the side of one of the two agents."""
    assert one.points is not None
    values = [one.points, one.low, one.high] if agent == one.a else [one.points, one.high, one.low]
    if agent != one.a:
        values = [None if x is None else 2 * one.even - x for x in values]
    if one.measure == "wins":
        values = [None if x is None else 100 * x for x in values]
        return f"{values[0]:.3g} % of the points, {_range(one, values)}"
    return f"{values[0]:+.3g} an {one.unit}, {_range(one, values)}"


def _range(one: Versus, values: list[float | None]) -> str:
    _, low, high = ("open" if value is None else f"{value:.3g}" for value in values)
    known = f"{100 * one.level:g} % interval {low} to {high}"
    return "too few for an interval" if low == high == "open" else known


def _p(one: Versus) -> str:
    p = one.p if one.p_holm is None else one.p_holm
    name = "p" if one.p_holm is None else "Holm's p"
    return f"{name} < 0.0001" if p is not None and p < 1e-4 else f"{name} = {p:.2g}"


def _number(votes: float) -> str:
    return f"{votes:,.0f}" if votes < 1e15 and votes.is_integer() else f"{votes:,.6g}"


def _tied(one: Versus) -> str:
    return f", {_number(one.ties)} tied" if one.ties else ""


def _plural(unit: str, number: float) -> str:
    return unit if number == 1 else f"{unit}s"


def _basis(one: Versus) -> list[str]:
    """What the answer rests on: odds, groups, votes that go together."""
    lines: list[str] = []
    if one.log_odds is None or not one.wins + one.losses:
        return lines
    odds, low, high = (
        None if end is None else f"{math.exp(min(end, 700.0)):.3g}"
        for end in (one.log_odds, one.log_odds_low, one.log_odds_high)
    )
    ends = f"{low or '0'} to {high or 'open'}"
    lines.append(f"odds of {one.a}: {odds} to 1, {100 * one.level:g} % interval {ends}, ties as half")
    if one.by != "votes":
        alike = one.design_effect is not None and one.design_effect > 1
        effect = f": they count as {one.votes / one.design_effect:,.0f}" if alike and one.design_effect else ""
        lines.append(
            f"the {_plural(one.unit, 2)} are in {one.clusters:,} groups of {one.by}, which go together{effect}"
        )
    if 1 < len(one.parts) < one.votes:
        ahead = sum(part.points > one.even for part in one.parts)
        behind = sum(part.points < one.even for part in one.parts)
        level = len(one.parts) - ahead - behind
        end = f", level in {level:,}" if level else ""
        lines.append(f"by {one.per}: {one.a} is ahead in {ahead:,} of {len(one.parts):,}, {one.b} in {behind:,}{end}")
    return lines


def _next(one: Versus) -> list[str]:
    """What to do now."""
    things, fewest = _plural(one.unit, 2), fewest_units(one.level)
    groups = "" if one.by == "votes" else f", from more groups of {one.by}"
    if one.p is None:
        return [f"next: let both take part in the same {things}; 'sco rank' compares them through other agents"]
    if one.clusters < fewest:
        what = things if one.by == "votes" else f"groups of {one.by}"
        return [f"next: more {things}{groups}: fewer than {fewest} {what} can tell no two agents apart"]
    power = f"80 % power at the effect seen takes about {one.needed:,} {things}" if one.needed else ""
    if one.better is not None:
        enough = "there are enough" if one.more == 0 else "with fewer, the effect seen tends to be too large"
        return [f"{power}: {enough}"] if power else []
    lines = []
    if not one.needed or not one.more or one.needed > 1000 * one.votes:
        why = f"{power}, and there are as many" if one.more == 0 else "no reasonable number would do at the effect seen"
        lines.append(f"next: more {things}{groups} only if a smaller difference matters: {why}")
    else:
        lines.append(f"next: {one.more:,} more {_plural(one.unit, one.more)}{groups}: {power}")
    if one.detectable is not None:
        wins = one.measure == "wins"
        least = f"{50 + 100 * one.detectable:.3g} % of the points" if wins else f"{one.detectable:.3g} an {one.unit}"
        lines.append(f"as many {things} as these find {least} in 80 % of the cases, a smaller difference less often")
    return lines
