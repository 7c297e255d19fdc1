"""Arena-Hard: judgments (jsonl), two games each, in which a model and a baseline swap sides.

In the first game A is the baseline, in the second A is the model. Each game is half a vote; ``A>>B`` counts three
times ``A>B``, as Arena-Hard itself does. So two equal verdicts make a win, two opposite ones a tie, and a tie beside a
win a share of three quarters. Games without a verdict are left out and counted.
"""

from __future__ import annotations

from typing import Any

from softcondorcet.errors import DataError
from softcondorcet.io.input_files import InputFile, brief
from softcondorcet.io.logs.common import get, text_or_none
from softcondorcet.io.logs.verdicts import graded, joined
from softcondorcet.io.records import Battles, Format, Options, name_of

BASELINE = "baseline"


def recognise(source: InputFile) -> bool:
    first = source.first or {}
    return "games" in first and "model" in first and "judge" in first


def read(files: list[InputFile], options: Options) -> Battles:
    battles = Battles("Arena-Hard")
    unnamed = 0
    for file in files:
        for line, row in file.rows():
            place = file.place(line)
            model = name_of(row.get("model"), place, "model")
            baseline = row.get("baseline")
            unnamed += baseline is None
            baseline = BASELINE if baseline is None else name_of(baseline, place, "baseline")
            games = get(row, place, "games", list, "a list of two games")
            if model == baseline:
                battles.left_out["judgments of the baseline against itself"] += 1
                continue
            verdicts = []
            for k, game in enumerate(games):
                verdict = _verdict(game, f"{place}: game {k}")
                if verdict is None:
                    battles.left_out["games without a verdict"] += 1
                    continue
                share, weight = verdict
                verdicts.append((share if k % 2 else 1 - share, weight))
            if verdicts:
                share, weight = joined(verdicts, max(len(games), 2))
                columns = {key: text_or_none(row.get(key)) for key in ("judge", "category")}
                battles.add(model, baseline, share, weight, **columns)
            elif not games:
                battles.left_out["judgments without a game"] += 1
    if unnamed:
        battles.notes.append(f"{unnamed:,} judgments name no baseline; it is called {BASELINE!r} here")
    return battles


def _verdict(game: Any, place: str) -> tuple[float, float] | None:
    """Share of a win for A and weight, or None where the judge gave no verdict."""
    if game is None:
        return None
    if not isinstance(game, dict) or "score" not in game:
        raise DataError(f"{place}: {brief(game)}; expected an object with score")
    score = game["score"]
    if score is None or (isinstance(score, str) and not score.strip()):
        return None
    found = graded(score) if isinstance(score, str) else None
    if found is None:
        raise DataError(f"{place}: score is {brief(score)}; expected A>>B, A>B, A=B, B>A, B>>A or null")
    return found


FORMAT = Format(
    name="arena_hard",
    title="Arena-Hard: model_judgment/*.jsonl",
    recognise=recognise,
    read=read,
    vote="a judgment, its two games half a vote each; strong verdicts have weight 3",
    leaves_out="games without a verdict",
    example="sco rank model_judgment/",
)
