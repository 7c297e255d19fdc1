"""More votes than can be written: some are turned away at once, the others are served, and all is well afterwards."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from softcondorcet.server.web.http import LoadShedding


class Slow:
    """An application that reads the body, and answers when it is let go."""

    def __init__(self) -> None:
        self.go = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        while (await receive()).get("more_body", False):
            pass
        await self.go.wait()
        await send({"type": "http.response.start", "status": 201, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})


async def ask(app: Any, *parts: asyncio.Event, method: str = "POST") -> tuple[int, dict[bytes, bytes]]:
    """Status and headers; the body comes in as many parts as there are events, each when it happens."""
    waiting = list(parts)
    start: Message = {}

    async def receive() -> Message:
        if waiting:
            await waiting.pop(0).wait()
        return {"type": "http.request", "body": b"x", "more_body": bool(waiting)}

    async def send(message: Message) -> None:
        start.update(message)

    await app({"type": "http", "method": method, "path": "/votes", "headers": []}, receive, send)
    return start["status"], dict(start["headers"])


async def later(times: int = 5) -> None:
    for _ in range(times):
        await asyncio.sleep(0)


def test_those_who_would_only_wait_are_turned_away_until_there_is_room() -> None:
    async def run() -> None:
        slow = Slow()
        valve = LoadShedding(slow, most=2)
        inside = [asyncio.create_task(ask(valve)) for _ in range(2)]
        await later()
        status, headers = await ask(valve)
        assert status == 503 and headers[b"retry-after"] == b"1"
        reading = asyncio.create_task(ask(valve, method="GET"))  # who reads is not counted
        await later()
        slow.go.set()
        assert [status for status, _ in await asyncio.gather(*inside, reading)] == [201, 201, 201]
        assert valve.in_flight == 0 and (await ask(valve))[0] == 201

    asyncio.run(run())


def test_bodies_that_never_come_keep_nobody_out() -> None:
    async def run() -> None:
        slow, never = Slow(), asyncio.Event()
        slow.go.set()
        valve = LoadShedding(slow, most=1)
        stuck = [asyncio.create_task(ask(valve, asyncio.Event(), never)) for _ in range(3)]
        await later()
        assert (await ask(valve))[0] == 201
        for task in stuck:
            task.cancel()
        await asyncio.gather(*stuck, return_exceptions=True)
        assert valve.in_flight == 0

    asyncio.run(run())


@pytest.mark.parametrize("error", [RuntimeError, asyncio.CancelledError])
def test_what_fails_leaves_its_place(error: type[BaseException]) -> None:
    async def fail(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        raise error

    async def run() -> int:
        valve = LoadShedding(fail, most=1)
        with pytest.raises(error):
            await ask(valve)
        return valve.in_flight

    assert asyncio.run(run()) == 0
