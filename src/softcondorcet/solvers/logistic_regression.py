"""Logistic regression on rows with few entries: ratings and effects whose sum is the log-odds of a row.

Row k has the log-odds sum_c value[k, c] x[index[k, c]]. A battle of a and b is a row: 1 at each agent of the one side,
-1 at each of the other, and what the one has over the other at each effect. Newton's method (``likelihood``) finds the
maximum; the inverse of the Hessian is the covariance of what was fitted.

Where rows hang together, as the comparisons of one ranking do, that covariance is too small. The robust one sums the
squared slopes of each vote: inverse H times sum g g' times inverse H (Huber, 1967; Liang and Zeger, 1986).

Cost: one pass over the entries for each iteration of conjugate gradients; O(size^3) for a whole inverse.
"""

from __future__ import annotations

import numpy as np

from softcondorcet.arrays import Floats, Ints, sum_by
from softcondorcet.kernels import logistic_regression as kernels
from softcondorcet.kernels.batch import frozen
from softcondorcet.solvers.likelihood import Minimum, minimise, solve

_STEPS, _TOL = 100, 1e-9
# The share of a system that conjugate gradients may leave.
_ROUGH, _DRAWN = 1e-9, 1e-4


class LogisticRegression:
    """The negative log-likelihood of rows by `size` parameters, and its minimum under a Gaussian prior."""

    def __init__(self, index: Ints, value: Floats, count: Floats, won: Floats, precision: Floats) -> None:
        self.index, self.value = frozen(index, np.int64), frozen(value, np.float64)
        self.count, self.won = frozen(count, np.float64), frozen(won, np.float64)
        self.precision, self.size = precision, len(precision)
        self.curve = np.zeros(len(count))

    def move(self, x: Floats) -> tuple[Floats, Floats]:
        gradient, diagonal = np.zeros(self.size), np.zeros(self.size)
        kernels.move(self.index, self.value, self.count, self.won, x, gradient, diagonal, self.curve)
        return gradient, diagonal

    def bend(self, v: Floats) -> Floats:
        product = np.zeros(self.size)
        kernels.bend(self.index, self.value, self.curve, v, product)
        return product

    def leads(self, x: Floats) -> Floats:
        """The log-odds of each row."""
        found: Floats = np.einsum("kc,kc->k", self.value, x[self.index])
        return found

    def fit(self) -> Minimum:
        """The most likely parameters."""
        return minimise(self, self.precision, lambda x: x, steps=_STEPS, tol=_TOL)

    def inverse_times(self, x: Floats, right: Floats) -> Floats:
        """The inverse of the Hessian at x, prior included, times a vector."""
        diagonal = self.move(x)[1] + self.precision
        return solve(self, self.precision, right, diagonal, _ROUGH)

    def covariance(self, x: Floats) -> Floats:
        """The inverse of the Hessian at x, prior included."""
        self.move(x)
        hessian = np.diag(self.precision.astype(float))
        for c in range(self.index.shape[1]):
            for d in range(self.index.shape[1]):
                np.add.at(
                    hessian, (self.index[:, c], self.index[:, d]), self.curve * self.value[:, c] * self.value[:, d]
                )
        inverse: Floats = np.linalg.inv(hessian)
        return inverse

    def draws(self, x: Floats, rng: np.random.Generator, count: int) -> Floats:
        """Draws from the normal distribution whose precision is the Hessian at x, a row each."""
        diagonal = self.move(x)[1] + self.precision
        found = np.empty((count, self.size))
        for k in range(count):
            push = self.value * (np.sqrt(self.curve) * rng.standard_normal(len(self.curve)))[:, None]
            right = sum_by(self.index.ravel(), push.ravel(), self.size)
            right += np.sqrt(self.precision) * rng.standard_normal(self.size)
            found[k] = solve(self, self.precision, right, diagonal, _DRAWN)
        return found


def chance(odds: Floats) -> Floats:
    """The logistic function."""
    p: Floats = np.exp(-np.logaddexp(0.0, -odds))
    return p


def distinct_rows(columns: list[Floats]) -> tuple[Ints, Ints]:
    """The first of each kind of row, all columns alike, and for each row the number of its kind."""
    key: Ints = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        found, code = np.unique(column, return_inverse=True)
        key = np.unique(key * len(found) + code, return_inverse=True)[1]
    first = np.full(int(key.max(initial=-1)) + 1, len(key))
    np.minimum.at(first, key, np.arange(len(key)))
    return first, key


def squares_by_vote(slopes: Floats, vote: Ints, weight: Floats) -> float:
    """The sum over votes of the square of their summed slopes; a vote of weight w stands for w votes."""
    each = sum_by(vote, slopes, len(weight))
    return float((weight * each**2).sum())
