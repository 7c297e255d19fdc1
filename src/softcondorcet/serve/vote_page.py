"""The page on which people vote: a pair of answers and a form, which a script makes quicker where it runs."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated
from urllib.parse import parse_qsl

import msgspec
from fastapi import APIRouter, Depends, Request, Response
from markupsafe import escape
from starlette.exceptions import HTTPException
from starlette.types import Message

from softcondorcet.serve import render
from softcondorcet.serve.ballots import BadBallot
from softcondorcet.serve.board import Board
from softcondorcet.serve.gate import Gate, body_of
from softcondorcet.serve.match_routes import deal
from softcondorcet.serve.refusals import STATUS, refusal
from softcondorcet.serve.service import Service
from softcondorcet.serve.taking import vote_taker

_FIELDS = ("ticket", "winner", "voter", "token")
_NOTHING = dict.fromkeys(_FIELDS, "")
_KINDS: tuple[type[Exception], ...] = (HTTPException, *STATUS)


def vote_page_routes(service: Service, gate: Gate, board_of: Callable[..., Awaitable[Board]], root: str) -> APIRouter:
    """The page of a board; `board_of` finds which, and `root` leads from it to the root of the site."""
    routes = APIRouter(include_in_schema=False)
    The = Annotated[Board, Depends(board_of)]  # noqa: N806
    take = vote_taker(service, gate)

    async def page(
        request: Request, board: Board, given: Mapping[str, str] = _NOTHING, said: str = "", status: int = 200
    ) -> Response:
        """The next pair, below what is `said` of the one before, and with the name and token that were `given`."""
        closed, dealt = False, None
        try:
            dealt = await deal(service, gate, request, board)
        except HTTPException as error:
            closed = error.status_code in (401, 403)
            if request.method == "POST" and not said:
                status, said = error.status_code, _not_done(error)
        view = {
            "said": said, "closed": closed or given["token"], "empty": dealt is None and not closed,
            "voter": given["voter"], "token": given["token"],
            # Answers are shown as they are, lines and all.
            **{part: escape(dealt[part]) if dealt else "" for part in ("ticket", "task", "a", "b")},
        }  # fmt: skip
        about = {"board": board.name, "title": board.title, "snapshot": ""}
        begin = str(request.url.replace(query="", fragment="")).rpartition("/")[0] + "/"
        html = render.html("vote.html", about=about, root=root, here="vote", begin=begin, v=view)
        return Response(html, status, {"Cache-Control": "no-store"}, "text/html; charset=utf-8")

    @routes.api_route("/vote", methods=["GET", "HEAD"])
    async def look(request: Request, board: The) -> Response:
        """A pair of answers to vote on, where votes need no token."""
        return await page(request, board)

    @routes.post("/vote")
    async def vote(request: Request, board: The) -> Response:
        """What the form sends; the answer says what became of it, and shows the next pair."""
        try:
            given = _fields(await body_of(request))
        except _KINDS as error:
            return await page(request, board, said=_not_done(error), status=refusal(error).status_code)
        asked = _with_token(request, given)
        if not given["ticket"]:
            return await page(asked, board, given)
        try:
            taken = await take(_with_body(asked, given), board, None)
        except _KINDS as error:
            return await page(asked, board, given, _not_done(error), refusal(error).status_code)
        names = msgspec.json.decode(taken.body)
        return await page(asked, board, given, f"Your vote counts. A was {names['a']}, B was {names['b']}.")

    return routes


def _fields(body: bytes) -> dict[str, str]:
    """The fields of the form, empty where it did not send them."""
    try:
        found = dict(parse_qsl(body.decode("ascii"), errors="strict", max_num_fields=len(_FIELDS)))
    except ValueError:
        raise BadBallot("expected the fields of the form") from None
    return {field: found.get(field, "") for field in _FIELDS}


def _with_token(request: Request, given: dict[str, str]) -> Request:
    """A form cannot send a header: its field stands for it."""
    if not given["token"]:
        return request
    header = b"authorization", b"Bearer " + given["token"].encode("latin-1", "replace")
    return Request({**request.scope, "headers": [*request.scope["headers"], header]}, request.receive)


def _with_body(request: Request, given: dict[str, str]) -> Request:
    """The same vote as a script would send it."""
    voter = {"voter": given["voter"]} if given["voter"].strip() else {}
    body = msgspec.json.encode({"ticket": given["ticket"], "winner": given["winner"], **voter})

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return Request(request.scope, receive)


def _not_done(error: Exception) -> str:
    return f"Not done: {error.detail if isinstance(error, HTTPException) else error}."
