"""Descent on long votes, where all their pairs would not fit into memory.

A contest of 16,000 holds 128 million pairs. The gradient of the sigmoid loss does not need them: sorted by rating, only
agents within ``REACH`` temperatures of each other pull on each other (``kernels.long_votes``). The same loss and the
same descent as on pairs; what is left out needs pairs: insertion, exact components, bounds.

The step of an agent is the inverse of a bound on its curvature near by: with s the logistic function, |s''| <= s', and
s' grows by at most a factor e where a difference moves by one temperature. So, as long as no agent moves by more than
half a temperature, 2 e sum s' / temperature^2 bounds it: far less than a bound for all ratings, since most partners are
far away.

Descent ends when the root mean square of the agents' steps is below `tol` temperatures. The longest step would not do:
among 280,000 agents there is always one with a single contest that strolls through a plain, at no one's cost.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from softcondorcet import threads
from softcondorcet.arrays import Floats, Ints, sum_by
from softcondorcet.errors import NotConverged
from softcondorcet.kernels import long_votes as kernels
from softcondorcet.kernels.pairwise import WIDE
from softcondorcet.methods.dealing import STAGES, dealt_walk
from softcondorcet.methods.descent import SIGMOID_CURVE, Descent, Stage, descend
from softcondorcet.methods.outcome import limits, unfinished, votes_per_agent
from softcondorcet.options import Box, Watch, check
from softcondorcet.pairs import BYTES, Pairs, count_pairs
from softcondorcet.profile import Profile
from softcondorcet.ratings import Ratings

# Temperatures beyond which two agents do not pull on each other: s' is below 2.1e-9 there, a share of 8.3e-9 of its
# largest value.
REACH = 20.0
# A step may be this many times longer than a bound for all ratings allows: else an agent that has left all others
# behind would run to the end of the box, at nothing's pull.
_LONGER = 100.0
# Where a winner stands alone at the end of the box, the others stay below by this share of it.
_BELOW = 1e-6
_NO_PAIRS = "rated by votes, since their pairs are too many: the order is not improved by insertion, and has no bound"
# Below this many pairs of a vote's square a second thread costs more than it saves.
_WORTH_A_THREAD = 10**6


def too_long_for_pairs(profile: Profile) -> bool:
    """Whether the pairs of the votes may not fit into the memory of this machine."""
    distinct = min(int((profile.length.astype(float) * (profile.length - 1) / 2).sum()), profile.n_agents**2 // 2)
    return hasattr(os, "sysconf") and distinct * BYTES > os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def rate_votes(
    profile: Profile, start: Floats, walk: Sequence[Stage], options: Mapping[str, Any], seed: int, watch: Watch | None
) -> Ratings:
    """``sco`` by descent on votes. `options` are its resolved ones; `walk` ends in the loss asked for."""
    low, high = options["bounds"]
    heat = walk[-1].temperature
    check(high - low <= WIDE * heat, "temperature", f"at least 1/{WIDE:g} of the box by votes", heat)
    cast = profile.take(profile.weight > 0)
    loss_of = partial(LongVotesLoss, bounds=(low, high), prior=options["prior"], prior_temperature=heat)
    loss = loss_of(cast)
    end = _descend(loss, loss_of, start, walk, options, np.random.default_rng([seed, 2]), watch)
    ratings, winner = end.ratings, condorcet_winner(cast, end.ratings)
    if winner is not None and options["prior"] == 0:
        ratings = np.minimum(ratings, high - (high - low) * _BELOW)
        ratings[winner] = high
    notes = [_NO_PAIRS, *limits(neighbours(cast))]
    if not end.converged:
        notes.insert(0, unfinished("sco", options, end.error))
        warnings.warn(notes[0], NotConverged, stacklevel=3)
    return Ratings(
        profile.agents,
        ratings,
        "sco",
        options,
        seed=seed,
        converged=end.converged,
        steps=end.steps,
        error=end.error,
        loss=loss.value(ratings, walk[-1]),
        discrete_loss=loss.discrete(ratings),
        condorcet_winner=None if winner is None else profile.agents[winner],
        warnings=tuple(notes),
        votes=votes_per_agent(profile),
        errors=np.array(end.errors),
    )


def _descend(
    loss: LongVotesLoss,
    loss_of: Callable[[Profile], LongVotesLoss],
    start: Floats,
    walk: Sequence[Stage],
    options: Mapping[str, Any],
    rng: np.random.Generator,
    watch: Watch | None,
) -> Descent:
    """Along the walk by hands, then by whole votes."""
    bounds, steps, target = options["bounds"], options["steps"], walk[-1]
    ratings, errors = start, list[float]()

    def seen(step: int, _: int, now: Floats) -> None:
        if watch is not None:
            watch(len(errors) + step, steps, now)

    def on(loss: LongVotesLoss, walk: Sequence[Stage], steps: int, tol: float) -> Descent:
        return descend(loss, ratings, walk, bounds=bounds, steps=steps, tol=tol, watch=seen, size=root_mean_square)

    if len(walk) > 1:
        stages = min(STAGES, max(1, steps // 2))
        for hands, part in dealt_walk(loss.profile, walk[0].temperature, target.temperature, stages, rng):
            end = on(loss_of(hands), part, len(part), 0.0)
            ratings, errors = end.ratings, errors + end.errors
    end = on(loss, [target], max(1, steps - len(errors)), options["tol"])
    return replace(end, steps=len(errors) + end.steps, errors=errors + end.errors)


def root_mean_square(step: Floats) -> float:
    return float(np.sqrt(np.mean(step**2))) if len(step) else 0.0


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
        self.votes = threads.cut(squares, _WORTH_A_THREAD, cores)
        self.agents = threads.cut(self.begin, _WORTH_A_THREAD, cores)
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
        return self._total(away / stage.temperature, REACH) + self.stiffness / 2 * float(away @ away)

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
        threads.run(lambda *part: kernels.sort_votes(*arrays, *part), self.votes, self.pool)

    def _sorted(self) -> tuple[Any, ...]:
        data = self.profile
        return data.start, data.tier, data.weight, self.order, self.key, self.room

    def _share(self, kernel: Any, arrays: tuple[Any, ...], *more: Any) -> list[Any]:
        return threads.run(lambda *part: kernel(*arrays, *more, *part), self.votes, self.pool)

    def _by_agent(self, values: Floats) -> Floats:
        sums = np.empty(self.profile.n_agents)
        arrays = self.begin, self.entry, values, sums
        threads.run(lambda *part: kernels.sum_by_agent(*arrays, *part), self.agents, self.pool)
        return sums


def _by_agent(profile: Profile) -> tuple[Ints, Ints]:
    """The entries of each agent, ``entry[begin[a]:begin[a + 1]]``."""
    begin = np.cumsum(np.bincount(profile.agent, minlength=profile.n_agents))
    return np.argsort(profile.agent, kind="stable"), np.concatenate([[0], begin])
