"""Bradley-Terry: ratings that make the comparisons of the votes most likely (Zermelo, 1929; Bradley and Terry, 1952).

The chance that a comes out above b is s(r_a - r_b), s the logistic function: what Elo fits, with all votes counted the
same. Ratings are natural log-odds and minimise, over the pairs of all votes,

    - sum log s(r_a - r_b)    (a above b)    + prior / 2 sum r_a^2,

which is convex: there is one answer, whatever the order of the votes. Newton's method finds it (``truncated_newton``),
at a few dozen passes over the distinct pairs; Hunter's algorithm (2004), the paper's, finds the same in more.

A vote of several agents counts as all its pairs. Ties: half a win for each, or a third outcome, whose parameter is
fitted too (Davidson, 1970; Rao and Kupper, 1967).

When it misleads: it follows win rates, so an agent that beats every other one need not come first. A win over a weak
agent counts as much as one over a strong agent where all pairs are compared equally often.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from softcondorcet.arrays import Floats
from softcondorcet.errors import DataError
from softcondorcet.kernels import bradley_terry as kernels
from softcondorcet.kernels.batch import frozen
from softcondorcet.methods.existence import centring, check_prior, held_by_prior, require_finite
from softcondorcet.methods.outcome import Data, rated
from softcondorcet.methods.truncated_newton import joined, minimise
from softcondorcet.options import one_of, positive, whole
from softcondorcet.pairs import Pairs, as_pairs
from softcondorcet.ratings import Ratings

TIES = {"half": kernels.HALF, "davidson": kernels.DAVIDSON, "rao_kupper": kernels.RAO_KUPPER}


def bradley_terry(
    data: Data,
    *,
    prior: float = 0.01,
    ties: Literal["half", "davidson", "rao_kupper"] = "half",
    steps: int = 100,
    tol: float = 1e-9,
) -> Ratings:
    """Bradley-Terry ratings in natural log-odds, with mean 0; ``.scale()`` turns them into Elo points.

    Parameters
    ----------
    data: a Profile or Pairs.
    prior: precision of a Gaussian prior around 0, in natural units: 0.01 is a standard deviation of 10, or 1,737 Elo
        points, next to nothing where agents have votes, but enough for one that never lost. With 0, agents without a
        finite rating are an error that names them.
    ties: a tie is "half" a win for each, or an outcome of its own: "davidson" fits nu, "rao_kupper" theta, which the
        result has among its options.
    steps, tol: most Newton steps, and the largest change of a rating at which they have converged.

    >>> from softcondorcet import Profile
    >>> board = bradley_terry(Profile.from_rankings([["A", "B", "C"], ["C", "A", "B"]], weights=[2, 3]))
    >>> board.order, round(board.probability("A", "C"), 2)
    (['A', 'C', 'B'], 0.58)
    """
    pairs = as_pairs(data)
    check_prior(prior)
    one_of("ties", TIES, ties)
    whole("steps", steps)
    positive("tol", tol)
    model = _model(pairs, ties)
    if prior == 0:
        require_finite(pairs, ties_lead=model == kernels.HALF)
    loss = PairLikelihood(pairs, model)
    end = minimise(loss, loss.precision(prior), centring(pairs), steps=steps, tol=tol)
    m = pairs.n_agents
    values = joined(end.x[:m])
    options: dict[str, Any] = {"prior": prior, "ties": ties, "steps": steps, "tol": tol}
    c = end.x[m] if model != kernels.HALF else -math.inf
    if ties == "davidson":
        options["nu"] = math.exp(c)
    if ties == "rao_kupper":
        options["theta"] = math.sqrt(1 + math.exp(c))
    board = rated(
        data,
        values,
        "bradley_terry",
        options,
        converged=end.converged,
        error=end.error,
        steps=end.steps,
        loss=loss.value(end.x) + prior / 2 * float((values**2).sum()),
        errors=np.array(end.errors),
        # With theta above 1 the odds are no longer a power of the lead.
        unit=None if model == kernels.RAO_KUPPER else 1.0,
    )
    return replace(board, warnings=(*board.warnings, *held_by_prior(pairs)))


def _model(pairs: Pairs, ties: str) -> int:
    """Without ties, all three are plain Bradley-Terry: nu is 0 and theta 1."""
    if ties == "half" or not pairs.ties.any():
        return kernels.HALF
    if not (pairs.wins.any() or pairs.losses.any()):
        raise DataError(f"votes: every comparison is a tie; expected some wins for ties={ties!r}; use ties='half'")
    return TIES[ties]


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
