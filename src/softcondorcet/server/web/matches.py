"""Blind matches: two answers to one task, side by side and without names, and tickets that remember whose they are.

A task and two of the agents that answered it are drawn at random, several times; one of the draws is kept, each with a
chance in proportion to what a vote on it would tell about the order (``next_match``):

    value = q (1 - q) / (n + 1),

q the chance that the one is better than the other, n how often they met. q is read off the ratings and the widths of
their intervals as if these were normal, so that a match costs no fit.

The page on which people vote is a pair of answers and a form, which a script makes quicker where it runs.
"""

from __future__ import annotations

import asyncio
import math
import re
import secrets
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Annotated, Any
from urllib.parse import parse_qsl

import msgspec
import numpy as np
from markupsafe import escape
from msgspec import Meta
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message

from softcondorcet.arrays import Floats, Ints
from softcondorcet.server.ledger.database import Database
from softcondorcet.server.ledger.limits import LONGEST, BadName, name
from softcondorcet.server.ledger.snapshot import Snapshot
from softcondorcet.server.ledger.writer import Ask, Refused, Transaction
from softcondorcet.server.web import page_cache
from softcondorcet.server.web.http import REFUSALS, Call, NoQuery, Routes, json_response, not_done, refusal
from softcondorcet.server.web.schemas import WRITE, SamplesKept
from softcondorcet.server.web.votes import BadBallot, take

# Letters of one answer, and of all answers of a board, which are kept in memory; answers in one request.
LONGEST_ANSWER, MOST_LETTERS, MOST_SAMPLES = 20_000, 50_000_000, 1000
# Draws of which one is kept.
_DRAWS = 32
# Seconds that a ticket is good for, and how many a board has at most: another board's voters cannot end them.
HOUR, MOST_TICKETS = 3600.0, 20_000
# Control characters but for tab and newline, and halves of letters.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_UPSERT = (
    "INSERT INTO sample (board, task, agent, answer) VALUES (?, ?, ?, ?) "
    "ON CONFLICT (board, task, agent) DO UPDATE SET answer = excluded.answer"
)


_Name = Annotated[str, Meta(extra_json_schema={"minLength": 1, "maxLength": LONGEST})]
_Answer = Annotated[str, Meta(extra_json_schema={"minLength": 1, "maxLength": LONGEST_ANSWER})]


class Sample(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The answer of an agent to a task."""

    task: _Name
    agent: _Name
    answer: _Answer


class Match(msgspec.Struct, frozen=True):
    """Two answers to one task, without names; the ticket goes back with the vote."""

    ticket: str
    task: str
    a: str
    b: str


class BadSample(BadName):
    """The error of answers that are refused; its text says why."""


Samples = Annotated[list[Sample], Meta(extra_json_schema={"minItems": 1, "maxItems": MOST_SAMPLES})]
_decoder = msgspec.json.Decoder(Samples)


def read(body: bytes) -> list[Sample]:
    """Parse and validate the answers of a body."""
    samples = _decoder.decode(body)
    if not 1 <= len(samples) <= MOST_SAMPLES:
        raise BadSample(f"expected 1 to {MOST_SAMPLES:,} answers, got {len(samples):,}")
    return [_checked(sample, f"answer {k + 1}: ") for k, sample in enumerate(samples)]


def _checked(sample: Sample, where: str) -> Sample:
    text = sample.answer.replace("\r\n", "\n")
    if unseen := _UNSEEN.search(text):
        raise BadSample(f"{where}expected visible letters, tabs and newlines, got U+{ord(unseen[0]):04X}")
    if not text.strip():
        raise BadSample(f"{where}expected some text, got nothing")
    if len(text) > LONGEST_ANSWER:
        raise BadSample(f"{where}expected at most {LONGEST_ANSWER:,} letters, got {len(text):,}")
    return Sample(name(sample.task, f"{where}task"), name(sample.agent, f"{where}agent"), text)


@dataclass(frozen=True, slots=True)
class Ticket:
    """What a ticket stands for: two agents, a task, and when it expires."""

    text: str
    board: int
    task: str
    a: str
    b: str
    until: float

    @property
    def key(self) -> str:
        """The Idempotency-Key under which its vote is written; no header can have a line break in it."""
        return f"ticket\n{self.text}"

    def played(self, blind: Ask) -> Ask:
        """The blind vote between "a" and "b" as a vote between the two agents."""
        agents = {"a": self.a, "b": self.b}
        return blind._replace(body=[[agents[side] for side in tier] for tier in blind.body], group=self.task)


class Matches:
    """The answers of all boards, and the tickets that are out."""

    def __init__(
        self,
        database: Database,
        *,
        most_tickets: int = MOST_TICKETS,
        most_letters: int = MOST_LETTERS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most, self._letters = most_tickets, most_letters
        self._answers: dict[int, dict[str, dict[str, str]]] = defaultdict(dict)
        self._tasks: dict[int, list[str]] = defaultdict(list)  # those with two answers or more
        self._tickets: dict[int, OrderedDict[str, Ticket]] = defaultdict(OrderedDict)
        self._random, self._now = secrets.SystemRandom(), now
        for board, *sample in database.run("SELECT board, task, agent, answer FROM sample ORDER BY board, task, agent"):
            self.show(board, [Sample(*sample)])

    def keep(self, transaction: Transaction, board: int, samples: Sequence[Sample]) -> None:
        """Write answers; a new one replaces that of the same agent to the same task."""
        stored = transaction.database.run(
            "SELECT COALESCE(SUM(LENGTH(answer)), 0) FROM sample WHERE board = ?", (board,)
        )
        if int(stored[0][0]) + sum(len(sample.answer) for sample in samples) > self._letters:
            raise Refused(f"the answers of a board may have {self._letters:,} letters in all, and would have more")
        transaction.database.many(_UPSERT, [(board, s.task, s.agent, s.answer) for s in samples])

    def show(self, board: int, samples: Sequence[Sample]) -> None:
        """Use these answers, which are on disk, in matches from now on."""
        for sample in samples:
            answers = self._answers[board].setdefault(sample.task, {})
            if len(answers) == 1 and sample.agent not in answers:
                self._tasks[board].append(sample.task)
            answers[sample.agent] = sample.answer

    def deal(self, board: int, now: Snapshot) -> Match | None:
        """Two answers to a task, and a new ticket for them; None where no task has two."""
        if not self._tasks[board]:
            return None
        drawn = [self._draw(board) for _ in range(_DRAWS)]
        value = values(now, [a for _, a, _ in drawn], [b for _, _, b in drawn])
        ((task, a, b),) = self._random.choices(drawn, value.tolist())
        ticket = Ticket(secrets.token_urlsafe(18), board, task, a, b, self._now() + HOUR)
        tickets = self._tickets[board]
        tickets[ticket.text] = ticket
        if len(tickets) > self._most:
            tickets.popitem(last=False)
        answers = self._answers[board][task]
        return Match(ticket.text, task, answers[a], answers[b])

    def _draw(self, board: int) -> tuple[str, str, str]:
        """A task and two agents, either of which may be the first."""
        task = self._random.choice(self._tasks[board])
        a, b = self._random.sample(list(self._answers[board][task]), 2)
        return task, a, b

    def find(self, board: int, text: str) -> Ticket:
        """The match of a ticket, used or not, until it expires after an hour."""
        ticket = self._tickets[board].get(text)
        if ticket is None or ticket.until < self._now():
            raise Refused("ticket: expected one that /match.json gave within the last hour")
        return ticket


def values(snapshot: Snapshot, a: Sequence[str], b: Sequence[str]) -> Floats:
    """The value of one more vote on each pair of agents: how much it would tell about the order."""
    number = {agent: k for k, agent in enumerate(snapshot.ratings.agents)}
    left, right = _numbers(number, a), _numbers(number, b)
    known = (left >= 0) & (right >= 0)
    value = np.full(len(left), 0.25)  # nobody knows who is better, and they never met
    if known.any():
        i, j = left[known], right[known]
        value[known] = snapshot.pairs.match_value(i, j, _above(snapshot, i, j))
    return value


def _numbers(number: Mapping[str, int], agents: Sequence[str]) -> Ints:
    return np.array([number.get(agent, -1) for agent in agents])


def _above(snapshot: Snapshot, i: Ints, j: Ints) -> Floats:
    """The chance that i is better than j; 1/2 where the last fit does not know how sure it is of both."""
    spread = _spread(snapshot)
    lead = snapshot.ratings.values[i] - snapshot.ratings.values[j]
    off = [x / s if s > 0 else 0.0 for x, s in zip(lead, np.hypot(spread[i], spread[j]), strict=True)]
    # Settled pairs keep a little chance: what is sure now may cease to be.
    return np.array([min(max(math.erfc(-x / math.sqrt(2)) / 2, 0.01), 0.99) for x in off])


def _spread(snapshot: Snapshot) -> Floats:
    """Standard deviations of ratings, by the widths of their intervals; infinite for agents without one."""
    spread = np.full(len(snapshot.ratings), np.inf)
    analysis = snapshot.fit.analysis if snapshot.fit else {}
    if analysis.get("rating_low") is not None:
        low, high = (np.array(analysis[end], dtype=float) for end in ("rating_low", "rating_high"))
        widths = 2 * NormalDist().inv_cdf((1 + analysis["level"]) / 2)
        spread[: len(low)] = np.where(np.isfinite(high - low), (high - low) / widths, np.inf)
    return spread


# A match may be dealt from a board as it was so many seconds ago.
_OLD = 2.0

routes = Routes("matches")
page_routes = Routes(page=True)


@routes.post(
    "/samples",
    SamplesKept,
    body=Samples,
    examples=[[{"task": "What is 7 x 8?", "agent": "x", "answer": "56"}]],
    refusals=(*WRITE, 404),
)
async def samples(call: Call[NoQuery]) -> Response:
    """What agents answered to tasks: up to 1,000, all or none. A new answer takes the place of an earlier one."""
    call.site.auth.allow(call.request, call.board, "admin")
    given = read(await call.body())
    await call.service.write(lambda transaction: call.site.matches.keep(transaction, call.board.id, given))
    call.site.matches.show(call.board.id, given)
    return json_response(SamplesKept(len(given), call.board.name), 201)


@routes.get("/match.json", Match, refusals=(401, 404, 422, 429))
async def match(call: Call[NoQuery]) -> Response:
    """Two answers to one task, without names, and a ticket to vote with; needs what a vote needs."""
    dealt = await deal(call, call.request)
    if dealt is None:
        raise HTTPException(404, "expected a task with two answers on this board; POST /samples takes them")
    return json_response(dealt, headers={"Cache-Control": "no-store"})


async def deal(call: Call[Any], request: Request) -> Match | None:
    """A match for one who may vote: a ticket, the task and two answers; None where no task has two."""
    token = call.site.auth.allow(request, call.board, "vote")
    call.site.auth.limit_rate(request, token, call.board, [Ask("vote", [])])
    return call.site.matches.deal(call.board.id, await asyncio.to_thread(call.board.snapshot, _OLD))


_FIELDS = ("ticket", "winner", "voter", "token")
_NOTHING = dict.fromkeys(_FIELDS, "")


@page_routes.get("/vote")
async def vote_page(call: Call[NoQuery]) -> Response:
    """A pair of answers to vote on, where votes need no token."""
    return await _page(call, call.request)


@page_routes.post("/vote")
async def vote(call: Call[NoQuery]) -> Response:
    """Take the vote of the form; the page says what became of it and shows the next pair."""
    try:
        given = _fields(await call.body())
    except REFUSALS as error:
        return await _page(call, call.request, said=not_done(error), status=refusal(error).status_code)
    request = _with_token(call.request, given)
    if not given["ticket"]:
        return await _page(call, request, given)
    try:
        taken, _ = await take(call.site, _with_body(request, given), call.board, None)
    except REFUSALS as error:
        return await _page(call, request, given, not_done(error), refusal(error).status_code)
    return await _page(call, request, given, f"Your vote counts. A was {taken.a}, B was {taken.b}.")


async def _page(
    call: Call[Any], request: Request, given: Mapping[str, str] = _NOTHING, said: str = "", status: int = 200
) -> Response:
    """The next pair, below what is `said` of the one before, and with the name and token that were `given`."""
    closed, dealt = False, None
    try:
        dealt = await deal(call, request)
    except HTTPException as error:
        closed = error.status_code in (401, 403)
        if request.method == "POST" and not said:
            status, said = error.status_code, not_done(error)
    view = {
        "said": said, "closed": closed or given["token"], "empty": dealt is None and not closed,
        "voter": given["voter"], "token": given["token"],
        # Answers are shown as they are, lines and all.
        **{part: escape(getattr(dealt, part)) if dealt else "" for part in ("ticket", "task", "a", "b")},
    }  # fmt: skip
    about = page_cache.bare(call.board)
    html = page_cache.html(
        "vote.html", about=about, root=call.root, here="vote", begin=page_cache.begin(request), v=view
    )
    return Response(html, status, {"Cache-Control": "no-store"}, "text/html; charset=utf-8")


def _fields(body: bytes) -> dict[str, str]:
    """The fields of the form, empty where it did not send them."""
    try:
        sent = dict(parse_qsl(body.decode("ascii"), errors="strict", max_num_fields=len(_FIELDS)))
    except ValueError:
        raise BadBallot("expected the fields of the form") from None
    return {field: sent.get(field, "") for field in _FIELDS}


def _with_token(request: Request, given: dict[str, str]) -> Request:
    """The request with the token of the form as its Authorization header, which a form cannot send."""
    if not given["token"]:
        return request
    header = b"authorization", b"Bearer " + given["token"].encode("latin-1", "replace")
    return Request({**request.scope, "headers": [*request.scope["headers"], header]}, request.receive)


def _with_body(request: Request, given: dict[str, str]) -> Request:
    """The request with the vote of the form as JSON, as a script would send it."""
    voter = {"voter": given["voter"]} if given["voter"].strip() else {}
    body = msgspec.json.encode({"ticket": given["ticket"], "winner": given["winner"], **voter})

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return Request(request.scope, receive)
