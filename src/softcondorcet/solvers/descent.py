"""Descent by full gradients, walked from easy to sharp, and the polish; and descent by stochastic steps.

The loop is accelerated projected gradient. The sigmoid loss is not convex: started cold at a low temperature, it stops
in the first valley. So it walks through stages (sharpness, temperature), from a wide and nearly convex loss to the one
asked for, carrying the ratings along (graduated non-convexity). Each step is a projected gradient step with Nesterov's
extrapolation, restarted when it points uphill (O'Donoghue and Candes, 2015). The step of each agent is the inverse of a
bound on its own curvature, so there is no learning rate to choose. Cost: one pass over the pairs per step. The loop
knows a loss by its value, its gradient and its curvature only; who computes them is chosen before it starts.

The polish leads from descended ratings to the best order near them (``order_tiers``), and back to ratings that
follow it. Components of the majority that are small enough are ordered exactly, others improved by best insertion.
The ratings are spread evenly along the order and descended once more, to a minimum of the smooth loss near that
order; where neighbours have changed places in it, their ratings are sorted back along the order. `converged` and
`error` are those of that descent, before anything is sorted back. No agent of the result can be moved to a better
place, so a Condorcet winner is first; since raising it never raises the smooth loss (the paper's theorem 1),
descent leaves it at the upper bound exactly.

Groups of agents that were never compared are ordered apart, each around the middle of the box with the same spacing:
nothing says where one group stands against another.

A stochastic step is the paper's Algorithm 1, of the sigmoid or the Fenchel-Young loss: it samples `batch` votes with
replacement (in proportion to their weights), averages their gradients, moves against it by the step's rate, and clips
to the box. Averaging over the batch, which the paper leaves open, is what gives its table of convergence times.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, Protocol

import numpy as np

from softcondorcet.arrays import Floats
from softcondorcet.backends.cpu import PairwiseLoss, Stage
from softcondorcet.checks import (
    Box,
    Precision,
    Watch,
    check,
    natural,
    not_negative,
    one_of,
    positive,
    scale,
    whole,
    yes_or_no,
)
from softcondorcet.pairs import Pairs
from softcondorcet.ratings import Ratings
from softcondorcet.seeds import stream
from softcondorcet.solvers.order_tiers import EQUAL, best_tiers

# The walk starts at an eighth of the box: from there on, a higher start only adds steps (benchmarks/walk.py).
_WIDE, _WALK = 8, 100
DEVICES = ("cpu", "cuda", "ray")

# Runs one step per rate, in place.
Run = Callable[[Floats, Floats], None]

SCHEDULES: dict[str, Callable[[Floats, int], Floats]] = {
    "constant": lambda t, steps: np.ones_like(t),
    "sqrt": lambda t, steps: 1 / np.sqrt(t),
    "inverse": lambda t, steps: 1 / t,
    "linear": lambda t, steps: 1 - (t - 1) / steps,
    "cosine": lambda t, steps: (1 + np.cos(np.pi * (t - 1) / steps)) / 2,
}
# Seconds between two calls of `watch` when nobody said how often.
_LOOK = 0.1


# Ratings to start from, by name.
Start = Ratings | Mapping[str, float]


@dataclass(frozen=True)
class Objective:
    """The loss to minimise, and the box that ratings stay in."""

    loss: str
    temperature: float
    sharpness: float
    prior: float
    ties: str
    bounds: Box

    def __post_init__(self) -> None:
        one_of("loss", ("kendall", "footrule"), self.loss)
        one_of("ties", ("half", "attract"), self.ties)
        scale("temperature", self.temperature, self.bounds)
        object.__setattr__(self, "temperature", float(self.temperature))
        not_negative("sharpness", self.sharpness)
        check(self.sharpness <= 1, "sharpness", "a number from 0 to 1", self.sharpness)
        not_negative("prior", self.prior)
        check(self.prior <= 1e9, "prior", "at most 1e9", self.prior)
        pairwise = self.loss == "kendall" or (self.sharpness == 1.0 and self.prior == 0.0 and self.ties == "half")
        check(pairwise, "loss", "'kendall' with a sharpness, a prior or attracting ties", self.loss)

    @cached_property
    def is_sigmoid(self) -> bool:
        """Whether it is the paper's loss and nothing more: what SGD and the polish are for."""
        return self.loss == "kendall" and self.sharpness == 1.0 and self.prior == 0.0 and self.ties == "half"

    @property
    def stage(self) -> Stage:
        return Stage(self.sharpness, self.temperature)


@dataclass(frozen=True)
class DescentOptions:
    """How to descend on pairs: most steps, the step that ends it, whether to polish, and who computes gradients."""

    steps: int
    tol: float
    polish: bool
    device: str
    precision: Precision

    def __post_init__(self) -> None:
        whole("steps", self.steps)
        positive("tol", self.tol)
        yes_or_no("polish", self.polish)
        one_of("precision", ("double", "single"), self.precision)
        known = isinstance(self.device, str) and (self.device in DEVICES or self.device.startswith("ray://"))
        check(known, "device", "'cpu', 'cuda', 'ray' or 'ray://HOST:PORT'", self.device)


@dataclass(frozen=True)
class SgdOptions:
    """How to take stochastic steps: how many, how long, on how many votes each, and how often to show the ratings."""

    steps: int
    lr: float
    batch: int | Literal["all"]
    schedule: str
    noise: float
    seed: int
    every: int

    def __post_init__(self) -> None:
        whole("steps", self.steps)
        natural("seed", self.seed)
        natural("every", self.every)
        positive("lr", self.lr)
        if self.batch != "all":
            whole("batch", self.batch)
        one_of("schedule", SCHEDULES, self.schedule)
        not_negative("noise", self.noise)


class Loss(Protocol):
    """What the loop needs of a loss: its value, its gradient, and a bound on its curvature along each rating."""

    def gradient(self, ratings: Floats, stage: Stage) -> Floats: ...

    def curvature(self, stage: Stage) -> Floats: ...

    def value(self, ratings: Floats, stage: Stage) -> float: ...


@dataclass
class Descent:
    """Where the loop ended. `error` is the size of the step it would still take, in temperatures; `errors` its history.

    `bound`, where known, is proven: no order contradicts margins that add up to less. `only` says whether an order that
    contradicts as little is the only one; None where that is not known.
    """

    ratings: Floats
    steps: int
    error: float
    converged: bool
    errors: list[float] = field(default_factory=list)
    bound: float | None = None
    only: bool | None = None


def descend(
    loss: Loss,
    start: Floats,
    walk: Sequence[Stage],
    *,
    bounds: Box,
    steps: int,
    tol: float,
    watch: Watch | None = None,
    mean: bool = False,
) -> Descent:
    """Take one step in each stage of `walk`, then go on in the last one until `tol` is met or `steps` are taken.

    The size of a step is as far as any agent moves, or the root mean square over agents where a `mean` is asked for.
    """
    ratings, ahead, momentum = start, start, 0
    errors: list[float] = []
    for step in range(1, steps + 1):
        stage = walk[min(step, len(walk)) - 1]
        new = np.clip(ahead - loss.gradient(ahead, stage) / loss.curvature(stage), *bounds)
        moved = np.abs(new - ahead)
        size = np.sqrt(np.mean(moved**2)) if mean and len(moved) else moved.max(initial=0.0)
        errors.append(float(size) / stage.temperature)
        # Not by ``@``: for long arrays it wakes a thread on each core, which spin while other programs want the core.
        momentum = momentum + 1 if float(((ahead - new) * (new - ratings)).sum()) <= 0 else 0
        # An extrapolated point outside the box could overflow the kernel, hence the second clip.
        ratings, ahead = new, np.clip(new + momentum / (momentum + 3) * (new - ratings), *bounds)
        if watch is not None:
            watch(step, steps, ratings)
        if step >= len(walk) and errors[-1] <= tol:
            return Descent(ratings, step, errors[-1], True, errors)
    return Descent(ratings, steps, errors[-1], False, errors)


def walk_to(target: Stage, width: float) -> list[Stage]:
    """From easy to sharp. The sigmoid loss is walked down in temperature: from the middle of the box, at a high

    temperature, it pulls just as the convex end does. Below sharpness 1 the sharpness rises from that end.
    """
    heat = target.temperature
    if target.sharpness == 1.0:
        return [Stage(1.0, float(t)) for t in np.geomspace(max(width / _WIDE, heat), heat, _WALK)]
    return [Stage(float(q), heat) for q in np.linspace(0.0, target.sharpness, _WALK)] if target.sharpness else [target]


def pairwise_loss(pairs: Pairs, goal: Objective, options: DescentOptions) -> PairwiseLoss:
    """The pairwise loss on the device asked for: here the backend is chosen, and nowhere later."""
    rows = pairs.by_agent_single if options.precision == "single" and options.device != "cuda" else pairs.by_agent
    prior = goal.prior, goal.temperature
    if options.device == "cpu":
        return PairwiseLoss(rows, goal.bounds, *prior, attract=goal.ties == "attract")
    if options.device == "cuda":
        from softcondorcet.backends.gpu import GpuLoss

        return GpuLoss(rows, goal.bounds, *prior, precision=options.precision)
    from softcondorcet.backends.ray import ClusterLoss

    return ClusterLoss(rows, goal.bounds, *prior, device=options.device)


def run_steps(run: Run, ratings: Floats, options: SgdOptions, watch: Watch | None) -> None:
    """Take all steps, in place, and show the ratings to `watch` every so many steps, or several times a second."""
    rate, steps, done, size = SCHEDULES[options.schedule], options.steps, 0, options.every or 1
    while done < steps:
        size = min(size, steps - done) if watch is not None else steps
        began = time.monotonic()
        t = np.arange(done + 1, done + size + 1, dtype=float)
        run(ratings, options.lr * rate(t, steps))
        done += size
        if watch is not None:
            watch(done, steps, ratings)
        if not options.every and time.monotonic() - began < _LOOK:
            size *= 2


def _places(start: Start | None, bounds: Box) -> Mapping[str, float]:
    """Ratings to start from as places in the box, by name."""
    low, high = bounds
    check(
        start is None or isinstance(start, Ratings | Mapping), "start", "Ratings, or a dict of ratings by agent", start
    )
    if isinstance(start, Ratings):
        inside = start.unit is None and bool(((start.values >= low) & (start.values <= high)).all())
        values = start.values
        if not inside and start.scale_name != "box":
            values = np.interp(start.ranks, [1, max(len(start), 2)], [high, low])
        return dict(zip(start.agents, values.tolist(), strict=True))
    for name, value in (start or {}).items():
        number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        check(number and low <= value <= high, "start", f"numbers from {low:g} to {high:g}, as of {name!r}", value)
    return start or {}


def starting_point(
    agents: tuple[str, ...], bounds: tuple[float, float], start: Start | None, noise: float, seed: int
) -> Floats:
    """The middle of the box, or given ratings where there are any; plus normal noise on request.

    Ratings of a result that are no places in this box, such as Elo points, are spread evenly over it along their order.
    """
    low, high = bounds
    known = _places(start, bounds)
    ratings = np.array([known.get(name, (low + high) / 2) for name in agents], dtype=float)
    if noise:
        ratings = ratings + noise * stream(seed, "start").standard_normal(len(agents))
    clipped: Floats = np.clip(ratings, low, high)
    return clipped


def descend_and_polish(
    loss: Loss,
    pairs: Pairs,
    start: Floats,
    walk: Sequence[Stage],
    *,
    bounds: Box,
    steps: int,
    tol: float,
    watch: Watch | None = None,
) -> Descent:
    """Walk to the last stage, improve the order found there, and make the ratings follow it; at most `steps` in all."""
    near, walked = Descent(start, 0, np.inf, False), min(len(walk), steps - 1)
    if walked:
        near = descend(loss, start, walk, bounds=bounds, steps=walked, tol=tol, watch=_within(watch, 0, steps))
    tiers = best_tiers(pairs, near.ratings, EQUAL * (bounds[1] - bounds[0]))
    if not len(tiers.agents):
        return Descent(near.ratings, near.steps, 0.0, True, near.errors, tiers.bound, tiers.only)
    even = tiers.put(near.ratings, tiers.spread(bounds))
    left, later = steps - near.steps, _within(watch, near.steps, steps)
    final = descend(loss, even, walk[-1:], bounds=bounds, steps=left, tol=tol, watch=later)
    ratings = tiers.put(final.ratings, tiers.follow(final.ratings, bounds))
    steps, errors = near.steps + final.steps, near.errors + final.errors
    return Descent(ratings, steps, final.error, final.converged, errors, tiers.bound, tiers.only)


def _within(watch: Watch | None, done: int, steps: int) -> Watch | None:
    """Report the steps of a part as steps of the whole."""
    return None if watch is None else lambda step, _, ratings: watch(done + step, steps, ratings)
