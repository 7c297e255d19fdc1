"""Routes for the one who runs the service: boards and tokens."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, HTTPException, Path, Query, Request, Response

from softcondorcet.serve import shapes
from softcondorcet.serve.gate import Gate, body_of
from softcondorcet.serve.names import LONGEST, name
from softcondorcet.serve.routes import says
from softcondorcet.serve.service import Service
from softcondorcet.serve.store import Refused
from softcondorcet.serve.tokens import Scope, Token

_WRITE = says(401, 408, 413, 415, 422, 503, 507)


class NewBoard(msgspec.Struct, forbid_unknown_fields=True):
    """The name stands in addresses."""

    name: Annotated[str, msgspec.Meta(max_length=60, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    title: Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST)] | None = None


class NewToken(msgspec.Struct, forbid_unknown_fields=True):
    scope: Scope
    label: Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST)]


def admin_routes(service: Service, gate: Gate) -> APIRouter:
    routes = APIRouter(tags=["admin"])

    @routes.get("/boards.json", responses={200: {"model": list[shapes.BoardShape]}})
    async def boards() -> Response:
        """All boards."""
        found = [
            {"name": board.name, "title": board.title, "n_votes": len(board.votes), "n_agents": len(board.agents)}
            for board in service.boards.values()
        ]
        return _json(found)

    @routes.post(
        "/boards",
        status_code=201,
        responses={201: {"model": shapes.BoardShape}, **_WRITE, **says(409)},
        openapi_extra=_takes(NewBoard),
    )
    async def new_board(request: Request) -> Response:
        """A new, empty board."""
        gate.allow(request, None, "admin")
        asked = msgspec.json.decode(await body_of(request), type=NewBoard)
        called, title = name(asked.name, "name"), name(asked.title or asked.name, "title")
        try:
            board = await service.new_board(called, title)
        except Refused as refusal:
            raise HTTPException(409, str(refusal)) from None
        return _json({"name": board.name, "title": board.title, "n_votes": 0, "n_agents": 0}, 201)

    @routes.get("/tokens.json", responses={200: {"model": list[shapes.TokenShape]}, **says(401)})
    async def tokens(request: Request) -> Response:
        """All tokens, without their secrets."""
        gate.allow(request, None, "admin")
        return _json([_told(token) for token in service.tokens if token.revoked is None])

    @routes.post(
        "/tokens",
        status_code=201,
        responses={201: {"model": shapes.TokenMade}, **_WRITE, **says(404)},
        openapi_extra=_takes(NewToken),
    )
    async def new_token(
        request: Request, board: Annotated[str | None, Query(min_length=1, max_length=LONGEST)] = None
    ) -> Response:
        """A new token, for one board or for all. Its secret is shown this once."""
        gate.allow(request, None, "admin")
        asked = msgspec.json.decode(await body_of(request), type=NewToken)
        if board is not None and board not in service.boards:
            raise HTTPException(404, "expected the name of a board")
        chosen = service.boards[board] if board is not None else None
        token, secret = await service.new_token(chosen, asked.scope, name(asked.label, "label"))
        return _json({**_told(token), "token": secret}, 201)

    @routes.delete("/tokens/{number}", status_code=204, responses=says(401, 404, 422, 503, 507))
    async def revoke(request: Request, number: Annotated[int, Path(ge=1, le=2**62)]) -> Response:
        """From now on this token is not known."""
        gate.allow(request, None, "admin")
        if number not in {token.id for token in service.tokens if token.revoked is None}:
            raise HTTPException(404, "expected the number of a token")
        await service.revoke(number)
        return Response(status_code=204)

    def _told(token: Token) -> dict[str, Any]:
        of = next((board.name for board in service.boards.values() if board.id == token.board), None)
        return {"id": token.id, "scope": token.scope, "label": token.label, "board": of, "made": token.made}

    return routes


def _takes(shape: type[msgspec.Struct]) -> dict[str, Any]:
    """For the documentation: the body of a request."""
    (schema,) = msgspec.json.schema_components([shape])[1].values()
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def _json(found: Any, status: int = 200) -> Response:
    return Response(msgspec.json.encode(found), status, media_type="application/json")
