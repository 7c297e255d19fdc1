"""How many PrefLib instances does exact Kemeny prove, and how close are the bounds elsewhere?

    python benchmarks/kemeny.py preflib-paper.zip [--sample N] [--least M] [--most M] [--limit 10] [--keep FILE]

Every .soc and .soi member of the paper's Table 2, by its groups, with a time limit each. `gap` is (loss - bound) / loss
over the instances that are not proven. Exits with 1 if less than 75 % are proven in all (large ones alone are not asked
to be), if an instance up to 50 agents is not, or if the median gap of those of a group that are not is over 1 % up to
500 agents, or 5 % above. All of it takes 70 minutes on two cores: with --keep each instance is kept in FILE
as it ends, and the same command goes on from there.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
import zipfile
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

from preflib import GROUPS, instances
from rows import arguments, show

import softcondorcet as sc

_archive: zipfile.ZipFile
_limit: float
_sizes: range


def open_archive(path: str, limit: float, sizes: range) -> None:
    global _archive, _limit, _sizes
    _archive, _limit, _sizes = zipfile.ZipFile(path), limit, sizes


def solve(member: str) -> dict[str, Any]:
    """One instance: its size and, if it was asked for, whether its optimum is proven, the gap and seconds."""
    with _archive.open(member) as file:
        profile = sc.read(file)
    row: dict[str, Any] = {"member": member, "limit": _limit, "m": profile.n_agents}
    if profile.n_agents not in _sizes:
        return row
    pairs = profile.pairs()
    began, wall = time.process_time(), time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sc.NotConverged)
        board = sc.kemeny(pairs, time_limit=_limit)
    cpu, wall = time.process_time() - began, time.monotonic() - wall
    return row | {"proven": bool(board.converged), "gap": board.gap, "cpu": cpu, "wall": wall}


def solve_all(members: list[str], archive: str, limit: float, sizes: range, workers: int, keep: Path) -> list[Any]:
    """The rows of all members of these sizes: those kept in an earlier run, and the others, kept as they end."""
    kept = [json.loads(line) for line in keep.read_text().splitlines()] if keep.exists() else []
    found = {row["member"]: row for row in kept if "proven" in row and row["limit"] == limit}
    left = [member for member in members if member not in found]
    with keep.open("a") as file, get_context("spawn").Pool(workers, open_archive, (archive, limit, sizes)) as pool:
        for done, row in enumerate(pool.imap_unordered(solve, left), 1):
            found[row["member"]] = row
            file.write(json.dumps(row) + "\n")
            file.flush()
            if sys.stderr.isatty():
                print(f"\r{done}/{len(left)}", end="", file=sys.stderr)
    return [found[member] for member in members if found[member]["m"] in sizes]


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("archive")
    parser.add_argument("--sample", type=int, help="only this many instances, drawn with seed 0")
    parser.add_argument("--least", type=int, default=2, help="only instances of at least so many agents")
    parser.add_argument("--most", type=int, default=10**9, help="only instances of at most so many agents")
    parser.add_argument("--limit", type=float, default=10.0, help="seconds for an instance")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--keep", type=Path, default=Path(os.devnull), help="keep each instance here, and go on from it"
    )
    options = parser.parse_args()
    members = instances(options.archive, options.sample)
    began = time.monotonic()
    sizes_asked = range(options.least, options.most + 1)
    found = solve_all(members, options.archive, options.limit, sizes_asked, options.workers, options.keep)
    table, missed = [], []
    for low, high, _, _ in GROUPS:
        group = [row for row in found if low <= row["m"] <= high]
        if not group:
            continue
        gaps = [row["gap"] for row in group if not row["proven"]]
        table.append({
            "m_from": low, "m_to": high if high < 10**9 else "", "instances": len(group),
            "proven": round(1 - len(gaps) / len(group), 4),
            "median_gap": f"{median(gaps):.2e}" if gaps else "", "largest_gap": f"{max(gaps):.2e}" if gaps else "",
            "median_cpu_s": round(median(row["cpu"] for row in group), 4),
            "largest_cpu_s": round(max(row["cpu"] for row in group), 2),
            "all_cpu_s": round(sum(row["cpu"] for row in group), 1),
            "largest_wall_s": round(max(row["wall"] for row in group), 2),
        })  # fmt: skip
        if gaps and (high <= 50 or median(gaps) > (0.01 if high <= 500 else 0.05)):
            missed.append(f"{low}-{high}")
    share = sum(row["proven"] for row in found) / len(found)
    if share < 0.75 and options.least <= 50:
        missed.append(f"proven {share:.1%}")
    show(table, options.csv)
    wall = time.monotonic() - began
    print(
        f"{len(found)} instances, {share:.1%} proven, in {wall:.0f} s on {options.workers} processes; missed: {missed}"
    )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
