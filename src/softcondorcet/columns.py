"""Columns: what else is known about each vote, such as its judge, task, language or voter.

A column holds names (as codes into a list) or numbers, one for each vote. ``Columns`` makes each column when it is
first asked for: a table of a million battles may have twenty of which nobody wants more than one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softcondorcet.arrays import Floats, Ints, frozen_copy, taken
from softcondorcet.errors import DataError

# The column that says who cast each vote.
VOTER = "voter"
# The group of votes that have none.
NONE = "(none)"


@dataclass(frozen=True, eq=False)
class Column:
    """One name or one number for each vote. Arrays are read-only.

    Names: ``codes[v]`` is the place of the name of vote ``v`` in ``names``, -1 where there is none.
    Numbers: ``values[v]``, nan where there is none; then ``codes`` is None.

    >>> Column.of(["en", None, "de", "en"]).codes.tolist(), Column.of([1.5, None]).values.tolist()
    ([0, -1, 1, 0], [1.5, nan])
    """

    codes: Ints | None = None
    names: tuple[str, ...] = ()
    values: Floats | None = None

    def __post_init__(self) -> None:
        if (self.codes is None) == (self.values is None):
            raise DataError("a column has either codes and names, or values")
        for name, dtype in (("codes", np.int32), ("values", np.float64)):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, frozen_copy(given, dtype))
        object.__setattr__(self, "names", tuple(self.names))
        if self.values is not None and np.isinf(self.values).any():
            raise DataError("values: infinity; expected finite numbers, nan where there is none")
        if self.codes is not None and len(self.codes):
            low, high = int(self.codes.min()), int(self.codes.max())
            if low < -1 or high >= len(self.names):
                raise DataError(f"codes {low} to {high}; expected -1 to {len(self.names) - 1}, one for each name")

    @classmethod
    def of(cls, cells: Sequence[object]) -> Column:
        """A column of a list: of numbers if all its cells are numbers or None, else of names."""
        if all(cell is None or (isinstance(cell, Real) and not isinstance(cell, bool)) for cell in cells):
            return cls(values=np.array([np.nan if cell is None else cell for cell in cells], dtype=float))
        code: dict[str, int] = {}
        codes = [-1 if cell is None else code.setdefault(str(cell), len(code)) for cell in cells]
        return cls(np.array(codes, dtype=np.int32), tuple(code))

    def __len__(self) -> int:
        return len(self._array)

    @property
    def numeric(self) -> bool:
        """Whether it holds numbers."""
        return self.values is not None

    @property
    def _array(self) -> NDArray[Any]:
        array = self.codes if self.values is None else self.values
        assert array is not None
        return array

    def take(self, votes: NDArray[Any]) -> Column:
        """The cells of the chosen votes, by index or boolean array."""
        array = taken(self._array, votes)
        return Column(array, self.names) if self.values is None else Column(values=array)

    def cells(self) -> list[str | float | None]:
        """One name, number or None for each vote."""
        if self.codes is not None:
            names = (*self.names, None)  # -1 is the last
            return [names[code] for code in self.codes.tolist()]
        return [None if cell != cell else cell for cell in self._array.tolist()]

    def named(self) -> Column:
        """The same with names for numbers, in their order: 2024.0 is '2024'."""
        if self.values is None:
            return self
        known = ~np.isnan(self.values)
        found, place = np.unique(self.values[known], return_inverse=True)
        codes = np.full(len(self), -1, dtype=np.int32)
        codes[known] = place
        return Column(codes, tuple(f"{int(x)}" if x.is_integer() else repr(x) for x in found.tolist()))

    def grouped(self) -> Column:
        """The same with a name for every vote: those without one are a group of their own, '(none)'."""
        column = self.named()
        assert column.codes is not None
        if not (column.codes < 0).any():
            return column
        names = column.names if NONE in column.names else (*column.names, NONE)
        return Column(np.where(column.codes < 0, names.index(NONE), column.codes), names)


Maker = Callable[[], Column | None]


class Columns(Mapping[str, Column]):
    """Columns by name, each made when it is first asked for.

    In place of a column may stand a function that makes it, or finds that there is none: then it is left out.
    """

    def __init__(self, columns: Mapping[str, Column | Maker | None] | None = None) -> None:
        self._columns: dict[str, Column | Maker | None] = dict(columns or {})

    def _find(self, name: str) -> Column | None:
        column = self._columns.get(name)
        if callable(column):
            column = self._columns[name] = column()
        return column

    def __getitem__(self, name: str) -> Column:
        column = self._find(name)
        if column is None:
            raise KeyError(name)
        return column

    def __iter__(self) -> Iterator[str]:
        return (name for name in list(self._columns) if self._find(name) is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"Columns({', '.join(map(repr, self._columns))})"

    def __getstate__(self) -> dict[str, Any]:
        return {"_columns": dict(self)}

    @property
    def made(self) -> dict[str, Column]:
        """Those that were asked for by now."""
        return {name: column for name, column in self._columns.items() if isinstance(column, Column)}

    def take(self, votes: NDArray[Any]) -> Columns:
        """The same columns of the chosen votes."""

        def chosen(name: str) -> Maker:
            return lambda: None if (column := self._find(name)) is None else column.take(votes)

        return Columns({name: chosen(name) for name in self._columns})

    def without(self, name: str) -> Columns:
        return Columns({other: column for other, column in self._columns.items() if other != name})

    def plus(self, columns: Mapping[str, Column]) -> Columns:
        """These and others, which replace those of the same name."""
        return Columns({**self._columns, **columns})


def as_columns(columns: Mapping[str, Column | Sequence[object]] | None) -> Columns:
    """Columns as they are; lists of names or numbers as columns."""
    if isinstance(columns, Columns):
        return columns
    listed = (columns or {}).items()
    return Columns({name: cells if isinstance(cells, Column) else Column.of(cells) for name, cells in listed})


def recoded(columns: Columns, name: str, codes: Any, names: Any) -> Columns:
    """The columns with new codes or new names, or both, for one of them; '...' leaves what there is.

    Voters may be unknown (-1); every vote has a group.
    """
    empty = Column(np.empty(0, dtype=np.int32))
    known = columns.get(name, empty)
    known = known.named() if name == VOTER else known.grouped()
    names = known.names if names is ... else tuple(names)
    codes = frozen_copy(known.codes if codes is ... else codes, np.int32)
    wrong = (codes >= len(names)) | (codes < (-1 if name == VOTER else 0))
    if wrong.any():
        vote, what = int(np.argmax(wrong)), "voter" if name == VOTER else "group"
        raise DataError(f"vote {vote + 1}: no {what} has number {codes[vote]}")
    return columns.plus({name: Column(codes, names)})
