"""What people send: a vote as JSON, or a list of them, to what the ledger keeps. Every refusal names the place."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import msgspec

from softcondorcet.serve.names import LONGEST, BadName, name
from softcondorcet.serve.store import MICRO, Ask
from softcondorcet.serve.votes import NONE

MOST_AGENTS, MOST_VOTES = 1000, 1000
WINNERS = {"a": (("a",), ("b",)), "b": (("b",), ("a",)), "tie": (("a", "b"),), "both_bad": (("a", "b"),)}


class Ballot(msgspec.Struct, forbid_unknown_fields=True):
    """A ranking, best first, in which a list is a tie; or a battle of a and b; or that of the two behind a ticket."""

    ranking: list[str | list[str]] | None = None
    a: str | None = None
    b: str | None = None
    winner: str | None = None
    voter: str | None = None
    group: str | None = None
    weight: float = 1.0
    ticket: str | None = None


class BadBallot(ValueError):  # noqa: N818
    """A vote that is refused, and why."""


_decoder = msgspec.json.Decoder(Ballot | list[Ballot])


def read(body: bytes) -> tuple[list[Ask], str | None]:
    """The votes of a body, and the ticket of a vote that has one: that vote is alone, between agents "a" and "b"."""
    found = _decoder.decode(body)
    ballots = [found] if isinstance(found, Ballot) else found
    if not 1 <= len(ballots) <= MOST_VOTES:
        raise BadBallot(f"expected 1 to {MOST_VOTES:,} votes, got {len(ballots):,}")
    if isinstance(found, Ballot):
        return [ask(found)], found.ticket
    for k, ballot in enumerate(ballots):
        if ballot.ticket is not None:
            raise BadBallot(f"vote {k + 1}: a vote with a ticket is sent alone")
    return [ask(ballot, f"vote {k + 1}: ") for k, ballot in enumerate(ballots)], None


def ask(ballot: Ballot, where: str = "") -> Ask:
    """One vote as the ledger keeps it."""
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
    """A ticket stands for two agents and a task, which the one who votes does not know."""
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
    if not (math.isfinite(weight) and 1e-6 <= weight <= 1e6):
        raise BadBallot(f"weight: expected a number from 0.000001 to 1,000,000, got {weight:g}")
    return round(weight * MICRO)


def schema() -> dict[str, Any]:
    """The JSON schema of a body, for the documentation of the API."""
    text = {"type": "string", "minLength": 1, "maxLength": LONGEST}
    about = {
        "voter": {**text, "description": "who votes"},
        "group": {**text, "description": "a judge, task or prompt"},
        "weight": {"type": "number", "minimum": 1e-6, "maximum": 1e6, "default": 1},
    }
    place = {"oneOf": [text, {"type": "array", "items": text, "minItems": 1}]}
    ranking = {
        "type": "object",
        "properties": {"ranking": {"type": "array", "items": place, "minItems": 1, "maxItems": MOST_AGENTS}, **about},
        "required": ["ranking"],
        "additionalProperties": False,
        "example": {"ranking": ["best", ["tied", "also tied"], "worst"], "voter": "ann"},
    }
    winner = {"type": "string", "enum": list(WINNERS)}
    battle = {
        "type": "object",
        "properties": {"a": text, "b": text, "winner": winner, **about},
        "required": ["a", "b", "winner"],
        "additionalProperties": False,
        "example": {"a": "x", "b": "y", "winner": "a"},
    }
    blind = {
        "type": "object",
        "properties": {
            "ticket": {"type": "string", "description": "from /match.json; works once"},
            "winner": winner,
            **{part: about[part] for part in ("voter", "weight")},
        },
        "required": ["ticket", "winner"],
        "additionalProperties": False,
        "example": {"ticket": "GvhB3l_HcW0dZrXq9ePzUYt2", "winner": "tie"},
    }
    several = {"type": "array", "items": {"oneOf": [ranking, battle]}, "minItems": 1, "maxItems": MOST_VOTES}
    return {"oneOf": [ranking, battle, blind, several]}
