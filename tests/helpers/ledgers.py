"""A board that follows a ledger as it is written, without a server."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import softcondorcet as sc
from softcondorcet.server.ledger.board import Board
from softcondorcet.server.ledger.database import Database, open_database
from softcondorcet.server.ledger.service import load
from softcondorcet.server.ledger.writer import MICRO, Entry, OnCommit, Writer

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
    wrapped: Callable[[Database], Database] = lambda database: database, on_commit: OnCommit | None = None
) -> Iterator[tuple[Database, Board, Writer]]:
    """A board that follows a ledger as it is written."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "board.db").write_bytes(empty_board())
        database = wrapped(open_database(f"{folder}/board.db"))
        database.run("PRAGMA synchronous=OFF")  # no power cut in these tests
        (board,) = load(database)
        writer = Writer(database, on_commit or (lambda _, rows, names: board.tell(rows, names)))
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


def board_of(profile: sc.Profile) -> Board:
    """A board with these votes."""
    found = Board(BOARD, "main", "Title")
    tiers = [[[profile.agents.index(name) for name in tier] for tier in vote] for vote in profile.rankings()]
    groups = [
        None if profile.group is None else profile.groups[k]
        for k in (profile.group if profile.group is not None else [0] * profile.n_votes)
    ]
    rows = [
        Entry(k + 1, BOARD, "vote", 1e9 + k, None, f"v{k % 7}", group, MICRO, None, body)
        for k, (body, group) in enumerate(zip(tiers, groups, strict=True))
    ]
    found.tell(rows, profile.agents)
    found.fitted = True
    return found
