"""Conditions on votes that an engine holds: the engine filters its rows, by the rules of ``io.conditions``.

The distinct cells of a column come here and are compared as those of a file are; only the times, numbers and texts of
columns with too many cells are compared by the engine itself.
"""

from __future__ import annotations

import operator
from collections.abc import Collection
from functools import reduce
from typing import Any

import numpy as np

from softcondorcet.checks import near
from softcondorcet.errors import DataError
from softcondorcet.io.cells import Table
from softcondorcet.io.column_names import GROUP, TIME, WEIGHT
from softcondorcet.io.conditions import COMPARE, Condition, ends, meets, selected, values_of, wanted_agents
from softcondorcet.io.vote_columns import MOST_NAMES, column_of
from softcondorcet.source import Selection, Source

_ALIASES = {"when": TIME, "group": GROUP, "weight": (*WEIGHT, "n")}


def select_rows(
    table: Any, head: Table, form: str, used: list[str], where: Collection[Condition]
) -> tuple[Any, Source | None]:
    """The rows of votes that meet all conditions, and how many votes they are; `used` are the columns of the votes."""
    if not where:
        return table, None
    before, rows = _votes(table, form, used), table
    for one in where:
        met = _agents_met(rows, form, used, one, head.name) if one.of_agents else _met(table, head, one)
        if form == "contests" and not one.of_agents:
            _refuse_parts(rows, used[0], met, one, head.name)
        rows = rows.filter(met)
    found = _votes(rows, form, used)
    said = tuple(map(str, where))
    if not found:
        raise DataError(f"{head.name}: no vote meets all of {', '.join(said)}; expected at least one, so leave one out")
    return rows, Source(head.name, "", (selected(said, found, before),), Selection(said, found, before))


def _votes(table: Any, form: str, used: list[str]) -> int:
    count = table.count() if form == "battles" else table[used[0]].nunique()
    return int(count.to_pyarrow().as_py())


def _met(table: Any, head: Table, one: Condition) -> Any:
    """Whether a row meets a condition, for the engine."""
    name = head.find(one.column) or head.find(*_ALIASES.get(one.column.casefold(), (one.column,)))
    if name is None:
        hint = near(one.column, head.columns)
        raise DataError(f"{head.name}: no column {one.column!r}; there is {head.names}, agent{hint}")
    column = table[name]
    cells = column.name("cell").as_table().distinct().limit(MOST_NAMES + 1).to_pyarrow()["cell"].to_pylist()
    is_time = name.strip().casefold() in TIME
    if len(cells) > MOST_NAMES:
        return _met_in_engine(column, one, is_time, head.name)
    read = column_of(cells, np.arange(len(cells)), text=column.type().is_string(), whole=True)
    if read is None:
        raise DataError(
            f"{head.name}: {name} is blank throughout, or no column of names or numbers: {one} chooses none"
        )
    met = meets(one, read, is_time, head.name)
    if not met.any():
        raise DataError(f"{head.name}: no vote has {one}; {name} is {values_of(read, is_time, counted=False)}")
    accepted = [cell for cell, wanted in zip(cells, met.tolist(), strict=True) if wanted]
    texts = [cell for cell in accepted if cell is not None]
    return _any([*([column.isin(texts)] if texts else []), *([column.isnull()] if None in accepted else [])])


def _met_in_engine(column: Any, one: Condition, is_time: bool, place: str) -> Any:
    """The same where a column has too many cells to fetch them."""
    kind = column.type()
    text = column.strip() if kind.is_string() else None
    if one.operator in ("=", "!=") and text is not None and not is_time:
        equal = _any(
            [text.lower() == value.lower() if value else column.isnull() | (text == "") for value in one.values]
        )
        return equal if one.operator == "=" else ~equal
    numbers = [_seconds(column)] if kind.is_temporal() else [column.cast("float64")] if text is None else []
    if text is not None:
        numbers = [text.try_cast("float64"), _seconds(text.try_cast("timestamp"))]
    is_time = is_time or kind.is_temporal()
    if one.operator not in ("=", "!="):
        low, high = ends(one, one.values[0], is_time, place)
        bound = high if one.operator in (">", "<=") else low
        return _any([COMPARE[one.operator](number, bound) for number in numbers])
    periods = [ends(one, value, is_time, place) for value in one.values if value]
    equal = _any([number.between(low, high) for number in numbers for low, high in periods] or [column.isnull()])
    equal = equal | column.isnull() if "" in one.values else equal
    return equal if one.operator == "=" else ~equal


def _seconds(time: Any) -> Any:
    if time.type().is_date():
        time = time.cast("timestamp")
    return time.epoch_seconds().cast("float64") + time.microsecond() / 1e6


def _any(conditions: list[Any]) -> Any:
    """Whether one of them is met; nulls are not."""
    return reduce(operator.or_, [condition.fill_null(False) for condition in conditions])


def _agents_met(table: Any, form: str, used: list[str], one: Condition, place: str) -> Any:
    """Whether all agents of a row are wanted."""
    columns = [table[name] for name in (used[:2] if form == "battles" else used[2:3])]
    cells = {
        str(cell).strip(): None
        for column in columns
        for cell in column.name("cell").as_table().distinct().to_pyarrow()["cell"].to_pylist()
        if cell is not None
    }
    agents = tuple(sorted(cells))
    kept = wanted_agents(agents, one, place)
    names = [name for name, wanted in zip(agents, kept.tolist(), strict=True) if wanted]
    texts = [column.cast("string").strip().isin(names) for column in columns]
    return reduce(operator.and_, texts)


def _refuse_parts(table: Any, contest: str, met: Any, one: Condition, place: str) -> None:
    """A condition that only some rows of a contest meet would cut its vote."""
    flags = table.select(contest=table[contest], met=met.cast("int8"))
    sizes = flags.group_by("contest").agg(low=flags.met.min(), high=flags.met.max())
    for row in sizes.filter(sizes.low != sizes.high).limit(1).to_pyarrow().to_pylist():
        raise DataError(
            f"{place}: only some rows of {contest} {row['contest']!r} have {one}; expected one value for each vote"
        )
