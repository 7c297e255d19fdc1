"""Votes come by the thousand: what is spent on each, and what is done when there are too many."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Requests that write at a time: more would only wait longer, each for all before it.
_AT_ONCE = 256
_LONGEST_KEY = 200


class Crowd:
    """Turns those away who would only wait, at a fraction of the cost of a vote: the others are served in time.

    A request counts from when its body is there, so that bodies which never come keep nobody out.
    """

    def __init__(self, app: ASGIApp, most: int = _AT_ONCE) -> None:
        self.app, self.most, self.inside = app, most, 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        if self.inside >= self.most:
            await _turn_away(send)
            return
        counted = 0

        async def arrive() -> Message:
            nonlocal counted
            message = await receive()
            if not counted and not message.get("more_body", False):
                counted = 1
                self.inside += 1
            return message

        try:
            await self.app(scope, arrive, send)
        finally:
            self.inside -= counted


_FULL = b'{"detail":"too many votes at a time; come back soon"}'


async def _turn_away(send: Send) -> None:
    length = b"%d" % len(_FULL)
    headers = [(b"content-type", b"application/json"), (b"content-length", length), (b"retry-after", b"1")]
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send({"type": "http.response.body", "body": _FULL})


class Direct(APIRoute):
    """The route of votes. Its function is called at once, with its board and its Idempotency-Key.

    FastAPI's way from a request to the arguments of a function takes longer than all that the function does; the
    documentation is still made from its signature.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        (board_of,) = (wanted.call for wanted in self.dependant.dependencies)
        votes: Any = self.endpoint
        assert board_of is not None

        async def handle(request: Request) -> Response:
            board = await board_of(**request.path_params)
            key = request.headers.get("idempotency-key")
            if key is not None and not 1 <= len(key) <= _LONGEST_KEY:
                raise HTTPException(422, f"Idempotency-Key: expected 1 to {_LONGEST_KEY} letters, got {len(key):,}")
            answer: Response = await votes(request, board, key)
            return answer

        return handle
