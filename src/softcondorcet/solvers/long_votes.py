"""Descent on long votes, where all their pairs would not fit into memory.

A contest of 16,000 holds 128 million pairs. The gradient of the sigmoid loss does not need them: sorted by rating, only
agents within ``REACH`` temperatures of each other pull on each other (``kernels.pairwise``). The same loss and the
same descent as on pairs; what is left out needs pairs: insertion, exact components, bounds.

The step of an agent is the inverse of a bound on its curvature near by: with s the logistic function, |s''| <= s', and
s' grows by at most a factor e where a difference moves by one temperature. So, as long as no agent moves by more than
half a temperature, 2 e sum s' / temperature^2 bounds it: far less than a bound for all ratings, since most partners are
far away.

Descent ends when the root mean square of the agents' steps is below `tol` temperatures. The longest step would not do:
among 280,000 agents there is always one with a single contest that strolls through a plain, at no one's cost.

The walk from high temperature to low only finds where to start the last descent, so it may go by a sample of the pairs:
each vote is dealt at random into hands, and agents meet those of their own hand only. At a high temperature all agents
of a hand pull on each other, and 64 tell an agent where it belongs; as the temperature falls, fewer are near, and hands
grow in proportion, up to the whole vote. So a step costs about the same at any temperature. Hands are dealt anew each
time the temperature has halved.

What is saved goes into a slower walk, which lowers the loss more than exact steps do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from softcondorcet.arrays import Floats, Ints, cut, run_ranges, sum_by
from softcondorcet.backends.cpu import SIGMOID_CURVE, Stage
from softcondorcet.checks import Box, Watch, check
from softcondorcet.kernels import pairwise as kernels
from softcondorcet.kernels.pairwise import WIDE
from softcondorcet.pairs import Pairs, count_pairs
from softcondorcet.profile import Profile
from softcondorcet.solvers.descent import Descent, descend

STAGES = 600
_HAND = 64


def deal(profile: Profile, size: float, rng: np.random.Generator) -> Profile:
    """Each vote as hands of at least `size` agents. Per agent a hand weighs as much as the vote: all its pairs."""
    length = profile.length
    hands = np.maximum(1, length // size).astype(np.int64)
    vote = np.repeat(np.arange(profile.n_votes), length)
    place = np.empty(len(vote), dtype=np.int64)
    place[np.lexsort((rng.random(len(vote)), vote))] = np.arange(len(vote)) - profile.start[vote]
    hand = (np.cumsum(hands) - hands)[vote] + place % hands[vote]
    entry = np.argsort(hand, kind="stable")
    held = np.bincount(hand, minlength=int(hands.sum()))
    per_agent = np.repeat(profile.weight * (length - 1), hands)
    return Profile(
        profile.agents,
        start=np.concatenate([[0], np.cumsum(held)]),
        agent=profile.agent[entry],
        tier=profile.tier[entry],
        weight=per_agent / np.maximum(held - 1, 1),
    )


def dealt_walk(
    profile: Profile, hot: float, cold: float, stages: int, rng: np.random.Generator
) -> Iterator[tuple[Profile, list[Stage]]]:
    """The stages from a hot temperature to a cold one, and hands for those of each octave."""
    heat = np.geomspace(hot, cold, stages)
    octave = np.floor(np.log2(hot / heat))
    for k in range(int(octave[-1]) + 1):
        part = heat[octave == k]
        if len(part):
            yield deal(profile, _HAND * hot / float(part[-1]), rng), [Stage(1.0, float(t)) for t in part]


# Temperatures beyond which two agents do not pull on each other: s' is below 2.1e-9 there, a share of 8.3e-9 of its
# largest value.
REACH = 20.0
# A step may be this many times longer than a bound for all ratings allows: else an agent that has left all others
# behind would run to the end of the box, at nothing's pull.
_LONGER = 100.0
# Where a winner stands alone at the end of the box, the others stay below by this share of it.
_BELOW = 1e-6
# Below this many pairs of a vote's square a second thread costs more than it saves.
_WORTH_A_THREAD = 10**6


@dataclass(frozen=True)
class VotesOptions:
    """How to descend on votes: the loss, most steps, and the step that ends it."""

    bounds: Box
    temperature: float
    prior: float
    steps: int
    tol: float

    def __post_init__(self) -> None:
        roomy = self.bounds[1] - self.bounds[0] <= WIDE * self.temperature
        check(roomy, "temperature", f"at least 1/{WIDE:g} of the box by votes", self.temperature)

    def loss_on(self, profile: Profile) -> LongVotesLoss:
        return LongVotesLoss(profile, self.bounds, prior=self.prior, prior_temperature=self.temperature)


@dataclass(frozen=True)
class VotesResult:
    """Where descent ended, the Condorcet winner on top where there is one; and what is known without pairs."""

    end: Descent
    loss: float
    discrete_loss: float
    winner: int | None


def descend_votes(
    profile: Profile, start: Floats, walk: Sequence[Stage], options: VotesOptions, rng: np.random.Generator,
    watch: Watch | None,
) -> VotesResult:  # fmt: skip
    """Descent along the walk, which ends in the loss asked for: by hands, then by whole votes."""
    low, high = options.bounds
    loss = options.loss_on(profile)
    end = _descend(loss, start, walk, options, rng, watch)
    ratings, winner = end.ratings, condorcet_winner(profile, end.ratings)
    if winner is not None and options.prior == 0:
        ratings = np.minimum(ratings, high - (high - low) * _BELOW)
        ratings[winner] = high
    return VotesResult(replace(end, ratings=ratings), loss.value(ratings, walk[-1]), loss.discrete(ratings), winner)


def _descend(
    loss: LongVotesLoss, start: Floats, walk: Sequence[Stage], options: VotesOptions, rng: np.random.Generator,
    watch: Watch | None,
) -> Descent:  # fmt: skip
    ratings, errors, steps, target = start, list[float](), options.steps, walk[-1]

    def seen(step: int, _: int, now: Floats) -> None:
        if watch is not None:
            watch(len(errors) + step, steps, now)

    def on(loss: LongVotesLoss, walk: Sequence[Stage], steps: int, tol: float) -> Descent:
        bounds = options.bounds
        return descend(loss, ratings, walk, bounds=bounds, steps=steps, tol=tol, watch=seen, mean=True)

    if len(walk) > 1:
        stages = min(STAGES, max(1, steps // 2))
        for hands, part in dealt_walk(loss.profile, walk[0].temperature, target.temperature, stages, rng):
            end = on(options.loss_on(hands), part, len(part), 0.0)
            ratings, errors = end.ratings, errors + end.errors
    end = on(loss, [target], max(1, steps - len(errors)), options.tol)
    return replace(end, steps=len(errors) + end.steps, errors=errors + end.errors)


def condorcet_winner(profile: Profile, ratings: Floats) -> int | None:
    """The agent that beats every other, if there is one: who does not lose to the best of those left stays."""
    m, data = profile.n_agents, profile
    vote = np.repeat(np.arange(data.n_votes), data.length)
    entry, begin = _by_agent(data)
    left = np.ones(m, dtype=bool)
    while left.any():
        a = int(np.argmax(np.where(left, ratings, -np.inf)))
        margin, met = np.zeros(m), np.zeros(m, dtype=bool)
        kernels.margins_over(data.start, data.agent, data.tier, data.weight, begin, entry, vote, a, margin, met)
        met[a], margin[a] = True, 1.0
        if met.all() and (margin > 0).all():
            return a
        left &= margin < 0
    return None


def neighbours(profile: Profile) -> Pairs:
    """Each entry with one of the tier above it, one of its own and one below: enough to see who is linked to whom, and
    who was never above or below another.
    """
    at = np.arange(len(profile.agent))
    vote = np.repeat(np.arange(profile.n_votes), profile.length)
    change = np.diff(profile.tier, prepend=-1) != 0
    change[profile.start[:-1]] = True
    first = np.maximum.accumulate(np.where(change, at, 0))
    heads = np.flatnonzero(change)
    below = np.append(heads, len(at))[np.searchsorted(heads, at, side="right")]
    higher, lower, level = first > profile.start[vote], below < profile.start[vote + 1], first < at
    one = np.concatenate([first[first[higher] - 1], at[lower], first[level]])
    two = np.concatenate([at[higher], below[lower], at[level]])
    tier = np.zeros((len(one), 2), dtype=np.int32)
    tier[: int(higher.sum() + lower.sum()), 1] = 1
    agent = profile.agent[np.stack([one, two], axis=1)]
    return count_pairs(
        Profile(profile.agents, start=2 * np.arange(len(one) + 1), agent=agent.ravel(), tier=tier.ravel(),
                weight=np.ones(len(one)))
    )  # fmt: skip


class LongVotesLoss:
    """The sigmoid loss on votes, plus a Gaussian prior; exact but for pairs more than ``REACH`` temperatures apart.

    ``curvature`` holds near the ratings of the last ``gradient``. Threads share the votes; the results do not depend on
    their number.
    """

    def __init__(
        self,
        profile: Profile,
        bounds: Box,
        *,
        prior: float = 0.0,
        prior_temperature: float = 1.0,
        cores: int | None = None,
    ) -> None:
        self.profile = profile
        self.middle = (bounds[0] + bounds[1]) / 2
        self.stiffness = prior / prior_temperature**2
        n, m = len(profile.agent), profile.n_agents
        self.entry, self.begin = _by_agent(profile)
        self.most = sum_by(profile.agent, np.repeat(profile.weight * (profile.length - 1), profile.length), m)
        self.order, self.spare = np.arange(n), np.empty(n, dtype=np.int64)
        self.key, self.room, self.of_entry = np.empty(n), np.empty((4, n)), np.empty((2, n))
        squares = np.concatenate([[0], np.cumsum(profile.length.astype(np.int64) ** 2)])
        self.votes = cut(squares, _WORTH_A_THREAD, cores)
        self.agents = cut(self.begin, _WORTH_A_THREAD, cores)
        self.pool = ThreadPoolExecutor(len(self.votes))
        self.pull, self.step = np.zeros(m), np.zeros(m)

    def gradient(self, ratings: Floats, stage: Stage) -> Floats:
        away, heat = ratings - self.middle, stage.temperature
        slope, pull = self.of_entry
        self._sort(away / heat)
        self._share(kernels.gradient_of_votes, self._sorted(), REACH, slope, pull)
        gradient, self.pull = self._by_agent(slope) / heat + self.stiffness * away, self._by_agent(pull)
        self.step = np.abs(gradient) / (heat / 2)
        return gradient

    def curvature(self, stage: Stage) -> Floats:
        """Of the loss along each rating, or, where it would allow for a step of more than half a temperature, more."""
        everywhere = 2 * SIGMOID_CURVE * self.most
        bound = np.clip(2 * np.e * self.pull, everywhere / _LONGER, everywhere) / stage.temperature**2 + self.stiffness
        return np.maximum(np.maximum(bound, self.step), np.finfo(float).tiny)

    def value(self, ratings: Floats, stage: Stage) -> float:
        away = ratings - self.middle
        return self._total(away / stage.temperature, REACH) + self.stiffness / 2 * float((away * away).sum())

    def discrete(self, ratings: Floats) -> float:
        """The sum of Kendall-tau distances of all votes to the order of these ratings; equal ones half a mistake."""
        away = ratings - self.middle
        return self._total(away / max(float(np.abs(away).max(initial=0.0)), 1.0), float(np.nextafter(0, 1)))

    def _total(self, x: Floats, reach: float) -> float:
        self._sort(x)
        return float(np.concatenate(self._share(kernels.loss_of_votes, self._sorted(), reach)).sum())

    def _sort(self, x: Floats) -> None:
        data, spare = self.profile, (self.spare, self.room[0])
        arrays = data.start, data.agent, x, self.order, self.key, *spare
        run_ranges(lambda *part: kernels.sort_votes(*arrays, *part), self.votes, self.pool)

    def _sorted(self) -> tuple[Any, ...]:
        data = self.profile
        return data.start, data.tier, data.weight, self.order, self.key, self.room

    def _share(self, kernel: Any, arrays: tuple[Any, ...], *more: Any) -> list[Any]:
        return run_ranges(lambda *part: kernel(*arrays, *more, *part), self.votes, self.pool)

    def _by_agent(self, values: Floats) -> Floats:
        sums = np.empty(self.profile.n_agents)
        arrays = self.begin, self.entry, values, sums
        run_ranges(lambda *part: kernels.sum_by_agent(*arrays, *part), self.agents, self.pool)
        return sums


def _by_agent(profile: Profile) -> tuple[Ints, Ints]:
    """The entries of each agent, ``entry[begin[a]:begin[a + 1]]``."""
    begin = np.cumsum(np.bincount(profile.agent, minlength=profile.n_agents))
    return np.argsort(profile.agent, kind="stable"), np.concatenate([[0], begin])
