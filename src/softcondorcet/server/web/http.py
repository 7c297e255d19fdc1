"""What every request passes through: load shedding, host and origin checks, security headers, parameters and refusals.

A route is an ``Operation``: a function of a ``Call``, and what the documentation says of it. What a route takes and
answers is a type (msgspec Struct) that both its answers and the OpenAPI document are made from.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar, get_args, get_type_hints
from urllib.parse import urlsplit

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from softcondorcet.errors import place
from softcondorcet.server.ledger.board import Board
from softcondorcet.server.ledger.database import Damaged, DiskFull, Gone
from softcondorcet.server.ledger.fits import FitFailed, TooMany, UnknownGroup
from softcondorcet.server.ledger.limits import LONGEST, BadName, Busy
from softcondorcet.server.ledger.service import MAIN, Service
from softcondorcet.server.ledger.writer import Refused
from softcondorcet.server.web.auth import Auth, header_of
from softcondorcet.server.web.page_cache import PageCache, problem_page
from softcondorcet.server.web.parameters import value_of
from softcondorcet.server.web.sessions import Sessions

if TYPE_CHECKING:
    from softcondorcet.server.web.matches import Matches

_log = logging.getLogger(__name__)
Q = TypeVar("Q")
METHODS = ("GET", "POST", "DELETE")

# Bytes of a body: room for a thousand names of a thousand votes, or a file to import.
MOST_BYTES, MOST_IMPORT = 2**20, 2**24


class NoQuery(msgspec.Struct):
    """The query of a route that takes no parameters."""


@dataclass
class Site:
    """The service, and what its routes keep between requests."""

    service: Service
    auth: Auth
    matches: Matches
    pages: PageCache = field(default_factory=PageCache)
    statuses: Counter[int] = field(default_factory=Counter)  # answers by status
    exporting: set[object] = field(default_factory=set)  # exports under way
    importing: asyncio.Lock = field(default_factory=asyncio.Lock)
    previewing: asyncio.Lock = field(default_factory=asyncio.Lock)
    sessions: Sessions = field(default_factory=Sessions)


@dataclass(slots=True)
class Call(Generic[Q]):
    """A request, the board it is about, and its parameters; `root` leads from the page to the root of the site."""

    site: Site
    request: Request
    operation: Operation
    board: Board
    query: Q
    root: str = ""

    @property
    def service(self) -> Service:
        return self.site.service

    async def body(self, most: int = MOST_BYTES) -> bytes:
        return await body_of(self.request, self.service.settings.body_seconds, most)

    async def json(self) -> Any:
        """The body, as the type that the documentation says."""
        return msgspec.json.decode(await self.body(), type=self.operation.body)


Handler = Callable[[Call[Any]], Awaitable[Response]]


@dataclass(frozen=True)
class Operation:
    """One method of one path: its handler, and what the documentation says of it.

    `answer` and `body` are types of JSON, or media types; without a `tag` it is not documented. What goes wrong on a
    `page` is answered with a page, and its address is left to its handler.
    """

    method: str
    path: str
    handler: Handler
    tag: str = ""
    answer: Any = None
    status: int = 201
    body: Any = None
    body_required: bool = True
    examples: Sequence[Any] = ()
    refusals: Sequence[int] = ()
    others: Mapping[int, tuple[str, Any]] = field(default_factory=dict)  # status -> description and type
    idempotent: bool = False  # takes an Idempotency-Key
    security: Sequence[Mapping[str, Sequence[str]]] | None = None
    page: bool = False
    any_query: bool = False  # parameters are passed over: monitors and proxies add their own
    of_board: bool = True

    @cached_property
    def query(self) -> Any:
        """The type of the parameters, as the handler's annotation says it."""
        return get_args(get_type_hints(self.handler)["call"])[0]

    @cached_property
    def parameters(self) -> Mapping[str, msgspec.structs.FieldInfo]:
        return {one.encode_name: one for one in msgspec.structs.fields(self.query)}

    def read(self, request: Request) -> Any:
        """The parameters of a request; 422 says which is wrong, and for one that is not known: it may be misspelt."""
        if self.page or self.any_query or not (self.parameters or request.scope["query_string"]):
            return self.query()
        given, at = request.query_params, request.path_params
        for one in given:
            if one not in self.parameters or one in at:
                known = ", ".join(sorted(set(self.parameters) - set(at))) or "none here"
                raise HTTPException(422, f"{one[:LONGEST]!r} is not a parameter; expected {known}")
        values = {**given, **{one: at[one] for one in self.parameters if one in at}}
        return self.query(**{one: value_of(values, about) for one, about in self.parameters.items()})


class Routes(list[Operation]):
    """A table of operations; decorators above the handlers fill it."""

    def __init__(self, tag: str = "", **common: Any) -> None:
        super().__init__()
        self._common = {"tag": tag, **common}

    def get(self, path: str, answer: Any = None, **about: Any) -> Callable[[Handler], Handler]:
        return self._add("GET", path, {"answer": answer, "status": 200, **about})

    def post(self, path: str, answer: Any = None, **about: Any) -> Callable[[Handler], Handler]:
        return self._add("POST", path, {"answer": answer, "status": 201, **about})

    def delete(self, path: str, **about: Any) -> Callable[[Handler], Handler]:
        return self._add("DELETE", path, {"status": 204, **about})

    def _add(self, method: str, path: str, about: Mapping[str, Any]) -> Callable[[Handler], Handler]:
        def add(handler: Handler) -> Handler:
            self.append(Operation(method, path, handler, **{**self._common, **about}))
            return handler

        return add


class Endpoint:
    """All operations of one path, as an ASGI application."""

    def __init__(self, site: Site, operations: Sequence[Operation], root: str) -> None:
        self.site, self.root = site, root
        self.operations = {one.method: one for one in sorted(operations, key=lambda one: METHODS.index(one.method))}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = await self.answer(Request(scope, receive))
        await answer(scope, receive, send)

    async def answer(self, request: Request) -> Response:
        operation = self.operations.get(request.scope["method"])
        if operation is None:
            return not_allowed(list(self.operations))
        board = self.site.service.boards.get(request.path_params.get("board", MAIN))
        if board is None and operation.of_board:
            return problem(404, "expected the name of a board")
        try:
            query = operation.read(request)
            return await operation.handler(Call(self.site, request, operation, board, query, self.root))  # type: ignore[arg-type]
        except Exception as error:
            answer = refusal(error)
            if not operation.page or board is None:
                return answer
            html = problem_page(board, self.root, answer.status_code, sentence(error))
            headers = {"Retry-After": answer.headers["retry-after"]} if "retry-after" in answer.headers else None
            return Response(html, answer.status_code, headers, "text/html; charset=utf-8")


class Paths(Router):
    """Starlette's router, but paths without parameters are looked up; it matches the others one by one."""

    def __init__(self, routes: Sequence[Route], **about: Any) -> None:
        super().__init__(routes, **about)
        self._fixed = {route.path: route.app for route in routes if not route.param_convertors}

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        fixed = self._fixed.get(scope["path"]) if scope["type"] == "http" else None
        await (fixed or super().app)(scope, receive, send)


def not_allowed(methods: list[str]) -> Response:
    allow = ", ".join([*methods, "HEAD"] if "GET" in methods else methods)
    return problem(405, f"expected {' or '.join(methods)}", {"Allow": allow})


async def not_found(scope: Scope, receive: Receive, send: Send) -> None:
    """The application where no path matches."""
    await problem(404, "expected a path that /openapi.json lists")(scope, receive, send)


# Exceptions that have an answer: its status, and when to come back.
STATUS: dict[type[Exception], tuple[int, int | None]] = {
    msgspec.DecodeError: (422, None),
    msgspec.ValidationError: (422, None),
    BadName: (422, None),
    Refused: (422, None),
    UnicodeDecodeError: (422, None),
    UnknownGroup: (404, None),
    TooMany: (429, 1),
    Busy: (503, 1),
    Damaged: (503, 10),
    FitFailed: (503, 10),
    Gone: (503, 1),
    DiskFull: (507, 10),
}


# What a request may be refused with.
REFUSALS: tuple[type[Exception], ...] = (HTTPException, *STATUS)


def refusal(error: Exception) -> Response:
    """The answer to an exception that has a status; others are raised again."""
    if isinstance(error, HTTPException):
        return problem(error.status_code, error.detail, error.headers)
    for kind in type(error).__mro__:
        if kind in STATUS:
            status, wait = STATUS[kind]
            wait = int(error.wait) + 1 if isinstance(error, TooMany) else wait
            return problem(status, str(error), None if wait is None else {"Retry-After": str(wait)})
    raise error


def sentence(error: Exception) -> str:
    """The sentence that a refusal answers with."""
    return str(error.detail) if isinstance(error, HTTPException) else str(error)


def not_done(error: Exception) -> str:
    """The same for people who sent a form."""
    return f"Not done: {sentence(error)}."


def problem(status: int, detail: str, headers: Mapping[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode({"detail": detail}), status, headers, "application/json")


def json_response(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode(body), status, headers, "application/json")


async def body_of(request: Request, seconds: float, most: int = MOST_BYTES) -> bytes:
    """The body of a request: 413 for one that is too long, 415 for one that is compressed, 408 for a slow one.

    It has so many seconds from its first byte to its last. One that never begins is the connection's to cut.
    """
    if header_of(request, b"content-encoding") not in (None, "identity"):
        raise HTTPException(415, "expected a body without Content-Encoding")
    body = bytearray()
    if await _receive(request, body, most):  # most bodies come at once, and need no timer
        try:
            async with asyncio.timeout(seconds):
                while await _receive(request, body, most):
                    pass
        except TimeoutError:
            raise HTTPException(408, f"expected the whole body within {seconds:g} seconds") from None
    return bytes(body)


async def _receive(request: Request, body: bytearray, most: int) -> bool:
    """Append the next part of a body; whether more will come."""
    message = await request.receive()
    if message["type"] == "http.disconnect":
        raise ClientDisconnect
    body += message.get("body", b"")
    if len(body) > most:
        raise HTTPException(413, f"expected at most {most:,} bytes")
    return bool(message.get("more_body", False))


# Middleware

_LOCAL = frozenset({"127.0.0.1", "localhost", "::1"})
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
SECURITY_HEADERS: Sequence[tuple[bytes, bytes]] = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),  # with less, a browser does not say that a form is ours
    (b"cross-origin-resource-policy", b"same-origin"),
)


class HostGuard:
    """Refuses hosts and origins that are not this server's, adds the security headers, and answers HEAD as GET.

    Starlette's TrustedHostMiddleware knows no origins, and answers in text. An exception is answered with 500 and told
    to the log in one line, without anything that came in but the path: what it says may hold a name or a token.
    """

    def __init__(self, app: ASGIApp, *, names: Collection[str] | None, statuses: Counter[int]) -> None:
        """It answers to `names` beside those of this machine; to any with None."""
        self.app, self.statuses = app, statuses
        self.names = None if names is None else _LOCAL | {name.lower() for name in names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun = False

        async def answer(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                message["headers"] = [*message.get("headers", ()), *SECURITY_HEADERS]
                self.statuses[message["status"]] += 1
            await send(message)

        refused = self._refused(scope)
        if refused:
            await problem(403, refused)(scope, receive, answer)
            return
        try:
            await (self._head if scope["method"] == "HEAD" else self.app)(scope, receive, answer)
        except Exception as error:
            _log.error("%s %r: %s", scope["method"], scope["path"], place(error))
            if not begun:
                await problem(500, "something went wrong here; the log says where")(scope, receive, answer)

    async def _head(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer HEAD: as GET, without the body."""

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                await send(message)
                await send({"type": "http.response.body"})

        await self.app({**scope, "method": "GET"}, receive, answer)

    def _refused(self, scope: Scope) -> str:
        host, origin = "", None
        for key, value in scope["headers"]:
            if key == b"host":
                host = value.decode("latin-1")
            elif key == b"origin":
                origin = value.decode("latin-1")
        if self.names is not None and host and _hostname(host) not in self.names:
            return "this server only answers to names of its own machine and those of sco serve --name"
        if origin is not None and scope["method"] not in ("GET", "HEAD") and origin.partition("://")[2] != host:
            return "a page of another site may not do this"
        return ""


@lru_cache(256)
def _hostname(host: str) -> str | None:
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


# Requests that write at a time: more would only wait longer, each for all before it.
MOST_WRITES = 256
_BUSY = b'{"detail":"too many votes at a time; come back soon"}'
_ABOUT = ((b"content-type", b"application/json"), (b"content-length", b"%d" % len(_BUSY)), (b"retry-after", b"1"))
# Made once: while there are too many, every microsecond on those turned away is one less for the others.
_START: Message = {"type": "http.response.start", "status": 503, "headers": [*_ABOUT, *SECURITY_HEADERS]}
_END: Message = {"type": "http.response.body", "body": _BUSY}


class LoadShedding:
    """Answers 503 at once, at a fraction of the cost of a vote, when too many writes are in flight.

    It stands before all else. A request counts from when its body is there, so that bodies which never come keep
    nobody out.
    """

    def __init__(self, app: ASGIApp, *, most: int = MOST_WRITES, statuses: Counter[int] | None = None) -> None:
        self.app, self.most, self.in_flight = app, most, 0
        self.statuses: Counter[int] = Counter() if statuses is None else statuses

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("method") != "POST":
            await self.app(scope, receive, send)
            return
        if self.in_flight >= self.most:
            self.statuses[503] += 1
            await send(_START)
            await send(_END)
            return
        counted = 0

        async def arrive() -> Message:
            nonlocal counted
            message = await receive()
            if not counted and not message.get("more_body", False):
                counted = 1
                self.in_flight += 1
            return message

        try:
            await self.app(scope, arrive, send)
        finally:
            self.in_flight -= counted
