"""The paper's Algorithm 1: stochastic steps on sampled votes, shared by the sigmoid and the Fenchel-Young loss.

A step samples `batch` votes with replacement (in proportion to their weights), averages their gradients, moves against
it by the step's rate, and clips to the box. Averaging over the batch, which the paper leaves open, is what gives its
table of convergence times.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from softcondorcet.arrays import Floats
from softcondorcet.errors import DataError
from softcondorcet.options import Watch, check, natural, not_negative, one_of, positive, whole
from softcondorcet.profile import Profile, as_profile
from softcondorcet.ratings import Ratings

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


def run_steps(
    run: Run, ratings: Floats, *, steps: int, lr: float, schedule: str, watch: Watch | None, every: int
) -> None:
    """Take all steps, in place, and show the ratings to `watch` every so many steps, or several times a second."""
    rate, done, size = SCHEDULES[schedule], 0, every or 1
    while done < steps:
        size = min(size, steps - done) if watch is not None else steps
        began = time.monotonic()
        t = np.arange(done + 1, done + size + 1, dtype=float)
        run(ratings, lr * rate(t, steps))
        done += size
        if watch is not None:
            watch(done, steps, ratings)
        if not every and time.monotonic() - began < _LOOK:
            size *= 2


def starting_point(
    agents: tuple[str, ...], bounds: tuple[float, float], start: Ratings | None, noise: float, rng: np.random.Generator
) -> Floats:
    """The middle of the box, or another result's ratings where it has them; plus normal noise on request."""
    low, high = bounds
    check(start is None or isinstance(start, Ratings), "start", "Ratings", start)
    ratings = np.full(len(agents), (low + high) / 2)
    if start is not None:
        ratings = np.array([start[name] if name in start else (low + high) / 2 for name in agents])
    if noise:
        ratings = ratings + noise * rng.standard_normal(len(agents))
    clipped: Floats = np.clip(ratings, low, high)
    return clipped


def as_votes(data: object) -> Profile:
    """The profile, for methods that need whole votes: pairs have none left."""
    return as_profile(data, "a Profile (this needs whole votes)")


def sampled(data: object) -> Profile:
    """A profile with at least one vote to sample."""
    profile = as_votes(data)
    if not (profile.weight > 0).any():
        raise DataError("profile: expected at least one vote with a positive weight to sample from, got none")
    return profile


def check_sgd(steps: int, lr: float, batch: int | str, schedule: str, noise: float, seed: int, every: int) -> None:
    """The options that both stochastic methods share."""
    whole("steps", steps)
    natural("seed", seed)
    natural("every", every)
    positive("lr", lr)
    if batch != "all":
        whole("batch", batch)
    one_of("schedule", SCHEDULES, schedule)
    not_negative("noise", noise)
