"""Losses on the processor: value, gradient, and a bound on the curvature along each rating.

What another backend computes elsewhere is one function of the pairwise loss, ``slopes``. Which backend it is, is chosen
once, before the first step of descent (``solvers.descent.pairwise_loss``).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from softcondorcet.arrays import Floats, run_ranges, sum_by
from softcondorcet.checks import Box
from softcondorcet.kernels import pairwise
from softcondorcet.kernels.compile import Kernel
from softcondorcet.kernels.distances import footrule_gradient
from softcondorcet.pairs import ByAgent, Pairs
from softcondorcet.profile import Profile

# Pairs per piece of work in numpy: a few MB at a time.
_CHUNK = 2**18
# The largest |second derivative| of the logistic function, at d = log(2 + sqrt 3).
SIGMOID_CURVE = 1 / (6 * np.sqrt(3))


@dataclass(frozen=True)
class Stage:
    """One stage of a descent: a loss at one temperature."""

    sharpness: float
    temperature: float


def won_pair_loss(d: Floats, q: float) -> Floats:
    """(1 - p^q) / q of a pair won with a lead of d temperatures; -log p for q = 0."""
    log_p = -np.logaddexp(0.0, -d)
    loss: Floats = -np.expm1(q * log_p) / q if q else -log_p
    return loss


class PairwiseLoss:
    """The pairwise family on pairs, plus a Gaussian prior: prior/2 sum ((rating - middle) / temperature)^2.

    Rows are cut between threads where there are enough of them; the threads end with the object.
    """

    def __init__(
        self,
        pairs: Pairs | ByAgent,
        bounds: Box,
        prior: float = 0.0,
        prior_temperature: float = 1.0,
        *,
        attract: bool = False,
        ranges: list[tuple[int, int]] | None = None,
    ) -> None:
        low, high = bounds
        self.rows = pairs if isinstance(pairs, ByAgent) else pairs.by_agent
        self.bounds, self.middle, self.width = bounds, (low + high) / 2, high - low
        self.stiffness = prior / prior_temperature**2
        self.tied = self.rows.tied if attract else None
        self.ranges = ranges or self.rows.ranges()
        self.pool = ThreadPoolExecutor(len(self.ranges)) if len(self.ranges) > 1 else None
        self._strength: dict[bool, Floats] = {}

    def gradient(self, ratings: Floats, stage: Stage) -> Floats:
        away = ratings - self.middle
        return self.slopes(away / stage.temperature, stage) / stage.temperature + self.stiffness * away

    def slopes(self, x: Floats, stage: Stage) -> Floats:
        """The gradient without the prior by x, ratings in temperatures from the middle of the box."""
        rows, q, slopes = self.rows, stage.sharpness, np.zeros(len(x))
        if q == 1.0 and self.is_narrow(stage):
            few = len(rows.column) <= pairwise.FEW
            kernel = pairwise.sigmoid_gradient_of_few if few else pairwise.sigmoid_gradient
            self._share(kernel, rows.margin, np.exp(x), slopes)
        elif q == 0.0 and self.is_narrow(stage):
            self._share(pairwise.logistic_gradient, rows.margin, rows.played, np.exp(x), slopes)
        else:
            tied = np.zeros(0) if self.tied is None else self.tied
            self._share(pairwise.family_gradient, rows.margin, rows.played, tied, x, q, slopes)
        return slopes

    def is_narrow(self, stage: Stage) -> bool:
        """Whether the kernels without an exponential for each pair will do: none of their numbers overflows."""
        return self.tied is None and self.width <= pairwise.WIDE * stage.temperature

    def curvature(self, stage: Stage) -> Floats:
        """Twice the diagonal: the Hessian is a signed Laplacian, which its diagonal bounds twice over."""
        sharp = stage.sharpness == 1.0 and self.tied is None
        if sharp not in self._strength:
            compared = np.abs(self.rows.margin) if sharp else self.rows.played
            # An agent without pairs has no curvature; any positive number leaves it where it is.
            self._strength[sharp] = np.maximum(self.rows.sums(compared), np.finfo(float).tiny)
        steepest = SIGMOID_CURVE if sharp else 0.25 if self.tied is None else 1.0
        return 2 * steepest / stage.temperature**2 * self._strength[sharp] + self.stiffness

    def value(self, ratings: Floats, stage: Stage) -> float:
        """The loss at these ratings, prior included. Over pairs, some at a time: it is asked for once per fit."""
        away, pairs = ratings - self.middle, self.rows.pairs
        total = self.stiffness / 2 * float(away @ away)
        for first in range(0, len(pairs), _CHUNK):
            part = slice(first, first + _CHUNK)
            d = (ratings[pairs.left[part]] - ratings[pairs.right[part]]) / stage.temperature
            wins, losses, ties = pairs.wins[part], pairs.losses[part], pairs.ties[part]
            won, lost = won_pair_loss(d, stage.sharpness), won_pair_loss(-d, stage.sharpness)
            level = (won + lost) / 2 if self.tied is None else 0.5 * np.tanh(d / 2) ** 2
            # A sum of products, not a dot product: BLAS would start threads for it.
            total += float((wins * won + losses * lost + ties * level).sum())
        return total

    def _share(self, kernel: Kernel, *arrays: Any) -> None:
        """Run a kernel on all rows, cut between the threads."""
        rows = self.rows
        if self.pool is None:
            kernel(rows.row, rows.column, *arrays, *self.ranges[0])
        else:
            run_ranges(lambda *part: kernel(rows.row, rows.column, *arrays, *part), self.ranges, self.pool)


class FootruleLoss:
    """A soft Spearman footrule in place of the soft Kendall-tau distance: the paper's suggestion in section 3.1.

    It charges an agent for how many places it is off, where Kendall-tau charges pairs; long displacements weigh more.
    It needs whole votes, so a pass costs O(sum of k^2). It carries no Condorcet guarantee.
    """

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        # A soft place moves by at most 1/4 per rival and x; h'' <= 2. In rows of the Gauss-Newton part that is at most
        # 2 (k-1)/2 (k-1)/2, and the curvature of the logistic function adds less than (k-1)/2.
        rivals = profile.length - 1.0
        each = profile.weight * (rivals**2 + rivals) / 2
        total = sum_by(profile.agent, np.repeat(each, profile.length), profile.n_agents)
        self.bound = np.maximum(total, np.finfo(float).tiny)

    def gradient(self, ratings: Floats, stage: Stage) -> Floats:
        return self._evaluate(ratings, stage)[1]

    def value(self, ratings: Floats, stage: Stage) -> float:
        return self._evaluate(ratings, stage)[0]

    def curvature(self, stage: Stage) -> Floats:
        return self.bound / stage.temperature**2

    def _evaluate(self, ratings: Floats, stage: Stage) -> tuple[float, Floats]:
        p, gradient = self.profile, np.zeros(len(ratings))
        loss = footrule_gradient(p.start, p.agent, p.tier, p.weight, ratings / stage.temperature, gradient)
        return float(loss), gradient / stage.temperature
