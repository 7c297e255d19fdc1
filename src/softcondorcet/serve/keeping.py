"""What is done to a board beside serving it: copies, a check of all its rows, tokens."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from softcondorcet.errors import DataError
from softcondorcet.options import check
from softcondorcet.serve import tokens
from softcondorcet.serve.board import Board, Snapshot
from softcondorcet.serve.database import Database, Locked, Sqlite, is_postgres, lock, open_database, open_reader
from softcondorcet.serve.service import load
from softcondorcet.serve.store import Transaction, agents_of, entries
from softcondorcet.serve.tokens import Scope, Token

# Rows between two looks at a board that is built up step by step.
_PART = 5000


def backup(address: str, path: str, *, force: bool = False) -> str:
    """Copy a board to a file, as it is at one moment, while a server may be writing it. Says what was copied."""
    _only_files(address, "pg_dump")
    with closing(open_reader(address)) as source, _made(path, force) as part:
        assert isinstance(source, Sqlite)
        source.copy(part)
    return f"{path}: {_rows(path):,} rows"


def restore(address: str, path: str, *, force: bool = False) -> str:
    """Put a copy in the place of a board that no server has open."""
    _only_files(address, "psql or pg_restore")
    with closing(open_reader(path)) as source, closing(lock(address)), _made(address, force) as part:
        assert isinstance(source, Sqlite)
        source.copy(part)
        for ending in ("-wal", "-shm"):  # those of the old board: SQLite would read them into the new one
            Path(os.path.realpath(address) + ending).unlink(missing_ok=True)
    return f"{address}: {_rows(address):,} rows"


def _only_files(address: str, instead: str) -> None:
    check(not is_postgres(address), "--backup and --restore", f"for a file; use {instead} for PostgreSQL", "one")


@contextmanager
def _made(path: str, force: bool) -> Iterator[str]:
    """A name to write a copy under, which is checked, synced and only then called `path`."""
    if os.path.exists(path) and not force:
        raise DataError(f"{path}: expected a new file, and it is there; --force puts the copy in its place")
    part = f"{path}.part"
    try:
        Path(part).unlink(missing_ok=True)
        yield part
        with closing(open_reader(part)) as copy:
            whole(copy)
        for name in (part, os.path.dirname(os.path.abspath(path))):
            file = os.open(name, os.O_RDONLY)
            os.fsync(file)
            os.close(file)
        os.replace(part, os.path.realpath(path))
    except (OSError, sqlite3.OperationalError) as error:
        raise DataError(f"{path}: expected a file that can be written; {error}") from None
    finally:
        for ending in ("", "-wal", "-shm"):
            Path(part + ending).unlink(missing_ok=True)


def _rows(path: str) -> int:
    with closing(open_reader(path)) as database:
        return int(database.run("SELECT COUNT(*) FROM ledger")[0][0])


def whole(database: Database) -> None:
    """Whether the database itself finds nothing wrong with its file."""
    if not isinstance(database, Sqlite):
        return
    found = [*database.run("PRAGMA integrity_check"), *database.run("PRAGMA foreign_key_check")]
    if found != [("ok",)]:
        raise DataError(f"{database.about}: expected a file that is whole; {found[0]}")


def examine(address: str) -> list[str]:
    """Read every row, count all pairs at once and again step by step, and compare. A line for each board."""
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


def _counts(seen: Snapshot) -> tuple[object, ...]:
    columns = (getattr(seen.pairs, name).tobytes() for name in ("left", "right", "wins", "losses", "ties"))
    return seen.n_votes, *columns


def _alone(address: str) -> Database:
    try:
        return open_database(address)
    except Locked:
        raise DataError(f"{address}: a server has it open; ask that one: POST /tokens, DELETE /tokens/ID") from None


def new_token(address: str, label: str, scope: Scope, board: str | None) -> tuple[Token, str]:
    """A token of a board that no server has open, and its secret."""
    with closing(_alone(address)) as database, database.transaction():
        found = database.run("SELECT id FROM board WHERE name = ?", (board,))
        if board is not None and not found:
            raise DataError(f"{address}: expected the name of a board, got {board!r}")
        return tokens.add(Transaction(database, 0, {}), found[0][0] if found else None, scope, label)


def revoke(address: str, number: int) -> Token:
    """End a token of a board that no server has open."""
    with closing(_alone(address)) as database, database.transaction():
        known = {token.id: token for token in tokens.all_tokens(database) if token.revoked is None}
        if number not in known:
            raise DataError(
                f"{address}: expected the number of a token ({sorted(known) or 'there is none'}), got {number}"
            )
        tokens.revoke(Transaction(database, 0, {}), number)
        return known[number]


def list_tokens(address: str) -> list[str]:
    """A line for each token that is good."""
    with closing(open_reader(address)) as database:
        boards = dict(database.run("SELECT id, name FROM board"))
        return [
            f"{token.id}  {token.scope}  {'all boards' if token.board is None else boards[token.board]}  {token.label}"
            for token in tokens.all_tokens(database)
            if token.revoked is None
        ]
