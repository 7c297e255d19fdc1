"""Do 95 % rank intervals hold the true rank in 95 % of agents? Simulated tournaments with known skills.

    python benchmarks/rank_intervals.py [--tournaments 200] [--csv benchmarks/results/rank_intervals.csv]

Tournaments of the paper (``synthetic.tournament``): skills from N(100, spread), an agent shows skill + N(0, noise) in a
contest. Of each, 200 resamples are rated and every agent's rank interval is held against its true rank. Columns:
`exact`, how often the fitted rank is the true one; `covered`, how often the interval holds it; `ranks`, the mean number
of ranks in it; `by_tails`, coverage and mean number of ranks of the other obvious interval, the tails of the resampled
ranks. In the last designs agents share skills in fours: then `covered` says how often the interval meets the four ranks
that they share, and `whole` how often it holds all four.

Exits with 1 if a method's mean coverage over the designs is outside 92 to 98 %, or any design is below 92 %.
"""

from __future__ import annotations

import sys
import time
from statistics import mean
from typing import Any

import numpy as np
from rows import arguments, show

import softcondorcet as sc

DESIGNS: dict[str, dict[str, Any]] = {
    "paper, 200 contests of 4": {"contests": 200},
    "paper, 50 contests of 4": {"contests": 50},
    "paper, 20 contests of 4": {"contests": 20},
    "200 contests, matched by skill": {"contests": 200, "matching": "skill", "noise": 15.0},
    "200 contests, noise as wide as skills": {"contests": 200, "noise": 30.0},
    "2,000 battles, noise as wide as skills": {"contests": 2000, "size": 2, "noise": 30.0},
    "2,000 battles, skills nearly equal": {"contests": 2000, "size": 2, "spread": 5.0, "noise": 30.0},
    "8 agents, 60 contests": {"contests": 60, "agents": 8, "noise": 20.0},
    "50 agents, 500 contests": {"contests": 500, "agents": 50, "noise": 15.0},
    "50 agents, 20,000 battles": {"contests": 20_000, "agents": 50, "size": 2, "noise": 40.0},
}
SHARED = {
    "skills shared by fours, 200 contests": {"contests": 200, "noise": 15.0},
    "skills shared by fours, 2,000 battles": {"contests": 2000, "size": 2, "noise": 30.0},
}
METHODS = ("sco", "bradley_terry")
LOW, HIGH = 0.92, 0.98


def ranks(values: np.ndarray) -> np.ndarray:
    return 1 + (values[..., None, :] > values[..., :, None]).sum(-1)


def tournament(design: str, seed: int) -> tuple[sc.Profile, np.ndarray]:
    """Votes, and true skills in the order of their agents."""
    options = {"agents": 20, **(DESIGNS | SHARED)[design]}
    if design in SHARED:
        skills = 100 + 30 * np.random.default_rng([seed, 9]).standard_normal(options["agents"] // 4)
        options = {**options, "skills": np.repeat(skills, 4).tolist()}
    votes, truth = sc.synthetic.tournament(seed=seed, **options)
    return votes, np.array([truth[name] for name in votes.agents])


def judge(design: str, method: str, tournaments: int) -> dict[str, Any]:
    exact, covered, whole, width, tails, tail_width = [], [], [], [], [], []
    for seed in range(tournaments):
        votes, skill = tournament(design, seed)
        found = sc.bootstrap(votes, method, seed=seed)
        best, worst = ranks(skill), len(skill) + 1 - ranks(-skill)  # more than one rank where skills are shared
        low, high = found.rank_low, found.rank_high
        exact.append(np.mean((best <= found.board.ranks) & (found.board.ranks <= worst)))
        covered.append(np.mean((low <= worst) & (best <= high)))
        whole.append(np.mean((low <= best) & (worst <= high)))
        width.append(np.mean(high - low + 1))
        tail = np.quantile(found.ranks, [0.025, 0.975], axis=0, method="nearest")
        tails.append(np.mean((tail[0] <= worst) & (best <= tail[1])))
        tail_width.append(np.mean(tail[1] - tail[0] + 1))
    shared = {"whole": f"{mean(whole):.1%}"} if design in SHARED else {"whole": ""}
    return {
        "design": design,
        "method": method,
        "exact": f"{mean(exact):.1%}",
        "covered": f"{mean(covered):.1%}",
        "error": f"{np.std(covered) / np.sqrt(tournaments):.1%}",
        "ranks": f"{mean(width):.1f}",
        "by_tails": f"{mean(tails):.1%}",
        "ranks_by_tails": f"{mean(tail_width):.1f}",
        **shared,
    }


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--tournaments", type=int, default=200)
    parser.add_argument("--methods", default=",".join(METHODS))
    options = parser.parse_args()
    began, rows = time.monotonic(), []
    methods = options.methods.split(",")
    for method in methods:
        for design in DESIGNS | SHARED:
            rows.append(judge(design, method, options.tournaments))
            print(f"{time.monotonic() - began:.0f} s", *rows[-1].values(), sep="  ", file=sys.stderr, flush=True)
    show(rows, options.csv)
    missed = False
    for method in methods:
        found = [float(r["covered"][:-1]) / 100 for r in rows if r["method"] == method and r["design"] in DESIGNS]
        print(f"{method}: {mean(found):.1%} of agents on average, {min(found):.1%} to {max(found):.1%} by design")
        missed |= not LOW <= mean(found) <= HIGH or min(found) < LOW
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
