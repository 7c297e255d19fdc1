"""Blind matches: two answers to one task, side by side and without names, and tickets that remember whose they are.

A task and two of the agents that answered it are drawn at random, several times; one of the draws is kept, each with a
chance in proportion to what a vote on it would tell about the order (``next_match``):

    value = q (1 - q) / (n + 1),

q the chance that the one is better than the other, n how often they met. q is read off the ratings and the widths of
their intervals as if these were normal, so that a match costs no fit.
"""

from __future__ import annotations

import math
import re
import secrets
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import msgspec
import numpy as np

from softcondorcet.arrays import Floats, Ints
from softcondorcet.serve.board import Snapshot
from softcondorcet.serve.database import Database
from softcondorcet.serve.names import name
from softcondorcet.serve.store import Ask, Refused, Transaction

# Letters of one answer, and of all answers of a board, which are kept in memory; answers in one request.
LONGEST_ANSWER, MOST_LETTERS, MOST_SAMPLES = 20_000, 50_000_000, 1000
# Draws of which one is kept.
_DRAWS = 32
# Seconds that a ticket is good for, and how many there are at most.
HOUR, MOST_TICKETS = 3600.0, 100_000
# Control characters but for tab and newline, and halves of letters.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_UPSERT = (
    "INSERT INTO sample (board, task, agent, answer) VALUES (?, ?, ?, ?) "
    "ON CONFLICT (board, task, agent) DO UPDATE SET answer = excluded.answer"
)


class Sample(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What an agent answered to a task."""

    task: str
    agent: str
    answer: str


class BadSample(ValueError):  # noqa: N818
    """Answers that are refused, and why."""


_decoder = msgspec.json.Decoder(list[Sample])


def read(body: bytes) -> list[Sample]:
    """The answers of a body."""
    found = _decoder.decode(body)
    if not 1 <= len(found) <= MOST_SAMPLES:
        raise BadSample(f"expected 1 to {MOST_SAMPLES:,} answers, got {len(found):,}")
    return [_checked(sample, f"answer {k + 1}: ") for k, sample in enumerate(found)]


def _checked(sample: Sample, where: str) -> Sample:
    text = sample.answer.replace("\r\n", "\n")
    if unseen := _UNSEEN.search(text):
        raise BadSample(f"{where}expected letters that can be seen, tabs and newlines, got U+{ord(unseen[0]):04X}")
    if not text.strip():
        raise BadSample(f"{where}expected some text, got nothing")
    if len(text) > LONGEST_ANSWER:
        raise BadSample(f"{where}expected at most {LONGEST_ANSWER:,} letters, got {len(text):,}")
    return Sample(name(sample.task, f"{where}task"), name(sample.agent, f"{where}agent"), text)


@dataclass(frozen=True, slots=True)
class Ticket:
    """Who meets whom on what, until when."""

    board: int
    task: str
    a: str
    b: str
    until: float

    def played(self, blind: Ask) -> Ask:
        """A vote between "a" and "b" as one between the two agents."""
        agents = {"a": self.a, "b": self.b}
        return replace(blind, body=[[agents[side] for side in tier] for tier in blind.body], group=self.task)


class Matches:
    """The answers of all boards, and the tickets that are out."""

    def __init__(self, database: Database, *, now: Callable[[], float] = time.monotonic) -> None:
        self._answers: dict[int, dict[str, dict[str, str]]] = defaultdict(dict)
        self._tasks: dict[int, list[str]] = defaultdict(list)  # those with two answers or more
        self._tickets: OrderedDict[str, Ticket] = OrderedDict()
        self._random, self._now = secrets.SystemRandom(), now
        for board, *sample in database.run("SELECT board, task, agent, answer FROM sample ORDER BY board, task, agent"):
            self.show(board, [Sample(*sample)])

    def keep(self, made: Transaction, board: int, samples: Sequence[Sample]) -> None:
        """Write answers; one to the same task by the same agent takes the place of that before."""
        stored = made.database.run("SELECT COALESCE(SUM(LENGTH(answer)), 0) FROM sample WHERE board = ?", (board,))
        if int(stored[0][0]) + sum(len(sample.answer) for sample in samples) > MOST_LETTERS:
            raise Refused(f"the answers of a board may have {MOST_LETTERS:,} letters in all, and would have more")
        made.database.many(_UPSERT, [(board, s.task, s.agent, s.answer) for s in samples])

    def show(self, board: int, samples: Sequence[Sample]) -> None:
        """From now on matches may have these answers, which are on disk."""
        for sample in samples:
            answers = self._answers[board].setdefault(sample.task, {})
            if len(answers) == 1 and sample.agent not in answers:
                self._tasks[board].append(sample.task)
            answers[sample.agent] = sample.answer

    def deal(self, board: int, seen: Snapshot) -> tuple[str, Ticket, str, str] | None:
        """A new ticket, what it stands for, and the two answers; None where no task has two."""
        if not self._tasks[board]:
            return None
        drawn = [self._draw(board) for _ in range(_DRAWS)]
        value = values(seen, [a for _, a, _ in drawn], [b for _, _, b in drawn])
        ((task, a, b),) = self._random.choices(drawn, value.tolist())
        ticket = Ticket(board, task, a, b, self._now() + HOUR)
        text = secrets.token_urlsafe(18)
        self._tickets[text] = ticket
        if len(self._tickets) > MOST_TICKETS:
            self._tickets.popitem(last=False)
        answers = self._answers[board][task]
        return text, ticket, answers[a], answers[b]

    def _draw(self, board: int) -> tuple[str, str, str]:
        """A task and two agents, either of which may be the first."""
        task = self._random.choice(self._tasks[board])
        a, b = self._random.sample(list(self._answers[board][task]), 2)
        return task, a, b

    def find(self, board: int, text: str) -> Ticket:
        """What a ticket stands for, used or not, until its hour is over."""
        ticket = self._tickets.get(text)
        if ticket is None or ticket.board != board or ticket.until < self._now():
            raise Refused("ticket: expected one that /match.json gave within the last hour")
        return ticket


def key_of(ticket: str) -> str:
    """The Idempotency-Key under which the vote of a ticket is written; no header can have a line break in it."""
    return f"ticket\n{ticket}"


def values(seen: Snapshot, a: Sequence[str], b: Sequence[str]) -> Floats:
    """What one more vote on each pair of agents would tell about the order."""
    number = {agent: k for k, agent in enumerate(seen.ratings.agents)}
    left, right = _numbers(number, a), _numbers(number, b)
    known = (left >= 0) & (right >= 0)
    above, met = np.full(len(left), 0.5), np.zeros(len(left))
    if known.any():
        i, j = left[known], right[known]
        above[known], met[known] = _above(seen, i, j), seen.pairs.met(i, j)
    value: Floats = above * (1 - above) / (met + 1)
    return value


def _numbers(number: Mapping[str, int], agents: Sequence[str]) -> Ints:
    return np.array([number.get(agent, -1) for agent in agents])


def _above(seen: Snapshot, i: Ints, j: Ints) -> Floats:
    """The chance that i is better than j; 1/2 where the last fit does not know how sure it is of both."""
    spread = _spread(seen)
    lead = seen.ratings.values[i] - seen.ratings.values[j]
    off = [x / s if s > 0 else 0.0 for x, s in zip(lead, np.hypot(spread[i], spread[j]), strict=True)]
    # Settled pairs keep a little chance: what is sure now may cease to be.
    return np.array([min(max(math.erfc(-x / math.sqrt(2)) / 2, 0.01), 0.99) for x in off])


def _spread(seen: Snapshot) -> Floats:
    """Standard deviations of ratings, by the widths of their intervals; infinite for agents without one."""
    spread = np.full(len(seen.ratings), np.inf)
    found = seen.fit.found if seen.fit else {}
    if found.get("rating_low") is not None:
        low, high = (np.array(found[end], dtype=float) for end in ("rating_low", "rating_high"))
        widths = 2 * NormalDist().inv_cdf((1 + found["level"]) / 2)
        spread[: len(low)] = np.where(np.isfinite(high - low), (high - low) / widths, np.inf)
    return spread
