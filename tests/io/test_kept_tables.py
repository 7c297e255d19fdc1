"""Tables as people keep them: how numbers are written in cells, several header rows, totals, ranks, tasks in rows."""

from __future__ import annotations

from math import isnan

import pytest
from helpers.reading import Named, notes, votes_of
from helpers.samples import workbook
from hypothesis import given, strategies as st

import softcondorcet as sc
from softcondorcet.io.metric_names import higher_is_better
from softcondorcet.io.number_text import read_numbers

CELLS: dict[str, float] = {
    "71.2 ± 0.4": 71.2, "71.2±0.4%": 71.2, "71.2 +/- .4": 71.2, "71.2 (0.4)": 71.2, "71.2(±0.4)": 71.2,
    "65.0 [64.1, 66.0]": 65, "65.0 [64.1; 66.0]": 65, "65 (64.1-66)": 65, "0.5 (0.4 to 0.6)": 0.5,
    "**71.2**": 71.2, "<b>71.2</b>": 71.2, "71.2<sup>†</sup>": 71.2, "~~70~~": 70, "71.2*": 71.2, "71.2 ↑": 71.2,
    r"\textbf{71.2}": 71.2, r"$69.1_{\pm 0.3}$": 69.1, r"\underline{\textbf{7.5}}": 7.5, r"{\bf 7.5}": 7.5,
    r"$71.2 \pm 0.4$": 71.2, r"71.2\%": 71.2,
    "1.2k": 1200, "3.4M": 3.4e6, "1.5B": 1.5e9, "12/20": 0.6, "350 ms": 0.35, "1.5s": 1.5, "2 min": 120,
    "$30": 30, "30 €": 30, "1,234.5": 1234.5, "\u22123": -3,
    "2nd": 2, "#3": 3, "11th": 11,
}  # fmt: skip


@pytest.mark.parametrize("cell", CELLS)
def test_a_number_as_people_write_it(cell: str) -> None:
    found = read_numbers([cell], False)
    assert found is not None and found.values == [pytest.approx(CELLS[cell], rel=1e-15)]


@pytest.mark.parametrize(
    "cell", ["12 apples", "v1.2", "1.2.3.4", "20/12", "1/0", "7B-chat", "10:30", "a", "1m", "2024-01-02"]
)
def test_what_is_no_number(cell: str) -> None:
    assert read_numbers([cell], False) is None


@given(st.text(alphabet="0123456789.,%±()[]{}\\$#*_/kmsMB<>-+ ab", max_size=12))
def test_any_cell_is_a_finite_number_or_none(cell: str) -> None:
    found = read_numbers([cell], False)
    assert found is None or all(isnan(value) or abs(value) < float("inf") for value in found.values)


def test_times_and_places_do_not_mix_with_plain_numbers() -> None:
    assert read_numbers(["350 ms", "2"], False) is None
    assert read_numbers(["1st", "2"], False) is None


TABLES: dict[str, dict[str, list[str]]] = {
    # Two header rows: repeated and merged cells above.
    ",R,R,C\nModel,MMLU,GSM8K,MBPP\nx,2,2,1\ny,1,1,2\n": {"MMLU": ["x > y"], "GSM8K": ["x > y"], "MBPP": ["y > x"]},
    "Model,R,,C\n,MMLU,ARC,MBPP\nx,2,2,1\ny,1,1,2\n": {"MMLU": ["x > y"], "ARC": ["x > y"], "MBPP": ["y > x"]},
    "Model,R,,C,\n,dev,test,dev,test\nx,2,2,1,1\ny,1,1,2,2\n": {
        "R / dev": ["x > y"], "R / test": ["x > y"], "C / dev": ["y > x"], "C / test": ["y > x"],
    },
    "# exported today, by me\nmodel,task,score\nx,t,2\ny,t,1\n": {"t": ["x > y"]},
    "Model  MMLU  ARC\nx      2     1\ny      1     2\n": {"MMLU": ["x > y"], "ARC": ["y > x"]},
    # Rows and columns that sum up others.
    "Model,MMLU\nx,2\ny,1\nTotal,3\nAverage,1.5\n": {"MMLU": ["x > y"]},
    "Model,Global Average,Coding Average\nx,2,1\ny,1,2\n": {"Coding Average": ["y > x"]},
    "Model,IFEval Raw,IFEval\nx,.2,20\ny,.1,10\n": {"IFEval": ["x > y"]},
    "model,task,score\nx,t,2\ny,t,1\nx,Average,1\ny,Average,2\n": {"t": ["x > y"]},
    # Ranks are better when low, whether the column or the cells say so; a cost is, whatever stands in brackets.
    "Model,MMLU rank\nx,1\ny,2\n": {"MMLU rank": ["x > y"]},
    "Model,MMLU,ARC\nx,1st,#2\ny,2nd,#1\n": {"MMLU": ["x > y"], "ARC": ["y > x"]},
    "Model,Cost ($/1M tokens),Speed [t]\nx,8,5\ny,30,4\n": {"Cost ($/1M tokens)": ["x > y"], "Speed [t]": ["x > y"]},
    # What counts rows, numbers them, or says how sure another column is.
    "Unnamed: 0,model,mmlu,lower,upper,n,Δ\n0,x,2,1,3,9,1\n1,y,1,0,2,10,2\n": {"mmlu": ["x > y"]},
    "Model,t1,t2\nx,✓,✗\ny,✗,✗\n": {"t1": ["x > y"], "t2": ["x = y"]},
    "Model,MMLU,Memory Usage (MB)\nx,2,Unknown\ny,1,70\n": {"MMLU": ["x > y"]},
    # Tasks in rows, with their metric in a column, or without a title.
    "Benchmark,Metric,x,y\nMMLU,acc,2,1\nWiki,ppl,5,6\nAverage,,3,4\n": {"MMLU": ["x > y"], "Wiki": ["x > y"]},
    ",x,y\nMMLU,2,1\nGSM8K,1,2\n": {"MMLU": ["x > y"], "GSM8K": ["y > x"]},
    "||Benchmark (Metric)|# Shots|x|y|\n|--|--|--|--|--|\n||BBH (EM)|3-shot|2|1|\n|Math|GSM (EM)|8-shot|1|2|\n": {
        "BBH (EM)": ["x > y"], "GSM (EM)": ["y > x"],
    },
}  # fmt: skip


@pytest.mark.parametrize("text", TABLES)
def test_scores(text: str) -> None:
    name = "x.csv" if text.startswith("#") else "x.txt"
    assert votes_of(sc.read(Named(text.encode(), name))) == TABLES[text]


def test_what_was_left_out_is_said() -> None:
    said = notes(sc.read(Named(b"Model,MMLU\nx,2\ny,1\nTotal,3\n", "x.csv")))
    assert "left out: rows that sum up others: 'Total' (1)" in said and "blank" not in said
    said = notes(sc.read(Named(b"model,task,score\nx,t,2\ny,t,1\nx,Average,1\n", "x.csv")))
    assert "no tasks, as they sum up others: 'Average'; --task NAME takes one" in said
    both = sc.read(Named(b"model,task,score\nx,t,2\ny,t,1\nx,Average,1\n", "x.csv"), tasks=["t", "Average"])
    assert set(votes_of(both)) == {"t", "Average"}


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("mean reciprocal rank", True),
        ("Rank@1", True),
        ("average rank", False),
        ("rank correlation", True),
        ("t (lower is better)", False),
    ],
)
def test_direction_by_name(name: str, answer: bool) -> None:
    assert higher_is_better(name) is answer


def test_ballots_with_a_column_for_each_place() -> None:
    expected = {"": ["1 x > y", "1 y > x > z"]}
    for titles in ("1st,2nd,3rd", "choice 1,choice 2,choice 3", "rank_1,rank_2,rank_3"):
        profile = sc.read(Named(f"voter,{titles}\nv,y,x,z\nw,x,y,\n".encode(), "x.csv"))
        assert (votes_of(profile), profile.kind, profile.voters) == (expected, "election", ("v", "w"))
    scores = sc.read(Named(b"model,rank 1,rank 2\nx,2,1\ny,1,2\n", "x.csv"))
    assert scores.score is not None  # numbers are no names


def test_an_export_of_promptfoo_as_csv() -> None:
    text = 'topic,"[a:x] say {{t}}","[b:y] say {{t}}"\n1,[PASS] ok,[FAIL] (0.25) no\n2,[ERROR] late,[PASS] (1.00) ok\n'
    profile = sc.read(Named(text.encode(), "x.csv"))
    assert votes_of(profile) == {"": ["1 a:x > b:y", "1 b:y"]} or votes_of(profile) == {
        "promptfoo": ["a:x > b:y", "b:y"]
    }
    assert profile.score is not None and profile.score.tolist() == [1.0, 0.25, 1.0]
    assert "gave no answer (1)" in notes(profile)


def test_a_workbook_with_merged_titles_and_a_row_of_totals() -> None:
    rows: list[list[str | float | None]] = [["Model", "R", None, "C"], [None, "MMLU", "ARC", "MBPP"]]
    rows += [["x", 2, 2, "1.5 ± 0.1"], ["y", 1, 1, "2.5 ± 0.1"], ["Mean", 1.5, 1.5, "2"]]
    profile = sc.read(Named(workbook(rows), "x.xlsx"))
    assert votes_of(profile) == {"MMLU": ["x > y"], "ARC": ["x > y"], "MBPP": ["y > x"]}
