"""A database with one writer: SQLite in a file, or PostgreSQL. The same SQL, with ? for values, serves both.

SQLite 3.7.0 to 3.51.2 can corrupt a write-ahead log when several connections write. So exactly one connection writes,
in one process, which a lock on a file beside the database keeps to itself; all others are opened read-only.
"""

from __future__ import annotations

import fcntl
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib.resources import files
from pathlib import Path
from typing import IO, Any, Protocol

from softcondorcet.errors import DataError
from softcondorcet.options import needs

Values = Sequence[Any]


class DiskFull(Exception):  # noqa: N818
    """There is no room: nothing of the transaction was kept."""


class Database(Protocol):
    """One connection. What changes something runs inside ``transaction``."""

    about: str

    def run(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]: ...
    def many(self, sql: str, rows: Iterable[Values]) -> None: ...
    def transaction(self) -> AbstractContextManager[None]: ...
    def reader(self) -> Database: ...
    def close(self) -> None: ...


def is_postgres(address: str) -> bool:
    return address.startswith(("postgresql://", "postgres://"))


def open_database(address: str) -> Database:
    """The writing connection, of which there is one, with all tables made: a path of a file, or postgresql://..."""
    database: Database = Postgres(address) if is_postgres(address) else Sqlite(address)
    try:
        migrate(database)
    except sqlite3.DatabaseError as error:
        database.close()
        raise DataError(f"{address}: expected a database of votes; {error}") from None
    except BaseException:
        database.close()
        raise
    return database


def migrate(database: Database) -> None:
    """Run the numbered scripts that this database has not seen, each in a transaction of its own."""
    with database.transaction():
        database.run("CREATE TABLE IF NOT EXISTS migration (number BIGINT PRIMARY KEY, name TEXT NOT NULL)")
    done = {number for (number,) in database.run("SELECT number FROM migration")}
    scripts = {int(path.name[:3]): path for path in (files(__package__) / "migrations").iterdir()}
    newer = max(done, default=0)
    if newer > max(scripts):
        raise DataError(f"{database.about}: made by a newer version (migration {newer}); expected up to {max(scripts)}")
    for number in sorted(set(scripts) - done):
        with database.transaction():
            for statement in statements(scripts[number].read_text(encoding="utf-8")):
                database.run(statement)
            database.run("INSERT INTO migration VALUES (?, ?)", (number, scripts[number].name))


def statements(script: str) -> list[str]:
    """The statements of a script, in which comments take whole lines and a semicolon only ends a statement."""
    lines = [line for line in script.splitlines() if not line.lstrip().startswith("--")]
    return [statement.strip() for statement in "\n".join(lines).split(";") if statement.strip()]


class Sqlite:
    """A file. The log is synced before a commit returns (synchronous=FULL): what is committed survives a power cut."""

    def __init__(self, path: str, *, write: bool = True) -> None:
        self.path = path
        self.about = f"{Path(path).name} (SQLite {sqlite3.sqlite_version})"
        self._lock = lock(path) if write else None
        address = f"{Path(path).absolute().as_uri()}?mode={'rwc' if write else 'ro'}"
        try:
            self._connection = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
            if write:
                self.run("PRAGMA journal_mode=WAL")
                self.run("PRAGMA synchronous=FULL")
            self.run("PRAGMA foreign_keys=ON")
        except sqlite3.DatabaseError as error:
            self.close()
            raise DataError(f"{path}: expected a database of votes; {error}") from None

    def run(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        with _disk():
            return self._connection.execute(sql, values).fetchall()

    def many(self, sql: str, rows: Iterable[Values]) -> None:
        with _disk():
            self._connection.executemany(sql, rows)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self.run("BEGIN IMMEDIATE")
        try:
            yield
            self.run("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.rollback()
            raise

    def reader(self) -> Sqlite:
        return Sqlite(self.path, write=False)

    def close(self) -> None:
        if hasattr(self, "_connection"):
            self._connection.close()
        if self._lock is not None:
            self._lock.close()


@contextmanager
def _disk() -> Iterator[None]:
    """A disk without room is an error of its own: it passes."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
            raise DiskFull(str(error)) from None
        raise


def lock(path: str) -> IO[str]:
    """A file beside the database that no other process can lock until this one ends, however it ends."""
    try:
        file = open(path + ".lock", "w", encoding="ascii")  # noqa: SIM115
    except OSError as error:
        raise DataError(f"{path}: expected a file that can be written; {error.strerror}") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise DataError(f"{path}: another server has it open; expected to be the only one") from None
    return file


class Postgres:
    """A PostgreSQL database. The writer holds an advisory lock for as long as it is connected."""

    _LOCK = 7_266_001

    def __init__(self, address: str, *, write: bool = True) -> None:
        needs("psycopg", "postgres")
        import psycopg

        self.address = address
        try:
            self._connection = psycopg.connect(address, autocommit=True)
        except psycopg.Error as error:
            reason = str(error).strip().splitlines()[-1]
            raise DataError(f"PostgreSQL: expected a database that can be connected to; {reason}") from None
        info = self._connection.info
        self.about = f"{info.dbname} (PostgreSQL {info.server_version // 10000}.{info.server_version % 10000})"
        if not write:
            self._connection.read_only = True
        elif not self.run("SELECT pg_try_advisory_lock(?)", (self._LOCK,))[0][0]:
            self.close()
            raise DataError(f"{info.dbname}: another server has it open; expected to be the only one")

    def run(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        with self._disk():
            found = self._connection.execute(_placed(sql), values)
            return found.fetchall() if found.description else []

    def many(self, sql: str, rows: Iterable[Values]) -> None:
        with self._disk(), self._connection.cursor() as cursor:
            cursor.executemany(_placed(sql), rows)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._disk(), self._connection.transaction():
            yield

    @contextmanager
    def _disk(self) -> Iterator[None]:
        import psycopg

        try:
            yield
        except psycopg.errors.DiskFull as error:
            raise DiskFull(str(error)) from None

    def reader(self) -> Postgres:
        return Postgres(self.address, write=False)

    def close(self) -> None:
        self._connection.close()


def _placed(sql: str) -> bytes:
    """PostgreSQL's sign for a value; bytes, since only statements of this package come here."""
    return sql.replace("?", "%s").encode()
