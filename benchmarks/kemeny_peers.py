"""Exact Kemeny on noisy Mallows profiles of 25 votes: ours against scorio (MILP) and corankco (exact), CPU seconds.

    python benchmarks/kemeny_peers.py [--csv benchmarks/results/kemeny_peers.csv]

All claim to be exact; `worse` counts the runs whose order contradicts more than ours does, `proven_by_ours` those where
ours proves its own within a minute. Peers run where they take less than a minute or so; ours runs on to 200 agents.
Exits with 1 if the median of ours is less than ten times faster than a peer at 30 or 50 agents, a second at 100 or ten
at 200, or if a peer finds a better order.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from statistics import median

import numpy as np
from rows import arguments, show

import softcondorcet as sc

VOTES, PHI = 25, 0.98
# Agents, and which peers can be waited for.
SIZES = {30: ("scorio", "corankco"), 50: ("scorio",), 80: ("scorio",), 100: (), 150: (), 200: ()}
REPEATS = {"ours": 5, "scorio": 3, "corankco": 1}
LIMIT = {100: 1.0, 200: 10.0}


def by_ours(profile: sc.Profile) -> list[str]:
    return sc.kemeny(profile).order


def by_scorio(profile: sc.Profile) -> list[str]:
    """Scorio ranks models by success on questions: a vote is a question, its order the number of successes."""
    from scorio.rank.voting import kemeny_young

    m = profile.n_agents
    wins = np.zeros((m, profile.n_votes, m - 1), dtype=int)
    for v, vote in enumerate(profile.rankings()):
        for place, (name,) in enumerate(vote):
            wins[profile.agents.index(name), v, : m - 1 - place] = 1
    _, scores = kemeny_young(wins, return_scores=True, tie_aware=False)
    return [profile.agents[k] for k in np.argsort(-np.asarray(scores), kind="stable")]


def by_corankco(profile: sc.Profile) -> list[str]:
    from corankco.algorithms.exact.exactalgorithmpulp import ExactAlgorithmPulp
    from corankco.dataset import Dataset
    from corankco.scoringscheme import ScoringScheme

    votes = Dataset.from_raw_list([[{name} for (name,) in vote] for vote in profile.rankings()])
    found = ExactAlgorithmPulp().compute_consensus_rankings(votes, ScoringScheme.get_unifying_scoring_scheme())
    return [str(element) for bucket in found.consensus_rankings[0] for element in bucket]


SOLVERS: dict[str, Callable[[sc.Profile], list[str]]] = {
    "ours": by_ours,
    "scorio": by_scorio,
    "corankco": by_corankco,
}


def main() -> int:
    options = arguments(__doc__).parse_args()
    by_ours(sc.synthetic.mallows(VOTES, agents=30, phi=1.0, seed=9))  # compiles and loads what all later runs share
    rows, missed = [], []
    for m, peers in SIZES.items():
        spent: dict[str, list[float]] = {}
        worse, proven = dict.fromkeys(SOLVERS, 0), dict[str, int]()
        for name in ("ours", *peers):
            proven[name] = 0
            for seed in range(REPEATS[name]):
                profile = sc.synthetic.mallows(VOTES, agents=m, phi=PHI, seed=seed)
                profile.pairs()
                began = time.process_time() + _children()
                order = SOLVERS[name](profile)
                spent.setdefault(name, []).append(time.process_time() + _children() - began)
                board = sc.kemeny(profile)
                proven[name] += bool(board.converged)
                excess = sc.discrete_loss(profile, order) - (board.discrete_loss or 0)
                worse[name] += excess > 0
                if excess < 0:
                    missed.append(f"m = {m}, seed {seed}: {name} has a better order")
        ours = median(spent["ours"])
        for name, seconds in spent.items():
            ratio = median(seconds) / ours
            rows.append({
                "m": m, "votes": VOTES, "phi": PHI, "solver": name, "runs": len(seconds),
                "cpu_s": round(median(seconds), 4), "least": round(min(seconds), 4), "most": round(max(seconds), 4),
                "times_ours": round(ratio, 1), "worse": worse[name], "proven_by_ours": proven[name],
            })  # fmt: skip
            if name != "ours" and m <= 50 and ratio < 10:
                missed.append(f"{name} at m = {m}: only {ratio:.1f} times slower")
        if ours > LIMIT.get(m, np.inf):
            missed.append(f"m = {m}: {ours:.1f} s")
    show(rows, options.csv)
    print("missed:", missed or "nothing")
    return 1 if missed else 0


def _children() -> float:
    """CPU time of child processes: a peer may call a solver as a program."""
    from resource import RUSAGE_CHILDREN, getrusage

    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main())
