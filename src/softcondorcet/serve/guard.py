"""What holds for every request: it was meant for this server, and no page may do more than ours need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_LOCAL = {"127.0.0.1", "localhost", "[::1]", "::1"}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_HEADERS: Sequence[tuple[bytes, bytes]] = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


class Guard:
    """Refuses requests that other pages make in a visitor's name, and names that only look like this machine."""

    def __init__(self, app: ASGIApp, *, local: bool, count: Any = None) -> None:
        self.app, self.local, self.count = app, local, count

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *_HEADERS]
                if self.count is not None:
                    self.count(message["status"])
            await send(message)

        refusal = self._refusal(scope)
        if refusal is None:
            await self.app(scope, receive, answer)
            return
        await answer(
            {"type": "http.response.start", "status": 403, "headers": [(b"content-type", b"application/json")]}
        )
        await answer({"type": "http.response.body", "body": b'{"detail":"%s"}' % refusal})

    def _refusal(self, scope: Scope) -> bytes | None:
        headers = {name: value.decode("latin-1") for name, value in scope["headers"] if name in (b"host", b"origin")}
        host, origin = headers.get(b"host", ""), headers.get(b"origin")
        if self.local and host and (urlsplit(f"//{host}").hostname or "") not in _LOCAL:
            return b"this server only answers to names of its own machine"
        if origin is not None and scope["method"] not in ("GET", "HEAD") and urlsplit(origin).netloc != host:
            return b"a page of another site may not do this"
        return None
