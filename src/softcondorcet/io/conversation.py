"""Columns from the nested ``conv_metadata`` of LMArena's battles: tokens, headers, lists and bold text of each side.

Each battle has an object such as ``{"sum_assistant_a_tokens": 310, "header_count_a": {"h1": 0, "h2": 2}, ...}``.
Numbers become columns under their own key; of counts by kind, the sum.
"""

from __future__ import annotations

import ast
import json
import math
from contextlib import suppress
from typing import Any

from softcondorcet.errors import DataError
from softcondorcet.io.cells import Table, is_blank, shown

METADATA = "conv_metadata"


def with_metadata(table: Table) -> Table:
    """The table with a column for each number in its column ``conv_metadata``, where it has one."""
    column = table.find(METADATA)
    if column is None:
        return table
    rows = [_read(table, column, row, cell) for row, cell in enumerate(table.cells(column))]
    keys = dict.fromkeys(key for cell in rows for key in cell if table.find(key) is None)
    return table.with_columns({key: [cell.get(key) for cell in rows] for key in keys})


def _read(table: Table, column: str, row: int, cell: Any) -> dict[str, float]:
    """The numbers of one object, which a csv holds as text."""
    if is_blank(cell) or (isinstance(cell, float) and math.isnan(cell)):
        return {}
    found = cell
    if isinstance(cell, str):
        for parse in (json.loads, ast.literal_eval):
            with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
                found = parse(cell)
                break
    if not isinstance(found, dict):
        raise DataError(f"{table.place(row)}: {column} is {shown(cell)}; expected an object such as {{...}}")
    numbers = {str(key): _sum(value) for key, value in found.items()}
    return {key: value for key, value in numbers.items() if value is not None}


def _sum(value: Any) -> float | None:
    """A finite number, or the sum of those in an object."""
    if isinstance(value, dict):
        parts = [_sum(part) for part in value.values() if not isinstance(part, dict)]
        return math.fsum(part for part in parts if part is not None)
    real = isinstance(value, int | float) and not isinstance(value, bool)
    with suppress(OverflowError):
        return float(value) if real and math.isfinite(value) else None
    return None
