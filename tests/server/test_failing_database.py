"""A database that cannot be written for a while: votes are refused in words, none is lost or doubled, and it passes."""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from queue import SimpleQueue
from threading import Event
from typing import Any

import pytest
from helpers.ledgers import BOARD, ledger, write
from helpers.nursery import Start, nursery

from softcondorcet.errors import DataError
from softcondorcet.server.ledger.board import Board
from softcondorcet.server.ledger.database import Damaged, Database, DiskFull, Gone, Sqlite, open_database, open_reader
from softcondorcet.server.ledger.writer import Ask, Receipt, Transaction, Writer

# Locks a database until it is told to let go.
LOCK = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read()
"""
SECRET = "voter-known-to-nobody"


@pytest.fixture(scope="module")
def start() -> Iterator[Start]:
    with nursery() as start:
        yield start


def vote(*names: str, key: str | None = None) -> Callable[[Transaction], Receipt]:
    ask = Ask("vote", [[name] for name in names], voter=SECRET)
    return lambda transaction: transaction.write(BOARD, [ask], key=key or "-".join(names), digest="same")


def path_of(database: Database) -> str:
    assert isinstance(database, Sqlite)
    return database.path


@contextmanager
def locked(path: str) -> Iterator[None]:
    """Another process has the database to itself."""
    child = subprocess.Popen([sys.executable, "-c", LOCK, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert child.stdout is not None and child.stdout.readline() == b"locked\n"
        yield
    finally:
        child.communicate(timeout=30)


@contextmanager
def by_another_process(database: Database) -> Iterator[None]:
    with locked(path_of(database)):
        yield


@contextmanager
def read_only(database: Database) -> Iterator[None]:
    database.run("PRAGMA query_only=ON")
    yield
    database.run("PRAGMA query_only=OFF")


@contextmanager
def full(database: Database) -> Iterator[None]:
    """No page more than there are."""
    ((most,),) = database.run("PRAGMA max_page_count")
    database.run("PRAGMA max_page_count=1")
    yield
    database.run(f"PRAGMA max_page_count={most}")


TROUBLE: dict[str, tuple[Any, type[Exception], str]] = {
    "locked": (by_another_process, Gone, "board.db: locked by another process"),
    "read-only": (read_only, Gone, "board.db: read-only; expected a file that can be written"),
    "full": (full, DiskFull, "board.db: expected room on its disk"),
}


@pytest.mark.parametrize("kind", TROUBLE)
def test_a_database_that_cannot_be_written_is_told_once_and_found_again(
    kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    trouble, error, words = TROUBLE[kind]
    long = "x" * 20_000  # more than fits on the pages there are
    with ledger() as (database, board, writer):
        assert write(writer, vote("a", "b")) == Receipt(1, 1)
        assert (writer.failing, writer.writes, writer.queue_age) == ("", True, 0.0)
        with trouble(database):
            for _ in range(3):
                with pytest.raises(error, match=words):
                    write(writer, vote("c", long, key="c"))
                assert writer.failing.startswith(words) and not writer.writes
            (told,) = caplog.records
            assert words in told.message and SECRET not in told.message
        assert write(writer, vote("c", long, key="c")) == Receipt(2, 2)
        assert write(writer, vote("c", long, key="c")) == Receipt(2, 2, again=True)
        assert write(writer, vote("a", "c")) == Receipt(3, 3)
        assert (writer.failing, writer.writes) == ("", True)
        assert [record.message.split(",")[0] for record in caplog.records[1:]] == ["votes are written again"]
        assert (board.last, len(board.votes), board.agents) == (3, 3, ["a", "b", "c", long])
        assert database.run("SELECT id FROM ledger ORDER BY id") == [(1,), (2,), (3,)]


def test_a_writer_waits_for_a_lock_less_than_a_second() -> None:
    with ledger() as (database, _, writer), by_another_process(database):
        began = time.monotonic()
        with pytest.raises(Gone):
            write(writer, vote("a", "b"))
        assert time.monotonic() - began < 2.0  # and a busy machine


def test_a_probe_finds_out_while_nobody_votes(caplog: pytest.LogCaptureFixture) -> None:
    with ledger() as (database, _, writer):
        with by_another_process(database):
            with pytest.raises(Gone):
                write(writer, vote("a", "b"))
            writer.probe()
            settle(writer)
            assert writer.failing
        writer.probe()
        settle(writer)
        assert (writer.failing, writer.writes) == ("", True)
        assert database.run("SELECT COUNT(*) FROM ledger") == [(0,)]
        with read_only(database):  # it really writes
            writer.probe()
            settle(writer)
            assert "read-only" in writer.failing
        writer.probe()
        settle(writer)
        assert len(caplog.records) == 4


def settle(writer: Writer) -> None:
    """Until all is answered that was asked before."""
    answered: SimpleQueue[Any] = SimpleQueue()
    writer.submit(lambda transaction: None, answered.put)
    answered.get(timeout=30)


def test_the_age_of_the_queue_is_that_of_its_oldest_request() -> None:
    with ledger() as (_, _, writer):
        begun, go, answers = Event(), Event(), SimpleQueue[Any]()
        assert writer.queue_age == 0.0
        writer.submit(lambda transaction: (begun.set(), go.wait(30)), answers.put)  # type: ignore[func-returns-value]
        assert begun.wait(30)
        writer.submit(vote("a", "b"), answers.put)
        time.sleep(0.2)
        assert 0.2 <= writer.queue_age < 10
        go.set()
        answers.get(timeout=30), answers.get(timeout=30)
        settle(writer)
        late = time.monotonic() + 10
        while writer.queue_age and time.monotonic() < late:
            time.sleep(0.01)
        assert writer.queue_age == 0.0


def damaged(path: str, table: str) -> None:
    """Overwrite the first page of a table or index."""
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (page,) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    with Path(path).open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xff" * 4096)


def test_a_page_gone_bad_is_told_and_does_not_end_the_writer(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = str(tmp_path / "board.db")
    with ledger() as (database, _, writer):
        write(writer, vote("a", "b"))
        database.run("PRAGMA wal_checkpoint(TRUNCATE)")
        shutil.copy(path_of(database), path)
    whole = Path(path).read_bytes()
    damaged(path, "ledger_by_board")
    with closing(open_database(path)) as database:
        board = Board(BOARD, "main", "Main")
        writer = Writer(database, lambda _, rows, names: board.tell(rows, names))
        try:
            for _ in range(2):
                with pytest.raises(Damaged, match=r"that is whole.*sco board restore .* COPY --force"):
                    write(writer, vote("c", "d"))
                assert "whole" in writer.failing and not writer.writes
            writer.probe()  # a write of another page says nothing about this one
            assert writer.waiting == 0 and "whole" in writer.failing
            assert len(caplog.records) == 1
            Path(path).write_bytes(whole)  # the page is good again
            assert write(writer, vote("c", "d")) == Receipt(2, 2)
            assert (writer.failing, writer.writes) == ("", True)
        finally:
            writer.close()
        assert [row for (row,) in database.run("SELECT id FROM ledger")] == [1, 2]


def test_a_reader_tells_in_words_what_is_wrong(tmp_path: Path) -> None:
    path = str(tmp_path / "board.db")
    with closing(open_database(path)) as database:
        reader = database.reader()
        assert reader.run("SELECT COUNT(*) FROM ledger") == [(0,)]
        reader.close()
        os.rename(path, f"{path}.away")
        with pytest.raises(Gone, match="can be opened"):
            database.reader().run("SELECT 1")
        os.rename(f"{path}.away", path)
    damaged(path, "ledger")
    with (
        closing(open_reader(path)) as reader,
        pytest.raises(Damaged, match="expected a database of votes that is whole"),
    ):
        reader.run("SELECT body FROM ledger")


def test_a_board_that_another_process_has_locked_is_told_at_the_start(tmp_path: Path) -> None:
    path = str(tmp_path / "board.db")
    open_database(path).close()
    with locked(path), pytest.raises(DataError, match="locked by another process"):
        open_database(path)
    open_database(path).close()


def test_votes_are_taken_again_when_the_disk_works_again(start: Start, tmp_path: Path) -> None:
    """The file may not grow: an error of the disk, which has room."""
    import resource

    path = str(tmp_path / "board.db")
    with start(path) as server:
        battle = {"a": "x", "b": "y", "winner": "a"}
        assert server.ask("/votes", battle).status == 201
        _, most = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (0, most))
        for _ in range(3):
            answer = server.ask("/votes", battle)
            assert answer.status == 503 and "expected a disk that works" in answer.json["detail"]
            assert int(answer.headers["retry-after"]) >= 1
        with locked(path):
            answer = server.ask("/votes", battle)
            assert answer.status == 503 and "locked by another process" in answer.json["detail"]
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (most, most))
        assert server.ask("/votes", battle).json["id"] == 2
        assert server.ask("/readyz").status == 200


@pytest.mark.parametrize("page", ["/export.csv", "/export.jsonl", "/history.json"])
def test_what_cannot_be_read_is_told_before_an_answer_begins(start: Start, tmp_path: Path, page: str) -> None:
    path = tmp_path / "board.db"
    with start(str(path)) as server:
        assert server.ask("/votes", {"a": "x", "b": "y", "winner": "a"}).status == 201
        path.rename(tmp_path / "away.db")
        answer = server.ask(page)
        assert answer.status == 503 and "can be opened" in answer.json["detail"]
        (tmp_path / "away.db").rename(path)
        assert server.ask(page).status == 200
