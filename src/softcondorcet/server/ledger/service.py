"""The service without its routes: boards in memory over one database, one writer, and fits in child processes."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from softcondorcet.server.ledger import tokens
from softcondorcet.server.ledger.board import Board
from softcondorcet.server.ledger.database import Database, open_database, open_reader
from softcondorcet.server.ledger.fits import FilteredBoards, FitHistory, Fits
from softcondorcet.server.ledger.limits import Listeners, PairLimit
from softcondorcet.server.ledger.snapshot import Facts, Fit
from softcondorcet.server.ledger.writer import Entry, Refused, Transaction, Work, Writer, agents_of, entries

MAIN = "main"
# Seconds that the oldest request to be written may wait before the service says that it takes no votes.
_STUCK = 5.0
# Seconds between two attempts to write while writing fails.
_PROBE = 1.0


@dataclass(frozen=True)
class Settings:
    """Settings of the service: the options of ``sco serve``, and limits."""

    title: str = "Leaderboard"
    open_votes: bool = False
    every: float = 5.0
    resamples: int = 100
    most_agents: int = 5000
    token_rate: float = 4000.0
    voter_rate: float = 400.0
    most_weight: float = 1.0  # of a vote by those who are no admins
    most_pairs: int = 1_000_000  # of a board
    patience: float = 30.0  # seconds that a connection may keep the server waiting
    body_seconds: float = 20.0  # from the first byte of a body to its last
    fit_seconds: float = 120.0
    fit_memory: int = 2**30
    fitted: frozenset[str] | None = None  # boards that are fitted at all; None: all
    facts: Facts = field(default_factory=dict)  # about agents, on all boards
    balance: str | None = None  # "groups": each group counts the same


class Service:
    """Boards by name. ``start`` and ``stop`` run in the event loop that serves."""

    def __init__(self, address: str, settings: Settings | None = None, *, write: bool = True) -> None:
        self.settings = settings or Settings()
        self.database = open_database(address) if write else open_reader(address)
        self.boards: dict[str, Board] = {}
        self.tokens = tokens.all_tokens(self.database)
        self.history = FitHistory(self.database)
        self._by_id: dict[int, Board] = {}
        self._writer: Writer | None = None
        self._fitting: asyncio.Task[None] | None = None
        self.fits, self.filtered = Fits(self.settings, self.write), FilteredBoards(self.settings)
        self.stopping, self.listeners = asyncio.Event(), Listeners()
        self.pairs = PairLimit(self.settings.most_pairs)
        self._probed = 0.0
        for board in load(self.database):
            self._add(board)

    def _add(self, board: Board) -> None:
        board.facts, board.balance = self.settings.facts, self.settings.balance is not None
        board.fitted = self.settings.fitted is None or board.name in self.settings.fitted
        self.boards[board.name] = self._by_id[board.id] = board

    async def start(self) -> None:
        """Start the writer and the loop of fits: votes are accepted from now on."""
        loop = asyncio.get_running_loop()
        self._writer = Writer(self.database, self._tell, loop.call_soon_threadsafe)
        if MAIN not in self.boards:
            await self.new_board(MAIN, self.settings.title)
        self._fitting = asyncio.create_task(self.fits.run(lambda: list(self.boards.values()), self._probe))

    async def stop(self) -> None:
        """Write what is queued, then close the database."""
        self.stopping.set()
        if self._fitting is not None:
            self._fitting.cancel()
            await asyncio.gather(self._fitting, return_exceptions=True)
        if self._writer is not None:
            await asyncio.to_thread(self._writer.close)
        self.database.close()

    def _tell(self, board: int, rows: Sequence[Entry], names: Sequence[str]) -> None:
        self._by_id[board].tell(rows, names)

    @property
    def waiting(self) -> int:
        return self._writer.waiting if self._writer else 0

    @property
    def queue_age(self) -> float:
        """Seconds that the oldest request to be written has waited."""
        return self._writer.queue_age if self._writer else 0.0

    @property
    def trouble(self) -> str:
        """Why votes are not accepted or not fitted, in words; empty while all is well."""
        if self.stopping.is_set():
            return "the service is stopping"
        if self._writer is None:
            return "no database is written"
        if not self._writer.writes:
            return self._writer.failing or "the ledger is closed"
        if self.queue_age > _STUCK:
            return f"nothing was written for {self.queue_age:.0f} s"
        return self.fits.broken or self.fits.failure

    def _probe(self) -> None:
        """While writing fails, try again once a second: no vote may come that would show that it works again."""
        if self._writer is not None and self._writer.failing and time.monotonic() > self._probed + _PROBE:
            self._probed = time.monotonic()
            self._writer.probe()

    async def write(self, work: Work) -> Any:
        """Run `work` in the next commit; its result once that is on disk, or the error that stopped it."""
        assert self._writer is not None
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        def done(result: Any) -> None:
            if not answer.done():
                (answer.set_exception if isinstance(result, Exception) else answer.set_result)(result)

        self._writer.submit(work, done)
        return await answer

    async def new_board(self, name: str, title: str) -> Board:
        """Create an empty board."""

        def work(transaction: Transaction) -> Board:
            if transaction.database.run("SELECT 1 FROM board WHERE name = ?", (name,)):
                raise Refused(f"there is a board {name!r} already")
            number = (transaction.database.run("SELECT MAX(id) FROM board")[0][0] or 0) + 1
            transaction.database.run(
                "INSERT INTO board (id, name, title, made) VALUES (?, ?, ?, ?)", (number, name, title, transaction.now)
            )
            return Board(number, name, title)

        board: Board = await self.write(work)
        self._add(board)
        return board

    async def new_token(self, board: Board | None, scope: tokens.Scope, label: str) -> tuple[tokens.Token, str]:
        token, secret = await self.write(
            lambda transaction: tokens.add(transaction, board.id if board else None, scope, label)
        )
        self.tokens = [*self.tokens, token]
        return token, secret

    async def revoke(self, number: int) -> None:
        await self.write(lambda transaction: tokens.revoke(transaction, number))
        self.tokens = [replace(token, revoked=time.time()) if token.id == number else token for token in self.tokens]


def load(database: Database) -> list[Board]:
    """Load all boards: replay each ledger, starting from its last fit."""
    boards = []
    for number, name, title in database.run("SELECT id, name, title FROM board ORDER BY id"):
        rows = database.run("SELECT id, last, made, body FROM fit WHERE board = ? ORDER BY id DESC LIMIT 1", (number,))
        fits = [Fit(at, last, made, json.loads(body)) for at, last, made, body in rows]
        board = Board(number, name, title)
        board.replay(entries(database, number), list(agents_of(database, number)), *fits)
        boards.append(board)
    return boards
