"""A server that is killed again and again while many write to it: is a vote that was acknowledged ever lost or doubled?

    python tests/killing.py --kills 200

The command starts `sco serve` anew after each kill, as an administrator would. Tests start servers from a nursery, so
that twenty kills take seconds, and can let them run with a planted fault.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import shutil
import sqlite3
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Protocol

from helpers.nursery import free_port
from helpers.serving import serving

WRITERS = 16
READY = 2.0  # seconds that a killed server may take to be ready again


class Running(Protocol):
    """A server that can be killed."""

    ready_after: float

    def kill(self) -> object: ...


Start = Callable[[str, int], AbstractContextManager[Running]]


@dataclass
class Writers:
    """Threads that send votes, each with a key of its own, and send each again until it is acknowledged."""

    port: int
    acknowledged: dict[str, int] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    tries: int = 0

    def __post_init__(self) -> None:
        self._stop, self.up = threading.Event(), threading.Event()
        self._end = math.inf
        self._threads = [threading.Thread(target=self._write, args=(k,)) for k in range(WRITERS)]

    def __enter__(self) -> Writers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def wait_for(self, more: int) -> None:
        """Until so many more votes are acknowledged."""
        enough, late = len(self.acknowledged) + more, time.monotonic() + 30
        while len(self.acknowledged) < enough and time.monotonic() < late:
            time.sleep(0.002)

    def stop(self) -> None:
        """Let each finish the vote it is at, where a server answers soon."""
        self._end = time.monotonic() + 30
        self._stop.set()
        self.up.set()
        for thread in self._threads:
            thread.join()

    def _write(self, k: int) -> None:
        count, connection = 0, HTTPConnection("127.0.0.1", self.port, timeout=30)
        while not self._stop.is_set():
            key, count = f"{k}-{count}", count + 1
            body = json.dumps({"a": f"m{k}", "b": f"m{count % WRITERS + WRITERS}", "winner": "a", "voter": key})
            while (found := self._send(connection, key, body)) is None:
                connection.close()
                if time.monotonic() > self._end:
                    return
                self.up.wait()
            self.acknowledged[key] = found
        connection.close()

    def _send(self, connection: HTTPConnection, key: str, body: str) -> int | None:
        """The number that the vote got; None if it is not known whether it was written."""
        self.tries += 1
        try:
            connection.request("POST", "/votes", body, {"Idempotency-Key": key, "Content-Type": "application/json"})
            answer = connection.getresponse()
            said = answer.read()
        except (OSError, HTTPException):
            return None
        if answer.status == 201:
            return int(json.loads(said)["id"])
        if answer.status not in (429, 503):
            self.refused.append(f"{answer.status} {said[:200]!r}")
        return None


@dataclass
class Outcome:
    """What a run found. All lists should be empty."""

    acknowledged: int
    tries: int
    lost: list[str]
    doubled: list[str]
    moved: list[str]
    refused: list[str]
    damaged: list[str]
    ready_after: list[float]

    @property
    def faults(self) -> dict[str, list[str]]:
        found = {name: getattr(self, name) for name in ("lost", "doubled", "moved", "refused", "damaged")}
        return {name: what for name, what in found.items() if what}


def run(folder: str, start: Start, *, kills: int, seed: int, longest: float = 0.1) -> Outcome:
    """Kill a server that many write to so often, each time at a random moment after it took some votes."""
    path, port, rng = f"{folder}/board.db", free_port(), random.Random(seed)
    damaged, ready_after = [], []
    with Writers(port) as writers:
        for _ in range(kills):
            with start(path, port) as server:
                ready_after.append(server.ready_after)
                writers.up.set()
                writers.wait_for(rng.randrange(3 * WRITERS))
                time.sleep(rng.uniform(0, longest))
                writers.up.clear()
                server.kill()
            if (found := integrity(path)) != "ok":
                damaged.append(found)
        with start(path, port):
            writers.up.set()
            writers.stop()
    return _judged(path, writers, damaged, ready_after)


def _judged(path: str, writers: Writers, damaged: list[str], ready_after: list[float]) -> Outcome:
    with sqlite3.connect(path) as database:
        rows = database.execute("SELECT voter, id FROM ledger WHERE kind = 'vote'").fetchall()
    database.close()
    times, number = Counter(key for key, _ in rows), dict(rows)
    acknowledged = writers.acknowledged
    return Outcome(
        acknowledged=len(acknowledged),
        tries=writers.tries,
        lost=[key for key in acknowledged if key not in number],
        doubled=[key for key, n in times.items() if n > 1],
        moved=[key for key, row in acknowledged.items() if number.get(key, row) != row],
        refused=writers.refused,
        damaged=damaged,
        ready_after=ready_after,
    )


def integrity(path: str) -> str:
    """What SQLite says of the files as the kill left them: of a copy, so that it is the server that recovers them."""
    with tempfile.TemporaryDirectory() as folder:
        for part in (path, path + "-wal"):
            if os.path.exists(part):
                shutil.copy(part, folder)
        database = sqlite3.connect(Path(folder, Path(path).name))
        try:
            return str(database.execute("PRAGMA integrity_check").fetchone()[0])
        finally:
            database.close()


def by_command(path: str, port: int) -> AbstractContextManager[Running]:
    """`sco serve`, from nothing."""
    return serving(path, "--port", str(port))


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--kills", type=int, default=200)
    asked.add_argument("--seed", type=int, default=0)
    given = asked.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        found = run(folder, by_command, kills=given.kills, seed=given.seed, longest=1.0)
    slow = sorted(found.ready_after)
    print(f"{given.kills} kills in {time.monotonic() - began:.0f} s, {WRITERS} writers, {found.tries:,} requests")
    print(f"{found.acknowledged:,} votes acknowledged; faults: {found.faults or 'none'}")
    print(f"ready again after {slow[len(slow) // 2]:.2f} s (median), {slow[-1]:.2f} s (slowest); at most {READY:.0f}")
    sys.exit(bool(found.faults) or slow[-1] > READY)


if __name__ == "__main__":
    main()
