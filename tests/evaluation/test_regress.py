"""A new board checked against an old one: verdicts, exit codes, JUnit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

import softcondorcet as sc
from softcondorcet.cli import main


def board(*rows: tuple[Any, ...]) -> dict[str, Any]:
    """The JSON of a board with these agents, ranks and ranges."""
    return {"agents": [dict(zip(("agent", "rank", "rank_low", "rank_high"), row, strict=True)) for row in rows]}


OLD = board(("a", 1, 1, 1), ("b", 2, 2, 3), ("c", 3, 2, 3), ("d", 4, 4, 5), ("gone", 5, 4, 5), ("x", None, None, None))
NEW = board(("d", 1, 1, 3), ("b", 2, 1, 2), ("a", 3, 2, 3), ("c", 4, 3, 4), ("x", 5, 5, 5), ("new", 6, 6, 6))


def test_no_agent_of_both_may_be_worse() -> None:
    found = sc.regress(OLD, NEW)
    assert {one.agent: (one.verdict, one.failed) for one in found.checks} == {
        "d": ("better", False),
        "b": ("not told apart", False),
        "a": ("worse", True),
        "c": ("not told apart", False),
        "x": ("without a rank", False),
    }
    assert found.summary() == ["failed: 1 of 5 agents", "a: worse (rank 1 (1) before, 3 (2\u20133) now)"]


@pytest.mark.parametrize(
    ("new", "old", "verdict"),
    [
        ("d", "d", "better"),
        ("b", "b", "not told apart"),
        ("a", "a", "worse"),
        ("x", "x", "without a rank"),
        ("b", "gone", "better"),
        ("new", "gone", "worse"),
    ],
)
def test_a_named_model_has_to_be_better(new: str, old: str, verdict: str) -> None:
    (check,) = sc.regress(OLD, NEW, {new: old}).checks
    assert (check.verdict, check.failed) == (verdict, verdict != "better")


def test_of_resamples() -> None:
    votes = sc.Profile.from_matches(
        {"a": ["x", "y", "x"], "b": ["y", "z", "z"], "winner": ["x", "y", "x"], "count": [60, 60, 60]},
        a="a", b="b", winner="winner",
    )  # fmt: skip
    samples = sc.bootstrap(votes, n=20)
    assert sc.regress(samples, samples).failed == []
    assert [one.agent for one in sc.regress(samples, samples, {"x": "z", "z": "x"}).failed] == ["z"]


@pytest.mark.parametrize(
    ("old", "new", "agents", "message"),
    [
        (board(("a", 1, None, None)), NEW, None, "old board: no rank ranges; expected the JSON of 'sco bootstrap'"),
        (OLD, {"agents": []}, None, "new board: no rank ranges"),
        (board(("q", 1, 1, 1)), NEW, None, "no agent is on both boards"),
        (OLD, NEW, {"gone": "gone"}, "agent must be the name of one on the new board, got 'gone'"),
        (OLD, NEW, {"d": "new"}, "agent must be the name of one on the old board, got 'new'"),
    ],
)
def test_what_cannot_be_checked(old: Any, new: Any, agents: dict[str, str] | None, message: str) -> None:
    with pytest.raises((sc.DataError, sc.OptionError), match=message):
        sc.regress(old, new, agents)


def test_the_command(tmp_path: Path) -> None:
    old, new, junit = tmp_path / "old.json", tmp_path / "new.json", tmp_path / "regress.xml"
    old.write_text(json.dumps(OLD))
    strange = board(("<&\a>", 7, 7, 7))
    new.write_text(json.dumps({"agents": [*NEW["agents"], *strange["agents"]]}))
    words = ["regress", str(old), str(new)]
    asked = ["--agent", "<&\a>=a", "--agent", "d", "--junit", str(junit), "--format", "md"]
    failed = CliRunner().invoke(main, [*words, *asked])
    assert failed.exit_code == 1
    assert "| d |" in failed.stdout
    suite = ElementTree.parse(junit).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert [(case.get("name"), [f.get("type") for f in case]) for case in suite] == [("<&\\x07>", ["worse"]), ("d", [])]
    assert CliRunner().invoke(main, [*words, "--agent", "d"]).exit_code == 0
    assert CliRunner().invoke(main, [*words, "--agent", "nobody"]).exit_code == 2
    nowhere = CliRunner().invoke(main, [*words, "--junit", str(tmp_path / "none" / "regress.xml")])
    assert nowhere.exit_code == 1 and "regress.xml: cannot be written (No such file or directory)" in nowhere.stderr
    assert json.loads(CliRunner().invoke(main, [*words, "--format", "json"]).stdout)["passed"] is False
