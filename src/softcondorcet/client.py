"""Client of a live leaderboard: sends votes to a server of ``sco serve`` and reads its board.

    client = Client("https://arena.example", token="sco_...")
    client.vote("x", "y", winner="x", voter="ann")
    client.push(read("results.json"))

A request that breaks off, or that a busy server puts off, is sent again with the same Idempotency-Key: it counts once.
One client is for one thread.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import random
import ssl
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from softcondorcet.checks import Watch, check, natural, positive
from softcondorcet.columns import VOTER
from softcondorcet.errors import DataError
from softcondorcet.formatting import plural
from softcondorcet.profile import Profile, as_profile

# Of one request, as the server limits it: votes, and bytes of its body with room to spare.
_VOTES, _BYTES = 1_000, 900_000
# Answers that ask for another try, and the longest pause before one, in seconds.
_AGAIN, _PAUSE = (408, 425, 429, 500, 502, 503, 504), 15.0
# What a connection can die of; a server that closed an idle one is met with the next request.
_BROKEN = (OSError, http.client.HTTPException)


@dataclass(frozen=True)
class Pushed:
    """What became of the votes of a push.

    `votes` is how many were sent, and `known` how many of them the server had from an earlier push of the same votes.
    `first` and `last` are their numbers in the ledger; `notes` say what the server does not keep.
    """

    votes: int
    known: int
    first: int | None
    last: int | None
    notes: tuple[str, ...] = ()


class Client:
    """A board of a live leaderboard, over HTTP.

    `url` is the address of the server, `token` a token of scope vote or admin where it asks for one, `board` the name
    of the board. `timeout` is for one answer, `patience` for all tries of a request together, in seconds.
    """

    def __init__(
        self, url: str, *, token: str | None = None, board: str = "main", timeout: float = 30.0, patience: float = 60.0
    ) -> None:
        parts = urlsplit(url if isinstance(url, str) else "")
        plain = parts.scheme in ("http", "https") and parts.hostname and not (parts.query or parts.fragment)
        check(bool(plain), "url", "the address of a server, http:// or https://", url)
        check(parts.username is None, "url", "an address without a password; give the secret as token", "one with it")
        check(
            token is None or (token.isascii() and token.isprintable()), "token", "the secret of a token", "other signs"
        )
        positive("timeout", timeout)
        check(patience >= 0, "patience", "seconds, 0 for a single try", patience)
        self._host, self._port, self._secure = str(parts.hostname), parts.port, parts.scheme == "https"
        self._root = parts.path.rstrip("/") + ("" if board == "main" else f"/boards/{quote(board, safe='')}")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._timeout, self._patience = timeout, patience
        self._connection: http.client.HTTPConnection | None = None
        self.url = f"{parts.scheme}://{parts.netloc}{self._root}"

    def __repr__(self) -> str:
        return f"Client({self.url!r})"

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def vote(
        self,
        a: str | Sequence[str | Sequence[str]],
        b: str | None = None,
        winner: str | None = None,
        *,
        voter: str | None = None,
        group: str | None = None,
        weight: float | None = None,
        key: str | None = None,
    ) -> int:
        """Send one vote, and return its number once it is on the server's disk.

        ``vote("x", "y", winner="x")`` is a battle; `winner` is one of the two, "tie" or "both_bad".
        ``vote(["x", ["y", "z"]])`` is a ranking, best first, in which a list is a tie. `group` is a judge, task or
        prompt. With a `key` of your own the same vote can be sent from two places, and counts once.
        """
        about = {"voter": voter, "group": group, "weight": weight}
        ballot = {**_ballot(a, b, winner), **{name: value for name, value in about.items() if value is not None}}
        answer, _ = self._send(ballot, key or os.urandom(16).hex())
        return int(answer["id"])

    def push(self, votes: Profile, *, skip: int = 0, again: bool = False, watch: Watch | None = None) -> Pushed:
        """Send all votes of a profile, in order, in requests of up to 1,000.

        A push that broke off is finished by the same call: what the server has, it does not count twice, and so it is
        with the same votes a second time, unless `again`. A file that grew is other votes: `skip` those that were sent.
        """
        profile = as_profile(votes, "a Profile")
        natural("skip", skip)
        ballots = [json.dumps(ballot, ensure_ascii=False) for ballot in list(_ballots(profile))[skip:]]
        digest = hashlib.sha256("\n".join(ballots).encode()).hexdigest()[:32]
        salt = os.urandom(8).hex() if again else ""
        first, last, sent, known = None, None, 0, 0
        for k, chunk in enumerate(_chunks(ballots)):
            answer, before = self._send(f"[{','.join(chunk)}]", f"push-{digest}{salt}-{k}")
            first, last = answer["id"] if first is None else first, answer["last"]
            sent, known = sent + len(chunk), known + len(chunk) * before
            if watch is not None:
                watch(sent, len(ballots), None)
        return Pushed(sent, known, first, last, tuple(_lost(profile)))

    def leaderboard(self, **some: Any) -> dict[str, Any]:
        """The leaderboard as the server says it (docs/serve/api.md), of votes by ``group=``, ``since=``, ``until=``."""
        return self._get("/leaderboard.json", some)

    def pair(self, a: str, b: str) -> dict[str, Any]:
        """Two agents head to head."""
        return self._get("/pair.json", {"a": a, "b": b})

    def votes(self, **some: Any) -> Profile:
        """The votes that count, as a profile; ``group=``, ``since=``, ``until=`` choose among them."""
        from io import BytesIO

        from softcondorcet.io.files import read  # a harness that only sends needs no readers

        _, body, _ = self._ask("GET", "/export.jsonl", some)
        if not body.strip():
            raise DataError(f"{self.url}: the board has no votes")
        return read(BytesIO(body), format="jsonl")

    def _get(self, path: str, query: Mapping[str, Any]) -> dict[str, Any]:
        _, body, _ = self._ask("GET", path, query)
        return self._json(body)

    def _send(self, ballots: Any, key: str) -> tuple[dict[str, Any], bool]:
        """Votes to the server; its answer, and whether it had them already."""
        body = ballots if isinstance(ballots, str) else json.dumps(ballots, ensure_ascii=False)
        headers = {"Content-Type": "application/json", "Idempotency-Key": key}
        _, answer, got = self._ask("POST", "/votes", {}, body.encode(), headers)
        return self._json(answer), got.get("idempotent-replayed") == "true"

    def _json(self, body: bytes) -> dict[str, Any]:
        try:
            answer = json.loads(body)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise DataError(f"{self.url}: expected the JSON of a live leaderboard, got {body[:60]!r}")
        return answer

    def _ask(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any],
        body: bytes | None = None,
        headers: Mapping[str, str] = {},
    ) -> tuple[int, bytes, dict[str, str]]:
        """One request, until it is answered for good or `patience` is over."""
        where = self._root + path + (f"?{urlencode(query)}" if query else "")
        end, pause = time.monotonic() + self._patience, 0.25
        while True:
            wait, trouble = 0.0, ""
            try:
                status, answer, got = self._try(method, where, body, {**self._headers, **headers})
                if status < 300:
                    return status, answer, got
                trouble = f"{status} {_detail(answer, got)}"
                if status not in _AGAIN:
                    raise DataError(f"{self.url}: {trouble}")
                wait = _seconds(got.get("retry-after"))
            except ssl.SSLCertVerificationError as error:
                raise DataError(f"{self.url}: its certificate is not valid ({error.verify_message})") from None
            except _BROKEN as error:
                self.close()
                trouble = f"no answer ({str(error) or type(error).__name__})"
            wait = max(wait, pause * random.uniform(0.5, 1.0))
            if time.monotonic() + wait > end:
                raise DataError(f"{self.url}: {trouble}; tried for {self._patience:g} s")
            time.sleep(wait)
            pause = min(2 * pause, _PAUSE)

    def _try(
        self, method: str, where: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, bytes, dict[str, str]]:
        if self._connection is None:
            kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
            self._connection = kind(self._host, self._port, timeout=self._timeout)
        self._connection.request(method, where, body, dict(headers))
        answer = self._connection.getresponse()
        data = answer.read()
        return answer.status, data, {name.lower(): value for name, value in answer.getheaders()}


def _ballot(a: str | Sequence[str | Sequence[str]], b: str | None, winner: str | None) -> dict[str, Any]:
    """The vote as the server takes it."""
    if not isinstance(a, str):
        check(b is None and winner is None, "b and winner", "left out beside a ranking", (b, winner))
        return {"ranking": [tier if isinstance(tier, str) else list(tier) for tier in a]}
    check(b is not None and a != b, "b", "another agent", b)
    if winner in (a, b):
        return {"a": a, "b": b, "winner": "a" if winner == a else "b"}
    check(winner in ("tie", "both_bad"), "winner", f"{a!r}, {b!r}, 'tie' or 'both_bad'", winner)
    return {"a": a, "b": b, "winner": winner}


def _ballots(profile: Profile) -> Iterator[dict[str, Any]]:
    """The votes of a profile with two agents or more, as the server takes them: who was shown first is kept."""
    about = {
        "group": _names(profile, profile.group_by),
        "voter": _names(profile, VOTER if VOTER in profile.columns else None),
    }
    turned = profile.turned if profile.turned is not None else [None] * profile.n_votes
    rows = zip(profile.rankings(), profile.weight.tolist(), turned, *about.values(), strict=True)
    for tiers, weight, side, *names in rows:
        flat = [name for tier in tiers for name in tier]
        if len(flat) < 2:
            continue
        ballot: dict[str, Any] = {"ranking": [tier[0] if len(tier) == 1 else list(tier) for tier in tiers]}
        if side is not None and len(flat) == 2:
            a, b = reversed(flat) if side else flat
            ballot = {"a": a, "b": b, "winner": "tie" if len(tiers) == 1 else "b" if side else "a"}
        more = dict(zip(about, names, strict=True), weight=None if weight == 1 else weight)
        yield ballot | {name: value for name, value in more.items() if value is not None}


def _names(profile: Profile, column: str | None) -> Sequence[str | None]:
    cells = [None] * profile.n_votes if column is None else profile.columns[column].named().cells()
    return [None if cell is None else str(cell) for cell in cells]


def _chunks(ballots: Iterable[str]) -> Iterator[list[str]]:
    """As many votes as one request may have."""
    chunk: list[str] = []
    size = 0
    for ballot in ballots:
        length = len(ballot.encode()) + 1
        if chunk and (len(chunk) == _VOTES or size + length > _BYTES):
            yield chunk
            chunk, size = [], 0
        chunk.append(ballot)
        size += length
    if chunk:
        yield chunk


def _lost(profile: Profile) -> Iterator[str]:
    """What a server does not keep of these votes."""
    alone = int((profile.length < 2).sum())
    if alone:
        yield f"{plural(alone, 'vote')} of a single agent compare nothing and were not sent"
    if profile.when is not None:
        yield "times of votes were not sent: the server dates a vote when it comes; an import keeps them"
    more = [name for name in profile.columns if name not in (VOTER, profile.group_by)]
    if more:
        yield f"columns that a server does not keep: {', '.join(more)}"


def _detail(body: bytes, headers: Mapping[str, str]) -> str:
    """What the server says of a refusal."""
    if "location" in headers:
        return f"it has moved to {headers['location'][:200]}"
    try:
        detail = json.loads(body)["detail"]
    except (ValueError, KeyError, TypeError):
        detail = body[:200].decode(errors="replace").strip() or "without a word"
    return str(detail)[:1000]


def _seconds(text: str | None) -> float:
    """Of a header Retry-After; a date, or nothing, is left to the usual pause."""
    return min(float(text), 600.0) if text is not None and text.isdecimal() else 0.0
