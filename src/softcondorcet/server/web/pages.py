"""The pages of a board, the page of all boards, and the files that they load."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Any
from urllib.parse import quote, urlencode

from starlette.exceptions import HTTPException
from starlette.responses import Response

from softcondorcet.server.ledger.service import MAIN
from softcondorcet.server.ledger.snapshot import Snapshot
from softcondorcet.server.web import content, page_cache
from softcondorcet.server.web.etags import packed_reply
from softcondorcet.server.web.http import Call, NoQuery, Routes, problem
from softcondorcet.server.web.page_query import expect_only, parse
from softcondorcet.server.web.routes import snapshots, tag_of

HTML = "text/html; charset=utf-8"
_FOR_EVER = "public, max-age=31536000, immutable"
View = dict[str, Any] | None
Seen = tuple[Snapshot, Snapshot | None]  # the board by the wanted votes, and by all where these are only some
routes = Routes(page=True)
site_routes = Routes(of_board=False, page=True)


async def show(
    call: Call[Any],
    template: str,
    view: Callable[[Snapshot, Snapshot | None], View],
    *shown: Hashable,
    snapshots_of: Callable[[], Awaitable[Seen]] | None = None,
    **given: Any,
) -> Response:
    """What `view` makes of a snapshot in a thread, from the cache of pages; it depends on what is `shown` besides."""

    def draw(now: Snapshot, overall: Snapshot | None) -> str:
        state = view(now, overall)
        if state is None:
            raise HTTPException(404, "There is no such agent on this board.")
        return page_cache.html(template, about=content.about(now), root=call.root, v=state, **given)

    async def make() -> tuple[str, str]:
        now, overall = await snapshots_of() if snapshots_of else (await asyncio.to_thread(call.board.snapshot), None)
        return await asyncio.to_thread(draw, now, overall), tag_of(now, overall, call.root, template, *shown)

    key = call.root, call.board.id, template, shown
    return packed_reply(call.request, await call.site.pages.page(key, call.board.snapshot_id, make), HTML)


@routes.get("/")
async def leaderboard(call: Call[NoQuery]) -> Response:
    query = parse(call.request.query_params)
    begin = "" if call.board.agents else page_cache.begin(call.request)

    def view(now: Snapshot, overall: Snapshot | None) -> View:
        state: View = _views().board(now, overall, list(call.board.votes.groups.names), query)
        return state

    return await show(
        call, "board.html", view, query, begin,
        snapshots_of=lambda: snapshots(call, query.wanted), here="./", twin=query.data("leaderboard.json"), begin=begin,
    )  # fmt: skip


@routes.get("/agent")
async def agent(call: Call[NoQuery]) -> Response:
    (name,) = _given(call, "name")
    view = lambda now, _: _views().agent(now, name, call.service.history.of(call.board.id, call.board.votes_upto))  # noqa: E731
    return await show(call, "agent.html", view, name, twin=f"agent.json?{urlencode({'name': name})}")


@routes.get("/pair")
async def pair(call: Call[NoQuery]) -> Response:
    a, b = _given(call, "a", "b")
    view = lambda now, _: _views().pair(now, a, b)  # noqa: E731
    return await show(call, "pair.html", view, a, b, twin=f"pair.json?{urlencode({'a': a, 'b': b})}")


@routes.get("/history")
async def history(call: Call[NoQuery]) -> Response:
    _given(call)
    view = lambda now, _: _views().history(now, call.service.history.of(call.board.id, call.board.votes_upto))  # noqa: E731
    return await show(call, "history.html", view, here="history", twin="history.json")


@routes.get("/doctor")
async def doctor(call: Call[NoQuery]) -> Response:
    _given(call)
    view = lambda now, _: _views().doctor(now)  # noqa: E731
    return await show(call, "doctor.html", view, here="doctor", twin="doctor.json")


def _given(call: Call[Any], *names: str) -> list[str]:
    """The values of these parameters; any other is refused."""
    expect_only(call.request.query_params, names)
    return [call.request.query_params.get(name, "") for name in names]


def _views() -> Any:
    """The module that makes pages, loaded with the first of them: a server accepts votes before."""
    from softcondorcet.server.web import views

    return views


@site_routes.get("/boards", "text/html", tag="read")
async def boards(call: Call[NoQuery]) -> Response:
    """A page of all boards."""
    states = [
        {
            "title": board.title,
            "address": "./" if board.name == MAIN else f"boards/{quote(board.name, safe='')}/",
            "n_votes": len(board.votes),
            "n_agents": len(board.agents),
            "changed": board.changed,
        }
        for board in call.service.boards.values()
    ]
    about = page_cache.bare(call.board)
    page = page_cache.html("boards.html", about=about, root="", here="boards", v={"boards": states})
    return Response(page, media_type=HTML, headers={"Cache-Control": "no-cache"})


@site_routes.get("/static/{name}")
async def static(call: Call[NoQuery]) -> Response:
    name = call.request.path_params["name"]
    file = page_cache.statics().get(name)
    if file is None:
        return problem(404, "expected a file that pages load")
    kind = page_cache.KINDS[name.rpartition(".")[2]]
    return packed_reply(call.request, file, kind, _FOR_EVER if call.request.url.query == file.version else "no-cache")
