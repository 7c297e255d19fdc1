"""Battles that are counted already: a row for each two agents with the wins of both, or a matrix of wins.

In a matrix the cell of row x and column y is how often x beat y, as far as it is a count; shares of wins are votes of
that weight, too. Its rows and columns are the same agents, and no cell of the diagonal holds a win.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from softcondorcet.errors import DataError
from softcondorcet.io.cells import Table, fold, is_blank, read_weight, shown
from softcondorcet.io.number_text import Numbers
from softcondorcet.io.records import Battles, name_of

_TIES = ("ties", "tie", "draws", "draw", "n_ties", "n_draws", "tied", "num_ties")


def read_win_counts(table: Table, a: str, b: str) -> Battles | None:
    """The battles in a table such as ``a, b, a_wins, b_wins, ties``; None where its columns count no wins."""
    columns = [table.find(*_titles(side, name)) for side, name in ((0, fold(a)), (1, fold(b)))]
    if columns[0] is None or columns[1] is None or columns[0] == columns[1]:
        return None
    counts = [columns[0], columns[1], *([ties] if (ties := table.find(*_TIES)) else [])]
    told = [table.numbers(column, _read_count) for column in counts]
    if all(((found == 0) | (found == 1)).all() for found in told) and bool((np.sum(told, axis=0) == 1).all()):
        return None  # who won each single battle
    battles, rows = Battles(table.name), list[int]()
    battles.place = lambda k: table.place(rows[k])
    for row, (one, other) in enumerate(zip(table.cells(a), table.cells(b), strict=True)):
        first, second = name_of(one, table.place(row), a), name_of(other, table.place(row), b)
        if first == second:
            raise DataError(f"{table.place(row)}: {first!r} against itself; expected two agents")
        for share, found in zip((1.0, 0.0, 0.5), told, strict=False):
            if found[row]:
                rows.append(row)
                battles.add(first, second, share, float(found[row]))
    battles.notes.append(f"wins are counted in {', '.join(map(repr, counts))}")
    return battles


def _titles(side: int, name: str) -> list[str]:
    """What the column of the wins of one side may be called."""
    words = [name, "ab"[side], "12"[side], ("model_a", "model_b")[side]]
    ends = [(f"{word}_wins", f"wins_{word}", f"{word}_won", f"n_wins_{word}", f"win_{word}") for word in words]
    return [title for titles in ends for title in titles] + [f"wins{'12'[side]}"]


def _read_count(cell: Any) -> float:
    return 0.0 if is_blank(cell) else read_weight(cell)


def read_matrix(table: Table, agent: str, names: list[str | None], columns: Mapping[str, Numbers]) -> Battles | None:
    """The battles in a matrix of wins; None where rows and columns are not the same agents, or the diagonal is full."""
    agents = [title.strip() for title in columns]
    if len(agents) < 3 or [*agents] != [name for name in names if name is not None]:
        return None
    won = np.array([found.values for found in columns.values()]).T
    if (np.diag(won) > 0).any() or np.isinf(won).any():
        return None
    battles, rows = Battles(table.name), list[int]()
    battles.place = lambda k: table.place(rows[k])
    for row, one in enumerate(agents):
        for column, other in enumerate(agents):
            count = won[row, column]
            if row != column and count < 0:
                cell = shown(table.cells([*columns][column])[row])
                raise DataError(f"{table.place(row)}: {other} is {cell}; expected how often {one!r} beat it")
            if row != column and count > 0:
                rows.append(row)
                battles.add(one, other, 1.0, float(count))
    battles.notes.append(f"matrix of wins: the agents of rows in {agent or 'the first column'!r} beat those of columns")
    return battles
