"""What a server has loaded when it takes its first vote, and what it answers to writes that are too many."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.types import ASGIApp, Message

from softcondorcet.server.ledger.service import Service
from softcondorcet.server.web.app import make_app
from softcondorcet.server.web.http import SECURITY_HEADERS

# A server that loads nothing in the background, and is asked for a vote.
EARLY = """
import asyncio, sys
from softcondorcet.server.web.app import make_app
from softcondorcet.server.run import run
from softcondorcet.server.ledger.service import Service
heavy = {"numba", "prometheus_client", "jinja2", "scipy", "pandas", "pyarrow", "softcondorcet.pairs"}
service, sent = Service(sys.argv[1]), []
async def receive():
    return {"type": "http.request", "body": b'{"a": "x", "b": "y", "winner": "a"}', "more_body": False}
async def send(message):
    sent.append(message.get("status"))
async def main():
    app = make_app(service)
    await service.start()
    scope = {"type": "http", "headers": [], "client": None, "query_string": b""}
    await app({**scope, "method": "POST", "path": "/votes"}, receive, send)
    await app({**scope, "method": "GET", "path": "/readyz"}, receive, send)
    print(sent, sorted(heavy & set(sys.modules)))
    await service.stop()
asyncio.run(main())
"""


def test_a_vote_is_taken_before_kernels_and_templates_are_loaded(tmp_path: Path) -> None:
    command = [sys.executable, "-c", EARLY, str(tmp_path / "board.db")]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert found.stdout.strip() == "[201, None, 200, None] []"


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    found = Service(str(tmp_path / "board.db"))
    yield found
    found.database.close()


async def ask(app: ASGIApp, method: str, path: str) -> tuple[int, dict[bytes, bytes], bytes]:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"{}", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    scope: dict[str, Any] = {
        "type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": b"",
        "root_path": "", "headers": [(b"host", b"localhost")], "client": None, "server": None, "scheme": "http",
    }  # fmt: skip
    await app(scope, receive, send)
    return sent[0]["status"], dict(sent[0]["headers"]), b"".join(message.get("body", b"") for message in sent)


def test_who_is_turned_away_is_counted_and_told_when_to_come_back(service: Service) -> None:
    async def run() -> bytes:
        app = make_app(service, most_writes=0)
        for path in ("/votes", "/boards/two/votes", "/import"):
            status, headers, body = await ask(app, "POST", path)
            assert (status, headers[b"retry-after"]) == (503, b"1") and body.startswith(b'{"detail":')
            assert headers.items() >= dict(SECURITY_HEADERS).items()
        return (await ask(app, "GET", "/metrics"))[2]

    assert b'sco_requests_total{status="503"} 3.0' in asyncio.run(run())
