"""How well does an order found on some votes predict others? The paper's protocol for held-out votes (section 4.3).

Votes are split at random into training and test votes such that every agent of a test vote also stands in a training
vote, and no vote is in both. A method rates the training votes; each test vote is then compared with its order by
Kendall-tau distance. Methods whose ratings are log-odds are judged by the log-loss of their probabilities as well.

Split by time, the last votes are the test. Agents that no earlier vote holds are taken out of them, since no method
can know anything about these; the other agents of the same vote are compared all the same.

A row of whole weight 5 is five equal votes: some of them may be held out and the others not. Where weights are not
whole, or add up to more than ten million, a row is one vote, and goes to one side as a whole.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from softcondorcet.arrays import Flags, Floats, Ints, sum_by
from softcondorcet.checks import check, natural, not_negative, one_of, whole
from softcondorcet.errors import DataError
from softcondorcet.evaluation.compare import Methods, as_methods, run
from softcondorcet.formatting import plural
from softcondorcet.io.conditions import restricted
from softcondorcet.kernels import distances
from softcondorcet.profile import Profile, as_profile
from softcondorcet.ratings import Ratings
from softcondorcet.seeds import stream
from softcondorcet.tabular import Tabular

# Two-sided 95 % points of Student's t for 1, 2, ... degrees of freedom; above, that of the normal distribution with
# the first term of its expansion in 1 / degrees, right to 0.03.
_STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
_NORMAL = 1.960
# Methods that are tested by default: this library's answer, the exact one, and what people use.
TESTED = ("sco", "kemeny", "bradley_terry", "elo", "borda", "copeland", "plurality")
# Votes that are dealt out one by one.
_MOST = 10_000_000


@dataclass(frozen=True)
class Judged:
    """Ratings held against votes: weighted means over votes of the distance, and over pairs of the rest."""

    distance: float
    error: float
    accuracy: float
    log_loss: float | None


@dataclass(frozen=True)
class Score:
    """One method on all splits: mean distance of a held-out vote, with its 95 % interval `low` to `high`.

    `accuracy` is the share of held-out comparisons in the right order, `log_loss` their mean -log probability (None
    where ratings are not log-odds), `seconds` the mean time of a fit.
    """

    method: str
    distance: float
    low: float
    high: float
    accuracy: float
    log_loss: float | None
    seconds: float


@dataclass(frozen=True)
class Holdout(Tabular):
    """The methods from best to worst, on `splits` splits of `asked` votes each.

    `test` of them were scored: fewer where some hold less than two agents of earlier votes. From `shortened` of these
    agents were taken out that no earlier vote holds.
    """

    scores: Sequence[Score]
    asked: int
    test: int
    shortened: int
    splits: int
    skipped: dict[str, str]

    def __getitem__(self, method: str) -> Score:
        return {score.method: score for score in self.scores}[method]

    def rows(self) -> list[dict[str, Any]]:
        return [dict(vars(score)) for score in self.scores]

    def summary(self) -> list[str]:
        best = self.scores[0]
        level = [s.method for s in self.scores[1:] if s.low <= best.high]
        line = (
            f"on {self.test:,} held-out votes{f', {self.splits} splits' * (self.splits > 1)}: {best.method} is nearest"
        )
        lines = [line + (f"; intervals that overlap with its own: {', '.join(level)}" if level else "")]
        if self.test < self.asked:
            dropped = plural(self.asked - self.test, "vote")
            lines.append(f"{dropped} of the last {self.asked:,} left out: fewer than two agents of earlier votes")
        if self.shortened:
            lines.append(f"{plural(self.shortened, 'vote')} scored without agents that no earlier vote holds")
        return [*lines, *(f"left out {name}: {reason}" for name, reason in self.skipped.items())]

    def to_json(self) -> str:
        data = {
            "asked": self.asked,
            "test": self.test,
            "shortened": self.shortened,
            "splits": self.splits,
            "skipped": self.skipped,
            "methods": self.rows(),
        }
        return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)


def holdout(
    data: Profile,
    methods: Methods = TESTED,
    *,
    test: int | None = None,
    splits: int = 1,
    by: Literal["random", "time"] = "random",
    seed: int = 0,
    time_limit: float = 10.0,
    watch: Callable[[int, int, Any], None] | None = None,
) -> Holdout:
    """Rate one part of the votes by each method and hold its order against the others.

    Parameters
    ----------
    data: a Profile.
    methods: names of methods; or a mapping from a name of your own to a method and its options.
    test: held-out votes, a tenth of all by default.
    splits: how many random splits. The interval is over splits where there are several, else over test votes.
    by: "random", or "time": the last votes are held out, and scored on the agents that earlier votes hold.
    seed: of the splits, and of the methods that draw at random.
    time_limit: seconds for each fit of an exact method.
    watch: called as ``watch(fit, fits, None)``.

    >>> from softcondorcet import synthetic
    >>> votes, truth = synthetic.tournament(400, agents=20, seed=1)
    >>> found = holdout(votes, ["sco", "plurality"], test=50)
    >>> found.scores[0].method, 0 < found["sco"].distance < 3
    ('sco', True)
    """
    profile = as_profile(data, "a Profile: held-out votes need votes")
    chosen = as_methods(methods)
    n_votes = len(_votes(profile)) if by == "random" else profile.n_votes
    test = max(1, n_votes // 10) if test is None else test
    whole("test", test)
    whole("splits", splits)
    check(test < n_votes, "test", f"less than the number of votes, {n_votes:,}", test)
    not_negative("time_limit", time_limit)
    one_of("by", ("random", "time"), by)
    natural("seed", seed)
    check(by == "random" or splits == 1, "splits", "1 for a split by time, of which there is only one", splits)
    judged: dict[str, list[tuple[Judged, float]]] = {name: [] for name in chosen}
    skipped: dict[str, str] = {}
    held, shortened = 0, 0
    for split in range(splits):
        if by == "time":
            train, late = split_by_time(profile, test)
            unseen = known_agents(train, late)
            held, shortened = unseen.n_votes, unseen.n_votes - _with_all_known(train, late)
        else:
            train, unseen = split_at_random(profile, test, seed=seed + split)
            held = int(_counts(unseen).sum())
        for k, (name, (method, options)) in enumerate(chosen.items()):
            if name in skipped:
                continue
            began = time.perf_counter()
            try:
                board = run(train, method, options, seed + split, time_limit)
            except DataError as error:
                skipped[name] = str(error)
                continue
            judged[name].append((judge_votes(board, unseen), time.perf_counter() - began))
            if watch is not None:
                watch(split * len(chosen) + k + 1, splits * len(chosen), None)
    scores = [_score(name, found) for name, found in judged.items() if found and name not in skipped]
    if not scores:
        raise DataError("; ".join(f"{name}: {reason}" for name, reason in skipped.items()))
    return Holdout(sorted(scores, key=lambda score: score.distance), test, held, shortened, splits, skipped)


def _counts(profile: Profile) -> Ints:
    """How many votes each row stands for: its weight where all weights are whole and not too large, else one."""
    separate = profile.counts.sum() <= _MOST
    return profile.counts.astype(np.int64) if separate else np.ones(profile.n_votes, dtype=np.int64)


def _votes(profile: Profile) -> Ints:
    """The row of each vote that compares agents at all."""
    return np.repeat(np.arange(profile.n_votes), np.where(_telling(profile), _counts(profile), 0))


def _part(profile: Profile, counts: Ints) -> Profile:
    """So many votes of each row; rows of none are left out."""
    kept = np.flatnonzero(counts)
    share = counts[kept] / np.maximum(_counts(profile)[kept], 1)
    return replace(profile.take(kept), weight=profile.weight[kept] * share)


def split_at_random(profile: Profile, test: int, *, seed: int) -> tuple[Profile, Profile]:
    """Training and test votes: every agent of a test vote stands in a training vote too, no vote is in both."""
    counts, votes = _counts(profile), _votes(profile)
    left = sum_by(profile.agent, np.repeat(counts, profile.length).astype(float), profile.n_agents)
    taken: list[int] = []
    for v in stream(seed, "held_out").permutation(votes):
        members = profile.agent[profile.start[v] : profile.start[v + 1]]
        if (left[members] > 1).all():
            left[members] -= 1
            taken.append(int(v))
            if len(taken) == test:
                break
    if len(taken) < test:
        raise DataError(
            f"held-out votes: {len(taken):,} of {len(votes):,} votes can be held out while every agent of theirs "
            f"stands in another vote; expected {test:,}"
        )
    held = np.bincount(taken, minlength=profile.n_votes)
    return _part(profile, counts - held), _part(profile, held)


def split_by_time(profile: Profile, test: int) -> tuple[Profile, Profile]:
    """The last votes are the test, by time or else as they are listed."""
    order = in_time(profile)
    return profile.take(np.sort(order[:-test])), profile.take(np.sort(order[-test:]))


def in_time(profile: Profile) -> Ints:
    """The votes in the order of their times, or else as they are listed."""
    return np.arange(profile.n_votes) if profile.when is None else np.argsort(profile.when, kind="stable")


def folds(profile: Profile, count: int, *, seed: int) -> list[tuple[Profile, Profile]]:
    """Cross-validation: each vote is held out once, on the agents that stand in the training votes of that fold."""
    counts = _counts(profile)
    votes = np.repeat(np.arange(profile.n_votes), counts)
    part = stream(seed, "folds").permutation(len(votes)) % count
    held = [np.bincount(votes[part == k], minlength=profile.n_votes) for k in range(count)]
    cuts = [(_part(profile, counts - out), _part(profile, out)) for out in held]
    return [(train, known_agents(train, late)) for train, late in cuts]


def folds_by_time(profile: Profile, count: int) -> list[tuple[Profile, Profile]]:
    """The later half of the votes in parts, each of them held out once, with all votes before it to train on."""
    order, n = in_time(profile), profile.n_votes
    cuts = []
    for low, high in pairwise(np.linspace(n // 2, n, count + 1).astype(int).tolist()):
        train, late = (profile.take(np.sort(part)) for part in (order[:low], order[low:high]))
        cuts.append((train, known_agents(train, late)))
    return cuts


def known_agents(train: Profile, test: Profile) -> Profile:
    """The test votes without agents that stand in no training vote, as far as they compare two agents then."""
    seen = _members(train)
    known = test if seen[test.agent].all() else restricted(test, seen)
    kept = np.flatnonzero(_telling(known))
    if not len(kept):
        raise DataError(
            f"held-out votes: none of {test.n_votes:,} has two agents that stand in training votes; "
            "expected at least one"
        )
    return known.take(kept)


def _members(profile: Profile) -> Flags:
    """Which agents stand in a vote."""
    seen = np.zeros(profile.n_agents, dtype=bool)
    seen[profile.agent] = True
    return seen


def _with_all_known(train: Profile, test: Profile) -> int:
    """How many test votes compare agents, all of which stand in training votes."""
    new = ~_members(train)[test.agent]
    vote = np.repeat(np.arange(test.n_votes), test.length)
    return int((_telling(test) & (np.bincount(vote[new], minlength=test.n_votes) == 0)).sum())


def _telling(votes: Profile) -> Flags:
    """Which votes compare agents at all."""
    return (votes.length > 1) & (votes.weight > 0)


def judge_votes(board: Ratings, votes: Profile) -> Judged:
    """Hold ratings against votes over the same agents."""
    mistakes, surprise = np.zeros((2, votes.n_votes))
    values = np.array(board.values)
    distances.judge(votes.start, votes.agent, votes.tier, values, board.unit or 0.0, mistakes, surprise)
    weight, pairs = votes.weight, votes.length * (votes.length - 1) / 2
    distance = _mean(mistakes, weight)
    # A row stands for several votes of weight 1, or for one of its weight.
    counts = _counts(votes)
    single = weight / np.maximum(counts, 1)
    spread = float((counts * (single * (mistakes - distance)) ** 2).sum())
    n = max(int(counts.sum()), 2)
    return Judged(
        distance,
        math.sqrt(spread * n / (n - 1)) / float(weight.sum()),
        1 - _mean(mistakes, weight) / _mean(pairs, weight),
        _mean(surprise, weight) / _mean(pairs, weight) if board.unit else None,
    )


def _mean(values: Floats, weight: Floats) -> float:
    return float(np.average(values, weights=weight))


def _score(method: str, found: list[tuple[Judged, float]]) -> Score:
    judged = [one for one, _ in found]
    distance = [one.distance for one in judged]
    mean = float(np.mean(distance))
    half = half_width(distance) if len(judged) > 1 else _NORMAL * judged[0].error
    losses = [one.log_loss for one in judged if one.log_loss is not None]
    return Score(
        method,
        mean,
        mean - half,
        mean + half,
        float(np.mean([one.accuracy for one in judged])),
        float(np.mean(losses)) if losses else None,
        float(np.mean([seconds for _, seconds in found])),
    )


def half_width(values: Sequence[float]) -> float:
    """Half of Student's 95 % interval of the mean."""
    n = len(values)
    point = _STUDENT[n - 2] if n - 2 < len(_STUDENT) else _NORMAL * (1 + (_NORMAL**2 + 1) / (4 * (n - 1)))
    return point * float(np.std(values, ddof=1)) / math.sqrt(n)
