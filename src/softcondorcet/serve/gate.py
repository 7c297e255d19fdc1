"""Who may do what, how much, and in what form: everything that is asked of a request before it is read."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from softcondorcet.serve.board import Board
from softcondorcet.serve.limits import Buckets
from softcondorcet.serve.service import Service
from softcondorcet.serve.store import Ask
from softcondorcet.serve.tokens import Scope, Token, find

# Bytes of a body: room for a thousand names of a thousand votes, or a file to import.
MOST_BYTES, MOST_IMPORT = 2**20, 2**24
# Seconds from the first byte of a body to its last.
LONGEST_BODY = 20.0


class Gate:
    """Tokens, rates and sizes."""

    def __init__(self, service: Service) -> None:
        self.service = service
        settings = service.settings
        self._by_token = Buckets(settings.token_rate, 2 * settings.token_rate)
        self._by_voter = Buckets(settings.voter_rate, 2 * settings.voter_rate)

    def allow(self, request: Request, board: Board | None, scope: Scope) -> Token | None:
        """The token of the caller, or None where none is needed. 401 without a good one, 403 if it is for less.

        Votes need none while no token was ever made, or where the one who runs the service opened them to all.
        """
        token = self.token(request)
        if token is None:
            if scope == "vote" and (self.service.settings.open_votes or not self.service.tokens):
                return None
            raise HTTPException(401, f"expected a token with scope {scope}", {"WWW-Authenticate": "Bearer"})
        good = token.allows(scope, board.id) if board else token.scope == scope and token.board is None
        if not good:
            raise HTTPException(403, f"this token is not for {scope} on this board")
        return token

    def token(self, request: Request) -> Token | None:
        """The token of the header; 401 for one that is not known."""
        header = request.headers.get("authorization")
        if header is None:
            return None
        kind, _, secret = header.partition(" ")
        token = find(self.service.tokens, secret.strip()) if kind.lower() == "bearer" else None
        if token is None:
            raise HTTPException(401, "this token is not known", {"WWW-Authenticate": "Bearer"})
        return token

    def slow_down(self, request: Request, token: Token | None, board: Board, asks: Sequence[Ask]) -> None:
        """429 for a caller or voter who sends more than is allowed."""
        client = token.id if token else request.client.host if request.client else ""
        wait = self._by_token.take(client, len(asks))
        for voter, number in Counter(ask.voter for ask in asks if ask.voter is not None).items():
            wait = max(wait, self._by_voter.take((board.id, voter), number))
        if wait > 0:
            raise HTTPException(429, "too many votes", {"Retry-After": str(int(wait) + 1)})


async def body_of(request: Request, most: int = MOST_BYTES) -> bytes:
    """The body, counted as it comes: 413 for one that is too long, 415 for one that is packed, 408 for a slow one."""
    if request.headers.get("content-encoding", "identity") != "identity":
        raise HTTPException(415, "expected a body without Content-Encoding")
    parts, size = [], 0
    try:
        async with asyncio.timeout(LONGEST_BODY):
            more = True
            while more:
                message = await request.receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnect
                parts.append(message.get("body", b""))
                more = message.get("more_body", False)
                size += len(parts[-1])
                if size > most:
                    raise HTTPException(413, f"expected at most {most:,} bytes")
    except TimeoutError:
        raise HTTPException(408, f"expected the whole body within {LONGEST_BODY:g} seconds") from None
    return b"".join(parts)
