"""What an administrator does beside serving: ask, copy, put back, check, make and end tokens; and the demo."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from nursery import Forked, Start, nursery

from softcondorcet.cli import main
from softcondorcet.pairs import Pairs
from softcondorcet.serve.database import open_database, open_reader
from softcondorcet.serve.demo import DAYS, make_demo
from softcondorcet.serve.service import load
from softcondorcet.serve.store import Ask, Transaction
from softcondorcet.synthetic import demo


@pytest.fixture(scope="module")
def start() -> Iterator[Start]:
    with nursery() as start:
        yield start


@pytest.fixture
def board(tmp_path: Path) -> str:
    """A board of ten votes that no server has open."""
    path = str(tmp_path / "board.db")
    make_small(path)
    return path


def make_small(path: str) -> None:
    with closing(open_database(path)) as database, database.transaction():
        database.run("INSERT INTO board (id, name, title, made) VALUES (1, 'main', 'Small', 0)")
        made = Transaction(database, 1, {1: {}})
        made.write(1, [Ask("vote", [["x"], ["y"]], voter=f"v{k}") for k in range(9)] + [Ask("vote", [["y"], ["x"]])])
        made.flush()


def sco(*words: str) -> Result:
    return CliRunner().invoke(main, ["serve", *words])


def said(*words: str) -> str:
    """What a command that ends well prints."""
    found = sco(*words)
    assert found.exit_code == 0, found.stderr
    return found.stdout


def refused(*words: str) -> str:
    """The line that a command which does nothing prints."""
    found = sco(*words)
    assert found.exit_code in (1, 2) and found.stdout == "", found
    return found.stderr


def vote(server: Forked) -> None:
    assert server.ask("/votes", {"a": "x", "b": "y", "winner": "a"}).status == 201


def test_get_answers_as_the_server_does_while_it_runs(start: Start, board: str) -> None:
    with start(board) as server:
        vote(server)
        for path in ("/leaderboard.json", "/pair.json?a=x&b=y", "/agent.json?name=y", "/boards/main/history.json"):
            assert json.loads(said(board, "--get", path)) == server.ask(path).json
        vote(server)  # the server still writes
        assert json.loads(said(board, "--get", "/leaderboard.json"))["n_votes"] == 12


def test_get_says_what_is_wrong(board: str, tmp_path: Path) -> None:
    assert "404" in refused(board, "--get", "/agent.json?name=nobody")
    assert "begins with a slash" in refused(board, "--get", "leaderboard.json")
    assert "expected a database of votes" in refused(str(tmp_path / "none.db"), "--get", "/leaderboard.json")
    assert refused(__file__, "--get", "/leaderboard.json").count("expected a database of votes") == 1
    assert not (tmp_path / "none.db").exists()


def test_get_of_events_ends(board: str) -> None:
    assert said(board, "--get", "/events") == ""


def test_get_writes_nothing(board: str) -> None:
    before = Path(board).read_bytes()
    said(board, "--get", "/leaderboard.json")
    assert Path(board).read_bytes() == before


def test_a_backup_of_a_board_that_is_written_is_whole_and_can_be_put_back(
    start: Start, board: str, tmp_path: Path
) -> None:
    copy, ended = str(tmp_path / "copy.db"), threading.Event()
    with start(board) as server:

        def write() -> None:
            while not ended.is_set():
                vote(server)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            assert said(board, "--backup", copy).startswith(f"{copy}: ")
        finally:
            ended.set()
            writer.join()
        vote(server)
        later = server.ask("/leaderboard.json").json["n_votes"]
    assert sorted(p.name for p in tmp_path.glob("copy*")) == ["copy.db"]  # one file, nothing beside it
    with closing(sqlite3.connect(copy)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        ids = [row for (row,) in database.execute("SELECT id FROM ledger ORDER BY id")]
    assert ids == list(range(1, len(ids) + 1)) and 10 <= len(ids) < later
    assert "expected a new file" in refused(board, "--restore", copy)
    assert said(board, "--restore", copy, "--force") == f"{board}: {len(ids):,} rows\n"
    with start(board) as server:
        assert server.ask("/leaderboard.json").json["n_votes"] == len(ids)
        vote(server)


def test_a_backup_does_not_take_the_place_of_a_file_unasked(board: str, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    other.write_text("mine")
    assert "expected a new file" in refused(board, "--backup", str(other))
    assert other.read_text() == "mine"
    said(board, "--backup", str(other), "--force")
    assert "expected a database of votes" in refused(str(tmp_path / "new.db"), "--restore", __file__)
    assert not (tmp_path / "new.db").exists()


def test_a_restore_is_refused_while_a_server_runs(start: Start, board: str, tmp_path: Path) -> None:
    copy = str(tmp_path / "copy.db")
    said(board, "--backup", copy)
    with start(board) as server:
        assert "another server has it open" in refused(board, "--restore", copy, "--force")
        vote(server)


def test_check_agrees_with_a_good_board_and_finds_a_bad_one(board: str) -> None:
    assert "10 rows, 10 votes that count, 1 pairs: all agree" in said(board, "--check")
    with closing(sqlite3.connect(board)) as database, database:
        database.execute("UPDATE ledger SET body = '[[0],[7]]' WHERE id = 3")
    assert "expected agents 0 to 1 in the ledger, got 7" in refused(board, "--check")


def test_check_finds_a_damaged_file(board: str) -> None:
    with closing(sqlite3.connect(board)) as database:
        (page,) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'ledger_by_board'").fetchone()
    with Path(board).open("r+b") as file:
        file.seek((page - 1) * 4096 + 8)
        file.write(b"\xff" * 64)
    assert "that is whole" in refused(board, "--check")


def test_tokens_are_made_listed_and_ended(start: Start, board: str) -> None:
    found = sco(board, "--new-token", "phone", "--scope", "vote", "--board", "main")
    secret = found.stdout.strip()
    assert secret.startswith("sco_") and "not shown again" in found.stderr
    assert said(board, "--list-tokens") == "1  vote  main  phone\n"
    assert secret.encode() not in Path(board).read_bytes()
    with start(board) as server:
        assert server.ask("/votes", {"a": "x", "b": "y", "winner": "a"}).status == 401
        assert said(board, "--list-tokens") == "1  vote  main  phone\n"
        assert "POST /tokens" in refused(board, "--new-token", "other")
    assert "expected the number of a token" in refused(board, "--revoke", "2")
    assert "phone" in said(board, "--revoke", "1")
    assert said(board, "--list-tokens").strip() == ""
    assert "expected the name of a board" in refused(board, "--new-token", "x", "--board", "none")


def met(pairs: Pairs) -> dict[tuple[str, ...], float]:
    """How often two agents met, by their names."""
    times = (pairs.wins + pairs.losses + pairs.ties).tolist()
    ends = zip(pairs.left.tolist(), pairs.right.tolist(), times, strict=True)
    return {tuple(sorted((pairs.agents[i], pairs.agents[j]))): count for i, j, count in ends}


def test_the_demo_board_has_the_votes_of_the_demo(tmp_path: Path) -> None:
    path = str(tmp_path / "demo.db")
    make_demo(path)
    with closing(open_reader(path)) as database:
        (board,) = load(database)
        seen = board.snapshot()
        ((days, tasks),) = database.run("SELECT COUNT(DISTINCT made), (SELECT COUNT(*) FROM sample) FROM ledger")
    assert met(seen.pairs) == met(demo().pairs())
    assert (days, seen.n_votes) == (DAYS, demo().n_votes) and tasks > 0


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "Missing argument 'BOARD'"),
        (["--demo", "board.db"], "takes no BOARD"),
        (["board.db", "--check", "--list-tokens"], "cannot be used together"),
        (["postgresql://localhost/x", "--backup", "f"], "pg_dump"),
    ],
)
def test_wrong_use_is_told(words: list[str], why: str) -> None:
    assert why in refused(*words)
