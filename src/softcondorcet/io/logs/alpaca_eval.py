"""AlpacaEval: ``annotations.json``, a list of preferences of an annotator between two outputs.

A preference is 1 where the first is better and 2 where the second is; 1.5 and 0 are ties; anything between is a share
of a win for each. Null (the annotator gave no answer) is left out and counted.
"""

from __future__ import annotations

from softcondorcet.errors import DataError
from softcondorcet.io.input_files import InputFile, brief
from softcondorcet.io.logs.common import text_or_none
from softcondorcet.io.records import Battles, Format, Options, name_of, number


def recognise(source: InputFile) -> bool:
    first = source.first or {}
    return "generator_1" in first and "generator_2" in first and "preference" in first


def read(files: list[InputFile], options: Options) -> Battles:
    battles = Battles("AlpacaEval")
    for file in files:
        for line, row in file.rows():
            place = file.place(line)
            a = name_of(row.get("generator_1"), place, "generator_1")
            b = name_of(row.get("generator_2"), place, "generator_2")
            if "preference" not in row:
                raise DataError(f"{place}: preference is missing; expected a number from 1 to 2, 0 or null")
            preference = number(row["preference"])
            if preference is None and isinstance(row["preference"], float | None):
                battles.left_out["annotations without a preference"] += 1
                continue
            if preference is None or not (preference == 0 or 1 <= preference <= 2):
                raise DataError(
                    f"{place}: preference is {brief(row['preference'])}; expected a number from 1 "
                    "(the first is better) to 2 (the second is), 0 (a tie) or null"
                )
            if a == b:
                battles.left_out["annotations of a model against itself"] += 1
                continue
            share = 0.5 if preference == 0 else 2 - preference
            judge, dataset = text_or_none(row.get("annotator")), text_or_none(row.get("dataset"))
            battles.add(a, b, share, judge=judge, dataset=dataset)
    return battles


FORMAT = Format(
    name="alpaca_eval",
    title="AlpacaEval: annotations.json",
    recognise=recognise,
    read=read,
    vote="an instruction; a preference between 1 and 2 is a share of a win for each",
    leaves_out="preferences that are null",
    example="sco rank annotations.json",
)
