"""A soft Spearman footrule in place of the soft Kendall-tau distance: the paper's suggestion in section 3.1.

It charges an agent for how many places it is off, where Kendall-tau charges pairs; long displacements weigh more. It
needs whole votes, so a pass costs O(sum of k^2). It carries no Condorcet guarantee.
"""

from __future__ import annotations

import numpy as np

from softcondorcet.arrays import Floats, sum_by
from softcondorcet.kernels.footrule import footrule_gradient
from softcondorcet.methods.descent import Stage
from softcondorcet.profile import Profile


class FootruleLoss:
    """Loss over the votes of a profile, for the descent loop."""

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
