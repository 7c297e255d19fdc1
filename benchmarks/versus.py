"""Two agents on the same votes: false alarms, power at the number of votes that is named, coverage of the interval.

    python benchmarks/versus.py [--runs 4000] [--processes 2] [--csv benchmarks/results/versus.csv]

Designs of tests/helpers/two_agents.py. Without an effect: how often `versus` tells two equal agents apart at 5 %, by
default and with votes of a group taken as independent. With one: how many votes it names for 80 % power, from a large
sample, and how often it tells the two apart on that many; how often the 95 % interval holds the true effect. Exits with
1 where false alarms are not in 4 to 6 % of the runs, or power not in 77 to 83 %.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from rows import arguments, show

import softcondorcet as sc

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from helpers.two_agents import DESIGNS, Design

# Votes of the sample from which the votes are named: so many that the effect seen is the true one.
_PILOT = 2_000_000


def run(design: Design, units: int, effect: float, runs: int, truth: float, seed: int) -> list[Any]:
    """Shares of runs that tell the two apart, the same by votes, and whose interval holds the truth; mean votes."""
    rng = np.random.default_rng(seed)
    apart = by_votes = held = 0
    votes = 0.0
    for _ in range(runs):
        profile = design.draw(rng, units, effect)
        found = sc.versus(profile, "a", "b", n=400)
        apart += found.better is not None
        by_votes += found.better is not None if found.by == "votes" else _by_votes(profile)
        low, high = -np.inf if found.low is None else found.low, np.inf if found.high is None else found.high
        held += low <= truth <= high
        votes += found.votes
    shares = [round(100 * count / runs, 2) for count in (apart, by_votes, held)]
    return [round(votes / runs), *shares]


def _by_votes(profile: sc.Profile) -> bool:
    return sc.versus(profile, "a", "b", by="votes", n=1).better is not None


def named(design: Design, effect: float) -> tuple[int, float]:
    """The units that a large sample names for 80 % power, and the true effect in points."""
    rng = np.random.default_rng(9)
    small = design.draw(rng, 1000, effect)
    if not effect:
        return design.units, sc.versus(small, "a", "b", n=1).even
    large = sc.versus(design.draw(rng, _PILOT * 1000 // small.n_votes, effect), "a", "b")
    assert large.points is not None and large.needed is not None
    return round(large.needed / large.votes * large.clusters), large.points


def row(task: tuple[int, str, float, int]) -> dict[str, Any]:
    """One line of the result, of a seed, a design, its effect and the runs: half as many where there is an effect."""
    seed, name, effect, runs = task
    runs = runs // 2 if effect else runs
    units, truth = named(DESIGNS[name], effect)
    result = run(DESIGNS[name], units, effect, runs, truth, seed)
    found = dict(zip(("votes", "told_apart_%", "by_votes_%", "interval_holds_%"), result, strict=True))
    least, most = (77, 83) if effect else (4, 6)
    within = least <= found["told_apart_%"] <= most
    return {"design": name, "effect": effect, "units": units, **found, "runs": runs, "within": within}


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--runs", type=int, default=4_000)
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    cases = [(name, effect) for name, design in DESIGNS.items() for effect in (0.0, *design.effects)]
    with ProcessPoolExecutor(options.processes) as pool:
        rows = list(pool.map(row, [(seed, *case, options.runs) for seed, case in enumerate(cases)]))
    show(rows, options.csv)
    sys.exit(not all(row["within"] for row in rows))


if __name__ == "__main__":
    main()
