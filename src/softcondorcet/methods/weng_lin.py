"""Weng and Lin's online rating of votes of any size (A Bayesian approximation method for online ranking, JMLR 2011).

What TrueSkill does, in closed form, and what the openskill package computes: the skill of each agent is a normal
distribution with mean mu and deviation sigma. A vote moves the mean by sigma^2 times the slope of its log-likelihood,
so agents we know little of move most, and shrinks sigma. The likelihood of a vote is Plackett-Luce (algorithm 4) or
that of all its pairs (algorithm 1), with performances of deviation `beta` around the skill. Before each vote of an
agent its sigma^2 grows by `drift`^2, the tau of TrueSkill, because skills change.

One pass in the order of the votes; a weight multiplies the step. Cost: linear in the entries of the votes, or in their
pairs for "bradley_terry".

When it misleads: like ``elo``, the result depends on the order of the votes. With ties of several agents, Plackett-Luce
may raise an agent below the tie by more than those in it, because the paper shares one choice between them. By pairs,
long votes move means too far and leave sigma too small, since the pairs of one vote are not independent.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from softcondorcet.arrays import Floats
from softcondorcet.checks import check, not_negative, one_of, positive
from softcondorcet.errors import DataError
from softcondorcet.kernels.batch import frozen
from softcondorcet.kernels.bradley_terry import run_weng_lin
from softcondorcet.methods.result import as_votes, rated
from softcondorcet.profile import Profile
from softcondorcet.ratings import Ratings

MODELS = ("plackett_luce", "bradley_terry")


def weng_lin(
    data: Profile,
    *,
    model: Literal["plackett_luce", "bradley_terry"] = "plackett_luce",
    mu: float = 25.0,
    sigma: float | None = None,
    beta: float | None = None,
    drift: float | None = None,
    kappa: float = 0.0001,
    conservative: float = 0.0,
) -> Ratings:
    """Skills after one pass over the votes, in their order: rating = mu - conservative * sigma.

    model: of a vote, "plackett_luce" or "bradley_terry" for all its pairs. mu, sigma: the skill of an agent before its
    first vote; sigma is mu / 3 by default. beta: deviation of a performance from the skill, mu / 6 by default. drift:
    added to sigma (in squares) before each vote, mu / 300 by default; 0 for agents that do not change. kappa: the
    smallest share of sigma^2 that one vote leaves. conservative: 3 is the "ordinal" of openskill and the rating that
    TrueSkill shows: an agent must prove itself first.

    >>> votes = Profile.from_rankings([["a", "b"], ["a", "b"], ["c", "a"]])
    >>> weng_lin(votes).order, weng_lin(votes, conservative=3).order
    (['c', 'a', 'b'], ['a', 'c', 'b'])
    """
    profile = as_votes(data)
    one_of("model", MODELS, model)
    positive("mu", mu)
    sigma = mu / 3 if sigma is None else sigma
    beta = mu / 6 if beta is None else beta
    drift = mu / 300 if drift is None else drift
    for name, value in (("sigma", sigma), ("beta", beta), ("kappa", kappa)):
        positive(name, value)
    for name, value in (("drift", drift), ("conservative", conservative)):
        not_negative(name, value)
    check(kappa <= 1, "kappa", "at most 1", kappa)
    means, deviations, floored = _one_pass(profile, model, mu, sigma, beta, drift, kappa)
    options = {
        "model": model,
        "mu": mu,
        "sigma": sigma,
        "beta": beta,
        "drift": drift,
        "kappa": kappa,
        "conservative": conservative,
    }
    board = rated(profile, means - conservative * deviations, "weng_lin", options, steps=profile.n_votes)
    return replace(board, warnings=(*board.warnings, *_limits(profile, model, floored)))


def _limits(profile: Profile, model: str, floored: int) -> list[str]:
    """Warnings about what the method does badly on these votes."""
    notes = []
    if floored:
        notes.append(
            f"sigma met its floor {floored:,} times, in votes too heavy or long for one step; means leap there"
        )
    # Tiers are dense: without a tie the last one is size - 1.
    tied = (profile.tier[profile.start[1:] - 1] < profile.length - 1) & (profile.length > 2)
    if model == "plackett_luce" and tied.any():
        notes.append(
            f"{int(tied.sum()):,} votes have ties, and this method may raise an agent below a tie by more than those "
            "in it; model='bradley_terry' does not"
        )
    return notes


def _one_pass(
    profile: Profile, model: str, mu: float, sigma: float, beta: float, drift: float, kappa: float
) -> tuple[Floats, Floats, int]:
    """Means and deviations after all votes, and how often a variance met its floor."""
    means, variances = np.full(profile.n_agents, float(mu)), np.full(profile.n_agents, float(sigma) ** 2)
    votes = frozen(profile.start, np.int64), frozen(profile.agent, np.int32), frozen(profile.tier, np.int32)
    weight, room = frozen(profile.weight, np.float64), np.empty((5, int(profile.length.max(initial=0))))
    floored = run_weng_lin(
        means,
        variances,
        *votes,
        weight,
        model == "bradley_terry",
        float(beta) ** 2,
        float(drift) ** 2,
        float(kappa),
        room,
    )
    if not np.isfinite(means).all():
        raise DataError(f"weights: up to {profile.weight.max():g}, so that ratings overflow; expected smaller weights")
    return means, np.sqrt(variances), int(floored)
