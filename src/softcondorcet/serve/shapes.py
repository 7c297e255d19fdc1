"""The JSON of answers, for the documentation of the API."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel


class Problem(BaseModel):
    """Why something was not done."""

    detail: str


class FitShape(BaseModel):
    """The last fit of all votes: how many it saw, and how many came after."""

    id: int
    made: float
    n_votes: int
    behind: int


class About(BaseModel):
    """Which board, and how fresh."""

    board: str
    title: str
    snapshot: str
    n_votes: int
    n_agents: int
    changed: float
    fit: FitShape | None


class Row(BaseModel):
    """One agent. Ranges are those of the last fit, and null where it did not know the agent."""

    rank: int
    agent: str
    rating: float
    rating_low: float | None
    rating_high: float | None
    rank_low: int | None
    rank_high: int | None
    tie_group: int | None
    votes: float
    provisional: bool
    rank_overall: int | None = None


class Leaderboard(About):
    condorcet_winner: str | None
    smith_set: list[str]
    rows: list[Row]


class Pair(About):
    a: str
    b: str
    wins: float
    losses: float
    ties: float
    rows: list[Row]


class Met(BaseModel):
    agent: str
    rank: int
    wins: float
    losses: float
    ties: float


class Past(BaseModel):
    made: float
    n_votes: int
    rating: float
    rank: int


class AgentPage(About):
    agent: str
    row: Row
    met: list[Met]
    history: list[Past]


class HistoryFit(BaseModel):
    fit: int
    made: float
    n_votes: int
    order: list[str]


class History(About):
    fits: list[HistoryFit]


class Doctor(About):
    findings: list[dict[str, Any]]
    unchecked: dict[str, str]
    warnings: list[str]
    robust: dict[str, Any] | None


class Voter(BaseModel):
    """A voter whose votes are improbable, and why."""

    voter: str
    votes: int
    why: list[str]


class Voters(BaseModel):
    suspects: list[Voter]
    quarantined: list[str]


class VoteAnswer(BaseModel):
    """The numbers of the votes in the ledger: `id` to `last`."""

    id: int
    last: int
    n: int
    board: str


class MatchVote(VoteAnswer):
    """The vote of a ticket, and who the two were."""

    a: str
    b: str


class Match(BaseModel):
    """Two answers to one task; the ticket goes back with the vote."""

    ticket: str
    task: str
    a: str
    b: str


class SamplesKept(BaseModel):
    """How many answers were kept."""

    n: int
    board: str


class BoardShape(BaseModel):
    name: str
    title: str
    n_votes: int
    n_agents: int


class TokenShape(BaseModel):
    id: int
    scope: str
    label: str
    board: str | None
    made: float


class TokenMade(TokenShape):
    token: str


class Preview(BaseModel):
    """What an import would add, or has added: then as the votes `id` to `last` of the ledger.

    Votes that rank one agent say nothing and are left out. Shown are the first new agents and the first votes.
    """

    n_votes: int
    left_out: int
    n_agents: int
    n_new_agents: int
    new_agents: list[str]
    first: list[str]
    added: bool
    id: int | None
    last: int | None


class Health(BaseModel):
    status: str
    version: str
    database: str
