"""The ASGI application: all routes, middleware, health, metrics, start and stop."""

from __future__ import annotations

import asyncio
import gc
import math
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from softcondorcet import __version__
from softcondorcet.server.ledger.board import warm
from softcondorcet.server.ledger.service import Service
from softcondorcet.server.web import (
    admin,
    admin_pages,
    file_routes,
    matches,
    openapi,
    page_cache,
    pages,
    routes as read,
    schemas,
    votes,
)
from softcondorcet.server.web.auth import Auth
from softcondorcet.server.web.http import (
    Call,
    Endpoint,
    HostGuard,
    LoadShedding,
    NoQuery,
    Operation,
    Paths,
    Routes,
    Site,
    json_response,
    not_found,
)
from softcondorcet.server.web.sessions import Sessions

if TYPE_CHECKING:
    from prometheus_client.core import Metric

# Seconds after the start in which nothing is loaded: kernels are loaded in long steps, which votes would wait for.
_QUIET = 0.3

routes = Routes("operations", of_board=False, any_query=True)


@routes.get("/healthz", schemas.Health)
async def healthz(call: Call[NoQuery]) -> Response:
    """Liveness: the process answers."""
    return json_response(health(call.service))


@routes.get("/readyz", schemas.Health, refusals=(503,))
async def readyz(call: Call[NoQuery]) -> Response:
    """Readiness: votes are accepted, or 503 and why not."""
    if trouble := call.service.trouble:
        raise HTTPException(503, trouble, {"Retry-After": "1"})
    return json_response(health(call.service))


def health(service: Service) -> schemas.Health:
    """The state of queue and fits, which /healthz and /readyz answer with."""
    age = None if service.fits.age is None else round(service.fits.age, 3)
    behind = sum(board.behind for board in service.boards.values())
    return schemas.Health("ok", __version__, service.database.about, round(service.queue_age, 3), age, behind)


@routes.get("/metrics", "text/plain")
async def metrics(call: Call[NoQuery]) -> Response:
    """Metrics for Prometheus."""
    from prometheus_client import CollectorRegistry, generate_latest

    registry = CollectorRegistry()
    registry.register(Metrics(call.site))
    return Response(generate_latest(registry), media_type="text/plain; version=0.0.4")


@routes.get("/openapi.json", tag="")
async def description(call: Call[NoQuery]) -> Response:
    return json_response(openapi.document(OPERATIONS))


# Votes first: paths are tried in this order.
OPERATIONS: Sequence[Operation] = [
    *votes.routes,
    *routes,
    *read.routes,
    *admin.routes,
    *matches.routes,
    *file_routes.routes,
    *admin.site_routes,
    *pages.routes,
    *matches.page_routes,
    *admin_pages.routes,
    *pages.site_routes,
]


def make_app(
    service: Service,
    *,
    names: Collection[str] | None = (),
    proxies: Sequence[str] = (),
    most_writes: int | None = None,
    sessions: Sessions | None = None,
) -> ASGIApp:
    """The ASGI application over a service, which starts and stops with it.

    It answers to `names` beside those of this machine, or to any with None. `proxies` are the addresses of those whose
    X-Forwarded-For says where a request comes from. `sessions` know the link of the owner.
    """
    site = Site(service, Auth(service), matches.Matches(service.database), sessions=sessions or Sessions())
    of_board = [one for one in OPERATIONS if one.of_board]
    table = [*_routes(site, OPERATIONS), *_routes(site, of_board, openapi.BOARD, "../../")]
    router = Paths(table, default=not_found, lifespan=partial(_lifespan, site))
    guarded: ASGIApp = HostGuard(router, names=names, statuses=site.statuses)
    if proxies:
        guarded = cast(ASGIApp, ProxyHeadersMiddleware(cast(Any, guarded), trusted_hosts=list(proxies)))
    return LoadShedding(guarded, statuses=site.statuses, **({} if most_writes is None else {"most": most_writes}))


def _routes(site: Site, operations: Sequence[Operation], prefix: str = "", root: str = "") -> list[Route]:
    """A route for each path, with all its methods."""
    paths: dict[str, list[Operation]] = {}
    for one in operations:
        paths.setdefault(one.path, []).append(one)
    return [Route(prefix + path, Endpoint(site, methods, root)) for path, methods in paths.items()]


@asynccontextmanager
async def _lifespan(site: Site, _: Any) -> AsyncIterator[None]:
    await site.service.start()
    loading = asyncio.create_task(_load())
    yield
    loading.cancel()
    await site.service.stop()


async def _load() -> None:
    await asyncio.sleep(_QUIET)
    await asyncio.to_thread(_warm)


def _warm() -> None:
    """Load modules ahead of time that the first board, page and metrics would have to wait for."""
    import prometheus_client  # noqa: F401

    warm()
    page_cache.statics()
    gc.freeze()  # what is there now stays: looking through it again would hold up votes


@dataclass(eq=False)
class Metrics:
    """The metrics, read off the service when Prometheus asks for them."""

    site: Site

    def collect(self) -> list[Metric]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        service = self.site.service
        requests = CounterMetricFamily("sco_requests", "Answers by status", labels=["status"])
        for status, number in sorted(self.site.statuses.items()):
            requests.add_metric([str(status)], number)
        votes = GaugeMetricFamily("sco_votes", "Votes in the ledger", labels=["board"])
        behind = GaugeMetricFamily(
            "sco_rows_behind", "Rows of the board that came after the last fit", labels=["board"]
        )
        for board in list(service.boards.values()):
            votes.add_metric([board.name], len(board.votes))
            behind.add_metric([board.name], board.behind)
        single = [
            ("sco_waiting", "Requests that wait to be written", service.waiting),
            ("sco_queue_age_seconds", "How long the oldest of them has waited", service.queue_age),
            ("sco_fits", "Fits since the start", service.fits.n_made),
            ("sco_fit_failures", "Fits since the start that could not be made", service.fits.n_failed),
            ("sco_fit_age_seconds", "Seconds since the last fit; NaN before the first", service.fits.age),
            ("sco_ready", "Whether votes are taken, and fitted", float(not service.trouble)),
        ]
        gauges = [GaugeMetricFamily(n, words, value=math.nan if v is None else v) for n, words, v in single]
        return [requests, votes, behind, *gauges]
