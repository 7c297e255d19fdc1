"""Does the doctor cry wolf, and does it miss anything? Clean and planted data of the tests, over many seeds.

    python benchmarks/doctor.py [--csv benchmarks/results/doctor.csv]

Rows "clean": data sets in which anything was found. Rows "planted": data sets in which the planted fault was found.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from rows import arguments, show

import softcondorcet as sc

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from helpers.planted import CLEAN, FAULTS

CLEAN_SEEDS, PLANTED_SEEDS = range(1000, 1250), range(1000, 1020)


def names_of(profile: sc.Profile) -> set[str]:
    return {finding.name for finding in sc.inspect(profile).findings}


def main() -> None:
    options = arguments(__doc__).parse_args()
    rows: list[dict[str, Any]] = []
    for kind, make in CLEAN.items():
        alarms = [names_of(make(seed)) for seed in CLEAN_SEEDS]
        found = sum(bool(names) for names in alarms)
        what = " ".join(sorted(set().union(*alarms)))
        rows.append({"data": "clean", "kind": kind, "sets": len(alarms), "found": found, "what": what})
    for kind, (name, plant) in FAULTS.items():
        hits = sum(name in names_of(plant(seed, True)) for seed in PLANTED_SEEDS)
        rows.append({"data": "planted", "kind": kind, "sets": len(PLANTED_SEEDS), "found": hits, "what": name})
    show(rows, options.csv)


if __name__ == "__main__":
    main()
