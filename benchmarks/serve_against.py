"""What does a vote, and a page, cost the server compared with another version of it?

    git worktree add --detach FOLDER COMMIT
    python benchmarks/serve_against.py FOLDER [--rounds 7] [--csv benchmarks/results/serve_against.csv]

`sco serve` of this tree and of FOLDER, in turns, each on a new file and with the same requests at the same steady rate.
Seconds of the processor of the server's process alone: fits run in others, whenever they are due. The ratio of each
round, their median and their spread; above 1.05 this tree is dearer, and the exit status 1.
"""

from __future__ import annotations

import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvloop
from rows import arguments, show
from serve_load import Pool, offer, quantile, requests, wait_until_ready
from serve_pages import VOTES, Readers, ask, page, ranking

MOST = 1.05
RATE = {"votes": 1000, "leaderboard": 200, "health": 1000}
HERE = Path(__file__).resolve().parent.parent


@contextmanager
def server(tree: Path, address: str) -> Iterator[tuple[int, int]]:
    """The process of a server of this tree, and its port."""
    env = {**os.environ, "PYTHONPATH": str(tree / "src")}
    command = [sys.executable, "-m", "softcondorcet", "serve", address, "--port", "0", "--every", "100000"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
    try:
        assert process.stdout is not None
        found = re.search(r":(\d+)/ ", process.stdout.readline() + process.stdout.readline())
        assert found is not None
        wait_until_ready(int(found[1]))
        yield process.pid, int(found[1])
    finally:
        process.terminate()
        process.wait(30)


def cpu(pid: int) -> float:
    """Seconds of the process itself."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, words[11:13])) / os.sysconf("SC_CLK_TCK")


async def cost(pid: int, pool: Pool, rate: int, seconds: float, ready: list[bytes]) -> tuple[float, float]:
    """Microseconds for each good answer, and the 99th percentile of waits in milliseconds."""
    await pool.grow(32)
    await offer(pool, rate / 4, 2, ready)
    before = cpu(pid)
    answers = await offer(pool, rate, seconds, ready)
    good = [wait for _, wait, status in answers if status in (200, 201)]
    assert len(good) == len(answers), {status for *_, status in answers}
    return (cpu(pid) - before) / len(good) * 1e6, quantile(good, 0.99)


def measured(tree: Path, seconds: float) -> dict[str, tuple[float, float]]:
    """What each kind of request costs on this tree."""
    rng, found = random.Random(0), {}
    with tempfile.TemporaryDirectory() as folder, server(tree, f"{folder}/board.db") as (pid, port):
        ask(port, "/votes", [ranking(rng) for _ in range(VOTES)])
        time.sleep(4)  # the first fit
        ask(port, "/")
        kinds: list[tuple[str, Any, list[bytes]]] = [
            ("leaderboard", Readers(port), [page("/")]),
            ("health", Readers(port), [page("/healthz")]),
            ("votes", Pool(port), requests(20_000)),
        ]
        for kind, pool, ready in kinds:
            found[kind] = uvloop.run(cost(pid, pool, RATE[kind], seconds, ready))
    return found


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("tree", type=Path, help="a checkout of the other version")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=8.0, help="of each kind of request in a round")
    options = parser.parse_args()
    rounds = []
    for k in range(options.rounds):  # each goes first every other time
        trees = {"here": HERE, "there": options.tree}
        order = list(trees) if k % 2 else list(trees)[::-1]
        rounds.append({name: measured(trees[name], options.seconds) for name in order})
    rows: list[dict[str, Any]] = []
    for kind in rounds[0]["here"]:
        ratios = sorted(one["here"][kind][0] / one["there"][kind][0] for one in rounds)
        rows.append(
            {
                "kind": kind,
                "rounds": len(rounds),
                "here_us": round(statistics.median(one["here"][kind][0] for one in rounds), 1),
                "there_us": round(statistics.median(one["there"][kind][0] for one in rounds), 1),
                "ratio": round(statistics.median(ratios), 3),
                "least": round(ratios[0], 3),
                "most": round(ratios[-1], 3),
                "here_p99_ms": round(statistics.median(one["here"][kind][1] for one in rounds), 1),
                "there_p99_ms": round(statistics.median(one["there"][kind][1] for one in rounds), 1),
            }
        )
    show(rows, options.csv)
    dear = [row["kind"] for row in rows if row["ratio"] > MOST]
    print(f"dearer than {MOST:g} times: {', '.join(dear)}" if dear else f"all within {MOST:g} times")
    return int(bool(dear))


if __name__ == "__main__":
    sys.exit(main())
