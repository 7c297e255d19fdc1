"""ETags, by one rule for every view, and answers that are sent again only where the caller has another version."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from softcondorcet import __version__
from softcondorcet.server.web.page_cache import Page


def etag(of: str | int, *shown: object) -> str:
    """The ETag of every view: the snapshot (or last row) it shows, all else that it depends on, and this version."""
    rest = hashlib.sha256(repr(shown).encode()).hexdigest()[:16] if shown else "0"
    return f'"{of}-{rest}-{__version__}"'


def has(request: Request, tag: str) -> bool:
    """Whether If-None-Match names this ETag, compared weakly (RFC 9110, 13.1.2): the caller has it already."""
    return tag in [one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")]


def reply(
    request: Request, tag: str, make: Callable[[], bytes], kind: str = "application/json", **headers: str
) -> Response:
    """200 with what `make` gives, or 304 for a caller who has it already."""
    about = {"ETag": tag, "Cache-Control": "no-cache", **headers}
    if has(request, tag):
        return Response(status_code=304, headers=about)
    return Response(make(), media_type=kind, headers=about)


def packed_reply(request: Request, page: Page, kind: str, cache: str = "no-cache") -> Response:
    """What was packed, as the caller can take it; 304 for a caller who has it. The tag is weak: it names both forms."""
    headers = {"ETag": f"W/{page.etag}", "Cache-Control": cache, "Vary": "Accept-Encoding"}
    if has(request, page.etag):
        return Response(status_code=304, headers=headers)
    if takes_gzip(request.headers.get("accept-encoding", "")):
        return Response(page.packed, headers={**headers, "Content-Encoding": "gzip"}, media_type=kind)
    return Response(gzip.decompress(page.packed), headers=headers, media_type=kind)


def takes_gzip(accepted: str) -> bool:
    """Whether an Accept-Encoding asks for gzip, or for anything, with a weight above 0."""
    weights = {}
    for part in accepted.lower().split(","):
        coding, *parameters = (word.strip() for word in part.split(";"))
        given = [word[2:] for word in parameters if word.startswith("q=")]
        try:
            weights[coding] = float(given[0]) if given else 1.0
        except ValueError:
            weights[coding] = 0.0
    return weights.get("gzip", weights.get("*", 0.0)) > 0
