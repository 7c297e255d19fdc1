"""Auth and rate limits: who may do what on which board, and how much of it in a second."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.exceptions import HTTPException
from starlette.requests import Request

from softcondorcet.server.ledger.board import Board
from softcondorcet.server.ledger.limits import Buckets
from softcondorcet.server.ledger.service import Service
from softcondorcet.server.ledger.tokens import Scope, Token, find
from softcondorcet.server.ledger.writer import MICRO, Ask


def host_of(request: Request) -> str:
    """The address that a request came from."""
    return request.client.host if request.client else ""


def header_of(request: Request, name: bytes) -> str | None:
    """A header by its name in lower case. Scanning the raw list takes a third of the time of Starlette's mapping."""
    for key, value in request.scope["headers"]:
        if key == name:
            return str(value, "latin-1")
    return None


def cost(ask: Ask) -> float:
    """What a vote costs in a rate limit: 1 for a battle, half the number of its agents for a ranking."""
    return max(1.0, sum(map(len, ask.body)) / 2) if ask.kind == "vote" else 1.0


class Auth:
    """Authorisation of callers: tokens, with the rates and weights that they allow."""

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
        """The token of the Authorization header; 401 for one that is not known."""
        header = header_of(request, b"authorization")
        if header is None:
            return None
        kind, _, secret = header.partition(" ")
        token = find(self.service.tokens, secret.strip()) if kind.lower() == "bearer" else None
        if token is None:
            raise HTTPException(401, "this token is not known", {"WWW-Authenticate": "Bearer"})
        return token

    def limit_rate(self, request: Request, token: Token | None, board: Board, asks: Sequence[Ask]) -> None:
        """429 for a caller or voter who sends more than is allowed."""
        costs = [cost(ask) for ask in asks]
        wait = self._by_token.take(token.id if token else host_of(request), sum(costs))
        by_voter: dict[str, float] = {}
        for ask, amount in zip(asks, costs, strict=True):
            if ask.voter is not None:
                by_voter[ask.voter] = by_voter.get(ask.voter, 0.0) + amount
        for voter, amount in by_voter.items():
            wait = max(wait, self._by_voter.take((board.id, voter), amount))
        if wait > 0:
            raise HTTPException(429, "too many votes", {"Retry-After": str(int(wait) + 1)})

    def limit_weight(self, token: Token | None, asks: Sequence[Ask]) -> None:
        """403 for a vote that would count more than its voter may decide."""
        most = self.service.settings.most_weight
        heaviest = max((ask.weight for ask in asks), default=0) / MICRO
        if heaviest > most and (token is None or token.scope != "admin"):
            raise HTTPException(
                403, f"weight: expected at most {most:g}, got {heaviest:g}; more takes a token of scope admin"
            )
