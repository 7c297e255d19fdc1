"""A column of a file that is read row by row: codes into its distinct cells, so that many rows take little memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from softcondorcet.arrays import Ints
from softcondorcet.io.cells import Cells

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
