"""How good is the search for the fewest votes that change the top agent? Against trying every set.

    python benchmarks/fewest_votes.py [--csv benchmarks/results/fewest_votes.csv]

Random votes of up to 9 rows over up to 4 agents: how often the set found is as small as the smallest there is, the
proven bound as large, and whether the bound is ever above it.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from rows import arguments, show

import softcondorcet as sc

METHODS, PROFILES = ("sco", "kemeny", "schulze", "copeland", "borda", "bradley_terry"), 80


def drawn(rng: np.random.Generator) -> sc.Profile:
    m = int(rng.integers(2, 5))
    n, k = int(rng.integers(4, 10)), int(rng.integers(2, m + 1))
    names = [f"agent-{i}" for i in range(m)]
    return sc.Profile.from_rankings([[names[i] for i in rng.permutation(m)[:k]] for _ in range(n)], agents=names)


def smallest(profile: sc.Profile, top: str, method: str) -> int | None:
    n = profile.n_votes
    for size in range(1, n):
        for gone in combinations(range(n), size):
            if sc.rank(profile.take(np.delete(np.arange(n), gone)), method).rank_of(top) > 1:
                return size
    return None


def main() -> None:
    options = arguments(__doc__).parse_args()
    rows: list[dict[str, Any]] = []
    for method in METHODS:
        rng = np.random.default_rng(1)
        count = {"smallest": 0, "one more": 0, "larger or missed": 0, "bound is the smallest": 0, "bound too high": 0}
        for _ in range(PROFILES):
            profile = drawn(rng)
            found = sc.robustness(profile, method, parts=["votes"]).flip
            assert found is not None
            best = smallest(profile, found.top, method)
            count["smallest"] += found.votes == best
            count["one more"] += best is not None and found.votes == best + 1
            count["larger or missed"] += best is not None and (found.votes is None or found.votes > best + 1)
            count["bound is the smallest"] += found.bound == best
            count["bound too high"] += best is not None and found.bound > best
        rows.append({"method": method, "profiles": PROFILES, **count})
    show(rows, options.csv)


if __name__ == "__main__":
    main()
