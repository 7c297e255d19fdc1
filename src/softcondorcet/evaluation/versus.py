"""Is one agent better than another? Two agents on the same votes: wins, losses and ties, tests, effect, votes needed.

Only votes that hold both agents count. Their outcomes are paired, so the tests are those of pairs: sign flips, McNemar,
the bootstrap; see ``paired_tests`` for the formulas. Votes of one judge or task may go together: then whole groups are
flipped and drawn, for n votes that agree with one another say less than n votes that do not.

p-values hold for a number of votes that was fixed before. Who looks after every vote and stops at the first p below
5 % is wrong far more often than that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np

from softcondorcet.arrays import Floats, Ints, sum_by
from softcondorcet.checks import check, natural, near, one_of, short, whole
from softcondorcet.errors import DataError, OptionError
from softcondorcet.evaluation import paired_tests
from softcondorcet.evaluation.paired_tests import Units, fewest_units
from softcondorcet.evaluation.versus_result import Baseline, Measure, Part, Versus
from softcondorcet.formatting import some
from softcondorcet.profile import Profile, as_profile
from softcondorcet.seeds import stream

# Names up to this long are looked for among the agents when they are unknown, in as many names.


@overload
def versus(  # type: ignore[overload-overlap]  # a name is a sequence of names too
    data: Profile,
    a: str,
    b: str,
    *,
    by: str | None = None,
    per: str | None = None,
    measure: Measure | None = None,
    n: int = 2000,
    level: float = 0.95,
    seed: int = 0,
) -> Versus: ...


@overload
def versus(
    data: Profile,
    a: str,
    b: Sequence[str],
    *,
    by: str | None = None,
    per: str | None = None,
    measure: Measure | None = None,
    n: int = 2000,
    level: float = 0.95,
    seed: int = 0,
) -> Baseline: ...


def versus(
    data: Profile,
    a: str,
    b: str | Sequence[str],
    *,
    by: str | None = None,
    per: str | None = None,
    measure: Measure | None = None,
    n: int = 2000,
    level: float = 0.95,
    seed: int = 0,
) -> Versus | Baseline:
    """Compare agent `a` with agent `b` on the votes that hold both; or with each of several, with Holm's correction.

    Parameters
    ----------
    data: a Profile.
    by: what is independent: "votes"; "groups" (all votes of a judge or task go together); or the name of a column.
        None: groups, where the votes have six or more (fewer can never show a difference at 95 %), else votes.
    per: the column by whose names wins are listed; None for the groups.
    measure: "wins", or "scores" for the mean difference of the raw scores. None: scores where all these votes have
        them, in one direction.
    n: resamples of the bootstrap.
    level: of the interval, and 1 - the p-value from which two agents are told apart.

    A row of whole weight 5 is five votes; where weights are not whole, each row is one vote of that weight.

    >>> votes = Profile.from_rankings([["a", "b"], ["b", "a"]], weights=[61, 39])
    >>> print(versus(votes, "a", "b").summary()[0])
    a beats b on 61 of 100 votes (p = 0.028): 39 lost; 61 % of the points, 95 % interval 51 to 70.6
    """
    profile = as_profile(data, "a Profile: two agents are compared vote by vote")
    listed = [b] if isinstance(b, str) else list(b) if isinstance(b, Sequence) else [b]
    numbers = _agents(profile, a, listed)
    check(by is None or isinstance(by, str), "by", "'votes', 'groups' or the name of a column", by)
    if measure is not None:
        one_of("measure", ("scores", "wins"), measure)
    whole("n", n)
    check(isinstance(level, float) and 0.5 <= level < 1, "level", "a number from 0.5 to below 1", level)
    natural("seed", seed)
    asked = _Question(by is None, _clusters(profile, by), _listed(profile, per), measure, n, level, seed)
    found = [
        _compare(profile, a, other, _meeting(profile, numbers[0], number), asked)
        for other, number in zip(listed, numbers[1:], strict=True)
    ]
    if isinstance(b, str):
        return found[0]
    tested = [one for one in found if one.p is not None]
    adjusted = dict(zip([one.b for one in tested], paired_tests.holm([one.p or 0.0 for one in tested]), strict=True))
    return Baseline(a, tuple(replace(one, p_holm=adjusted.get(one.b)) for one in found))


def _agents(profile: Profile, a: str, others: list[str]) -> list[int]:
    """The number of each agent; an error with what may have been meant where one is not there."""
    check(len(others) > 0, "b", "an agent, or a list of at least one", others)
    number = {name: k for k, name in enumerate(profile.agents)}
    for option, name in [("a", a), *(("b", other) for other in others)]:
        check(isinstance(name, str), option, "the name of an agent", name)
        if name not in number:
            hint = near(name, profile.agents) or f": {some(profile.agents)}"
            raise OptionError(f"{option}: no agent {short(name)} among {profile.n_agents:,} agents{hint}")
    twice = next((name for k, name in enumerate([a, *others]) if name in [a, *others][:k]), None)
    check(twice is None, "b", "other agents than a, each once", twice)
    return [number[name] for name in [a, *others]]


def _clusters(profile: Profile, by: str | None) -> tuple[str, Ints] | None:
    """The column that says which votes go together, and its codes."""
    if by == "votes" or (by is None and profile.group is None):
        return None
    if by in (None, "groups"):
        if profile.group is None or profile.group_by is None:
            raise OptionError(f"by must be 'votes': these votes have no groups, got {by!r}")
        return profile.group_by, profile.group
    column = _column(profile, "by", str(by))
    return str(by), column[0]


def _listed(profile: Profile, per: str | None) -> tuple[str, Ints, tuple[str, ...]] | None:
    """The column by which wins are listed: its name, codes and names."""
    if per is None:
        if profile.group is None or profile.group_by is None:
            return None
        return profile.group_by, profile.group, profile.groups
    return per, *_column(profile, "per", per)


def _column(profile: Profile, option: str, name: str) -> tuple[Ints, tuple[str, ...]]:
    if not isinstance(name, str) or name not in profile.columns:
        check(bool(profile.columns), option, "left out: there is no column", name)
        one_of(option, tuple(profile.columns), name)
    column = profile.columns[name].grouped()
    assert column.codes is not None
    return column.codes, column.names


@dataclass(frozen=True, eq=False)
class _Meeting:
    """The votes that hold both agents: 1, -1 or 0 from the side of a, and the score difference divided by `unit`.

    Each row stands for `count` votes.
    """

    vote: Ints
    weight: Floats
    count: Floats
    won: Floats
    difference: Floats | None
    unit: float
    binary: bool
    mixed: bool

    @property
    def alike(self) -> bool:
        """Whether each vote counts one: a row of weight 5 is five votes."""
        return bool((self.weight == self.count).all())


def _meeting(profile: Profile, a: int, b: int) -> _Meeting:
    kept = []
    for agent in (a, b):
        entries = np.flatnonzero(profile.agent == agent)
        kept.append((np.searchsorted(profile.start, entries, "right") - 1, entries))
    (votes_a, of_a), (votes_b, of_b) = kept
    vote, in_a, in_b = np.intersect1d(votes_a, votes_b, assume_unique=True, return_indices=True)
    counts = profile.weight[vote] > 0
    vote, of_a, of_b = vote[counts], of_a[in_a[counts]], of_b[in_b[counts]]
    won = np.sign(profile.tier[of_b] - profile.tier[of_a]).astype(float)
    weight, count = profile.weight[vote], profile.counts[vote]
    if float(count.sum()) > 2**53:
        count = np.ones(len(vote))
    if profile.score is None or profile.higher_is_better is None or not len(vote):
        return _Meeting(vote, weight, count, won, None, 1.0, True, False)
    score = np.stack([profile.score[of_a], profile.score[of_b]])
    if not np.isfinite(score).all():
        return _Meeting(vote, weight, count, won, None, 1.0, True, False)
    up = profile.higher_is_better[vote]
    unit = float(np.abs(score).max()) or 1.0
    difference = np.where(up, 1.0, -1.0) * (score[0] / unit - score[1] / unit)
    binary = bool(((score == 0) | (score == 1)).all())
    return _Meeting(vote, weight, count, won, difference, unit, binary, bool(up.any() and not up.all()))


@dataclass(frozen=True)
class _Question:
    """The options of a comparison, with their columns found."""

    guess: bool
    grouped: tuple[str, Ints] | None
    listed: tuple[str, Ints, tuple[str, ...]] | None
    measure: Measure | None
    n: int
    level: float
    seed: int


def _compare(profile: Profile, a: str, b: str, met: _Meeting, asked: _Question) -> Versus:
    if asked.measure == "scores" and met.difference is None and len(met.vote):
        raise OptionError("measure must be 'wins': not all votes of these two have scores, got 'scores'")
    scored = asked.measure == "scores" or (asked.measure is None and not met.mixed)
    outcome = met.won if met.difference is None or not scored else met.difference
    scored = outcome is not met.won
    counts = {word: float(met.weight[met.won == sign].sum()) for word, sign in _SIGNS.items()}
    found: dict[str, Any] = {
        "a": a,
        "b": b,
        "votes": float(met.weight.sum()),
        **counts,
        "measure": "scores" if scored else "wins",
        "by": "votes",
        "level": asked.level,
        "unit": "vote" if profile.score is None else "item",
        **dict.fromkeys(_NUMBERS),
    }
    if not len(met.vote):
        return Versus(**found, clusters=0)
    cluster, warnings = _cluster(met, asked)
    if cluster is not None and asked.grouped is not None:
        found["by"] = asked.grouped[0]
    if asked.listed is not None:
        found |= {"per": asked.listed[0], "parts": _parts(met, outcome * met.unit if scored else None, asked.listed)}
    by_wins = units_of(met.won, met, cluster)
    units = units_of(outcome, met, cluster) if scored else by_wins
    found |= _effects(units, by_wins, met, scored, asked)
    found |= {
        "clusters": units.n,
        "p": paired_tests.sign_flip(units),
        "design_effect": 1.0 if cluster is None else _design_effect(units, outcome, met),
        "warnings": tuple(warnings + (_one_scale(outcome, met.weight) if scored else [])),
    }
    if cluster is None and met.alike and (met.binary or not scored):
        found["mcnemar"] = paired_tests.mcnemar(int(counts["wins"]), int(counts["losses"]))
    return Versus(**found)


def _cluster(met: _Meeting, asked: _Question) -> tuple[Ints | None, list[str]]:
    """The cluster of each vote, or None where votes are independent, and what to say about it."""
    if asked.grouped is None:
        return None, []
    name, codes = asked.grouped
    found, cluster = np.unique(codes[met.vote], return_inverse=True)
    if len(found) == len(met.vote) and bool((met.weight == 1).all()):
        return None, []  # a group for each vote
    if not asked.guess or len(found) >= fewest_units(asked.level):
        return cluster, []
    few = f"votes count as independent: {len(found)} groups of {name} are too few to tell whether votes of a group "
    return None, [f"{few}go together (by='groups' asks all the same)"] if len(found) > 1 else []


_SIGNS = {"wins": 1, "losses": -1, "ties": 0}
_NUMBERS = (
    "points", "low", "high", "log_odds", "log_odds_low", "log_odds_high", "p", "p_holm", "mcnemar", "design_effect",
    "needed", "detectable",
)  # fmt: skip


def units_of(outcome: Floats, met: _Meeting, cluster: Ints | None = None) -> Units:
    """The independent units of votes: each vote, or each cluster of them."""
    weight, count = met.weight, met.count
    if not met.alike:
        weight = weight / weight.max()
        weight = weight / (weight.sum() / count.sum())
    if cluster is not None:
        groups = int(cluster.max()) + 1
        return Units(sum_by(cluster, outcome * weight, groups), sum_by(cluster, weight, groups), np.ones(groups))
    if met.alike and bool((np.abs(np.sign(outcome)) == np.abs(outcome)).all()):
        kinds = outcome.astype(np.int64) + 1
        count, outcome = sum_by(kinds, count, 3), np.array([-1.0, 0.0, 1.0])
        outcome, count = outcome[count > 0], count[count > 0]
        return Units(outcome, np.ones(len(outcome)), count)
    return Units(outcome * weight / count, weight / count, count)


def _effects(units: Units, by_wins: Units, met: _Meeting, scored: bool, asked: _Question) -> dict[str, Any]:
    """The effect in points and in odds with intervals, votes needed, and what could be seen."""
    level, drawn = asked.level, (asked.level, asked.n, stream(asked.seed, "versus"))
    low, high = paired_tests.interval(by_wins, *drawn, bounded=True)
    share = (1 + by_wins.effect) / 2
    odds = [_logit((1 + end) / 2) for end in (low, high)]
    halves = 0.5 / max(float(met.weight.sum()), 1.0) if share in (0.0, 1.0) else 0.0
    least = paired_tests.detectable(units, level) * (met.unit if scored else 0.5)
    if scored:
        if not met.binary:
            low, high = paired_tests.interval(units, *drawn, bounded=False)
        points, low, high = (end * met.unit for end in (units.effect, low, high))
        if not math.isfinite(points):
            raise DataError("scores: their mean difference is beyond what floats can hold; expected smaller scores")
    else:
        points, low, high = share, (1 + low) / 2, (1 + high) / 2
    needed = paired_tests.votes_needed(units, level, stream(asked.seed, "versus"))
    if not met.alike:
        needed *= float(met.weight.sum() / met.count.sum())
    return {
        "points": points,
        "low": _finite(low),
        "high": _finite(high),
        "log_odds": _logit((share + halves) / (1 + 2 * halves)),
        "log_odds_low": _finite(odds[0]),
        "log_odds_high": _finite(odds[1]),
        "needed": math.ceil(needed - 1e-9) if needed < 1e15 else None,
        "detectable": _finite(least) if least > 0 and (scored or least <= 0.5) else None,
    }


def _logit(share: float) -> float:
    return math.copysign(math.inf, share - 0.5) if share in (0.0, 1.0) else math.log(share) - math.log1p(-share)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _design_effect(units: Units, outcome: Floats, met: _Meeting) -> float | None:
    """The variance of the effect by clusters over that of as many independent votes (Kish, 1965)."""
    alone = units_of(outcome, met)
    before = alone.spread / alone.n
    return _finite(units.spread / units.n / before) if before > 0 else None


def _one_scale(outcome: Floats, weight: Floats) -> list[str]:
    """A warning where one item outweighs all others."""
    square = weight * outcome**2
    if len(square) < 2 or square.max() <= square.sum() / 2:
        return []
    return ["one item has more than half of the squared score differences: measure='wins' counts all items alike"]


def _parts(met: _Meeting, score: Floats | None, listed: tuple[str, Ints, tuple[str, ...]]) -> tuple[Part, ...]:
    """Wins, losses, ties and the effect in each group, the largest first: the mean of a score, or the share won."""
    _, codes, names = listed
    found, group = np.unique(codes[met.vote], return_inverse=True)
    total = sum_by(group, met.weight, len(found))
    sums = {word: sum_by(group, met.weight * (met.won == sign), len(found)) for word, sign in _SIGNS.items()}
    if score is None:
        points = (sums["wins"] + sums["ties"] / 2) / total
    else:
        points = sum_by(group, met.weight / total[group] * score, len(found))
    order = np.argsort(-total, kind="stable")
    listed_by_size = [array[order].tolist() for array in (total, sums["wins"], sums["losses"], sums["ties"], points)]
    return tuple(Part(names[k], *numbers) for k, *numbers in zip(found[order].tolist(), *listed_by_size, strict=True))
