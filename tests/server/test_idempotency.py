"""Idempotency keys: each token has its own, tickets are everybody's, and those of the version before are still good."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from helpers import postgres
from helpers.ledgers import write

from softcondorcet.server import maintenance
from softcondorcet.server.ledger.database import Database, connect, migrate, open_database, statements
from softcondorcet.server.ledger.writer import Ask, OtherBody, Receipt, Transaction, Writer
from softcondorcet.server.web import matches

ASK = Ask("vote", [["x"], ["y"]])
TICKET = matches.Ticket("a-ticket", 1, "task", "x", "y", 0.0).key


@pytest.fixture(scope="module")
def cluster() -> Iterator[postgres.Cluster]:
    if postgres.programs() is None:
        pytest.skip("needs PostgreSQL")
    with postgres.cluster() as found:
        yield found


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "board.db")
    found: postgres.Cluster = request.getfixturevalue("cluster")
    return found.database()


def send(writer: Writer, key: str, digest: str, token: int | None, board: int = 1) -> Any:
    def work(transaction: Transaction) -> Receipt:
        return transaction.write(board, [ASK], token=token, key=key, digest=digest)

    return write(writer, work)


def test_each_token_has_keys_of_its_own(address: str) -> None:
    with closing(open_database(address)) as database:
        with database.transaction():
            database.run(
                "INSERT INTO board (id, name, title, made) VALUES (1, 'main', 'Main', 0), (2, 'two', 'Two', 0)"
            )
        with closing(Writer(database, lambda *_: None)) as writer:
            assert send(writer, "k", "one", token=1) == Receipt(1, 1)
            assert send(writer, "k", "other", token=2) == Receipt(2, 2)
            assert send(writer, "k", "third", token=None) == Receipt(3, 3)
            assert send(writer, "k", "one", token=1, board=2) == Receipt(4, 4)
            for token, digest, row in ((1, "one", 1), (2, "other", 2), (None, "third", 3)):
                assert send(writer, "k", digest, token) == Receipt(row, row, again=True)
            for token, digest in ((1, "other"), (2, "one"), (None, "one")):
                with pytest.raises(OtherBody):
                    send(writer, "k", digest, token)


def test_each_token_has_keys_of_its_own_within_a_commit(address: str) -> None:
    with closing(open_database(address)) as database, database.transaction():
        database.run("INSERT INTO board (id, name, title, made) VALUES (1, 'main', 'Main', 0)")
        transaction = Transaction(database, 1, {1: {}})
        assert transaction.write(1, [ASK], token=1, key="k", digest="one") == Receipt(1, 1)
        assert transaction.write(1, [ASK], token=2, key="k", digest="other") == Receipt(2, 2)
        assert transaction.write(1, [ASK], token=1, key="k", digest="one") == Receipt(1, 1, again=True)
        transaction.flush()
        assert database.run("SELECT token, first FROM answer ORDER BY token") == [(1, 1), (2, 2)]


def test_a_ticket_is_used_up_whoever_used_it(address: str) -> None:
    with closing(open_database(address)) as database:
        with database.transaction():
            database.run("INSERT INTO board (id, name, title, made) VALUES (1, 'main', 'Main', 0)")
        with closing(Writer(database, lambda *_: None)) as writer:
            assert send(writer, TICKET, "a wins", token=1) == Receipt(1, 1)
            for token in (2, None):
                with pytest.raises(OtherBody):
                    send(writer, TICKET, "b wins", token)
                assert send(writer, TICKET, "a wins", token) == Receipt(1, 1, again=True)


def make_before(database: Database) -> None:
    """A database as the version before left it."""
    with database.transaction():
        script = files("softcondorcet.server.ledger") / "migrations" / "001_ledger.sql"
        for statement in statements(script.read_text(encoding="utf-8")):
            database.run(statement)
        database.run("CREATE TABLE migration (number BIGINT PRIMARY KEY, name TEXT NOT NULL)")
        database.run("INSERT INTO migration VALUES (1, '001_ledger.sql')")
        database.run("INSERT INTO board (id, name, title, made) VALUES (1, 'main', 'Main', 0)")
        database.many("INSERT INTO agent VALUES (1, ?, ?)", [(0, "x"), (1, "y")])
        database.many(
            "INSERT INTO ledger (id, board, kind, made, token, weight, body) VALUES (?, 1, 'vote', ?, ?, 1000000, ?)",
            [(row, 100.0 + row, token, "[[0],[1]]") for row, token in ((1, 7), (2, None), (3, 7), (4, 7))],
        )
        answers = [("mine", "one", 1, 1), ("open", "two", 2, 2), (TICKET, "three", 3, 4)]
        database.many("INSERT INTO answer (board, key, digest, first, last) VALUES (1, ?, ?, ?, ?)", answers)


def test_keys_of_the_version_before_are_answered_as_before(address: str) -> None:
    with closing(connect(address)) as database:
        make_before(database)
    with closing(open_database(address)) as database, closing(Writer(database, lambda *_: None)) as writer:
        assert send(writer, "mine", "one", token=7) == Receipt(1, 1, again=True)
        assert send(writer, "open", "two", token=None) == Receipt(2, 2, again=True)
        assert send(writer, TICKET, "three", token=9) == Receipt(3, 4, again=True)
        assert send(writer, "mine", "another's", token=8) == Receipt(5, 5)
        with pytest.raises(OtherBody):
            send(writer, "mine", "changed", token=7)
        migrate(database)  # which is done once
        assert database.run("SELECT COUNT(*) FROM answer") == [(4,)]


def test_a_copy_of_the_version_before_can_be_put_back(tmp_path: Path) -> None:
    old, new = str(tmp_path / "old.db"), str(tmp_path / "new.db")
    with closing(connect(old)) as database:
        make_before(database)
    assert maintenance.backup(old, f"{new}.copy").endswith("4 rows")
    assert maintenance.restore(new, f"{new}.copy").endswith("4 rows")
    with closing(open_database(new)) as database, closing(Writer(database, lambda *_: None)) as writer:
        assert send(writer, "mine", "one", token=7) == Receipt(1, 1, again=True)
    with closing(sqlite3.connect(new)) as plain:
        assert plain.execute("PRAGMA foreign_key_check").fetchall() == []
