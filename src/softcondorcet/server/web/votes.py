"""POST /votes: from JSON, a vote or a list of them, to rows on disk. Every refusal names the place."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from softcondorcet.server.ledger.board import NONE, Board
from softcondorcet.server.ledger.limits import LONGEST, BadName, name
from softcondorcet.server.ledger.service import Service
from softcondorcet.server.ledger.writer import MICRO, Ask, OtherBody, Receipt, Refused, Transaction
from softcondorcet.server.web.auth import header_of
from softcondorcet.server.web.http import Call, NoQuery, Routes, Site, body_of, json_response
from softcondorcet.server.web.schemas import WRITE, VoteAnswer

MOST_AGENTS, MOST_VOTES = 1000, 1000
WINNERS = {"a": (("a",), ("b",)), "b": (("b",), ("a",)), "tie": (("a", "b"),), "both_bad": (("a", "b"),)}
LONGEST_KEY = 200
LIGHTEST, HEAVIEST = 1e-6, 1e6
# Lengths and ranges are documented here and checked below, where the refusal can say more.
_TEXT = {"minLength": 1, "maxLength": LONGEST}
_Name = Annotated[str, Meta(extra_json_schema=_TEXT)]
_Place = _Name | Annotated[list[_Name], Meta(extra_json_schema={"minItems": 1})]
_Places = Annotated[list[_Place], Meta(extra_json_schema={"minItems": 1, "maxItems": MOST_AGENTS})]
_Winner = Annotated[str, Meta(extra_json_schema={"enum": list(WINNERS)})]
_Weight = Annotated[float, Meta(extra_json_schema={"minimum": LIGHTEST, "maximum": HEAVIEST})]


class Ballot(msgspec.Struct, forbid_unknown_fields=True):
    """A ranking, best first, in which a list is a tie; or a battle of a and b; or that of the two behind a ticket."""

    ranking: _Places | None = None
    a: _Name | None = None
    b: _Name | None = None
    winner: _Winner | None = None
    voter: Annotated[str, Meta(description="who votes", extra_json_schema=_TEXT)] | None = None
    group: Annotated[str, Meta(description="a judge, task or prompt", extra_json_schema=_TEXT)] | None = None
    weight: _Weight = 1.0
    ticket: Annotated[str, Meta(description="from /match.json; works once")] | None = None


class BadBallot(BadName):
    """The error of a vote that is refused; its text says why."""


Ballots = Ballot | list[Ballot]
_decoder = msgspec.json.Decoder(Ballots)


def read(body: bytes) -> tuple[list[Ask], str | None]:
    """The votes of a body, and the ticket of a vote that has one: that vote is alone, between agents "a" and "b"."""
    parsed = _decoder.decode(body)
    ballots = [parsed] if isinstance(parsed, Ballot) else parsed
    if not 1 <= len(ballots) <= MOST_VOTES:
        raise BadBallot(f"expected 1 to {MOST_VOTES:,} votes, got {len(ballots):,}")
    if isinstance(parsed, Ballot):
        return [ask(parsed)], parsed.ticket
    for k, ballot in enumerate(ballots):
        if ballot.ticket is not None:
            raise BadBallot(f"vote {k + 1}: a vote with a ticket is sent alone")
    return [ask(ballot, f"vote {k + 1}: ") for k, ballot in enumerate(ballots)], None


def ask(ballot: Ballot, where: str = "") -> Ask:
    """One vote as a row for the ledger."""
    try:
        if ballot.ticket is not None:
            ballot = _blind(ballot)
        return Ask(
            "vote",
            _battle(ballot) if ballot.ranking is None else _ranking(ballot),
            voter=None if ballot.voter in (None, NONE) else name(ballot.voter, "voter"),
            group=None if ballot.group in (None, NONE) else name(ballot.group, "group"),
            weight=_millionths(ballot.weight),
            winner=ballot.winner,
        )
    except (BadName, BadBallot) as error:
        raise BadBallot(f"{where}{error}") from None


def _blind(ballot: Ballot) -> Ballot:
    """The vote of a ticket, which stands for two agents and a task that the voter does not know."""
    if (ballot.ranking, ballot.a, ballot.b, ballot.group) != (None,) * 4 or ballot.winner is None:
        raise BadBallot("expected a ticket and winner, without ranking, a, b and group")
    return msgspec.structs.replace(ballot, a="a", b="b")


def _battle(ballot: Ballot) -> list[list[str]]:
    if ballot.a is None or ballot.b is None or ballot.winner is None:
        raise BadBallot("expected a ranking, or a, b and winner")
    if ballot.winner not in WINNERS:
        raise BadBallot(f"winner: expected {', '.join(WINNERS)}, got {ballot.winner[:40]!r}")
    names = {"a": name(ballot.a, "a"), "b": name(ballot.b, "b")}
    if names["a"] == names["b"]:
        raise BadBallot(f"expected two agents, got {names['a']!r} twice")
    return [[names[side] for side in tier] for tier in WINNERS[ballot.winner]]


def _ranking(ballot: Ballot) -> list[list[str]]:
    if ballot.a is not None or ballot.b is not None or ballot.winner is not None:
        raise BadBallot("expected either a ranking, or a, b and winner; got both")
    given: Sequence[Any] = ballot.ranking or []
    tiers = [[name(n, "ranking") for n in ([tier] if isinstance(tier, str) else tier)] for tier in given]
    names = [n for tier in tiers for n in tier]
    if not 2 <= len(names) <= MOST_AGENTS:
        raise BadBallot(f"ranking: expected 2 to {MOST_AGENTS:,} agents, got {len(names):,}")
    if not all(tiers):
        raise BadBallot("ranking: expected a name or several in each place, got an empty list")
    if len(set(names)) < len(names):
        twice = next(n for k, n in enumerate(names) if n in names[:k])
        raise BadBallot(f"ranking: expected each agent once, got {twice!r} twice")
    return tiers


def _millionths(weight: float) -> int:
    if not (math.isfinite(weight) and LIGHTEST <= weight <= HEAVIEST):
        raise BadBallot(f"weight: expected a number from 0.000001 to 1,000,000, got {weight:g}")
    return round(weight * MICRO)


async def put(
    service: Service, board: Board, asks: list[Ask], token: int | None, key: str | None = None, body: bytes = b""
) -> Receipt:
    """Write rows, and return their numbers once they are on disk."""
    digest = hashlib.sha256(body).hexdigest() if key else ""
    most = service.settings.most_agents

    def work(transaction: Transaction) -> Receipt:
        return transaction.write(board.id, asks, token=token, key=key, digest=digest, most_agents=most)

    room = await service.pairs.reserve(board, asks)
    try:
        receipt: Receipt = await service.write(work)
    finally:
        service.pairs.give_back(board, room)
    return receipt


routes = Routes("votes")


@routes.post(
    "/votes",
    VoteAnswer,
    body=Ballots,
    examples=[
        {"ranking": ["best", ["tied", "also tied"], "worst"], "voter": "ann"},
        {"a": "x", "b": "y", "winner": "a"},
        {"ticket": "GvhB3l_HcW0dZrXq9ePzUYt2", "winner": "tie"},
    ],
    refusals=WRITE,
    idempotent=True,
)
async def votes(call: Call[NoQuery]) -> Response:
    """One vote, or a list of up to 1,000, all or none. The answer comes when they are on disk.

    With an Idempotency-Key a request can be sent again: the same key with the same body is answered as before and
    counted once; with another body it is refused. The vote of a ticket needs none, and is answered with the names.
    """
    key = key_of(call.request)
    answer, again = await take(call.site, call.request, call.board, key)
    return json_response(answer, 201, {"Idempotent-Replayed": "true"} if again else None)


def key_of(request: Request) -> str | None:
    """The Idempotency-Key of a request."""
    key = header_of(request, b"idempotency-key")
    if key is not None and not 1 <= len(key) <= LONGEST_KEY:
        raise HTTPException(422, f"Idempotency-Key: expected 1 to {LONGEST_KEY} letters, got {len(key):,}")
    return key


async def take(site: Site, request: Request, board: Board, key: str | None) -> tuple[VoteAnswer, bool]:
    """Check and write the votes of a request; the answer, and whether the same request was answered before."""
    service = site.service
    token = site.auth.allow(request, board, "vote")
    body = await body_of(request, service.settings.body_seconds)
    asks, ticket = read(body)
    site.auth.limit_weight(token, asks)
    site.auth.limit_rate(request, token, board, asks)
    number = token.id if token else None
    if ticket is None:
        receipt = await put(service, board, asks, number, key, body)
        return VoteAnswer(receipt.first, receipt.last, len(receipt), board.name), receipt.again
    match = site.matches.find(board.id, ticket)
    try:
        receipt = await put(service, board, [match.played(asks[0])], number, match.key, body)
    except OtherBody:
        raise
    except Refused:
        # Why would say who the two are, and a vote that does not count must not.
        raise Refused("this board has all the agents or pairs that it may have: the match cannot count") from None
    return VoteAnswer(receipt.first, receipt.last, len(receipt), board.name, match.a, match.b), receipt.again
