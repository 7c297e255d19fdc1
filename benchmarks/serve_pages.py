"""How large is the page of a board with 500 agents, and how long does a visitor wait for it?

    python benchmarks/serve_pages.py [--seconds 30] [--csv benchmarks/results/serve_pages.csv]

`sco serve` on a new file, and this process as its clients, an open loop as in serve_load.py: pages are due at a steady
rate, and each is timed from when it was due to its last byte. Pages are asked for packed, by kept connections. Parts:
the leaderboard while nothing changes; pages of agents, each another one; and the leaderboard while 20 votes a second
come in, so that it is made anew again and again, beside fits where one is due. Exits with 1 if a target is missed; the
targets are for two idle cores, --floor multiplies the waits by five for a machine that does other work.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from typing import Any
from urllib.request import Request, urlopen

from rows import arguments, show
from serve_load import Connection, Pool, Watched, offer, quantile, wait_until_ready

AGENTS, VOTES, RATE = 500, 1000, 200
KILOBYTES, P99 = 300, 100.0
NAMES = [f"company-{k % 23}/model-{k:03d}-instruct" for k in range(AGENTS)]


class Reader(Connection):
    """Pages end where their length says."""

    def send(self, request: bytes, due: float) -> None:
        self.needed = 0
        super().send(request, due)

    def data_received(self, data: bytes) -> None:
        self.said += data
        if not self.needed and (end := self.said.find(b"\r\n\r\n")) >= 0:
            length = re.search(rb"(?i)content-length: (\d+)", self.said[:end])
            self.needed = end + 4 + int(length[1] if length else 0)
        if self.needed and len(self.said) >= self.needed:
            self.pool.answered(self, int(self.said[9:12]))


class Readers(Pool):
    """Connections of visitors."""

    async def grow(self, to: int) -> None:
        while self.open < to:
            self.open += 1
            await asyncio.get_running_loop().create_connection(lambda: Reader(self), "127.0.0.1", self.port)


def ranking(rng: random.Random) -> dict[str, Any]:
    """A noisy vote on 12 agents, most of them good: all of the best have met."""
    drawn = {int(AGENTS * rng.random() ** 2) for _ in range(12)} | {0, 1}
    order = sorted(drawn, key=lambda k: k + rng.gauss(0, AGENTS / 5))
    return {"ranking": [NAMES[k] for k in order], "voter": f"voter-{rng.randrange(300)}", "group": f"g{len(order)}"}


def ask(port: int, path: str, body: Any = None) -> bytes:
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(f"http://127.0.0.1:{port}{path}", data, {"Accept-Encoding": "gzip"}), timeout=120) as answer:
        found: bytes = answer.read()
    return found


def page(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n".encode()


def vote(rng: random.Random) -> bytes:
    body = json.dumps(ranking(rng)).encode()
    return b"POST /votes HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


async def measure(port: int, server: Watched, seconds: float) -> list[dict[str, Any]]:
    rng = random.Random(1)
    agents = [page(f"/agent?name={name}") for name in rng.sample(NAMES, AGENTS)]
    cases = [
        ("leaderboard", RATE, [page("/")], 0),
        ("pages of agents", 20, agents, 0),
        ("leaderboard, 20 votes/s", RATE, [page("/")], 20),
    ]
    rows = []
    await settled(port)
    for case, rate, requests, votes in cases:
        readers, writers = Readers(port), Pool(port)  # the server hangs up on those who are silent for some seconds
        await readers.grow(32)
        await writers.grow(8)
        cpu, began = server.cpu(), time.monotonic()
        pages = offer(readers, rate, seconds, requests)
        answers, *_ = await asyncio.gather(pages, offer(writers, votes, seconds, [vote(rng) for _ in range(500)]))
        good = [wait for _, wait, status in answers if status == 200]
        rows.append(
            {
                "case": case,
                "seconds": round(time.monotonic() - began, 1),
                "asked": len(answers),
                "answered": len(good),
                "p50_ms": round(quantile(good, 0.5), 1),
                "p99_ms": round(quantile(good, 0.99), 1),
                "worst_ms": round(1000 * max(good, default=float("nan")), 1),
                "server_cpu_us": round((server.cpu() - cpu) / max(len(good), 1) * 1e6),
                "memory_mb": round(server.memory()),
            }
        )
    return rows


async def settled(port: int) -> None:
    """Wait until the last fit has seen all votes, and nothing is under way."""
    while True:
        seen = json.loads(await asyncio.to_thread(ask, port, "/leaderboard.json"))
        if seen["fit"] and seen["fit"]["behind"] == 0:
            break
        await asyncio.sleep(0.2)
    await asyncio.to_thread(ask, port, "/")


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--seconds", type=float, default=30.0, help="of each part")
    parser.add_argument("--floor", action="store_true", help="the targets for a machine that does other work")
    options = parser.parse_args()
    limit = P99 * (5 if options.floor else 1)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "softcondorcet", "serve", f"{folder}/board.db", "--port", "0"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            found = re.search(r":(\d+)/ ", server.stdout.readline() + server.stdout.readline())
            assert found is not None
            port = int(found[1])
            wait_until_ready(port)
            rng = random.Random(0)
            ask(port, "/votes", [ranking(rng) for _ in range(VOTES)])  # at once, so that the first fit sees them all
            rows = asyncio.run(measure(port, Watched(server.pid), options.seconds))
            packed = ask(port, "/")
        finally:
            server.terminate()
            server.wait(60)
    html = gzip.decompress(packed).decode()
    size = len(packed) / 1000
    rows = [{**row, "page_kb": round(size, 1)} for row in rows]
    show(rows, options.csv)
    parts = html.count('<tr role="row">') - 1, html.count('href="pair?'), len(html) / 1000
    print("{} agents, {} links to pairs, {:.0f} KB before packing".format(*parts))
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    reached = {
        f"page under {KILOBYTES} KB": size < KILOBYTES,
        "every page answered": all(row["asked"] == row["answered"] for row in rows),
        **{f"{row['case']}: p99 under {limit:.0f} ms": row["p99_ms"] < limit for row in (rows[0], rows[2])},
    }
    short = [what for what, good in reached.items() if not good]
    print("missed: " + "; ".join(short) if short else "all targets reached")
    return int(bool(short))


if __name__ == "__main__":
    sys.exit(main())
