"""Routes for admins: boards, tokens, and votes that do not count, or count again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct
from starlette.exceptions import HTTPException
from starlette.responses import Response

from softcondorcet.server.ledger.board import Board
from softcondorcet.server.ledger.limits import LONGEST, name
from softcondorcet.server.ledger.service import Service
from softcondorcet.server.ledger.tokens import Scope, Token
from softcondorcet.server.ledger.writer import Ask, Refused
from softcondorcet.server.web.http import Call, NoQuery, Routes, json_response
from softcondorcet.server.web.routes import Name
from softcondorcet.server.web.schemas import (
    WRITE,
    BoardState,
    NewTokenAnswer,
    TokenState,
    VoteAnswer,
    VotersAnswer,
)
from softcondorcet.server.web.votes import put

_WRITE = (401, 408, 413, 415, 422, 503, 507)
# Voters who may be judged at once.
MOST_VOTERS = 10_000


class NewBoard(Struct, forbid_unknown_fields=True):
    """A board to be made. Its name stands in addresses."""

    name: Annotated[str, Meta(max_length=60, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    title: Annotated[str, Meta(min_length=1, max_length=LONGEST)] | None = None


class NewToken(Struct, forbid_unknown_fields=True):
    """A token to be made: its scope, and a label to know it by."""

    scope: Scope
    label: Annotated[str, Meta(min_length=1, max_length=LONGEST)]


class OfBoard(Struct):
    board: Annotated[str, Meta(min_length=1, max_length=LONGEST)] | None = None


class OfToken(Struct):
    number: Annotated[int, Meta(ge=1, le=2**62)]


class OfVote(Struct):
    vote: Annotated[int, Meta(ge=1, le=2**62)]
    why: Annotated[str, Meta(max_length=LONGEST)] = ""


class OfVoter(Struct):
    voter: Name | None = None
    why: Annotated[str, Meta(max_length=LONGEST)] = ""


class Voters(Struct, forbid_unknown_fields=True):
    """Voters to quarantine or release together: a row of the ledger each, one commit and one fit for all."""

    voters: Annotated[
        list[Annotated[str, Meta(extra_json_schema={"minLength": 1, "maxLength": LONGEST})]],
        Meta(min_length=1, max_length=MOST_VOTERS),
    ]


site_routes = Routes("admin", of_board=False)


@site_routes.get("/boards.json", list[BoardState])
async def boards(call: Call[NoQuery]) -> Response:
    """All boards."""
    states = [BoardState(b.name, b.title, len(b.votes), len(b.agents)) for b in call.service.boards.values()]
    return json_response(states)


@site_routes.post("/boards", BoardState, body=NewBoard, refusals=(*_WRITE, 409))
async def new_board(call: Call[NoQuery]) -> Response:
    """A new, empty board."""
    call.site.auth.allow(call.request, None, "admin")
    new: NewBoard = await call.json()
    called, title = name(new.name, "name"), name(new.title or new.name, "title")
    try:
        board = await call.service.new_board(called, title)
    except Refused as refusal:
        raise HTTPException(409, str(refusal)) from None
    return json_response(BoardState(board.name, board.title, 0, 0), 201)


@site_routes.get("/tokens.json", list[TokenState], refusals=(401,))
async def tokens(call: Call[NoQuery]) -> Response:
    """All tokens, without their secrets."""
    call.site.auth.allow(call.request, None, "admin")
    good = (token for token in call.service.tokens if token.revoked is None)
    return json_response([TokenState(*_about(token, call.service)) for token in good])


@site_routes.post("/tokens", NewTokenAnswer, body=NewToken, refusals=(*_WRITE, 404))
async def new_token(call: Call[OfBoard]) -> Response:
    """A new token, for one board or for all. Its secret is shown this once."""
    call.site.auth.allow(call.request, None, "admin")
    new: NewToken = await call.json()
    known, board = call.service.boards, call.query.board
    if board is not None and board not in known:
        raise HTTPException(404, "expected the name of a board")
    chosen = known[board] if board is not None else None
    token, secret = await call.service.new_token(chosen, new.scope, name(new.label, "label"))
    return json_response(NewTokenAnswer(*_about(token, call.service), secret), 201)


@site_routes.delete("/tokens/{number}", refusals=(401, 404, 422, 503, 507))
async def revoke(call: Call[OfToken]) -> Response:
    """From now on this token is not known."""
    call.site.auth.allow(call.request, None, "admin")
    number = call.query.number
    if number not in {token.id for token in call.service.tokens if token.revoked is None}:
        raise HTTPException(404, "expected the number of a token")
    await call.service.revoke(number)
    return Response(status_code=204)


def _about(token: Token, service: Service) -> tuple[int, str, str, str | None, float]:
    board = next((board.name for board in service.boards.values() if board.id == token.board), None)
    return token.id, token.scope, token.label, board, token.made


routes = Routes("integrity", refusals=(*WRITE, 404))


@routes.post("/retract", VoteAnswer)
async def retract(call: Call[OfVote]) -> Response:
    """Take back one vote. It stays in the ledger and no longer counts."""
    token = call.site.auth.allow(call.request, call.board, "admin")
    if call.board.votes.place(call.query.vote) is None:
        raise HTTPException(404, "expected the number of a vote on this board")
    return await _write(call, [Ask("retract", {"vote": call.query.vote, "why": call.query.why})], token)


_VOTERS = {"body": Voters, "body_required": False, "examples": [{"voters": ["ann", "bob"]}]}


@routes.post("/quarantine", VoteAnswer, **_VOTERS)
async def quarantine(call: Call[OfVoter]) -> Response:
    """From now on nothing of this voter, or of the voters in the body, counts, past and future."""
    return await _judge(call, "quarantine")


@routes.post("/release", VoteAnswer, **_VOTERS)
async def release(call: Call[OfVoter]) -> Response:
    """The votes of this voter, or of the voters in the body, count again."""
    return await _judge(call, "release")


async def _judge(call: Call[OfVoter], kind: Literal["quarantine", "release"]) -> Response:
    token = call.site.auth.allow(call.request, call.board, "admin")
    voters = await _voters(call) if call.query.voter is None else [call.query.voter]
    expect_voters(call.board, voters)
    return await _write(call, [Ask(kind, {"why": call.query.why}, voter=one) for one in voters], token)


def expect_voters(board: Board, voters: Sequence[str]) -> None:
    """Refuse voters who never voted on the board: a misspelt name must not pass for one without votes."""
    for one in voters:
        if board.votes.voters.find(one) is None:
            raise HTTPException(404, f"expected voters who have voted on this board, got {one!r}")


async def _voters(call: Call[OfVoter]) -> list[str]:
    """The voters of a body, each once."""
    body = await call.body()
    if not body:
        raise Refused('expected ?voter=NAME, or a body {"voters": [...]}')
    decoded = msgspec.json.decode(body, type=Voters)
    return list(dict.fromkeys(name(voter, "voters") for voter in decoded.voters))


async def _write(call: Call[OfVote] | Call[OfVoter], asks: list[Ask], token: Token | None) -> Response:
    receipt = await put(call.service, call.board, asks, token.id if token else None)
    return json_response(VoteAnswer(receipt.first, receipt.last, len(receipt), call.board.name), 201)


@routes.get("/voters.json", VotersAnswer, refusals=(401, 404, 422))
async def voters(call: Call[NoQuery]) -> Response:
    """Voters whose votes are improbable, and those in quarantine."""
    call.site.auth.allow(call.request, call.board, "admin")
    suspects = call.board.fit.analysis.get("suspects", []) if call.board.fit else []
    return json_response(VotersAnswer(suspects, call.board.votes.quarantined))
