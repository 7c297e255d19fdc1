"""The cache of pages: each is made once for what it shows, packed once, and not made too often.

A page that shows the board as it is now is sent again as it is. Else a new one is made, while others are sent the one
before. Making pages of one kind takes at most a tenth of the time, but for a first second that is free: a page is
fresh where votes come now and then, and says how old it is where they come all the time.

Templates and the files that go with them are read once.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from softcondorcet import __version__
from softcondorcet.formatting import plural
from softcondorcet.server.ledger.limits import Buckets

if TYPE_CHECKING:
    from jinja2 import Environment
    from starlette.requests import Request

    from softcondorcet.server.ledger.board import Board


PAGES = (
    ("Leaderboard", "./"),
    ("History", "history"),
    ("Data", "doctor"),
    ("Vote", "vote"),
)
KINDS = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}


def html(template: str, *, about: dict[str, Any], root: str, here: str = "", twin: str = "", **given: Any) -> str:
    """A page. `root` leads from it to the root of the site; every word that is given is escaped."""
    from softcondorcet.reporting.page import ICON

    pages = (*PAGES, ("Boards", f"{root}boards"))
    common = {"icon": ICON, "version": __version__, "static": address, "pages": pages, "moment": moment, "count": count}
    page = _environment().get_template(template)
    return page.render(about=about, root=root, here=here, twin=twin, **common, **given)


@cache
def _environment() -> Environment:
    from softcondorcet.reporting.page import environment

    return environment(__package__ or "", "softcondorcet.reporting")


@cache
def statics() -> dict[str, Page]:
    """Styles and scripts by name."""
    from softcondorcet.reporting.page import style

    texts = {path.name: path.read_text(encoding="utf-8") for path in (files(__package__) / "static").iterdir()}
    texts["site.css"] = style() + texts["site.css"]
    return {name: _static(text.encode()) for name, text in texts.items()}


def _static(content: bytes) -> Page:
    """A static file, with its hash as its version."""
    digest = hashlib.sha256(content).hexdigest()[:20]
    return Page(pack(content), f'"{digest}"', digest)


def address(name: str) -> str:
    """The address of a style or script from the root. Its hash is part of it, so it may be cached for ever."""
    return f"static/{name}?{statics()[name].version}"


def moment(time: float) -> Any:
    """A time as HTML; the script of the page shows it in local time."""
    from markupsafe import Markup

    exact = datetime.fromtimestamp(time, UTC)
    shape = '<time datetime="{}">{} UTC</time>'
    return Markup(shape).format(exact.isoformat(timespec="seconds"), exact.strftime("%Y-%m-%d %H:%M:%S"))


def count(votes: int) -> str:
    return plural(votes, "vote")


def bare(board: Board) -> dict[str, Any]:
    """The fields of a page about a board whose votes it does not show."""
    return {"board": board.name, "title": board.title, "snapshot": ""}


def begin(request: Request) -> str:
    """The address of the board, as a visitor sees it."""
    return str(request.url.replace(query="", fragment="")).rpartition("/")[0] + "/"


def problem_page(board: Board, root: str, status: int, said: str) -> str:
    """The page that says what is wrong with a request."""
    return html("problem.html", about=bare(board), root=root, status=status, said=said)


# Seconds of making pages of one kind in a second, and at once; packed bytes that are kept in all.
_SHARE, _AT_ONCE, MOST = 0.1, 1.0, 2**25


@dataclass(frozen=True)
class Page:
    """What is sent, packed. `version`: for which state of the board it was made; `cost`: the seconds that this took."""

    packed: bytes
    etag: str
    version: str = ""
    cost: float = 0.0


Make = Callable[[], Awaitable[tuple[str, str]]]  # the page as HTML, and its ETag


class PageCache:
    """The last version of each page, up to `most` bytes; the least recently used is dropped. `clock` gives seconds."""

    def __init__(self, *, most: int = MOST, clock: Callable[[], float] = time.perf_counter) -> None:
        self.most, self._clock = most, clock
        self._kept: OrderedDict[Hashable, Page] = OrderedDict()
        self._making: dict[Hashable, asyncio.Task[Page]] = {}
        self._time = Buckets(_SHARE, _AT_ONCE, now=clock)
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    async def page(self, key: Hashable, version: str, make: Make) -> Page:
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

    async def _make(self, key: Hashable, version: str, make: Make) -> Page:
        try:
            began = self._clock()
            text, etag = await make()
            packed = await asyncio.to_thread(pack, text.encode())
            page = Page(packed, etag, version, self._clock() - began)
            self._keep(key, page)
            return page
        finally:
            del self._making[key]

    def _keep(self, key: Hashable, page: Page) -> None:
        before = self._kept.pop(key, None)
        self.bytes += len(page.packed) - (len(before.packed) if before else 0)
        self._kept[key] = page
        while self.bytes > self.most and len(self._kept) > 1:
            _, gone = self._kept.popitem(last=False)
            self.bytes -= len(gone.packed)


def pack(content: bytes) -> bytes:
    return gzip.compress(content, 6, mtime=0)
