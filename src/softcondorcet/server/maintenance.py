"""Maintenance of a board without serving it: backup and restore, a check of all rows, tokens."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from softcondorcet.checks import check
from softcondorcet.errors import DataError
from softcondorcet.server.ledger import tokens
from softcondorcet.server.ledger.board import Board
from softcondorcet.server.ledger.database import (
    Database,
    DiskFull,
    Gone,
    Lock,
    Locked,
    Sqlite,
    is_postgres,
    open_database,
    open_reader,
)
from softcondorcet.server.ledger.service import load
from softcondorcet.server.ledger.snapshot import Snapshot
from softcondorcet.server.ledger.tokens import Scope, Token
from softcondorcet.server.ledger.writer import Transaction, agents_of, entries

# Rows between two looks at a board that is built up step by step.
_PART = 5000


def backup(address: str, path: str, *, force: bool = False) -> str:
    """Back up a board to a file, also while a server writes it. Returns a sentence about the copy."""
    _only_files(address, "pg_dump")
    with _target(path, address, force), closing(open_reader(address, older=True)) as source:
        _copy(source, path)
    return f"{path}: {_rows(path):,} rows"


def restore(address: str, path: str, *, force: bool = False) -> str:
    """Replace a board by a copy. No server may have it open."""
    _only_files(address, "psql or pg_restore")
    with _target(address, path, force), closing(open_reader(path, older=True)) as source:
        _copy(source, address)
    return f"{address}: {_rows(address):,} rows"


def _only_files(address: str, instead: str) -> None:
    check(not is_postgres(address), "BOARD", f"a file; use {instead} for PostgreSQL", "postgresql://...")


@contextmanager
def _target(path: str, source: str, force: bool) -> Iterator[None]:
    """The name of a copy: a new one, or with `force` that of a file that no server has open, nor gets meanwhile."""
    if not os.path.lexists(path):
        yield
        return
    if not force:
        raise DataError(f"{path}: expected a new file, and it is there; --force puts the copy in its place")
    # Looked at before it is opened: to close a file that this process has open otherwise lets go of all its locks.
    if os.path.exists(source) and os.path.exists(path) and os.path.samefile(source, path):
        raise DataError(f"{path}: expected another file than the board itself")
    try:
        held = Lock(path)
    except Locked:
        raise DataError(
            f"{path}: another server has it open, and would go on with a file that is gone; "
            "stop that server first, or name another file"
        ) from None
    with closing(held):
        yield


def _copy(source: Database, path: str) -> None:
    """Write a copy under another name, check it, sync it, and only then call it `path`."""
    assert isinstance(source, Sqlite)
    real = os.path.realpath(path)
    new, part = not os.path.exists(real), f"{real}.part"
    try:
        Path(part).unlink(missing_ok=True)
        source.copy(part)
        with closing(open_reader(part, older=True)) as copy:
            whole(copy)
        _sync(part)
        if new and os.path.exists(real):
            raise DataError(f"{path}: expected a new file, and it has come to be there meanwhile")
        for ending in ("-wal", "-shm"):  # those of the file before: SQLite would read them into the new one
            Path(real + ending).unlink(missing_ok=True)
        os.replace(part, real)
        _sync(os.path.dirname(real))
    except (OSError, sqlite3.OperationalError, DiskFull, Gone) as error:
        raise DataError(f"{path}: expected a file that can be written; {error}") from None
    finally:
        for ending in ("", "-wal", "-shm"):
            with suppress(OSError):
                os.unlink(part + ending)


def _sync(name: str) -> None:
    file = os.open(name, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _rows(path: str) -> int:
    with closing(open_reader(path, older=True)) as database:
        return int(database.run("SELECT COUNT(*) FROM ledger")[0][0])


def whole(database: Database) -> None:
    """Whether the database itself finds nothing wrong with its file."""
    if not isinstance(database, Sqlite):
        return
    problems = [*database.run("PRAGMA integrity_check"), *database.run("PRAGMA foreign_key_check")]
    if problems != [("ok",)]:
        raise DataError(f"{database.about}: expected a file that is whole; {problems[0]}")


def examine(address: str) -> list[str]:
    """Check all boards: read every row, count all pairs at once and step by step, compare. A line for each board."""
    with closing(open_reader(address)) as database:
        whole(database)
        return [_examined(database, board) for board in load(database)]


def _examined(database: Database, board: Board) -> str:
    rows = list(entries(database, board.id))
    stepwise = Board(board.id, board.name, board.title)
    stepwise.tell([], list(agents_of(database, board.id)))
    for first in range(0, len(rows), _PART):
        stepwise.tell(rows[first : first + _PART], ())
        seen = stepwise.snapshot()
    at_once = board.snapshot()
    if rows and _counts(seen) != _counts(at_once):
        raise DataError(f"board {board.name}: expected the same counts however they are made, and they differ")
    pairs = len(at_once.pairs)
    return f"board {board.name}: {len(rows):,} rows, {at_once.n_votes:,} votes that count, {pairs:,} pairs: all agree"


def _counts(snapshot: Snapshot) -> tuple[object, ...]:
    columns = (getattr(snapshot.pairs, name).tobytes() for name in ("left", "right", "wins", "losses", "ties"))
    return snapshot.n_votes, *columns


def _alone(address: str) -> Database:
    try:
        return open_database(address)
    except Locked:
        raise DataError(f"{address}: a server has it open; ask that one: POST /tokens, DELETE /tokens/ID") from None


def new_token(address: str, label: str, scope: Scope, board: str | None) -> tuple[Token, str]:
    """Make a token, and return it with its secret. No server may have the database open."""
    with closing(_alone(address)) as database, database.transaction():
        boards = database.run("SELECT id FROM board WHERE name = ?", (board,))
        if board is not None and not boards:
            raise DataError(f"{address}: expected the name of a board, got {board!r}")
        return tokens.add(Transaction(database, 0, {}), boards[0][0] if boards else None, scope, label)


def revoke(address: str, number: int) -> Token:
    """Revoke a token. No server may have the database open."""
    with closing(_alone(address)) as database, database.transaction():
        known = {token.id: token for token in tokens.all_tokens(database) if token.revoked is None}
        if number not in known:
            raise DataError(
                f"{address}: expected the number of a token ({sorted(known) or 'there is none'}), got {number}"
            )
        tokens.revoke(Transaction(database, 0, {}), number)
        return known[number]


def list_tokens(address: str) -> list[str]:
    """The tokens that are valid, a line for each."""
    with closing(open_reader(address)) as database:
        boards = dict(database.run("SELECT id, name FROM board"))
        return [
            f"{token.id}  {token.scope}  {'all boards' if token.board is None else boards[token.board]}  {token.label}"
            for token in tokens.all_tokens(database)
            if token.revoked is None
        ]
