"""Votes that do not fit into memory, from Parquet to a table of ratings: seconds and the most memory used.

    python benchmarks/out_of_core.py [--rows 100000000] [--csv benchmarks/results/out_of_core.csv]

Two problems, made in a temporary folder: battles over 1,000 agents (100 million rows, in files of 5 million), counted
in 2 GB; and rankings of 20 million rows, 48 million raw pairs, over 20,000 agents, counted in 1 GB. Each runs in a
process of its own, whose largest resident set is what `GB` says. Exits with 1 if a target is missed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rows import arguments, show

TARGETS = {"battles": (60.0, 2.0), "rankings": (None, 1.0)}  # seconds, GB
PIECE = 5_000_000
RUN = """
import json, resource, sys, time
import softcondorcet as sc
began, cpu = time.perf_counter(), time.process_time()
pairs = sc.read(sys.argv[1] + "/*.parquet", engine="duckdb", memory=sys.argv[2])
counted = time.perf_counter() - began
table = "" if sys.argv[3] == "count" else sc.sco(pairs).rows()
print(json.dumps({
    "pairs": len(pairs), "comparisons": pairs.total, "count_s": round(counted, 1),
    "all_s": round(time.perf_counter() - began, 1), "cpu_s": round(time.process_time() - cpu, 1),
    "GB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
}))
"""


def battles(folder: Path, rows: int) -> None:
    agents = pa.array([f"model-{k:04d}" for k in range(1000)])
    words = pa.array(["model_a", "model_b", "tie"])
    skill = np.random.default_rng(0).standard_normal(1000)
    for piece, first in enumerate(range(0, rows, PIECE)):
        rng, n = np.random.default_rng([1, piece]), min(PIECE, rows - first)
        a = rng.integers(0, 1000, n)
        b = (a + rng.integers(1, 1000, n)) % 1000
        won = rng.random(n) < 1 / (1 + np.exp(skill[b] - skill[a]))
        outcome = np.where(rng.random(n) < 0.1, 2, np.where(won, 0, 1))
        columns = [
            pa.DictionaryArray.from_arrays(codes.astype(np.int32), names)
            for codes, names in ((a, agents), (b, agents), (outcome, words))
        ]
        pq.write_table(pa.table(columns, names=["model_a", "model_b", "winner"]), folder / f"{piece:03d}.parquet")


def rankings(folder: Path, rows: int) -> None:
    """Contests of 2 to 9 agents: 5.8 in a contest on average of pairs."""
    m = 20_000
    agents = pa.array([f"player-{k:05d}" for k in range(m)])
    contest = 0
    for piece, first in enumerate(range(0, rows, PIECE)):
        rng, n = np.random.default_rng([2, piece]), min(PIECE, rows - first)
        length = rng.integers(2, 10, n // 5)
        length = length[: int(np.searchsorted(np.cumsum(length), n))]
        vote = np.repeat(np.arange(len(length)), length)
        spot = np.arange(len(vote)) - np.repeat(np.cumsum(length) - length, length)
        start = rng.integers(0, m, len(length))
        who = (start[vote] + spot * (1 + start[vote] % 97)) % m
        columns = [
            pa.array(vote + contest),
            pa.array(spot.astype(np.int32)),
            pa.DictionaryArray.from_arrays(who.astype(np.int32), agents),
        ]
        pq.write_table(pa.table(columns, names=["contest_id", "rank", "agent"]), folder / f"{piece:03d}.parquet")
        contest += len(length)


def run(folder: Path, memory: str, until: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(folder), memory, until], stdout=subprocess.PIPE, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--rows", type=int, default=100_000_000)
    options = parser.parse_args()
    found, missed = [], False
    for what, make, rows, memory, until in (
        ("battles", battles, options.rows, "1400MB", "table"),
        ("rankings", rankings, options.rows // 5, "500MB", "count"),
    ):
        with tempfile.TemporaryDirectory(prefix="sco-") as name:
            folder = Path(name)
            make(folder, rows)
            size = sum(file.stat().st_size for file in folder.iterdir()) / 1e9
            found.append(
                {
                    "what": what,
                    "rows": rows,
                    "parquet_GB": round(size, 2),
                    "limit": memory,
                    **run(folder, memory, until),
                }
            )
        seconds, most = TARGETS[what]
        missed |= found[-1]["GB"] > most or (seconds is not None and found[-1]["all_s"] > seconds)
    show(found, options.csv)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
