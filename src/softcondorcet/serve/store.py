"""The ledger: what happened, row by row, never changed. One thread writes it, many requests to a commit.

A request is answered only when its commit has returned. Commits cost a sync of the disk each, so all that waits when
one begins goes into it together: a slow disk makes larger commits, not a longer queue.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Literal, NamedTuple

import msgspec

from softcondorcet.serve.database import Database, Gone

Kind = Literal["vote", "retract", "quarantine", "release"]
# Weights are kept in whole millionths.
MICRO = 1_000_000
# Requests in one commit, at most, and waiting for one, at most: half a second's work each.
_TOGETHER, _WAITING = 1000, 2000
# Seconds to wait for company: a commit takes a millisecond of the processor however little is in it.
_GATHER = 0.002
_COLUMNS = "id, board, kind, made, token, voter, grp, weight, winner, body"
_READ = f"SELECT {_COLUMNS} FROM ledger WHERE board = ? AND id > ? ORDER BY id LIMIT 20000"
_WRITE = f"INSERT INTO ledger ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


@dataclass(frozen=True, slots=True)
class Ask:
    """One thing to be written. `body` of a vote: tiers of names, best first; else as in the ledger.

    `when` is for votes that were cast before they came here; the others were cast now.
    """

    kind: Kind
    body: Any
    voter: str | None = None
    group: str | None = None
    weight: int = MICRO
    winner: str | None = None
    when: float | None = None


class Entry(NamedTuple):
    """One row of the ledger. `body` of a vote: tiers of agent numbers, best first."""

    id: int
    board: int
    kind: Kind
    made: float
    token: int | None
    voter: str | None
    group: str | None
    weight: int
    winner: str | None
    body: Any


@dataclass(frozen=True)
class Receipt:
    """The rows that a request wrote; `again` if they were there already."""

    first: int
    last: int
    again: bool = False


class Refused(Exception):  # noqa: N818
    """A request cannot be written, and says why; others in the same commit are."""


class OtherBody(Refused):
    """The Idempotency-Key was used before, with another body."""


class Busy(Exception):  # noqa: N818
    """More waits to be written than can be written soon."""


def entries(database: Database, board: int, after: int = 0) -> Iterator[Entry]:
    """The rows of a board in the order they were written."""
    while rows := database.run(_READ, (board, after)):
        for row in rows:
            yield Entry._make((*row[:-1], msgspec.json.decode(row[-1])))
        after = rows[-1][0]


def agents_of(database: Database, board: int) -> dict[str, int]:
    """The agents of a board and their numbers: 0, 1, 2, ... in the order they were first named."""
    return dict(database.run("SELECT name, number FROM agent WHERE board = ? ORDER BY number", (board,)))


Work = Callable[["Transaction"], Any]
Done = Callable[[Any], None]  # called with what the work returned, or with the exception that stopped it
Told = Callable[[int, Sequence[Entry], Sequence[str]], None]


class Transaction:
    """What one commit writes. Rows and new agents are known to nobody else until the commit has returned."""

    def __init__(self, database: Database, first: int, known: dict[int, dict[str, int]]) -> None:
        self.database, self.now, self.next = database, time.time(), first
        self.made: dict[int, list[Entry]] = defaultdict(list)
        self.new: dict[int, dict[str, int]] = defaultdict(dict)
        self._known = known
        self._answers: dict[tuple[int, str], tuple[str, Receipt]] = {}

    def write(
        self,
        board: int,
        asks: Sequence[Ask],
        *,
        token: int | None = None,
        key: str | None = None,
        digest: str = "",
        most_agents: int = 2**31,
    ) -> Receipt:
        """All of `asks`, in this order. With a `key`, once: the same key with the same digest is answered as before."""
        if key is not None and (before := self._answered(board, key)) is not None:
            if before[0] != digest:
                raise OtherBody("this Idempotency-Key was used before, with another body")
            return before[1]
        numbers = self._numbers(board, asks, most_agents)
        first = self.next
        for ask in asks:
            body = [[numbers[name] for name in tier] for tier in ask.body] if ask.kind == "vote" else ask.body
            about = token, ask.voter, ask.group, ask.weight, ask.winner
            when = self.now if ask.when is None else ask.when
            self.made[board].append(Entry(self.next, board, ask.kind, when, *about, body))
            self.next += 1
        if key is not None:
            self._answers[board, key] = digest, Receipt(first, self.next - 1, again=True)
        return Receipt(first, self.next - 1)

    def flush(self) -> None:
        """Send the rows to the database."""
        run = self.database.many
        agents = [(board, number, name) for board, new in self.new.items() for name, number in new.items()]
        rows = [(*entry[:-1], _text(entry.body)) for made in self.made.values() for entry in made]
        answers = [(*at, digest, receipt.first, receipt.last) for at, (digest, receipt) in self._answers.items()]
        if agents:
            run("INSERT INTO agent (board, number, name) VALUES (?, ?, ?)", agents)
        if rows:
            run(_WRITE, rows)
        if answers:
            run("INSERT INTO answer (board, key, digest, first, last) VALUES (?, ?, ?, ?, ?)", answers)

    def _numbers(self, board: int, asks: Sequence[Ask], most: int) -> dict[str, int]:
        """The number of each agent named in votes; a name not seen before gets the next one."""
        known, new = self._known[board], self.new[board]
        named = dict.fromkeys(name for ask in asks if ask.kind == "vote" for tier in ask.body for name in tier)
        fresh = [name for name in named if name not in known and name not in new]
        if fresh and len(known) + len(new) + len(fresh) > most:
            raise Refused(f"{fresh[0]!r} is not an agent of this board, and the board has all {most:,} it may have")
        for name in fresh:
            new[name] = len(known) + len(new)
        return {name: known[name] if name in known else new[name] for name in named}

    def _answered(self, board: int, key: str) -> tuple[str, Receipt] | None:
        if (board, key) in self._answers:
            return self._answers[board, key]
        rows = self.database.run("SELECT digest, first, last FROM answer WHERE board = ? AND key = ?", (board, key))
        return (rows[0][0], Receipt(rows[0][1], rows[0][2], again=True)) if rows else None


def _text(body: Any) -> str:
    return msgspec.json.encode(body).decode()


class Writer:
    """The thread that writes.

    ``told(board, entries, names)`` hears of the rows and the new agents of a commit as soon as it has returned, before
    anybody gets an answer. ``deliver`` then runs the answers of a whole commit at once, in the thread that wants them.
    """

    def __init__(
        self, database: Database, told: Told, deliver: Callable[[Callable[[], None]], Any] = lambda answer: answer()
    ) -> None:
        self._database, self._told, self._deliver = database, told, deliver
        self._queue: SimpleQueue[tuple[Work, Done] | None] = SimpleQueue()
        self._next = (database.run("SELECT MAX(id) FROM ledger")[0][0] or 0) + 1
        self._known: dict[int, dict[str, int]] = defaultdict(dict)
        for (board,) in database.run("SELECT id FROM board"):
            self._known[board] = agents_of(database, board)
        self._gone = False
        self._thread = Thread(target=self._run, name="ledger")
        self._thread.start()

    @property
    def waiting(self) -> int:
        return self._queue.qsize()

    @property
    def writes(self) -> bool:
        """Whether the last commit found the database there."""
        return self._thread.is_alive() and not self._gone

    def submit(self, work: Work, done: Done) -> None:
        """Run `work` in the next commit; `done` gets its answer once that is on disk."""
        if not self._thread.is_alive():
            raise Gone("the ledger is closed")
        if self.waiting >= _WAITING:
            raise Busy(f"{_WAITING:,} requests wait to be written")
        self._queue.put((work, done))

    def close(self) -> None:
        """Write what waits, then stop."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        try:
            going = True
            while going:
                jobs = [self._queue.get()]
                time.sleep(_GATHER)
                while jobs[-1] is not None and len(jobs) < _TOGETHER:
                    try:
                        jobs.append(self._queue.get_nowait())
                    except Empty:
                        break
                going = jobs[-1] is not None
                self._commit([job for job in jobs if job is not None])
        finally:  # whatever ended it, nobody waits for ever
            while self.waiting:
                if (job := self._queue.get()) is not None:
                    self._deliver(partial(job[1], Gone("the ledger is closed")))

    def _commit(self, jobs: list[tuple[Work, Done]]) -> None:
        """One transaction. Work that is refused fails alone; a commit that fails, fails for all."""
        if not jobs:
            return
        answers: list[Any]
        try:
            if self._gone:
                self._find_again()
            made = Transaction(self._database, self._next, self._known)
            with self._database.transaction():
                answers = [_attempt(work, made) for work, _ in jobs]
                made.flush()
        except Exception as error:
            self._gone = isinstance(error, Gone)
            answers = [error] * len(jobs)
        else:
            self._take(made.next, made.made, {board: list(new) for board, new in made.new.items()})
        finally:

            def answer() -> None:
                for (_, done), found in zip(jobs, answers, strict=True):
                    done(found)

            self._deliver(answer)

    def _take(self, following: int, made: Mapping[int, Sequence[Entry]], names: Mapping[int, Sequence[str]]) -> None:
        """What a commit wrote is known from now on."""
        self._next = following
        for board, new in names.items():
            known = self._known[board]
            known.update(zip(new, range(len(known), len(known) + len(new)), strict=True))
        for board, rows in made.items():
            self._told(board, rows, names.get(board, ()))

    def _find_again(self) -> None:
        """Connect again, and take in what was committed although the connection was lost before it said so."""
        self._database.reconnect()
        found = self._database.run("SELECT DISTINCT board FROM ledger WHERE id >= ?", (self._next,))
        made = {board: list(entries(self._database, board, self._next - 1)) for (board,) in found}
        names = {board: [n for n in agents_of(self._database, board) if n not in self._known[board]] for board in made}
        following = max((rows[-1].id + 1 for rows in made.values()), default=self._next)
        self._gone = False
        self._take(following, made, names)


def _attempt(work: Work, transaction: Transaction) -> Any:
    try:
        return work(transaction)
    except Refused as refusal:
        return refusal
