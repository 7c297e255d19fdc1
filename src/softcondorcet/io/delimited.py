"""Tables in text files: csv and tsv by the csv module, jsonl line by line; and profiles as such text.

Text is read in blocks of rows and each cell becomes an integer at once, so that millions of rows fit in little memory.
The line of a row is looked for only when there is an error to report.
"""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, NoReturn

import numpy as np

from softcondorcet.arrays import Ints
from softcondorcet.errors import DataError
from softcondorcet.io.cells import Cells, Table, shown
from softcondorcet.io.number_text import read_numbers
from softcondorcet.io.profile_table import TableColumns, about_votes, plain
from softcondorcet.profile import Profile

# Rows that are coded at a time: fewer new lists than set off the garbage collector (700), which doubles the time.
BLOCK = 1 << 8


class GrowingColumn:
    """Cells that are added block by block. ``True``, ``1`` and ``1.0`` stay apart.

    Cells that cannot be told apart quickly, such as lists, make it a plain list.
    """

    def __init__(self, blank_rows: int = 0) -> None:
        self._code: defaultdict[Any, int] = defaultdict()
        self._code.default_factory = self._code.__len__
        self._blocks: list[Ints] = []
        self._list: list[Any] | None = None
        if blank_rows:
            self.add([None] * blank_rows)

    def add_texts(self, cells: Sequence[str]) -> None:
        self._add(cells)

    def _add(self, cells: Sequence[Any]) -> None:
        self._blocks.append(np.fromiter(map(self._code.__getitem__, cells), dtype=np.int32, count=len(cells)))

    def add(self, cells: Sequence[Any]) -> None:
        if self._list is None:
            keys = [cell if type(cell) is str else (type(cell), cell) for cell in cells]
            try:
                self._add(keys)
                return
            except TypeError:
                found = self.cells()
                assert isinstance(found, Cells)
                self._list = [found.values[code] for code in found.codes.tolist()]
        self._list += cells

    def cells(self) -> Cells | list[Any]:
        """What was added so far."""
        if self._list is not None:
            return self._list
        codes = np.concatenate(self._blocks) if self._blocks else np.zeros(0, dtype=np.int32)
        return Cells(codes, [key if type(key) is str else key[1] for key in self._code])


class TextColumns:
    """The columns of a table of text, which grow together."""

    def __init__(self, titles: Sequence[str]) -> None:
        self._columns = [(title, GrowingColumn()) for title in titles]

    def add(self, rows: Sequence[Sequence[str]]) -> None:
        """Some rows with a cell for each column."""
        for (_, column), cells in zip(self._columns, zip(*rows, strict=True), strict=False):
            column.add_texts(cells)

    def cells(self) -> dict[str, Cells | list[Any]]:
        """The columns by their titles."""
        return {title: column.cells() for title, column in self._columns}


def delimiter_of(text: str) -> str:
    """Comma, tab, semicolon or bar: the one that stands most often in the first line that is not blank."""
    first = text.lstrip("\r\n").partition("\n")[0]
    return max(",\t;|", key=first.count)


def one_header(text: str, delimiter: str) -> str:
    """The text with one header line where it has two or three, as pivot tables and merged cells of spreadsheets do.

    The lines are kept, as blank ones, so that places in errors stay true.
    """
    end = -1
    for _ in range(3):
        end = text.find("\n", end + 1)
        if end < 0:
            return text
    lines = text[:end].split("\n")
    try:
        first, second, third = rows = [[cell.strip() for cell in next(_csv(line, delimiter), [])] for line in lines]
    except csv.Error:  # a quoted cell of several lines
        return text
    if not len(first) == len(second) == len(third) > 1:
        return text
    # A pivot table of pandas has the tasks in its second line and the index's name in its third.
    if not first[0] and first[1] and len(set(first[1:])) == 1 and third[0] and not any(third[1:]):
        return "\n\n" + _line([third[0], *second[1:]], delimiter) + text[end:]
    if titles := titles_of_two(*rows):
        return "\n" + _line(titles, delimiter) + text[len(lines[0]) + len(lines[1]) + 1 :]
    return text


def _line(titles: list[str], delimiter: str) -> str:
    target = io.StringIO()
    csv.writer(target, delimiter=delimiter, lineterminator="").writerow(titles)
    return target.getvalue()


def titles_of_two(first: Sequence[Any], second: Sequence[Any], below: Sequence[Any]) -> list[str] | None:
    """The titles in two header rows, of which the first has merged or repeated cells; None where there is one header.

    The title is that of the second row, with that above it where titles would repeat.
    """
    above = [str(cell or "").strip() for cell in first]
    titles = [str(cell or "").strip() or name for cell, name in zip(second, above, strict=True)]
    merged = [not name or above.count(name) > 1 for name in above]
    spread = [bool(str(cell or "").strip()) for cell, one in zip(second, merged, strict=True) if one]
    if sum(merged[1:]) < 1 or not all(spread) or _has_number(second) or not _has_number(below):
        return None
    if len(set(titles)) == len(titles):
        return titles
    for k in range(1, len(above)):
        above[k] = above[k] or above[k - 1]
    return [title if title == name else f"{name} / {title}" for name, title in zip(above, titles, strict=True)]


def _has_number(row: Sequence[Any]) -> bool:
    return any(read_numbers([cell], False) is not None for cell in row if cell not in (None, ""))


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


def csv_text(columns: TableColumns, delimiter: str = ",") -> str:
    """A table as csv."""
    target = io.StringIO()
    # The csv module does not quote line ends of this kind.
    names = (name for column in columns.values() if isinstance(column, list) for name in column if name)
    odd = any("\r" in name for name in chain(columns, names))
    quoting: Any = csv.QUOTE_NONNUMERIC if odd else csv.QUOTE_MINIMAL
    writer = csv.writer(target, delimiter=delimiter, lineterminator="\n", quoting=quoting)
    writer.writerow(columns)
    writer.writerows(zip(*map(plain, columns.values()), strict=True))
    return target.getvalue()


def jsonl_text(columns: TableColumns) -> str:
    """A table as one object per row, without what is blank."""
    rows = zip(*map(plain, columns.values()), strict=True)
    return _lines_of({name: cell for name, cell in zip(columns, row, strict=True) if cell is not None} for row in rows)


def rankings_jsonl(profile: Profile) -> str:
    """One object per vote: ``ranking``, and all that the profile knows about its votes; scores in the same order."""
    columns = {name: plain(column) for name, column in about_votes(profile).items()}
    score = None if profile.score is None else plain(profile.score)

    def row(v: int, tiers: list[list[str]]) -> dict[str, Any]:
        vote: dict[str, Any] = {"ranking": [tier[0] if len(tier) == 1 else tier for tier in tiers]}
        vote |= {name: cells[v] for name, cells in columns.items() if cells[v] is not None}
        return vote if score is None else vote | {"score": score[profile.start[v] : profile.start[v + 1]]}

    return _lines_of(row(v, tiers) for v, tiers in enumerate(profile.rankings()))


def _lines_of(rows: Iterable[dict[str, Any]]) -> str:
    return "\n".join([*(json.dumps(row, ensure_ascii=False) for row in rows), ""])
