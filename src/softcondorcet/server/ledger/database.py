"""A database with one writer: SQLite in a file, or PostgreSQL. The same SQL, with ? for values, serves both.

SQLite 3.7.0 to 3.51.2 can corrupt a write-ahead log when several connections write. So exactly one connection writes,
in one process, which has a lock on the file (``Lock``); all others are opened read-only.

One process at a time can hold the lock on the file, until it ends, however it ends. On Linux it is an
open-file-description lock (fcntl(2), F_OFD_SETLK) on a byte of the database itself: it holds for every link to the
file, and nothing stands beside the file that could be lost. Where there are no such locks it is flock(2) on a file
beside the database, which is removed with the lock.

A process that closes any descriptor of a file loses all ordinary fcntl locks that it has on it (POSIX), and SQLite
holds such locks. So the descriptor of a lock is opened before SQLite opens the file and closed after SQLite closed
it, never in between: in one process a board is opened to write once, and its readers end first. The target of a copy
is only locked; SQLite opens it after that. A board is not copied onto itself, which is found out without opening it.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import stat
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from softcondorcet.errors import DataError
from softcondorcet.installation import needs

if TYPE_CHECKING:
    import psycopg


# Beyond the end of any file, and beyond the bytes that SQLite locks, which begin at 2**30.
_BYTE = 2**62


class Locked(DataError):  # noqa: N818
    """The database is locked by another process."""


class Lock:
    """An exclusive lock on a file, held by this process. With `make` the file is created if it is missing."""

    def __init__(self, path: str, *, make: bool = False) -> None:
        self._path, self._real = path, os.path.realpath(path)  # whatever link it was called by
        self._beside = f"{self._real}.lock"
        self._open: list[int] = []
        self._made: list[str] = []
        try:
            if hasattr(fcntl, "F_OFD_SETLK"):
                self._take(self._real, _lock_byte, make=make)
                with suppress(FileNotFoundError):  # there if a server of a version before this one had the board
                    self._take(self._beside, _lock_whole, make=False)
            else:
                self._take(self._beside, _lock_whole, make=True)
                os.close(self._opened(self._real, make))  # SQLite has not opened it yet
        except OSError as error:
            self.close(failed=True)
            raise DataError(f"{path}: expected a file that can be written; {error.strerror}") from None
        except DataError:
            self.close(failed=True)
            raise

    def _take(self, name: str, lock: Callable[[int], None], *, make: bool) -> None:
        """Open and lock a file, which must still be the one of that name then."""
        while True:
            file = self._opened(name, make)
            self._open.append(file)
            try:
                lock(file)
            except (BlockingIOError, PermissionError):
                self._made.clear()  # it was new, and somebody else has it already
                raise Locked(f"{self._path}: another server has it open; expected to be the only one") from None
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file), os.stat(name)):
                    return
            os.close(self._open.pop())

    def _opened(self, name: str, make: bool) -> int:
        """A descriptor of a regular file; anything else is not even opened."""
        while True:
            try:
                if not stat.S_ISREG(os.stat(name).st_mode):
                    raise DataError(f"{self._path}: expected a regular file, not a folder, device or pipe")
                return os.open(name, os.O_RDWR | os.O_NONBLOCK)
            except FileNotFoundError:
                if not make:
                    raise
            with suppress(FileExistsError):
                file = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
                self._made.append(name)
                return file

    def close(self, *, failed: bool = False) -> None:
        """Release the lock; after a failure, remove the files that were created here."""
        for name in self._made:
            if name == self._beside:
                _remove(name)
            elif failed:
                for ending in ("", "-wal", "-shm"):
                    _remove(name + ending)
        while self._open:
            os.close(self._open.pop())


def _lock_byte(file: int) -> None:
    lock = struct.pack("hhqqi0q", fcntl.F_WRLCK, os.SEEK_SET, _BYTE, 1, 0)  # struct flock
    fcntl.fcntl(file, fcntl.F_OFD_SETLK, lock)


def _lock_whole(file: int) -> None:
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _remove(name: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(name)


Values = Sequence[Any]


class DiskFull(Exception):  # noqa: N818
    """The disk is full. Nothing of the transaction was kept."""


class Gone(Exception):  # noqa: N818
    """The database cannot be reached or written. Whether the transaction was kept is not known."""


class Damaged(DataError):  # noqa: N818
    """The file of the database is damaged. A backup has to be restored."""


class Database(Protocol):
    """One connection. What changes something runs inside ``transaction``."""

    about: str

    def run(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]: ...
    def many(self, sql: str, rows: Iterable[Values]) -> None: ...
    def transaction(self) -> AbstractContextManager[None]: ...
    def reader(self) -> Database: ...
    def reconnect(self) -> None: ...
    def close(self, *, failed: bool = False) -> None: ...


def is_postgres(address: str) -> bool:
    return address.startswith(("postgresql://", "postgres://"))


def open_database(address: str) -> Database:
    """The writing connection, of which there is one, with all tables made: a path of a file, or postgresql://..."""
    database = connect(address)
    try:
        migrate(database)
    except BaseException as error:
        database.close(failed=True)
        if isinstance(error, Gone | DiskFull):
            raise DataError(str(error)) from None
        if isinstance(error, sqlite3.DatabaseError):
            raise DataError(f"{address}: expected a database of votes; {error}") from None
        raise
    return database


def open_reader(address: str, *, older: bool = False) -> Database:
    """A read-only connection to an existing database with the current schema, also beside a running server.

    With `older` one of a version before will do: for a copy, which a server brings up to date when it starts.
    """
    database = connect(address, write=False)
    try:
        ((done,),) = database.run("SELECT MAX(number) FROM migration")
    except DataError:
        database.close()
        raise
    except Exception as error:
        database.close()
        raise DataError(f"{address}: expected a database of votes; {str(error).splitlines()[0]}") from None
    if done > (last := max(_scripts())) or (done < last and not older):
        database.close()
        raise DataError(f"{address}: expected migration {last}, got {done}; a server that starts brings it up to date")
    return database


def connect(address: str, *, write: bool = True) -> Database:
    """One connection, to write or only to read."""
    try:
        return Postgres(address, write=write) if is_postgres(address) else Sqlite(address, write=write)
    except (Gone, DiskFull) as error:
        raise DataError(str(error)) from None


def migrate(database: Database) -> None:
    """Run the numbered scripts that this database has not run, each in a transaction of its own."""
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
# Milliseconds that a write waits for another process that has locked the file. All other votes wait too: one that comes
# just after a commit began waits twice as long, and is to be answered within a second.
LOCK_PATIENCE = 300
# Bytes of room on a disk below which it is full, whatever it says went wrong.
_FULL = 2**20


class Sqlite:
    """A file. The log is synced before a commit returns (synchronous=FULL): what is committed survives a power cut."""

    def __init__(self, path: str, *, write: bool = True) -> None:
        self.path = path
        self.about = f"{Path(path).name} (SQLite {sqlite3.sqlite_version})"
        self._lock = Lock(path, make=True) if write else None
        address = f"{Path(path).absolute().as_uri()}?mode={'rw' if write else 'ro'}"
        try:
            with self._in_words():
                self._connection = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
            if write:
                self._expect_votes()
                self.run("PRAGMA journal_mode=WAL")
                self.run("PRAGMA synchronous=FULL")
                # Moving the log into the database stalls all votes: rarely, and after so many pages (4 KB each).
                self.run(f"PRAGMA wal_autocheckpoint={_LOG_PAGES}")
                self.run(f"PRAGMA busy_timeout={LOCK_PATIENCE}")
            self.run("PRAGMA foreign_keys=ON")
        except BaseException as error:
            self.close(failed=True)
            if isinstance(error, sqlite3.DatabaseError):
                raise DataError(f"{path}: expected a database of votes; {error}") from None
            raise

    def _expect_votes(self) -> None:
        """Refuse a database that holds something else than votes."""
        tables = {name for (name,) in self.run("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if tables and "migration" not in tables:
            raise sqlite3.DatabaseError(f"it has other tables: {', '.join(sorted(tables))[:80]}")

    def copy(self, path: str) -> None:
        """Copy the whole database, as it is at one moment, to another file."""
        with self._in_words(), closing(sqlite3.connect(path)) as target:
            self._connection.backup(target)
            target.execute("PRAGMA journal_mode=DELETE")  # one file, with nothing beside it

    def run(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        with self._in_words():
            return self._connection.execute(sql, values).fetchall()

    def many(self, sql: str, rows: Iterable[Values]) -> None:
        with self._in_words():
            self._connection.executemany(sql, rows)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self.run("BEGIN IMMEDIATE")
        try:
            yield
            self.run("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                with suppress(sqlite3.Error):  # the first error is the one to tell
                    self._connection.rollback()
            raise

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Translate errors of the driver to those of this module."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            meaning = self._meaning(error)
            if meaning is None:
                raise
            raise meaning from None

    def _meaning(self, error: sqlite3.DatabaseError) -> Exception | None:
        """What an error of SQLite means here: most causes pass, damage does not. None for a defect of this package."""
        name = Path(self.path).name
        match getattr(error, "sqlite_errorcode", 0) & 0xFF:
            case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
                return Gone(f"{name}: locked by another process; expected it to let go ({error})")
            case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
                return Gone(f"{name}: read-only; expected a file that can be written ({error})")
            case sqlite3.SQLITE_CANTOPEN:
                return Gone(f"{name}: expected a database of votes that can be opened ({error})")
            case sqlite3.SQLITE_IOERR | sqlite3.SQLITE_PROTOCOL if not _no_room(self.path):
                return Gone(f"{name}: expected a disk that works ({error})")
            case sqlite3.SQLITE_FULL | sqlite3.SQLITE_IOERR | sqlite3.SQLITE_PROTOCOL:
                return DiskFull(f"{name}: expected room on its disk ({error})")
            case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
                restore = f"sco board restore {name} COPY --force"
                return Damaged(
                    f"{name}: expected a database of votes that is whole; {error}; put a backup back: {restore}"
                )
        return None

    def reader(self) -> Sqlite:
        return Sqlite(self.path, write=False)

    def reconnect(self) -> None:
        """Drop what was cached of the file, which may have been read wrong; the file itself stays open."""
        self.run("PRAGMA shrink_memory")

    def close(self, *, failed: bool = False) -> None:
        """Close the connection; after a failure, remove a file that was created here."""
        if hasattr(self, "_connection"):
            self._connection.close()
        if self._lock is not None:
            self._lock.close(failed=failed)


def _no_room(path: str) -> bool:
    disk = os.statvfs(os.path.dirname(os.path.realpath(path)))
    return disk.f_bavail * disk.f_frsize < _FULL


class Postgres:
    """A PostgreSQL database. The writer holds an advisory lock for as long as it is connected."""

    _LOCK = 7_266_001
    _connection: psycopg.Connection[Any]

    def __init__(self, address: str, *, write: bool = True) -> None:
        needs("psycopg", "postgres")
        self.address, self.write = address, write
        self.reconnect()
        info = self._connection.info
        self.about = f"{info.dbname} (PostgreSQL {info.server_version // 10000}.{info.server_version % 10000})"

    def reconnect(self) -> None:
        """A new connection in place of the one before, if there was one."""
        import psycopg

        if hasattr(self, "_connection"):
            self._connection.close()
        try:
            self._connection = psycopg.connect(self.address, autocommit=True, connect_timeout=5)
        except psycopg.Error as error:
            reason = str(error).strip().splitlines()[-1]
            raise Gone(f"PostgreSQL: expected a database that can be connected to; {reason}") from None
        if not self.write:
            self._connection.read_only = True
        elif not self._locked():
            name = self._connection.info.dbname
            self.close()
            raise Gone(f"{name}: another server has it open; expected to be the only one")

    def _locked(self) -> bool:
        """Whether the lock could be had; the server takes a moment to notice that a connection ended which had it."""
        for _ in range(10):
            if self.run("SELECT pg_try_advisory_lock(?)", (self._LOCK,))[0][0]:
                return True
            time.sleep(0.1)
        return False

    def run(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        with self._in_words():
            cursor = self._connection.execute(_placed(sql), values)
            return cursor.fetchall() if cursor.description else []

    def many(self, sql: str, rows: Iterable[Values]) -> None:
        with self._in_words(), self._connection.cursor() as cursor:
            cursor.executemany(_placed(sql), rows)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._in_words(), self._connection.transaction():
            yield

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Translate errors of the driver to those of this module."""
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

    def close(self, *, failed: bool = False) -> None:
        self._connection.close()


def _placed(sql: str) -> bytes:
    """PostgreSQL's sign for a value; bytes, since only statements of this package come here."""
    return sql.replace("?", "%s").encode()
