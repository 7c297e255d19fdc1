"""The service without its routes: boards in memory over one database, one writer, and fits made on the side."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from tempfile import TemporaryFile
from typing import IO, Any

import msgspec

from softcondorcet.serve import aside, refit, tokens
from softcondorcet.serve.board import MIDDLE, Board, Chosen, Fit, Snapshot, snapshot_of
from softcondorcet.serve.database import Database, DiskFull, Gone, open_database, open_reader
from softcondorcet.serve.matches import Matches
from softcondorcet.serve.past import Past
from softcondorcet.serve.store import Busy, Entry, Refused, Transaction, Work, Writer, agents_of, entries
from softcondorcet.serve.votes import Filter

MAIN = "main"
_log = logging.getLogger(__name__)
# Older fits are history: one in so many seconds is kept.
_HISTORY = 600.0
# A fit begins at most this share of the time: one that takes 2 s is followed by 8 s without.
_SHARE = 0.2
# Filtered views that may wait to be made; four times as many are kept.
_VIEWS = 8
# Threads of linear algebra begin before a process can make itself modest, and would wait for work on every core.
_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@dataclass(frozen=True)
class Settings:
    """What the one who runs the service decides."""

    title: str = "Leaderboard"
    open_votes: bool = False
    every: float = 5.0
    resamples: int = 100
    most_agents: int = 5000
    token_rate: float = 4000.0
    voter_rate: float = 400.0


class Service:
    """Boards by name. ``start`` and ``stop`` run in the event loop that serves."""

    def __init__(self, address: str, settings: Settings | None = None, *, write: bool = True) -> None:
        self.settings = settings or Settings()
        self.database = open_database(address) if write else open_reader(address)
        self.boards: dict[str, Board] = {}
        self.tokens = tokens.all_tokens(self.database)
        self.matches, self.past = Matches(self.database), Past(self.database)
        self._by_id: dict[int, Board] = {}
        self._writer: Writer | None = None
        self._fitting: asyncio.Task[None] | None = None
        self._tried: dict[int, tuple[int, float]] = {}
        self._views: dict[tuple[int, Filter, int], Snapshot] = {}
        self._viewing, self._waiting_views = asyncio.Lock(), set[tuple[int, Filter, int]]()
        self.stopping, self.listeners = asyncio.Event(), 0
        self.fits = 0
        for board in load(self.database):
            self._add(board)

    def _add(self, board: Board) -> None:
        self.boards[board.name] = self._by_id[board.id] = board

    async def start(self) -> None:
        """Take votes from now on."""
        loop = asyncio.get_running_loop()
        self._writer = Writer(self.database, self._tell, loop.call_soon_threadsafe)
        if MAIN not in self.boards:
            await self.new_board(MAIN, self.settings.title)
        self._fitting = asyncio.create_task(self._fit_for_ever())

    async def stop(self) -> None:
        """Write what waits, then let go of the database."""
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
    def ready(self) -> bool:
        """Whether votes are taken."""
        return self._writer is not None and self._writer.writes and not self.stopping.is_set()

    async def write(self, work: Work) -> Any:
        """What `work` returned, once it is on disk. Raises what stopped it."""
        assert self._writer is not None
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        def done(found: Any) -> None:
            if not answer.done():
                (answer.set_exception if isinstance(found, Exception) else answer.set_result)(found)

        self._writer.submit(work, done)
        return await answer

    async def new_board(self, name: str, title: str) -> Board:
        """An empty board."""

        def work(made: Transaction) -> Board:
            if made.database.run("SELECT 1 FROM board WHERE name = ?", (name,)):
                raise Refused(f"there is a board {name!r} already")
            number = (made.database.run("SELECT MAX(id) FROM board")[0][0] or 0) + 1
            made.database.run(
                "INSERT INTO board (id, name, title, made) VALUES (?, ?, ?, ?)", (number, name, title, made.now)
            )
            return Board(number, name, title)

        board: Board = await self.write(work)
        self._add(board)
        return board

    async def new_token(self, board: Board | None, scope: tokens.Scope, label: str) -> tuple[tokens.Token, str]:
        token, secret = await self.write(lambda made: tokens.add(made, board.id if board else None, scope, label))
        self.tokens = [*self.tokens, token]
        return token, secret

    async def revoke(self, number: int) -> None:
        await self.write(lambda made: tokens.revoke(made, number))
        self.tokens = [replace(token, revoked=time.time()) if token.id == number else token for token in self.tokens]

    async def view(self, board: Board, wanted: Filter) -> Snapshot:
        """The board as it would be with the wanted votes alone. Made in another process, and kept for the next one."""
        key = board.id, wanted, board.last
        if key not in self._views:
            if self._viewing.locked() and len(self._waiting_views) >= _VIEWS:
                raise Busy("too many filtered views wait to be made")
            self._waiting_views.add(key)
            try:
                async with self._viewing:
                    if key not in self._views:
                        self._views[key] = await self._view(board, wanted)
            finally:
                self._waiting_views.discard(key)
            while len(self._views) > 4 * _VIEWS:
                self._views.pop(next(iter(self._views)))
        return self._views[key]

    async def _view(self, board: Board, wanted: Filter) -> Snapshot:
        votes = await asyncio.to_thread(board.wanted, wanted)
        found = await self.analyse(votes) if votes.profile.n_votes else {"values": [], "n_votes": 0}
        if "error" in found:
            raise Refused(found["error"])
        return snapshot_of(board, votes, Fit(0, votes.last, time.time(), found))

    async def _fit_for_ever(self) -> None:
        while True:
            await asyncio.sleep(0.2)
            for board in list(self.boards.values()):
                if self._due(board):
                    await self.refit(board)

    def _due(self, board: Board) -> bool:
        """Whether there is something new, and enough time has passed; after a removal, at once."""
        seen, earliest = self._tried.get(board.id, (board.fit.last if board.fit else 0, 0.0))
        return board.last > seen and (time.monotonic() >= earliest or board.last_said > seen)

    async def refit(self, board: Board) -> None:
        """Fit all votes of a board in another process, keep the fit, and go on from it."""
        began = time.monotonic()
        votes = await asyncio.to_thread(board.wanted, Filter())
        found = await self.analyse(votes, list(board.votes.voters.names))
        took = time.monotonic() - began
        self._tried[board.id] = votes.last, time.monotonic() + max(self.settings.every, took * (1 / _SHARE - 1))
        if "error" not in found:
            self.fits += 1
            board.adopt(await self._kept(board, votes.last, found))

    async def _kept(self, board: Board, last: int, found: dict[str, Any]) -> Fit:
        """A fit, once it is written: it waits while there is no room or no database."""
        while True:
            try:
                fit: Fit = await self.write(lambda made: keep(made, board.id, last, found))
                return fit
            except (DiskFull, Gone, Busy) as error:
                _log.warning("a fit waits to be written: %s", error)
                await asyncio.sleep(self.settings.every)

    async def analyse(self, votes: Chosen, names: Sequence[str] = ()) -> dict[str, Any]:
        """What ``refit`` finds out about these votes, and of voters who are named; {"error": why} where it cannot."""
        if not votes.profile.n_votes:
            m = votes.profile.n_agents
            return {"values": [MIDDLE] * m, "n_votes": 0, "provisional": list(range(m))}
        packed = await asyncio.to_thread(_packed, votes, names, self.settings.resamples)
        with packed:
            child = await asyncio.create_subprocess_exec(
                sys.executable, "-m", aside.__name__, str(os.getpid()),
                stdin=packed, stdout=asyncio.subprocess.PIPE, env={**os.environ, **_ONE_THREAD},
            )  # fmt: skip
        try:
            said, _ = await child.communicate()
        except asyncio.CancelledError:
            child.kill()
            await child.wait()
            raise
        if child.returncode != 0:
            _log.error("a fit ended with status %s", child.returncode)
            return {"error": f"the fit ended with status {child.returncode}"}
        found: dict[str, Any] = msgspec.json.decode(said)
        return found


def _packed(votes: Chosen, names: Sequence[str], resamples: int) -> IO[bytes]:
    """Votes in a file without a name: through a pipe, megabytes of them would hold up the event loop."""
    file = TemporaryFile()  # noqa: SIM115
    file.write(refit.pack(votes.profile, votes.voters, names, resamples))
    file.seek(0)
    return file


def load(database: Database) -> list[Board]:
    """All boards as their ledgers and last fits say they are."""
    boards = []
    for number, name, title in database.run("SELECT id, name, title FROM board ORDER BY id"):
        rows = database.run("SELECT id, last, made, body FROM fit WHERE board = ? ORDER BY id DESC LIMIT 1", (number,))
        fits = [Fit(at, last, made, json.loads(body)) for at, last, made, body in rows]
        board = Board(number, name, title)
        board.replay(entries(database, number), list(agents_of(database, number)), *fits)
        boards.append(board)
    return boards


def keep(made: Transaction, board: int, last: int, found: dict[str, Any]) -> Fit:
    """Write a fit. The one before goes if it is too close to the one before that to be worth keeping as history."""
    run = made.database.run
    number = (run("SELECT MAX(id) FROM fit")[0][0] or 0) + 1  # before one goes: no two fits have the same number
    newest = run("SELECT id, made FROM fit WHERE board = ? ORDER BY id DESC LIMIT 2", (board,))
    if len(newest) == 2 and newest[0][1] - newest[1][1] < _HISTORY:
        run("DELETE FROM fit WHERE id = ?", (newest[0][0],))
    values = number, board, last, made.now, msgspec.json.encode(found).decode()
    run("INSERT INTO fit (id, board, last, made, body) VALUES (?, ?, ?, ?, ?)", values)
    return Fit(number, last, made.now, found)
