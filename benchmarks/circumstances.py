"""How often the 95 % interval of a planted effect holds it: being shown first and length, in 2,000 sets of battles.

    python benchmarks/circumstances.py --csv benchmarks/results/circumstances.csv

Exits with 1 unless each effect lies inside in 93 to 97 % of the runs,
and one that is not there is found in at most 7 %.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from rows import arguments, show

import softcondorcet as sc
from softcondorcet.columns import Column

RUNS = 2_000
# Agents, battles, and the effects of being shown first and of a standard deviation of length.
DESIGNS = ((8, 400, 0.4, 0.3), (20, 1_000, 0.2, 0.0), (5, 200, 0.0, 0.0))


def battles(agents: int, n: int, first: float, length: float, seed: int) -> sc.Profile:
    rng = np.random.default_rng([agents, n, seed])
    strength = rng.normal(0, 0.7, agents)
    a = rng.integers(0, agents, n)
    b = (a + rng.integers(1, agents, n)) % agents
    long = rng.lognormal(5, 0.6, (2, n))
    apart = (long[0] - long[1]) / long.sum(axis=0)
    apart /= np.sqrt((apart**2).mean())
    won = rng.random(n) < 1 / (1 + np.exp(-(strength[a] - strength[b] + first + length * apart)))
    entries = np.stack([np.where(won, a, b), np.where(won, b, a)], axis=1).ravel()
    arrays = [f"a{k}" for k in range(agents)], 2 * np.arange(n + 1), entries, np.tile([0, 1], n), np.ones(n)
    columns = {"length_a": Column(values=long[0]), "length_b": Column(values=long[1])}
    return sc.Profile(*arrays, turned=~won, columns=columns)


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--runs", type=int, default=RUNS)
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for agents, n, first, length in DESIGNS:
        truth, began = {"first": first, "length": length}, time.process_time()
        found = [
            sc.controlled(battles(agents, n, first, length, seed), "first,length", "bradley_terry").effects
            for seed in range(given.runs)
        ]
        for k, (name, effect) in enumerate(truth.items()):
            each = [effects[k] for effects in found]
            rows.append({
                "agents": agents, "battles": n, "circumstance": name, "planted": effect, "runs": given.runs,
                "mean": round(float(np.mean([one.effect for one in each])), 4),
                "inside_95": round(float(np.mean([one.low <= effect <= one.high for one in each])), 4),
                "found": round(float(np.mean([one.p < 0.05 for one in each])), 4),
                "ms_per_fit": round(1000 * (time.process_time() - began) / given.runs, 1),
            })  # fmt: skip
    show(rows, given.csv)
    right = all(0.93 <= row["inside_95"] <= 0.97 and (row["planted"] or row["found"] <= 0.07) for row in rows)
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
