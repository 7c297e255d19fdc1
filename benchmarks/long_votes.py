"""All of Codeforces rated without its pairs: seconds, memory, and the loss of a contest against every pair of it.

    python benchmarks/long_votes.py codeforces_rankings.csv.gz [--csv benchmarks/results/long_votes.csv]

1,071 contests of up to 16,783 agents, 280,701 agents, 9.5 billion pairs. Exits with 1 if the ratings do not converge
in 30 minutes and 8 GB, or if the loss of a sampled contest differs from the sum over all its pairs by more than 1e-6
of it.
"""

from __future__ import annotations

import resource
import sys
import time
import warnings

import numpy as np
from rows import arguments, show

import softcondorcet as sc
from softcondorcet.backends.cpu import Stage
from softcondorcet.solvers.long_votes import LongVotesLoss

LIMIT_S, LIMIT_GB, LIMIT_LOSS = 1800, 8, 1e-6


def all_pairs(contest: sc.Profile, ratings: np.ndarray, temperature: float) -> float:
    """The loss of one vote, pair by pair: the obvious sum, row by row to bound its memory."""
    r, tier = ratings[contest.agent] / temperature, contest.tier
    total = 0.0
    for k in range(len(r) - 1):
        below, p = tier[k + 1 :] > tier[k], 1 / (1 + np.exp(np.clip(r[k] - r[k + 1 :], -700, 700)))
        total += float(np.where(below, p, 0.5).sum())
    return total


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("file")
    parser.add_argument("--contest", type=int, default=500, help="the contest whose pairs are all visited")
    options = parser.parse_args()
    began = time.perf_counter()
    profile = sc.read(options.file)
    read, cpu = time.perf_counter() - began, time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sc.NotConverged)
        board = sc.sco(profile)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    chosen = np.zeros(profile.n_votes, dtype=bool)
    chosen[options.contest] = True
    contest, heat = profile.take(chosen), float(board.options["temperature"])
    one = LongVotesLoss(contest, tuple(board.options["bounds"])).value(board.values, Stage(1.0, heat))
    slow = all_pairs(contest, board.values, heat)
    gb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    pairs = float((profile.length * (profile.length - 1.0) / 2).sum())
    row = {
        "agents": profile.n_agents, "contests": profile.n_votes, "pairs": f"{pairs:.3e}", "read_s": round(read),
        "all_s": round(seconds), "fit_cpu_s": round(cpu), "GB": round(gb, 2), "steps": board.steps,
        "converged": board.converged, "error": f"{board.error:.1e}", "contest_agents": int(contest.length[0]),
        "contest_difference": f"{abs(one / slow - 1):.1e}",
        "contradicted": round(float(board.discrete_loss or 0) / pairs, 4),
    }  # fmt: skip
    show([row], options.csv)
    missed = not board.converged or seconds > LIMIT_S or gb > LIMIT_GB or abs(one / slow - 1) > LIMIT_LOSS
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
