"""Tables in text files: csv and tsv by the csv module, jsonl line by line; and profiles as such text.

Text is read in blocks of rows and each cell becomes an integer at once, so that millions of rows fit in little memory.
The line of a row is looked for only when there is an error to report.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from itertools import islice
from typing import Any, NoReturn

import numpy as np

from softcondorcet.arrays import Floats
from softcondorcet.columns import Column
from softcondorcet.errors import DataError
from softcondorcet.io.cells import Table, fold, shown
from softcondorcet.io.column_names import AGENT, GROUP, RANK, TIME, WEIGHT
from softcondorcet.io.growing_column import BLOCK, GrowingColumn, TextColumns
from softcondorcet.io.vote_columns import EXACT
from softcondorcet.profile import Profile

# What a reader looks for in a table of rankings.
_ROLES = {*AGENT, *RANK, *WEIGHT, *TIME, "contest_id", "ranking", "winner", "score", "higher_is_better"}


def delimiter_of(text: str) -> str:
    """Comma, tab, semicolon or bar: the one that stands most often in the first line that is not blank."""
    first = text.lstrip("\r\n").partition("\n")[0]
    return max(",\t;|", key=first.count)


def one_header(text: str, delimiter: str) -> str:
    """A pivot table of pandas has the tasks in its second line and the index's name in its third: one header of them.

    The lines are kept, as blank ones, so that places in errors stay true.
    """
    end = -1
    for _ in range(3):
        end = text.find("\n", end + 1)
        if end < 0:
            return text
    rows = text[:end].split("\n")
    first, second, third = ([cell.strip() for cell in row.rstrip("\r").split(delimiter)] for row in rows)
    same = len(first) == len(second) == len(third) > 1 and not first[0] and len(set(first[1:])) == 1
    if same and first[1] and third[0] and not any(third[1:]):
        return "\n\n" + delimiter.join([third[0], *second[1:]]) + text[end:]
    return text


def parse_csv(text: str, name: str, delimiter: str | None = None) -> Table:
    """A csv text with a header line. Blank lines are skipped; every other row must have the header's cells."""
    delimiter = delimiter or delimiter_of(text)
    reader = _csv(text, delimiter)
    try:
        header = [cell.strip() for cell in next(row for row in reader if row)]
        columns = TextColumns(header)
        n = 0
        while block := list(islice(reader, BLOCK)):
            if set(map(len, block)) != {len(header)}:
                block = [row for row in block if row]
                for i, row in enumerate(block):
                    if len(row) != len(header):
                        raise DataError(
                            f"{name}:{_Lines(text, delimiter).of(n + i)}: row has {len(row)} cells; "
                            f"expected {len(header)} as in the header"
                        )
            columns.add(block)
            n += len(block)
    except csv.Error as error:
        raise DataError(f"{name}:{reader.line_num}: {error}; expected rows of cells between {delimiter!r}") from None
    twice = next((title for k, title in enumerate(header) if title and _stands_before(title, header[:k])), None)
    if twice is not None:
        raise DataError(f"{name}: column {twice!r} appears twice in the header; expected once")
    if not n:
        raise DataError(f"{name}: a header and no rows; expected rows below it")
    lines = _Lines(text, delimiter)
    return Table(name, columns.cells(), lambda row: f"{name}:{lines.of(row)}", text=True)


def _stands_before(title: str, others: list[str]) -> bool:
    return any(title.casefold() == other.casefold() for other in others)


def _csv(text: str, delimiter: str) -> Any:
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)


class _Lines:
    """The line at which each row begins, rows below the header counted from 0. Rows asked for in turn cost one pass."""

    def __init__(self, text: str, delimiter: str) -> None:
        self.text, self.delimiter = text, delimiter
        self._begin()

    def _begin(self) -> None:
        self.reader, self.row, self.line = _csv(self.text, self.delimiter), -2, 0

    def of(self, row: int) -> int:
        if row < self.row:
            self._begin()
        while self.row < row:
            before = self.reader.line_num
            if next(self.reader):
                self.row, self.line = self.row + 1, before + 1
        return self.line


def parse_jsonl(text: str, name: str) -> Table:
    """One JSON object per line; a key that a line leaves out is blank there."""
    lines = _full_lines(text)
    columns: dict[str, GrowingColumn] = {}
    n = 0
    while rows := [json_object(line, number, name) for number, line in islice(lines, BLOCK)]:
        for key in dict.fromkeys(key for row in rows for key in row):
            if key not in columns:
                columns[key] = GrowingColumn(n)
        for key, column in columns.items():
            column.add([row.get(key) for row in rows])
        n += len(rows)
    if not columns:
        raise DataError(f'{name}: objects without keys; expected keys such as "ranking" or "model_a"')
    named = {key: column.cells() for key, column in columns.items()}
    return Table(name, named, lambda row: f"{name}:{next(islice(_full_lines(text), row, None))[0]}")


def json_object(line: str, number: int, name: str) -> dict[str, Any]:
    """The object in a line of a .jsonl file."""
    try:
        row = _JSON.decode(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{name}:{number}: not JSON ({error}); expected one object per line") from None
    if not isinstance(row, dict):
        raise DataError(f'{name}:{number}: line is {shown(row)}; expected an object such as {{"ranking": ...}}')
    return row


def _full_lines(text: str) -> Iterator[tuple[int, str]]:
    return ((number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip())


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        raise ValueError("a key appears twice")
    return row


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number")


_JSON = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_constant)


def csv_of(profile: Profile, delimiter: str = ",") -> str:
    """``contest_id, rank, agent`` rows, with all that the profile knows about its votes."""
    vote = np.repeat(np.arange(profile.n_votes), profile.length)
    columns: dict[str, list[Any]] = {
        "contest_id": (vote + 1).tolist(),
        "rank": (profile.tier + 1).tolist(),
        "agent": [profile.agents[k] for k in profile.agent.tolist()],
    }
    votes = vote.tolist()
    for name, cells in _about_votes(profile).items():
        columns[name] = [cells[v] for v in votes]
    if profile.score is not None:
        columns["score"] = _numbers(profile.score)
    for name, column in profile.entry_columns.items():
        if fold(name) not in {*map(fold, columns), *_ROLES}:
            columns[name] = _cells(column)
    target = io.StringIO()
    writer = csv.writer(target, delimiter=delimiter, lineterminator="\n")
    # The csv module does not quote these.
    if any("\r" in name for name in (*columns, *profile.agents, *_names(profile))):
        writer = csv.writer(target, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return target.getvalue()


def jsonl_of(profile: Profile) -> str:
    """One object per vote: ``ranking``, and all that the profile knows about its votes; scores in the same order."""
    columns = _about_votes(profile)
    score = None if profile.score is None else _numbers(profile.score)
    lines = []
    for v, tiers in enumerate(profile.rankings()):
        row: dict[str, Any] = {"ranking": [tier[0] if len(tier) == 1 else tier for tier in tiers]}
        row |= {name: cells[v] for name, cells in columns.items() if cells[v] is not None}
        if score is not None:
            row["score"] = score[profile.start[v] : profile.start[v + 1]]
        lines.append(json.dumps(row, ensure_ascii=False))
    return "\n".join([*lines, ""])


def _about_votes(profile: Profile) -> dict[str, list[Any]]:
    """Weight, group, time, voter, other columns and direction of scores of each vote: those that it has.

    A column without a role whose name a reader would take for one gets a line below its name.
    """
    columns: dict[str, list[Any]] = {}
    if (profile.weight != 1).any():
        columns["weight"] = [_short(weight) for weight in profile.weight.tolist()]
    group = profile.group_by if profile.group_by and profile.group_by.casefold() in GROUP else "group"
    if profile.group is not None:
        columns[group] = [profile.groups[k] for k in profile.group.tolist()]
    if profile.when is not None:
        columns["when"] = [_short(when) for when in profile.when.tolist()]
    taken = {*_ROLES, *([group.casefold()] if profile.group is not None else [])}
    for name, column in profile.columns.items():
        if name != profile.group_by:
            free = name
            while free.casefold() in taken:
                free += "_"
            taken.add(free.casefold())
            columns[free] = _cells(column)
    if profile.higher_is_better is not None:
        columns["higher_is_better"] = profile.higher_is_better.astype(int).tolist()
    return columns


def _cells(column: Column) -> list[Any]:
    return column.cells() if column.values is None else _numbers(column.values)


def _names(profile: Profile) -> list[str]:
    both = (*profile.columns.values(), *profile.entry_columns.values())
    return [name for column in both for name in column.names]


def _numbers(values: Floats) -> list[float | int | None]:
    """Numbers as they are read again, None for nan; whole ones without a point where no digit is lost."""
    return [None if x != x else int(x) if x.is_integer() and abs(x) < EXACT else x for x in values.tolist()]


def _short(number: float) -> float | int:
    return int(number) if number.is_integer() else number
