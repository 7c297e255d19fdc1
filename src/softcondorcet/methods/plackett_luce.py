"""Plackett-Luce: ratings under which the votes, as whole rankings, are most likely (Luce, 1959; Plackett, 1975).

A vote is a chain of choices: the first agent is chosen from all of them, the second from the rest, and so on, each with
a chance in proportion to exp(rating). Ratings minimise

    - sum over votes and choices log( exp(r_chosen) / sum over those left exp(r) )    + prior / 2 sum r_a^2,

convex, with one answer. On votes of two it is Bradley-Terry. Partial votes say nothing of the agents they leave out.
Equal votes are joined first, so that the result depends on neither their order nor how weights are split. Newton's
method (``truncated_newton``) then takes time linear in the entries of the votes, where pairs would take the square.

Tied agents: the log-likelihood is averaged over the orders of the tie, with the sums that it needs replaced by their
means (Efron, The efficiency of Cox's likelihood function for censored data, 1977); for two agents, half a win each.

When it misleads: the top of a vote counts more than its end, so votes turned round do not turn the order round; and
like Bradley-Terry it need not put a Condorcet winner first.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from softcondorcet.arrays import sum_by
from softcondorcet.checks import positive, whole
from softcondorcet.kernels import plackett_luce as kernels
from softcondorcet.kernels.batch import frozen
from softcondorcet.methods.result import as_votes, rated
from softcondorcet.profile import Profile
from softcondorcet.ratings import Ratings
from softcondorcet.solvers.likelihood import (
    VoteLikelihood,
    centring,
    check_prior,
    held_by_prior,
    joined,
    minimise,
    require_finite,
)


def plackett_luce(data: Profile, *, prior: float = 0.01, steps: int = 100, tol: float = 1e-9) -> Ratings:
    """Plackett-Luce ratings in natural log-odds, with mean 0; ``.scale()`` turns them into Elo points.

    prior, steps, tol: as in ``bradley_terry``. ``probability(a, b)`` is the chance of a above b in any vote with both.

    >>> votes = Profile.from_rankings([["a", "b", "c"], ["b", "a"], ["a", ["b", "c"]]])
    >>> plackett_luce(votes).order
    ['a', 'b', 'c']
    """
    profile = as_votes(data)
    check_prior(prior)
    whole("steps", steps)
    positive("tol", tol)
    pairs = profile.pairs()
    if prior == 0:
        require_finite(pairs)
    loss = VoteLikelihood(distinct(profile))
    precision = np.full(profile.n_agents, float(prior))
    end = minimise(loss, precision, centring(pairs), steps=steps, tol=tol)
    values = joined(end.x)
    board = rated(
        profile,
        values,
        "plackett_luce",
        {"prior": prior, "steps": steps, "tol": tol},
        converged=end.converged,
        error=end.error,
        steps=end.steps,
        loss=loss.value(values) + prior / 2 * float((values**2).sum()),
        errors=np.array(end.errors),
        unit=1.0,
    )
    return replace(board, warnings=(*board.warnings, *held_by_prior(pairs)))


def distinct(profile: Profile) -> Profile:
    """Each different vote once, with the weights of all equal ones, in an order that depends on the votes alone."""
    code = np.empty(profile.n_votes, np.uint64)
    votes = frozen(profile.start, np.int64), frozen(profile.agent, np.int32), frozen(profile.tier, np.int32)
    kernels.fingerprints(*votes, code)
    _, first, number = np.unique(code, return_index=True, return_inverse=True)
    if not kernels.equal_votes(*votes, first[number]):  # two different votes with one number: 1 in 10^7 for 10^6 votes
        return profile
    weight = sum_by(number, profile.weight, len(first))
    return replace(profile.take(first), weight=weight)
