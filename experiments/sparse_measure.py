"""What each method makes of a sparse tournament: the settings, and the distances to the true order."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.study import Files, Job, Row
from softcondorcet.evaluation.compare import run
from softcondorcet.majority import strong_groups
from softcondorcet.metrics import kendall_tau_distance, mean_true_rating_distance, normalized_kendall_tau_distance
from softcondorcet.synthetic import tournament

CONTESTS = (5, 10, 20, 30, 50, 75, 100, 200)
# The share of pairs of agents in no contest together, as the paper prints it.
MISSING = {
    "uniform": (0.85, 0.72, 0.52, 0.38, 0.20, 0.09, 0.04, 0.001),
    "skill": (0.88, 0.75, 0.59, 0.49, 0.36, 0.28, 0.23, 0.15),
}
_SGD: dict[str, Any] = {"steps": 10_000, "batch": 16, "lr": 0.1}
VASE: dict[str, tuple[str, dict[str, Any]]] = {
    "approval": ("approval", {"k": 2}),
    **{
        rule: (rule, {})
        for rule in ("plurality", "borda", "copeland", "ranked_pairs", "schulze", "maximal_lotteries",
                     "iterated_maximal_lotteries", "stv")
    },
}  # fmt: skip
LOSSES: dict[str, tuple[str, dict[str, Any]]] = {
    "sgd": ("sco", {"scale": "box", "solver": "sgd", "temperature": 1.0, **_SGD}),
    "fenchel_young": ("fenchel_young", {"sigma": 1.0, **_SGD}),
}
# The methods of the paper, then ours and others.
PAPER = {**LOSSES, "elo_fit": ("bradley_terry", {"prior": 0.01}), **VASE}
METHODS = {
    **PAPER,
    "sco": ("sco", {}),
    "sco soft": ("sco", {"scale": "box", "sharpness": 0.3, "prior": 0.01}),
    "sgd 0.01": ("sco", {"scale": "box", "solver": "sgd", "temperature": 1.0, **_SGD, "lr": 0.01}),
    "elo_fit 1": ("bradley_terry", {"prior": 1.0}),
    **{name: (name, {}) for name in ("elo", "kemeny", "plackett_luce", "weng_lin")},
}


def work(job: Job, files: Files) -> list[Row]:
    if "pairs_of" in job:
        return [missing(job["matching"], n, job["pairs_of"]) for n in CONTESTS]
    found: dict[str, list[list[float]]] = {name: [] for name in METHODS}
    for seed in range(job["first"], job["last"]):
        votes, truth = tournament(job["n"], matching=job["matching"], seed=seed)
        listed = [votes.agents[k] for k in np.unique(votes.agent)]
        for name, (method, options) in METHODS.items():
            board = run(votes, method, options, seed)
            seen = normalized_kendall_tau_distance({agent: board[agent] for agent in listed}, truth)
            wrong, far = kendall_tau_distance(board, truth), mean_true_rating_distance(board, truth)
            found[name].append([wrong, round(far, 4), round(seen, 4)])
    key = {"matching": job["matching"], "n": job["n"]}
    return [{**key, "method": name, "found": values} for name, values in found.items()]


def missing(matching: str, n: int, seeds: int) -> Row:
    """The share of pairs in no contest, and whether Bradley-Terry has a finite fit without a prior, by seed."""
    pairs = [tournament(n, matching=matching, seed=seed)[0].pairs() for seed in range(seeds)]
    share = [round(1 - len(found) / 190, 5) for found in pairs]
    return {"matching": matching, "n": n, "missing": share, "finite": [len(strong_groups(p)) == 1 for p in pairs]}
