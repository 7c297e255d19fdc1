"""A table of pairs of agents, such as the fixtures of a league: two columns, one row for each pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from softcondorcet.checks import near, short
from softcondorcet.errors import DataError
from softcondorcet.formatting import plural
from softcondorcet.io.cells import Table, as_table, read_name
from softcondorcet.io.input_files import whole_file
from softcondorcet.io.outcomes import PLAYERS
from softcondorcet.io.tables import table_in


def read_pair_list(source: Any, agents: Sequence[str]) -> list[tuple[str, str]]:
    """The pairs in a file or frame, row by row; an error with its place for one that is no two of the agents."""
    table = table_in(*_named(source))[0] if isinstance(source, str) else as_table(source).renamed("pairs")
    known, columns = set(agents), []
    for column in _columns(table):
        names = table.read(column, read_name)
        codes = table.column(column).codes.tolist()
        for row, code in enumerate(codes):
            if names[code] not in known:
                listed = f"no agent {short(names[code])} among {plural(len(agents), 'agent')}"
                raise DataError(f"{table.place(row)}: {listed} of the votes{near(names[code], agents)}")
        columns.append([names[code] for code in codes])
    pairs = list(zip(*columns, strict=True))
    for row, (a, b) in enumerate(pairs):
        if a == b:
            raise DataError(f"{table.place(row)}: agent {a!r} against itself; expected two different agents")
    return pairs


def _named(path: str) -> tuple[bytes, str]:
    data, source = whole_file(path)
    return data, source.name


def _columns(table: Table) -> tuple[str, str]:
    """The columns of both agents, by the names people give them; of a table of two columns these."""
    for x, y in PLAYERS:
        if (a := table.find(x)) and (b := table.find(y)):
            return a, b
    if len(table.columns) == 2:
        return table.columns[0], table.columns[1]
    raise DataError(f"{table.name}: columns {table.names}; expected two, as model_a and model_b, with a name in each")
