"""Columns about each vote in a table: weight, group, time, voter, and any other with one value for each vote.

Columns that play no role are read when they are asked for (``Profile.columns``).
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softcondorcet.arrays import Floats, Ints
from softcondorcet.columns import VOTER, Column, Columns, Maker
from softcondorcet.errors import DataError
from softcondorcet.io.cells import Table, encode, is_blank, read_name, read_number, read_time, read_weight, shown
from softcondorcet.io.column_names import GROUP, TIME, option

Fields = dict[str, Any]

# Columns without a role: so many are kept, of so many names each, with texts of so many letters in the mean.
MOST_COLUMNS, MOST_NAMES, LONG_TEXT = 64, 10_000, 100
# A number, not a name made of digits such as 007; and not so large that its last digits are lost.
NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)?(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
EXACT = 2.0**53
METADATA = "conv_metadata"


@dataclass(frozen=True)
class Roles:
    """The columns that the caller named for what is about a vote: None is found by name, the empty text is none."""

    weight: str | None = None
    group: str | None = None
    when: str | None = None
    voter: str | None = None
    keep: Collection[str] = ()


@dataclass(frozen=True)
class VoteRows:
    """Which rows of a table make which vote: the number of the vote in each row, None where every row is a vote."""

    table: Table
    vote: Ints | None = None

    @cached_property
    def first(self) -> Ints:
        """The first row of each vote."""
        if self.vote is None:
            return np.arange(self.table.n_rows)
        first = np.empty(int(self.vote.max(initial=-1)) + 1, dtype=np.int64)
        first[self.vote[::-1]] = np.arange(len(self.vote))[::-1]
        return first

    @property
    def n_votes(self) -> int:
        return self.table.n_rows if self.vote is None else len(self.first)

    def per_vote(self, value: NDArray[Any]) -> NDArray[Any] | None:
        """The value of each vote; None where the rows of some vote differ."""
        if self.vote is None:
            return value
        each = value[self.first]
        return each if np.array_equal(value, each[self.vote], equal_nan=value.dtype.kind == "f") else None

    def one_value(self, column: str, value: NDArray[Any]) -> NDArray[Any]:
        """The value of each vote, which must be the same on all its rows."""
        found = self.per_vote(value)
        if found is not None:
            return found
        assert self.vote is not None
        there = self.first[self.vote]
        row = int(np.argmax(value != value[there]))
        cells = self.table.column(column)
        expected, got = (cells.values[cells.codes[k]] for k in (there[row], row))
        raise DataError(
            f"{self.table.place(row)}: {column} is {shown(got)}; expected {shown(expected)} as at "
            f"{self.table.place(int(there[row]))}, one value for each vote"
        )


def about_votes(rows: VoteRows, roles: Roles, used: list[str], weights: tuple[str, ...]) -> Fields:
    """Weight, group, time and voter of each vote, and its other columns: one value for all rows of a vote."""
    table, fields = rows.table, Fields(weight=np.ones(rows.n_votes), group_by=None)
    columns: dict[str, Column | Maker] = {}
    weight = option(table, roles.weight, weights, used, "weight")
    used = [*used, weight] if weight else list(used)
    group = option(table, roles.group, GROUP, used, "group")  # may be the voter, too
    when = option(table, roles.when, TIME, used, "when")
    used += [when] if when else []
    voter = option(table, roles.voter, (VOTER,), used, "voter")
    used += [voter] if voter else []
    if weight:
        fields["weight"] = rows.one_value(weight, table.numbers(weight, read_weight))
    if group:
        with _may_be_left_out("group", roles.group):
            (codes,), names = encode(table, group)
            columns[group] = Column(rows.one_value(group, codes), names)
            fields["group_by"] = group
    if when:
        with _may_be_left_out("when", roles.when):
            fields["when"] = rows.one_value(when, table.numbers(when, read_time))
    if voter:
        columns[VOTER] = _voters(rows, voter, named=roles.voter is not None)
    keep = {table.need(name) for name in roles.keep if table.find(name)}
    others = [name for name in table.columns if name not in columns and (name not in used or name in keep)]
    fields["columns"] = Columns({**columns, **other_columns(rows, others, keep)})
    return fields


@contextmanager
def _may_be_left_out(role: str, given: str | None) -> Iterator[None]:
    """An error in a column that was found by its name, not asked for, says how to do without it."""
    try:
        yield
    except DataError as error:
        if given is not None:
            raise
        raise DataError(f"{error}; --column {role}= leaves the column out") from None


def _voters(rows: VoteRows, column: str, *, named: bool) -> Column | Maker:
    """Who cast each vote; a column that was not named for it may turn out to say something else."""
    if not named:
        return _maker(VoteRows(rows.table.only([column]), rows.vote), column, whole=True, names=True)
    codes = rows.one_value(column, rows.table.column(column).codes)
    found = column_of(rows.table.column(column).values, codes, whole=True, names=True)
    if found is None:
        raise DataError(f"{rows.table.name}: {column} is not a column of names; expected who cast each vote")
    return found


def other_columns(rows: VoteRows, names: list[str], keep: Collection[str]) -> dict[str, Maker]:
    """Columns that play no role, to be read when they are asked for.

    At most 64, and without long texts and lists, such as prompts and conversations: but those in `keep`.
    """
    short = [name for name in names if name and (name in keep or _short(rows.table.sample(name, 100)))]
    chosen = [name for k, name in enumerate(short) if k < MOST_COLUMNS or name in keep]
    few = VoteRows(rows.table.only(chosen), rows.vote)  # the rest of the table need not stay in memory
    return {name: _maker(few, name, whole=name in keep) for name in chosen}


def entry_columns(rows: VoteRows, used: Collection[str]) -> Columns:
    """Columns whose cells differ inside a vote, such as the lane of each agent, to be read when they are asked for."""
    names = [name for name in rows.table.columns if name and name not in used and _short(rows.table.sample(name, 100))]
    names = names[:MOST_COLUMNS]
    few = rows.table.only(names)  # the rest of the table need not stay in memory
    return Columns({name: _entry_maker(VoteRows(few, rows.vote), name) for name in names})


def _entry_maker(rows: VoteRows, name: str) -> Maker:
    make = _maker(VoteRows(rows.table), name, whole=False)

    def differing() -> Column | None:
        try:
            same = rows.per_vote(rows.table.column(name).codes) is not None
        except DataError:  # lists or objects in it
            return None
        return None if same else make()

    return differing


def _short(cells: list[Any]) -> bool:
    texts = [cell for cell in cells if isinstance(cell, str)]
    nested = any(isinstance(cell, list | tuple | dict | np.ndarray) for cell in cells)
    return not nested and sum(map(len, texts)) <= LONG_TEXT * len(texts)


def _maker(rows: VoteRows, name: str, *, whole: bool, names: bool = False) -> Maker:
    def make() -> Column | None:
        numbers = None if names else rows.table.finite(name)
        if numbers is not None and (np.abs(numbers) <= EXACT).all():
            values = rows.per_vote(numbers)
            return None if values is None else Column(values=values)
        try:
            cells = rows.table.column(name)
        except DataError:  # lists or objects in it
            return None
        codes = rows.per_vote(cells.codes)
        return None if codes is None else column_of(cells.values, codes, text=rows.table.text, whole=whole, names=names)

    return make


def column_of(
    values: list[Any], codes: Ints, *, text: bool = False, whole: bool = False, names: bool = False
) -> Column | None:
    """A column of cells: of numbers where all are, else of names; None where it is neither, or has too many names.

    ``text`` says that numbers are written as text; ``whole`` that any number of names is wanted; ``names`` that
    numbers are.
    """
    numbers = None if names else _numbers(values, text)
    if numbers is not None:
        return Column(values=numbers[codes]) if not np.isnan(numbers).all() else None
    if len(values) > MOST_NAMES and not whole:
        return None
    code: dict[str, int] = {}
    try:
        place = [-1 if _missing(cell) else code.setdefault(_word(cell), len(code)) for cell in values]
    except ValueError:
        return None
    return Column(np.array(place, dtype=np.int32)[codes], tuple(code)) if code else None


def _missing(cell: Any) -> bool:
    return is_blank(cell) or (isinstance(cell, float) and cell != cell)


def _word(cell: Any) -> str:
    return str(cell).lower() if isinstance(cell, bool) else read_name(cell)


def _numbers(values: list[Any], text: bool) -> Floats | None:
    """The cells as numbers, nan where blank; None where one is no number, or is written as a name such as 007."""
    numbers = np.full(len(values), np.nan)
    for k, cell in enumerate(values):
        if _missing(cell):
            continue
        if isinstance(cell, bool) or (isinstance(cell, str) and not (text and NUMBER.fullmatch(cell.strip()))):
            return None
        try:
            numbers[k] = read_number(cell)
        except ValueError:
            return None
        if abs(numbers[k]) > EXACT and (isinstance(cell, int) or (isinstance(cell, str) and cell.strip().isdigit())):
            return None
    return numbers


def with_metadata(table: Table) -> Table:
    """The table with a column for each number in the column ``conv_metadata`` of LMArena's battles, where it has one.

    Each battle has an object such as ``{"sum_assistant_a_tokens": 310, "header_count_a": {"h1": 0, "h2": 2}, ...}``:
    tokens, headers, lists and bold text of each side. Of counts by kind, the sum.
    """
    column = table.find(METADATA)
    if column is None:
        return table
    rows = [_read_numbers(table, column, row, cell) for row, cell in enumerate(table.cells(column))]
    keys = dict.fromkeys(key for cell in rows for key in cell if table.find(key) is None)
    return table.with_columns({key: [cell.get(key) for cell in rows] for key in keys})


def _read_numbers(table: Table, column: str, row: int, cell: Any) -> dict[str, float]:
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
