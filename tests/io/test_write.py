"""What is written is read again: each kind of table in each format, aggregates, and what a format does not keep."""

from __future__ import annotations

import io
import json
import warnings
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from helpers.logs import FILES, write_files
from helpers.reading import Named, notes, votes_of
from hypothesis import HealthCheck, given, settings, strategies as st

import softcondorcet as sc
from softcondorcet.cli import main
from softcondorcet.errors import DataError, OptionError
from softcondorcet.io.write import WRITABLE

TABLES = ("csv", "tsv", "jsonl", "parquet")
AGENTS = ["x", "y y", "Zoë, 3", "model_a", "tie", "1"]


def written(data: Any, format: str, **more: Any) -> bytes:
    target = io.BytesIO()
    sc.write(data, target, format, **more)
    return target.getvalue()


def again(profile: sc.Profile, format: str, **more: Any) -> sc.Profile:
    return sc.read(Named(written(profile, format, **more), f"x.{format}"))


def known(profile: sc.Profile) -> list[Any]:
    """All that a profile knows of each vote, by names, in an order of its own."""
    votes: list[Any] = []
    for v, tiers in enumerate(profile.rankings()):
        here = slice(profile.start[v], profile.start[v + 1])
        agents = [profile.agents[k] for k in profile.agent[here].tolist()]
        scored = (
            None if profile.score is None else sorted(zip(agents, (profile.score[here] + 0.0).tolist(), strict=True))
        )
        about = {name: column.named().cells()[v] for name, column in profile.columns.items()}
        arrays = (profile.weight, profile.when, profile.turned, profile.higher_is_better)
        each = [None if array is None else array[v].item() for array in arrays]
        group = None if profile.group is None else profile.groups[profile.group[v]]
        votes.append((list(map(sorted, tiers)), scored, about, each, group))
    return [profile.kind, profile.group_by, *sorted(votes, key=repr)]


@st.composite
def battle_tables(draw: st.DrawFn) -> dict[str, list[Any]]:
    n = draw(st.integers(1, 6))

    def column(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=n, max_size=n))

    pairs = column(st.permutations(AGENTS))
    table: dict[str, list[Any]] = {"agent_a": [p[0] for p in pairs], "agent_b": [p[1] for p in pairs]}
    table["winner"] = column(st.sampled_from(["agent_a", "agent_b", "draw"]))
    extra: dict[str, Any] = {"weight": st.sampled_from([1, 2, 0.5]), "judge": st.sampled_from(["ann", "ben"])}
    extra |= {"tstamp": st.integers(1, 9), "voter": st.sampled_from(["v", "w"]), "lang": st.sampled_from(["en", "de"])}
    for name in draw(st.sets(st.sampled_from(sorted(extra)))):
        table[name] = column(extra[name])
    return table


@st.composite
def score_tables(draw: st.DrawFn) -> dict[str, list[Any]]:
    """Agents on tasks, with items or without, some cells missing."""
    tasks = draw(st.lists(st.sampled_from(["t1", "t 2", "loss"]), min_size=1, unique=True))
    items: list[str | None] = ["q1", "q2"] if draw(st.booleans()) else [None]
    rows: list[tuple[Any, ...]] = []
    for task in tasks:
        better = int(draw(st.booleans()))
        for item in items:
            for agent in draw(st.lists(st.sampled_from(AGENTS), min_size=1, unique=True)):
                score = draw(st.integers(-2, 2) | st.floats(-1e9, 1e9, allow_subnormal=False))
                rows.append((agent, task, item, score, better))
    names = ("agent", "task", "item", "score", "higher_is_better")
    return {name: [row[k] for row in rows] for k, name in enumerate(names) if name != "item" or None not in items}


QUICK = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("format", TABLES)
@QUICK
@given(table=battle_tables())
def test_battles_come_back(format: str, table: dict[str, list[Any]]) -> None:
    profile = sc.read(table)
    assert known(again(profile, format)) == known(profile)
    assert_rankings_come_back(profile, format)


def assert_rankings_come_back(profile: sc.Profile, format: str) -> None:
    """All but the kind, which jsonl does not say: then that is counted."""
    with warnings.catch_warnings(record=True, action="always") as caught:
        found = again(profile, format, kind="rankings")
    assert (found.kind != profile.kind) == bool(caught)
    assert format == "jsonl" or not caught
    assert known(found)[1:] == known(profile)[1:]


@pytest.mark.parametrize("format", TABLES)
@QUICK
@given(table=score_tables())
def test_scores_come_back(format: str, table: dict[str, list[Any]]) -> None:
    profile = sc.read(table)
    assert known(again(profile, format)) == known(profile)
    assert_rankings_come_back(profile, format)


@QUICK
@given(table=score_tables())
def test_scores_of_tasks_come_back_from_aggregates(
    tmp_path_factory: pytest.TempPathFactory, table: dict[str, list[Any]]
) -> None:
    folder = tmp_path_factory.mktemp("aggregates")
    profile = sc.read(table, per="task")
    sc.write(profile, folder, "every_eval_ever")
    assert known(sc.read(folder)) == known(profile)
    sc.write(profile, folder, "every_eval_ever")  # again: no second file of an agent
    assert len([*folder.rglob("*.json")]) == profile.n_agents


@QUICK
@given(table=battle_tables() | score_tables())
def test_battles_of_any_votes_have_the_same_pairs(table: dict[str, list[Any]]) -> None:
    profile = sc.read(table)
    with warnings.catch_warnings(action="ignore"):
        try:
            pairs = again(profile, "csv", kind="battles").pairs()
        except DataError as error:
            assert "header and no rows" in str(error) and not profile.n_pairs_compared
            return
    counted = profile.pairs()
    expected = {
        frozenset((counted.agents[i], counted.agents[j])) for i, j in zip(counted.left, counted.right, strict=True)
    }
    assert {
        frozenset((pairs.agents[i], pairs.agents[j])) for i, j in zip(pairs.left, pairs.right, strict=True)
    } == expected
    assert (pairs.ties.sum(), pairs.total) == (counted.ties.sum(), counted.total)


# What is not kept

RANKED = sc.Profile.from_rankings([["a", "b", "c"], ["b", "a"], ["c"]], agents=["a", "b", "c", "d"])
ITEMS = sc.read({"agent": ["a", "b"] * 2, "task": ["t"] * 4, "item": [1, 1, 2, 2], "score": [1.0, 2.0, 5.0, 4.0]})
ABOUT = sc.read({"model_a": ["a"], "model_b": ["b"], "winner": ["model_b"], "judge": ["ann"], "tstamp": [5]})
LOST: list[tuple[sc.Profile, str, dict[str, Any], list[str]]] = [
    (RANKED, "csv", {}, ["1 agent in no vote"]),
    (RANKED, "csv", {"kind": "battles"}, ["1 vote of one agent", "2 votes became"]),
    (RANKED, "soi", {}, []),
    (ABOUT, "toc", {}, ["times of 1 vote", "who was shown first of 1 vote", "1 column ('judge')", "are games"]),
    (ITEMS, "soc", {}, ["scores of 2 votes", "2 columns ('task', 'item')"]),
    (ITEMS, "csv", {"kind": "battles"}, ["2 votes are those of an election", "4 scores"]),
    (ITEMS.balanced(), "csv", {}, ["weights before balancing"]),
    (replace(ITEMS, weight=np.array([1.0, 2.0])), "csv", {"kind": "scores"}, ["weights of 2 votes"]),
    (
        replace(ITEMS, score=np.array([np.nan, 2, 1, 1])),
        "csv",
        {"kind": "scores"},
        ["1 place without a score", "order"],
    ),
]


@pytest.mark.parametrize(("profile", "format", "how", "words"), LOST)
def test_what_a_format_does_not_keep_is_counted(
    profile: sc.Profile, format: str, how: dict[str, Any], words: list[str]
) -> None:
    with warnings.catch_warnings(record=True, action="always") as caught:
        written(profile, format, **how)
    said = " ".join(str(warning.message) for warning in caught)
    assert len(caught) == bool(words)
    assert all(word.replace("2 votes became", "1 vote became 3 battles") in said for word in words), said


def test_aggregates_say_that_items_became_means(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="does not keep: 4 scores of items became 2 means"):
        sc.write(ITEMS, tmp_path, "every_eval_ever")
    files = [json.loads(path.read_text()) for path in sorted(tmp_path.rglob("*.json"))]
    results = {file["model_info"]["id"]: file["evaluation_results"] for file in files}
    (mean,) = results["a"]
    assert mean["score_details"]["score"] == 3.0
    spread = mean["score_details"]["uncertainty"]
    assert (spread["num_samples"], spread["standard_error"]["value"]) == (2, 2.0)  # of 1 and 5
    assert votes_of(sc.read(tmp_path)) == {"t": ["a = b"]}


def test_a_leaderboard_becomes_aggregates_with_intervals(tmp_path: Path) -> None:
    votes = sc.Profile.from_rankings([["org/a", "b"]] * 30 + [["b", "org/a"]] * 10)
    board = sc.bootstrap(votes, "bradley_terry", n=20, seed=0)
    sc.write(board, tmp_path, "every_eval_ever")
    (path,) = tmp_path.glob("org/a/*.json")
    record = json.loads(path.read_text())
    assert record["model_info"]["developer"] == "org"
    (result,) = record["evaluation_results"]
    row = board.rows()[0]
    assert result["score_details"]["score"] == row["rating"]
    interval = result["score_details"]["uncertainty"]["confidence_interval"]
    assert (interval["lower"], interval["upper"]) == (row["rating_low"], row["rating_high"])
    assert interval["confidence_level"] == 0.95 and interval["lower"] < row["rating"] < interval["upper"]
    assert sc.read(tmp_path).n_agents == 2


def test_an_agent_without_a_rank_gets_no_rating_in_an_aggregate(tmp_path: Path) -> None:
    board = sc.sco(sc.Profile.from_rankings([["a", "b"], ["b", "a"], ["c"]]))
    with pytest.warns(UserWarning, match="1 agent without a rank"):
        sc.write(board, tmp_path, "every_eval_ever")
    assert {path.parent.name for path in tmp_path.rglob("*.json")} == {"a", "b"}


def test_refusals_name_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"x\.csv: these votes hold no scores; expected scores, or kind='rankings'"):
        sc.write(RANKED, tmp_path / "x.csv", kind="scores")
    with pytest.raises(OptionError, match="kind must be left out for soi"):
        sc.write(RANKED, tmp_path / "x.soi", kind="rankings")
    with pytest.raises(OptionError, match="target of every_eval_ever must be the path of a folder, got '-'"):
        sc.write(ITEMS, "-", "every_eval_ever")
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be written"):
        sc.write(sc.read(ITEMS.take(np.array([0]))), tmp_path / "file", "every_eval_ever")
    both = replace(ITEMS, higher_is_better=np.array([True, False]))
    with pytest.raises(DataError, match="'t': lower is better in some votes, higher in others"):
        sc.write(both, tmp_path / "x.csv", kind="scores")
    taken = sc.Profile.from_rankings([["model_a", "Agent_B"], ["left", "player_a"], ["b", "x"]])
    with pytest.raises(DataError, match="called as the sides of battles are"):
        sc.write(taken, tmp_path / "x.csv", kind="battles")


# From any format to any other


@pytest.mark.parametrize("format", WRITABLE)
@pytest.mark.parametrize("name", FILES)
def test_any_results_become_any_format(name: str, format: str, tmp_path: Path) -> None:
    """The same agents and places, or a sentence that says what does not fit."""
    profile = sc.read(write_files(tmp_path / "in", FILES[name]))
    target = tmp_path / ("out" if format == "every_eval_ever" else f"x.{format}")
    with warnings.catch_warnings(action="ignore"):
        try:
            sc.write(profile, target, format)
        except DataError as error:
            assert "expected" in str(error), error
            return
    found = sc.read(target, format="preflib" if format == "preflib" else None)
    assert set(found.agents) == set(profile.agents)
    if format in TABLES:
        assert known(found)[2:] == known(profile)[2:]


def test_convert_says_what_rows_are_and_what_is_lost(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "in", FILES["lm_eval"])
    runner = CliRunner()
    done = runner.invoke(main, ["convert", str(folder), "-", "--to", "csv"])
    assert done.stdout.startswith("agent,task,item,score,higher_is_better\n")
    done = runner.invoke(main, ["convert", str(folder), "-", "--to", "csv", "--as", "battles"])
    assert done.stdout.startswith("model_a,model_b,winner,task,item")
    assert "does not keep: 1 vote of one agent" in done.stderr
    out = f"{tmp_path}/out"
    assert runner.invoke(main, ["convert", str(folder), out, "--to", "every_eval_ever"]).exit_code == 0
    ranked = runner.invoke(main, ["rank", out, "--format", "json"])
    assert json.loads(ranked.stdout)["n_agents"] == 2
    assert "lower is better in" in notes(sc.read(out))


def test_a_leaderboard_is_written_by_a_command(tmp_path: Path) -> None:
    runner = CliRunner()
    (tmp_path / "v.csv").write_text("model_a,model_b,winner\n" + "x,y,model_a\n" * 9 + "x,y,model_b\n" * 4)
    for command in (["rank"], ["bootstrap", "--resamples", "10"]):
        ask = [*command, f"{tmp_path}/v.csv", "--format", "every_eval_ever"]
        assert runner.invoke(main, [*ask, "-o", f"{tmp_path}/{command[0]}"]).exit_code == 0
        records = [json.loads(path.read_text()) for path in (tmp_path / command[0]).rglob("*.json")]
        details = [record["evaluation_results"][0]["score_details"] for record in records]
        assert len(details) == 2 and all(("uncertainty" in one) == (command[0] == "bootstrap") for one in details)
        refused = runner.invoke(main, ask)
        assert refused.exit_code == 2 and "-o must be a folder for --format every_eval_ever" in refused.stderr
        refused = runner.invoke(main, [*ask, "-o", f"{tmp_path}/o", "--top", "1"])
        assert refused.exit_code == 2 and "--top must be left out for --format every_eval_ever" in refused.stderr


@pytest.mark.peer
def test_aggregates_meet_the_schema(tmp_path: Path) -> None:
    """The schema is that of the package every-eval-ever, which need not be importable here."""
    schemas = pytest.importorskip("jsonschema_rs")
    found = find_spec("every_eval_ever")
    if found is None or not found.submodule_search_locations:
        pytest.skip("every-eval-ever is not installed")
    schema = Path(found.submodule_search_locations[0]) / "schemas" / "eval.schema.json"
    validator = schemas.validator_for(json.loads(schema.read_text()))
    sc.write(sc.read(write_files(tmp_path / "in", FILES["every_eval_ever"]), per="task"), tmp_path / "o", WRITABLE[-1])
    votes = sc.Profile.from_rankings([["a", "b"], ["b", "a"], ["a", "b"]])
    for data in (sc.sco(votes), sc.bootstrap(votes, n=10, seed=0)):
        sc.write(data, tmp_path / "o" / "ratings", WRITABLE[-1])
    files = [*(tmp_path / "o").rglob("*.json")]
    assert len(files) >= 4
    for path in files:
        errors = [error.message for error in validator.iter_errors(json.loads(path.read_text()))]
        assert not errors, errors
