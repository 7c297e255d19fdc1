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
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from softcondorcet.arrays import Floats
from softcondorcet.checks import check, near, one_of, positive, whole
from softcondorcet.errors import DataError, OptionError
from softcondorcet.kernels import bradley_terry as kernels
from softcondorcet.methods.result import Data, rated
from softcondorcet.pairs import Pairs, as_pairs
from softcondorcet.ratings import Ratings
from softcondorcet.solvers.likelihood import (
    PairLikelihood,
    centring,
    check_prior,
    held_by_prior,
    joined,
    minimise,
    minimise_others,
    require_finite,
)

# Elo points of a natural log-odds of 1: 400 make the odds 10 to 1.
POINTS = 400 / math.log(10)
TIES = {"half": kernels.HALF, "davidson": kernels.DAVIDSON, "rao_kupper": kernels.RAO_KUPPER}


def bradley_terry(
    data: Data,
    *,
    prior: float = 0.01,
    ties: Literal["half", "davidson", "rao_kupper"] = "half",
    steps: int = 100,
    tol: float = 1e-9,
    fixed: Mapping[str, float] | None = None,
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
    fixed: agents whose ratings are known, in Elo points: they stay, the others are fitted against them, and all ratings
        come in Elo points. The prior, which must be above 0, is then around the mean of the known ratings.

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
    if prior == 0 and not fixed:
        require_finite(pairs, ties_lead=model == kernels.HALF)
    loss = PairLikelihood(pairs, model)
    m = pairs.n_agents
    if fixed is not None:
        known, middle = _known(pairs, fixed, prior)
        end = minimise_others(loss, loss.precision(prior), known - middle, steps=steps, tol=tol)
        values = np.where(np.isnan(known), joined(end.x[:m]), known - middle)
    else:
        end = minimise(loss, loss.precision(prior), centring(pairs), steps=steps, tol=tol)
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
    board = replace(board, warnings=(*board.warnings, *held_by_prior(pairs)))
    if fixed is None:
        return board
    unit = None if board.unit is None else POINTS
    return replace(board, values=(values + middle) * POINTS, unit=unit, options={**options, "fixed": dict(fixed)})


def _known(pairs: Pairs, fixed: Mapping[str, float], prior: float) -> tuple[Floats, float]:
    """The known ratings as natural log-odds, nan for the other agents, and their mean."""
    check(isinstance(fixed, Mapping) and len(fixed) > 0, "fixed", "ratings by agent, such as {'a': 1200}", fixed)
    check(prior > 0, "prior", "above 0 with fixed agents", prior)
    number, known = {name: k for k, name in enumerate(pairs.agents)}, np.full(pairs.n_agents, np.nan)
    for name, rating in fixed.items():
        real = isinstance(rating, int | float) and not isinstance(rating, bool) and math.isfinite(rating)
        check(real, f"fixed {name!r}", "a number of Elo points", rating)
        if name not in number:
            raise OptionError(f"fixed must be agents of the votes, got {name!r}{near(name, pairs.agents)}")
        known[number[name]] = rating / POINTS
    return known, float(np.nanmean(known))


def _model(pairs: Pairs, ties: str) -> int:
    """Without ties, all three are plain Bradley-Terry: nu is 0 and theta 1."""
    if ties == "half" or not pairs.ties.any():
        return kernels.HALF
    if not (pairs.wins.any() or pairs.losses.any()):
        raise DataError(f"votes: every comparison is a tie; expected some wins for ties={ties!r}; use ties='half'")
    return TIES[ties]
