"""Engines count what the library counts."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from helpers.engines import battles, by_name, ragged, rows_of
from hypothesis import given, settings, strategies as st

import softcondorcet as sc
from softcondorcet.cli import main
from softcondorcet.columns import as_columns

ibis = pytest.importorskip("ibis")
pytest.importorskip("duckdb")


def in_duckdb(rows: dict[str, Any]) -> Any:
    """A table that DuckDB holds."""
    engine = ibis.duckdb.connect()
    engine.con.register("votes", pa.table(rows))
    return engine.table("votes")


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Spark on this machine. Skipped where it, or the Java that it runs on, is not there."""
    pytest.importorskip("pyspark")
    from pyspark.sql import SparkSession

    try:
        session = (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("spark")))
            .getOrCreate()
        )
    except Exception as error:
        pytest.skip(f"Spark does not start: {str(error).splitlines()[0]}")
    yield ibis.pyspark.connect(session)
    session.stop()


@settings(max_examples=20, deadline=None)
@given(profile=ragged())
def test_rankings_are_counted_as_here(profile: sc.Profile) -> None:
    found = sc.read(in_duckdb(rows_of(profile)), engine="ibis")
    assert by_name(found) == by_name(profile.pairs())
    assert found.kind == "games"
    assert set(found.agents) == {profile.agents[k] for k in profile.agent}


@settings(max_examples=20, deadline=None)
@given(rows=battles())
def test_battles_are_counted_as_here(rows: dict[str, list[Any]]) -> None:
    assert by_name(sc.read(in_duckdb(rows), engine="ibis")) == by_name(sc.read(rows).pairs())


@pytest.mark.cluster
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning", "ignore::DeprecationWarning")
@settings(max_examples=5, deadline=None)
@given(profile=ragged(), rows=battles())
def test_spark_counts_the_same(spark: Any, profile: sc.Profile, rows: dict[str, list[Any]]) -> None:
    for table, expected in ((rows_of(profile), profile.pairs()), (rows, sc.read(rows).pairs())):
        held = spark.create_table("votes", pa.table(table), overwrite=True)
        assert by_name(sc.read(held, engine="ibis")) == by_name(expected)


def test_votes_that_straddle_files(tmp_path: Path) -> None:
    votes, _ = sc.synthetic.tournament(300, agents=30, size=5, noise=20, seed=4)
    rows = pa.table(rows_of(votes))
    for k, first in enumerate(range(0, len(rows), 333)):
        pq.write_table(rows.slice(first, 333), tmp_path / f"part-{k}.parquet")
    found = sc.read(f"{tmp_path}/*.parquet", engine="duckdb", memory="200MB")
    assert by_name(found) == by_name(votes.pairs())
    assert sc.sco(found).order == sc.sco(votes).order


@pytest.mark.parametrize("suffix", ["csv", "tsv", "csv.gz", "jsonl", "parquet"])
def test_every_kind_of_file(tmp_path: Path, suffix: str) -> None:
    """Text stays text: 007 and 7 are two agents."""
    votes = sc.Profile.from_rankings([["007", ["7", "b c"]], ["7", "007"], ["b c", "007"]])
    path = f"{tmp_path}/votes.{suffix}"
    if suffix == "parquet":
        pq.write_table(pa.table(rows_of(votes)), path)
    elif suffix == "jsonl":
        pa_rows = pa.table(rows_of(votes)).to_pylist()
        Path(path).write_text("\n".join(str(row).replace("'", '"') for row in pa_rows))
    else:
        sc.write(votes, path)
    assert by_name(sc.read(path, engine="duckdb")) == by_name(votes.pairs())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"winner": ["nobody"]}, "row 'x', 'y', 'nobody': winner is 'nobody'; expected 'model_a', 'model_b', 'tie'"),
        ({"model_b": ["x "]}, "agent 'x' meets itself; expected two different agents"),
        ({"model_a": [" "]}, "model_a is blank; expected a name"),
        ({"model_a": [None]}, "model_a is blank in some row; expected a name"),
        ({"winner": [None]}, "winner is blank in some row"),
        ({"weight": [-1.0]}, "weight is not a number that is not negative in the row with a 'x'"),
        ({"weight": ["two"]}, "weight is not a number"),
        ({"weight": [float("nan")]}, "weight is not a number"),
        ({"weight": [1.0], "count": [2]}, "'weight' and 'count' could both be the weight"),
        ({"winner": None}, "columns 'model_a', 'model_b' are not known"),
        ({"winner": None, "ranking": ["x > y"]}, "are those of orders; expected battles"),
        ({name: [] for name in ("model_a", "model_b", "winner")}, "no rows; expected at least one"),
    ],
)
def test_battles_that_cannot_be_counted(change: dict[str, Any], words: str) -> None:
    rows = {"model_a": ["x"], "model_b": ["y"], "winner": ["model_a"], **change}
    with pytest.raises(sc.DataError, match=words):
        sc.read(in_duckdb({name: column for name, column in rows.items() if column is not None}), engine="ibis")


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([("1", "a", "1", 1), ("1", "a ", "2", 1)], "agent 'a' appears twice in contest_id '1'; expected once"),
        ([("1", "a", "first", 1), ("1", "b", "2", 1)], "rank is not a finite number in the row with contest '1'"),
        ([("1", "a", "inf", 1), ("1", "b", "2", 1)], "rank is not a finite number"),
        ([("1", None, "1", 1), ("1", "b", "2", 1)], "agent is blank in some row"),
        ([(" ", "a", "1", 1), ("1", "b", "2", 1)], "contest_id is not a name in the row with place 1.0, agent 'a'"),
        ([("1", "a", "1", 1), ("1", "b", "2", 2)], "contest_id '1' has weights 1 and 2; expected one"),
    ],
)
def test_rankings_that_cannot_be_counted(rows: list[tuple[Any, ...]], words: str) -> None:
    contest, agent, rank, weight = map(list, zip(*rows, strict=True))
    with pytest.raises(sc.DataError, match=words):
        sc.read(in_duckdb({"contest_id": contest, "agent": agent, "rank": rank, "weight": weight}), engine="ibis")


def test_columns_by_name_and_a_weight_that_is_blank() -> None:
    rows = {"first": ["x", "y"], "second": ["y", "z"], "who": ["first", "tie"], "n": [None, None]}
    table = in_duckdb({**rows, "n": pa.array([None, None], pa.float64())})
    columns = {"a": "first", "b": "second", "winner": "who"}
    assert by_name(sc.read(table, engine="ibis", columns=columns)) == by_name(sc.read(rows, columns=columns).pairs())
    with pytest.raises(sc.OptionError, match="columns must be a dict with keys among a, b, winner, weight"):
        sc.read(table, engine="ibis", columns={**columns, "group": "n"})


def test_files_and_sizes_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(sc.OptionError, match="memory must be a size such as '2GB', got 'much'"):
        sc.read("x.parquet", engine="duckdb", memory="much")
    with pytest.raises(sc.OptionError, match=r"engine must be 'memory', 'auto', 'duckdb', 'ibis' or .*, got 'spork'"):
        sc.read("x.parquet", engine="spork")
    with pytest.raises(sc.DataError, match="expected a name that ends in parquet"):
        sc.read("x.txt", engine="duckdb")
    with pytest.raises(sc.DataError, match="No files found"):
        sc.read(f"{tmp_path}/none-*.parquet", engine="duckdb")


def test_the_command_line_counts_out_of_core(tmp_path: Path) -> None:
    votes, _ = sc.synthetic.tournament(300, agents=12, size=5, noise=20, seed=4)
    rows = pa.table(rows_of(votes))
    for k in range(2):
        pq.write_table(rows.slice(k * 750, 750), tmp_path / f"part-{k}.parquet")
    with pytest.warns(UserWarning, match="are games"):
        sc.write(votes, f"{tmp_path}/votes.soi")
    ask = CliRunner().invoke
    engine = ask(main, ["rank", f"{tmp_path}/*.parquet", "--engine", "duckdb", "--memory", "300MB", "--format", "csv"])
    here = ask(main, ["rank", f"{tmp_path}/votes.soi", "--format", "csv"])
    assert engine.exit_code == here.exit_code == 0, engine.output
    found, expected = (list(csv.DictReader(result.stdout.splitlines())) for result in (engine, here))
    assert [row["agent"] for row in found] == [row["agent"] for row in expected]
    # Agents have other numbers here, so sums in the fit are in another order.
    mine, known = ([float(row["rating"]) for row in rows] for rows in (found, expected))
    assert mine == pytest.approx(known, rel=1e-12)


def assert_the_same(found: sc.Pairs, expected: sc.Pairs) -> None:
    """Counts are equal but for the last digits of sums of shares."""
    mine, here = by_name(found), by_name(expected)
    assert mine.keys() == here.keys()
    assert all(mine[names] == pytest.approx(here[names], rel=1e-12) for names in mine)


@settings(max_examples=20, deadline=None)
@given(rows=battles(), data=st.data())
def test_balanced_battles_are_counted_as_here(rows: dict[str, list[Any]], data: st.DataObject) -> None:
    n = len(rows["winner"])
    judge = data.draw(st.lists(st.sampled_from(["ann", " ann", "ben"]), min_size=n, max_size=n))
    lang = data.draw(st.lists(st.sampled_from(["en", "de ", " ", None]), min_size=n - 1, max_size=n - 1))
    rows = {**rows, "judge": judge, "lang": ["en", *lang]}
    for by, name in (("judge", "judge"), ("groups", "judge"), ("lang", "lang")):
        here = sc.read(rows, balance=by)
        found = sc.read(in_duckdb(rows), engine="ibis", balance=by)
        assert_the_same(found, here.pairs())
        assert found.balance == here.balance == name
        assert found.source is not None and found.source.notes[-1].startswith(f"balanced by {name}: ")


@settings(max_examples=20, deadline=None)
@given(profile=ragged(), data=st.data())
def test_balanced_rankings_are_counted_as_here(profile: sc.Profile, data: st.DataObject) -> None:
    tasks = data.draw(st.lists(st.sampled_from(["p", "q"]), min_size=profile.n_votes, max_size=profile.n_votes))
    profile = replace(profile, columns=as_columns({"task": tasks}), group_by="task", kind="games")
    rows = rows_of(profile)
    rows["task"] = [tasks[vote] for vote in rows["contest_id"]]
    found = sc.read(in_duckdb(rows), engine="ibis", balance="groups")
    assert_the_same(found, profile.balanced().pairs())


def test_a_contest_in_two_groups_is_an_error() -> None:
    rows = {"contest_id": [1, 1], "rank": [1, 2], "agent": ["x", "y"], "task": ["p", "q"]}
    with pytest.raises(sc.DataError, match="task differs inside contest_id 1; expected one value for each vote"):
        sc.read(in_duckdb(rows), engine="ibis", balance="task")


def test_facts_and_aliases_are_joined_after_counting(tmp_path: Path) -> None:
    votes = {"model_a": ["x", "x-old", "x"], "model_b": ["y", "y", "x-old"], "winner": ["model_a", "tie", "model_a"]}
    pq.write_table(pa.table(votes), tmp_path / "v.parquet")
    about = {"name": ["x", "y"], "organisation": ["Acme", "Bell"], "alias": ["x-old", None]}
    here = sc.read(f"{tmp_path}/v.parquet", agent_facts=about)
    found = sc.read(f"{tmp_path}/v.parquet", engine="duckdb", agent_facts=about)
    assert by_name(found) == by_name(here.pairs()) == {("x", "y"): (1.0, 0.0, 1.0)}
    assert found.facts == here.facts
    assert found.source is not None
    assert "left out: 1 comparison of an agent with its own alias" in found.source.notes
    assert "agent_facts: 1 alias joined: x-old" in found.source.notes
    assert sc.borda(found).rows()[0]["facts"] == {"organisation": "Acme"}


def test_what_an_engine_does_not_keep_is_refused_with_the_way_out() -> None:
    ask: Any = sc.read
    for option in ({"unlisted": "last"}, {"both_orders": "tie"}):
        with pytest.raises(sc.OptionError, match=r"left out for the engine duckdb, which .* \(engine memory does\)"):
            ask("v.parquet", engine="duckdb", **option)
