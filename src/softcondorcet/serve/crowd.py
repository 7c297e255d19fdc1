"""When there are too many: those who would only wait are told so at once, for next to nothing."""

from __future__ import annotations

from collections import Counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from softcondorcet.serve.guard import HEADERS

# Requests that write at a time: more would only wait longer, each for all before it.
_AT_ONCE = 256
_SAID = b'{"detail":"too many votes at a time; come back soon"}'
_ABOUT = ((b"content-type", b"application/json"), (b"content-length", b"%d" % len(_SAID)), (b"retry-after", b"1"))
# Made once: while there are too many, every microsecond on those turned away is one less for the others.
_START: Message = {"type": "http.response.start", "status": 503, "headers": [*_ABOUT, *HEADERS]}
_BODY: Message = {"type": "http.response.body", "body": _SAID}


class Crowd:
    """Turns those away who would only wait, at a fraction of the cost of a vote: the others are served in time.

    It stands before all else. A request counts from when its body is there, so that bodies which never come keep
    nobody out.
    """

    def __init__(self, app: ASGIApp, most: int = _AT_ONCE, counts: Counter[int] | None = None) -> None:
        self.app, self.most, self.inside = app, most, 0
        self.counts: Counter[int] = Counter() if counts is None else counts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        if self.inside >= self.most:
            self.counts[503] += 1
            await send(_START)
            await send(_BODY)
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
