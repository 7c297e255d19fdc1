"""Pages as they are sent: made once for what they show, packed once, and not made too often.

A page that shows the board as it is now is sent again as it is. Else a new one is made, while others are sent the one
before. Making pages of one kind takes at most a tenth of the time, but for a first second that is free: a page is
fresh where votes come now and then, and says how old it is where they come all the time.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from softcondorcet.serve.limits import Buckets

# Seconds of making pages of one kind in a second, and at once; packed bytes that are kept in all.
_SHARE, _AT_ONCE, _MOST = 0.1, 1.0, 2**25


@dataclass(frozen=True)
class Sheet:
    """A page, packed; `version` says what it shows, or less than that, `cost` how many seconds it took to make."""

    version: str
    packed: bytes
    etag: str
    cost: float


Make = Callable[[], Awaitable[str]]  # the page as HTML


class Press:
    """The last sheet of each page, the least asked for forgotten first."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, Sheet] = OrderedDict()
        self._making: dict[Hashable, asyncio.Task[Sheet]] = {}
        self._time = Buckets(_SHARE, _AT_ONCE)
        self._bytes = 0

    async def sheet(self, key: Hashable, version: str, make: Make) -> Sheet:
        """The page `key` at this version, or where that would take too much time, at the one before."""
        kept = self._kept.get(key)
        if kept is not None:
            self._kept.move_to_end(key)
            if kept.version == version or key in self._making or self._time.take(key, kept.cost) > 0:
                return kept
        if key not in self._making:
            self._making[key] = asyncio.create_task(self._make(key, version, make))
        # A visitor who leaves does not stop the page that others wait for.
        return await asyncio.shield(self._making[key])

    async def _make(self, key: Hashable, version: str, make: Make) -> Sheet:
        try:
            began = time.perf_counter()
            html = await make()
            packed, etag = await asyncio.to_thread(pack, html.encode())
            made = Sheet(version, packed, etag, time.perf_counter() - began)
            self._keep(key, made)
            return made
        finally:
            del self._making[key]

    def _keep(self, key: Hashable, made: Sheet) -> None:
        before = self._kept.pop(key, None)
        self._bytes += len(made.packed) - (len(before.packed) if before else 0)
        self._kept[key] = made
        while self._bytes > _MOST and len(self._kept) > 1:
            _, gone = self._kept.popitem(last=False)
            self._bytes -= len(gone.packed)


def pack(content: bytes) -> tuple[bytes, str]:
    """The same bytes packed, and a name for them."""
    return gzip.compress(content, 6, mtime=0), hashlib.sha256(content).hexdigest()[:20]


def answer(request: Request, packed: bytes, etag: str, kind: str, cache: str = "no-cache") -> Response:
    """What was packed, as the caller can take it; 304 for a caller who has it."""
    headers = {"ETag": f'W/"{etag}"', "Cache-Control": cache, "Vary": "Accept-Encoding"}
    if f'"{etag}"' in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(packed, headers={**headers, "Content-Encoding": "gzip"}, media_type=kind)
    return Response(gzip.decompress(packed), headers=headers, media_type=kind)
