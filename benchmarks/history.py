"""The whole-history fit of a million battles of 5,000 agents over 100 periods: seconds of processor time, and memory.

    python benchmarks/history.py --csv benchmarks/results/history.csv

Exits with 1 if the fit, with drift and deviation chosen by likelihood and all intervals, takes more than 20 s.
"""

from __future__ import annotations

import resource
import sys
import time
from typing import Any

import numpy as np
from rows import arguments, show

import softcondorcet as sc

SIZES = ((10_000, 100, 50), (100_000, 1_000, 100), (1_000_000, 5_000, 100))
DRIFT, DAY, TARGET = 0.15, 86400.0, 20.0


def battles(n: int, agents: int, periods: int) -> tuple[sc.Profile, np.ndarray]:
    """Battles of agents that walk from year to year, and where they are."""
    rng = np.random.default_rng(0)
    steps = np.concatenate([np.zeros((1, agents)), rng.normal(0, DRIFT, (periods - 1, agents))])
    truth = rng.normal(size=agents) + np.cumsum(steps, axis=0)
    period = np.sort(rng.integers(0, periods, n))
    a = rng.integers(0, agents, n)
    b = (a + rng.integers(1, agents, n)) % agents
    won = rng.random(n) < 1 / (1 + np.exp(truth[period, b] - truth[period, a]))
    entries = np.stack([np.where(won, a, b), np.where(won, b, a)], axis=1).ravel()
    names, when = [f"a{k}" for k in range(agents)], (period + 0.5) * 365.25 * DAY
    return sc.Profile(names, 2 * np.arange(n + 1), entries, np.tile([0, 1], n), np.ones(n), when=when), truth


def main() -> None:
    given = arguments(__doc__ or "").parse_args()
    rows: list[dict[str, Any]] = []
    for n, agents, periods in SIZES:
        profile, truth = battles(n, agents, periods)
        if not rows:
            sc.history(profile, period="year")  # compiles
        began = time.process_time()
        found = sc.history(profile, period="year")
        seconds = time.process_time() - began
        began = time.process_time()
        sc.history(profile, period="year", drift=DRIFT, deviation=1.0)
        alone = time.process_time() - began
        at = found.fitted.periods
        gap = found.fitted.values - truth[at.period, at.agent]
        inside = np.abs(gap - gap.mean()) < 1.96 * np.sqrt(found.fitted.variance)
        rows.append({
            "battles": n, "agents": agents, "periods": periods, "ratings": len(at), "cpu_s": round(seconds, 2),
            "cpu_s_given_drift": round(alone, 2), "fits": len(found.tried), "drift": round(found.drift, 3),
            "planted_drift": DRIFT, "inside_95": round(float(inside.mean()), 4),
            "peak_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2),
        })  # fmt: skip
    show(rows, given.csv)
    sys.exit(rows[-1]["cpu_s"] > TARGET)


if __name__ == "__main__":
    main()
