"""The table in the bytes of a file: csv, tsv, lines of JSON, JSON, Markdown, Excel or Parquet."""

from __future__ import annotations

from collections.abc import Collection

from softcondorcet.errors import DataError
from softcondorcet.io import delimited
from softcondorcet.io.cells import Table
from softcondorcet.io.excel import is_workbook, parse_workbook
from softcondorcet.io.input_files import decode, in_memory, load, suffix_of
from softcondorcet.io.parquet import PARQUET, parse_parquet
from softcondorcet.io.preflib import TYPES
from softcondorcet.io.tables import json_table, text_table

# The format that a suffix says, of votes and of tables.
SUFFIXES = {
    **{name: name for name in (*TYPES, "csv", "tsv", "jsonl", "parquet", "json", "md", "xlsx")},
    "ndjson": "jsonl",
    "xls": "xlsx",
}


def table_in(
    data: bytes, name: str, format: str | None = None, sheet: str | None = None
) -> tuple[Table, bool | None, Collection[str]]:
    """The table in a file, what a lone ``1,234`` is in it, and what to say of it."""
    format = format or SUFFIXES.get(suffix_of(name)) or ("parquet" if data[:4] == PARQUET else None)
    if format == "parquet":
        return parse_parquet(data, name), None, ()
    file = in_memory(name.removesuffix(".gz"), data)
    if format == "xlsx" or (format is None and is_workbook(file)):
        table, others = parse_workbook(file, sheet)
        return table, False, [f"read {table.name}; other sheets: {', '.join(others)}"] if others else []
    text = text_in(data, name)
    first = text.lstrip().partition("\n")[0].strip()
    alone = first == text.strip()  # one object may be a line of .jsonl, if it is flat, or the whole of a document
    nested = alone and ("{" in first[1:] or "[" in first)
    if format == "jsonl" or (format is None and first.startswith("{") and first.endswith("}") and not nested):
        return delimited.parse_jsonl(text, name), None, ()
    if format == "json" or (format is None and first.startswith(("{", "["))):
        return json_table(load(data, name), name), None, ()
    return text_table(text, name, format)


def text_in(data: bytes, name: str) -> str:
    """The bytes as text."""
    text = decode(data, name)
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise DataError(f"{name}:{line}: a NUL byte; expected text in UTF-8")
    return text
