"""The JSON of answers as types, from which the OpenAPI document is generated."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, get_type_hints

from msgspec import UNSET, Struct, UnsetType, defstruct

from softcondorcet import leaderboard

# Refusals that routes which write, and routes which read, may answer with.
WRITE = (401, 408, 413, 415, 422, 429, 503, 507)
READ = (404, 422, 503)


class Problem(Struct):
    """Why something was not done."""

    detail: str


class FitState(Struct):
    """The last fit of all votes: how many it saw, and how many came after."""

    id: int
    made: float
    n_votes: int
    behind: int


class About(Struct):
    """Which board, and how fresh."""

    schema: int
    board: str
    title: str
    snapshot: str
    n_votes: int
    n_agents: int
    changed: float
    fit: FitState | None
    pending: bool


# Fields that every row of a live board has, also where they are optional elsewhere.
ALWAYS = ("tie_group", "provisional")


def _row() -> type[Struct]:
    """The row of all leaderboards, as a type that documents it: what is optional there may be left out."""
    types = get_type_hints(leaderboard.Row)
    needed: list[tuple[str, Any]] = []
    optional: list[tuple[str, Any, Any]] = []
    for one in dataclasses.fields(leaderboard.Row):
        if one.metadata["optional"] and one.name not in ALWAYS:
            optional.append((one.name, types[one.name], None))
        else:
            needed.append((one.name, types[one.name]))
    about = (
        "One agent. Ranges are those of the last fit, and null where it did not know the agent. While the board is "
        "pending, a fit is awaited without which ranks and ratings mean nothing: they are null."
    )
    return defstruct("Row", [*needed, *optional], omit_defaults=True, namespace={"__doc__": about})


if TYPE_CHECKING:
    from softcondorcet.leaderboard import Row
else:
    Row = _row()


class Leaderboard(About):
    """Agents, best first."""

    condorcet_winner: str | None
    smith_set: list[str]
    rows: list[Row]


class Pair(About):
    """Two agents head to head."""

    a: str
    b: str
    wins: float
    losses: float
    ties: float
    rows: list[Row]


class Met(Struct):
    """Another agent, and how often the one wins, loses and ties against it."""

    agent: str
    rank: int | None
    wins: float
    losses: float
    ties: float


class PastRating(Struct):
    """The rating of an agent in an earlier fit."""

    made: float
    n_votes: int
    rating: float
    rank: int


class Agent(About):
    """One agent, whom it met, and its ratings over time."""

    agent: str
    row: Row
    met: list[Met]
    history: list[PastRating]


class PastFit(Struct):
    """The order of an earlier fit."""

    fit: int
    made: float
    n_votes: int
    order: list[str]


class History(About):
    """The orders of earlier fits, oldest first."""

    fits: list[PastFit]


class Doctor(About):
    """What is doubtful about the votes."""

    findings: list[dict[str, Any]]
    unchecked: dict[str, str]
    warnings: list[str]
    robust: dict[str, Any] | None


class Suspect(Struct):
    """A voter whose votes are improbable, and why."""

    voter: str
    votes: int
    why: list[str]


class VotersAnswer(Struct):
    """Suspects, and voters in quarantine."""

    suspects: list[Suspect]
    quarantined: list[str]


class VoteAnswer(Struct):
    """The numbers of the votes in the ledger: `id` to `last`; of the vote of a ticket also who the two were."""

    id: int
    last: int
    n: int
    board: str
    a: str | UnsetType = UNSET
    b: str | UnsetType = UNSET


class SamplesKept(Struct):
    """How many answers were kept."""

    n: int
    board: str


class BoardState(Struct):
    """A board, and how much is on it."""

    name: str
    title: str
    n_votes: int
    n_agents: int


class TokenState(Struct):
    """A token without its secret."""

    id: int
    scope: str
    label: str
    board: str | None
    made: float


class NewTokenAnswer(TokenState):
    """A token and its secret, which is shown this once."""

    token: str


class Imported(Struct):
    """The votes of an import in the ledger: `id` to `last`."""

    id: int
    last: int


class Preview(Struct):
    """What an import would add, or has added: then as the votes `id` to `last` of the ledger.

    `before` are the votes as which the same file was imported first, if it was.

    Votes that rank one agent say nothing and are left out. Shown are the first new agents and the first votes; `notes`
    say what the reader did with the file.
    """

    n_votes: int
    left_out: int
    n_agents: int
    n_new_agents: int
    new_agents: list[str]
    first: list[str]
    before: Imported | None = None
    added: bool = False
    id: int | None = None
    last: int | None = None
    notes: list[str] = []


class Health(Struct):
    """`queue_age`: seconds that the oldest request to be written has waited. `behind`: rows after the last fit."""

    status: str
    version: str
    database: str
    queue_age: float
    fit_age: float | None
    behind: int
