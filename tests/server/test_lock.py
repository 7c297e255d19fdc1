"""One server has a board, whatever name the other calls it by; copies replace only what nobody has open."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner
from helpers import postgres

from softcondorcet.cli import main
from softcondorcet.errors import DataError
from softcondorcet.server import maintenance
from softcondorcet.server.ledger.database import Lock, open_database
from softcondorcet.server.ledger.writer import Ask, Transaction

# Has a board open until it is told to go, or says why it has not. What stands before may take something away first.
HOLD = """
from softcondorcet.errors import DataError
from softcondorcet.server.ledger.database import open_database
import sys
try:
    database = open_database(sys.argv[1])
    print("open", flush=True)
    sys.stdin.read()
    database.close()
except DataError as error:
    print(error, flush=True)
"""
# As on a system that has no such locks.
NO_OFD = "import fcntl\ndel fcntl.F_OFD_SETLK\n"
# As a server of the version before has a board: by flock on a file beside it.
BEFORE = """
import fcntl, sys
file = open(sys.argv[1] + ".lock", "w")
fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
print("open", flush=True)
sys.stdin.read()
"""
BUSY = "another server has it open"


@contextmanager
def holding(path: object, code: str = HOLD) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that tries to have a board, and what it says."""
    command = [sys.executable, "-c", code, str(path)]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        yield child, child.stdout.readline().strip()
    finally:
        child.communicate(timeout=30)


def tried(path: object, code: str = HOLD) -> str:
    """What another process says that tries to have a board."""
    with holding(path, code) as (_, said):
        return said


@pytest.fixture
def board(tmp_path: Path) -> Path:
    path = tmp_path / "board.db"
    fill(path, 3)
    return path


def fill(path: Path, votes: int) -> None:
    with closing(open_database(str(path))) as database, database.transaction():
        database.run("INSERT INTO board (id, name, title, made) VALUES (1, 'main', 'Main', 0)")
        transaction = Transaction(database, 1, {1: {}})
        transaction.write(1, [Ask("vote", [["x"], ["y"]])] * votes)
        transaction.flush()


def votes_in(path: Path) -> int:
    with closing(sqlite3.connect(path)) as database:
        return int(database.execute("SELECT COUNT(*) FROM ledger").fetchone()[0])


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def refused(*words: object) -> str:
    ended = CliRunner().invoke(main, [*map(str, words)])
    assert ended.exit_code == 1 and ended.stdout == "" and ended.stderr.count("\n") == 1, ended
    return ended.stderr


@pytest.mark.parametrize("link", [os.link, os.symlink])
def test_a_link_to_a_board_that_is_open_is_refused(board: Path, link: Callable[..., None]) -> None:
    other = board.parent / "elsewhere" / "other.db"
    other.parent.mkdir()
    link(board, other)
    with holding(board) as (_, said):
        assert said == "open"
        assert BUSY in tried(other) and BUSY in tried(board)
    assert tried(other) == "open"


def test_no_file_stands_beside_a_board_whose_loss_would_let_a_second_server_in(board: Path) -> None:
    with holding(board) as (_, said):
        assert said == "open"
        for path in board.parent.iterdir():
            assert path.name in ("board.db", "board.db-wal", "board.db-shm")
        (board.parent / "board.db.lock").unlink(missing_ok=True)
        assert BUSY in tried(board)
    assert names(board.parent) == ["board.db"]


def test_a_board_can_be_had_again_as_soon_as_its_server_was_killed(board: Path) -> None:
    for _ in range(3):
        with holding(board) as (child, said):
            assert said == "open"
            child.send_signal(signal.SIGKILL)
            assert child.wait(30) == -signal.SIGKILL
        assert tried(board) == "open"


def test_a_copy_of_a_board_that_is_open_is_a_board_of_its_own(board: Path) -> None:
    with holding(board) as (_, said):
        assert said == "open"
        copy = board.parent / "copy.db"
        shutil.copy(board, copy)
        assert tried(copy) == "open"


def test_the_lock_holds_while_pages_read(board: Path) -> None:
    """Readers come and go in the process that writes: neither its lock nor those of SQLite end with them."""
    reading = HOLD.replace(
        'print("open"', 'reader = database.reader(); reader.run("SELECT 1"); reader.close(); print("open"'
    )
    with holding(board, reading) as (_, said):
        assert said == "open"
        assert BUSY in tried(board)
        with (
            closing(sqlite3.connect(board, timeout=0)) as other,
            pytest.raises(sqlite3.OperationalError, match="locked"),
        ):
            other.execute("PRAGMA journal_mode=DELETE")  # needs the file without anybody's shared lock


def test_a_server_of_the_version_before_is_noticed(board: Path) -> None:
    with holding(board, BEFORE) as (_, said):
        assert said == "open"
        assert BUSY in tried(board)
    with holding(board) as (_, said):  # the file of that server stays, and keeps it out now
        assert said == "open"
        assert tried(board, BEFORE) == ""
    assert tried(board) == "open"


@pytest.mark.parametrize("system", ["", NO_OFD])
def test_what_is_no_board_is_left_as_it_is_with_nothing_beside_it(tmp_path: Path, system: str) -> None:
    votes = tmp_path / "battles.csv"
    votes.write_text("model_a,model_b,winner\nx,y,model_a\n" * 50)
    before = votes.read_bytes()
    assert "expected a database of votes" in tried(votes, system + HOLD)
    assert names(tmp_path) == ["battles.csv"] and votes.read_bytes() == before


@pytest.mark.parametrize("system", ["", NO_OFD])
def test_a_file_that_is_made_and_comes_to_nothing_is_removed(tmp_path: Path, system: str) -> None:
    full = "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    full += "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
    assert "expected " in tried(tmp_path / "new.db", system + full + HOLD)
    assert names(tmp_path) == []


def test_without_locks_of_open_files_a_file_beside_the_board_keeps_others_out(board: Path) -> None:
    with holding(board, NO_OFD + HOLD) as (_, said):
        assert said == "open"
        assert (board.parent / "board.db.lock").exists()
        assert BUSY in tried(board, NO_OFD + HOLD)
    assert names(board.parent) == ["board.db"]


@pytest.mark.skipif(postgres.programs() is None, reason="needs PostgreSQL")
def test_a_postgres_that_is_open_is_refused_in_words_and_can_be_had_again_at_once() -> None:
    with postgres.cluster() as cluster:
        address = cluster.database()
        with closing(open_database(address)), pytest.raises(DataError, match="board_1: another server has it open"):
            open_database(address)
        for _ in range(10):
            open_database(address).close()


# What copies may replace


def test_a_backup_over_a_board_that_is_open_is_refused(board: Path, tmp_path: Path) -> None:
    live = tmp_path / "live.db"
    fill(live, 5)
    inode = live.stat().st_ino
    with holding(live) as (_, said):
        assert said == "open"
        told = refused("board", "backup", board, live, "--force")
        assert BUSY in told and "stop that server first, or name another file" in told
        assert BUSY in refused("board", "restore", live, board, "--force")
        assert live.stat().st_ino == inode and not list(tmp_path.glob("*.part*"))
    assert votes_in(live) == 5


def test_a_file_that_is_about_to_be_replaced_cannot_be_opened(board: Path) -> None:
    with closing(Lock(str(board))):
        assert BUSY in tried(board)
    assert tried(board) == "open" and names(board.parent) == ["board.db"]


WRONG: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo,
    "folder": os.mkdir,
    "link to a device": lambda path: path.symlink_to("/dev/null"),
    "link to a folder": lambda path: path.symlink_to("/"),
}


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize("word", ["backup", "restore"])
def test_only_regular_files_are_replaced(board: Path, tmp_path: Path, kind: str, word: str) -> None:
    target = tmp_path / "target"
    WRONG[kind](target)
    before, there = os.lstat(target), names(tmp_path)
    words = (board, target) if word == "backup" else (target, board)
    assert "expected a regular file" in refused("board", word, *words, "--force")
    after = os.lstat(target)
    assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode) and names(tmp_path) == there


def test_a_device_is_neither_served_nor_replaced(board: Path, tmp_path: Path) -> None:
    device = tmp_path / "null"
    try:
        os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("no device can be made here")
    assert "expected a regular file" in refused("board", "backup", board, device, "--force")
    assert "expected a regular file" in tried(device)
    assert stat.S_ISCHR(os.lstat(device).st_mode) and names(tmp_path) == ["board.db", "null"]


@pytest.mark.parametrize("link", [None, os.link, os.symlink])
def test_a_board_is_not_copied_onto_itself(board: Path, tmp_path: Path, link: Callable[..., None] | None) -> None:
    target = board
    if link is not None:
        target = tmp_path / "same.db"
        link(board, target)
    there = names(tmp_path)
    assert "expected another file than the board itself" in refused("board", "backup", board, target, "--force")
    assert "expected another file than the board itself" in refused("board", "restore", target, board, "--force")
    assert names(tmp_path) == there and votes_in(board) == 3


def test_a_copy_that_is_no_board_leaves_the_target_as_it_is(board: Path, tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("mine")
    assert "expected a database of votes" in refused("board", "restore", board, other, "--force")
    assert votes_in(board) == 3 and names(tmp_path) == ["board.db", "notes.txt"]
    with pytest.raises(DataError, match="expected a file that can be written"):
        maintenance.backup(str(board), str(tmp_path / "no" / "folder.db"))
