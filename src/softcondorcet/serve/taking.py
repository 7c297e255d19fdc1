"""How a vote is taken: from a request to rows on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from softcondorcet.serve import ballots
from softcondorcet.serve.board import Board
from softcondorcet.serve.gate import Gate, body_of
from softcondorcet.serve.matches import key_of
from softcondorcet.serve.service import Service
from softcondorcet.serve.store import Ask, Receipt, Transaction

LONGEST_KEY = 200
Take = Callable[[Request, Board, str | None], Awaitable[Response]]


async def put(
    service: Service, board: Board, asks: list[Ask], token: int | None, key: str | None = None, body: bytes = b""
) -> Receipt:
    """The rows that were written, once they are on disk."""
    digest = hashlib.sha256(body).hexdigest() if key else ""
    most = service.settings.most_agents

    def work(made: Transaction) -> Receipt:
        return made.write(board.id, asks, token=token, key=key, digest=digest, most_agents=most)

    found: Receipt = await service.write(work)
    return found


def vote_taker(service: Service, gate: Gate) -> Take:
    """What POST /votes does, board and Idempotency-Key in hand."""

    async def take(request: Request, board: Board, key: str | None) -> Response:
        if key is not None and not 1 <= len(key) <= LONGEST_KEY:
            raise HTTPException(422, f"Idempotency-Key: expected 1 to {LONGEST_KEY} letters, got {len(key):,}")
        token = gate.allow(request, board, "vote")
        body = await body_of(request)
        asks, ticket = ballots.read(body)
        gate.slow_down(request, token, board, asks)
        names: dict[str, str] = {}
        if ticket is not None:
            match = service.matches.find(board.id, ticket)
            asks, key, names = [match.played(asks[0])], key_of(ticket), {"a": match.a, "b": match.b}
        receipt = await put(service, board, asks, token.id if token else None, key, body)
        return taken(receipt, board, **names)

    return take


def taken(receipt: Receipt, board: Board, **names: str) -> Response:
    """The answer to what was written."""
    said: dict[str, Any] = {
        "id": receipt.first, "last": receipt.last, "n": receipt.last - receipt.first + 1, "board": board.name, **names,
    }  # fmt: skip
    headers = {"Idempotent-Replayed": "true"} if receipt.again else {}
    return Response(msgspec.json.encode(said), 201, headers, "application/json")
