"""Two agents on the same votes, drawn from a known truth: how often is a difference found that is not there, or is?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softcondorcet import Profile
from softcondorcet.columns import Column

Array = NDArray[np.float64]


def paired(outcome: Array, cluster: NDArray[np.int64] | None = None, *, scored: bool = False) -> Profile:
    """Votes over "a" and "b", of the sign of each outcome, which may be a difference of scores."""
    n, lost = len(outcome), outcome < 0
    agent = np.stack([lost, ~lost], axis=1).astype(np.int32)
    tier = np.stack([np.zeros(n), outcome != 0], axis=1).astype(np.int32)
    known: dict[str, object] = {"kind": "games"}
    if scored:
        known |= {"score": np.stack([np.abs(outcome), np.zeros(n)], axis=1).ravel(), "higher_is_better": np.ones(n)}
    if cluster is not None:
        names = tuple(f"judge-{k}" for k in range(int(cluster.max()) + 1))
        known |= {"columns": {"judge": Column(cluster.astype(np.int32), names)}, "group_by": "judge"}
    return Profile(("a", "b"), 2 * np.arange(n + 1), agent.ravel(), tier.ravel(), np.ones(n), **known)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Design:
    """`draw(rng, units, effect)` gives votes; of no effect, so many `units`; a few `effects` that should be found."""

    draw: Callable[[np.random.Generator, int, float], Profile]
    units: int
    effects: tuple[float, ...]


def wins(ties: float) -> Callable[[np.random.Generator, int, float], Profile]:
    """The effect is the lead in the share of votes that are no ties."""

    def draw(rng: np.random.Generator, units: int, effect: float) -> Profile:
        won = (1 + effect) / 2 * (1 - ties)
        return paired(rng.choice([1.0, -1.0, 0.0], p=[won, 1 - ties - won, ties], size=units))

    return draw


def right_or_wrong(rng: np.random.Generator, units: int, effect: float) -> Profile:
    """Answers that are right or wrong, most of them alike for both agents: scores of 0 and 1."""
    difficulty = rng.random(units)
    right = rng.random((2, units)) < np.clip(difficulty + np.array([[effect], [0.0]]), 0, 1)
    return paired(right[0] - right[1].astype(float), scored=True)


def scores(noise: Callable[[np.random.Generator, int], Array]) -> Callable[[np.random.Generator, int, float], Profile]:
    """The effect is in units of the noise."""
    return lambda rng, units, effect: paired(noise(rng, units) + effect, scored=True)


def judges(alike: float, sizes: str) -> Callable[[np.random.Generator, int, float], Profile]:
    """Judges with tastes of their own: the chance of a is drawn for each, beta with mean (1 + effect) / 2."""

    def draw(rng: np.random.Generator, units: int, effect: float) -> Profile:
        size = 1 + (
            rng.poisson(8, units) if sizes == "equal" else np.minimum(rng.pareto(1.5, units) * 4, 60).astype(int)
        )
        mean = (1 + effect) / 2
        chance = rng.beta(alike * mean, alike * (1 - mean), units)
        cluster = np.repeat(np.arange(units), size)
        return paired(np.where(rng.random(len(cluster)) < chance[cluster], 1.0, -1.0), cluster)

    return draw


def tasks(rng: np.random.Generator, units: int, effect: float) -> Profile:
    """Score differences on 12 items of each task, which share half of their variance."""
    cluster = np.repeat(np.arange(units), 12)
    return paired(rng.normal(size=units)[cluster] + rng.normal(size=len(cluster)) + effect, cluster, scored=True)


DESIGNS = {
    "votes, 30 % ties": Design(wins(0.3), 200, (0.2, 0.4)),
    "votes, no ties": Design(wins(0.0), 400, (0.1, 0.3)),
    "right or wrong": Design(right_or_wrong, 400, (0.1,)),
    "scores, normal": Design(scores(lambda rng, n: rng.normal(size=n)), 30, (0.3, 0.6)),
    "scores, heavy tails": Design(scores(lambda rng, n: rng.standard_t(3, n)), 100, (0.4,)),
    "scores, each skewed": Design(scores(lambda rng, n: rng.exponential(size=n) - rng.exponential(size=n)), 50, (0.4,)),
    "judges of about 9 votes": Design(judges(4.0, "equal"), 30, (0.3, 0.15)),
    "judges of 1 to 61 votes": Design(judges(4.0, "unequal"), 50, (0.3,)),
    "tasks of 12 items": Design(tasks, 25, (0.5,)),
}
