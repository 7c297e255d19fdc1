"""Tables of named columns, and how one cell of them is read.

A column is kept as integer codes into its distinct cells, numbered by first appearance. Names, numbers, times and
labels are therefore read once per distinct cell, however many rows there are, and the first bad cell is also the
first bad row. Cost: one dictionary look-up per cell.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softcondorcet.errors import DataError, some

Ints = NDArray[np.int32]


@dataclass(frozen=True)
class Column:
    """Cells as codes into their distinct values, which stand in order of first appearance."""

    codes: Ints
    values: list[Any]


class Table:
    """Named columns of one length. ``place(i)`` says in words where row ``i`` stands, for errors."""

    def __init__(self, name: str, columns: Mapping[str, Any], place: Callable[[int], str] | None = None) -> None:
        self.name = name
        self.place = place or (lambda row: f"row {row}")
        self._columns = dict(columns)
        self.n_rows = min((_length(column) for column in self._columns.values()), default=0)

    @property
    def names(self) -> str:
        """The columns, for an error message."""
        return some(map(repr, self._columns), 12)

    def renamed(self, name: str) -> Table:
        """The same columns as the rows of a file."""
        return Table(name, self._columns, lambda row: f"{name}: row {row}")

    def find(self, *names: str) -> str | None:
        """The first of the names that is a column: as it stands, else whatever its case and outer spaces."""
        for name in names:
            if name in self._columns:
                return name
            same = [column for column in self._columns if column.strip().casefold() == name.strip().casefold()]
            if len(same) > 1:
                raise DataError(f"{self.name}: columns {some(map(repr, same))} have one name; expected one of them")
            if same:
                return same[0]
        return None

    def need(self, name: str) -> str:
        found = self.find(name)
        if found is None:
            raise DataError(f"{self.name}: no column {name!r}; found {self.names}")
        return found

    def cells(self, name: str) -> list[Any]:
        column = self._columns[name]
        if isinstance(column, Column):
            return [column.values[code] for code in column.codes.tolist()]
        return column if isinstance(column, list) else _series_cells(column)

    def column(self, name: str) -> Column:
        column = self._columns[name]
        if not isinstance(column, Column):
            column = self._columns[name] = self._factorize(name, column)
        return column

    def read(self, name: str, reader: Callable[[Any], Any]) -> list[Any]:
        """The reader's answer for each distinct cell; its ``ValueError`` says what was expected instead."""
        column, answers = self.column(name), []
        for code, value in enumerate(column.values):
            try:
                answers.append(reader(value))
            except ValueError as error:
                row = int(np.argmax(column.codes == code))
                raise DataError(f"{self.place(row)}: {name} is {shown(value)}; expected {error}") from None
        return answers

    def numbers(self, name: str, reader: Callable[[Any], float]) -> NDArray[np.float64]:
        column = self._columns[name]
        if not isinstance(column, Column | list) and reader is not read_flag:
            numbers = _series_numbers(column, times=reader is read_time)
            if numbers is not None and (reader is not read_weight or (numbers >= 0).all()):
                return numbers
        return np.array(self.read(name, reader), dtype=float)[self.column(name).codes]

    def all_blank(self, name: str) -> bool:
        column = self._columns[name]
        if not isinstance(column, Column | list) and _series_numbers(column, times=True) is not None:
            return False
        return all(map(is_blank, self.column(name).values))

    def _factorize(self, name: str, column: Any) -> Column:
        try:
            return factorize(column) if isinstance(column, list) else _series_column(column)
        except TypeError:
            for row, cell in enumerate(self.cells(name)):
                if not isinstance(cell, Hashable):
                    message = f"{self.place(row)}: {name} is {shown(cell)}; expected text or a number"
                    raise DataError(message) from None
            raise


def factorize(cells: Sequence[Any]) -> Column:
    """Codes and distinct cells by one dictionary pass. ``True``, ``1`` and ``1.0`` stay apart."""
    keys = cells if len(set(map(type, cells))) < 2 else list(zip(map(type, cells), cells, strict=True))
    code: defaultdict[Any, int] = defaultdict()
    code.default_factory = code.__len__
    codes = np.fromiter(map(code.__getitem__, keys), dtype=np.int32, count=len(keys))
    return Column(codes, list(code) if keys is cells else [cell for _, cell in code])


def as_table(frame: Any) -> Table:
    """A pandas, polars or pyarrow table (or anything narwhals takes), or a dict of columns, as a ``Table``."""
    if isinstance(frame, Table):
        return frame
    if isinstance(frame, Mapping):
        columns = {str(name): _python_cells(str(name), cells) for name, cells in frame.items()}
        if len({len(cells) for cells in columns.values()}) > 1:
            lengths = ", ".join(f"{name!r} has {len(cells)}" for name, cells in columns.items())
            raise DataError(f"frame: expected columns of one length; {lengths}")
        return Table("frame", columns)
    import narwhals as nw

    try:
        narwhal = nw.from_native(frame)
        eager = narwhal.collect() if isinstance(narwhal, nw.LazyFrame) else narwhal
        return Table("frame", {str(name): eager[name] for name in eager.columns})
    except (TypeError, ValueError, nw.exceptions.NarwhalsError) as error:
        raise DataError(
            f"frame: expected a pandas, polars or pyarrow table or a dict of columns, "
            f"got {type(frame).__name__} ({error})"
        ) from error


def _python_cells(name: str, cells: Any) -> list[Any]:
    """A column of a dict as Python objects."""
    if isinstance(cells, str | bytes | Mapping) or not isinstance(cells, Iterable) or getattr(cells, "ndim", 1) == 0:
        raise DataError(f"frame: column {name!r} is {shown(cells)}; expected a list or an array")
    found = list(cells)
    if not any(issubclass(kind, np.generic) for kind in set(map(type, found))):
        return found
    return [cell.item() if isinstance(cell, np.generic) else cell for cell in found]


def _length(column: Any) -> int:
    return len(column.codes if isinstance(column, Column) else column)


def _series_cells(series: Any) -> list[Any]:
    """Cells of a narwhals series as Python objects, every kind of null as None."""
    cells: list[Any] = series.to_list()
    for row in np.flatnonzero(series.is_null().to_numpy()):
        cells[row] = None
    return cells


def _series_numbers(series: Any, times: bool) -> NDArray[np.float64] | None:
    """The numbers of a narwhals series, or its times in seconds; None where some cell is not a finite number."""
    import narwhals as nw

    if times and isinstance(series.dtype, nw.Datetime):
        series = series.dt.timestamp("us") / 1e6
    if not series.dtype.is_numeric() or series.is_null().any():
        return None
    numbers: NDArray[np.float64] = series.cast(nw.Float64).to_numpy().astype(float)
    return numbers if np.isfinite(numbers).all() else None


def _series_column(series: Any) -> Column:
    """Codes of a narwhals series, by the library that holds it where that is faster than a dictionary pass."""
    import narwhals as nw

    native, kind = series.to_native(), series.implementation
    if series.dtype.is_nested() or series.dtype == nw.Object:
        return factorize(_series_cells(series))
    if kind.is_pandas():
        codes, distinct = native.factorize()
        values = distinct.tolist()
        if len(codes) and codes.min() >= 0:  # no nulls; the rest is numbered by first appearance already
            return Column(codes.astype(np.int32), values)
    elif kind.is_pyarrow() and len(native):
        encoded = native.unify_dictionaries().combine_chunks()
        encoded = encoded if hasattr(encoded, "dictionary") else encoded.dictionary_encode()
        codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        values = encoded.dictionary.to_pylist()
    elif kind.is_polars() and series.dtype in (nw.String, nw.Categorical, nw.Enum) and len(native):
        coded = series.cast(nw.Categorical).to_native() if series.dtype == nw.String else native
        codes = coded.to_physical().cast(int).fill_null(-1).to_numpy()
        first = _first_rows(codes, int(codes.max()) + 2)[:-1].tolist()
        values = [native[row] if row < len(codes) else None for row in first]
    else:
        return factorize(_series_cells(series))
    return _by_appearance(np.asarray(codes, dtype=np.int64), [*values, None])


def _by_appearance(codes: NDArray[np.int64], values: list[Any]) -> Column:
    """Codes renumbered by first appearance, unused values dropped; code -1 is the last value."""
    first = _first_rows(codes, len(values))
    order = np.argsort(first, kind="stable")[: int((first < len(codes)).sum())]
    rank = np.zeros(len(values), dtype=np.int32)
    rank[order] = np.arange(len(order))
    return Column(rank[codes], [values[k] for k in order])


def _first_rows(codes: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Where each code from 0 to size - 1 first stands, or the number of rows where it does not; -1 is the last."""
    first = np.full(size, len(codes))
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    return first


def shown(value: object) -> str:
    """A cell for an error message: short, and 'blank' when there is nothing in it."""
    if is_blank(value):
        return "blank"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def is_blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def read_name(value: Any) -> str:
    """An agent, a contest, a judge: text without its outer spaces, or a number or date as text."""
    known = isinstance(value, str | int | float | Decimal | date) and not isinstance(value, bool)
    if is_blank(value) or not known or (isinstance(value, float | Decimal) and not isfinite(value)):
        raise ValueError("a name")
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # frames turn whole numbers into floats when a cell is missing
    text = str(value).strip()
    if not text.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ValueError("a name in valid Unicode")
    return text


def read_number(value: Any) -> float:
    """A finite number, as a number or as plain text (no thousands separators, no nan, no inf)."""
    plain = value.isascii() and "_" not in value if isinstance(value, str) else not isinstance(value, bool)
    number = float("nan")
    if plain and isinstance(value, str | int | float | Decimal):
        with suppress(ValueError, OverflowError):
            number = float(value)
    if not isfinite(number):
        raise ValueError("a finite number")
    return number


def read_weight(value: Any) -> float:
    try:
        weight = read_number(value)
    except ValueError:
        weight = -1.0
    if weight < 0:
        raise ValueError("a number that is not negative")
    return weight


def read_score(value: Any) -> float:
    """A finite number, or nan for a blank cell: the agent is absent from the task."""
    return float("nan") if is_blank(value) else read_number(value)


def read_time(value: Any) -> float:
    """Seconds since 1970 from a number, an ISO 8601 text, a date or a datetime; UTC where no zone is given."""
    with suppress(ValueError):
        return read_number(value)
    with suppress(ValueError, OverflowError):
        if isinstance(value, str):
            value = datetime.fromisoformat(value.strip())
        elif isinstance(value, date) and not isinstance(value, datetime):
            value = datetime(value.year, value.month, value.day)
        if isinstance(value, datetime):
            aware = value if value.tzinfo else value.replace(tzinfo=UTC)
            return float((aware - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds())
    raise ValueError("an ISO 8601 time such as 2024-08-14T12:00:00, or seconds since 1970")


def read_flag(value: Any) -> bool:
    word = str(value).strip().casefold()
    if word in ("1", "1.0", "true", "yes"):
        return True
    if word in ("0", "0.0", "false", "no"):
        return False
    raise ValueError("1, 0, true or false")
