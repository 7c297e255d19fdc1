"""The way in: what is asked of every request, and what is answered before the rest of the service is there.

A server that starts must take votes soon, and the framework behind its other routes takes longer to load than all that
a vote needs. So votes, and whether the server is there, are answered here; the rest is loaded in a thread meanwhile,
and who comes for it early waits. Later too a vote goes past the framework, whose way from a request to the arguments
of a function takes longer than all that the function does. Its routes for the same are there for the documentation,
and for boards that are not known.
"""

from __future__ import annotations

import asyncio
import gc
from collections import Counter

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from softcondorcet import __version__
from softcondorcet.serve.board import Board, warm
from softcondorcet.serve.crowd import Crowd
from softcondorcet.serve.gate import Gate
from softcondorcet.serve.guard import Guard
from softcondorcet.serve.refusals import refusal
from softcondorcet.serve.service import MAIN, Service
from softcondorcet.serve.taking import vote_taker


class Door:
    """The whole service as an ASGI application; the service starts and stops with it."""

    def __init__(self, service: Service, *, local: bool = True) -> None:
        self.service, self.counts = service, Counter[int]()
        self._gate = Gate(service)
        self._take = vote_taker(service, self._gate)
        self._way = Crowd(Guard(self._answer, local=local, counts=self.counts), counts=self.counts)
        self._made: asyncio.Task[ASGIApp] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._way(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._live(receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        await self.service.start()
        loading = asyncio.create_task(self._load())
        await send({"type": "lifespan.startup.complete"})
        await receive()
        loading.cancel()
        await self.service.stop()
        await send({"type": "lifespan.shutdown.complete"})

    async def _load(self) -> None:
        await self._rest()
        await asyncio.to_thread(_warm)

    async def _rest(self) -> ASGIApp:
        """All other routes, once they are there."""

        def make() -> ASGIApp:
            from softcondorcet.serve.app import make_app

            return make_app(self.service, self._gate, self.counts)

        if self._made is None:
            self._made = asyncio.create_task(asyncio.to_thread(make))
        return await asyncio.shield(self._made)  # who leaves does not stop what others wait for

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Votes and health here, all else by the routes of the framework."""
        path: str = scope["path"]
        answer: ASGIApp
        if scope["method"] == "POST" and (board := self._board(path)) is not None:
            request = Request(scope, receive)
            try:
                answer = await self._take(request, board, request.headers.get("idempotency-key"))
            except Exception as error:
                answer = refusal(error)
        elif scope["method"] == "GET" and path in ("/healthz", "/readyz"):
            try:
                answer = health(self.service, ready=path == "/readyz")
            except HTTPException as error:
                answer = refusal(error)
        else:
            answer = await self._rest()
        await answer(scope, receive, send)

    def _board(self, path: str) -> Board | None:
        if path == "/votes":
            return self.service.boards.get(MAIN)
        return self.service.boards.get(path[8:-6]) if path.startswith("/boards/") and path.endswith("/votes") else None


def health(service: Service, *, ready: bool) -> Response:
    """That the process is there; 503 where votes should be taken too and are not."""
    if ready and not service.ready:
        raise HTTPException(503, "the service is stopping" if service.stopping.is_set() else "no database")
    said = {"status": "ok", "version": __version__, "database": service.database.about}
    return Response(msgspec.json.encode(said), media_type="application/json")


def _warm() -> None:
    """Load what the first look at a board, and the first page, would else have to wait for."""
    warm()
    from softcondorcet.serve import render, views  # noqa: F401

    render.statics()
    gc.freeze()  # what is there now stays: looking through it again would hold up votes
