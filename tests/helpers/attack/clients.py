"""Clients of a server under attack: those who attack, and one who only watches how long answers take."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from helpers.serving import Answer, lowered

PATIENCE = 60.0  # seconds after which a client gives up
EVERY = 0.05  # seconds between requests of the bystander, and between looks at the memory
NO_ANSWER = 0
REQUESTS = ("readyz", "page", "data", "vote")


@dataclass
class Reply(Answer):
    """An answer, and how long it took from the start of the connection to the last byte."""

    seconds: float = 0.0

    @property
    def detail(self) -> str:
        """The sentence of a refusal; the page where it is one."""
        try:
            return str(self.json["detail"])
        except (ValueError, KeyError, TypeError):
            return self.body.decode(errors="replace")


@dataclass(frozen=True)
class Client:
    """Somebody at a board, from a host of their own. The rows that a 201 promises are noted in `kept`."""

    port: int
    kept: set[int]
    board: str = ""
    token: str | None = None
    host: str = "127.0.0.2"

    def ask(
        self,
        path: str,
        body: Any = None,
        *,
        method: str | None = None,
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, Any] | None = None,
    ) -> Reply:
        """One request on a connection of its own; a body that is not bytes goes as JSON in UTF-8."""
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body, ensure_ascii=False).encode()
        sent = {**({"Authorization": f"Bearer {self.token}"} if self.token else {}), **(headers or {})}
        at = (f"/boards/{quote(self.board)}" if self.board else "") + path + (f"?{urlencode(query)}" if query else "")
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE, source_address=(self.host, 0))
        began = time.monotonic()
        try:
            connection.request(method or ("GET" if body is None else "POST"), at, body, sent)
            found = connection.getresponse()
            reply = Reply(found.status, lowered(found.headers), found.read(), time.monotonic() - began)
        finally:
            connection.close()
        self._note(path, reply)
        return reply

    def _note(self, path: str, reply: Reply) -> None:
        if reply.status == 201 and path in ("/votes", "/import"):
            self.kept.update(range(reply.json["id"], reply.json["last"] + 1))

    def battle(self, a: str = "x", b: str = "y", **about: Any) -> Reply:
        """A vote for `a` over `b`."""
        return self.ask("/votes", {"a": a, "b": b, "winner": "a", **about})

    def get(self, path: str, **query: Any) -> Any:
        """The JSON of an answer with status 200."""
        found = self.ask(path, query=query)
        if found.status != 200:
            raise AssertionError(f"GET {path} {query}: {found.status} {found.detail[:200]}")
        return found.json

    def connect(self) -> socket.socket:
        """A connection from this host, for requests that no library would send."""
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE, source_address=(self.host, 0))

    def exchange(self, payload: bytes, seconds: float = 3.0) -> bytes:
        """All that comes back for these bytes until the connection ends, or for so long."""
        found, late = b"", time.monotonic() + seconds
        with self.connect() as connection:
            try:
                connection.sendall(payload)
                while (left := late - time.monotonic()) > 0:
                    connection.settimeout(left)
                    if not (part := connection.recv(65536)):
                        break
                    found += part
            except OSError:  # it waits for more, or was cut
                pass
        return found


@dataclass(frozen=True)
class Seen:
    """One request of the bystander."""

    what: str
    began: float
    seconds: float
    status: int


@dataclass
class Bystander:
    """A thread that asks for health, a page and data, and votes, each time on a new connection."""

    client: Client
    seen: list[Seen] = field(default_factory=list)

    def __enter__(self) -> Bystander:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """After one more round, so that it sees what even a short attack left behind."""
        enough, end = len(self.seen) + len(REQUESTS), time.monotonic() + 10
        while len(self.seen) < enough and time.monotonic() < end:
            time.sleep(EVERY)
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        turn = 0
        while not self._stop.wait(EVERY):
            what = REQUESTS[turn % len(REQUESTS)]
            self._look(what, turn)
            turn += 1

    def _look(self, what: str, turn: int) -> None:
        began, status = time.monotonic(), NO_ANSWER
        try:
            if what == "vote":
                status = self.client.battle(f"m{turn % 5}", f"m{turn % 5 + 5}", voter="bystander").status
            else:
                status = self.client.ask({"readyz": "/readyz", "page": "/", "data": "/leaderboard.json"}[what]).status
        except (OSError, HTTPException):
            pass
        self.seen.append(Seen(what, began, time.monotonic() - began, status))

    @property
    def worst(self) -> float:
        return max((one.seconds for one in self.seen), default=0.0)

    def complaints(self, longest: float, refusals: frozenset[int]) -> list[str]:
        """What this client could not put up with; a vote, and `/readyz`, may be answered with one of the `refusals`."""
        found = []
        slow = [one for one in self.seen if one.seconds >= longest]
        if slow:
            worst = max(slow, key=lambda one: one.seconds)
            found.append(
                f"{len(slow)} of {len(self.seen)} requests of another client took over {longest:g} s: "
                f"{worst.what} {worst.seconds:.1f} s"
            )
        for what in REQUESTS:
            good = {200, 201} | (refusals if what in ("readyz", "vote") else frozenset())
            bad = [one.status for one in self.seen if one.what == what and one.status not in good]
            if bad:
                found.append(f"{len(bad)} times another client's {what} was answered {_words(bad)}")
        return found + self._lies(may_be_late=503 in refusals)

    def _lies(self, may_be_late: bool) -> list[str]:
        """`/readyz` says 200 where the votes before and after it are refused, or 503 where both are kept.

        After trouble it may say 503 a little longer: until fits are made again.
        """
        votes = [one for one in self.seen if one.what == "vote" and one.status != 429]
        too_good = too_bad = 0
        for one in (one for one in self.seen if one.what == "readyz"):
            before = [vote for vote in votes if vote.began < one.began][-1:]
            after = [vote for vote in votes if vote.began > one.began][:1]
            kept = {vote.status == 201 for vote in before + after}
            if not before or not after or len(kept) > 1:
                continue
            too_good += one.status == 200 and kept == {False}
            too_bad += one.status == 503 and kept == {True} and not may_be_late
        found = {"200 between two votes that were not kept": too_good, "503 between two that were": too_bad}
        return [f"/readyz said {words}, {times} times" for words, times in found.items() if times]


def _words(statuses: list[int]) -> str:
    return ", ".join("not at all" if one == NO_ANSWER else str(one) for one in sorted(set(statuses)))


@dataclass
class Memory:
    """A thread that adds up what a process and its descendants hold in memory, and kills them at a ceiling.

    `most` is in bytes.
    """

    pid: int
    ceiling: int
    most: int = 0

    def __enter__(self) -> Memory:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(EVERY):
            held = {pid: resident(pid) for pid in family(self.pid)}
            self.most = max(self.most, sum(held.values()))
            if self.most > self.ceiling:
                for pid in held:
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                return


def family(pid: int) -> list[int]:
    """A process and its descendants."""
    found = [pid]
    for one in found:
        try:
            for children in Path(f"/proc/{one}/task").glob("*/children"):
                found += map(int, children.read_text().split())
        except OSError:  # it has ended
            continue
    return found


def resident(pid: int) -> int:
    """Bytes in memory; 0 for a process that has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return sum(1024 * int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))
