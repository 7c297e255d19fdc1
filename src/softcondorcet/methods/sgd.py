"""The paper's Algorithm 1: stochastic steps on sampled votes, shared by the sigmoid and the Fenchel-Young loss.

A step samples `batch` votes with replacement (in proportion to their weights), averages their gradients, moves against
it by the step's rate, and clips to the box. Averaging over the batch, which the paper leaves open, is what gives its
table of convergence times.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from softcondorcet.arrays import Floats
from softcondorcet.errors import DataError, OptionError, check
from softcondorcet.profile import Profile
from softcondorcet.ratings import Ratings

Watch = Callable[[int, int, Floats], None]
# Runs one step per rate, in place.
Run = Callable[[Floats, Floats], None]

SCHEDULES: dict[str, Callable[[Floats, int], Floats]] = {
    "constant": lambda t, steps: np.ones_like(t),
    "sqrt": lambda t, steps: 1 / np.sqrt(t),
    "inverse": lambda t, steps: 1 / t,
    "linear": lambda t, steps: 1 - (t - 1) / steps,
    "cosine": lambda t, steps: (1 + np.cos(np.pi * (t - 1) / steps)) / 2,
}
# Steps between two looks at the clock when nobody asked for a finer view.
_CHUNK = 10_000


def run_steps(
    run: Run, ratings: Floats, *, steps: int, lr: float, schedule: str, watch: Watch | None, every: int
) -> None:
    """Take all steps, in place, and show the ratings to `watch` every so many steps."""
    size = every if watch is not None and every else _CHUNK
    for first in range(0, steps, size):
        t = np.arange(first + 1, min(first + size, steps) + 1, dtype=float)
        run(ratings, lr * SCHEDULES[schedule](t, steps))
        if watch is not None:
            watch(int(t[-1]), steps, ratings)


def starting_point(
    agents: tuple[str, ...], bounds: tuple[float, float], start: Ratings | None, noise: float, rng: np.random.Generator
) -> Floats:
    """The middle of the box, or another result's ratings where it has them; plus normal noise on request."""
    low, high = bounds
    ratings = np.full(len(agents), (low + high) / 2)
    if start is not None:
        ratings = np.array([start[name] if name in start else (low + high) / 2 for name in agents])
    if noise:
        ratings = ratings + noise * rng.standard_normal(len(agents))
    clipped: Floats = np.clip(ratings, low, high)
    return clipped


def as_votes(data: object) -> Profile:
    """The profile, for methods that need whole votes: pairs have none left."""
    if not isinstance(data, Profile):
        raise OptionError(f"data must be a Profile (this needs whole votes), got {type(data).__name__}")
    return data


def sampled(data: object) -> Profile:
    """A profile with at least one vote to sample."""
    profile = as_votes(data)
    if not (profile.weight > 0).any():
        raise DataError("profile: expected at least one vote with a positive weight to sample from, got none")
    return profile


def check_sgd(steps: int, lr: float, batch: int | str, schedule: str) -> None:
    """The options that both stochastic methods share."""
    check(steps >= 1, "steps", "a positive whole number", steps)
    check(lr > 0, "lr", "a positive number", lr)
    check(batch == "all" or (isinstance(batch, int) and batch >= 1), "batch", "a positive whole number or 'all'", batch)
    check(schedule in SCHEDULES, "schedule", f"one of {', '.join(SCHEDULES)}", schedule)
