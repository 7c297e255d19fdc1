"""Nanoseconds per raw pair to count votes into pairs, against numpy.

    python benchmarks/counting.py [--csv benchmarks/results/counting.csv]

A raw pair is two agents in one vote: a vote of k agents has k (k - 1) / 2. CPU time of both threads, median of several
runs with the range. numpy lists the raw pairs of all votes, sorts their keys and sums: what a data frame would do.
"""

from __future__ import annotations

import sys
import time
from statistics import median

import numpy as np
from rows import arguments, show

from softcondorcet import Profile, synthetic
from softcondorcet.pairs import count_pairs

REPEATS = 5


def numpy_pairs(profile: Profile) -> int:
    """Votes of one length, strict: number of distinct pairs and their counts, by listing and sorting."""
    k = int(profile.length[0])
    votes = profile.agent.reshape(-1, k).astype(np.int64)
    above, below = np.triu_indices(k, 1)
    a, b = votes[:, above].ravel(), votes[:, below].ravel()
    keys, index = np.unique(np.minimum(a, b) * profile.n_agents + np.maximum(a, b), return_inverse=True)
    np.bincount(index, weights=a < b)
    return len(keys)


def main() -> int:
    options = arguments(__doc__).parse_args()
    shapes = {
        "m=100, n=1000 complete": synthetic.mallows(1000, agents=100),
        "m=1000, n=20 complete": synthetic.mallows(20, agents=1000, phi=0.99),
        "m=5000, n=4 complete": synthetic.mallows(4, agents=5000, phi=0.999),
        "m=200, n=1,000,000 battles": synthetic.plackett_luce(1_000_000, agents=200, size=2)[0],
        "m=52958, n=31049 votes of 7": synthetic.plackett_luce(31_049, agents=52_958, size=7)[0],
    }
    rows = []
    for name, profile in shapes.items():
        raw = profile.n_pairs_compared
        assert len(count_pairs(profile)) == numpy_pairs(profile)
        ours, theirs = list[float](), list[float]()
        for _ in range(REPEATS):
            for work, spent in ((count_pairs, ours), (numpy_pairs, theirs)):
                began = time.process_time()
                work(profile)
                spent.append(1e9 * (time.process_time() - began) / raw)
        rows.append({
            "shape": name, "raw_pairs": int(raw), "ns_per_raw_pair": round(median(ours), 1),
            "ns_min": round(min(ours), 1), "ns_max": round(max(ours), 1), "numpy_ns": round(median(theirs), 1),
            "ratio": round(median(t / o for t, o in zip(theirs, ours, strict=True)), 1),
        })  # fmt: skip
    show(rows, options.csv)
    return 0


if __name__ == "__main__":
    sys.exit(main())
