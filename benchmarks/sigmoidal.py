"""Is the global minimum of the sigmoid loss found and proven, and how fast? On PrefLib and on synthetic votes.

    python benchmarks/sigmoidal.py preflib-paper.zip [--sample N] [--csv benchmarks/results/sigmoidal.csv]

Every PrefLib instance with 2 to 20 agents, and random, Mallows and cyclic votes, in the paper's box; and such votes in
boxes of few temperatures. `gap` is (loss - bound) / loss, where the loss is at least 1e-6 / tol of the sum of all
margins (the floor of the proof); `kemeny` counts orders that contradict as little as any. Exits with 1 if an instance
is not proven within 60 seconds, the median exceeds 0.1 s up to 15 agents of PrefLib, a loss is above that of ``sco``, a
bound above its loss, a rating outside the box, or a Condorcet winner not first and alone.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
import warnings
import zipfile
from multiprocessing import get_context
from typing import Any

import numpy as np
from rows import arguments, show

import softcondorcet as sc

NARROW = (5, 10, 20)
# Name of the group, agents from and to, tol.
PREFLIB = [("preflib", 2, 10, 1e-3), ("preflib", 2, 10, 1e-5), ("preflib", 11, 15, 1e-3), ("preflib", 16, 20, 1e-3)]
SIZES, EACH, VOTES = range(3, 26), 10, (11, 25, 51, 101, 501)

_archive: zipfile.ZipFile
Task = tuple[str, str, int, int, float, float]  # group, kind or member, agents, seed, width in temperatures, tol


def open_archive(path: str) -> None:
    """Once per worker; and compile everything, so that no instance pays for it."""
    global _archive
    _archive = zipfile.ZipFile(path)
    sc.sigmoidal_program(sc.synthetic.mallows(7, agents=7, phi=1.0, seed=5), temperature=12.0)


def votes_of(kind: str, agents: int, seed: int) -> sc.Profile:
    """Pure noise, noisy copies of an order, or a planted cycle on top of such votes."""
    votes, drawn = VOTES[seed % len(VOTES)], 1000 * agents + seed
    if kind == "cyclic":
        return sc.synthetic.planted_cycle(votes, agents=agents, cycle=min(agents, 3 + seed % 5), phi=0.9, seed=drawn)
    phi = 1.0 if kind == "random" else (0.6, 0.8, 0.9, 0.95)[seed % 4]
    return sc.synthetic.mallows(votes, agents=agents, phi=phi, seed=drawn)


def solve(task: Task) -> dict[str, object]:
    group, kind, agents, seed, width, tol = task
    profile = sc.read(_archive.open(kind)) if group == "preflib" else votes_of(kind, agents, seed)
    pairs = profile.pairs()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sc.NotConverged)
        began = time.process_time()
        board = sc.sigmoidal_program(pairs, temperature=100 / width, tol=tol)
        spent = time.process_time() - began
        descended = sc.sco(pairs, temperature=100 / width, scale="box")
    assert board.loss is not None and board.loss_bound is not None and board.error is not None
    assert board.order_certified is not None and descended.loss is not None
    winner, total = sc.condorcet_winner(pairs), float(np.abs(pairs.margin).sum())
    scale = max(board.loss, 1e-6 * total / tol)
    alone = winner is not None and board.order[0] == winner and int((board.ranks == 1).sum()) == 1
    sound = board.loss_bound <= board.loss and board.values.min() >= 0 and board.values.max() <= 100
    return {
        "task": task, "agents": profile.n_agents, "status": board.status, "nodes": board.steps, "cpu": spent,
        "gap": board.error / scale if scale else 0.0, "winner": winner is not None, "first": alone,
        "kemeny": board.gap == 0, "sound": sound, "below_sco": board.loss <= descended.loss * (1 + 1e-12),
        "certified": int(board.order_certified.sum()) / max(profile.n_agents * (profile.n_agents - 1) / 2, 1),
    }  # fmt: skip


def summary(name: str, width: float, tol: float, rows: list[dict[str, Any]]) -> dict[str, object]:
    cpu, nodes = [row["cpu"] for row in rows], [row["nodes"] for row in rows]
    proven = [row for row in rows if not row["status"].endswith("limit")]
    winners = [row for row in rows if row["winner"]]
    return {
        "group": name, "width": width, "tol": tol, "instances": len(rows), "proven": len(proven),
        "without_search": sum(row["nodes"] == 0 for row in rows), "nodes_median": int(statistics.median(nodes)),
        "nodes_max": max(nodes), "cpu_median": round(statistics.median(cpu), 4), "cpu_max": round(max(cpu), 3),
        "gap_max": f"{max(row['gap'] for row in rows):.1e}", "winners": len(winners),
        "winner_first": sum(row["first"] for row in winners), "kemeny": sum(row["kemeny"] for row in rows),
        "pairs_certified": round(statistics.mean(row["certified"] for row in rows), 3),
        "above_sco": sum(not row["below_sco"] for row in rows), "unsound": sum(not row["sound"] for row in rows),
    }  # fmt: skip


def tasks_of(archive: str, sample: int | None) -> list[tuple[str, float, float, list[Task]]]:
    """Groups: name, width, tol, tasks. The file says how many agents it has, in its head."""
    by_size: dict[int, list[str]] = {}
    with zipfile.ZipFile(archive) as file:
        for member in file.namelist():
            if member.endswith((".soc", ".soi")):
                head = file.open(member).read(4000).decode("utf-8", "replace")
                by_size.setdefault(int(head.partition("# NUMBER ALTERNATIVES:")[2].split()[0]), []).append(member)
    groups: list[tuple[str, float, float, list[Task]]] = []
    for name, low, high, tol in PREFLIB:
        members = [member for m in range(low, high + 1) for member in by_size.get(m, [])]
        members = random.Random(0).sample(members, min(sample or len(members), len(members)))
        groups.append((f"{name} {low}-{high}", 100, tol, [("preflib", name, 0, 0, 100.0, tol) for name in members]))
    each = 1 if sample else EACH
    for kind in ("random", "mallows", "cyclic"):
        for low, high in ((3, 9), (10, 15), (16, 20), (21, 25)):
            chosen = [m for m in SIZES if low <= m <= high]
            tasks = [("synthetic", kind, m, s, 100.0, 1e-3) for m in chosen for s in range(each)]
            groups.append((f"{kind} {low}-{high}", 100, 1e-3, tasks))
    for width in NARROW:
        for kind in ("random", "mallows", "cyclic"):
            tasks = [("narrow", kind, m, s, float(width), 1e-3) for m in range(3, 11) for s in range(each)]
            groups.append((f"{kind} 3-10", width, 1e-3, tasks))
    return groups


def missed(table: list[dict[str, Any]], rows: list[dict[str, Any]]) -> list[str]:
    """Targets that were missed, in words."""
    words = []
    for row in table:
        name = f"{row['group']} in {row['width']} temperatures, tol {row['tol']:g}"
        if row["proven"] < row["instances"]:
            words.append(f"{name}: {row['instances'] - row['proven']} not proven")
        if row["winner_first"] < row["winners"]:
            words.append(f"{name}: a Condorcet winner is not first")
        words += [f"{name}: {row[key]} {key}" for key in ("above_sco", "unsound") if row[key]]
    small = [row["cpu"] for row in rows if row["task"][0] == "preflib" and row["agents"] <= 15]
    if statistics.median(small) > 0.1:
        words.append(f"preflib up to 15 agents: median {statistics.median(small):.3f} s")
    return words


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("archive")
    parser.add_argument("--sample", type=int, help="only so many PrefLib instances per group, and a tenth of the rest")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    began, table, rows = time.monotonic(), [], []
    with get_context("spawn").Pool(options.workers, open_archive, (options.archive,)) as pool:
        for name, width, tol, tasks in tasks_of(options.archive, options.sample):
            found = list(pool.imap_unordered(solve, tasks, chunksize=2))
            rows += found
            table.append(summary(name, width, tol, found))
            if sys.stderr.isatty():
                print(f"\r{name} in {width}: {time.monotonic() - began:.0f} s", end="", file=sys.stderr)
    show(table, options.csv)
    words = missed(table, rows)
    print(f"{len(rows)} problems in {time.monotonic() - began:.0f} s on {options.workers} processes; missed: {words}")
    return 1 if words else 0


if __name__ == "__main__":
    sys.exit(main())
