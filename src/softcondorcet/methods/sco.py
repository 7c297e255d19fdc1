"""Soft Condorcet Optimization with the sigmoid loss (Lanctot et al., AAMAS 2025, section 3).

Ratings r minimise a smooth count of the comparisons that the order of r contradicts: over all votes and all pairs
a above b in a vote,

    sum sigma((r_b - r_a) / temperature),    r in the box `bounds`,

the paper's eq. (5). Its limit for temperature -> 0 is the discrete loss, the sum of Kendall-tau distances. Over all
votes only margins matter, so descent runs on pairs: one pass costs O(distinct pairs), however many votes there are.

When it misleads: inside the box the loss is flat where ratings are many temperatures apart, so *distances* between
ratings say little; read the order. On sparse data (few votes per agent) the sharp loss overfits: set a `prior`, or a
`sharpness` below 1.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from softcondorcet.arrays import Floats
from softcondorcet.kernels import votes
from softcondorcet.methods.descent import Loss, PairwiseLoss, Stage, descend
from softcondorcet.methods.footrule import FootruleLoss
from softcondorcet.methods.locality import FAR, LOOK, as_they_are, by_rating
from softcondorcet.methods.long_votes import rate_votes, too_long_for_pairs
from softcondorcet.methods.optimal import unavoidable
from softcondorcet.methods.outcome import Data, rated
from softcondorcet.methods.polish import descend_and_polish
from softcondorcet.methods.sgd import Run, as_votes, check_sgd, run_steps, sampled, starting_point
from softcondorcet.options import Box, Precision, Watch, box, check, not_negative, one_of, positive, scale, yes_or_no
from softcondorcet.pairs import Pairs, as_pairs
from softcondorcet.profile import Profile, as_profile
from softcondorcet.ratings import Ratings

# The walk starts at an eighth of the box: from there on, a higher start only adds steps (benchmarks/walk.py).
_WIDE, _WALK = 8, 100


def sco(
    data: Data,
    *,
    loss: Literal["kendall", "footrule"] = "kendall",
    solver: Literal["descent", "sgd"] = "descent",
    temperature: float | Literal["auto"] = "auto",
    sharpness: float = 1.0,
    prior: float = 0.0,
    ties: Literal["half", "attract"] = "half",
    bounds: Box = (0.0, 100.0),
    polish: bool = True,
    steps: int | None = None,
    tol: float | None = None,
    lr: float = 0.01,
    batch: int | Literal["all"] = 32,
    schedule: str = "constant",
    noise: float = 0.0,
    start: Ratings | None = None,
    seed: int = 0,
    watch: Watch | None = None,
    every: int = 0,
    device: str = "cpu",
    precision: Precision = "double",
    over: Literal["auto", "pairs", "votes"] = "auto",
) -> Ratings:
    """Soft Condorcet ratings: the order that contradicts the votes least, a Condorcet winner on top.

    Parameters
    ----------
    data: a Profile, or Pairs (enough for ``solver="descent"`` with the Kendall loss).
    loss: "kendall", the paper's sigmoid loss, or "footrule", a soft Spearman footrule (needs votes).
    solver: "descent" walks the temperature down over full gradients, then improves the order by best insertion;
        deterministic. "sgd" is the paper's Algorithm 1.
    temperature: of the logistic function, in rating units. "auto" is 1 in the default box with "sgd"; with "descent"
        it also falls with the number of agents, so that neighbours stay apart.
    sharpness: q of the loss family (1 - p^q) / q: 1 is the sigmoid loss, towards 0 it becomes Bradley-Terry.
    prior: precision of a Gaussian prior around the middle of the box, on ratings / temperature.
    ties: a tie in a vote is "half" a win for each (a constant for the sigmoid loss), or it may "attract": cost nothing
        for equal ratings and half a mistake for ratings far apart.
    bounds: the box; the paper's is (0, 100).
    polish: improve the final order on the discrete loss and make the ratings follow it. Applies to the plain sigmoid
        loss only (sharpness 1, no prior, ties "half"), and gives the Condorcet guarantee.
    steps: most steps to take; 1,000 for descent (2,000 over votes) and 10,000 for sgd by default.
    tol: the step, in temperatures, below which descent has converged: 0.01 with polish, whose order no longer moves,
        0.001 otherwise. The longest step of an agent; over votes their root mean square.
    lr, batch, schedule, noise: of "sgd": rate, votes per step ("all" is plain gradient descent), rate schedule
        (constant, sqrt, inverse, linear, cosine), standard deviation of normal noise on the start.
    start: ratings to start from, by name; agents it lacks start at the middle.
    seed: of the sampling; the same seed gives the same bits.
    watch, every: called as ``watch(step, steps, ratings)`` after each step of descent, and every `every` steps of sgd
        (0: several times a second).
    device: where gradients of "descent" are computed: "cpu"; "cuda", an NVIDIA GPU; "ray", processes on this
        machine that Ray keeps, or "ray://HOST:PORT", the workers of a Ray cluster.
    precision: "single" keeps margins in 4 bytes, which is exact for whole ones below 2^24; on a GPU it also computes
        in single precision, which agrees to about 1e-4 temperatures, in half the time.
    over: what "descent" walks over: "pairs", or "votes", each sorted by rating, where their pairs would be too many to
        hold; then without polish, of the plain sigmoid loss, with or without a prior. "auto" takes votes only where
        pairs may not fit into memory.

    >>> p = Profile.from_rankings([["A", "B", "C"], ["C", "A", "B"]], weights=[2, 3])
    >>> board = sco(p)
    >>> board.order, board["C"]
    (['C', 'A', 'B'], 100.0)
    """
    low, high = bounds = box("bounds", bounds)
    one_of("loss", ("kendall", "footrule"), loss)
    one_of("solver", ("descent", "sgd"), solver)
    one_of("ties", ("half", "attract"), ties)
    if temperature != "auto":
        scale("temperature", temperature, bounds)
    not_negative("sharpness", sharpness)
    check(sharpness <= 1, "sharpness", "a number from 0 to 1", sharpness)
    not_negative("prior", prior)
    check(prior <= 1e9, "prior", "at most 1e9", prior)
    yes_or_no("polish", polish)
    known = isinstance(device, str) and (device in ("cpu", "cuda", "ray") or device.startswith("ray://"))
    check(known, "device", "'cpu', 'cuda', 'ray' or 'ray://HOST:PORT'", device)
    one_of("precision", ("double", "single"), precision)
    one_of("over", ("auto", "pairs", "votes"), over)
    fits = device == "cpu" or (solver == "descent" and loss == "kendall" and ties == "half")
    check(fits, "device", "'cpu' but for descent on the Kendall loss with ties 'half'", device)
    simple = solver == "descent" and loss == "kendall" and sharpness == 1.0 and ties == "half" and device == "cpu"
    check(simple or over != "votes", "over", "'pairs' but for descent on the sigmoid loss on the processor", over)
    long = over == "auto" and simple and isinstance(data, Profile) and too_long_for_pairs(data)
    by_votes = over == "votes" or long
    if steps is None:
        steps = 10_000 if solver == "sgd" else 2_000 if by_votes else 1_000
    check_sgd(steps, lr, batch, schedule, noise, seed, every)
    sharp = sharpness == 1.0 and prior == 0.0 and ties == "half"
    check(sharp or loss == "kendall", "loss", "'kendall' with a sharpness, a prior or attracting ties", loss)
    plain = sharp and loss == "kendall"
    tol = (0.01 if plain and polish and not by_votes else 0.001) if tol is None else tol
    positive("tol", tol)
    check(plain or solver == "descent", "solver", "'descent' for anything but the plain sigmoid loss", solver)
    agents = data.agents if isinstance(data, Pairs) else as_profile(data).agents
    heat = _auto_temperature(len(agents), high - low, solver) if temperature == "auto" else float(temperature)
    options: dict[str, Any] = {
        "loss": loss,
        "solver": solver,
        "temperature": heat,
        "sharpness": sharpness,
        "prior": prior,
        "ties": ties,
        "bounds": [low, high],
        "steps": steps,
    }
    first = starting_point(agents, bounds, start, noise, np.random.default_rng([seed, 1]))
    target = Stage(sharpness, heat)
    walk = [target] if start is not None else walk_to(target, high - low)
    if by_votes:
        options |= {"polish": False, "tol": tol, "device": device, "precision": precision, "over": "votes"}
        return rate_votes(as_votes(data), first, walk, options, seed, watch)
    pairs = as_pairs(data)

    if solver == "sgd":
        profile = sampled(data)
        run = (
            _full_steps(profile, target, bounds)
            if batch == "all"
            else _sampled_steps(profile, target, bounds, batch, seed)
        )
        run_steps(run, first, steps=steps, lr=lr, schedule=schedule, watch=watch, every=every)
        options |= {"lr": lr, "batch": batch, "schedule": schedule, "noise": noise}
        value = PairwiseLoss(pairs, bounds).value(first, target)
        return rated(data, first, "sco", options, steps=steps, loss=value, seed=seed)

    options |= {"polish": polish and plain, "tol": tol, "device": device, "precision": precision, "over": "pairs"}

    def smooth_on(pairs: Pairs) -> Loss:
        if loss == "footrule":
            return FootruleLoss(as_votes(data))
        attract = ties == "attract"
        return PairwiseLoss(
            pairs, bounds, prior=prior, prior_temperature=heat, attract=attract, device=device, precision=precision
        )

    numbering = as_they_are(pairs)
    if loss == "kendall" and len(agents) >= FAR:
        look = descend(smooth_on(pairs), first, walk[:LOOK], bounds=bounds, steps=LOOK, tol=tol)
        numbering = by_rating(pairs, look.ratings)
    pairs, smooth, seen = numbering.pairs, smooth_on(numbering.pairs), numbering.seen(watch)
    first = numbering.there(first)
    if plain and polish:
        end = descend_and_polish(smooth, pairs, first, walk, bounds=bounds, steps=steps, tol=tol, watch=seen)
    else:
        end = descend(smooth, first, walk, bounds=bounds, steps=steps, tol=tol, watch=seen)
    value = smooth.value(end.ratings, target)
    least = None if end.bound is None else unavoidable(pairs) + end.bound
    return rated(
        data,
        numbering.back(end.ratings),
        "sco",
        options,
        converged=end.converged,
        error=end.error,
        steps=end.steps,
        loss=value,
        lower_bound=least,
        # Added up in another order, the same numbers may differ in the last digit.
        loss_bound=None if least is None else min(least, value),
        seed=seed,
        errors=np.array(end.errors),
        unit=heat if sharpness == 0 else None,  # at sharpness 0 ratings are log-odds, those of Bradley-Terry
    )


def _auto_temperature(m: int, width: float, solver: str) -> float:
    """The paper's 1 in a box of 100; descent lowers it so that m agents stay about ten temperatures apart.

    So far apart, the smooth loss is the discrete loss of the order to about 1e-5, and what proves the order optimal
    proves the ratings to be a global minimum. Not below 1/640 of the box: the kernel without exponentials ends there.
    """
    return width / 100 if solver == "sgd" else width / float(np.clip(10 * m, 100, 640))


def walk_to(target: Stage, width: float) -> list[Stage]:
    """From easy to sharp. The sigmoid loss is walked down in temperature: from the middle of the box, at a high

    temperature, it pulls just as the convex end does. Below sharpness 1 the sharpness rises from that end.
    """
    heat = target.temperature
    if target.sharpness == 1.0:
        return [Stage(1.0, float(t)) for t in np.geomspace(max(width / _WIDE, heat), heat, _WALK)]
    return [Stage(float(q), heat) for q in np.linspace(0.0, target.sharpness, _WALK)] if target.sharpness else [target]


def _sampled_steps(profile: Profile, stage: Stage, bounds: Box, batch: int, seed: int) -> Run:
    """Algorithm 1: each step samples votes."""
    plan = votes.plan_sigmoid(profile.start, profile.agent, profile.tier, profile.weight, profile.n_agents, batch)
    state = votes.seed_state(np.random.default_rng([seed, 0]))
    return lambda ratings, rates: votes.run_sigmoid(plan, ratings, rates, stage.temperature, *bounds, state)


def _full_steps(profile: Profile, stage: Stage, bounds: Box) -> Run:
    """Algorithm 1 with all votes in each step: plain gradient descent on the mean loss of a vote."""
    loss, total = PairwiseLoss(profile.pairs(), bounds), float(profile.weight.sum())

    def run(ratings: Floats, rates: Floats) -> None:
        for rate in rates:
            ratings[:] = np.clip(ratings - rate / total * loss.gradient(ratings, stage), *bounds)

    return run
