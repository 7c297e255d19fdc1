"""Tables as people keep them: wide ones, results of games, items and seeds; with the votes in each, or its sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from helpers.logs import zipped
from helpers.reading import THOROUGH, Named, fuzz, notes, votes_of
from hypothesis import given, strategies as st

import softcondorcet as sc
from softcondorcet.errors import DataError, OptionError
from softcondorcet.io.metric_names import higher_is_better, is_fact, is_summary, metric_is_higher_better
from softcondorcet.io.number_text import comma_is_decimal, read_numbers


def read(text: str | bytes, name: str = "x.csv", **options: Any) -> sc.Profile:
    profile: sc.Profile = sc.read(Named(text.encode() if isinstance(text, str) else text, name), **options)
    return profile


def workbook(rows: list[list[Any]], sheets: tuple[str, ...] = ("Results",)) -> bytes:
    """The smallest workbook: the rows on each sheet, as numbers and inline texts."""

    def cell(value: Any) -> str:
        if value is None:
            return "<c/>"
        if isinstance(value, str):
            return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
        return f"<c><v>{value}</v></c>"

    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    body = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
    numbers = range(1, len(sheets) + 1)
    listed = "".join(
        f'<sheet name="{name}" sheetId="{k}" r:id="r{k}"/>' for k, name in zip(numbers, sheets, strict=True)
    )
    parts = {"workbook.xml": "sheet.main", **{f"s{k}.xml": "worksheet" for k in numbers}}
    kinds = "".join(f'<Override PartName="/xl/{path}" ContentType="{kind}.{of}+xml"/>' for path, of in parts.items())
    targets = "".join(f'<Relationship Id="r{k}" Type="{office}/worksheet" Target="s{k}.xml"/>' for k in numbers)
    top = f'<Relationship Id="r" Type="{office}/officeDocument" Target="xl/workbook.xml"/>'
    relations = f'<Relationships xmlns="{package}/relationships">'
    rels = '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    files = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">{rels}{kinds}</Types>',
        "_rels/.rels": f"{relations}{top}</Relationships>",
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f"{relations}{targets}</Relationships>",
        **{f"xl/s{k}.xml": f'<worksheet xmlns="{main}"><sheetData>{body}</sheetData></worksheet>' for k in numbers},
    }
    return zipped(files)


# Wide tables

WIDE = """model,org,params,MMLU,GSM8K,latency_ms,Average,Rank
big,A,70,86.4%,92.0%,"1,250",80.2,1
mid,B,13,78.5%,-,640,70.1,2
old,A,7,n/a,40.5%,640,75.9,3
"""
VOTES = {"MMLU": ["big > mid"], "GSM8K": ["big > old"], "latency_ms": ["mid = old > big"]}


def test_a_wide_table_and_what_is_no_task() -> None:
    profile = read(WIDE)
    assert votes_of(profile) == VOTES
    assert profile.kind == "election"
    for words in ("sum up others: 'Average', 'Rank'", "describe the agent: 'params'", "lower is better in latency_ms"):
        assert words in notes(profile)
    assert "blank cells: the agent is absent from the task (2)" in notes(profile)
    assert votes_of(read(WIDE, tasks=["Average"])) == {"Average": ["big > old > mid"]}
    assert votes_of(read(WIDE, higher_is_better="latency_ms"))["latency_ms"] == ["big > mid = old"]


def test_the_same_table_in_other_clothes() -> None:
    rows = [row.split(",") for row in WIDE.replace('"1,250"', "1250").strip().split("\n")]
    markdown = "# Results\n\n| " + " | ".join(rows[0]) + " |\n|" + "---|" * len(rows[0]) + "\n"
    markdown += "\n".join("| **" + "** | ".join(row[:1]) + "** | " + " | ".join(row[1:]) + " |" for row in rows[1:])
    assert votes_of(read(markdown + "\n\nText.\n", "x.md")) == VOTES
    assert votes_of(read("\n".join("\t".join(row) for row in rows), "x.tsv")) == VOTES
    assert votes_of(read(WIDE.encode("utf-16"))) == VOTES
    german = "\n".join(";".join(row).replace(".", ",") for row in rows)
    assert votes_of(read(german)) == VOTES
    values = [[float(cell) if cell.replace(".", "").isdigit() else cell for cell in row] for row in rows]
    assert votes_of(read(workbook(values), "x.xlsx")) == VOTES


def test_sheets_of_a_workbook(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    path.write_bytes(workbook([["model", "a"], ["x", 1], ["y", 0.5]], ("First", "Second")))
    assert votes_of(sc.read(path)) == {"a": ["x > y"]}
    assert "other sheets: Second" in notes(sc.read(path))
    assert votes_of(sc.read(f"{path}::Second")) == {"a": ["x > y"]}
    with pytest.raises(DataError, match=r"x\.xlsx::Third: no such sheet; expected one of First, Second"):
        sc.read(f"{path}::Third")
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(DataError, match=r"x\.xlsx: (cannot be read|not a workbook that can be read)"):
        sc.read(path)


def test_pivot_tables() -> None:
    long = pd.DataFrame({"model": ["x", "x", "y", "y"], "task": ["t", "u", "t", "u"], "score": [3, 1, 2, 2]})
    expected = {"t": ["x > y"], "u": ["y > x"]}
    one = long.pivot(index="model", columns="task", values="score")
    assert votes_of(sc.read(one)) == expected
    assert votes_of(read(one.to_csv())) == expected
    one.index.name = None
    assert votes_of(read(one.to_csv())) == expected
    two = long.pivot_table(index="model", columns="task")
    assert votes_of(read(two.to_csv())) == expected


def test_tasks_in_the_rows() -> None:
    assert votes_of(read("task,x,y\nmmlu,1,2\nloss,1,2\nAverage,9,1\n")) == {"mmlu": ["y > x"], "loss": ["x > y"]}


def test_runs_that_failed() -> None:
    text = "solver,p1,p2,time\na,1,2,timeout\nb,2,1,10\nc,3,3,12\n"
    with pytest.raises(DataError, match=r"x\.csv:2: time is 'timeout'; expected a number, or --failures last"):
        read(text)
    assert votes_of(read(text, failures="last"))["time"] == ["b > c > a"]
    assert votes_of(read(text + "d,1,1,oom\n", failures="last"))["time"] == ["b > c > a = d"]
    assert votes_of(read(text, failures="absent"))["time"] == ["b > c"]


def test_seeds_in_a_wide_table_are_averaged() -> None:
    profile = read("model,seed,t\nx,1,1\nx,2,0\ny,1,0.6\ny,2,0.6\n")
    assert votes_of(profile) == {"t": ["y > x"]}
    assert profile.score is not None and profile.score.tolist() == [0.6, 0.5]
    assert "repeats of an agent on one item averaged: 4 scores into 2" in notes(profile)


NUMBERS = [
    (["0,853", "0,9"], True, [0.853, 0.9]),
    (["1,234", "12,345.5"], False, [1234, 12345.5]),
    (["1.234,5", "2,0"], True, [1234.5, 2]),
    (["85.3%", "90 %"], None, [85.3, 90]),
    (["85.3%", "0.9"], None, [0.853, 0.9]),
    (["12.3 ± 0.4", "11.0 (0.2)"], None, [12.3, 11]),
    (["**71.2**", "$3", "1e-3", "\u2212 2"], None, [71.2, 3, 0.001, -2]),
]


@pytest.mark.parametrize(("cells", "comma", "values"), NUMBERS)
def test_numbers_as_people_write_them(cells: list[str], comma: bool | None, values: list[float]) -> None:
    found = comma_is_decimal(cells)
    assert comma is None or found is comma
    numbers = read_numbers(cells, bool(found))
    assert numbers is not None
    assert numbers.values == pytest.approx(values)


def test_directions_by_name() -> None:
    low = ["latency_ms", "word_perplexity", "Error rate", "WER (%)", "loss (mean)", "bits_per_byte", "time_s", "MAE"]
    high = ["acc", "f1_score", "pass@1", "ExactMatch", "win rate", "error correction accuracy"]
    unknown = ["MMLU", "error detection", "TimeSeries", "oddity", "truthfulness"]
    assert [higher_is_better(name) for name in low] == [False] * len(low)
    assert [higher_is_better(name) for name in high] == [True] * len(high)
    assert [higher_is_better(name) for name in unknown] == [None] * len(unknown)
    assert metric_is_higher_better("acc_norm,none") is True
    assert all(map(is_summary, ("mean", "Average ⬆️", "macro-avg", "Overall Score")))
    assert not is_summary("average_precision")
    assert is_fact("#Params (B)")
    assert not is_fact("MMLU")


# Results of games

OUTCOMES = [
    ("white,black,result\nA,B,1-0\nB,A,1/2-1/2\nA,B,0-1\nA,B,*\n", ["1 A = B", "1 A > B", "1 B > A"]),
    ("p1,p2,result,handicap\nA,B,1,0\nA,B,0,0\nA,B,0.5,0\nA,B,0.75,0\n",
     ["0.25 B > A", "0.75 A > B", "1 A = B", "1 A > B", "1 B > A"]),
    ("id,model_a,model_b,winner_model_a,winner_model_b,winner_tie\n1,A,B,1,0,0\n2,A,B,0,1,0\n3,A,B,0,0,1\n",
     ["1 A = B", "1 A > B", "1 B > A"]),
    ("player1,player2,outcome,weight\nA,B,win,2\nA,B,loss,1\nA,B,draw,1\nA,B,A,1\n",
     ["1 A = B", "1 A > B", "1 B > A", "2 A > B"]),
    ("question_id,model_a,model_b,winner\n1,A,B,A>>B\n2,A,B,A=B\n3,A,B,B>A\n", ["1 A = B", "1 B > A", "3 A > B"]),
    ("model_a,model_b,winner\nA,B,1\nA,B,0.5\n", ["1 A = B", "1 A > B"]),
    ("white,black,result\nA,B,white\nA,B,B\nA,B,½-½\n", ["1 A = B", "1 A > B", "1 B > A"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "votes"), OUTCOMES)
def test_results_of_games(text: str, votes: list[str]) -> None:
    profile = read(text)
    assert votes_of(profile) == {"": sorted(votes)}
    assert profile.kind == "games"


def test_results_keep_columns_and_order_by_time() -> None:
    profile = read("white,black,result,judge,day,language\nA,B,1-0,j,2,en\nB,A,1-0,k,1,de\n")
    assert [tiers[0] for tiers in profile.rankings()] == [["B"], ["A"]]
    assert profile.group is not None and profile.groups[profile.group[0]] == "k"
    assert profile.columns["language"].cells() == ["de", "en"]
    named = read("x,y,end\nA,B,1-0\n", columns={"a": "x", "b": "y", "winner": "end"})
    assert votes_of(named) == {"": ["1 A > B"]}


# Items and seeds

ITEMS = "model,task,question_id,seed,score\nx,t,1,0,1\nx,t,1,1,0\ny,t,1,0,0.4\nx,t,2,0,0\ny,t,2,0,1\ny,u,1,0,1\n"


def test_items_and_seeds() -> None:
    profile = read(ITEMS)
    assert votes_of(profile) == {"t": ["x > y", "y > x"], "u": ["y"]}
    assert profile.columns["item"].cells() == ["1", "2", "1"]
    assert "items in 'question_id'; repeats in 'seed' are averaged" in notes(profile)
    assert votes_of(read(ITEMS, per="task")) == {"t": ["y > x"], "u": ["y"]}
    lower = ITEMS.replace("score", "score,higher_is_better", 1).replace("\n", ",0\n").replace("better,0", "better")
    assert votes_of(read(lower)) == {"t": ["x > y", "y > x"], "u": ["y"]}
    judged = "model,item,judge,score\nx,1,a,1\ny,1,a,0\nx,1,b,0\ny,1,b,1\n"
    assert votes_of(read(judged)) == {"all items": ["x > y", "y > x"]}


def test_percent_signs_and_folds_in_long_tables() -> None:
    assert votes_of(read("model,task,score\nx,t,85%\ny,t,80.5 %\n")) == {"t": ["x > y"]}
    folds = "model,dataset,fold,{}\nx,t,1,1\nx,t,2,0\ny,t,1,0.6\ny,t,2,0.6\n"
    assert votes_of(read(folds.format("accuracy"))) == {"t": ["y > x"]}
    assert votes_of(read(folds.format("loss"))) == {"t": ["x > y"]}
    zork = folds.format("zork")
    with pytest.raises(DataError, match=r"no column is the score .*found 'zork': --column score=zork"):
        read(zork)
    with pytest.raises(DataError, match=r"nothing says whether a higher 'zork' is better .*--higher-is-better zork or"):
        read(zork, columns={"score": "zork"})
    assert votes_of(read(zork, columns={"score": "zork"}, lower_is_better="zork")) == {"t": ["x > y"]}


def test_tables_in_a_folder_are_one(tmp_path: Path) -> None:
    for k, name in enumerate(("x", "y")):
        (tmp_path / f"{name}.csv").write_text(f"task,score\nt,{k}\nu,{k}\n")
    assert votes_of(sc.read(tmp_path, agent_from="file")) == {"t": ["y > x"], "u": ["y > x"]}
    (tmp_path / "z.csv").write_text("task,points\nt,1\n")
    with pytest.raises(DataError, match=r"z\.csv: columns 'task', 'points'; expected 'task', 'score' as in .*x\.csv"):
        sc.read(tmp_path, agent_from="file")


# Battles as people write them

WRITTEN = [
    ("white_id,black_id,winner\nA,B,white\nB,C,draw\n", ["1 A > B", "1 B = C"]),
    ("home_team,away_team,home_score,away_score\nA,B,2,1\nB,C,1,1\nC,A,,\n", ["1 A > B", "1 B = C"]),
    ("Date,HomeTeam,AwayTeam,FTHG,FTAG,FTR\n2022-08-13,A,B,2,1,H\n2022-08-14,B,C,1,1,D\n", ["1 A > B", "1 B = C"]),
    ("white;black;result\nA;B;0,5\nB;C;1\n", ["1 A = B", "1 B > C"]),
    ("white,black,result\nA,B,\u00bd-\u00bd\nB,C,1\u20130\n", ["1 A = B", "1 B > C"]),
    ("model_a,model_b,verdict\nx,y,A>>B\ny,z,B>A\nx,z,A=B\n", ["1 x = z", "1 z > y", "3 x > y"]),
    ("model_a,model_b,win_rate\nx,y,75%\n", ["0.25 y > x", "0.75 x > y"]),
    ("model_a,model_b,outcome\nx,y,A\ny,z,B\nx,z,T\n", ["1 x = z", "1 x > y", "1 z > y"]),
    ("model_a,model_b,preference\nx,y,model_a\ny,z,tie\n", ["1 x > y", "1 y = z"]),
    ("p1,p2,winner\nx,y,1\ny,z,2\n", ["1 x > y", "1 z > y"]),
    ("left,right,outcome\nx,y,l\ny,z,r\n", ["1 x > y", "1 z > y"]),  # letters of the columns
    ("left,right,outcome\nx,y,l\ny,z,w\n", ["1 y > x", "1 y > z"]),  # of loss and win
    ("winner,loser\nx,y\ny,z\n", ["1 x > y", "1 y > z"]),
    ("model_a|model_b|winner\nx|y|model_a\n", ["1 x > y"]),
    ("model_a,model_b,winner\nx,y,tie (inconsistent)\n", ["1 x = y"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "votes"), WRITTEN)
def test_battles_as_people_write_them(text: str, votes: list[str]) -> None:
    assert votes_of(read(text)) == {"": votes}


def test_a_preference_in_numbers_is_no_guess() -> None:
    with pytest.raises(DataError, match="no column says who won; found 'preference': --column winner=preference"):
        read("model_a,model_b,preference\nx,y,1\ny,z,0\n")


# Scores as people write them

SCORED = [
    ("model,task,item,score\nx,a,1,1\ny,a,1,0\nx,b,1,1\ny,b,1,0\n", {"a": ["x > y"], "b": ["x > y"]}),  # b: no bpb
    ("model,task,score\nx,perplexity,1\ny,perplexity,2\n", {"perplexity": ["x > y"]}),
    ("model,question_id,correct\nx,1,True\nx,2,False\ny,1,False\ny,2,no\n", {"all items": ["x = y", "x > y"]}),
    ("solver,instance,runtime\nx,i1,1.5\nx,i2,3\ny,i1,2\ny,i2,3\n", {"all items": ["x = y", "x > y"]}),
    ("model,task,metric,value\nx,t,acc,1\nx,t,f1,0\ny,t,acc,0\ny,t,f1,1\n", {"t": ["x > y"]}),
    ("model,metric,value\nx,acc,1\nx,wer,1\ny,acc,0\ny,wer,0\n", {"acc": ["x > y"], "wer": ["y > x"]}),
    ("|Model|Z \u2193|B \u2191|\n|--|--|--|\n|x|1|1|\n|y|2|2|\n", {"Z \u2193": ["x > y"], "B \u2191": ["y > x"]}),
    ("Model;A;B\nx;1;2\ny;2;1\n", {"A": ["y > x"], "B": ["x > y"]}),  # tasks called as battles' columns
    ("vendor,product,t\nO,x,1\nO,y,2\n", {"t": ["y > x"]}),
    ("date,system_name,t\n2024-01-01,x,1\n2024-01-02,y,2\n", {"t": ["y > x"]}),
    ("model,acc,acc_std,n_total,votes\nx,1,9,9,9\ny,2,1,1,1\n", {"acc": ["y > x"]}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "votes"), SCORED)
def test_scores_as_people_write_them(text: str, votes: dict[str, list[str]]) -> None:
    assert votes_of(read(text)) == votes


def test_failed_runs_are_a_question() -> None:
    long = "solver,instance,runtime\nx,i,1.5\ny,i,timeout\n"
    wide = "solver,i seconds\nx,oom\ny,timeout\nz,3\n"
    for text in (long, wide, "solver,i\nx,timeout\ny,inf\n"):
        with pytest.raises(DataError, match=r"expected a number, or --failures last .* or --failures absent"):
            read(text)
    assert votes_of(read(long, failures="last")) == {"all items": ["x > y"]}
    assert votes_of(read(long, failures="absent")) == {"all items": ["x"]}
    assert votes_of(read(wide, failures="last")) == {"i seconds": ["z > x = y"]}


def test_an_agent_by_number_is_named_by_its_column() -> None:
    text = "id,mmlu,arc\n1,1,2\n2,2,1\n"
    assert votes_of(read(text, columns={"agent": "id"})) == {"mmlu": ["2 > 1"], "arc": ["1 > 2"]}


def test_options_that_have_no_meaning_for_a_table_are_refused() -> None:
    with pytest.raises(OptionError, match="metric must be left out: this table holds no scores"):
        read("model_a,model_b,winner\nx,y,tie\n", metric="acc")
    with pytest.raises(OptionError, match="lower_is_better must be left out where scores have weights"):
        read("model,task,score,weight\nx,t,1,2\ny,t,2,2\n", lower_is_better="t")


@pytest.mark.parametrize(
    "content",
    [
        {"data": [{"model": "x", "mmlu": 1}, {"model": "y", "mmlu": 2}]},
        {"model": ["x", "y"], "mmlu": [1, 2]},
        {"model": {"0": "x", "1": "y"}, "mmlu": {"0": 1, "1": 2}},
    ],
)
def test_tables_in_json(content: object) -> None:
    assert votes_of(read(json.dumps(content), "x.json")) == {"mmlu": ["y > x"]}


# What is wrong, and the way out

WRONG = [
    ("model_a,model_b,outcome\nx,y,left side\n", "outcome is 'left side'; expected 1-0"),
    ("model_a,model_b,opinion\nx,y,m\n", "--column winner=opinion"),
    ("model_a,model_b,verdict\nx,y,m\n", "verdict is 'm'; expected 1-0"),
    ("winner,other\nx,y\n", "there is 'winner', but no two columns of agents"),
    ("model,task,zork\nx,t,1\n", "but no column is the score .*--column score=zork"),
    ("task,score\nt,1\n", "but no column is the agent"),
    ("white,black,result\nA,B,1-2\n", r"x\.csv:2: result is '1-2'; expected 1-0, 0-1 or 1/2-1/2"),
    ("white,black,result\nA,B,2\n", r"x\.csv:2: result is '2'; .*a number from 0 to 1"),
    ("white,black,result\nA,A,1-0\n", "'A' against itself"),
    ("a,b,winner_a,winner_b,winner_tie\nA,B,1,1,0\n", "2 of winner_a, winner_b, winner_tie are 1; expected exactly"),
    ("model,t\nx,1\nx,2\n", r"x\.csv:3: agent 'x' appears twice in a wide table; expected once, or a column"),
    ("model,t\nx,1\ny,2\nz,bad\n", r"x\.csv:4: t is 'bad'; expected a number as in the rows around it"),
    ("model,question_id,score\nx,,1\n", "question_id is blank; expected the item"),
    ("model,question_id,score\nx,1,high\n", "score is 'high'; expected a number"),
    ('{"results_of_ours": {"x": 1}}', r"JSON of no format that is known \(keys 'results_of_ours'\).*sco formats"),
    ("[1, 2]", "entry 1: 1; expected an object"),
    ('{\n "a": 1,\n "b": \n}', r"x:4: not JSON"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "words"), WRONG)
def test_what_is_missing_is_named(text: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        read(text, "x" if text[0] in "{[" else "x.csv")


CELLS = ["x", "y", "1", "0,5", "1,234", "85%", "-", "", "inf", "1-0", "\u00e9|"]
TITLES = ["model", "model_a", "model_b", "white", "black", "result", "score", "task", "item", "seed", "mean", "t", ""]


@fuzz
@THOROUGH
@given(
    st.lists(st.lists(st.sampled_from(CELLS), min_size=3, max_size=3), min_size=1, max_size=4),
    st.lists(st.sampled_from(TITLES), min_size=3, max_size=3, unique=True),
    st.sampled_from([",", "\t", ";", "|"]),
)
def test_any_table_is_read_or_refused(rows: list[list[str]], header: list[str], delimiter: str) -> None:
    lines = [delimiter.join(f'"{cell}"' if delimiter == "," else cell for cell in row) for row in [header, *rows]]
    lines[1:1] = ["---|---|---"] if delimiter == "|" else []
    try:
        profile = read("\n".join(lines), "x")
    except DataError as error:
        assert str(error).startswith("x:"), error
    else:
        assert profile.n_votes > 0
