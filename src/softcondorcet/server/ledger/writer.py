"""The ledger: what happened, row by row, never changed. One thread writes it, many requests to a commit.

A request is answered only when its commit has returned. Commits cost a sync of the disk each, so all that waits when
one begins goes into it together: a slow disk makes larger commits, not a longer queue.
"""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Literal, NamedTuple

import msgspec

from softcondorcet.server.ledger.database import Damaged, Database, DiskFull, Gone

_log = logging.getLogger(__name__)
Kind = Literal["vote", "retract", "quarantine", "release"]
# Weights are kept in whole millionths.
MICRO = 1_000_000
# Requests in one commit, at most: half a second's work.
_TOGETHER = 1000
# Seconds between two commits, in which votes gather: however few are in it, a commit costs the processor what writing
# the rows of twenty does. A vote that comes later than that waits for nobody.
_PAUSE = 0.004
_COLUMNS = "id, board, kind, made, token, voter, grp, weight, winner, body"
_READ = f"SELECT {_COLUMNS} FROM ledger WHERE board = ? AND id > ? ORDER BY id LIMIT 20000"
_ANSWER = "SELECT digest, first, last, made FROM answer WHERE board = ? AND token = ? AND key = ?"
_WRITE_ANSWER = "INSERT INTO answer (board, token, key, digest, first, last, made) VALUES (?, ?, ?, ?, ?, ?, ?)"
_WRITE = f"INSERT INTO ledger ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


class Ask(NamedTuple):
    """One row to be written to the ledger. `body` of a vote: tiers of names, best first; else as in the ledger.

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

    def __len__(self) -> int:
        return self.last - self.first + 1


class Answer(NamedTuple):
    """What was answered to a request with a key: the digest of its body, the rows that it wrote, and when."""

    digest: str
    first: int
    last: int
    made: float


class Refused(Exception):  # noqa: N818
    """The error of a request that cannot be written; its text says why. Others in the same commit are written."""


class OtherBody(Refused):
    """The Idempotency-Key was used before, with another body."""


def entries(database: Database, board: int, after: int = 0) -> Iterator[Entry]:
    """The rows of a board in the order they were written."""
    while rows := database.run(_READ, (board, after)):
        for row in rows:
            yield Entry._make((*row[:-1], msgspec.json.decode(row[-1])))
        after = rows[-1][0]


class RowFilter(NamedTuple):
    """Which rows of a ledger to list: votes or what was said of them, of one voter, of one group, before a row."""

    votes: bool = True
    voter: str = ""
    group: str = ""
    before: int = 2**62


def latest(database: Database, board: int, wanted: RowFilter, most: int = 100) -> list[Entry]:
    """The newest rows of a board, newest first."""
    values: list[int | str] = [board, wanted.before]
    which = f"board = ? AND id < ? AND kind {'=' if wanted.votes else '<>'} 'vote'"
    for column, name in (("voter", wanted.voter), ("grp", wanted.group)):
        if name:
            which, values = f"{which} AND {column} = ?", [*values, name]
    rows = database.run(f"SELECT {_COLUMNS} FROM ledger WHERE {which} ORDER BY id DESC LIMIT {most}", tuple(values))
    return [Entry._make((*row[:-1], msgspec.json.decode(row[-1]))) for row in rows]


def agents_of(database: Database, board: int) -> dict[str, int]:
    """The agents of a board and their numbers: 0, 1, 2, ... in the order they were first named."""
    return dict(database.run("SELECT name, number FROM agent WHERE board = ? ORDER BY number", (board,)))


Work = Callable[["Transaction"], Any]
Done = Callable[[Any], None]  # called with what the work returned, or with the exception that stopped it
OnCommit = Callable[[int, Sequence[Entry], Sequence[str]], None]


class Transaction:
    """What one commit writes. Rows and new agents are known to nobody else until the commit has returned."""

    def __init__(self, database: Database, first: int, known: dict[int, dict[str, int]]) -> None:
        self.database, self.now, self.next = database, time.time(), first
        self.entries: dict[int, list[Entry]] = defaultdict(list)
        self.new: dict[int, dict[str, int]] = defaultdict(dict)
        self._known = known
        self._answers: dict[tuple[int, int, str], Answer] = {}

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
        """Write `asks` in this order; with a `key` that this token sent before with the same digest, nothing again."""
        if key is not None and (before := self.answered(board, key, token)) is not None:
            if before.digest != digest:
                raise OtherBody("this Idempotency-Key was used before, with another body")
            return Receipt(before.first, before.last, again=True)
        numbers = self._numbers(board, asks, most_agents)
        first = self.next
        for ask in asks:
            body = [[numbers[name] for name in tier] for tier in ask.body] if ask.kind == "vote" else ask.body
            about = token, ask.voter, ask.group, ask.weight, ask.winner
            when = self.now if ask.when is None else ask.when
            self.entries[board].append(Entry(self.next, board, ask.kind, when, *about, body))
            self.next += 1
        receipt = Receipt(first, self.next - 1)
        if key is not None:
            self.remember(board, key, receipt, token, digest)
        return receipt

    def answered(self, board: int, key: str, token: int | None = None) -> Answer | None:
        """The stored answer to this Idempotency-Key; None if there is none."""
        at = board, _owner(key, token), key
        if at in self._answers:
            return self._answers[at]
        rows = self.database.run(_ANSWER, at)
        return Answer(*rows[0]) if rows else None

    def remember(self, board: int, key: str, receipt: Receipt, token: int | None = None, digest: str = "") -> None:
        """Store the answer to this Idempotency-Key."""
        self._answers[board, _owner(key, token), key] = Answer(digest, receipt.first, receipt.last, self.now)

    def flush(self) -> None:
        """Send the rows to the database."""
        run = self.database.many
        agents = [(board, number, name) for board, new in self.new.items() for name, number in new.items()]
        rows = [(*entry[:-1], _text(entry.body)) for written in self.entries.values() for entry in written]
        answers = [(*at, *answer) for at, answer in self._answers.items()]
        if agents:
            run("INSERT INTO agent (board, number, name) VALUES (?, ?, ?)", agents)
        if rows:
            run(_WRITE, rows)
        if answers:
            run(_WRITE_ANSWER, answers)

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


def _owner(key: str, token: int | None) -> int:
    """Whose a key is: its token's, 0 for none. One with a line break, which no header can have, is everybody's."""
    return 0 if token is None or "\n" in key else token


def _text(body: Any) -> str:
    return msgspec.json.encode(body).decode()


class Writer:
    """The thread that writes.

    ``on_commit(board, entries, names)`` is called with rows and new agents as soon as a commit has returned, before
    anybody gets an answer. ``deliver`` then runs the answers of a whole commit at once, in the thread that wants them.
    ``failing`` says why the database could not be written last time; it is empty where it could.
    """

    def __init__(
        self,
        database: Database,
        on_commit: OnCommit,
        deliver: Callable[[Callable[[], None]], Any] = lambda answer: answer(),
    ) -> None:
        self._database, self._on_commit, self._deliver = database, on_commit, deliver
        self._queue: SimpleQueue[tuple[Work, Done, float] | None] = SimpleQueue()
        self._oldest: float | None = None  # since when the first request of the commit under way waits
        self._next = (database.run("SELECT MAX(id) FROM ledger")[0][0] or 0) + 1
        self._known: dict[int, dict[str, int]] = defaultdict(dict)
        for (board,) in database.run("SELECT id FROM board"):
            self._known[board] = agents_of(database, board)
        self.failing, self._failing_since = "", 0.0
        self._damaged = False
        self._unsure = False  # whether the last commit was done after all
        self._thread = Thread(target=self._run, name="ledger")
        self._thread.start()

    @property
    def waiting(self) -> int:
        return self._queue.qsize()

    @property
    def writes(self) -> bool:
        """Whether the last commit found a database that it could write."""
        return self._thread.is_alive() and not self.failing

    @property
    def queue_age(self) -> float:
        """Seconds that the oldest request has waited; 0 where none waits."""
        oldest = self._oldest
        return 0.0 if oldest is None else time.monotonic() - oldest

    def probe(self) -> None:
        """Try to write while no vote comes, to see whether the database can be written again.

        It is a write that changes nothing. One that succeeds does not show that a damaged file is whole: only votes do.
        """
        if self._thread.is_alive() and not self.waiting and not self._damaged:
            self.submit(lambda transaction: transaction.database.run("UPDATE board SET title = title"), lambda _: None)

    def submit(self, work: Work, done: Done) -> None:
        """Run `work` in the next commit; `done` gets its answer once that is on disk."""
        if not self._thread.is_alive():
            raise Gone("the ledger is closed")
        self._queue.put((work, done, time.monotonic()))

    def close(self) -> None:
        """Write what waits, then stop."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        try:
            going, next_commit = True, 0.0
            while going:
                jobs = [self._queue.get()]
                self._oldest = jobs[0][2] if jobs[0] is not None else None
                if (early := next_commit - time.monotonic()) > 0:
                    time.sleep(early)
                while jobs[-1] is not None and len(jobs) < _TOGETHER:
                    try:
                        jobs.append(self._queue.get_nowait())
                    except Empty:
                        break
                going = jobs[-1] is not None
                self._commit([(job[0], job[1]) for job in jobs if job is not None])
                self._oldest, next_commit = None, time.monotonic() + _PAUSE
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
            if self._unsure:
                self._find_again()
            transaction = Transaction(self._database, self._next, self._known)
            with self._database.transaction():
                answers = [_attempt(work, transaction) for work, _ in jobs]
                transaction.flush()
        except Exception as error:
            if isinstance(error, Gone | DiskFull | Damaged):
                self._fail(error)
            answers = [error] * len(jobs)
        else:
            self._recover()
            self._take(
                transaction.next, transaction.entries, {board: list(new) for board, new in transaction.new.items()}
            )
        finally:

            def answer() -> None:
                for (_, done), result in zip(jobs, answers, strict=True):
                    done(result)

            self._deliver(answer)

    def _fail(self, error: Exception) -> None:
        """Note that a commit failed, and log it once, however long that lasts."""
        if not self.failing:
            self._failing_since = time.monotonic()
            _log.error("no votes are written: %s", error)
        self.failing, self._damaged = str(error), isinstance(error, Damaged)
        self._unsure = self._unsure or not isinstance(error, DiskFull)  # of a full disk nothing is kept

    def _recover(self) -> None:
        if self.failing:
            _log.warning("votes are written again, after %.0f s", time.monotonic() - self._failing_since)
            self.failing, self._damaged = "", False

    def _take(self, following: int, written: Mapping[int, Sequence[Entry]], names: Mapping[int, Sequence[str]]) -> None:
        """Pass on what a commit wrote: to the known agents, and to ``on_commit``."""
        self._next = following
        for board, new in names.items():
            known = self._known[board]
            known.update(zip(new, range(len(known), len(known) + len(new)), strict=True))
        for board, rows in written.items():
            self._on_commit(board, rows, names.get(board, ()))

    def _find_again(self) -> None:
        """Connect again, and take in what was committed although the connection was lost before it said so."""
        self._database.reconnect()
        boards = self._database.run("SELECT DISTINCT board FROM ledger WHERE id >= ?", (self._next,))
        written = {board: list(entries(self._database, board, self._next - 1)) for (board,) in boards}
        names = {
            board: [n for n in agents_of(self._database, board) if n not in self._known[board]] for board in written
        }
        following = max((rows[-1].id + 1 for rows in written.values()), default=self._next)
        self._unsure = False
        self._take(following, written, names)


def _attempt(work: Work, transaction: Transaction) -> Any:
    try:
        return work(transaction)
    except Refused as refusal:
        return refusal


def n_compared(tiers: Sequence[Sequence[Any]]) -> int:
    """Pairs of agents that a vote compares."""
    n = sum(map(len, tiers))
    return n * (n - 1) // 2
