"""A board that follows a ledger as it is written, without a server."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from softcondorcet.serve.board import Board
from softcondorcet.serve.database import Database, open_database
from softcondorcet.serve.service import load
from softcondorcet.serve.store import Writer

BOARD = 1


@cache
def empty_board() -> bytes:
    """The file of a database with one board: made once, since each of its tables is synced to disk."""
    with tempfile.TemporaryDirectory() as folder:
        database = open_database(f"{folder}/board.db")
        with database.transaction():
            database.run("INSERT INTO board (id, name, title, made) VALUES (?, 'main', 'Title', 0)", (BOARD,))
        database.close()
        return Path(folder, "board.db").read_bytes()


@contextmanager
def ledger(
    wrapped: Callable[[Database], Database] = lambda database: database,
) -> Iterator[tuple[Database, Board, Writer]]:
    """A board that follows a ledger as it is written."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "board.db").write_bytes(empty_board())
        database = wrapped(open_database(f"{folder}/board.db"))
        database.run("PRAGMA synchronous=OFF")  # no power cut in these tests
        (board,) = load(database)
        writer = Writer(database, lambda _, rows, names: board.tell(rows, names))
        try:
            yield database, board, writer
        finally:
            writer.close()
            database.close()


def write(writer: Writer, work: Any) -> Any:
    """Run `work` in a commit of its own, and wait for it."""
    answer: SimpleQueue[Any] = SimpleQueue()
    writer.submit(work, answer.put)
    found = answer.get(timeout=30)
    if isinstance(found, Exception):
        raise found
    return found
