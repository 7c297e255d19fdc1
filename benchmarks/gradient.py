"""Nanoseconds per directed pair of the full gradient, against numpy, and what the second core adds.

    python benchmarks/gradient.py [--csv benchmarks/results/gradient.csv]

A directed pair is a pair seen from one agent: m = 1000 complete has 999,000. CPU time of one thread, median of several
runs with the range; tools alternate in one process. What the second core adds is the ratio of wall times, the least of
many calls each: what else a machine does only adds to them. Exits with 1 if a target is missed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from statistics import median

import numpy as np
from rows import arguments, show

from softcondorcet import synthetic
from softcondorcet.arrays import cut
from softcondorcet.backends.cpu import PairwiseLoss, Stage
from softcondorcet.kernels import pairwise
from softcondorcet.pairs import Pairs

REPEATS, CALLS = 7, 50
STAGE = Stage(1.0, 1.0)
TARGET_NS = 3.0  # at m = 1000, one thread
TARGET_THREADS = 1.6  # two threads against one, on the complete shape of 20 million pairs


def timed(work: Callable[[], object], clock: Callable[[], float], least: float = 0.2) -> float:
    """Seconds of one call: as many calls as fill `least` seconds."""
    calls, began = 0, clock()
    while True:
        work()
        calls += 1
        spent = clock() - began
        if spent >= least:
            return spent / calls


def numpy_gradient(pairs: Pairs, ratings: np.ndarray) -> np.ndarray:
    """The same gradient by numpy: a logistic function per pair and two sums by index."""
    p = 1 / (1 + np.exp(ratings[pairs.left] - ratings[pairs.right]))
    pull = pairs.margin * p * (1 - p)
    m = pairs.n_agents
    return np.bincount(pairs.right, pull, m) - np.bincount(pairs.left, pull, m)


def main() -> int:
    options = arguments(__doc__).parse_args()
    shapes = {
        "m=100 complete": synthetic.mallows(50, agents=100),
        "m=1000 complete": synthetic.mallows(20, agents=1000, phi=0.99),
        "m=6400 complete": synthetic.mallows(5, agents=6400, phi=0.999),
        "m=52958, votes of 7": synthetic.plackett_luce(31_049, agents=52_958, size=7)[0],
    }
    rows, failed = [], False
    for name, profile in shapes.items():
        pairs = profile.pairs()
        loss = PairwiseLoss(pairs, (0.0, 100.0))
        by_agent, directed = loss.rows, 2 * len(pairs)
        ratings = np.random.default_rng(0).uniform(0, 100, pairs.n_agents)
        e, gradient = np.exp(ratings - 50), np.empty(pairs.n_agents)
        arrays = (by_agent.row, by_agent.column, by_agent.margin, e, gradient, 0, pairs.n_agents)
        np.testing.assert_allclose(loss.gradient(ratings, STAGE), numpy_gradient(pairs, ratings), atol=1e-8)
        ours, theirs, alone, shared = [], [], [], []
        halves = cut(by_agent.row, 1, parts=2)
        both = PairwiseLoss(pairs, (0.0, 100.0), ranges=halves)
        single = PairwiseLoss(pairs, (0.0, 100.0), ranges=[(0, pairs.n_agents)])
        for _ in range(REPEATS):
            ours.append(1e9 * timed(partial(pairwise.sigmoid_gradient, *arrays), time.process_time) / directed)
            theirs.append(1e9 * timed(partial(numpy_gradient, pairs, ratings), time.process_time) / directed)
        for _ in range(CALLS):
            alone.append(timed(partial(single.gradient, ratings, STAGE), time.perf_counter, least=0))
            shared.append(timed(partial(both.gradient, ratings, STAGE), time.perf_counter, least=0))
        gain = min(alone) / min(shared)
        rows.append({
            "shape": name, "directed_pairs": directed, "ns_per_pair": round(median(ours), 2),
            "ns_min": round(min(ours), 2), "ns_max": round(max(ours), 2), "numpy_ns": round(median(theirs), 1),
            "ratio": round(median(t / o for t, o in zip(theirs, ours, strict=True)), 1),
            "two_threads_gain": round(gain, 2),
        })  # fmt: skip
        failed |= name == "m=1000 complete" and median(ours) > TARGET_NS
        failed |= name == "m=6400 complete" and gain < TARGET_THREADS
    show(rows, options.csv)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
