"""All routes of the service, as the application of a framework."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import FastAPI, HTTPException, Path, Request, Response
from fastapi.exceptions import RequestValidationError
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from starlette.routing import Match

from softcondorcet import __version__
from softcondorcet.serve import shapes
from softcondorcet.serve.admin import admin_routes
from softcondorcet.serve.board import Board
from softcondorcet.serve.door import health
from softcondorcet.serve.gate import Gate
from softcondorcet.serve.integrity_routes import integrity_routes
from softcondorcet.serve.match_routes import match_routes
from softcondorcet.serve.names import LONGEST
from softcondorcet.serve.pages import page_routes, site_routes
from softcondorcet.serve.press import Press
from softcondorcet.serve.refusals import STATUS, refusal, said
from softcondorcet.serve.routes import board_routes, says
from softcondorcet.serve.service import MAIN, Service
from softcondorcet.serve.transfer import transfer_routes
from softcondorcet.serve.vote_page import vote_page_routes


def make_app(service: Service, gate: Gate | None = None, counts: Counter[int] | None = None) -> FastAPI:
    """All routes over a service, without what stands before them (``door``)."""
    app = FastAPI(
        title="softcondorcet", version=__version__, docs_url=None, redoc_url=None,
        description="Votes in, leaderboard out. Times are seconds since 1970. Without /boards it is board main.",
    )  # fmt: skip
    gate = gate or Gate(service)

    async def main_board() -> Board:
        return service.boards[MAIN]

    async def named_board(board: Annotated[str, Path(min_length=1, max_length=LONGEST)]) -> Board:
        if board not in service.boards:
            raise HTTPException(404, "expected the name of a board")
        return service.boards[board]

    for routes in (board_routes, integrity_routes, match_routes, transfer_routes):
        app.include_router(routes(service, gate, main_board))
        app.include_router(routes(service, gate, named_board), prefix="/boards/{board}", responses=says(404, 422))
    app.include_router(admin_routes(service, gate))
    press = Press()
    app.include_router(page_routes(service, press, main_board, root=""))
    app.include_router(
        page_routes(service, press, named_board, root="../../"), prefix="/boards/{board}", responses=says(404, 422)
    )
    app.include_router(vote_page_routes(service, gate, main_board, root=""))
    app.include_router(vote_page_routes(service, gate, named_board, root="../../"), prefix="/boards/{board}")
    app.include_router(site_routes(service))
    _operations(app, service, Counter() if counts is None else counts)
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


def _operations(app: FastAPI, service: Service, counts: Counter[int]) -> None:
    shown: dict[int | str, dict[str, Any]] = {200: {"model": shapes.Health}}

    @app.get("/healthz", tags=["operations"], responses=shown)
    async def healthz() -> Response:
        """The process is there."""
        return health(service, ready=False)

    @app.get("/readyz", tags=["operations"], responses={**shown, 503: {"model": shapes.Problem}})
    async def readyz() -> Response:
        """Votes are taken."""
        return health(service, ready=True)

    registry = CollectorRegistry()
    registry.register(Metrics(service, counts))

    @app.get("/metrics", tags=["operations"], responses={200: {"content": {"text/plain": {}}}})
    async def metrics() -> Response:
        """For Prometheus."""
        return Response(generate_latest(registry), media_type="text/plain; version=0.0.4")


def _refusals(app: FastAPI) -> None:
    """What went wrong, as a status and a sentence."""

    async def refuse(_: Request, error: Exception) -> Response:
        return refusal(error)

    async def broken(_: Request, error: Exception) -> Response:
        raise error  # ``guard`` tells the log first, then answers

    async def invalid(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        told = "; ".join(f"{'.'.join(map(str, e['loc'][1:]))}: {e['msg']}" for e in error.errors())
        return said(422, told)

    async def other_method(request: Request, _: Exception) -> Response:
        # Each route names its own method alone, also where another one at the same path takes another.
        scopes = {method: {**request.scope, "method": method} for method in ("GET", "POST", "DELETE")}
        taken = [m for m, scope in scopes.items() if any(r.matches(scope)[0] is Match.FULL for r in app.router.routes)]
        allow = ", ".join([*taken, "HEAD"] if "GET" in taken else taken)
        return said(405, f"expected {' or '.join(taken)}", {"Allow": allow})

    app.add_exception_handler(405, other_method)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(Exception, broken)
    for kind in STATUS:
        app.add_exception_handler(kind, refuse)


@dataclass(eq=False)
class Metrics:
    """What Prometheus asks for, read off the service when it asks."""

    service: Service
    counts: Counter[int]

    def collect(self) -> list[Metric]:
        requests = CounterMetricFamily("sco_requests", "Answers by status", labels=["status"])
        for status, number in sorted(self.counts.items()):
            requests.add_metric([str(status)], number)
        votes = GaugeMetricFamily("sco_votes", "Votes in the ledger", labels=["board"])
        behind = GaugeMetricFamily(
            "sco_rows_behind", "Rows of the board that the last fit has not seen", labels=["board"]
        )
        for board in list(self.service.boards.values()):
            votes.add_metric([board.name], len(board.votes))
            behind.add_metric([board.name], board.behind)
        waiting = GaugeMetricFamily("sco_waiting", "Requests that wait to be written", value=self.service.waiting)
        fits = GaugeMetricFamily("sco_fits", "Fits since the start", value=self.service.fits)
        return [requests, votes, behind, waiting, fits]
