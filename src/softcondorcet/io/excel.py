"""Workbooks: a sheet of an ``.xlsx``, ``.xls`` or ``.ods`` as a table. Needs the extra ``excel`` (python-calamine).

The first sheet that holds a table is read, or the one named after ``::``; other sheets are named in a note.
"""

from __future__ import annotations

import io
import re
import zipfile
from typing import Any

from softcondorcet.checks import near
from softcondorcet.errors import DataError
from softcondorcet.formatting import some
from softcondorcet.installation import needs
from softcondorcet.io.archives import BLOCK, BROKEN
from softcondorcet.io.cells import Table
from softcondorcet.io.delimited import titles_of_two
from softcondorcet.io.input_files import InputFile

_CELLS = 20_000_000
# The place of a cell beyond column Z or row 9,999, or such a row.
_FAR = re.compile(rb"""\br\s*=\s*["'](?=[A-Za-z]{2}|[A-Za-z]?\d{5})([A-Za-z]*)(\d{0,20})""")


def is_workbook(source: InputFile) -> bool:
    """A zip with a workbook inside, or an old ``.xls`` by its first bytes."""
    if source.members is not None:
        return any(name in source.members for name in ("xl/workbook.xml", "xl/workbook.bin")) or source.suffix == ".ods"
    return source.head[:8] == b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def parse_workbook(source: InputFile, sheet: str | None = None) -> tuple[Table, list[str]]:
    """The table of a sheet, and the names of the other sheets with one."""
    needs("python_calamine", "excel")
    import python_calamine

    if source.members is not None:
        try:
            with source.unzip() as archive:  # refuses what unpacks to far more than a table
                _refuse_far_cells(source.name, archive)
        except BROKEN as error:
            raise source.broken(error) from None
    try:
        book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(source.read()))
        names = book.sheet_names
        if sheet is not None and sheet not in names:
            hint = near(sheet, names)
            raise DataError(f"{source.name}::{sheet}: no such sheet; expected one of {some(names, 12)}{hint}")
        found = {}
        for name in [sheet] if sheet is not None else names:
            rows = _rows(book.get_sheet_by_name(name), f"{source.name}::{name}")
            if len(rows) > 1:
                found[name] = rows
    except BaseException as error:  # whatever the library raises, the file is what is wrong
        panic = type(error).__name__ == "PanicException"  # of Rust, which is no Exception
        if isinstance(error, DataError) or not (panic or isinstance(error, Exception)):
            raise
        raise DataError(f"{source.name}: not a workbook that can be read ({str(error)[:100]})") from None
    if not found:
        raise DataError(f"{source.name}: no sheet with a header and rows; expected a table")
    chosen, *others = found
    return _table(found[chosen], f"{source.name}::{chosen}"), others


def _refuse_far_cells(name: str, archive: zipfile.ZipFile) -> None:
    """An error for a sheet with cells so far out that the library would end the process for want of memory."""
    for member in archive.namelist():
        if not member.lower().endswith(".xml"):
            continue
        width = height = 1
        rest = b""
        with archive.open(member) as stream:
            while block := stream.read(BLOCK):
                for found in _FAR.finditer(rest + block):
                    width = max(width, _column_number(found[1]))
                    height = max(height, int(found[2] or 1))
                rest = block[-100:]
        if width * height > _CELLS:
            raise DataError(f"{name}: {member} has cells up to row {height:,}; expected at most {_CELLS:,} cells")


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters.upper():
        number = 26 * number + letter - 64
    return number


def _rows(sheet: Any, name: str) -> list[tuple[int, list[Any]]]:
    if sheet.total_height * sheet.total_width > _CELLS:
        raise DataError(f"{name}: {sheet.total_height:,} x {sheet.total_width:,} cells; expected at most {_CELLS:,}")
    rows = sheet.to_python(skip_empty_area=False)
    return [(number, row) for number, row in enumerate(rows, 1) if any(cell != "" for cell in row)]


def _table(rows: list[tuple[int, list[Any]]], name: str) -> Table:
    (_, header), *body = rows
    if len(body) > 1 and (titles_of := titles_of_two(header, body[0][1], body[1][1])):
        header, body = titles_of, body[1:]
    filled = [k for k in range(len(header)) if header[k] != "" or any(row[k] != "" for _, row in body)]
    titles = [str(header[k]).strip() for k in filled]
    twice = next((title for title in titles if title and titles.count(title) > 1), None)
    if twice is not None:
        raise DataError(f"{name}: column {twice!r} stands twice in the header; expected once")
    columns = {
        title: [row[k] if row[k] != "" else None for _, row in body] for title, k in zip(titles, filled, strict=True)
    }
    return Table(name, columns, lambda row: f"{name}: row {body[row][0]}")
