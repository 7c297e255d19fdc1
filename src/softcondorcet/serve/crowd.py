"""Votes come by the thousand: what is spent on each, and what is done when there are too many."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from fastapi import Request, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from softcondorcet.serve.board import Board
from softcondorcet.serve.service import MAIN

# Requests that write at a time: more would only wait longer, each for all before it.
_AT_ONCE = 256


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


Take = Callable[[Request, Board, str | None], Awaitable[Response]]


class ShortCut:
    """Votes go to the function that takes them, past the router.

    A framework's way from a request to the arguments of a function takes longer than all that the function does. The
    route is still there: for the documentation, and for boards that are not known.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        take: Take,
        boards: Mapping[str, Board],
        refuse: Callable[[Request, Exception], Awaitable[Response]],
    ) -> None:
        self.app, self.take, self.boards, self.refuse = app, take, boards, refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        board = self._board(scope) if scope["type"] == "http" and scope["method"] == "POST" else None
        if board is None:
            await self.app(scope, receive, send)
            return
        request = Request(scope, receive)
        try:
            answer = await self.take(request, board, request.headers.get("idempotency-key"))
        except Exception as error:
            answer = await self.refuse(request, error)
        await answer(scope, receive, send)

    def _board(self, scope: Scope) -> Board | None:
        path: str = scope["path"]
        if path == "/votes":
            return self.boards.get(MAIN)
        return self.boards.get(path[8:-6]) if path.startswith("/boards/") and path.endswith("/votes") else None
