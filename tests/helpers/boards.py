"""A real server with an admin's token, and boards on it that a test has to itself."""

from __future__ import annotations

import json
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from typing import Any
from urllib.parse import urlencode

from helpers.serving import Answer, Server, serving
from softcondorcet.server.ledger import tokens
from softcondorcet.server.ledger.database import open_database
from softcondorcet.server.ledger.writer import Transaction

# `sco serve` as it is, but only boards main and fitted are fitted: a fit is some seconds of processor.
CALM = """
import sys
from dataclasses import fields
from softcondorcet.cli.serve import serve
from softcondorcet.server.ledger.service import Settings
from softcondorcet.server.run import run
given = serve.make_context("serve", sys.argv[1:]).params
chosen = {field.name: given[field.name] for field in fields(Settings) if field.name in given}
run(given["address"], Settings(**chosen, fitted=frozenset({"main", "fitted"})), given["host"], given["port"])
"""
_number = count(1)


@dataclass(frozen=True)
class Caller:
    """Somebody with a token, or without, at a board; `path` begins with its address."""

    server: Server
    board: str = "main"
    token: str | None = None

    def ask(
        self,
        path: str,
        body: Any = None,
        *,
        method: str | None = None,
        headers: Mapping[str, str] | None = None,
        **query: Any,
    ) -> Answer:
        """One request about the board."""
        sent = {**({"Authorization": f"Bearer {self.token}"} if self.token else {}), **(headers or {})}
        at = f"/boards/{self.board}{path}" + (f"?{urlencode(query)}" if query else "")
        return self.server.ask(at, body, method=method, headers=sent)

    def get(self, path: str, **query: Any) -> Any:
        """The JSON of an answer with status 200."""
        found = self.ask(path, **query)
        assert found.status == 200, (path, query, found)
        return found.json

    def post(self, path: str, body: Any = b"", *, headers: Mapping[str, str] | None = None, **query: Any) -> Answer:
        return self.ask(path, body, method="POST", headers=headers, **query)

    def vote(self, *votes: Any) -> int:
        """The number of the last of these votes in the ledger."""
        found = self.post("/votes", list(votes))
        assert found.status == 201, found
        return int(found.json["last"])

    def counts(self, a: str, b: str) -> tuple[float, float, float]:
        found = self.get("/pair.json", a=a, b=b)
        return found["wins"], found["losses"], found["ties"]


@dataclass(frozen=True)
class Site:
    """A server and the secret of its admin."""

    server: Server
    address: str
    secret: str

    def admin(self, board: str = "main") -> Caller:
        return Caller(self.server, board, self.secret)

    def new_board(self) -> Caller:
        """An admin at a board that is empty."""
        name = f"board-{next(_number)}"
        made = self.ask("/boards", {"name": name})
        assert made.status == 201, made
        return self.admin(name)

    def new_token(self, scope: str, board: str | None = None) -> tuple[int, str]:
        """The number and the secret of a new token."""
        made = self.ask(f"/tokens?board={board}" if board else "/tokens", {"scope": scope, "label": "a test"})
        assert made.status == 201, made
        return made.json["id"], made.json["token"]

    def ask(self, path: str, body: Any = None, *, method: str | None = None) -> Answer:
        """One request of the admin, about no board."""
        return self.server.ask(path, body, method=method, headers={"Authorization": f"Bearer {self.secret}"})


def admin_token(address: str) -> str:
    """The secret of a new token for everything, made before the server starts."""
    database = open_database(address)
    try:
        with database.transaction():
            return tokens.add(Transaction(database, 1, {}), None, "admin", "tests")[1]
    finally:
        database.close()


@contextmanager
def site(address: str, *options: str) -> Iterator[Site]:
    """A server with an admin."""
    secret = admin_token(address)
    with serving(address, *options, command=(sys.executable, "-c", CALM)) as server:
        yield Site(server, address, secret)


def until(found: Callable[[], Any], seconds: float = 180.0) -> Any:
    """What `found` gives as soon as it is something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := found():
            return value
        time.sleep(0.1)
    raise AssertionError(f"nothing within {seconds} seconds")


def raw(server: Server, head: str, *parts: bytes) -> bytes:
    """The status line that a request gets that no client library would send."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(f"POST {head}\r\nHost: localhost\r\n".encode())
        with suppress(OSError):  # it may be refused before all is sent
            for part in parts:
                connection.sendall(part)
        with connection.makefile("rb") as answer:
            return answer.readline()


def lines(body: bytes) -> list[Any]:
    return [json.loads(line) for line in body.splitlines()]
