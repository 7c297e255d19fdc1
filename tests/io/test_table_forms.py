"""Tables as tools and spreadsheets export them, each with the votes in it; and wrong input, with the way out."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from click.testing import CliRunner
from helpers.reading import Named, notes, votes_of

import softcondorcet as sc
from softcondorcet.cli import main


def read(text: str | bytes, name: str = "x.csv", **options: Any) -> sc.Profile:
    profile: sc.Profile = sc.read(Named(text.encode() if isinstance(text, str) else text, name), **options)
    return profile


BATTLES = {
    "Model A,Model B,Winner\nx,y,Model A\ny,x,Tie\n": ["1 x > y", "1 x = y"],
    "response_a_model,response_b_model,label\nx,y,A\nx,y,B\nx,y,Tie\n": ["1 x > y", "1 y > x", "1 x = y"],
    "left_model,right_model,choice\nx,y,left\ny,x,right\nx,y,neither\n": ["1 x > y", "1 x > y", "1 x = y"],
    "model_1,model_2,preferred\nx,y,1\nx,y,2\n": ["1 x > y", "1 y > x"],
    "judge,model_a,model_b,verdict\nj,x,y,[[A]]\nj,x,y,[[B]]\nj,y,x,[[C]]\n": ["1 x > y", "1 y > x", "1 x = y"],
    "a,b,a_wins,b_wins,ties\nx,y,7,3,1\ny,z,0,5,\n": ["7 x > y", "3 y > x", "1 x = y", "5 z > y"],
    "model_a,model_b,wins_a,wins_b\nx,y,2,1\n": ["2 x > y", "1 y > x"],
    ",x,y,z\nx,,7,3\ny,3,,\nz,4,0,\n": ["7 x > y", "3 x > z", "3 y > x", "4 z > x"],
    "Date,Time,HomeTeam,AwayTeam,FTHG,FTAG,FTR\n2023-08-11,20:00,x,y,0,3,A\n2023-08-12,12:30,x,y,1,1,D\n": [
        "1 y > x",
        "1 x = y",
    ],
    "race,driver,position\n1,x,2\n1,y,1\n": ["1 y > x"],
    "White,Black,Result\nx,y,1 - 0\ny,x,½ \u2013 ½\nx,y,- - +\n": ["1 x > y", "1 x = y", "1 y > x"],
    "model_a,model_b,preference\nx,y,A is much better\nx,y,b is slightly better\nx,y,About the same\n": [
        "1 x > y",
        "1 y > x",
        "1 x = y",
    ],
    "model_a,model_b,preference\nx,y,model_a_much_better\ny,z,model_b_slightly_better\n": ["1 x > y", "1 z > y"],
}  # fmt: skip


@pytest.mark.parametrize("text", BATTLES)
def test_battles(text: str) -> None:
    assert votes_of(read(text)) == {"": sorted(BATTLES[text])}


SCORES: dict[str, dict[str, list[str]]] = {
    # A last row without cells, as spreadsheets leave it; a title above the table.
    "Model,MMLU,Avg\nx,2,\ny,1,\n,,\n": {"MMLU": ["x > y"]},
    "Results of May,,\n,,\nModel,MMLU,Avg\nx,2,2\ny,1,1\n": {"MMLU": ["x > y"]},
    # Ranks and means with brackets are no tasks; names in links.
    "Rank (Borda),Model,Zero-shot,Mean (Task),STS\n1,[x](https://e.org),99%,68,79\n2,y,94%,62,73\n": {"STS": ["x > y"]},
    "Rank* (UB),Model,Score\n1,<a href='https://e.org'>x</a>,9\n2,y,8\n": {"Score": ["x > y"]},
    # A score by the name of its measure; environments and algorithms.
    "model,task,latency_ms\nx,t,10\ny,t,20\n": {"t": ["x > y"]},
    "algo,env,seed,return\nx,ant,0,10\nx,ant,1,20\ny,ant,0,14\ny,ant,1,15\n": {"ant": ["x > y"]},
    "model,dataset,run,accuracy,loss\nx,d,0,.6,1.2\ny,d,0,.4,1.1\n": {"d": ["x > y"]},
    # A row for each item, a column for each measure; turns are items.
    "model,question_id,faithfulness,wer\nx,1,.9,.3\nx,2,.7,.4\ny,1,.8,.5\ny,2,.8,.4\n": {
        "faithfulness": ["x > y", "y > x"], "wer": ["x = y", "x > y"],
    },
    "model,turn,score\nx,1,9\nx,2,8\ny,1,8\ny,2,8\n": {"all items": ["x = y", "x > y"]},
}  # fmt: skip


@pytest.mark.parametrize("text", SCORES)
def test_scores(text: str) -> None:
    assert votes_of(read(text)) == SCORES[text]


def test_what_was_done_is_said() -> None:
    assert "1 line above the table left out: 'Results of May'" in notes(
        read("Results of May,,\nModel,MMLU,F1\nx,2,3\ny,1,3\n")
    )
    assert "left out: rows without any cell (1)" in notes(read("Model,MMLU\nx,2\ny,1\n,\n"))
    two = "model,dataset,run,accuracy,loss\nx,d,0,.6,1.2\ny,d,0,.4,1.1\n"
    assert "repeats in 'run' are averaged; scores in 'accuracy'; not in 'loss' (--metric NAME chooses)" in notes(
        read(two)
    )
    assert votes_of(read(two, metric="loss")) == {"d": ["y > x"]}
    assert "wins are counted in 'a_wins', 'b_wins'" in notes(read("a,b,a_wins,b_wins\nx,y,2,1\n"))


def test_runs_that_failed_are_last_or_left_out() -> None:
    text = "solver,instance,time\nx,i,10\ny,i,timeout\nz,i,inf\nw,i,\n"
    assert list(read(text, failures="last").rankings()) == [[["x"], ["y", "z"]]]
    assert list(read(text, failures="absent").rankings()) == [[["x"]]]
    with pytest.raises(sc.DataError, match=r"x\.csv:3: time is 'timeout'; expected a number, or --failures last"):
        read(text)


def test_tables_in_json() -> None:
    nested = [{"model": "x", "scores": {"mmlu": 1, "gsm": 2}}, {"model": "y", "scores": {"mmlu": 2}}]
    assert votes_of(read(json.dumps(nested), "x.json")) == {"mmlu": ["y > x"], "gsm": ["x"]}
    header = [{"value": title} for title in ("Model", "Mean win rate", "MMLU - EM")]
    rows = [[{"value": "x"}, {"value": 0.9}, {"value": 0.3}], [{"value": "y"}, {"value": 0.1}, {"value": 0.4}]]
    helm = [{"title": "Accuracy", "header": header, "rows": rows, "name": "accuracy"}]
    assert votes_of(read(json.dumps(helm), "core_scenarios.json")) == {"MMLU - EM": ["y > x"]}
    # Objects that are no scores are in no task's way.
    battle = {"model": "x", "meta": {"a": {"b": 1}}, "mmlu": 1}
    assert votes_of(read(json.dumps([battle, {**battle, "model": "y", "mmlu": 0}]), "x.json")) == {"mmlu": ["x > y"]}


# Forty wrong inputs. Each sentence says where, and names the way out: what to write, or which option to give.
CSV = "x.csv"
WRONG: list[tuple[str, str, dict[str, Any], str]] = [
    ("model_a,model_b,opinion\nx,y,m\n", CSV, {}, "no column says who won; found 'opinion': --column winner=opinion"),
    ("white,black,moves\nx,y,e4\n", CSV, {}, "'white' and 'black', but no column says who won.*--column winner="),
    ("model,t\nx,350 ms\ny,2\n", CSV, {}, "x.csv:3: t is '2'; expected numbers of one kind in a column: .* one unit"),
    ("|model|t|\n|--|--|\n|x|71.2|\n|y|70,1|\n", "x.md", {}, "x.md:4: t is '70,1'; expected numbers of one kind"),
    ("rater,model_a,model_b,rating\n1,x,y,5\n", CSV, {}, "found 'rating': --column winner=rating"),
    ("<!DOCTYPE html><table></table>", "x.html", {}, r"x\.html: HTML or XML .*; expected csv, Markdown"),
    ("a,b,p_a\nx,y,0.7\n", CSV, {}, "found 'p_a': --column winner=p_a"),
    ("winner,other\nx,y\n", CSV, {}, "no two columns of agents; found 'other': --column a=NAME --column b=NAME"),
    ("model,task,zork\nx,t,1\n", CSV, {}, "no column is the score .*found 'zork': --column score=zork"),
    ("task,score\nt,1\n", CSV, {}, "no column is the agent"),
    ("foo,bar\nx,y\n", CSV, {}, r"name yours with columns= \(--column winner=NAME\)"),
    ("game,agent,rank,score\nt,x,1,2\n", CSV, {}, r"fit more than one kind.*choose one with kind= \(--kind\)"),
    ("model_a,model_b,winner\nx,y,model_c\n", CSV, {}, "x.csv:2: winner is 'model_c'; expected 'model_a'"),
    ("model_a,model_b,winner\nx,y,\n", CSV, {}, "x.csv:2: winner is blank; expected 'model_a'"),
    ("model_a,model_b,winner\nx,x,tie\n", CSV, {}, "x.csv:2: agent 'x' meets itself; expected two different agents"),
    ("white,black,result\nx,y,2-0\n", CSV, {}, "x.csv:2: result is '2-0'; expected 1-0, 0-1 or 1/2-1/2"),
    ("a,b,winner_a,winner_b,winner_tie\nx,y,1,1,0\n", CSV, {}, "x.csv:2: 2 of .* are 1; expected exactly one"),
    ("a,b,a_wins,b_wins\nx,y,-1,2\n", CSV, {}, "x.csv:2: a_wins is '-1'; expected a number that is not negative"),
    ("model,task,score\nx,t,good\n", CSV, {}, "x.csv:2: score is 'good'; expected a finite number"),
    ("model,task,score\nx,t,1\nx,t,2\n", CSV, {}, "x.csv:3: agent 'x' appears twice.*average them first"),
    ("model,t\nx,1\nx,2\n", CSV, {}, "x.csv:3: .*expected once, or a column such as seed or run"),
    (
        "model,kind,seed,t\nx,p,0,1\nx,q,0,2\ny,p,0,1\n", CSV, {},
        "x.csv:3: agent 'x' appears twice with one seed .*--column task=kind --column score=NAME",
    ),
    ("model,t\nx,1\ny,2\nz,bad\n", CSV, {}, "x.csv:4: t is 'bad'; expected a number as in the rows around it"),
    ("model,t\nx,inf\ny,2\n", CSV, {}, "x.csv:2: t is 'inf'; expected a number, or --failures last"),
    ("model,task,zeta\nx,t,1\n", CSV, {"columns": {"score": "zeta"}}, "expected --higher-is-better zeta or --lower"),
    ("contest_id,rank,agent\n1,DNF,x\n", CSV, {}, "x.csv:2: rank is 'DNF'; expected a finite number"),
    ("contest_id,rank,agent\n1,1,x\n1,2,x\n", CSV, {}, "agent 'x' appears twice in contest_id '1', first at x.csv:2"),
    ("ranking\na > > b\n", CSV, {}, 'x.csv:2: .*expected names, best first, as in "a > b = c"'),
    ("model_a,model_b,winner,count\nx,y,a,-1\n", CSV, {}, "x.csv:2: count is '-1'; expected a number"),
    ("model_a,model_b,winner,weight,count\nx,y,a,1,1\n", CSV, {}, r"both be the weight.*--column weight=weight"),
    ("model_a,model_b,winner,date\nx,y,a,11/08/2023\n", CSV, {}, "expected an ISO 8601 time .*--column when= leaves"),
    ("", CSV, {}, "x.csv: empty; expected votes"),
    ("model_a,model_b,winner\n", CSV, {}, "x.csv: a header and no rows; expected rows below it"),
    ("model_a,model_b,winner\nx,y\n", CSV, {}, "x.csv:2: row has 2 cells; expected 3 as in the header"),
    ("model_a,model_b,winner\n\"x,y,a\n", CSV, {}, "x.csv:2: unexpected end of data; expected rows of cells"),
    ("model,Model\nx,1\n", CSV, {}, "x.csv: column 'Model' appears twice in the header; expected once"),
    (b"model,t\nx\xe9,1\n", CSV, {}, "x.csv:2: byte 0xe9 is not UTF-8; expected text in UTF-8"),  # type: ignore[list-item]
    (b"PK\x03\x04nothing", "x.xlsx", {}, r"x\.xlsx: .*; expected"),  # type: ignore[list-item]
    ('{"a": {"t": 1}, "b": {"t": 2}}', "x.json", {}, "whether agents or tasks are outside; expected a list"),
    ('{"ours": 1}', "x.json", {}, r"of no format that is known \(keys 'ours'\); .*'sco formats'"),
    ('{"a": 1,\n "b": \n}', "x.json", {}, r"x\.json:3: not JSON .*; expected"),
    ("model_a,model_b,winner,judge\nx,y,a,j\n", CSV, {"where": "judg=j"}, "no column 'judg'.*did you mean 'judge'"),
    ("model_a,model_b,winner,judge\nx,y,a,j\n", CSV, {"where": "judge=k"}, "no vote has judge=k; judge is 'j'"),
    ("model_a,model_b,winner\nx,y,a\n", CSV, {"balance": "groups"}, "balance must be left out: these votes have no"),
    ("model_a,model_b,winner\nx,y,a\n", CSV, {"columns": {"winer": "winner"}}, "must be a dict with keys among a, b"),
    ("model_a,model_b,winner\nx,y,a\n", CSV, {"unlisted": "last"}, "unlisted must be 'absent': x.csv holds battles"),
    ("1: 1,2\nhello\n", "x.soi", {}, r"x\.soi:2: .*expected"),
    ("# NUMBER VOTERS: 9\n# NUMBER ALTERNATIVES: 2\n1: 1,2\n", "x.soi", {}, "--lenient takes the votes as they stand"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "name", "options", "words"), WRONG, ids=[words[:40] for *_, words in WRONG])
def test_wrong_input_is_told_the_way_out(text: str | bytes, name: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises((sc.DataError, sc.OptionError)) as caught:
        read(text, name, **options)
    sentence = str(caught.value)
    assert re.search(words, sentence), sentence
    assert re.search(r"expected|must be|--[a-z]|did you mean|there is", sentence), sentence
    assert len(WRONG) >= 40


SLIPS = [
    (["rank", "{}", "--method", "bradly_terry"], "did you mean 'bradley_terry'"),
    (["rank", "{}", "--metod", "sco"], "Did you mean one of: '--method'"),
    (["rnak", "{}"], "did you mean 'rank'"),
    (["rank", "{}", "--set", "temprature=1"], "did you mean 'temperature'"),
    (["rank", "{}", "--where", "agent!=gpt"], "did you mean 'gpt-4'"),
    (["versus", "{}", "gpt4", "claude"], "did you mean 'gpt-4'"),
    (["rank", "{}", "--format-in", "lmeval"], "did you mean 'lm_eval'"),
    (["rank", "{}.not"], "no such file or directory; expected a file to read"),
]


@pytest.mark.parametrize(("command", "words"), SLIPS, ids=[" ".join(words[::2]) for words, _ in SLIPS])
def test_a_slip_on_the_command_line_is_asked_what_was_meant(command: list[str], words: str, tmp_path: Any) -> None:
    path = tmp_path / "battles.csv"
    path.write_text("model_a,model_b,winner\ngpt-4,claude,model_a\nclaude,gemini,tie\n")
    done = CliRunner().invoke(main, [word.format(path) for word in command])
    assert done.exit_code in (1, 2)
    assert words in done.stderr, done.stderr
