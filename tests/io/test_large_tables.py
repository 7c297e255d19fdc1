"""Tables of many votes are counted without being told: the same counts, or an error in words."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from helpers.engines import battles, by_name, ragged, rows_of
from hypothesis import HealthCheck, given, settings

import softcondorcet as sc
from softcondorcet.cli import main
from softcondorcet.io.conditions import conditions
from softcondorcet.io.engines import chunks
from softcondorcet.io.engines.choice import count
from softcondorcet.io.table_size import TableSize

SUFFIXES = (".parquet", ".csv", ".tsv", ".jsonl")
FEW = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def write(path: Path, rows: dict[str, list[Any]]) -> Path:
    """A table in the format of the suffix."""
    listed = [dict(zip(rows, row, strict=True)) for row in zip(*rows.values(), strict=True)]
    if path.suffix == ".parquet":
        pq.write_table(pa.table(rows), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in listed))
    else:
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows), delimiter="\t" if path.suffix == ".tsv" else ",")
            writer.writeheader()
            writer.writerows(listed)
    return path


def large(path: Path, free: float = 1e12) -> TableSize:
    return TableSize(str(path), (str(path),), path.suffix, 2e9, free)


def counted(path: Path, where: str = "") -> sc.Pairs:
    pairs = count(large(path), None, None, conditions(where or ()))
    assert pairs is not None
    return pairs


@pytest.fixture
def no_duckdb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)


@pytest.mark.parametrize("suffix", SUFFIXES)
@FEW
@given(rows=battles())
def test_battles_are_counted_as_they_are_read(suffix: str, tmp_path: Path, rows: dict[str, list[Any]]) -> None:
    path = write(tmp_path / f"votes{suffix}", rows)
    found = count(large(path), None, None)
    try:
        expected = sc.read(path)
    except sc.DataError:
        assert found is None
        with pytest.raises(sc.DataError):
            count(large(path, free=1), None, None)
        return
    if found is None:  # an agent called 7 is no result, but 1 and 0 are
        assert {"1", "0"} & set(expected.agents)
        return
    assert by_name(found) == by_name(expected.pairs())
    assert found.kind == expected.kind
    assert by_name(chunks.read_pairs([str(path)], rows=2)) == by_name(found)


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
@FEW
@given(profile=ragged())
def test_rankings_are_counted_as_they_are_read(suffix: str, tmp_path: Path, profile: sc.Profile) -> None:
    path = write(tmp_path / f"votes{suffix}", rows_of(profile))
    assert by_name(counted(path)) == by_name(sc.read(path).pairs())


BATTLES = {
    "model_a": ["x", "y", "x"],
    "model_b": ["y", "z", "z"],
    "winner": ["model_a", "tie", "z"],
    "lang": ["en"] * 3,
}


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.usefixtures("no_duckdb")
def test_without_duckdb_battles_are_counted_in_parts(suffix: str, tmp_path: Path) -> None:
    path = write(tmp_path / f"votes{suffix}", BATTLES)
    pairs = counted(path)
    assert by_name(pairs) == by_name(sc.read(path).pairs())
    assert pairs.source is not None
    assert pairs.source.notes[0].startswith(
        "counted in parts: 3 comparisons of 3 agents; as votes they would take about"
    )
    assert count(large(write(tmp_path / f"ranks{suffix}", rows_of(sc.read(path)))), None, None) is None


def test_conditions_are_met_where_votes_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "votes.parquet", {**BATTLES, "lang": ["en", "de", "en"]})
    pairs = counted(path, "lang=en")
    assert by_name(pairs) == by_name(sc.read(path, where="lang=en").pairs())
    assert pairs.source is not None and pairs.source.selection is not None
    assert (pairs.source.selection.votes, pairs.source.selection.of) == (2, 3)


@pytest.mark.parametrize(
    "rows",
    [
        {"white": ["x"], "black": ["y"], "result": ["1-0"]},
        {"model_a": ["1"], "model_b": ["0"], "winner": ["1"]},
        {"model": ["x", "y"], "task": ["t", "t"], "score": [1, 2]},
        {"model": ["x", "y"], "mmlu": [1, 2]},
        {"ranking": ["x > y"]},
    ],
)
def test_what_only_readers_understand_is_left_to_them(rows: dict[str, list[Any]], tmp_path: Path) -> None:
    path = write(tmp_path / "votes.csv", rows)
    assert count(large(path), None, None) is None
    assert sc.read(path).n_votes >= 1


def test_votes_that_do_not_fit_are_refused_in_words(tmp_path: Path) -> None:
    path = write(tmp_path / "votes.csv", BATTLES)
    with pytest.raises(sc.DataError, match=r"votes take about 2.0 GB of memory, and 1.0 GB are free; .*engine='auto'"):
        large(path, free=1e9).check()
    large(path, free=3e9).check()
    assert not TableSize("x", (), ".csv", 1e6, 2e6).is_large()
    assert TableSize("x", (), ".csv", 1e6, 1e5).is_large()
    assert TableSize("x", (), ".csv", 1e6, 2e6).is_large("1MB")


def test_pairs_in_place_of_votes_name_the_way_out(tmp_path: Path) -> None:
    pairs = counted(write(tmp_path / "votes.csv", BATTLES))
    with pytest.raises(sc.OptionError, match=r"got Pairs; sc.read\(..., engine='memory'\) keeps the votes"):
        sc.inspect(pairs)  # type: ignore[arg-type]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_file_larger_than_memory_is_counted_and_says_so(suffix: str, tmp_path: Path) -> None:
    rows = {name: cells * 5000 for name, cells in BATTLES.items()}
    path = write(tmp_path / f"votes{suffix}", {**rows, "id": [str(k * 7919) for k in range(15_000)]})
    votes = sc.read(path)
    pairs = sc.read(path, engine="auto", memory="10KB")
    assert isinstance(pairs, sc.Pairs) and by_name(pairs) == by_name(votes.pairs())
    assert isinstance(sc.read(path, engine="auto"), sc.Profile)
    assert sc.read(path, engine="auto", memory="10KB", balance="lang").kind == "games"  # weighs votes: not counted
    said = CliRunner().invoke(main, ["rank", str(path), "--format", "csv", "--memory", "10KB"])
    assert "counted by DuckDB" in said.stderr or "counted in parts: 15,000 comparisons of 3 agents" in said.stderr
    plain = CliRunner().invoke(main, ["rank", str(path), "--format", "csv"])
    assert "counted" not in plain.stderr
    orders = [[line.split(",")[:2] for line in result.stdout.splitlines()] for result in (said, plain)]
    assert orders[0] == orders[1]
