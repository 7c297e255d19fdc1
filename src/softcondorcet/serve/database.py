"""A database with one writer: SQLite in a file, or PostgreSQL. The same SQL, with ? for values, serves both.

SQLite 3.7.0 to 3.51.2 can corrupt a write-ahead log when several connections write. So exactly one connection writes,
in one process, which a lock on a file beside the database keeps to itself; all others are opened read-only.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import IO, Any, Protocol

from softcondorcet.errors import DataError
from softcondorcet.options import needs

Values = Sequence[Any]


class DiskFull(Exception):  # noqa: N818
    """There is no room: nothing of the transaction was kept."""


class Locked(DataError):  # noqa: N818
    """Another process has the database to itself."""


class Gone(Exception):  # noqa: N818
    """The database cannot be reached: what was asked for may or may not have been done."""


class Database(Protocol):
    """One connection. What changes something runs inside ``transaction``."""

    about: str

    def run(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]: ...
    def many(self, sql: str, rows: Iterable[Values]) -> None: ...
    def transaction(self) -> AbstractContextManager[None]: ...
    def reader(self) -> Database: ...
    def reconnect(self) -> None: ...
    def close(self) -> None: ...


def is_postgres(address: str) -> bool:
    return address.startswith(("postgresql://", "postgres://"))


def open_database(address: str) -> Database:
    """The writing connection, of which there is one, with all tables made: a path of a file, or postgresql://..."""
    database = connect(address)
    try:
        migrate(database)
    except sqlite3.DatabaseError as error:
        database.close()
        raise DataError(f"{address}: expected a database of votes; {error}") from None
    except BaseException:
        database.close()
        raise
    return database


def open_reader(address: str) -> Database:
    """A connection that only reads, beside a server or without one, to a database that is there and up to date."""
    database = connect(address, write=False)
    try:
        ((done,),) = database.run("SELECT MAX(number) FROM migration")
    except DataError:
        database.close()
        raise
    except Exception as error:
        database.close()
        raise DataError(f"{address}: expected a database of votes; {str(error).splitlines()[0]}") from None
    if done != (last := max(_scripts())):
        database.close()
        raise DataError(f"{address}: expected migration {last}, got {done}; a server that starts brings it up to date")
    return database


def connect(address: str, *, write: bool = True) -> Database:
    """One connection, to write or only to read."""
    try:
        return Postgres(address, write=write) if is_postgres(address) else Sqlite(address, write=write)
    except Gone as error:
        raise DataError(str(error)) from None


def migrate(database: Database) -> None:
    """Run the numbered scripts that this database has not seen, each in a transaction of its own."""
    with database.transaction():
        database.run("CREATE TABLE IF NOT EXISTS migration (number BIGINT PRIMARY KEY, name TEXT NOT NULL)")
    done = {number for (number,) in database.run("SELECT number FROM migration")}
    scripts = _scripts()
    newer = max(done, default=0)
    if newer > max(scripts):
        raise DataError(f"{database.about}: made by a newer version (migration {newer}); expected up to {max(scripts)}")
    for number in sorted(set(scripts) - done):
        with database.transaction():
            for statement in statements(scripts[number].read_text(encoding="utf-8")):
                database.run(statement)
            database.run("INSERT INTO migration VALUES (?, ?)", (number, scripts[number].name))


def _scripts() -> dict[int, Traversable]:
    return {int(path.name[:3]): path for path in (files(__package__) / "migrations").iterdir()}


def statements(script: str) -> list[str]:
    """The statements of a script, in which comments take whole lines and a semicolon only ends a statement."""
    lines = [line for line in script.splitlines() if not line.lstrip().startswith("--")]
    return [statement.strip() for statement in "\n".join(lines).split(";") if statement.strip()]


_LOG_PAGES = 16_000


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
                self._expect_votes()
                self.run("PRAGMA journal_mode=WAL")
                self.run("PRAGMA synchronous=FULL")
                # Moving the log into the database stalls all votes: rarely, and after so many pages (4 KB each).
                self.run(f"PRAGMA wal_autocheckpoint={_LOG_PAGES}")
            self.run("PRAGMA foreign_keys=ON")
        except sqlite3.DatabaseError as error:
            self.close()
            raise DataError(f"{path}: expected a database of votes; {error}") from None
        except BaseException:
            self.close()
            raise

    def _expect_votes(self) -> None:
        """Leave a database of something else as it is."""
        tables = {name for (name,) in self.run("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if tables and "migration" not in tables:
            raise sqlite3.DatabaseError(f"it has other tables: {', '.join(sorted(tables))[:80]}")

    def copy(self, path: str) -> None:
        """All of it, as it is at one moment, to another file."""
        target = sqlite3.connect(path)
        try:
            self._connection.backup(target)
            target.execute("PRAGMA journal_mode=DELETE")  # one file, with nothing beside it
        finally:
            target.close()

    def run(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        with self._told():
            return self._connection.execute(sql, values).fetchall()

    def many(self, sql: str, rows: Iterable[Values]) -> None:
        with self._told():
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

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What went wrong, in words of this module. A disk without room passes; a file that is damaged does not."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
                raise DiskFull(str(error)) from None
            if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                raise DataError(f"{self.path}: expected a database of votes that is whole; {error}") from None
            raise

    def reader(self) -> Sqlite:
        return Sqlite(self.path, write=False)

    def reconnect(self) -> None:
        """A file does not go away."""

    def close(self) -> None:
        if hasattr(self, "_connection"):
            self._connection.close()
        if self._lock is not None:
            self._lock.close()


def lock(path: str) -> IO[str]:
    """A file beside the database that no other process can lock until this one ends, however it ends."""
    try:
        # Beside the file itself, whatever it was called by: a server that came by a link must find it locked.
        file = open(os.path.realpath(path) + ".lock", "w", encoding="ascii")  # noqa: SIM115
    except OSError as error:
        raise DataError(f"{path}: expected a file that can be written; {error.strerror}") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise Locked(f"{path}: another server has it open; expected to be the only one") from None
    return file


class Postgres:
    """A PostgreSQL database. The writer holds an advisory lock for as long as it is connected."""

    _LOCK = 7_266_001

    def __init__(self, address: str, *, write: bool = True) -> None:
        needs("psycopg", "postgres")
        self.address, self.write = address, write
        self.reconnect()
        info = self._connection.info
        self.about = f"{info.dbname} (PostgreSQL {info.server_version // 10000}.{info.server_version % 10000})"

    def reconnect(self) -> None:
        """A new connection in place of the one before, if there was one."""
        import psycopg

        try:
            self._connection = psycopg.connect(self.address, autocommit=True, connect_timeout=5)
        except psycopg.Error as error:
            reason = str(error).strip().splitlines()[-1]
            raise Gone(f"PostgreSQL: expected a database that can be connected to; {reason}") from None
        if not self.write:
            self._connection.read_only = True
        elif not self.run("SELECT pg_try_advisory_lock(?)", (self._LOCK,))[0][0]:
            self.close()
            name = self._connection.info.dbname
            raise Gone(f"{name}: another server has it open; expected to be the only one")

    def run(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        with self._told():
            found = self._connection.execute(_placed(sql), values)
            return found.fetchall() if found.description else []

    def many(self, sql: str, rows: Iterable[Values]) -> None:
        with self._told(), self._connection.cursor() as cursor:
            cursor.executemany(_placed(sql), rows)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._told(), self._connection.transaction():
            yield

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What went wrong, in words of this module."""
        import psycopg

        try:
            yield
        except psycopg.errors.DiskFull as error:
            raise DiskFull(str(error)) from None
        except psycopg.OperationalError as error:
            if self._connection.closed:
                raise Gone(f"PostgreSQL: the connection was lost; {str(error).strip().splitlines()[0]}") from None
            raise

    def reader(self) -> Postgres:
        return Postgres(self.address, write=False)

    def close(self) -> None:
        self._connection.close()


def _placed(sql: str) -> bytes:
    """PostgreSQL's sign for a value; bytes, since only statements of this package come here."""
    return sql.replace("?", "%s").encode()
