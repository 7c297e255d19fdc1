"""Sessions of admins in a browser: a one-time link, or a token, is exchanged for a cookie.

Sessions are kept in memory. They end with the server, after half a day, when the admin leaves, and with the token that
they rest on. A cookie is believed on the pages of admins alone, and what these change also takes a secret that stands
in each of their forms: pages of other sites know neither.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from starlette.requests import Request

from softcondorcet.server.ledger.board import Board
from softcondorcet.server.ledger.tokens import Token, digest_of

COOKIE = "sco_admin"
# Seconds that a link, and a session, is good for.
LINK_SECONDS, SESSION_SECONDS = 3600.0, 43_200.0
# Sessions at a time; the oldest ends where there would be more.
MOST = 100


@dataclass
class Session:
    """An admin in a browser. `token` is None for the owner, who came by the link and may do everything."""

    token: Token | None
    until: float
    form: str = field(default_factory=lambda: secrets.token_urlsafe(18))  # stands in each form
    message: str = ""  # what became of the last form, for the next page

    @property
    def number(self) -> int | None:
        """The token that rows of the ledger are written with."""
        return self.token.id if self.token else None

    def may(self, board: Board | None) -> bool:
        """Whether this admin may change a board; for None, whether all that is of no board: tokens and boards."""
        if self.token is None:
            return True
        return self.token.allows("admin", board.id) if board else self.token.board is None

    def has_form(self, secret: str) -> bool:
        """Whether a form is one of this session."""
        return hmac.compare_digest(self.form.encode(), secret.encode("utf-8", "surrogatepass"))

    def take_message(self) -> str:
        """The message, which is shown once."""
        message, self.message = self.message, ""
        return message


class Sessions:
    """All sessions, by the digest of their cookie; and the links that nobody has followed yet."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._links: dict[str, float] = {}
        self._sessions: dict[str, Session] = {}

    def new_link(self) -> str:
        """A code that is good for one sign-in, within the hour."""
        code = secrets.token_urlsafe(18)
        self._links[digest_of(code)] = self._now() + LINK_SECONDS
        return code

    def follow(self, code: str) -> str | None:
        """The cookie of a new session of the owner; None for a code that is wrong, too old, or was used."""
        until = self._links.pop(digest_of(code), 0.0)
        return self.begin(None) if self._now() < until else None

    def begin(self, token: Token | None) -> str:
        """The cookie of a new session."""
        cookie = secrets.token_urlsafe(24)
        while len(self._sessions) >= MOST:
            del self._sessions[next(iter(self._sessions))]
        self._sessions[digest_of(cookie)] = Session(token, self._now() + SESSION_SECONDS)
        return cookie

    def of(self, request: Request, tokens: Sequence[Token]) -> Session | None:
        """The session of a request; None where it has none, or its token is no longer good."""
        session = self._sessions.get(digest_of(request.cookies.get(COOKIE, "")))
        if session is None or self._now() >= session.until:
            return None
        known = session.token is None or any(t.id == session.token.id and t.revoked is None for t in tokens)
        return session if known else None

    def end(self, request: Request) -> None:
        self._sessions.pop(digest_of(request.cookies.get(COOKIE, "")), None)
