"""Routes of a board, made for the main board and again for boards by name."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends, Header, HTTPException, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import AfterValidator

from softcondorcet import __version__
from softcondorcet.serve import ballots, content, shapes
from softcondorcet.serve.board import Board, Snapshot
from softcondorcet.serve.gate import Gate
from softcondorcet.serve.names import LONGEST, name
from softcondorcet.serve.service import Service
from softcondorcet.serve.taking import LONGEST_KEY, vote_taker
from softcondorcet.serve.votes import Filter

_WHY = {
    401: "No token, or one that is not known",
    403: "The token is for something else, or a page of another site asks",
    404: "There is no such thing",
    408: "The body came too slowly",
    409: "It is there already",
    413: "The body is too long",
    415: "The body is packed",
    422: "It cannot be understood; says where",
    429: "Too many votes; says when to come back",
    501: "This server cannot make it",
    503: "Too much waits to be written; come back soon",
    507: "The disk is full: nothing was kept",
}


# By name: a model for each refusal of each route would take a tenth of a second to make at every start.
_PROBLEM = {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}


def says(*statuses: int, **others: Any) -> dict[int | str, dict[str, Any]]:
    """For the documentation: refusals that a route may answer with. All may be asked by a page of another site."""
    return {status: {"description": _WHY[status], "content": _PROBLEM} for status in (403, *statuses)} | others


WRITE = says(401, 408, 413, 415, 422, 429, 503, 507)
READ = says(404, 422, 503)
_named = AfterValidator(lambda text: None if text is None else name(text, "name"))
Name = Annotated[str, Query(min_length=1, max_length=LONGEST), _named]
OneName = Annotated[str | None, Query(min_length=1, max_length=LONGEST), _named]
_VOTE_BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": ballots.schema()}},
    }
}


async def filter_of(
    group: Annotated[
        str | None, Query(min_length=1, max_length=LONGEST, description="Only votes of this group"), _named
    ] = None,
    since: Annotated[
        float | None, Query(ge=0, description="Only votes from this time on, in seconds since 1970")
    ] = None,
    until: Annotated[float | None, Query(ge=0, description="Only votes before this time")] = None,
) -> Filter:
    return Filter(group, since, until)


Wanted = Annotated[Filter, Depends(filter_of)]


def reply(request: Request, etag: str, make: Callable[[], bytes], kind: str = "application/json") -> Response:
    """What `make` gives, or 304 for a caller who has it: another version of the software may say it in other words."""
    headers = {"ETag": f'"{etag}-{__version__}"', "Cache-Control": "no-cache"}
    if headers["ETag"] in [
        tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")
    ]:
        return Response(status_code=304, headers=headers)
    return Response(make(), media_type=kind, headers=headers)


def encode(found: content.Content | None, what: str) -> bytes:
    if found is None:
        raise HTTPException(404, f"expected {what} on this board")
    return msgspec.json.encode(found)


def board_routes(service: Service, gate: Gate, board_of: Callable[..., Awaitable[Board]]) -> APIRouter:
    """All routes of a board; `board_of` finds which."""
    routes = APIRouter()
    The = Annotated[Board, Depends(board_of)]  # noqa: N806

    take = vote_taker(service, gate)

    @routes.post(
        "/votes",
        status_code=201,
        tags=["votes"],
        responses={201: {"model": shapes.VoteAnswer | shapes.MatchVote}, **WRITE},
        openapi_extra=_VOTE_BODY,
    )
    async def votes(
        request: Request,
        board: The,
        idempotency_key: Annotated[str | None, Header(min_length=1, max_length=LONGEST_KEY)] = None,
    ) -> Response:
        """One vote, or a list of up to 1,000, all or none. The answer comes when they are on disk.

        With an Idempotency-Key a request can be sent again: the same key with the same body is answered as before and
        counted once; with another body it is refused. The vote of a ticket needs none, and is answered with the names.
        """
        return await take(request, board, idempotency_key)

    async def seen(board: Board, wanted: Filter, max_age: float = 0.0) -> Snapshot:
        return await service.view(board, wanted) if wanted else await asyncio.to_thread(board.snapshot, max_age)

    @routes.get(
        "/leaderboard.json",
        tags=["read"],
        responses={200: {"model": shapes.Leaderboard}, 304: {"description": "You have it"}, **READ},
    )
    async def leaderboard(request: Request, board: The, wanted: Wanted) -> Response:
        """Agents best first, of all votes or of those wanted."""
        now = await seen(board, wanted)
        overall = await seen(board, Filter()) if wanted else None
        return reply(request, _tag(now, wanted), lambda: msgspec.json.encode(content.leaderboard(now, overall)))

    @routes.get(
        "/pair.json",
        tags=["read"],
        responses={200: {"model": shapes.Pair}, 304: {"description": "You have it"}, **READ},
    )
    async def pair(request: Request, board: The, a: Name, b: Name) -> Response:
        """Two agents head to head."""
        now = await seen(board, Filter())
        return reply(request, now.id, lambda: encode(content.pair(now, a, b), "two agents"))

    @routes.get(
        "/agent.json",
        tags=["read"],
        responses={200: {"model": shapes.AgentPage}, 304: {"description": "You have it"}, **READ},
    )
    async def agent(request: Request, board: The, name: Name) -> Response:
        """One agent: whom it met, and its ratings over time."""
        now = await seen(board, Filter())
        past = await asyncio.to_thread(service.past.of, board.id)
        return reply(request, now.id, lambda: encode(content.agent(now, name, past), "an agent"))

    @routes.get(
        "/history.json",
        tags=["read"],
        responses={200: {"model": shapes.History}, 304: {"description": "You have it"}, **READ},
    )
    async def fits(request: Request, board: The) -> Response:
        """The order at each fit that was kept."""
        now = await seen(board, Filter())
        past = await asyncio.to_thread(service.past.of, board.id)
        return reply(request, now.id, lambda: msgspec.json.encode(content.history(now, past)))

    @routes.get(
        "/doctor.json",
        tags=["read"],
        responses={200: {"model": shapes.Doctor}, 304: {"description": "You have it"}, **READ},
    )
    async def doctor(request: Request, board: The) -> Response:
        """What is doubtful about the votes, and how few would change the answer."""
        now = await seen(board, Filter())
        return reply(request, now.id, lambda: msgspec.json.encode(content.doctor(now)))

    @routes.get(
        "/events",
        tags=["read"],
        response_class=StreamingResponse,
        responses={200: {"content": {"text/event-stream": {}}}, **READ},
    )
    async def events(board: The) -> StreamingResponse:
        """The id of the snapshot whenever there is a new one, as server-sent events."""
        if service.listeners >= _LISTENERS:
            raise HTTPException(503, "too many pages listen already")
        return StreamingResponse(
            _events(service, board), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
        )

    return routes


# Pages that may listen at a time.
_LISTENERS = 200


async def _events(service: Service, board: Board) -> AsyncIterator[bytes]:
    """Something at least every 15 seconds, so that a listener who left is noticed."""
    service.listeners += 1
    try:
        last, quiet = "", 0.0
        while not service.stopping.is_set():
            now = f"{board.last}-{board.fit.id if board.fit else 0}"
            if now != last:
                last, quiet = now, 0.0
                yield f"event: snapshot\ndata: {now}\n\n".encode()
            elif quiet >= 15.0:
                quiet = 0.0
                yield b": still here\n\n"
            await asyncio.sleep(0.5)
            quiet += 0.5
    finally:
        service.listeners -= 1


def _tag(now: Snapshot, wanted: Filter) -> str:
    return now.id + (f"-{hashlib.sha256(repr(wanted).encode()).hexdigest()[:16]}" if wanted else "")
