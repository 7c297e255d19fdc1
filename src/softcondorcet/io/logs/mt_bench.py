"""MT-bench judgments of FastChat (jsonl): grades of one answer, or two games of a pair with the sides swapped.

A grade of -1 is an answer of the judge that could not be read: left out and counted. Of a pair, the same winner twice
is a win and anything else a tie, as FastChat counts; a game that ended in ``error`` leaves the pair out.
"""

from __future__ import annotations

from typing import Any

from softcondorcet.errors import DataError
from softcondorcet.io.input_files import InputFile, brief
from softcondorcet.io.logs.common import text_or_none
from softcondorcet.io.records import Battles, Format, Options, Scores, name_of, number

_SINGLE = ("question_id", "model", "judge", "score", "turn")
_PAIR = ("model_1", "model_2", "g1_winner", "g2_winner")


def recognise(source: InputFile) -> bool:
    first = source.first or {}
    return all(key in first for key in _SINGLE) or ("model_1" in first and "g1_winner" in first)


def read(files: list[InputFile], options: Options) -> Scores | Battles:
    pairs = [file for file in files if "model_1" in (file.first or {})]
    if pairs and len(pairs) < len(files):
        single = next(file for file in files if file not in pairs)
        raise DataError(
            f"{pairs[0].name} holds pairs and {single.name} single grades; expected one of both kinds: name one file"
        )
    return _pairs(pairs) if pairs else _singles(files)


def _singles(files: list[InputFile]) -> Scores:
    scores = Scores("MT-bench")
    for file in files:
        for line, row in file.rows():
            place = file.place(line)
            agent = name_of(row.get("model"), place, "model")
            question = name_of(row.get("question_id"), place, "question_id")
            score = number(row.get("score"))
            if score is None:
                raise DataError(f"{place}: score is {brief(row.get('score'))}; expected a number, or -1 for none")
            if score == -1:
                scores.left_out["grades of -1: the judge's answer could not be read"] += 1
                continue
            judge, turn = _judge(row), row.get("turn")
            item = f"{question}, turn {turn}, {judge}" if judge else f"{question}, turn {turn}"
            scores.add(agent, "mt_bench", score, item=item, judge=judge, turn=text_or_none(turn))
    return scores


def _pairs(files: list[InputFile]) -> Battles:
    battles = Battles("MT-bench")
    for file in files:
        for line, row in file.rows():
            place = file.place(line)
            a, b = (name_of(row.get(key), place, key) for key in _PAIR[:2])
            first, second = (_winner(row, key, place) for key in _PAIR[2:])
            if "error" in (first, second):
                battles.left_out["pairs in which a verdict could not be read"] += 1
                continue
            if a == b:
                battles.left_out["pairs of a model with itself"] += 1
                continue
            share = 0.5 if first != second or first == "tie" else float(first == "model_1")
            when = number(row.get("tstamp"))
            battles.add(a, b, share, judge=_judge(row), turn=text_or_none(row.get("turn")), tstamp=when)
    if any(code < 0 for code in battles.columns["tstamp"].codes) if "tstamp" in battles.columns else False:
        del battles.columns["tstamp"]  # a time for some only is none
    return battles


def _winner(row: dict[str, Any], key: str, place: str) -> str:
    winner = row.get(key)
    if winner not in ("model_1", "model_2", "tie", "error"):
        raise DataError(f"{place}: {key} is {brief(winner)}; expected model_1, model_2, tie or error")
    return str(winner)


def _judge(row: dict[str, Any]) -> str | None:
    """The judge's name; FastChat writes it with the name of the prompt, ``["gpt-4", "single-v1"]``."""
    judge = row.get("judge")
    return text_or_none(judge[0] if isinstance(judge, list) and judge else judge)


FORMAT = Format(
    name="mt_bench",
    title="MT-bench: model_judgment/*_single.jsonl and *_pair.jsonl",
    recognise=recognise,
    read=read,
    vote="a question and turn (single grades), or a pair of models on one (pairs)",
    leaves_out="grades of -1, pairs with a game in error",
    example="sco rank gpt-4_single.jsonl",
)
