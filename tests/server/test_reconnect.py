"""A database that goes away and comes back: votes are refused meanwhile, and none is lost or written twice."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from helpers import postgres
from helpers.ledgers import BOARD, ledger, write
from helpers.serving import Server, serving

from softcondorcet.server.ledger.database import Database, DiskFull, Gone
from softcondorcet.server.ledger.fits import Fits
from softcondorcet.server.ledger.service import Service, Settings, load
from softcondorcet.server.ledger.writer import Ask, Receipt, Transaction


class Flaky:
    """A database whose connection breaks when it is told to: before a commit, or after it and before its answer."""

    def __init__(self, database: Database) -> None:
        self._database, self.breaks, self.reconnected = database, "", 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        how, self.breaks = self.breaks, ""
        with self._database.transaction():
            yield
            if how == "before":
                raise Gone("broken")
        if how == "after":
            raise Gone("broken")

    def reconnect(self) -> None:
        self.reconnected += 1


def vote(*names: str) -> Any:
    def work(transaction: Transaction) -> Receipt:
        return transaction.write(BOARD, [Ask("vote", [[name] for name in names])], key="-".join(names), digest="same")

    return work


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_commit_whose_answer_was_lost_is_found_again(when: str) -> None:
    with ledger(Flaky) as (database, board, writer):
        assert isinstance(database, Flaky)
        write(writer, vote("a", "b"))
        database.breaks = when
        with pytest.raises(Gone):
            write(writer, vote("c", "a"))
        assert not writer.writes and board.last == 1
        assert write(writer, vote("c", "a")) == Receipt(2, 2, again=when == "after")
        assert write(writer, vote("d", "a")) == Receipt(3, 3)
        assert (board.agents, board.last, writer.writes) == (["a", "b", "c", "d"], 3, True)
        assert database.reconnected == 1
        (again,) = load(database)
        assert again.snapshot().ratings.values.tobytes() == board.snapshot().ratings.values.tobytes()


def test_nobody_waits_for_a_writer_that_ended() -> None:
    """If a board cannot follow, those who wait are told, those whose vote is on disk get their answer."""

    def fail(*_: object) -> None:
        raise RuntimeError("planted")

    with ledger(on_commit=fail) as (database, _, writer):
        heard: list[BaseException | None] = []
        before, threading.excepthook = threading.excepthook, lambda args: heard.append(args.exc_value)
        try:
            assert write(writer, vote("a", "b")) == Receipt(1, 1)
            late = time.monotonic() + 30
            while writer.writes and time.monotonic() < late:
                time.sleep(0.01)
        finally:
            threading.excepthook = before
        assert [str(error) for error in heard] == ["planted"] and not writer.writes
        with pytest.raises(Gone, match="closed"):
            write(writer, vote("a", "c"))
        assert database.run("SELECT COUNT(*) FROM ledger") == [(1,)]


def test_a_fit_waits_for_room_and_is_not_lost(tmp_path: Path) -> None:
    async def run() -> None:
        settings, full = Settings(every=0.01), [DiskFull("full"), Gone("gone")]
        service = Service(str(tmp_path / "board.db"), settings)

        async def no_room(work: Any) -> Any:
            if full:
                raise full.pop()
            return await service.write(work)

        service.fits = Fits(settings, no_room)
        await service.start()
        try:
            board = service.boards["main"]
            await service.write(lambda transaction: transaction.write(board.id, [Ask("vote", [["a"], ["b"]])]))
            late = time.monotonic() + 60
            while board.fit is None and time.monotonic() < late:
                await asyncio.sleep(0.01)
            assert board.fit is not None and board.fit.n_votes == 1 and not full
            assert service.fits.n_made == 1 and not service.trouble
        finally:
            await service.stop()

    asyncio.run(run())


@pytest.mark.skipif(postgres.programs() is None, reason="needs PostgreSQL")
def test_a_server_finds_its_postgres_again() -> None:
    import psycopg

    with postgres.cluster() as cluster:
        address = cluster.database()
        with serving(address) as server, psycopg.connect(address, autocommit=True) as other:
            assert "PostgreSQL" in server.output
            kept = [_vote(server)]
            other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE pid <> pg_backend_pid() AND datname = current_database()"
            )
            late, statuses = time.monotonic() + 30, list[int]()
            while not statuses or (statuses[-1] != 201 and time.monotonic() < late):
                answer = server.ask("/votes", {"a": "x", "b": "y", "winner": "a"})
                statuses.append(answer.status)
            assert statuses[0] == 503 and statuses[-1] == 201 and set(statuses) == {201, 503}
            kept += [answer.json["id"], _vote(server)]
            assert server.ask("/readyz").status == 200
            assert [row for (row,) in other.execute("SELECT id FROM ledger ORDER BY id")] == kept
            assert server.ask("/leaderboard.json").json["n_votes"] == 3
            assert server.stop() == 0


def _vote(server: Server) -> int:
    answer = server.ask("/votes", {"a": "x", "b": "y", "winner": "a"})
    assert answer.status == 201, answer
    return int(answer.json["id"])
