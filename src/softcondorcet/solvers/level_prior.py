"""Bradley-Terry ratings with a prior around those whom each agent met.

    minimise  -log-likelihood(r) + 1/2 ((I - P) r)' W (I - P) r,    W = prior / (1 + sum of the squares of P's row),

where P r is the mean rating of those that each agent met. Such a prior says nothing of the level of agents that met
each other: where agents meet their like, as in leagues and by matchmaking, levels are as far apart as the votes between
them add up to. A prior around 0 would have it that all means are the same. So there is one, but as weak as if it were
about a single agent of all: it keeps levels finite where a single win links them.

Cost: Newton's method by conjugate gradients, one pass over the pairs each.
"""

from __future__ import annotations

import numpy as np

from softcondorcet.arrays import Floats, Ints, sum_by
from softcondorcet.kernels import bradley_terry as kernels, shrinkage
from softcondorcet.kernels.batch import frozen
from softcondorcet.pairs import Pairs
from softcondorcet.solvers.likelihood import minimise
from softcondorcet.solvers.order_odds import centred

# Most steps of Newton's method to the most likely ratings, and the last one.
_STEPS, _TOL = 30, 1e-6
# Leads beyond which the likelihood is flat up to rounding.
_FAR = 30.0
# Weights from which on squares overflow.
_HUGE = 1e100
# Of ``kernels.bend``: there is no tie parameter.
_NO_CROSS = np.zeros(0)


class LevelPosterior:
    """Q at some ratings, as a matrix and as what it does to ratings; and the gradient that the most likely ones end."""

    def __init__(self, pairs: Pairs, prior: Floats, group: Ints) -> None:
        m = pairs.n_agents
        self.pairs, self.group = pairs, group
        self.weak = prior / np.bincount(group, minlength=1)[group]
        self.ends = frozen(pairs.left, np.int32), frozen(pairs.right, np.int32)
        self.met = pairs.wins + pairs.losses + pairs.ties
        total = sum_by(pairs.left, self.met, m) + sum_by(pairs.right, self.met, m)
        # Shares of the meetings of either agent that are with the other.
        self.of_left, self.of_right = (
            self.met / np.maximum(total[end], np.finfo(float).tiny) for end in (pairs.left, pairs.right)
        )
        squares = sum_by(pairs.left, self.of_left**2, m) + sum_by(pairs.right, self.of_right**2, m)
        self.prior = prior / (1 + squares)
        self.curve, self.information, self.diagonal = np.zeros(len(pairs)), np.zeros(m), np.zeros(m)

    def most_likely(self, start: Floats) -> Floats:
        """The most likely ratings, where Q then is; of weights whose squares are no numbers those of the start."""
        if not self.met.max(initial=0.0) < _HUGE:
            self.move(start)
            return start
        flat = np.zeros(len(start))
        return minimise(self, flat, lambda x: centred(x, self.group), steps=_STEPS, tol=_TOL, start=start).x

    def move(self, x: Floats) -> tuple[Floats, Floats]:
        """Gradient and diagonal of Q at ratings x."""
        left, right, m = self.pairs.left, self.pairs.right, self.pairs.n_agents
        chance = 1 / (1 + np.exp(-np.clip(x[left] - x[right], -_FAR, _FAR)))  # never 0 or 1
        self.curve = self.met * chance * (1 - chance)
        self.information = sum_by(left, self.curve, m) + sum_by(right, self.curve, m)
        near = sum_by(right, self.of_left**2 * self.prior[left], m)
        near += sum_by(left, self.of_right**2 * self.prior[right], m)
        self.diagonal = self.information + self.prior + near + self.weak
        excess = self.met * chance - self.pairs.wins - self.pairs.ties / 2
        pull = sum_by(left, excess, m) - sum_by(right, excess, m)
        return pull + self.prior_bend(x), self.diagonal

    def matrix(self) -> Floats:
        left, right = self.pairs.left, self.pairs.right
        full = self.prior_matrix()
        full[np.diag_indices(len(full))] += self.information
        full[left, right] -= self.curve
        full[right, left] -= self.curve
        return full

    def prior_matrix(self) -> Floats:
        """What the prior adds to Q."""
        rows = self.pairs.by_agent
        total = np.maximum(rows.sums(rows.played), np.finfo(float).tiny)
        share = rows.played / np.repeat(total, np.diff(rows.row))
        full = np.diag(self.weak)
        shrinkage.add_squares(frozen(rows.row, np.int64), frozen(rows.column, np.uint32), share, self.prior, full)
        same = self.group[:, None] == self.group
        return full - np.where(same, self.weak / np.bincount(self.group, minlength=1)[self.group], 0.0)

    def away(self, ratings: Floats) -> Floats:
        """(I - P) times ratings."""
        less = np.zeros(len(ratings))
        shrinkage.mean_of_met(*self.ends, self.of_left, self.of_right, ratings, less)
        return ratings - less

    def away_transposed(self, values: Floats) -> Floats:
        less = np.zeros(len(values))
        shrinkage.mean_of_met(*self.ends, self.of_right, self.of_left, values, less)
        return values - less

    def prior_bend(self, v: Floats) -> Floats:
        """What the prior adds to Q, times v."""
        return self.away_transposed(self.prior * self.away(v)) + self.weak * centred(v, self.group)

    def bend(self, v: Floats) -> Floats:
        product = self.prior_bend(v)
        kernels.bend(*self.ends, self.curve, _NO_CROSS, v, product)
        return product
