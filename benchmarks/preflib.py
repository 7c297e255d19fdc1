"""Does the default put the Condorcet winner first, on every PrefLib instance of the paper's Table 2, and how fast?

    python benchmarks/preflib.py preflib-paper.zip [--sample N] [--csv benchmarks/results/preflib.csv]

Reads every .soc and .soi member with at least two agents, fits ``sc.sco`` with its defaults, and compares with the
strong Condorcet winner where there is one. Groups are those of the paper; its shares are for SGD on the sigmoid loss,
mean of three seeds. Exits with 1 if a winner is not first.
"""

from __future__ import annotations

import random
import sys
import time
import warnings
import zipfile
from multiprocessing import get_context

from rows import arguments, show

import softcondorcet as sc

# m from, m to, instances, share of Condorcet winners first: the paper's Table 2.
GROUPS = [
    *((m, m, size, share) for m, size, share in (
        (2, 11, 1.00), (3, 115, 1.00), (4, 162, 1.00), (5, 135, 1.00), (6, 109, 0.99), (7, 92, 0.97), (8, 73, 0.96),
        (9, 88, 0.94), (10, 80, 0.97))),
    (11, 20, 1721, 0.99), (21, 50, 1465, 0.98), (51, 100, 567, 0.92), (101, 200, 2989, 0.99), (201, 500, 4540, 0.98),
    (501, 10**9, 533, 0.56),
]  # fmt: skip


_archive: zipfile.ZipFile


def open_archive(path: str) -> None:
    """Once per worker: the index of 12,693 members takes longer to read than most members."""
    global _archive
    _archive = zipfile.ZipFile(path)


def fit(member: str) -> tuple[int, int, bool, bool, float, float, bool | None, str]:
    """m, n, has a winner, winner is first, seconds to read, seconds to fit, converged, name of one instance."""
    began = time.process_time()
    with _archive.open(member) as file:
        profile = sc.read(file)
    read = time.process_time()
    if profile.n_agents < 2:
        return profile.n_agents, 0, False, False, 0.0, 0.0, True, member
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sc.NotConverged)
        board = sc.sco(profile)
    fitted = time.process_time()
    winner = sc.condorcet_winner(profile)
    first = winner is not None and board.order[0] == winner and int((board.ranks == 1).sum()) == 1
    votes = int(profile.weight.sum())
    return profile.n_agents, votes, winner is not None, first, read - began, fitted - read, board.converged, member


def instances(path: str, sample: int | None = None) -> list[str]:
    """Names of the instances in the archive, or of so many drawn with seed 0, the long ones first.

    So no worker is left with a long one at the end.
    """
    with zipfile.ZipFile(path) as archive:
        sizes = {one.filename: one.file_size for one in archive.infolist() if one.filename.endswith((".soc", ".soi"))}
    members = random.Random(0).sample(sorted(sizes), sample) if sample else list(sizes)
    return sorted(members, key=lambda name: -sizes[name])


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("archive")
    parser.add_argument("--sample", type=int, help="only this many instances, drawn with seed 0")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    members = instances(options.archive, options.sample)
    began = time.monotonic()
    rows = []
    with get_context("spawn").Pool(options.workers, open_archive, (options.archive,)) as pool:
        for done, row in enumerate(pool.imap_unordered(fit, members, chunksize=4), 1):
            rows.append(row)
            if sys.stderr.isatty():
                print(f"\r{done}/{len(members)}", end="", file=sys.stderr)
    wall = time.monotonic() - began
    table, missed = [], [row for row in rows if row[2] and not row[3]]
    for low, high, size, share in GROUPS:
        group = [row for row in rows if low <= row[0] <= high]
        winners = [row for row in group if row[2]]
        table.append({
            "m_from": low, "m_to": high if high < 10**9 else "", "instances": len(group), "paper_instances": size,
            "with_winner": len(winners),
            "winner_first": round(sum(row[3] for row in winners) / len(winners), 4) if winners else "",
            "paper_winner_first": share,
            "converged": round(sum(bool(row[6]) for row in group) / len(group), 4) if group else "",
            "read_cpu_s": round(sum(row[4] for row in group), 1), "fit_cpu_s": round(sum(row[5] for row in group), 1),
        })  # fmt: skip
    show(table, options.csv)
    print(f"{len(rows)} instances in {wall:.0f} s on {options.workers} processes; missed: {[row[7] for row in missed]}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
