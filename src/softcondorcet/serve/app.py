"""The service as an ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any

import msgspec
from fastapi import FastAPI, HTTPException, Path, Request, Response
from fastapi.exceptions import RequestValidationError
from prometheus_client import CollectorRegistry, Counter, generate_latest
from prometheus_client.core import GaugeMetricFamily
from starlette.routing import Match

from softcondorcet import __version__
from softcondorcet.serve import shapes
from softcondorcet.serve.admin import admin_routes
from softcondorcet.serve.ballots import BadBallot
from softcondorcet.serve.board import Board
from softcondorcet.serve.crowd import Crowd, ShortCut
from softcondorcet.serve.database import DiskFull, Gone
from softcondorcet.serve.gate import Gate
from softcondorcet.serve.guard import Guard
from softcondorcet.serve.match_routes import match_routes
from softcondorcet.serve.matches import BadSample
from softcondorcet.serve.names import LONGEST, BadName
from softcondorcet.serve.pages import page_routes, site_routes
from softcondorcet.serve.press import Press
from softcondorcet.serve.routes import board_routes, says, vote_taker
from softcondorcet.serve.service import MAIN, Service
from softcondorcet.serve.store import Busy, Refused
from softcondorcet.serve.transfer import transfer_routes


def make_app(service: Service, *, local: bool = True) -> FastAPI:
    """All routes over a service, which starts and stops with the application."""

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        await service.start()
        yield
        await service.stop()

    app = FastAPI(
        title="softcondorcet", version=__version__, lifespan=life, docs_url=None, redoc_url=None,
        description="Votes in, leaderboard out. Times are seconds since 1970. Without /boards it is board main.",
    )  # fmt: skip
    counted = Metrics(service)
    gate = Gate(service)
    app.add_middleware(ShortCut, take=vote_taker(service, gate), boards=service.boards, refuse=_refuser(app))
    app.add_middleware(Crowd)
    app.add_middleware(Guard, local=local, count=counted.request)

    async def main_board() -> Board:
        return service.boards[MAIN]

    async def named_board(board: Annotated[str, Path(min_length=1, max_length=LONGEST)]) -> Board:
        if board not in service.boards:
            raise HTTPException(404, "expected the name of a board")
        return service.boards[board]

    for routes in (board_routes, match_routes, transfer_routes):
        app.include_router(routes(service, gate, main_board))
        app.include_router(routes(service, gate, named_board), prefix="/boards/{board}", responses=says(404, 422))
    app.include_router(admin_routes(service, gate))
    press = Press()
    app.include_router(page_routes(service, press, main_board, root=""))
    app.include_router(
        page_routes(service, press, named_board, root="../../"), prefix="/boards/{board}", responses=says(404, 422)
    )
    app.include_router(site_routes(service))
    _operations(app, service, counted)
    _refusals(app)
    _describe(app)
    return app


def _describe(app: FastAPI) -> None:
    """The description of the API says too where a token is asked for: wherever it may be missing."""
    plain = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            said = plain()
            said["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
            for about in (about for methods in said["paths"].values() for about in methods.values()):
                if "401" in about["responses"]:
                    about.setdefault("security", [{"token": []}])
        return app.openapi_schema or {}

    app.openapi = openapi  # type: ignore[method-assign]


def _refuser(app: FastAPI) -> Callable[[Request, Exception], Awaitable[Response]]:
    """The answers that the application gives to exceptions, for what runs outside of its routes."""

    async def refuse(request: Request, error: Exception) -> Response:
        for kind in type(error).__mro__:
            if kind in app.exception_handlers:
                handle: Any = app.exception_handlers[kind]
                answer: Response = await handle(request, error)
                return answer
        raise error

    return refuse


def _operations(app: FastAPI, service: Service, counted: Metrics) -> None:
    health: dict[int | str, dict[str, Any]] = {200: {"model": shapes.Health}}

    def healthy() -> Response:
        said = {"status": "ok", "version": __version__, "database": service.database.about}
        return Response(msgspec.json.encode(said), media_type="application/json")

    @app.get("/healthz", tags=["operations"], responses=health)
    async def healthz() -> Response:
        """The process is there."""
        return healthy()

    @app.get("/readyz", tags=["operations"], responses={**health, 503: {"model": shapes.Problem}})
    async def readyz() -> Response:
        """Votes are taken."""
        if not service.ready:
            raise HTTPException(503, "the service is stopping" if service.stopping.is_set() else "no database")
        return healthy()

    @app.get("/metrics", tags=["operations"], responses={200: {"content": {"text/plain": {}}}})
    async def metrics() -> Response:
        """For Prometheus."""
        return Response(generate_latest(counted.registry), media_type="text/plain; version=0.0.4")


def _refusals(app: FastAPI) -> None:
    """What went wrong, as a status and a sentence."""

    def answer(status: int, **headers: str) -> Any:
        async def handle(_: Request, error: Exception) -> Response:
            return Response(msgspec.json.encode({"detail": str(error)}), status, headers, "application/json")

        return handle

    async def invalid(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        told = "; ".join(f"{'.'.join(map(str, e['loc'][1:]))}: {e['msg']}" for e in error.errors())
        return Response(msgspec.json.encode({"detail": told}), 422, media_type="application/json")

    async def other_method(request: Request, _: Exception) -> Response:
        # Each route names its own method alone, also where another one at the same path takes another.
        scopes = {method: {**request.scope, "method": method} for method in ("GET", "POST", "DELETE")}
        taken = [m for m, scope in scopes.items() if any(r.matches(scope)[0] is Match.FULL for r in app.router.routes)]
        said = msgspec.json.encode({"detail": f"expected {' or '.join(taken)}"})
        allow = ", ".join([*taken, "HEAD"] if "GET" in taken else taken)
        return Response(said, 405, {"Allow": allow}, "application/json")

    app.add_exception_handler(405, other_method)
    app.add_exception_handler(RequestValidationError, invalid)
    for kind in (
        msgspec.DecodeError,
        msgspec.ValidationError,
        BadBallot,
        BadName,
        BadSample,
        Refused,
        UnicodeDecodeError,
    ):
        app.add_exception_handler(kind, answer(422))
    app.add_exception_handler(Busy, answer(503, **{"Retry-After": "1"}))
    app.add_exception_handler(Gone, answer(503, **{"Retry-After": "1"}))
    app.add_exception_handler(DiskFull, answer(507, **{"Retry-After": "10"}))


class Metrics:
    """Counts of this application alone."""

    def __init__(self, service: Service) -> None:
        self.service, self.registry = service, CollectorRegistry()
        self._requests = Counter("sco_requests", "Answers by status", ["status"], registry=self.registry)
        self.registry.register(self)

    def request(self, status: int) -> None:
        self._requests.labels(str(status)).inc()

    def collect(self) -> list[GaugeMetricFamily]:
        """What can be read off the service when asked."""
        votes = GaugeMetricFamily("sco_votes", "Votes in the ledger", labels=["board"])
        behind = GaugeMetricFamily(
            "sco_rows_behind", "Rows of the board that the last fit has not seen", labels=["board"]
        )
        for board in list(self.service.boards.values()):
            votes.add_metric([board.name], len(board.votes))
            behind.add_metric([board.name], board.behind)
        waiting = GaugeMetricFamily("sco_waiting", "Requests that wait to be written", value=self.service.waiting)
        fits = GaugeMetricFamily("sco_fits", "Fits since the start", value=self.service.fits)
        return [votes, behind, waiting, fits]
