"""Routes by which an admin says that votes do not count, or count again."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Depends, HTTPException, Query, Request, Response

from softcondorcet.serve import shapes
from softcondorcet.serve.board import Board
from softcondorcet.serve.gate import Gate, body_of
from softcondorcet.serve.names import LONGEST, name
from softcondorcet.serve.routes import WRITE, OneName, says
from softcondorcet.serve.service import Service
from softcondorcet.serve.store import Ask, Refused
from softcondorcet.serve.taking import put, taken

# Voters who may be judged at once.
MOST_VOTERS = 10_000
Why = Annotated[str, Query(max_length=LONGEST)]
_DONE = {201: {"model": shapes.VoteAnswer}, **WRITE, **says(404)}


class Voters(msgspec.Struct, forbid_unknown_fields=True):
    """Voters of whom the same is said: a row of the ledger each, one commit and one fit for all."""

    voters: Annotated[list[str], msgspec.Meta(min_length=1, max_length=MOST_VOTERS)]


def integrity_routes(service: Service, gate: Gate, board_of: Callable[..., Awaitable[Board]]) -> APIRouter:
    """The routes of a board; `board_of` finds which."""
    routes = APIRouter(tags=["integrity"])
    The = Annotated[Board, Depends(board_of)]  # noqa: N806

    @routes.post("/retract", status_code=201, responses=_DONE)
    async def retract(
        request: Request, board: The, vote: Annotated[int, Query(ge=1, le=2**62)], why: Why = ""
    ) -> Response:
        """Take back one vote. It stays in the ledger and no longer counts."""
        token = gate.allow(request, board, "admin")
        if board.votes.place(vote) is None:
            raise HTTPException(404, "expected the number of a vote on this board")
        ask = Ask("retract", {"vote": vote, "why": why})
        return taken(await put(service, board, [ask], token.id if token else None), board)

    async def judge(
        request: Request, board: Board, kind: Literal["quarantine", "release"], voter: str | None, why: str
    ) -> Response:
        token = gate.allow(request, board, "admin")
        voters = await _voters(request) if voter is None else [voter]
        for one in voters:
            if board.votes.voters.find(one) is None:
                raise HTTPException(404, f"expected voters who have voted on this board, got {one!r}")
        asks = [Ask(kind, {"why": why}, voter=one) for one in voters]
        return taken(await put(service, board, asks, token.id if token else None), board)

    @routes.post("/quarantine", status_code=201, responses=_DONE, openapi_extra=_body())
    async def quarantine(request: Request, board: The, voter: OneName = None, why: Why = "") -> Response:
        """From now on nothing of this voter, or of the voters in the body, counts, past and future."""
        return await judge(request, board, "quarantine", voter, why)

    @routes.post("/release", status_code=201, responses=_DONE, openapi_extra=_body())
    async def release(request: Request, board: The, voter: OneName = None, why: Why = "") -> Response:
        """The votes of this voter, or of the voters in the body, count again."""
        return await judge(request, board, "release", voter, why)

    @routes.get("/voters.json", responses={200: {"model": shapes.Voters}, **says(401, 404, 422)})
    async def voters(request: Request, board: The) -> Response:
        """Voters whose votes are improbable, and those in quarantine."""
        gate.allow(request, board, "admin")
        found = board.fit.found.get("suspects", []) if board.fit else []
        said = {"suspects": found, "quarantined": board.votes.quarantined}
        return Response(msgspec.json.encode(said), media_type="application/json")

    return routes


async def _voters(request: Request) -> list[str]:
    """Those of the body, each once."""
    body = await body_of(request)
    if not body:
        raise Refused('expected ?voter=NAME, or a body {"voters": [...]}')
    found = msgspec.json.decode(body, type=Voters)
    return list(dict.fromkeys(name(voter, "voters") for voter in found.voters))


def _body() -> dict[str, Any]:
    """For the documentation: voters may stand in the body, where the address names none."""
    one = {"type": "string", "minLength": 1, "maxLength": LONGEST}
    several = {"type": "array", "items": one, "minItems": 1, "maxItems": MOST_VOTERS}
    schema = {
        "type": "object", "properties": {"voters": several}, "required": ["voters"], "additionalProperties": False,
        "example": {"voters": ["ann", "bob"]},
    }  # fmt: skip
    return {"requestBody": {"required": False, "content": {"application/json": {"schema": schema}}}}
