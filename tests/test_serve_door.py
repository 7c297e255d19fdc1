"""What a server does before all of it is loaded, and what a refusal is made of."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Message

from softcondorcet.serve.door import Door
from softcondorcet.serve.guard import HEADERS
from softcondorcet.serve.service import Service

# A server that is told to load nothing beyond what it has when it starts, and then asked for a vote.
EARLY = """
import asyncio, sys
from softcondorcet.serve.door import Door
from softcondorcet.serve.run import run
from softcondorcet.serve.service import Service
heavy = {"numba", "fastapi", "pydantic", "prometheus_client", "jinja2", "scipy", "pandas", "softcondorcet.pairs"}
service, sent = Service(sys.argv[1]), []
async def receive():
    return {"type": "http.request", "body": b'{"a": "x", "b": "y", "winner": "a"}', "more_body": False}
async def send(message):
    sent.append(message.get("status"))
async def main():
    door = Door(service)
    await service.start()
    scope = {"type": "http", "headers": [], "client": None, "query_string": b""}
    await door({**scope, "method": "POST", "path": "/votes"}, receive, send)
    await door({**scope, "method": "GET", "path": "/readyz"}, receive, send)
    print(sent, sorted(heavy & set(sys.modules)))
    await service.stop()
asyncio.run(main())
"""


def test_a_vote_is_taken_before_frameworks_and_kernels_are_loaded(tmp_path: Path) -> None:
    command = [sys.executable, "-c", EARLY, str(tmp_path / "board.db")]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert found.stdout.strip() == "[201, None, 200, None] []"


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Door]:
    service = Service(str(tmp_path / "board.db"))
    yield Door(service)
    service.database.close()


async def ask(door: Door, method: str, path: str) -> tuple[int, dict[bytes, bytes], bytes]:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"{}", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    scope: dict[str, Any] = {
        "type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": b"",
        "root_path": "", "headers": [(b"host", b"localhost")], "client": None, "server": None, "scheme": "http",
    }  # fmt: skip
    await door(scope, receive, send)
    return sent[0]["status"], dict(sent[0]["headers"]), b"".join(message.get("body", b"") for message in sent)


def test_who_is_turned_away_reaches_nothing_but_is_counted_and_told_all(door: Door) -> None:
    async def run() -> bytes:
        door._way.most = 0
        for path in ("/votes", "/boards/two/votes", "/import"):
            status, headers, body = await ask(door, "POST", path)
            assert (status, headers[b"retry-after"]) == (503, b"1") and body.startswith(b'{"detail":')
            assert headers.items() >= dict(HEADERS).items()
        assert door._made is None  # the framework was not even loaded
        return (await ask(door, "GET", "/metrics"))[2]

    assert b'sco_requests_total{status="503"} 3.0' in asyncio.run(run())
