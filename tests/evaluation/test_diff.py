"""What changed between two leaderboards: by hand, from every kind of board, and files that are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import softcondorcet as sc
from softcondorcet.cli import main


def board(*rows: tuple[Any, ...]) -> dict[str, Any]:
    """The JSON of a board with these agents, ranks and, where given, ranges."""
    return {"agents": [dict(zip(("agent", "rank", "rank_low", "rank_high"), row, strict=False)) for row in rows]}


OLD = board(("a", 1, 1, 2), ("b", 2, 1, 2), ("c", 3, 3, 4), ("d", 4, 3, 4), ("gone", 5, 5, 5))
NEW = board(("new", 1, 1, 5), ("b", 2, 2, 3), ("d", 3, 1, 2), ("a", 4, 2, 5), ("c", 5, 4, 5))


def test_moves_among_the_agents_of_both() -> None:
    found = sc.diff(OLD, NEW)
    assert {row["agent"]: (row["rank_before"], row["rank"], row["moved"]) for row in found.rows()} == {
        "new": (None, 1, None),
        "b": (2, 2, 1),  # a newcomer above it moves nobody, and a went below it
        "d": (4, 3, 2),
        "a": (1, 4, -2),
        "c": (3, 5, -1),
        "gone": (5, None, None),
    }
    assert (found.added, found.removed, found.first) == (["new"], ["gone"], (["a"], ["new"]))
    assert found.moved == ["d", "a", "b", "c"]
    assert [found.told_apart(agent) for agent in "dabc"] == [True, False, False, False]


def test_in_words() -> None:
    assert [line.replace("\u2013", "-") for line in sc.diff(OLD, NEW).summary()] == [
        "first is new; it was a",
        "d is up 2, from 4 (3-4) to 3 (1-2): told apart",
        "a is down 2, from 1 (1-2) to 4 (2-5): not told apart",
        "b is up 1, from 2 (1-2) to 2 (2-3): not told apart",
        "c is down 1, from 3 (3-4) to 5 (4-5): not told apart",
        "new: new",
        "gone: gone",
    ]
    assert sc.diff(OLD, OLD).summary() == ["first is a, as before", "no agent moved"]


def test_without_ranges_nothing_is_told_apart_or_level() -> None:
    found = sc.diff(board(("a", 1), ("b", 2)), board(("b", 1), ("a", 2)))
    assert found.told_apart("a") is None
    assert found.summary()[1] == "b is up 1, from 2 to 1: without ranges"


def test_an_agent_without_a_rank_does_not_move() -> None:
    found = sc.diff(board(("a", 1), ("b", 2), ("x", None)), board(("x", 1), ("a", 2), ("b", None)))
    assert {row["agent"]: row["moved"] for row in found.rows()} == {"x": None, "a": 0, "b": None}
    assert found.moved == []


def test_empty_boards() -> None:
    found = sc.diff(board(), board(("a", 1)))
    assert (found.summary(), found.first) == (["first is a; it was nobody", "no agent moved", "new: a"], ([], ["a"]))
    assert sc.diff(board(), board()).summary() == ["first is nobody, as before", "no agent moved"]


def test_every_kind_of_board_is_the_same_board(tmp_path: Path) -> None:
    votes = sc.Profile.from_rankings([["a", "b", "c"], ["b", "a", "c"], ["a", "c", "b"]], weights=[9, 4, 2])
    sure = sc.bootstrap(votes, n=20)
    path = tmp_path / "board.json"
    path.write_text(sure.to_json())
    live = {"rows": sure.to_dict()["agents"]}
    for other in (str(path), path, json.loads(sure.to_json()), live, sure):
        assert sc.diff(sure, other).rows() == sc.diff(sure, sure).rows()
    plain = sc.diff(sure.board, sure.board)
    assert [row["agent"] for row in plain.rows()] == [row["agent"] for row in sure.rows()]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "No such file"),
        ("", "not JSON"),
        ("[" * 10_000, "not JSON"),
        ("[]", "expected the JSON of 'sco rank'"),
        ('{"agents": "a"}', "expected the JSON of 'sco rank'"),
        ('{"agents": [1]}', "expected the JSON of 'sco rank'"),
        ('{"agents": [{"rank": 1}]}', "row 1: expected an agent's name, got None"),
        ('{"agents": [{"agent": "a", "rank": 0}]}', "row 1: expected ranks from 1, got 0"),
        ('{"agents": [{"agent": "a", "rank": true}]}', "row 1: expected ranks from 1, got True"),
        ('{"rows": [{"agent": "a", "rank": 1}, {"agent": "a", "rank": 2}]}', "row 2: agent 'a' appears twice"),
    ],
)
def test_files_that_are_no_board(text: str | None, words: str, tmp_path: Path) -> None:
    path = tmp_path / "board.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(sc.DataError, match=words) as error:
        sc.diff(path, OLD)
    assert str(error.value).startswith(str(path))


@pytest.mark.parametrize(("on", "code"), [(None, 0), ("first", 1), ("told-apart", 1), ("moved", 1)])
def test_on_the_command_line(on: str | None, code: int, tmp_path: Path) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text(json.dumps(OLD))
    new.write_text(json.dumps(NEW))
    fail = [] if on is None else ["--fail-on", on]
    done = CliRunner().invoke(main, ["diff", str(old), str(new), "--format", "json", *fail])
    assert (done.exit_code, json.loads(done.stdout)["first_before"]) == (code, ["a"])
    same = CliRunner().invoke(main, ["diff", str(old), str(old), "--format", "csv", *fail])
    assert same.exit_code == 0
    assert same.stdout.splitlines()[:2] == ["agent,rank,rank_before,moved,told_apart", "a,1,1,0,no"]
