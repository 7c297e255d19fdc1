"""What an administrator does beside serving: ask, copy, put back, check, make and end tokens; and the demo."""

from __future__ import annotations

import json
import shlex
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from helpers.nursery import Forked, Start, nursery

from softcondorcet import Profile, inspect
from softcondorcet.cli import main
from softcondorcet.pairs import Pairs
from softcondorcet.server.demo import DAYS, make_demo
from softcondorcet.server.ledger.board import Filter
from softcondorcet.server.ledger.database import open_database, open_reader
from softcondorcet.server.ledger.fits import keep
from softcondorcet.server.ledger.service import load
from softcondorcet.server.ledger.writer import Ask, Transaction
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
        transaction = Transaction(database, 1, {1: {}})
        transaction.write(
            1, [Ask("vote", [["x"], ["y"]], voter=f"v{k}") for k in range(9)] + [Ask("vote", [["y"], ["x"]])]
        )
        transaction.flush()
        keep(transaction, 1, 10, {"values": [60.0, 40.0], "n_votes": 10})


def sco(*words: str) -> Result:
    return CliRunner().invoke(main, words)


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
            assert json.loads(said("board", "get", board, path)) == server.ask(path).json
        vote(server)  # the server still writes
        assert json.loads(said("board", "get", board, "/leaderboard.json"))["n_votes"] == 12


def test_get_says_what_is_wrong(board: str, tmp_path: Path) -> None:
    assert "404" in refused("board", "get", board, "/agent.json?name=nobody")
    assert "begins with a slash" in refused("board", "get", board, "leaderboard.json")
    assert "expected a database of votes" in refused("board", "get", str(tmp_path / "none.db"), "/leaderboard.json")
    assert refused("board", "get", __file__, "/leaderboard.json").count("expected a database of votes") == 1
    assert not (tmp_path / "none.db").exists()


def test_get_of_events_ends(board: str) -> None:
    assert said("board", "get", board, "/events") == ""


def test_get_writes_nothing(board: str) -> None:
    before = Path(board).read_bytes()
    said("board", "get", board, "/leaderboard.json")
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
            assert said("board", "backup", board, copy).startswith(f"{copy}: ")
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
    assert "expected a new file" in refused("board", "restore", board, copy)
    assert said("board", "restore", board, copy, "--force") == f"{board}: {len(ids):,} rows\n"
    with start(board) as server:
        assert server.ask("/leaderboard.json").json["n_votes"] == len(ids)
        vote(server)


def test_a_backup_does_not_take_the_place_of_a_file_unasked(board: str, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    other.write_text("mine")
    assert "expected a new file" in refused("board", "backup", board, str(other))
    assert other.read_text() == "mine"
    said("board", "backup", board, str(other), "--force")
    assert "expected a database of votes" in refused("board", "restore", str(tmp_path / "new.db"), __file__)
    assert not (tmp_path / "new.db").exists()


def test_a_restore_is_refused_while_a_server_runs(start: Start, board: str, tmp_path: Path) -> None:
    copy = str(tmp_path / "copy.db")
    said("board", "backup", board, copy)
    with start(board) as server:
        assert "another server has it open" in refused("board", "restore", board, copy, "--force")
        vote(server)


def test_check_agrees_with_a_good_board_and_finds_a_bad_one(board: str) -> None:
    assert "10 rows, 10 votes that count, 1 pairs: all agree" in said("board", "check", board)
    with closing(sqlite3.connect(board)) as database, database:
        database.execute("UPDATE ledger SET body = '[[0],[7]]' WHERE id = 3")
    assert "expected agents 0 to 1 in the ledger, got 7" in refused("board", "check", board)


def test_check_finds_a_damaged_file(board: str) -> None:
    with closing(sqlite3.connect(board)) as database:
        (page,) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'ledger_by_board'").fetchone()
    with Path(board).open("r+b") as file:
        file.seek((page - 1) * 4096 + 8)
        file.write(b"\xff" * 64)
    assert "that is whole" in refused("board", "check", board)


def test_tokens_are_made_listed_and_ended(start: Start, board: str) -> None:
    found = sco("token", "new", board, "phone", "--scope", "vote", "--board", "main")
    secret = found.stdout.strip()
    assert secret.startswith("sco_") and "not shown again" in found.stderr
    assert said("token", "list", board) == "1  vote  main  phone\n"
    assert secret.encode() not in Path(board).read_bytes()
    with start(board) as server:
        assert server.ask("/votes", {"a": "x", "b": "y", "winner": "a"}).status == 401
        assert said("token", "list", board) == "1  vote  main  phone\n"
        assert "POST /tokens" in refused("token", "new", board, "other")
    assert "expected the number of a token" in refused("token", "revoke", board, "2")
    assert "phone" in said("token", "revoke", board, "1")
    assert said("token", "list", board).strip() == ""
    assert "expected the name of a board" in refused("token", "new", board, "x", "--board", "none")


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


def test_the_demo_board_tells_who_was_shown_first_and_its_doctor_does_not_alarm(tmp_path: Path) -> None:
    path = str(tmp_path / "demo.db")
    make_demo(path)
    with closing(open_reader(path)) as database:
        (board,) = load(database)
        profile = board.wanted(Filter()).profile
    assert Counter(shown(profile)) == Counter(shown(demo()))
    found = inspect(profile)
    assert "position-bias" not in {finding.name for finding in found.findings} | set(found.unchecked)


def shown(profile: Profile) -> list[tuple[str, ...]]:
    """Of each battle who was shown first, who second, and who won."""
    assert profile.turned is not None
    sides = zip(profile.agent.reshape(-1, 2).tolist(), profile.tier[1::2].tolist(), profile.turned, strict=True)
    return [
        (*(profile.agents[k] for k in (pair[::-1] if turned else pair)), profile.agents[pair[0]] if won else "tie")
        for pair, won, turned in sides
    ]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["serve"], "Missing argument 'BOARD'"),
        (["serve", "--demo", "board.db"], "leave BOARD out"),
        (["serve", "board.db", "--check", "--list-tokens"], "cannot be used together"),
        (["board", "backup", "postgresql://localhost/x", "f"], "pg_dump"),
    ],
)
def test_wrong_use_is_told(words: list[str], why: str) -> None:
    assert why in refused(*words)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (["--get", "/boards.json"], "board get {board} /boards.json"),
        (["--backup", "{copy}", "--force"], "board backup {board} {copy} --force"),
        (["--restore", "{copy}", "--force"], "board restore {board} {copy} --force"),
        (["--check"], "board check {board}"),
        (["--new-token", "a b", "--board", "main"], "token new {board} 'a b' --scope vote --board main"),
        (["--list-tokens"], "token list {board}"),
        (["--revoke", "1"], "token revoke {board} 1"),
    ],
)
def test_words_of_before_do_the_same_and_say_the_new_word(
    before: list[str], now: str, board: str, tmp_path: Path
) -> None:
    said("token", "new", board, "first")
    places = {"board": board, "copy": str(tmp_path / "copy.db")}
    said("board", "backup", *places.values())
    old = sco("serve", board, *(word.format(**places) for word in before))
    new = now.format(**places)
    assert (old.exit_code, old.stderr.splitlines()[0]) == (0, f"sco: this is now: sco {new}")
    again = sco(*shlex.split(new))
    if "token new" in now:
        assert old.stdout.startswith("sco_") and again.stdout.startswith("sco_")
    elif "revoke" in now:
        assert "no longer good" in old.stdout and "expected the number of a token" in again.stderr
    else:
        assert old.stdout == again.stdout != ""
