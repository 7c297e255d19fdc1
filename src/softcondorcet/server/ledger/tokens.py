"""Tokens: shown once, kept as digests, good for one scope on one board or on all."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import Literal

from softcondorcet.server.ledger.database import Database
from softcondorcet.server.ledger.writer import Transaction

Scope = Literal["vote", "admin"]
SCOPES: tuple[Scope, ...] = ("vote", "admin")


@dataclass(frozen=True)
class Token:
    """`board` is None for a token that is good for every board. An admin may vote too."""

    id: int
    digest: str
    board: int | None
    scope: Scope
    label: str
    made: float
    revoked: float | None

    def allows(self, scope: Scope, board: int) -> bool:
        return self.revoked is None and self.scope in (scope, "admin") and self.board in (None, board)


def digest_of(secret: str) -> str:
    """The digest of a secret that is stored. Secrets are random and long, so it cannot be guessed back."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def all_tokens(database: Database) -> list[Token]:
    rows = database.run("SELECT id, digest, board, scope, label, made, revoked FROM token ORDER BY id")
    return [Token(*row) for row in rows]


def find(tokens: list[Token], secret: str) -> Token | None:
    """The token with this secret. All are compared, each in a time that does not depend on what is right about it."""
    digest, match = digest_of(secret), None
    for token in tokens:
        if hmac.compare_digest(token.digest, digest) and token.revoked is None:
            match = token
    return match


def add(transaction: Transaction, board: int | None, scope: Scope, label: str) -> tuple[Token, str]:
    """Create a token; its secret is returned here and stored nowhere."""
    secret = f"sco_{secrets.token_urlsafe(24)}"
    number = (transaction.database.run("SELECT MAX(id) FROM token")[0][0] or 0) + 1
    token = Token(number, digest_of(secret), board, scope, label, transaction.now, None)
    row = token.id, token.digest, token.board, token.scope, token.label, token.made
    transaction.database.run("INSERT INTO token (id, digest, board, scope, label, made) VALUES (?, ?, ?, ?, ?, ?)", row)
    return token, secret


def revoke(transaction: Transaction, number: int) -> None:
    transaction.database.run("UPDATE token SET revoked = ? WHERE id = ? AND revoked IS NULL", (transaction.now, number))
