"""What is acknowledged is on disk: through kills, full disks and stops; and one server alone has the file."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import killing
import pytest
from click.testing import CliRunner
from helpers.nursery import Forked, Start, nursery
from helpers.serving import Server, serving

from softcondorcet.cli import main
from softcondorcet.server.ledger.database import open_database

BATTLE = {"a": "x", "b": "y", "winner": "a"}


@pytest.fixture
def board(tmp_path: Path) -> str:
    return str(tmp_path / "board.db")


@pytest.fixture(scope="module")
def start() -> Iterator[Start]:
    with nursery() as start:
        yield start


def vote(server: Server | Forked, **about: str) -> int:
    """The number that a vote got."""
    answer = server.ask("/votes", {**BATTLE, **about})
    assert answer.status == 201, answer
    return int(answer.json["id"])


def refusal(path: str) -> str:
    """The one line that a server which does not start says."""
    ended = CliRunner().invoke(main, ["serve", path, "--port", "0"])
    assert ended.exit_code == 1, ended
    assert ended.stdout == "" and ended.stderr.count("\n") == 1, ended
    return ended.stderr


def rows(path: str, sql: str) -> list[tuple[object, ...]]:
    database = sqlite3.connect(path)
    try:
        with database:
            return database.execute(sql).fetchall()
    finally:
        database.close()


def test_twenty_kills_lose_and_double_nothing(start: Start, tmp_path: Path) -> None:
    found = killing.run(str(tmp_path), start, kills=20, seed=1)
    assert found.faults == {}
    assert found.acknowledged > 20 * killing.WRITERS / 2
    assert found.tries > found.acknowledged  # some were under way at a kill, and were sent again


def test_the_kills_would_find_an_answer_before_the_commit(start: Start, tmp_path: Path) -> None:
    found = killing.run(str(tmp_path), partial(start, fault="hasty"), kills=4, seed=1)
    assert found.faults.get("lost")


def test_the_command_is_ready_again_soon_after_a_kill_with_the_same_numbers(start: Start, board: str) -> None:
    with start(board) as server:
        for k in range(20):
            vote(server, a=f"m{k % 5}", b=f"m{k % 3 + 5}", voter=f"v{k % 2}")
        pair = "/pair.json?a=m0&b=m5"
        before = server.ask(pair).json
        server.kill()
    with serving(board) as again:
        # Processor time, which other work on the machine lengthens less than it does the time on the clock.
        ticks = sum(map(int, Path(f"/proc/{again.pid}/stat").read_text().rpartition(")")[2].split()[11:13]))
        assert ticks / os.sysconf("SC_CLK_TCK") < 2 * killing.READY
        assert f"board.db (SQLite {sqlite3.sqlite_version}): 20 votes" in again.output
        after = again.ask(pair).json
    assert after["n_votes"] == 20 and after["wins"] > 0
    assert all(after[count] == before[count] for count in ("wins", "losses", "ties"))


def synced(trace: str) -> list[bool]:
    """For each 201 in the order they went out: was the log synced since its vote came in?"""
    found, since = [], False
    for line in trace.splitlines():
        if "POST /votes" in line:
            since = False
        elif re.search(r"(fdatasync|fsync)\(\d+<[^>]*-wal>\)\s+= 0", line) or re.search(
            r"f(data)?sync resumed.* = 0", line
        ):
            since = True
        elif "HTTP/1.1 201" in line:
            found.append(since)
    return found


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
def test_the_log_is_synced_between_a_vote_and_its_answer(start: Start, board: str, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    with start(board) as server:
        vote(server)
        calls = "trace=fdatasync,fsync,read,readv,recvfrom,recvmsg,write,writev,sendto,sendmsg"
        command = ["strace", "-f", "-y", "-s", "40", "-e", calls, "-o", str(trace), "-p", str(server.pid)]
        watching = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert watching.stderr is not None
        said = watching.stderr.readline()
        if "attached" not in said:
            watching.wait(10)
            pytest.skip(f"strace may not attach here: {said.strip()}")
        for _ in range(5):
            vote(server)
        watching.send_signal(signal.SIGINT)
        watching.communicate(timeout=10)
    assert synced(trace.read_text()) == [True] * 5


def test_the_check_of_the_trace_finds_an_answer_before_the_sync() -> None:
    hasty = 'read(9<socket>, "POST /votes")\nwrite(9<socket>, "HTTP/1.1 201")\nfdatasync(7</x/board.db-wal>) = 0'
    other = 'read(9<socket>, "POST /votes")\nfdatasync(7</x/board.db>) = 0\nwrite(9<socket>, "HTTP/1.1 201")'
    assert synced(hasty) == synced(other) == [False]


def test_a_full_disk_is_told_and_nothing_is_acknowledged_until_there_is_room(start: Start, board: str) -> None:
    with start(board) as server:
        kept = [vote(server, voter="before")]
        _, most = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (0, most))
        for _ in range(5):
            answer = server.ask("/votes", {**BATTLE, "voter": "during"})
            assert answer.status in (503, 507) and "retry-after" in answer.headers
        assert server.ask("/leaderboard.json").json["n_votes"] == 1  # it still answers
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (most, most))
        kept.extend(vote(server, voter="after") for _ in range(5))
        server.kill()
    with start(board) as server:
        assert server.ask("/leaderboard.json").json["n_votes"] == len(kept)
    expected = [(kept[0], "before"), *((row, "after") for row in kept[1:])]
    assert rows(board, "SELECT id, voter FROM ledger ORDER BY id") == expected
    assert killing.integrity(board) == "ok"


def test_a_second_server_is_refused_whatever_it_calls_the_file(start: Start, board: str, tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(board)
    with start(board) as server:
        for path in (board, str(link)):
            assert "another server has it open" in refusal(path)
        assert vote(server) == 1


def test_files_that_are_no_board_are_refused(board: str, tmp_path: Path) -> None:
    Path(board).write_text("model_a,model_b,winner\n" * 100)
    assert "expected a database of votes that is whole" in refusal(board)
    assert Path(board).read_text().startswith("model_a")
    assert "expected a file that can be written" in refusal(str(tmp_path / "no" / "folder.db"))
    foreign = str(tmp_path / "foreign.db")
    rows(foreign, "CREATE TABLE ledger (something TEXT)")
    assert "expected a database of votes" in refusal(foreign)


def test_a_board_of_a_newer_version_is_refused(board: str) -> None:
    open_database(board).close()
    rows(board, "INSERT INTO migration VALUES (999, 'later')")
    assert "made by a newer version (migration 999)" in refusal(board)


def test_a_stop_answers_what_is_under_way(start: Start, board: str) -> None:
    """16 send as fast as they can: what was acknowledged is there, nothing else is, and the process ends well."""
    acknowledged: list[int] = []
    others: list[int] = []

    def send(port: int) -> None:
        connection = HTTPConnection("127.0.0.1", port, timeout=30)
        with suppress(OSError, HTTPException):  # until nobody listens
            while True:
                connection.request("POST", "/votes", json.dumps(BATTLE))
                answer = connection.getresponse()
                answer.read()
                (acknowledged if answer.status == 201 else others).append(answer.status)
                connection.close() if answer.will_close else None
        connection.close()

    with start(board) as server:
        senders = [threading.Thread(target=send, args=(server.port,)) for _ in range(16)]
        for sender in senders:
            sender.start()
        late = time.monotonic() + 30
        while len(acknowledged) < 100 and time.monotonic() < late:
            time.sleep(0.01)
        assert server.stop() == 0
        for sender in senders:
            sender.join()
    ((kept,),) = rows(board, "SELECT COUNT(*) FROM ledger")
    assert set(others) <= {503} and kept == len(acknowledged) >= 100
