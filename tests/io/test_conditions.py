"""Conditions choose votes: the same ones in memory, in an engine and on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from conftest import profiles
from helpers.engines import by_name
from hypothesis import given, settings, strategies as st

import softcondorcet as sc
from softcondorcet.cli import main

ROWS: dict[str, list[Any]] = {
    "model_a": ["gpt", "claude", "gemini", "llama", "llama", "gpt"],
    "model_b": ["claude", "gemini", "gpt", "gpt", "claude", "llama"],
    "winner": ["model_a", "tie", "gpt", "gpt", "model_a", "both_bad"],
    "weight": [1, 2, 1, 1, 3, 1],
    "judge": ["anna", "ben", "anna", "anna", "cid", "Anna, jr"],
    "language": ["en", "de", "en", "fr", None, "EN"],
    "tstamp": [f"2026-0{1 + k // 2}-0{1 + k}T10:00:00" for k in range(6)],
    "turn": [1, 2, 1, 3, 1, None],
    "code": [True, False, True, True, False, False],
    "prompt": [f"{'long ' * 50}{k}" for k in range(6)],
}
# A condition and the rows, from 0, that meet it.
MET: dict[str, list[int]] = {
    "language=en": [0, 2],
    "language = En": [0, 2, 5],
    "language=de,fr": [1, 3],
    "language!=en": [1, 3, 4, 5],
    "language!=en,": [1, 3, 5],
    "language=": [4],
    "language!=": [0, 1, 2, 3, 5],
    'judge="Anna, jr"': [5],
    'judge="Anna, jr",ben': [1, 5],
    "judge!=anna": [1, 4, 5],
    "group==ben": [1],
    "turn=1": [0, 2, 4],
    "turn=1,3.0": [0, 2, 3, 4],
    "turn>=2": [1, 3],
    "turn<2": [0, 2, 4],
    "turn!=1": [1, 3, 5],
    "turn=": [5],
    "weight>1": [1, 4],
    "code=true": [0, 2, 3],
    "code!=TRUE": [1, 4, 5],
    "tstamp>=2026-02": [2, 3, 4, 5],
    "when>=2026-02": [2, 3, 4, 5],
    "when>2026-02": [4, 5],
    "when<=2026-02": [0, 1, 2, 3],
    "when=2026-01,2026-03-05": [0, 1, 4],
    "tstamp=2026-01-02": [1],
    "tstamp!=2026-01-02": [0, 2, 3, 4, 5],
    "tstamp<2026-01-02T10:00:00": [0],
    "tstamp<=2026-01-02T10:00:00Z": [0, 1],
    "tstamp<2026-01-02T13:00:00+02:00": [0, 1],
    "tstamp>2025": [0, 1, 2, 3, 4, 5],
    "tstamp=2026": [0, 1, 2, 3, 4, 5],
    "tstamp<9999": [0, 1, 2, 3, 4, 5],
    f"prompt={'long ' * 50}3": [3],
    "model_a=gpt": [0, 5],
}


def of_rows(rows: list[int]) -> sc.Profile:
    return sc.read({name: [cells[k] for k in rows] for name, cells in ROWS.items()})


@pytest.fixture(scope="module", name="files")
def _files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("votes")
    frame = pa.table(ROWS)
    pq.write_table(frame, folder / "votes.parquet")
    frame.to_pandas().to_csv(folder / "votes.csv", index=False)
    lines = [json.dumps({name: cells[k] for name, cells in ROWS.items()}) for k in range(6)]
    (folder / "votes.jsonl").write_text("\n".join(lines))
    return {name: str(folder / f"votes.{name}") for name in ("csv", "parquet", "jsonl")}


@pytest.mark.parametrize("where", MET)
def test_a_condition_chooses_these_rows(where: str, files: dict[str, str]) -> None:
    expected = of_rows(MET[where])
    for form, path in files.items():
        found = sc.read(path, where=where)
        assert by_name(found.pairs()) == by_name(expected.pairs()), form
        assert found.n_votes == len(MET[where])
        assert set(found.agents) == set(expected.agents)


@pytest.mark.parametrize("where", MET)
def test_an_engine_chooses_the_same(where: str, files: dict[str, str]) -> None:
    pytest.importorskip("ibis")
    pytest.importorskip("duckdb")
    for form, path in files.items():
        found = sc.read(path, where=where, engine="duckdb")
        assert by_name(found) == by_name(of_rows(MET[where]).pairs()), form
        assert found.source and found.source.selection
        assert (found.source.selection.votes, found.source.selection.of) == (len(MET[where]), 6)


def test_an_engine_compares_what_it_cannot_hand_over(tmp_path: Path) -> None:
    pytest.importorskip("ibis")
    pytest.importorskip("duckdb")
    n = 10_500
    stamps = np.datetime64("2026-01-01") + np.arange(n) * np.timedelta64(1_000_500, "us") * 300
    rows = {
        "a": ["x", "y", "z"] * (n // 3),
        "b": ["y", "z", "x"] * (n // 3),
        "winner": ["a", "b", "tie", "a", "a", "b", "b"] * (n // 7),
        "tstamp": stamps,
        "score_a": np.arange(n) / 7,
        "id": [f"Q{k}" for k in range(n)],
    }
    pq.write_table(pa.table(rows), tmp_path / "votes.parquet")
    text = {**rows, "tstamp": [str(stamp) for stamp in stamps]}
    pa.table(text).to_pandas().to_csv(tmp_path / "votes.csv", index=False)
    everywhere = sc.read(tmp_path / "votes.parquet", keep=["tstamp", "score_a", "id"])
    for where in ("tstamp>=2026-01-20", "tstamp=2026-01-31,2026-02-01", "score_a<700.5", "id!=Q7,q8", "id=Q1,Q20,Q3"):
        here = everywhere.where(where)
        assert 0 < here.n_votes < n
        for name in ("votes.parquet", "votes.csv"):
            assert by_name(sc.read(str(tmp_path / name), where=where, engine="duckdb")) == by_name(here.pairs())


def test_an_engine_chooses_whole_contests(tmp_path: Path) -> None:
    pytest.importorskip("ibis")
    pytest.importorskip("duckdb")
    rows = {"contest": [1, 1, 1, 2, 2], "rank": [1, 2, 3, 1, 2], "agent": [*"abcba"], "place_": [*"vvvww"]}
    path = str(tmp_path / "races.parquet")
    pq.write_table(pa.table({**rows, "lap": [1, 2, 3, 1, 1]}), path)
    assert sc.read(path, where="place_=v", engine="duckdb").total == 3
    for where in ("place_=v", "agent!=b", "agent=a,c"):
        here = sc.read(path, where=where).pairs()
        assert by_name(sc.read(path, where=where, engine="duckdb")) == by_name(here)
    with pytest.raises(sc.DataError, match=r"only some rows of contest 1 have lap<2; expected one value"):
        sc.read(path, where="lap<2", engine="duckdb")


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("lagnuage=en", "no column 'lagnuage'; there is.*language.*did you mean 'language'"),
        ("language=xx", "no vote has language=xx; language is '"),
        ("tstamp>=soon", "tstamp>=soon: tstamp holds times; expected one such as 2026-01-31, got 'soon'"),
        ("tstamp>=2026-13-01", "expected one such as 2026-01-31, got '2026-13-01'"),
        ("turn=two", "where turn=two: turn holds numbers; expected one, got 'two'"),
        ("turn>nan", "turn holds numbers; expected one, got 'nan'"),
        ("language>en", "language holds names such as .*, not numbers or times; expected = or !="),
        ("turn>=", "one value after >=, got 'turn>='"),
        ("turn>1,2", "one value after >"),
        ("language", "where must be COLUMN=VALUE.*got 'language'"),
        ("=en", "where must be COLUMN=VALUE.*got '=en'"),
        ('judge="anna', "with quotes that end"),
        ("agent!=gbt", "no agent 'gbt' among 4 agents; did you mean 'gpt'"),
        ("agent=gpt", "leaves gpt of 4 agents; expected two or more"),
        ("agent>gpt", "expected = or != for agents"),
        (["language=en", "judge=ben"], "no vote meets all of"),
    ],
)  # fmt: skip
def test_what_chooses_nothing_says_why(where: str | list[str], message: str, engine: str, tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    path = str(tmp_path / "votes.parquet")
    pq.write_table(pa.table(ROWS), path)
    with pytest.raises(ValueError, match=f"(?s){message}") as error:
        sc.read(path, where=where, engine=engine)
    assert isinstance(error.value, sc.DataError | sc.OptionError)


def test_values_of_a_library_are_those_of_the_command_line() -> None:
    votes = of_rows(list(range(6)))
    same = [
        (votes.where(language="en"), votes.where("language=en")),
        (votes.where(language=["de", "fr"], turn=2), votes.where("language=de,fr", "turn=2")),
        (votes.where(language=None), votes.where("language=")),
        (votes.where(code=True), votes.where("code=true")),
        (votes.where(turn=1.0), votes.where("turn=1")),
        (sc.read(ROWS, where={"language": "en"}), votes.where("language=en")),
    ]
    for one, other in same:
        assert list(one.rankings()) == list(other.rankings())
    assert votes.where() is votes


def test_agents_are_taken_out_of_longer_votes() -> None:
    votes = sc.read({"ranking": [["a", ["b", "c"], "d"], ["c", "a"], ["d"]]})
    assert votes.kind == "election"
    assert list(votes.where("agent!=a,d").rankings()) == [[["b", "c"]], [["c"]]]
    assert list(votes.where("agent=a,d").rankings()) == [[["a"], ["d"]], [["a"]], [["d"]]]
    games = sc.read({"ranking": [["a", ["b", "c"], "d"], ["c", "a"]]}, profile_kind="games")
    assert list(games.where("agent!=a").rankings()) == [[["b", "c"], ["d"]]]
    battles = of_rows([0, 1, 2])
    assert battles.turned is not None
    assert battles.where("agent!=gemini").turned is not None
    shown = sc.Profile(("a", "b", "c"), [0, 3, 5], [0, 1, 2, 1, 0], [0, 1, 2, 0, 1], [1, 1], turned=[False, True])
    assert shown.where("agent!=c").turned is None  # nobody said who of three was shown first


def test_scores_stay_with_their_agents() -> None:
    table = {"agent": [*"xyzxyz"], "task": [*"sssttt"], "score": [1.0, 2, 3, 6, 5, 4]}
    votes = sc.read(table).where("task=t", "agent!=y")
    assert votes.score is not None
    assert list(votes.rankings()) == [[["x"], ["z"]]]
    assert votes.score.tolist() == [6, 4]


def test_a_table_with_items_keeps_its_categories() -> None:
    table = {
        "model": ["x", "y"] * 4,
        "task": ["s"] * 8,
        "item": [1, 1, 2, 2, 3, 3, 4, 4],
        "score": [1, 0, 0, 1, 0, 1, 0, 1],
        "category": [*("math",) * 4, *("code",) * 4],
        "level": [1, 1, 2, 2, 3, 3, None, None],
    }
    votes = sc.read(table)
    assert set(votes.columns) == {"task", "item", "category", "level"}
    assert votes.columns["level"].numeric
    assert votes.where("category=math", "level>1").n_votes == 1


def test_agents_without_votes_go_and_those_that_never_had_any_stay() -> None:
    votes = sc.Profile.from_rankings(
        [["a", "b"], ["c", "a"]], agents=["a", "b", "c", "idle"], columns={"lang": ["en", "de"]}
    )
    assert votes.where(lang="en").agents == ("a", "b", "idle")
    assert votes.where("agent!=b", lang="de").agents == ("a", "c", "idle")


def test_what_was_chosen_is_said_and_chains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("votes.csv").write_text("a,b,winner,lang,n\nx,y,a,en,1\ny,z,b,de,2\nz,x,a,en,2\n")
    runner = CliRunner()
    votes = sc.read("votes.csv", where="lang=en,fr").where("weight>1")
    assert votes.source and votes.source.notes == (
        "where lang=en,fr: 2 of 3 votes",
        "no vote has lang 'fr'",
        "where weight>1: 1 of 2 votes, 2 of 3 agents",
    )
    assert vars(votes.source.selection) == {"conditions": ("lang=en,fr", "weight>1"), "votes": 1, "of": 3}
    for command in (["rank"], ["compare"], ["inspect"], ["bootstrap"], ["robustness"], ["next"], ["optima"]):
        done = runner.invoke(main, [*command, "votes.csv", "--where", "lang=en", "--format", "json"])
        assert done.exit_code == 0, done.stderr
        assert json.loads(done.stdout)["where"] == {"conditions": ["lang=en"], "votes": 2, "of": 3}
        assert "where lang=en: 2 of 3 votes" in done.stderr
        plain = runner.invoke(main, [*command, "votes.csv", "--format", "json"])
        assert "where" not in json.loads(plain.stdout)
    done = runner.invoke(main, ["report", "votes.csv", "--where", "lang=en", "-o", "-", "--resamples", "5"])
    assert "where lang=en: 2 of 3 votes" in done.output
    assert "--where lang=en" in done.output
    done = runner.invoke(main, ["convert", "votes.csv", "-", "--to", "csv", "--where", "lang=de"])
    assert done.stdout.splitlines()[1:] == ["y,z,model_b,2,de"]


def test_a_cluster_is_told_where_conditions_go() -> None:
    with pytest.raises(sc.OptionError, match=r"where must be left out for ray://.*sco convert"):
        sc.read("votes.parquet", engine="ray://here:1", where="a=b")


@st.composite
def labelled(draw: st.DrawFn) -> sc.Profile:
    votes = draw(profiles())
    names = st.none() | st.text(max_size=3).map(str.strip)
    cells = draw(st.lists(names, min_size=votes.n_votes, max_size=votes.n_votes))
    return sc.Profile.from_rankings(votes.rankings(), columns={"label": [cell or None for cell in cells]})


@given(votes=labelled(), data=st.data())
@settings(max_examples=100)
def test_equal_and_unequal_share_the_votes(votes: sc.Profile, data: st.DataObject) -> None:
    cells = votes.columns["label"].cells()
    asked = data.draw(st.lists(st.sampled_from(cells), min_size=1, max_size=3))
    text = ",".join('"' + str(cell).replace('"', '""') + '"' if cell else "" for cell in asked)

    def votes_of(where: str) -> list[Any]:
        try:
            return list(votes.where(where).rankings())
        except sc.DataError as error:
            assert "no vote has" in str(error)
            return []

    met = [cell in asked for cell in cells]
    rankings = list(votes.rankings())
    assert votes_of(f"label={text}") == [vote for vote, wanted in zip(rankings, met, strict=True) if wanted]
    assert votes_of(f"label!={text}") == [vote for vote, wanted in zip(rankings, met, strict=True) if not wanted]


@pytest.mark.fuzz
@given(text=st.text() | st.from_regex(r"[a-z\"]*[=<>!]{1,2}.*"))
@settings(max_examples=10_000)
def test_any_text_is_a_condition_or_a_sentence(text: str) -> None:
    try:
        assert of_rows([0, 1, 2, 3]).where(text).n_votes
    except (sc.DataError, sc.OptionError) as error:
        assert str(error)
