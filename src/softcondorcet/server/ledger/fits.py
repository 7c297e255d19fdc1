"""Fits of all votes of each board: made one at a time, each in a child process with limits on time and memory.

Whatever goes wrong with a fit is logged and tried again: votes are taken, and boards are shown, without it.

Leaderboards of some of the votes (of one group, or of a span of time) are made here too. Each is fitted apart, once
for each fit of the board, and shows the votes which that fit saw. Those of the largest groups come with the fit.
Others are made when somebody asks, one at a time, and only so many for one caller.

Some fits are kept as history: their ratings are read once, and cached up to 32 MB.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from tempfile import TemporaryFile
from threading import Lock
from typing import IO, TYPE_CHECKING, Any

import msgspec
import numpy as np

from softcondorcet.arrays import read_only
from softcondorcet.errors import place
from softcondorcet.server.ledger import fit_child, fit_process
from softcondorcet.server.ledger.board import MIDDLE, Board, Filter
from softcondorcet.server.ledger.database import Damaged, Database, DiskFull, Gone
from softcondorcet.server.ledger.limits import Buckets, Busy
from softcondorcet.server.ledger.older_fits import in_elo
from softcondorcet.server.ledger.snapshot import UNIT, Chosen, Fit, PastFit, Snapshot, snapshot_of
from softcondorcet.server.ledger.writer import Refused, Transaction, Work

if TYPE_CHECKING:
    from softcondorcet.profile import Profile
    from softcondorcet.server.ledger.service import Settings


_log = logging.getLogger(__name__)
# Older fits are history: one in so many seconds is kept.
_HISTORY = 600.0
# A fit begins at most this share of the time: one that takes 2 s is followed by 8 s without.
_SHARE = 0.2
# Seconds between two looks for something to do.
_LOOK = 0.2
# Threads of linear algebra begin before a process can make itself modest, and would wait for work on every core.
_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class FitFailed(Exception):  # noqa: N818
    """A child process ended without a fit: it took too long or too much memory, or was killed."""


class Fits:
    """When to fit which board, and how the last attempts went; one that failed is tried `again` after some seconds."""

    def __init__(self, settings: Settings, write: Callable[[Work], Awaitable[Any]], *, again: float = 5.0) -> None:
        self._settings, self._write, self.again = settings, write, again
        # By board: the last row seen, the earliest next time, and how many votes there were.
        self._tried: dict[int, tuple[int, float, int]] = {}
        self._rest: dict[int, float] = {}  # by board: when to try again after a failure
        self.n_made = self.n_failed = 0
        self.last: float | None = None  # when the last one was adopted, by the monotonic clock
        self.failure = ""  # what stopped the last attempt, other than the votes themselves
        self.broken = ""  # what keeps the loop from coming to an attempt

    @property
    def age(self) -> float | None:
        """Seconds since the last fit of this process; None before the first."""
        return None if self.last is None else time.monotonic() - self.last

    async def run(self, boards: Callable[[], list[Board]], between: Callable[[], None]) -> None:
        """The loop of fits: fit each board when it is due. It never ends. `between` is called between fits."""
        while True:
            await asyncio.sleep(_LOOK)
            try:
                between()
                for board in boards():
                    if self.due(board):
                        await self.attempt(board)
                self.broken = ""
            except Exception as error:
                if not self.broken:
                    _log.error("the loop of fits: %s", place(error))
                self.broken = f"fits cannot be made: {_words_of(error)}"

    def due(self, board: Board) -> bool:
        """Whether there is something new, and enough time has passed.

        At once where the ranks of now mean nothing: after a removal, or when there are twice as many votes.
        """
        now = time.monotonic()
        last, earliest, n_votes = self._tried.get(board.id, (_last_row_fitted(board), 0.0, 0))
        if not board.fitted or board.last <= last or now < self._rest.get(board.id, 0.0):
            return False
        return now >= earliest or board.last_removal > last or len(board.votes) > 2 * n_votes

    async def attempt(self, board: Board) -> None:
        """Fit a board. An error is logged, and the fit tried again later."""
        began = time.monotonic()
        try:
            await self.fit(board)
        except Exception as error:
            self.n_failed += 1
            self.failure = f"a fit could not be made: {_words_of(error)}"
            self._rest[board.id] = time.monotonic() + max(self.again, _pause(time.monotonic() - began))
            _log.error("a fit of board %s: %s", board.name, error if isinstance(error, FitFailed) else place(error))

    async def fit(self, board: Board) -> None:
        """Fit all votes of a board in another process, keep the fit, and go on from it."""
        began = time.monotonic()
        size, votes = len(board.votes), await asyncio.to_thread(board.wanted, Filter())
        result = await analyse(votes, self._settings, voters=list(board.votes.voters.names))
        self.note(board, votes.last, size, time.monotonic() - began)
        self.failure = ""
        if "error" in result:
            self.n_failed += 1
            _log.error("a fit of board %s: %s", board.name, result["error"])
            return
        groups = result.pop("by_group", {})
        result["balanced"] = votes.profile.balance is not None
        fit: Fit = await self._kept(board, votes.last, result)
        board.adopt(fit, groups)
        self.n_made, self.last = self.n_made + 1, time.monotonic()

    def soon(self, board: Board) -> None:
        """Make a board due for a fit at once, as after an import."""
        last, _, size = self._tried.get(board.id, (_last_row_fitted(board), 0.0, 0))
        self._tried[board.id] = last, 0.0, size

    def note(self, board: Board, last: int, size: int, took: float) -> None:
        """A fit of so many votes, up to row `last`, took so many seconds."""
        earliest = time.monotonic() + max(self._settings.every, _pause(took))
        self._tried[board.id] = last, earliest, size

    async def _kept(self, board: Board, last: int, result: dict[str, Any]) -> Fit:
        """A fit, once it is written: it waits while there is no room, or no database that is whole."""
        logged = False
        while True:
            try:
                fit: Fit = await self._write(lambda transaction: keep(transaction, board.id, last, result))
                return fit
            except (DiskFull, Gone, Damaged) as error:
                if not logged:
                    _log.warning("a fit waits to be written: %s", error)
                logged = True
                await asyncio.sleep(min(self._settings.every, 1.0))


def _last_row_fitted(board: Board) -> int:
    """The last row that the fit of before saw, if it weighed votes and scaled ratings as this service does."""
    if board.fit is None or board.fit.analysis.get("older"):
        return 0
    wanted = board.balance and bool(board.votes.groups.names)
    return board.fit.last if bool(board.fit.analysis.get("balanced")) == wanted else 0


async def analyse(
    votes: Chosen, settings: Settings, *, voters: list[str] | None = None, part: bool = False
) -> dict[str, Any]:
    """What ``fit_process`` finds out about votes, and voters who are named; {"error": why} where there is no fit.

    Where that takes more memory or time than it may, ratings alone.
    """
    profile = votes.profile
    if not profile.n_votes:
        m = profile.n_agents
        none = ["no vote compares it with another agent"] * m
        return {"values": [MIDDLE] * m, "unit": UNIT, "n_votes": 0, "unplaced": none}
    job = fit_process.Job(list(profile.agents), list(profile.groups), voters or [], settings.resamples, part)
    job.balance = profile.balance
    result = await _in_child(votes, job, settings)
    if "failed" in result:
        _log.warning("%s; ratings alone are tried", result["failed"])
        job.lean = True
        result = await _in_child(votes, job, settings)
    if "failed" in result:
        raise FitFailed(result["failed"])
    return result


async def _in_child(votes: Chosen, job: fit_process.Job, settings: Settings) -> dict[str, Any]:
    """What a child process finds; {"failed": why} where it ended without a word."""
    limits = str(os.getpid()), str(settings.fit_memory), str(max(int(settings.fit_seconds), 1))
    packed = await asyncio.to_thread(_packed, votes, job)
    with packed:
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-m", fit_child.__name__, *limits,
            stdin=packed, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
            env={**os.environ, **_ONE_THREAD},
        )  # fmt: skip
    try:
        async with asyncio.timeout(settings.fit_seconds):
            output, _ = await child.communicate()
    except TimeoutError:
        return {"failed": f"the fit took more than {settings.fit_seconds:g} s"}
    finally:
        if child.returncode is None:
            with suppress(ProcessLookupError):
                child.kill()
            await child.wait()
    if child.returncode != 0:
        return {"failed": f"the fit ended with status {child.returncode}"}
    result: dict[str, Any] = await asyncio.to_thread(msgspec.json.decode, output)
    return result


def _packed(votes: Chosen, job: fit_process.Job) -> IO[bytes]:
    """Votes in a file without a name: through a pipe, megabytes of them would hold up the event loop."""
    file = TemporaryFile()  # noqa: SIM115
    try:
        file.write(fit_process.pack(votes.profile, votes.voters, job))
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return file


def keep(transaction: Transaction, board: int, last: int, result: dict[str, Any]) -> Fit:
    """Write a fit. The one before goes if it is too close to the one before that to be worth keeping as history.

    Fits of the future were made by a clock that was wrong, and go.
    """
    run = transaction.database.run
    number = (run("SELECT MAX(id) FROM fit")[0][0] or 0) + 1  # before one goes: no two fits have the same number
    run("DELETE FROM fit WHERE board = ? AND made > ?", (board, transaction.now))
    newest = run("SELECT id, made FROM fit WHERE board = ? ORDER BY id DESC LIMIT 2", (board,))
    if len(newest) == 2 and newest[0][1] - newest[1][1] < _HISTORY:
        run("DELETE FROM fit WHERE id = ?", (newest[0][0],))
    values = number, board, last, transaction.now, msgspec.json.encode(result).decode()
    run("INSERT INTO fit (id, board, last, made, body) VALUES (?, ?, ?, ?, ?)", values)
    return Fit(number, last, transaction.now, result)


def _pause(took: float) -> float:
    """How long to rest after a fit, in seconds, by how long that fit took."""
    return took * (1 / _SHARE - 1)


def _words_of(error: Exception) -> str:
    """The message of an error of the machine; of any other only its type, since its message may hold names."""
    if isinstance(error, FitFailed):
        return str(error)
    return (error.strerror or type(error).__name__) if isinstance(error, OSError) else type(error).__name__


# Boards that may wait to be made, in all and for one caller; boards that are kept.
_WAITING, _OF_ONE, _KEPT = 8, 2, 64
# Seconds of fitting in a second, and at once, for one caller.
_SHARE_OF_ONE, _AT_ONCE = 0.1, 20.0

Key = tuple[int, Filter, int]


class TooMany(Exception):  # noqa: N818
    """A caller has too many requests of this kind. `wait`: seconds until it may ask again."""

    def __init__(self, wait: float) -> None:
        super().__init__("too many filtered leaderboards; those of single groups are quicker")
        self.wait = wait


class UnknownGroup(Exception):  # noqa: N818
    """There is no such group on the board."""


def expect_group(board: Board, wanted: Filter) -> None:
    """Refuse a group that the board does not have: misspelt, it must not pass for one without votes."""
    if wanted.group is not None and board.votes.groups.find(wanted.group) is None:
        raise UnknownGroup(f"no group {wanted.group!r} on this board")


class FilteredBoards:
    """A cache of filtered boards (one group, or a time): the least recently used is dropped first."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._kept: OrderedDict[Key, Snapshot] = OrderedDict()
        self._making: dict[Key, asyncio.Task[Snapshot]] = {}
        self._one, self._of = asyncio.Lock(), Counter[str]()
        self._time = Buckets(_SHARE_OF_ONE, _AT_ONCE)

    async def snapshot(self, board: Board, wanted: Filter, caller: str) -> Snapshot:
        """The board as it would be with the wanted votes alone."""
        expect_group(board, wanted)
        key = board.id, wanted, board.fit.id if board.fit else -board.last
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        if key not in self._making:
            ready = board.by_group.get(wanted.group or "") if wanted == Filter(wanted.group) else None
            if ready is None:
                self._admit(caller)
            self._of[caller] += 1
            self._making[key] = asyncio.create_task(self._make(key, board, wanted, ready, caller))
        # Who leaves does not stop what others wait for.
        return await asyncio.shield(self._making[key])

    def _admit(self, caller: str) -> None:
        if len(self._making) >= _WAITING:
            raise Busy("too many filtered leaderboards wait to be fitted; come back soon")
        wait = self._time.take(caller, 0.0)
        if self._of[caller] >= _OF_ONE or wait > 0:
            raise TooMany(max(wait, 1.0))

    async def _make(self, key: Key, board: Board, wanted: Filter, ready: Fit | None, caller: str) -> Snapshot:
        try:
            made = await asyncio.to_thread(_of_fit, board, wanted, ready) if ready else None
            made = made or await self._fitted(board, wanted, caller)
            self._kept[key] = made
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
            return made
        finally:
            del self._making[key]
            self._of[caller] -= 1
            self._of += Counter()  # those at zero go

    async def _fitted(self, board: Board, wanted: Filter, caller: str) -> Snapshot:
        async with self._one:
            began = time.monotonic()
            upto = board.fit.last if board.fit else None
            votes = await asyncio.to_thread(board.wanted, wanted, upto)
            result = await analyse(votes, self._settings, part=True)
            self._time.take(caller, time.monotonic() - began, owe=True)
        if "error" in result:
            raise Refused(result["error"])
        return await asyncio.to_thread(snapshot_of, votes, Fit(0, votes.last, time.time(), result))


def _of_fit(board: Board, wanted: Filter, ready: Fit) -> Snapshot | None:
    """What came with the fit; None where votes were removed since, so that it is of other agents."""
    votes = board.wanted(wanted, ready.last)
    return snapshot_of(votes, ready) if votes.profile.agents == tuple(ready.analysis["agents"]) else None


# Seconds in which fits of older versions are put on today's scale, for one answer.
_RESCALED = 2.0
# Ratings of earlier fits that are kept, in all: 32 MB. Of more, those of the oldest fits are read each time.
MOST = 2**22


class _Body(msgspec.Struct):
    """The part of a fit's JSON that is wanted; the rest is passed over."""

    values: list[float]
    n_votes: int
    unit: float | msgspec.UnsetType | None = msgspec.UNSET


_decoder = msgspec.json.Decoder(_Body)


class FitHistory:
    """The fits of all boards that were kept."""

    def __init__(self, database: Database, *, most: int = MOST) -> None:
        self._database, self._lock, self._most = database, Lock(), most
        self._known: dict[int, PastFit] = {}

    def of(self, board: int, votes: Callable[[int], Profile] | None = None) -> list[PastFit]:
        """Oldest first. Those of older versions are put on today's scale by the `votes` up to a row of the ledger.

        That takes a moment each: what is not done within two seconds is left out now, and there when asked again.
        """
        reader = self._database.reader()
        try:
            rows = reader.run("SELECT id, made, last FROM fit WHERE board = ? ORDER BY id", (board,))
            known = self._known
            listed = [known.get(number) or _read(reader, number, made, last) for number, made, last in rows]
        finally:
            reader.close()
        fits, ends = [fit for fit in listed if fit is not None], time.monotonic() + _RESCALED
        if votes is not None:
            for k in range(len(fits) - 1, -1, -1):
                if fits[k].older and time.monotonic() < ends:
                    values = read_only(in_elo(fits[k].values, votes(fits[k].last)))
                    fits[k] = replace(fits[k], values=values, older=False)
            fits = [fit for fit in fits if not fit.older]
        with self._lock:
            self._known = _newest({**self._known, **{fit.id: fit for fit in fits}}, self._most)
        return fits


def _read(reader: Database, number: int, made: float, last: int) -> PastFit | None:
    """A fit of the history; None if it was replaced by another since it was listed."""
    rows = reader.run("SELECT body FROM fit WHERE id = ?", (number,))
    if not rows:
        return None
    past = _decoder.decode(rows[0][0])
    values = read_only(np.array(past.values, dtype=float))
    return PastFit(number, made, past.n_votes, values, last, past.unit is msgspec.UNSET)


def _newest(fits: dict[int, PastFit], room: int) -> dict[int, PastFit]:
    """The newest fits, as many as the cache has room for."""
    kept = {}
    for number in sorted(fits, reverse=True):
        room -= len(fits[number].values)
        if room < 0:
            break
        kept[number] = fits[number]
    return kept
