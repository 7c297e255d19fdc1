"""Exact Kemeny on noisy Mallows profiles of 25 votes: ours against scorio (MILP) and corankco (exact), CPU seconds.

    python benchmarks/kemeny_peers.py [--csv benchmarks/results/kemeny_peers.csv]

All claim to be exact; `worse` counts the runs whose order contradicts more than ours does, `proven_by_ours` those where
ours proves its own within a minute. Peers run where they take less than a minute or so; ours runs on to 200 agents.
`times_ours` is the median over the seeds of a peer of its CPU time in units of ours on the same votes. Exits with 1 if
that is below ten for a peer at 30 or 50 agents, if the median of ours is above a second at 100 agents or ten at 200, or
if a peer finds a better order.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from statistics import median
from typing import Any

import numpy as np
from rows import arguments, show

import softcondorcet as sc

VOTES, PHI = 25, 0.98
# Agents, and which peers can be waited for.
SIZES = {30: ("scorio", "corankco"), 50: ("scorio",), 80: ("scorio",), 100: (), 150: (), 200: ()}
REPEATS = {"ours": 5, "scorio": 3, "corankco": 1}
LIMIT = {100: 1.0, 200: 10.0}


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


PEERS: dict[str, Callable[[sc.Profile], list[str]]] = {"scorio": by_scorio, "corankco": by_corankco}


def main() -> int:
    options = arguments(__doc__).parse_args()
    sc.kemeny(votes_of(30, seed=9))  # compiles and loads what all later runs share
    rows, missed = [], []
    for m, peers in SIZES.items():
        ours = [measured(sc.kemeny, votes_of(m, seed)) for seed in range(REPEATS["ours"])]
        boards, seconds = [board for board, _ in ours], [cpu for _, cpu in ours]
        rows.append(row(m, "ours", sc.__version__, seconds, [1.0], 0, boards))
        if median(seconds) > LIMIT.get(m, np.inf):
            missed.append(f"m = {m}: {median(seconds):.1f} s")
        for name in peers:
            theirs = [measured(PEERS[name], votes_of(m, seed)) for seed in range(REPEATS[name])]
            excess = [
                sc.discrete_loss(votes_of(m, seed), order) - boards[seed].discrete_loss
                for seed, (order, _) in enumerate(theirs)
            ]
            ratios = [cpu / own for (_, cpu), own in zip(theirs, seconds, strict=False)]
            worse = sum(more > 0 for more in excess)
            rows.append(row(m, name, version(name), [cpu for _, cpu in theirs], ratios, worse, boards[: len(theirs)]))
            if m <= 50 and median(ratios) < 10:
                missed.append(f"{name} at m = {m}: only {median(ratios):.1f} times slower")
            if min(excess) < 0:
                missed.append(f"{name} at m = {m} has a better order")
    show(rows, options.csv)
    print("missed:", missed or "nothing")
    return 1 if missed else 0


def votes_of(m: int, seed: int) -> sc.Profile:
    profile = sc.synthetic.mallows(VOTES, agents=m, phi=PHI, seed=seed)
    profile.pairs()  # counted before the clock starts
    return profile


def measured(solve: Callable[[sc.Profile], Any], profile: sc.Profile) -> tuple[Any, float]:
    """What it finds, and the CPU seconds."""
    began = time.process_time() + _children()
    return solve(profile), time.process_time() + _children() - began


def row(m: int, solver: str, release: str, cpu: list[float], ratios: list[float], worse: int, boards: list[Any]) -> Any:
    return {
        "m": m, "votes": VOTES, "phi": PHI, "solver": solver, "version": release, "runs": len(cpu),
        "cpu_s": round(median(cpu), 4), "least": round(min(cpu), 4), "most": round(max(cpu), 4),
        "times_ours": round(median(ratios), 1), "worse": worse,
        "proven_by_ours": sum(bool(board.converged) for board in boards),
    }  # fmt: skip


def _children() -> float:
    """CPU time of child processes: a peer may call a solver as a program."""
    from resource import RUSAGE_CHILDREN, getrusage

    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main())
