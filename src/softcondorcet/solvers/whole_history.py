"""Ratings of every agent in every period, fitted at once (Coulom, Whole-History Rating, 2008; Glickman, 1999).

Parameter p is the rating of an agent in a period in which it has votes, as natural log-odds. The fit minimises

    - sum log s(x_i - x_j)            over the pairs (i above j) of all votes, both in the period of the vote
    + 1/2 sum x_p^2 / deviation^2     over the first period of each agent
    + 1/2 sum (x_p - x_b)^2 / step    over its other periods, b the one before; step = drift^2 * time between them,

Bradley-Terry with a Gaussian walk for each agent: one answer, whatever the order of the votes. In place of the pairs
may stand whole votes, by Plackett-Luce. Newton's method finds it; each step by conjugate gradients, preconditioned with
the block of each agent, which is tridiagonal.

Variances come from the blocks, as if all other agents were known, plus what these leave open: the scatter of the mean
of each block over draws from the posterior's normal approximation. A draw is one more system: its right side is random,
with the Hessian as its covariance.

Cost: a few dozen passes over the pairs of a period and over the parameters; memory in proportion to both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from softcondorcet.arrays import Floats, Ints, sum_by
from softcondorcet.kernels import bradley_terry as kernels, walk
from softcondorcet.kernels.batch import frozen
from softcondorcet.pairs import Pairs, count_pairs
from softcondorcet.profile import Profile
from softcondorcet.seeds import stream
from softcondorcet.solvers.likelihood import Center, PairLikelihood, VoteLikelihood, minimise, solve
from softcondorcet.solvers.shrinkage import SPREAD, USUAL

_STEPS, _TOL = 100, 1e-8
# Draws for what other agents leave open: a small part of a variance, of which so many know about a third.
_DRAWS, _ROUGH = 24, 0.03
# Steps of a search along one option.
_STRIDES = 8


@dataclass(frozen=True)
class Periods:
    """The periods of each agent: parameters in the order of periods, and of agents in each.

    `before` is the number of the same agent's parameter in its period before, -1 in its first; `gap` the time between
    them. `entry` is the parameter of each entry of the votes.
    """

    agent: Ints
    period: Ints
    before: Ints
    gap: Floats
    entry: Ints

    @classmethod
    def of(cls, profile: Profile, period: Ints, times: Floats) -> Periods:
        """Of votes in these periods, whose times are `times[period]`."""
        m = profile.n_agents
        keys = np.repeat(period.astype(np.int64), profile.length) * m + profile.agent
        found, entry = np.unique(keys, return_inverse=True)
        agent, when = found % m, found // m
        along = np.argsort(agent, kind="stable")
        before, follows = np.full(len(found), -1), agent[along][1:] == agent[along][:-1]
        before[along[1:][follows]] = along[:-1][follows]
        gap = np.where(before >= 0, times[when] - times[when[before]], 0.0)
        return cls(agent, when, before, gap, entry)

    def __len__(self) -> int:
        return len(self.agent)

    def votes(self, profile: Profile) -> Profile:
        """The votes, whose entries are `entry`: an agent in a period is an agent of its own."""
        names = tuple(map(str, range(len(self))))
        return Profile(names, profile.start, self.entry, profile.tier, profile.weight, kind=profile.kind)

    def pairs(self, profile: Profile) -> Pairs:
        """The pairs of these votes."""
        return count_pairs(self.votes(profile))


class Walks:
    """The loss of ratings that walk: votes and links. `precision` is the prior of first periods, apart from it."""

    def __init__(self, periods: Periods, votes: Pairs | Profile, deviation: float, drift: float) -> None:
        first = periods.before < 0
        self.likelihood: PairLikelihood | VoteLikelihood
        if isinstance(votes, Profile):
            self.likelihood = VoteLikelihood(votes)
        else:
            self.likelihood = PairLikelihood(votes, kernels.HALF)
        self.before = frozen(periods.before, np.int64)
        # Ratings that do not move are one rating: a link much stronger than any vote.
        step = np.maximum(drift**2 * periods.gap, 1e-9 * deviation**2)
        self.link = frozen(np.where(first, 0.0, 1 / step), np.float64)
        self.precision = np.where(first, 1 / deviation**2, 0.0)

    def move(self, x: Floats) -> tuple[Floats, Floats]:
        gradient, diagonal = self.likelihood.move(x)
        walk.add_slopes(self.before, self.link, x, gradient, diagonal)
        return gradient, diagonal

    def bend(self, v: Floats) -> Floats:
        product = self.likelihood.bend(v)
        walk.add_product(self.before, self.link, v, product)
        return product

    def by_agent(self, diagonal: Floats) -> Center:
        """Solves with the tridiagonal block of each agent."""
        pivot = diagonal.copy()
        walk.factor(self.before, self.link, pivot)

        def solved(right: Floats) -> Floats:
            x = right.copy()
            walk.solve(self.before, self.link, pivot, x)
            return x

        return solved

    def blocks(self, diagonal: Floats) -> tuple[Floats, Floats]:
        """Of each parameter, given all other agents, the variance, and the covariance with the one before."""
        pivot, variance, shared = diagonal.copy(), np.empty(len(diagonal)), np.zeros(len(diagonal))
        walk.factor(self.before, self.link, pivot)
        walk.spread(self.before, self.link, pivot, variance, shared)
        return variance, shared

    def draw(self, rng: np.random.Generator) -> Floats:
        """A random vector whose covariance is the Hessian at the point gone to last."""
        size, later = len(self.precision), np.flatnonzero(self.before >= 0)
        drawn = np.sqrt(self.precision) * rng.standard_normal(size) + self.likelihood.draw(rng)
        push = np.sqrt(self.link[later]) * rng.standard_normal(len(later))
        return drawn + sum_by(later, push, size) - sum_by(self.before[later], push, size)


@dataclass(frozen=True)
class WholeHistory:
    """Ratings by parameter, their variances, and the covariance of each with the one before."""

    periods: Periods
    values: Floats
    variance: Floats
    shared: Floats
    deviation: float
    drift: float
    loss: float
    steps: int
    error: float
    converged: bool

    @cached_property
    def along(self) -> Ints:
        """Parameters sorted by agent, then period."""
        return np.lexsort((self.periods.period, self.periods.agent))


def fit(
    periods: Periods,
    votes: Pairs | Profile,
    deviation: float,
    drift: float,
    *,
    start: Floats | None = None,
    tol: float = _TOL,
) -> tuple[Walks, WholeHistory]:
    """The most likely ratings, without variances."""
    loss = Walks(periods, votes, deviation, drift)
    end = minimise(loss, loss.precision, lambda x: x, steps=_STEPS, tol=tol, start=start, nearly=loss.by_agent)
    nothing = np.zeros(len(periods))
    value = loss.likelihood.value(end.x)
    ended = value, end.steps, end.error, end.converged
    return loss, WholeHistory(periods, end.x, nothing, nothing, deviation, drift, *ended)


def with_variances(loss: Walks, found: WholeHistory, seed: int, draws: int = _DRAWS) -> WholeHistory:
    """The same with variances, of ratings less the mean of all: their common level is not known, and matters to nobody.

    A rating x is the mean c of its block given all other agents, and a part e that is independent of these. With the
    level l, var(x - l) = var(c - l) + var(e) - 2 cov(e, l): the first from draws, the others from the block.
    """
    diagonal = loss.move(found.values)[1] + loss.precision
    size, (variance, shared) = len(found.values), loss.blocks(diagonal)
    rng, solved = stream(seed, "history"), loss.by_agent(diagonal)
    before = np.maximum(loss.before, 0)
    own, beside = np.zeros(size), np.zeros(size)
    for _ in range(draws):
        right = loss.draw(rng)
        drawn = solve(loss, loss.precision, right, diagonal, _ROUGH, loss.by_agent)
        mean = drawn - solved(right) - drawn.mean()
        own += mean * mean
        beside += mean * mean[before]
    level = solved(np.ones(size)) / size
    variance = np.maximum(variance + own / draws - 2 * level, 0.0)
    return replace(found, variance=variance, shared=shared + beside / draws - level - level[before])


def evidence(loss: Walks, found: WholeHistory) -> float:
    """The log-likelihood of the votes with all ratings integrated out, but for a constant (Laplace's approximation).

    The determinant of the Hessian is taken for that of its blocks, so a constant stays that changes little with drift.
    """
    x, product = found.values, np.zeros(len(found.values))
    walk.add_product(loss.before, loss.link, x, product)
    quadratic = float((x * (product + loss.precision * x)).sum())
    pivot = loss.move(x)[1] + loss.precision
    walk.factor(loss.before, loss.link, pivot)
    prior = float(np.log(loss.link + loss.precision).sum())
    return -found.loss - quadratic / 2 + prior / 2 - float(np.log(pivot).sum()) / 2


class Search:
    """The most likely drift and deviation; `tried` has the evidence of each pair of them."""

    def __init__(self, periods: Periods, votes: Pairs | Profile, deviation: float) -> None:
        self.periods, self.votes = periods, votes
        self.drift, self.deviation, self.best = 0.0, deviation, -np.inf
        self.tried: dict[tuple[float, float], float] = {}
        self._start: Floats | None = None

    def attempt(self, drift: float, deviation: float) -> float:
        """The evidence; the best is kept."""
        if (drift, deviation) not in self.tried:
            loss, found = fit(self.periods, self.votes, deviation, drift, start=self._start, tol=1e-3)
            self._start = found.values
            # As in ``shrinkage``: a few votes say little of how far agents lie apart.
            usual = (np.log(deviation**-2.0) - np.log(USUAL)) / SPREAD
            self.tried[drift, deviation] = value = evidence(loss, found) - float(usual**2) / 2
            if value > self.best:
                self.drift, self.deviation, self.best = drift, deviation, value
        return self.tried[drift, deviation]

    def climb(self, option: str, factor: float) -> None:
        """Go along one of the two by a factor to its best, then to the top of the parabola there."""

        def at(power: float) -> float:
            value = middle * factor**power
            return self.attempt(*((value, self.deviation) if option == "drift" else (self.drift, value)))

        for _ in range(_STRIDES):
            middle = getattr(self, option)
            kept = self.drift, self.deviation
            below, here, above = at(-1), at(0), at(1)
            if (self.drift, self.deviation) == kept:
                bend = below - 2 * here + above
                if bend < 0:
                    at(0.5 * (below - above) / bend)
                return
