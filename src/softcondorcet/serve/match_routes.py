"""Routes of blind matches: what agents answered goes in, two answers without names come out."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends, HTTPException, Request, Response

from softcondorcet.serve import matches, shapes
from softcondorcet.serve.board import Board
from softcondorcet.serve.gate import Gate, body_of
from softcondorcet.serve.names import LONGEST
from softcondorcet.serve.routes import WRITE, says
from softcondorcet.serve.service import Service
from softcondorcet.serve.store import Ask

# A match may be dealt from a board as it was so many seconds ago.
_OLD = 2.0


def match_routes(service: Service, gate: Gate, board_of: Callable[..., Awaitable[Board]]) -> APIRouter:
    """The routes of a board; `board_of` finds which."""
    routes = APIRouter(tags=["matches"])
    The = Annotated[Board, Depends(board_of)]  # noqa: N806

    @routes.post(
        "/samples",
        status_code=201,
        responses={201: {"model": shapes.SamplesKept}, **WRITE, **says(404)},
        openapi_extra=_body(),
    )
    async def samples(request: Request, board: The) -> Response:
        """What agents answered to tasks: up to 1,000, all or none. A new answer takes the place of an earlier one."""
        gate.allow(request, board, "admin")
        found = matches.read(await body_of(request))
        await service.write(lambda made: service.matches.keep(made, board.id, found))
        service.matches.show(board.id, found)
        return Response(msgspec.json.encode({"n": len(found), "board": board.name}), 201, media_type="application/json")

    @routes.get("/match.json", responses={200: {"model": shapes.Match}, **says(401, 404, 429)})
    async def match(request: Request, board: The) -> Response:
        """Two answers to one task, without names, and a ticket to vote with; needs what a vote needs."""
        dealt = await deal(service, gate, request, board)
        if dealt is None:
            raise HTTPException(404, "expected a task with two answers on this board; POST /samples takes them")
        return Response(
            msgspec.json.encode(dealt), media_type="application/json", headers={"Cache-Control": "no-store"}
        )

    return routes


async def deal(service: Service, gate: Gate, request: Request, board: Board) -> dict[str, str] | None:
    """A match for one who may vote: a ticket, the task and two answers; None where no task has two."""
    token = gate.allow(request, board, "vote")
    gate.slow_down(request, token, board, [Ask("vote", [])])
    dealt = service.matches.deal(board.id, await asyncio.to_thread(board.snapshot, _OLD))
    if dealt is None:
        return None
    ticket, of, a, b = dealt
    return {"ticket": ticket, "task": of.task, "a": a, "b": b}


def _body() -> dict[str, Any]:
    """The body of samples, for the documentation of the API."""
    name = {"type": "string", "minLength": 1, "maxLength": LONGEST}
    answer = {"type": "string", "minLength": 1, "maxLength": matches.LONGEST_ANSWER}
    sample = {
        "type": "object",
        "properties": {"task": name, "agent": name, "answer": answer},
        "required": ["task", "agent", "answer"],
        "additionalProperties": False,
        "example": {"task": "What is 7 x 8?", "agent": "x", "answer": "56"},
    }
    several = {"type": "array", "items": sample, "minItems": 1, "maxItems": matches.MOST_SAMPLES}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": several}}}}
