"""Boards by group: the votes of each group and no others, missing ranks, and what is said of differences."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import profiles
from hypothesis import given, settings, strategies as st

import softcondorcet as sc
from softcondorcet.cli import main

VOTES = sc.Profile.from_rankings(
    [
        *[["a", "b", "c"]] * 9,  # math
        *[["c", "b", "a"]] * 4,  # code
        *[["a", "b"], ["b", "e"], ["c", "d"]],  # art: d and c meet nobody else
        ["d", "a"],  # law: one vote
        *[["b", "c"], ["d", "a"]],  # war: two halves
    ],
    columns={"topic": [*["math"] * 9, *["code"] * 4, *["art"] * 3, "law", *["war"] * 2]},
)


def test_each_group_is_rated_by_its_own_votes() -> None:
    found = sc.by_group(VOTES, "topic", "borda")
    assert list(found) == ["math", "code", "art"]
    assert found["math"].order == ["a", "b", "c"]
    assert found["code"].order == ["c", "b", "a"]
    assert found.overall.method == found.method == "borda"
    for name in found:
        alone = sc.rank(VOTES.where(topic=name, agent=list(found[name].agents)), "borda")
        assert {agent: alone[agent] for agent in alone} == {agent: found[name][agent] for agent in found[name]}


def test_what_votes_do_not_say_is_missing() -> None:
    found = sc.by_group(VOTES, "topic")
    rows = {row["agent"]: row for row in found.rows()}
    assert rows["d"]["math"] is None and rows["d"]["overall"] is not None
    assert [rows[agent]["art"] for agent in "abecd"] == [1, 2, 3, None, None]
    assert found.groups["art"].apart == ("c", "d")
    assert found.skipped == {
        "law": "1 vote; expected 2 or more",
        "war": "its agents fall into 2 groups of the same size that never met",
    }
    assert sc.by_group(VOTES, "topic", least=1)["law"].order == ["d", "a"]
    alone = sc.Profile.from_rankings([["a"], ["b"], ["a", "b"], ["b", "a"]], columns={"g": [*"xxyy"]})
    assert sc.by_group(alone, "g").skipped == {"x": "its votes compare no two agents"}


def test_what_moves_is_told_among_the_same_agents() -> None:
    found = sc.by_group(VOTES, "topic", "kemeny")
    overall = [agent for agent in found.overall.order if agent in "abc"]
    assert overall == ["a", "b", "c"]
    moved = {(move["agent"], move["group"]): (move["rank"], move["of"], move["moved"]) for move in found.moves(None)}
    assert moved == {("a", "code"): (3, 3, -2), ("c", "code"): (1, 3, 2)}
    assert {name: group.distance for name, group in found.groups.items()} == {"math": 0, "code": 1, "art": 0}
    said = "\n".join(found.summary())
    assert "code orders 100 % of the pairs of its 3 agents other than all votes do (4 votes)" in said
    assert "moves a: 3 of 3 in code, 1 of the same by all votes" in said
    assert "no agent does better or worse in a group than elsewhere, beyond chance" in said, "there are few votes"
    assert "beyond chance" not in "\n".join(sc.by_group(VOTES.where(topic="math"), "topic").summary())


def test_hundreds_of_groups_are_bounded_and_counted() -> None:
    votes = sc.Profile.from_rankings(
        [["a", "b"]] * 700, columns={"user": [f"u{k % 300}" if k < 600 else "big" for k in range(700)]}
    )
    found = sc.by_group(votes, "user")
    assert len(found) == 50 and "big" in list(found)
    assert (found.more, found.more_votes) == (251, 700 - 100 - 49 * 2)
    assert len(found.rows()[0]) == 2 + 8
    assert "left out: 251 smaller groups with 502 votes; all votes count in the column 'overall'" in found.summary()
    assert len(sc.by_group(votes, "user", most=3)) == 3


def test_groups_by_time() -> None:
    days = ["2025-12-31", "2026-01-01", "2026-01-31", "2026-02-01"]
    votes = sc.read({"a": [*"xxyx"], "b": [*"yyxy"], "winner": [*"aabb"], "date": days})
    assert list(sc.by_group(votes, "month", least=1)) == ["2025-12", "2026-01", "2026-02"]
    assert list(sc.by_group(votes, "year")) == ["2026"]
    assert len(sc.by_group(votes, "day", least=0)) == 4
    with pytest.raises(sc.DataError, match=r"no column 'month'; there is .*'topic'"):
        sc.by_group(VOTES, "month")


def test_blank_cells_and_hostile_names_are_groups_like_others() -> None:
    names = ["agent", "overall", "=1+1", "a\x1b[2J", "x" * 60 + "1", "x" * 60 + "2", None]
    votes = sc.Profile.from_rankings([["a", "b"]] * 14, columns={"g": [name for name in names for _ in "12"]})
    found = sc.by_group(votes, "g", "borda")
    assert list(found) == [*names[:-1], "(none)"]
    row = found.rows()[0]
    assert len(row) == 2 + len(names) and row["agent"] == "a" and set(row.values()) == {"a", 1}
    assert all(title.isprintable() and len(title) <= 22 for title in row)
    assert [group["name"] for group in json.loads(found.to_json())["groups"]] == [*names[:-1], "(none)"]


def test_intervals_of_each_group() -> None:
    found = sc.by_group(VOTES, "topic", n=20, intervals={"level": 0.9})
    row = next(row for row in found.long_rows() if row["group"] == "math" and row["agent"] == "a")
    assert row["rank_low"] == 1 and row["rank_high"] >= 1
    assert found.groups["math"].intervals is not None
    assert next(row for row in found.rows() if row["agent"] == "a")["math"] == "1 (1)"
    assert json.loads(found.to_json())["overall"]["level"] == 0.9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"column": "topik"}, r"no column 'topik'; there is 'topic'.*did you mean 'topic'"),
        ({"column": 3}, "column must be the name of a column, got 3"),
        ({"method": "elo9"}, "method must be"),
        ({"n": 1}, "n must be 0, or at least 2"),
        ({"most": 0}, "most must be a positive whole number"),
        ({"least": -1}, "least must be a number that is not negative"),
        ({"prior": -1}, "prior"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sc.by_group(VOTES, **({"column": "topic"} | options))  # type: ignore[arg-type]
    with pytest.raises(sc.OptionError, match="pairs do not say which group"):
        sc.by_group(VOTES.pairs(), "topic")  # type: ignore[arg-type]


@given(votes=profiles(), data=st.data())
@settings(max_examples=25)
def test_every_group_has_a_board_or_a_reason(votes: sc.Profile, data: st.DataObject) -> None:
    cells = data.draw(st.lists(st.sampled_from("xyz"), min_size=votes.n_votes, max_size=votes.n_votes))
    marked = sc.Profile.from_rankings(votes.rankings(), weights=votes.weight, columns={"g": cells}, kind="election")
    found = sc.by_group(marked, "g", "borda", least=0)
    assert {*found.groups, *found.skipped} == set(cells)
    for name, group in found.groups.items():
        chosen = marked.where(g=name)
        linked = sc.connected_groups(chosen)
        assert set(group.board.agents) == set(linked[0])
        assert set(group.apart) == {agent for other in linked[1:] for agent in other}


def test_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sc.write(VOTES, "votes.csv")
    runner = CliRunner()
    done = runner.invoke(main, ["rank", "votes.csv", "--group-by", "topic", "--method", "borda", "--format", "csv"])
    assert done.exit_code == 0, done.stderr
    expected = sc.by_group(VOTES, "topic", "borda").long_rows()
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [(row["group"], row["agent"], row["rank"], row["moved"]) for row in rows] == [
        (row["group"], row["agent"], str(row["rank"]), str(row["moved"])) for row in expected
    ]
    done = runner.invoke(
        main, ["rank", "votes.csv", "--group-by", "TOPIC", "--where", "topic!=code", "--format", "json"]
    )
    found = json.loads(done.stdout)
    assert [group["name"] for group in found["groups"]] == ["math", "art"]
    assert found["where"]["votes"] == 15
    assert found["groups"][0]["board"]["agents"][0]["agent"] == "a"
    for form in ("table", "md", "latex"):
        done = runner.invoke(
            main, ["rank", "votes.csv", "--group-by", "topic", "--groups", "2", "--top", "2", "--format", form]
        )
        assert done.exit_code == 0 and "math" in done.stdout and "art" not in done.stdout
    done = runner.invoke(main, ["bootstrap", "votes.csv", "--group-by", "topic", "--resamples", "9", "--seed", "3"])
    assert re.search(r"^a .* 1 \(1.2\)", done.stdout, re.MULTILINE) and "moves a: 3 of 3 in code" in done.stderr
    for option in (["--engine", "duckdb"], ["--certify"]):
        done = runner.invoke(main, ["rank", "votes.csv", "--group-by", "topic", *option])
        assert done.exit_code == 2 and f"{option[0]} must be left out with --group-by" in done.stderr
