"""The pages of a board, made for the main board and again for boards by name; and the files that they load."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Annotated, Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.responses import HTMLResponse

from softcondorcet.serve import content, render
from softcondorcet.serve.asked import BadAddress, asked
from softcondorcet.serve.board import Board, Snapshot
from softcondorcet.serve.press import Press, answer
from softcondorcet.serve.routes import READ, Wanted
from softcondorcet.serve.service import MAIN, Service
from softcondorcet.serve.sheets import neutral
from softcondorcet.serve.store import Busy, Refused
from softcondorcet.tables import as_csv

_HTML = "text/html; charset=utf-8"
_FOR_EVER = "public, max-age=31536000, immutable"
View = dict[str, Any] | None
Page = Callable[[Request, Board], Awaitable[Response]]


class Missing(Exception):  # noqa: N818
    """There is no such thing on this board."""


_STATUS = {BadAddress: 422, Refused: 422, Missing: 404, Busy: 503}


def page_routes(service: Service, press: Press, board_of: Callable[..., Awaitable[Board]], root: str) -> APIRouter:
    """All pages of a board; `board_of` finds which, and `root` leads from them to the root of the site."""
    routes = APIRouter()
    The = Annotated[Board, Depends(board_of)]  # noqa: N806

    def page(path: str) -> Callable[[Page], Page]:
        """A page at this path; what is wrong with a request is a page too."""

        def add(made: Page) -> Page:
            async def safe(request: Request, board: The) -> Response:
                try:
                    return await made(request, board)
                except tuple(_STATUS) as error:
                    status = next(status for kind, status in _STATUS.items() if isinstance(error, kind))
                    page = render.html("problem.html", about=_bare(board), root=root, status=status, said=str(error))
                    return Response(page, status, media_type=_HTML)

            routes.add_api_route(path, safe, methods=["GET", "HEAD"], include_in_schema=False)
            return made

        return add

    async def sheet(
        request: Request,
        board: Board,
        key: Hashable,
        template: str,
        view: Callable[[Snapshot], View],
        *,
        some: Callable[[], Awaitable[Snapshot]] | None = None,
        **given: Any,
    ) -> Response:
        """What `view` makes of a snapshot, in a thread: of all votes, or of those that `some` gives."""

        def draw(chosen: Snapshot | None) -> str:
            seen = chosen or board.snapshot()
            found = view(seen)
            if found is None:
                raise Missing("There is no such agent on this board.")
            return render.html(template, about=content.about(seen), root=root, v=found, **given)

        async def make() -> str:
            return await asyncio.to_thread(draw, await some() if some else None)

        # As the id of a snapshot that would be taken now.
        version = f"{board.last}-{board.fit.id if board.fit else 0}"
        made = await press.sheet((root, board.id, template, key), version, make)
        return answer(request, made.packed, made.etag, _HTML)

    @page("/")
    async def leaderboard(request: Request, board: Board) -> Response:
        what = asked(request.query_params)
        begin = "" if board.agents else _begin(request)

        def view(seen: Snapshot) -> View:
            overall = board.snapshot() if what.wanted else None
            found: View = _views().board(seen, overall, list(board.votes.groups.names), what)
            return found

        return await sheet(
            request,
            board,
            (what, begin),
            "board.html",
            view,
            some=(lambda: service.view(board, what.wanted)) if what.wanted else None,
            here="./",
            twin=what.data("leaderboard.json"),
            begin=begin,
        )

    @page("/agent")
    async def agent(request: Request, board: Board) -> Response:
        name = request.query_params.get("name", "")
        twin = f"agent.json?{urlencode({'name': name})}"
        view = lambda seen: _views().agent(seen, name, service.past.of(board.id))  # noqa: E731
        return await sheet(request, board, name, "agent.html", view, twin=twin)

    @page("/pair")
    async def pair(request: Request, board: Board) -> Response:
        a, b = request.query_params.get("a", ""), request.query_params.get("b", "")
        twin = f"pair.json?{urlencode({'a': a, 'b': b})}"
        return await sheet(request, board, (a, b), "pair.html", lambda seen: _views().pair(seen, a, b), twin=twin)

    @page("/history")
    async def history(request: Request, board: Board) -> Response:
        view = lambda seen: _views().history(seen, service.past.of(board.id))  # noqa: E731
        return await sheet(request, board, "", "history.html", view, here="history", twin="history.json")

    @page("/doctor")
    async def doctor(request: Request, board: Board) -> Response:
        view = lambda seen: _views().doctor(seen)  # noqa: E731
        return await sheet(request, board, "", "doctor.html", view, here="doctor", twin="doctor.json")

    @routes.get(
        "/leaderboard.csv",
        tags=["read"],
        responses={200: {"content": {"text/csv": {}}}, **READ},
    )
    async def leaderboard_csv(board: The, wanted: Wanted) -> Response:
        """The leaderboard for a spreadsheet: a name that would be a formula there has a quote in front."""
        overall = await asyncio.to_thread(board.snapshot)
        some = await service.view(board, wanted) if wanted else None
        found = content.leaderboard(some, overall) if some else content.leaderboard(overall)
        rows = [{**row, "agent": neutral(row["agent"])} for row in found["rows"]]
        headers = {"Content-Disposition": 'attachment; filename="leaderboard.csv"', "Cache-Control": "no-cache"}
        return Response(as_csv(rows) + "\n", headers=headers, media_type="text/csv; charset=utf-8")

    return routes


def site_routes(service: Service) -> APIRouter:
    """The page of all boards, and the files that pages load."""
    routes = APIRouter()

    @routes.get("/boards", tags=["read"], response_class=HTMLResponse)
    async def boards() -> Response:
        """A page of all boards."""
        found = [
            {
                "title": board.title,
                "address": "./" if board.name == MAIN else f"boards/{quote(board.name, safe='')}/",
                "n_votes": len(board.votes),
                "n_agents": len(board.agents),
                "changed": board.changed,
            }
            for board in service.boards.values()
        ]
        about = _bare(service.boards[MAIN])
        page = render.html("boards.html", about=about, root="", here="boards", v={"boards": found})
        return Response(page, media_type=_HTML, headers={"Cache-Control": "no-cache"})

    @routes.get("/static/{name}", include_in_schema=False)
    async def static(request: Request, name: str) -> Response:
        found = render.statics().get(name)
        if found is None:
            raise HTTPException(404, "expected a file that pages load")
        kind = render.KINDS[name.rpartition(".")[2]]
        return answer(request, *found, kind, _FOR_EVER if request.url.query == found[1] else "no-cache")

    return routes


def _views() -> Any:
    """What draws pages is loaded with the first of them: a server takes votes before."""
    from softcondorcet.serve import views

    return views


def _bare(board: Board) -> dict[str, Any]:
    return {"board": board.name, "title": board.title, "snapshot": ""}


def _begin(request: Request) -> str:
    """The address of the board, as a visitor sees it."""
    return str(request.url.replace(query="", fragment="")).rpartition("/")[0] + "/"
