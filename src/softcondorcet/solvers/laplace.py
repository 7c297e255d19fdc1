"""How uncertain the votes leave each agent: the likelihood's curvature around Bradley-Terry ratings.

Ratings r (log-odds) have a Gaussian prior whose precision is found in the votes, for each connected group by itself
(``solvers.shrinkage``). Near their most likely values the votes say about as much as a normal distribution (Laplace):

    r ~ N(ratings, inverse of Q),    Q = H + (I - P)' W (I - P),    W = prior / (1 + sum of the squares of P's row).

H is the Hessian of the likelihood, a Laplacian with the weight n_ab p_ab (1 - p_ab) for each pair, and P r the mean
rating of those that each agent met, around which it varies as it does and as they do. The ratings are the most likely
ones under that prior. So an agent with few votes is as uncertain as skills vary, whatever its few votes say: a resample
cannot tell that, since what never happened happens in no resample. The prior says nothing of the level of agents that
met each other: where one vote links two groups, the distance between them is as uncertain as one vote leaves it, and
where agents met their like alone, levels are as far apart as the votes between them add up to. A prior around 0 would
have it that all means are the same; so there is one, but as weak as if it were about a single agent of all of them: it
keeps levels finite where a single win links them.

Only differences have a meaning, so the variance of one rating is that of its distance to the others, each counted by
how well it is known: a group that hangs on one vote is uncertain, and the rest, from which it hangs, is not.

A vote over k agents is no k (k - 1) / 2 votes of two. By Plackett-Luce, at equal skills, it tells 1 - (1 + 1/2 + ... +
1/k) / k of each agent; its k - 1 comparisons, taken for votes of two, (k - 1) / 4. So they count that much less:
0.64 for k = 4, 0.17 for k = 20. Pairs given without their votes count in full.

Cost: that of ``fit_prior``, and O(m^3) for the exact inverse up to 1,500 agents. Above, ratings are drawn from that
distribution some times (each by conjugate gradients): given all others, an agent varies by 1 / (its diagonal of Q), and
what the others add is taken from the draws. Exact where an agent's own votes decide, and unbiased elsewhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist

import numpy as np

from softcondorcet.arrays import Floats, Ints, sum_by
from softcondorcet.majority import linked_labels
from softcondorcet.pairs import Pairs, as_pairs, count_pairs
from softcondorcet.profile import Profile
from softcondorcet.seeds import stream
from softcondorcet.solvers.level_prior import LevelPosterior
from softcondorcet.solvers.likelihood import solve
from softcondorcet.solvers.order_odds import BradleyTerry, centred
from softcondorcet.solvers.shrinkage import fit_prior, largest_prior

# Agents up to which the inverse is exact, and draws of ratings above: variances are then known to about a third.
_EXACT, _DRAWS = 1_500, 16
# The share of a draw's equations that conjugate gradients may leave.
_ROUGH = 1e-4

# The normal distribution by table.
_AT = np.linspace(-8.0, 8.0, 1601)
_BELOW = np.array([NormalDist().cdf(x) for x in _AT.tolist()])


def normal_below(x: Floats) -> Floats:
    """The chance of a standard normal number to be below x, to 1e-5; nan of nan."""
    below: Floats = np.interp(x, _AT, _BELOW)
    return below


@dataclass(frozen=True, eq=False)
class Laplace:
    """Ratings of all agents and how uncertain they are, each connected `group` by itself.

    `variance` is that of each agent's distance to the others; `covariance` that of all, where they are few enough to
    know it. `information` is what each agent's own comparisons tell of it.
    """

    ratings: Floats
    variance: Floats
    information: Floats
    group: Ints
    prior: Floats
    covariance: Floats | None = None

    @cached_property
    def sd(self) -> Floats:
        """Standard deviation of each rating."""
        return np.sqrt(self.variance)

    def lead(self, a: int | Ints, others: Ints) -> tuple[Floats, Floats]:
        """How far agent a is above each of the others, and the standard deviation of that; nan in another group."""
        if self.covariance is None:
            variance = self.variance[a] + self.variance[others]
        else:
            own = np.diag(self.covariance)
            variance = own[a] + own[others] - 2 * self.covariance[a, others]
        # Where an agent is held against itself, rounding may leave less than nothing.
        spread = np.sqrt(np.maximum(variance, np.finfo(float).tiny))
        same = self.group[others] == self.group[a]
        return np.where(same, self.ratings[a] - self.ratings[others], np.nan), np.where(same, spread, np.nan)

    def leads(self, a: int | Ints, others: Ints) -> Floats:
        """By how many standard deviations agent a leads each of the others; nan in another group."""
        lead, spread = self.lead(a, others)
        return lead / spread


def laplace(data: Profile | Pairs, *, cautious: bool = False, exact: int = _EXACT) -> Laplace:
    """The most likely ratings of the agents of these votes, and how uncertain; exactly up to so many agents.

    `cautious`: under the prior with the most equal skills that the votes do not refute, for what is said to be sure.
    """
    pairs = independent_comparisons(data)
    group = np.unique(linked_labels(pairs), return_inverse=True)[1]
    prior, start = (largest_prior(pairs, group), None) if cautious else fit_prior(pairs, group)
    precision = LevelPosterior(pairs, prior[group], group)
    ratings = precision.most_likely(BradleyTerry(pairs, group, start).ratings(prior))
    information = precision.information
    if pairs.n_agents > exact:
        return Laplace(ratings, _drawn_variance(precision, group), information, group, prior)
    covariance = _inverse(precision.matrix(), group)
    return Laplace(ratings, _variance(covariance, group), information, group, prior, covariance)


def _inverse(matrix: Floats, group: Ints) -> Floats:
    """The inverse of a matrix that has the mean of each group of several agents in its kernel, where it stays 0."""
    size = np.bincount(group, minlength=1)[group]
    same = (group[:, None] == group) & (size > 1)
    mean = same / size
    scale = float(np.trace(matrix)) / max(len(matrix), 1)
    inverse: Floats = np.linalg.inv(matrix + scale * mean) - mean / scale
    return inverse


def independent_comparisons(data: Profile | Pairs) -> Pairs:
    """The pairs of the votes, where a comparison counts less in a longer vote: see above."""
    pairs = as_pairs(data)
    if isinstance(data, Pairs) or not bool((data.length > 2).any()):
        return pairs
    length = data.length
    if bool((length == length[0]).all()):
        share = _told(int(length[0]))
        return replace(pairs, wins=share * pairs.wins, losses=share * pairs.losses, ties=share * pairs.ties)
    different, number = np.unique(length, return_inverse=True)
    share_of = np.array([_told(int(k)) for k in different])[number]
    return count_pairs(replace(data, weight=data.weight * share_of))


def _told(length: int) -> float:
    """What a comparison in a vote over so many agents tells, held against a vote of two."""
    if length <= 2:
        return 1.0
    return 4 * (1 - math.fsum(1 / k for k in range(1, length + 1)) / length) / (length - 1)


def _variance(covariance: Floats, group: Ints) -> Floats:
    """Of each rating less the mean of its group, in which those of small variance count most."""
    around_mean = np.diag(covariance)
    weight = _weights(around_mean, group)
    along = covariance @ weight
    variance = around_mean - 2 * along + sum_by(group, weight * along, len(group))[group]
    # An agent without others is as uncertain as the prior has it.
    found: Floats = np.where(weight < 1, variance, around_mean)
    return found


def _weights(variance: Floats, group: Ints) -> Floats:
    trust = 1 / np.maximum(variance, np.finfo(float).tiny)
    weights: Floats = trust / sum_by(group, trust, len(group))[group]
    return weights


def _drawn_variance(precision: LevelPosterior, group: Ints) -> Floats:
    """The same from draws: what the ratings of all others leave of each, and what these add."""
    pairs, diagonal = precision.pairs, precision.diagonal
    rng, m = stream(0, "spread"), pairs.n_agents
    root, flat, size = np.sqrt(precision.curve), np.zeros(m), np.bincount(group)[group]
    drawn, expected = np.empty((_DRAWS, m)), np.empty((_DRAWS, m))
    for k in range(_DRAWS):
        noise = root * rng.standard_normal(len(pairs))
        right = precision.away_transposed(np.sqrt(precision.prior) * rng.standard_normal(m))
        right += centred(np.sqrt(precision.weak) * rng.standard_normal(m), group)
        right += sum_by(pairs.left, noise, m) - sum_by(pairs.right, noise, m)
        drawn[k] = solve(precision, flat, right, diagonal, _ROUGH)
        expected[k] = drawn[k] - precision.bend(drawn[k]) / diagonal

    def around(weight: Floats) -> Floats:
        mean = np.array([sum_by(group, weight * row, m)[group] for row in drawn])
        added = ((expected - mean) ** 2).mean(axis=0)
        variance: Floats = 1 / diagonal + np.where(size > 1, added, 0.0)
        return variance

    return around(_weights(around(1 / size), group))
