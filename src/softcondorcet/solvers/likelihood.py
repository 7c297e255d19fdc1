"""Newton's method for log-likelihoods of choices, with the step found by conjugate gradients: no matrix is ever made.

The losses are sums of log-sum-exp of ratings, less a linear part. Along a direction v their third derivative is at
most (largest minus smallest entry of v) times the second, so with d that range of the Newton step, the step cut to
log(1 + d) / d of its length never raises the loss, from any start (Sun and Tran-Dinh, Generalized self-concordant
functions, 2019, nu = 2). That holds as well for steps that conjugate gradients leave rough: they have v'Hv = -g'v
too. The whole step is taken instead where the loss, being convex, still falls at its end. Values of the loss, whose
last digits are rounding, are not needed, and near the minimum convergence is quadratic.

Cost: one pass over the data per iteration of conjugate gradients, preconditioned by the diagonal; a few dozen
iterations per step on well connected data, 6 to 12 steps.

When do the most likely ratings exist? Without a prior they are finite, and one but for a constant, exactly if every
agent leads to every other one by "was ever above" (Zermelo, 1929; Ford, 1957; Hunter, 2004, assumption 1): otherwise
a group that never lost to the rest could be moved up for ever. A tie that attracts leads both ways. A prior keeps all
ratings finite, and such groups are named in a warning, because the prior, not the votes, then says how far apart they
are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from softcondorcet.arrays import Flags, Floats, sum_by
from softcondorcet.checks import check, not_negative
from softcondorcet.errors import DataError
from softcondorcet.formatting import some
from softcondorcet.kernels import bradley_terry as kernels, plackett_luce
from softcondorcet.kernels.batch import frozen
from softcondorcet.majority import linked_labels, strong_labels, undefeated, winless
from softcondorcet.pairs import Pairs
from softcondorcet.profile import Profile

# Share of the largest rating; Newton's method ends with an error of about 1e-12 of it.
_EQUAL = 1e-9
# A step found in as many iterations is good enough to go on from, whatever is left of it.
_ITERATIONS = 1_000


Center = Callable[[Floats], Floats]
# From the diagonal of a Hessian to what solves a system close to it.
Nearly = Callable[[Floats], Center]


class Likelihood(Protocol):
    """A convex loss by its derivatives; `move` goes to a point, the other two speak about the point gone to last."""

    def move(self, x: Floats) -> tuple[Floats, Floats]:
        """Gradient and diagonal of the Hessian at x."""

    def bend(self, v: Floats) -> Floats:
        """The Hessian there, times v."""


def by_diagonal(diagonal: Floats) -> Center:
    """Divides by the diagonal."""
    # An agent that no vote compares has no curvature; it stays where it is, whatever stands here.
    inverse = 1 / np.maximum(diagonal, np.finfo(float).tiny)
    return lambda x: inverse * x


@dataclass
class Minimum:
    """Where Newton's method ended; `error` is the largest entry of the last step."""

    x: Floats
    steps: int
    error: float
    converged: bool
    errors: list[float]


def minimise(
    loss: Likelihood,
    precision: Floats,
    center: Center,
    *,
    steps: int,
    tol: float,
    start: Floats | None = None,
    nearly: Nearly = by_diagonal,
) -> Minimum:
    """The minimum of `loss` plus a Gaussian prior around 0 with a precision for each entry, started at 0 or `start`.

    `center` takes away directions along which the loss is flat and the minimum 0. `nearly` makes, from the diagonal of
    the Hessian, what solves a system close to it.
    """
    x = np.zeros(len(precision)) if start is None else start
    gradient, diagonal = loss.move(x)
    gradient = gradient + precision * x
    errors: list[float] = []
    while len(errors) < steps and (not errors or errors[-1] > tol):
        # The first steps need only be rough; then as exact as the last one was small: convergence stays quadratic.
        rough = min([0.1, *errors[-1:]])
        step = center(solve(loss, precision, center(-gradient), diagonal + precision, rough, nearly))
        errors.append(float(np.abs(step).max(initial=0.0)))
        for share in (1.0, _safe_share(step)):
            gradient, diagonal = loss.move(x + share * step)
            gradient = gradient + precision * (x + share * step)
            if _dot(gradient, step) <= 0:
                break
        x = x + share * step
    return Minimum(x, len(errors), errors[-1], errors[-1] <= tol, errors)


def minimise_others(loss: Likelihood, precision: Floats, known: Floats, *, steps: int, tol: float) -> Minimum:
    """The same with some entries given, those of `known` that are not nan; it may be shorter than all entries."""
    start = np.zeros(len(precision))
    free = np.ones(len(precision))
    given = np.flatnonzero(~np.isnan(known))
    start[given], free[given] = known[given], 0.0

    def nearly(diagonal: Floats) -> Center:
        # Conjugate gradients then never leave the entries that are free.
        divide = by_diagonal(diagonal)
        return lambda x: free * divide(x)

    return minimise(loss, precision, lambda x: free * x, steps=steps, tol=tol, start=start, nearly=nearly)


def _safe_share(step: Floats) -> float:
    """How much of a Newton step never raises the loss: see the top of this file."""
    span = float(step.max(initial=0.0) - step.min(initial=0.0))
    return float(np.log1p(span) / span) if span > 0 else 1.0


def joined(x: Floats) -> Floats:
    """Entries that differ by less than rounding leaves are one: equal ratings share a rank, whatever the listing."""
    order = np.argsort(x, kind="stable")
    apart = _EQUAL * max(float(np.abs(x).max(initial=0.0)), 1e-3)
    group = np.cumsum(np.diff(x[order], prepend=x[order[:1]]) > apart)
    mean = np.bincount(group, weights=x[order]) / np.bincount(group) if len(x) else x
    equal = np.empty(len(x))
    equal[order] = mean[group]
    return equal


def solve(
    loss: Likelihood, precision: Floats, right: Floats, diagonal: Floats, rough: float, nearly: Nearly = by_diagonal
) -> Floats:
    """H v = right up to a share `rough`, by conjugate gradients preconditioned with the diagonal, or with `nearly`."""
    near = nearly(diagonal)
    unit = float(np.abs(right).max(initial=0.0)) or 1.0  # weights may be of any size; their squares must not overflow
    v, residual = np.zeros(len(right)), right / unit
    scaled = near(residual)
    direction, size = scaled, _dot(residual, scaled)
    goal = rough**2 * size
    for _ in range(_ITERATIONS):
        bent = loss.bend(direction) + precision * direction
        curvature = _dot(direction, bent)
        if size <= goal or curvature <= 0.0:
            break
        length = size / curvature
        v = v + length * direction
        residual = residual - length * bent
        scaled = near(residual)
        last, size = size, _dot(residual, scaled)
        direction = scaled + (size / last) * direction
    return unit * v


def _dot(a: Floats, b: Floats) -> float:
    """A sum of products; BLAS would start threads for it."""
    return float((a * b).sum())


def check_prior(prior: float) -> None:
    not_negative("prior", prior)
    check(prior <= 1e9, "prior", "at most 1e9", prior)


def require_finite(pairs: Pairs, ties_lead: bool = True) -> None:
    """An error that names the agents that have no finite rating without a prior, if there are some.

    Where ties are an outcome of their own, they need not hold ratings together, so only wins count: enough for finite
    ratings, though not always necessary.
    """
    linked = linked_labels(pairs)
    elsewhere = linked != np.argmax(np.bincount(linked, minlength=1))
    lone = (_apart(pairs, ties_lead) | elsewhere) & _listed(pairs)
    if lone.any():
        names = [pairs.agents[k] for k in np.flatnonzero(lone)]
        raise DataError(
            f"votes: no finite rating without a prior for {len(names)} agents that never lost to, never beat or never "
            f"met the rest: {some(names)}; expected wins both ways, or a prior above 0"
        )


def held_by_prior(pairs: Pairs) -> list[str]:
    """A warning for groups that only the prior holds near the rest; single agents are warned about in any case."""
    known = {*undefeated(pairs), *winless(pairs)}
    names = [pairs.agents[k] for k in np.flatnonzero(_apart(pairs)) if pairs.agents[k] not in known]
    if not names:
        return []
    return [
        f"{len(names)} agents stand in groups that never lost to the rest, or never beat it; only the prior keeps the "
        f"distance finite: {some(names)}"
    ]


def centring(pairs: Pairs) -> Center:
    """Takes from each rating the mean of its linked group.

    The votes say nothing about a group as a whole, so every sum of slopes over one is 0, and so is, with a prior, the
    mean of the most likely ratings; what rounding leaves of it would be blown up by a weak prior.
    """
    group = linked_labels(pairs)
    size = np.maximum(np.bincount(group, minlength=pairs.n_agents), 1)

    def center(x: Floats) -> Floats:
        ratings = x[: len(group)]
        mean = sum_by(group, ratings, len(group)) / size
        return np.concatenate([ratings - mean[group], x[len(group) :]])

    return center


def _apart(pairs: Pairs, ties_lead: bool = True) -> Flags:
    """Agents outside the largest strongly connected group of those that comparisons link them to."""
    tied = pairs.ties if ties_lead else np.zeros(len(pairs))
    label = strong_labels(replace(pairs, wins=pairs.wins + tied, losses=pairs.losses + tied))
    linked, size = linked_labels(pairs), np.bincount(label, minlength=1)[label]
    largest = np.zeros(pairs.n_agents, dtype=np.int64)
    np.maximum.at(largest, linked, size)
    first = np.full(pairs.n_agents, pairs.n_agents)
    chosen = size == largest[linked]
    np.minimum.at(first, linked[chosen], label[chosen])
    apart: Flags = label != first[linked]
    return apart


def _listed(pairs: Pairs) -> Flags:
    listed = np.zeros(pairs.n_agents, dtype=bool)
    listed[pairs.left] = listed[pairs.right] = True
    return listed


class PairLikelihood:
    """The negative log-likelihood of the pairs, by ratings and, where ties are an outcome, the tie parameter c."""

    def __init__(self, pairs: Pairs, model: int) -> None:
        self.model, self.size = model, pairs.n_agents + (model != kernels.HALF)
        self.ends = frozen(pairs.left, np.int32), frozen(pairs.right, np.int32)
        self.counts = tuple(frozen(count, np.float64) for count in (pairs.wins, pairs.losses, pairs.ties))
        self.curve = np.empty(len(pairs))
        self.cross = np.empty(len(pairs) if model != kernels.HALF else 0)
        self.alone = 0.0

    def precision(self, prior: float) -> Floats:
        """The prior is one on ratings, not on ties."""
        precision = np.full(self.size, float(prior))
        precision[self.size - (self.model != kernels.HALF) :] = 0.0
        return precision

    def move(self, x: Floats) -> tuple[Floats, Floats]:
        gradient, diagonal = np.zeros(self.size), np.zeros(self.size)
        kernels.move(self.model, *self.ends, *self.counts, x, gradient, diagonal, self.curve, self.cross)
        self.alone = diagonal[-1] if self.model != kernels.HALF else 0.0
        return gradient, diagonal

    def bend(self, v: Floats) -> Floats:
        product = np.zeros(self.size)
        kernels.bend(*self.ends, self.curve, self.cross, v, product)
        if self.model != kernels.HALF:
            product[-1] += self.alone * v[-1]
        return product

    def value(self, x: Floats) -> float:
        """The loss at x. In numpy: it is asked for once per fit."""
        (left, right), (won, lost, tied) = self.ends, self.counts
        d = x[left] - x[right]
        if self.model == kernels.HALF:
            cost = (won + tied / 2) * np.logaddexp(0, -d) + (lost + tied / 2) * np.logaddexp(0, d)
        elif self.model == kernels.DAVIDSON:
            total = np.logaddexp(np.logaddexp(d / 2, -d / 2), x[-1])
            cost = (won + lost + tied) * total - (won - lost) * d / 2 - tied * x[-1]
        else:
            t = np.logaddexp(0, x[-1]) / 2
            cost = won * np.logaddexp(0, t - d) + lost * np.logaddexp(0, t + d)
            cost += tied * (np.logaddexp(0, d - t) + np.logaddexp(0, -d - t) + np.logaddexp(0, -x[-1]))
        return float(cost.sum())

    def draw(self, rng: np.random.Generator) -> Floats:
        """A random vector whose covariance is the Hessian at the point gone to last, where ties are half wins."""
        push = np.sqrt(self.curve) * rng.standard_normal(len(self.curve))
        return sum_by(self.ends[0], push, self.size) - sum_by(self.ends[1], push, self.size)


class VoteLikelihood:
    """The negative log-likelihood of whole votes by ratings: Plackett-Luce."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.who = frozen(profile.start, np.int64), frozen(profile.agent, np.int32), frozen(profile.tier, np.int32)
        self.weight, self.m = frozen(profile.weight, np.float64), profile.n_agents
        self.share, self.p, self.q, self.level, self.mass = np.empty((5, len(profile.agent)))
        self.mean, self.under = np.empty((2, int(profile.length.max(initial=0))))
        self.at = np.zeros(self.m)

    def move(self, x: Floats) -> tuple[Floats, Floats]:
        self.at = x
        return self._at(x)[1:]

    def bend(self, v: Floats) -> Floats:
        product = np.zeros(self.m)
        parts = self.share, self.p, self.q, self.mass, self.mean, self.under
        plackett_luce.bend(*self.who, self.weight, v, *parts, product)
        return product

    def value(self, x: Floats) -> float:
        return self._at(x)[0]

    def draw(self, rng: np.random.Generator) -> Floats:
        """A random vector whose covariance is the expected Hessian at the point gone to last: slopes of drawn votes."""
        start, agent, _ = self.who
        vote = np.repeat(np.arange(len(self.weight)), np.diff(start))
        order = np.lexsort((-(self.at[agent] + rng.gumbel(size=len(agent))), vote))
        place = np.arange(len(agent)) - start[:-1][vote]
        drawn = replace(self.profile, agent=agent[order], tier=place, weight=np.sqrt(self.weight))
        return VoteLikelihood(drawn).move(self.at)[0]

    def _at(self, x: Floats) -> tuple[float, Floats, Floats]:
        gradient, diagonal = np.zeros(self.m), np.zeros(self.m)
        parts = self.share, self.p, self.q, self.level
        plackett_luce.split(*self.who, x, *parts)
        loss: float = plackett_luce.move(*self.who, self.weight, x, *parts, self.mass, gradient, diagonal)
        return loss, gradient, diagonal
