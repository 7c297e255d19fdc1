"""What holds for every request: it is meant for this server, is answered, and no page may do more than ours need."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from traceback import extract_tb
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_LOCAL = {"127.0.0.1", "localhost", "::1"}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS: Sequence[tuple[bytes, bytes]] = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),  # with less, a browser does not say that a form is ours
    (b"cross-origin-resource-policy", b"same-origin"),
)
_log = logging.getLogger(__name__)


class Guard:
    """Refuses requests that other pages make in a visitor's name, and names that only look like this machine.

    What goes wrong inside is answered with 500 and told to the log in one line, without anything that came in but the
    path: what an exception says may hold a name, a token or an address.
    """

    def __init__(self, app: ASGIApp, *, local: bool, counts: Counter[int]) -> None:
        self.app, self.local, self.counts = app, local, counts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def answer(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                message["headers"] = [*message.get("headers", ()), *HEADERS]
                self.counts[message["status"]] += 1
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            await _say(answer, 403, refusal)
            return
        try:
            await (self._head if scope["method"] == "HEAD" else self.app)(scope, receive, answer)
        except Exception as error:
            _log.error("%s %r: %s", scope["method"], scope["path"], _place(error))
            if not begun:
                await _say(answer, 500, b"something went wrong here; the log says where")

    async def _head(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As GET, with nothing after the headers: what is made of a body, however long, goes nowhere."""

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                await send(message)
                await send({"type": "http.response.body"})

        await self.app({**scope, "method": "GET"}, receive, answer)

    def _refusal(self, scope: Scope) -> bytes | None:
        headers = {name: value.decode("latin-1") for name, value in scope["headers"] if name in (b"host", b"origin")}
        host, origin = headers.get(b"host", ""), headers.get(b"origin")
        if self.local and host and _hostname(host) not in _LOCAL:
            return b"this server only answers to names of its own machine"
        if origin is not None and scope["method"] not in ("GET", "HEAD") and origin.partition("://")[2] != host:
            return b"a page of another site may not do this"
        return None


async def _say(send: Send, status: int, detail: bytes) -> None:
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b'{"detail":"%s"}' % detail})


def _hostname(host: str) -> str | None:
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


def _place(error: Exception) -> str:
    """What kind of error, and the line that raised it."""
    where = extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} at {Path(where.filename).name}:{where.lineno}"
