"""How long do resamples take? `sc.bootstrap` on real votes, and arena-rank's bootstrap beside it.

    python benchmarks/bootstrap.py chatbot_arena_20240814_counts.csv codeforces_groups7.csv.gz [--csv FILE]

200 resamples of 1,670,250 battles over 129 agents and of 31,049 votes over 53,322 agents. arena-rank resamples
counts too, 100 times, by Bradley-Terry; it is given its data already counted, which takes it longer than the fits, and
runs on all cores as it does by default. Its processes come from a fork server that has imported it already: forked from
one in which jax runs threads, as it does by default, they may wait for each other for ever. Ours is timed from the
pairs or votes that `sc.read` gave. Everything runs once before it is timed, but for the large data and arena-rank. Wall
seconds, median of several runs with the range.
Exits with 1 if a target is missed.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from statistics import median
from typing import Any

import numpy as np
from rows import arguments, show

import softcondorcet as sc

REPEATS = 3
TARGETS = {"arena": 5.0, "codeforces": 120.0}  # wall seconds of 200 resamples by sco on two cores
PEER = 10.0  # arena-rank's wall time over ours for the same 100 resamples by Bradley-Terry, at least


def arena_rank(votes: sc.Profile) -> Callable[[], Any] | None:
    """Their bootstrap of the same battles, ready to run; None where it is not installed."""
    try:
        from arena_rank.models.bradley_terry import BradleyTerry
        from arena_rank.utils.data_utils import PairDataset
    except ImportError:
        return None
    import jax.numpy as jnp

    multiprocessing.set_start_method("forkserver")
    multiprocessing.set_forkserver_preload(["arena_rank.models.bradley_terry"])
    pairs = votes.pairs()
    ends = np.stack([pairs.left, pairs.right], axis=1)
    counts = np.concatenate([pairs.wins, pairs.losses, pairs.ties])
    outcomes = np.repeat([1.0, 0.0, 0.5], len(pairs))
    kept = counts > 0
    data = PairDataset(
        competitors=list(pairs.agents),
        pairs=jnp.array(np.tile(ends, (3, 1))[kept]),
        outcomes=jnp.array(outcomes[kept]),
        counts=jnp.array(counts[kept]),
        weights=jnp.ones(int(kept.sum())),
        opt_weights=jnp.array(counts[kept]),
    )

    def run() -> Any:
        model = BradleyTerry(n_competitors=len(pairs.agents))
        return model.compute_ratings_and_cis(data, ci_method="bootstrap", num_bootstrap=100)

    return run


def timed(work: dict[str, Callable[[], Any]], repeats: int, warm: bool) -> dict[str, list[float]]:
    if warm:
        for run in work.values():
            run()
    seconds: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(repeats):
        for name, run in work.items():
            began = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - began)
    return seconds


def row(data: str, name: str, seconds: list[float], peer: float | None) -> dict[str, Any]:
    middle = median(seconds)
    return {
        "data": data,
        "what": name,
        "seconds": round(middle, 3),
        "range": f"{min(seconds):.3g}-{max(seconds):.3g}",
        "arena_rank_over_this": "" if peer is None else round(peer / middle, 1),
    }


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("battles")
    parser.add_argument("votes", nargs="?")
    options = parser.parse_args()
    battles = sc.read(options.battles)
    work: dict[str, Callable[[], Any]] = {
        "sco, 200 resamples": lambda: sc.bootstrap(battles).rows(),
        "bradley_terry, 100 resamples": lambda: sc.bootstrap(battles, "bradley_terry", n=100).rows(),
    }
    found = timed(work, REPEATS, warm=True)
    theirs = arena_rank(battles)
    if theirs is not None:  # it takes minutes: once is enough
        found |= timed({"arena-rank, 100 resamples": theirs}, 1, warm=False)
    peer = median(found["arena-rank, 100 resamples"]) if theirs is not None else None
    rows = [row("chatbot_arena", name, seconds, peer) for name, seconds in found.items()]
    missed = median(found["sco, 200 resamples"]) > TARGETS["arena"]
    if peer is not None:
        missed |= peer / median(found["bradley_terry, 100 resamples"]) < PEER
    if options.votes:
        votes = sc.read(options.votes)
        found = timed({"sco, 200 resamples": lambda: sc.bootstrap(votes).samples}, 1, warm=False)
        rows += [row("codeforces_groups7", name, seconds, None) for name, seconds in found.items()]
        missed |= median(found["sco, 200 resamples"]) > TARGETS["codeforces"]
    show(rows, options.csv)
    try:
        print(f"arena-rank {version('arena-rank')}")
    except PackageNotFoundError:
        print("arena-rank is not installed: pip install arena-rank==0.1.1")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
