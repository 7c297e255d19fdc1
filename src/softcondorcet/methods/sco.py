"""Soft Condorcet Optimization with the sigmoid loss (Lanctot et al., AAMAS 2025, section 3).

Ratings r minimise a smooth count of the comparisons that the order of r contradicts: over all votes and all pairs
a above b in a vote,

    sum sigma((r_b - r_a) / temperature),    r in the box `bounds`,

the paper's eq. (5). Its limit for temperature -> 0 is the discrete loss, the sum of Kendall-tau distances. Over all
votes only margins matter, so descent runs on pairs: one pass costs O(distinct pairs), however many votes there are.

In games a vote ranks a few of many agents and most pairs met once or never: there margins are shrunk toward
Bradley-Terry first, as far as the votes themselves say (``solvers.shrinkage``). In an election each margin is known and
is believed.

Inside the box the loss is flat where ratings are many temperatures apart, so distances there say little. Ratings are
therefore log-odds under the order, in Elo points (``methods.odds``); ``scale="box"`` shows the paper's.

When it misleads: an order that the votes contradict often has many agents pooled. With a prior, a sharpness, or any
other option of the descent, games are taken as they are, and the sharp loss overfits sparse ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from softcondorcet.arrays import Floats
from softcondorcet.backends.cpu import FootruleLoss, PairwiseLoss, Stage
from softcondorcet.checks import Box, Precision, Watch, box, check, one_of
from softcondorcet.errors import NotConverged
from softcondorcet.kernels import sgd
from softcondorcet.methods.odds import Anchor, check_scale, in_scale, with_odds, with_own_odds
from softcondorcet.methods.placement import Placement
from softcondorcet.methods.result import Data, as_votes, limits, rated, sampled, unfinished, votes_per_agent
from softcondorcet.pairs import Pairs, as_pairs, too_long_for_pairs
from softcondorcet.profile import Profile, as_profile
from softcondorcet.ratings import Ratings
from softcondorcet.seeds import stream
from softcondorcet.solvers.components import unavoidable
from softcondorcet.solvers.descent import (
    DescentOptions,
    Objective,
    Run,
    SgdOptions,
    descend,
    descend_and_polish,
    pairwise_loss,
    run_steps,
    starting_point,
    walk_to,
)
from softcondorcet.solvers.long_votes import VotesOptions, descend_votes, neighbours
from softcondorcet.solvers.shrinkage import likely_counts, shrink as shrink_margins

# What the options are that only the plain fit has, unless somebody asks for something else.
_USUAL: dict[str, Any] = {
    "loss": "kendall", "solver": "descent", "temperature": "auto", "sharpness": 1.0, "prior": 0.0, "ties": "half",
    "bounds": (0.0, 100.0), "polish": True, "steps": None, "tol": None, "start": None, "device": "cpu",
    "precision": "double", "over": "auto", "scale": "elo",
}  # fmt: skip
Scale = Literal["elo", "odds", "box"]
# Ratings, the options that only this solver has, and what else is known.
Rating = tuple[Floats, dict[str, Any], dict[str, Any]]
_STEPS = {"pairs": 1_000, "votes": 2_000, "sgd": 10_000}
_NO_PAIRS = (
    "rated by votes, since their pairs are too many: the order is not improved by insertion, and has no bound; ratings "
    "are places in the box, not log-odds"
)


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
    start: Ratings | Mapping[str, float] | None = None,
    seed: int = 0,
    watch: Watch | None = None,
    every: int = 0,
    device: str = "cpu",
    precision: Precision = "double",
    over: Literal["auto", "pairs", "votes"] = "auto",
    shrink: bool | Literal["auto"] = "auto",
    scale: Scale = "elo",
    anchor: Anchor | None = None,
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
    start: ratings to start from, as ``Ratings`` or a dict by name; agents it lacks start at the middle.
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
    shrink: margins toward Bradley-Terry as far as the votes say, see ``solvers.shrinkage``: "auto" does it for games
        (``Profile.kind``), unless an option is given that only the plain fit has. A Condorcet winner is first all the
        same.
    scale: of the ratings: log-odds under the order in "elo" points, natural log-"odds", or places in the paper's "box".
        Where pairs are too many to hold there are no odds, and ratings are those of the box.
    anchor: ("agent", 1000) sets the zero of the Elo scale; else the mean is 1000.

    >>> p = Profile.from_rankings([["A", "B", "C"], ["C", "A", "B"]], weights=[2, 3])
    >>> board = sco(p)
    >>> board.order, round(board["C"])
    (['C', 'A', 'B'], 1062)
    """
    agents = data.agents if isinstance(data, Pairs) else as_profile(data).agents
    bounds = box("bounds", bounds)
    one_of("solver", ("descent", "sgd"), solver)
    check_scale(scale, ("elo", "odds", "box"), anchor)
    asked = {
        "loss": loss, "solver": solver, "temperature": temperature, "sharpness": sharpness, "prior": prior,
        "ties": ties, "bounds": bounds, "polish": polish, "steps": steps, "tol": tol, "start": start,
        "device": device, "precision": precision, "over": "auto" if over == "pairs" else over,
        "scale": "elo" if scale == "odds" else scale,
    }  # fmt: skip
    heat = _auto_temperature(len(agents), bounds[1] - bounds[0], solver) if temperature == "auto" else temperature
    goal = Objective(loss, heat, sharpness, prior, ties, bounds)
    way = _way(data, goal, solver, device, over)
    steps = _STEPS[way] if steps is None else steps
    drawn = SgdOptions(steps, lr, batch, schedule, noise, seed, every)
    polishes = polish is True and goal.is_sigmoid and way == "pairs"
    descent = DescentOptions(steps, (0.01 if polishes else 0.001) if tol is None else tol, polish, device, precision)
    check(goal.is_sigmoid or solver == "descent", "solver", "'descent' for anything but the plain sigmoid loss", solver)
    if _shrinks(data, shrink, asked, way):
        return in_scale(_by_shrinkage(data, seed), scale, anchor)
    first = starting_point(agents, bounds, start, noise, seed)
    walk = [goal.stage] if start is not None else walk_to(goal.stage, bounds[1] - bounds[0])
    if way == "votes":
        check(anchor is None, "anchor", "left out where pairs are too many to hold: there are no odds", anchor)
        return _by_votes(as_votes(data), goal, walk, descent, first, seed, watch)
    if way == "sgd":
        values, options, facts = _by_sgd(data, goal, drawn, first, watch)
    else:
        values, options, facts = _by_pairs(data, goal, walk, descent, first, watch)
    board = rated(data, values, "sco", {**_common_options(goal, solver, steps), **options}, seed=seed, **facts)
    return board if scale == "box" else in_scale(with_own_odds(board, as_pairs(data)), scale, anchor)


def _shrinks(data: Data, shrink: object, asked: dict[str, Any], way: str) -> bool:
    """Whether margins are shrunk: asked for, or usual for these votes and nothing asks for the plain fit."""
    check(shrink == "auto" or isinstance(shrink, bool), "shrink", "True, False or 'auto'", shrink)
    plain = [name for name, value in asked.items() if value != _USUAL.get(name, value)]
    if shrink is True and plain:
        name = plain[0]
        expected = f"False or 'auto' with {name} {asked[name]!r}, which only the plain fit has"
        check(False, "shrink", expected, shrink)
    return shrink is True or (shrink == "auto" and data.kind == "games" and not plain and way == "pairs")


def _way(data: Data, goal: Objective, solver: str, device: str, over: str) -> str:
    """The algorithm for these options and votes: "sgd", or descent on "pairs" or on "votes"."""
    one_of("over", ("auto", "pairs", "votes"), over)
    kendall = solver == "descent" and goal.loss == "kendall" and goal.ties == "half"
    check(kendall or device == "cpu", "device", "'cpu' but for descent on the Kendall loss with ties 'half'", device)
    simple = kendall and goal.sharpness == 1.0 and device == "cpu"
    check(simple or over != "votes", "over", "'pairs' but for descent on the sigmoid loss on the processor", over)
    long = over == "auto" and simple and isinstance(data, Profile) and too_long_for_pairs(data)
    return "votes" if long or over == "votes" else "sgd" if solver == "sgd" else "pairs"


def _common_options(goal: Objective, solver: str, steps: int) -> dict[str, Any]:
    """Resolved options that every result carries."""
    return {
        "loss": goal.loss, "solver": solver, "temperature": goal.temperature, "sharpness": goal.sharpness,
        "prior": goal.prior, "ties": goal.ties, "bounds": list(goal.bounds), "steps": steps, "shrink": False,
        "scale": "box",
    }  # fmt: skip


def _by_pairs(
    data: Data, goal: Objective, walk: list[Stage], how: DescentOptions, first: Floats, watch: Watch | None
) -> Rating:
    """Descent on pairs, then the polish."""
    pairs, polish = as_pairs(data), how.polish and goal.is_sigmoid
    loss = FootruleLoss(as_votes(data)) if goal.loss == "footrule" else pairwise_loss(pairs, goal, how)
    given: dict[str, Any] = {"bounds": goal.bounds, "steps": how.steps, "tol": how.tol, "watch": watch}
    end = descend_and_polish(loss, pairs, first, walk, **given) if polish else descend(loss, first, walk, **given)
    value = loss.value(end.ratings, goal.stage)
    least = None if end.bound is None else unavoidable(pairs) + end.bound
    options = {"polish": polish, "tol": how.tol, "device": how.device, "precision": how.precision, "over": "pairs"}
    return end.ratings, options, {
        "converged": end.converged,
        "error": end.error,
        "steps": end.steps,
        "loss": value,
        "lower_bound": least,
        "only_optimum": end.only,
        # Added up in another order, the same numbers may differ in the last digit.
        "loss_bound": None if least is None else min(least, value),
        "errors": np.array(end.errors),
        "unit": goal.temperature if goal.sharpness == 0 else None,  # then ratings are log-odds, those of Bradley-Terry
    }  # fmt: skip


def _by_shrinkage(data: Data, seed: int) -> Ratings:
    """The order by margins that are shrunk toward Bradley-Terry, with log-odds under it."""
    pairs = as_pairs(data)
    shrunk = shrink_margins(pairs)
    kappa = float(shrunk.kappa[shrunk.largest]) if len(pairs) else None
    board = rated(data, -shrunk.tier.astype(float), "sco", {"shrink": True}, seed=seed, kappa=kappa)
    counts, pull = likely_counts(pairs, shrunk)
    return with_odds(board, pairs, shrunk.tier, shrunk.group, shrunk.prior, counts, shrunk.ratings, pull)


def _by_sgd(data: Data, goal: Objective, how: SgdOptions, first: Floats, watch: Watch | None) -> Rating:
    """The paper's Algorithm 1."""
    loss, profile = PairwiseLoss(as_pairs(data), goal.bounds), sampled(data)
    run = _full_steps(profile, goal) if how.batch == "all" else _sampled_steps(profile, goal, how.batch, how.seed)
    run_steps(run, first, how, watch)
    options = {"lr": how.lr, "batch": how.batch, "schedule": how.schedule, "noise": how.noise}
    return first, options, {"steps": how.steps, "loss": loss.value(first, goal.stage)}


def _by_votes(
    profile: Profile, goal: Objective, walk: list[Stage], how: DescentOptions, first: Floats, seed: int,
    watch: Watch | None,
) -> Ratings:  # fmt: skip
    """Descent on votes, whose pairs are never made: what else a result says of pairs, it says of neighbours."""
    votes = VotesOptions(goal.bounds, goal.temperature, goal.prior, how.steps, how.tol)
    cast = profile.take(profile.weight > 0)
    found = descend_votes(cast, first, walk, votes, stream(seed, "hands"), watch)
    end, options = found.end, _common_options(goal, "descent", how.steps)
    options |= {"polish": False, "tol": how.tol, "device": how.device, "precision": how.precision, "over": "votes"}
    linked = neighbours(cast)
    notes = [_NO_PAIRS, *limits(linked)]
    if not end.converged:
        notes.insert(0, unfinished("sco", options, end.error))
        warnings.warn(notes[0], NotConverged, stacklevel=3)
    return Ratings(
        profile.agents,
        end.ratings,
        "sco",
        options,
        seed=seed,
        converged=end.converged,
        steps=end.steps,
        error=end.error,
        loss=found.loss,
        discrete_loss=found.discrete_loss,
        condorcet_winner=None if found.winner is None else profile.agents[found.winner],
        warnings=tuple(notes),
        votes=votes_per_agent(profile),
        facts=profile.facts,
        errors=np.array(end.errors),
        placement=Placement(linked, ranges=False),
    )


def _auto_temperature(m: int, width: float, solver: str) -> float:
    """The paper's 1 in a box of 100; descent lowers it so that m agents stay about ten temperatures apart.

    So far apart, the smooth loss is the discrete loss of the order to about 1e-5, and what proves the order optimal
    proves the ratings to be a global minimum. Not below 1/640 of the box: the kernel without exponentials ends there.
    """
    return width / 100 if solver == "sgd" else width / float(np.clip(10 * m, 100, 640))


def _sampled_steps(profile: Profile, goal: Objective, batch: int, seed: int) -> Run:
    """Algorithm 1: each step samples votes."""
    plan = sgd.plan_sigmoid(profile.start, profile.agent, profile.tier, profile.weight, profile.n_agents, batch)
    state = sgd.seed_state(stream(seed, "sgd"))
    return lambda ratings, rates: sgd.run_sigmoid(plan, ratings, rates, goal.temperature, *goal.bounds, state)


def _full_steps(profile: Profile, goal: Objective) -> Run:
    """Algorithm 1 with all votes in each step: plain gradient descent on the mean loss of a vote."""
    loss, total = PairwiseLoss(profile.pairs(), goal.bounds), float(profile.weight.sum())

    def run(ratings: Floats, rates: Floats) -> None:
        for rate in rates:
            ratings[:] = np.clip(ratings - rate / total * loss.gradient(ratings, goal.stage), *goal.bounds)

    return run
