"""Tables of named columns, and how one cell of them is read.

A column is kept as integer codes into its distinct cells, numbered by first appearance. Names, numbers, times and
labels are therefore read once per distinct cell, however many rows there are, and the first bad cell is also the
first bad row. Cost: one dictionary look-up per cell.
"""

from __future__ import annotations

import re
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

from softcondorcet.arrays import Ints
from softcondorcet.checks import near
from softcondorcet.errors import DataError
from softcondorcet.formatting import some

# Rows of a pyarrow column that are coded at a time.
_PIECE = 1 << 18


@dataclass(frozen=True)
class Cells:
    """Cells of a column as codes into their distinct values, which stand in order of first appearance."""

    codes: Ints
    values: list[Any]


def fold(name: str) -> str:
    """A name of a column without its case and outer spaces, with underlines for spaces and dashes: ``Model A``."""
    return re.sub(r"[\s-]+", "_", name.strip().casefold())


class Unread:
    """A column that is read when something asks for it: its length, its first cells, and all of it."""

    def __init__(self, length: int, head: Callable[[int], Any], read: Callable[[], Any]) -> None:
        self._length, self.head, self.read = length, head, read

    def __len__(self) -> int:
        return self._length


class Table:
    """Named columns of one length. ``place(i)`` says in words where row ``i`` stands, for errors.

    ``folded`` has the names as ``fold`` writes them. ``text`` says that all cells are text, numbers too, as in
    a csv file.
    """

    def __init__(
        self, name: str, columns: Mapping[str, Any], place: Callable[[int], str] | None = None, *, text: bool = False
    ) -> None:
        self.name = name
        self.text = text
        self.place = place or (lambda row: f"row {row}")
        self._columns = dict(columns)
        self.folded = set(map(fold, self._columns))
        self.n_rows = min((_length(column) for column in self._columns.values()), default=0)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._columns)

    @property
    def names(self) -> str:
        """The columns, for an error message."""
        return some(map(repr, self._columns), 12)

    def renamed(self, name: str, place: Callable[[int], str] | None = None) -> Table:
        """The same columns as the rows of a file."""
        return Table(name, self._columns, place or (lambda row: f"{name}: row {row}"), text=self.text)

    def only(self, names: Iterable[str]) -> Table:
        """Some of the columns."""
        return Table(self.name, {name: self._columns[name] for name in names}, self.place, text=self.text)

    def with_columns(self, columns: Mapping[str, Any]) -> Table:
        """The table with further columns."""
        return Table(self.name, {**self._columns, **columns}, self.place, text=self.text)

    def find(self, *names: str) -> str | None:
        """The first of the names that is a column: as it stands, else whatever its case and outer spaces."""
        for name in names:
            if name in self._columns:
                return name
            folded = fold(name)
            if folded not in self.folded:
                continue
            same = [column for column in self._columns if fold(column) == folded]
            if len(same) > 1:
                raise DataError(
                    f"{self.name}: columns {some(map(repr, same))} have the same name but for case; expected one"
                )
            return same[0]
        return None

    def need(self, name: str) -> str:
        found = self.find(name)
        if found is None:
            raise DataError(f"{self.name}: no column {name!r}; found {self.names}{near(name, self._columns)}")
        return found

    def _read(self, name: str) -> Any:
        """A column as cells, a list or a series."""
        column = self._columns[name]
        if isinstance(column, Unread):
            column = self._columns[name] = column.read()
        return column

    def cells(self, name: str) -> list[Any]:
        column = self._read(name)
        if isinstance(column, Cells):
            return [column.values[code] for code in column.codes.tolist()]
        return column if isinstance(column, list) else series_cells(column)

    def column(self, name: str) -> Cells:
        column = self._read(name)
        if not isinstance(column, Cells):
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
        column = self._read(name)
        if not isinstance(column, Cells | list) and reader is not read_flag:
            numbers = _series_numbers(column, times=reader is read_time)
            if numbers is not None and (reader is not read_weight or (numbers >= 0).all()):
                return numbers
        return np.array(self.read(name, reader), dtype=float)[self.column(name).codes]

    def finite(self, name: str) -> NDArray[np.float64] | None:
        """The numbers of a frame's column of numbers; None where some cell is no number, and for other columns."""
        column = self._read(name)
        return None if isinstance(column, Cells | list) else _series_numbers(column, times=False)

    def sample(self, name: str, most: int) -> list[Any]:
        """The first cells of a column, or the first that differ."""
        column = self._columns[name]
        if isinstance(column, Cells):
            return column.values[:most]
        return column[:most] if isinstance(column, list) else series_cells(column.head(most))

    def all_blank(self, name: str) -> bool:
        column = self._read(name)
        if not isinstance(column, Cells | list) and _series_numbers(column, times=True) is not None:
            return False
        return all(map(is_blank, self.column(name).values))

    def _factorize(self, name: str, column: Any) -> Cells:
        try:
            return factorize(column) if isinstance(column, list) else _series_column(column)
        except TypeError:
            for row, cell in enumerate(self.cells(name)):
                if not isinstance(cell, Hashable):
                    message = f"{self.place(row)}: {name} is {shown(cell)}; expected text or a number"
                    raise DataError(message) from None
            raise


def factorize(cells: Sequence[Any]) -> Cells:
    """Codes and distinct cells by one dictionary pass. ``True``, ``1`` and ``1.0`` stay apart."""
    keys = cells if len(set(map(type, cells))) < 2 else list(zip(map(type, cells), cells, strict=True))
    code: defaultdict[Any, int] = defaultdict()
    code.default_factory = code.__len__
    codes = np.fromiter(map(code.__getitem__, keys), dtype=np.int32, count=len(keys))
    return Cells(codes, list(code) if keys is cells else [cell for _, cell in code])


def encode(table: Table, *columns: str) -> tuple[list[Ints], tuple[str, ...]]:
    """Names of the columns as integers into one list of names, in order of first appearance, column by column."""
    code: dict[str, int] = {}
    coded = []
    for column in columns:
        translation = [code.setdefault(name, len(code)) for name in table.read(column, read_name)]
        codes = table.column(column).codes
        same = translation == list(range(len(translation)))  # as in the first column, unless two cells are one name
        coded.append(codes if same else np.array(translation, dtype=np.int32)[codes])
    return coded, tuple(code)


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
    return len(column.codes if isinstance(column, Cells) else column)


def series_cells(series: Any) -> list[Any]:
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


def _series_column(series: Any) -> Cells:
    """Codes of a narwhals series; for texts by the library that holds it, twice to six times as fast."""
    import narwhals as nw

    kind = series.implementation
    if kind.is_pyarrow() and series.dtype in (nw.Categorical, nw.Enum, nw.String):
        return arrow_cells(series.to_native())
    if kind.is_pandas() and series.dtype != nw.Object:
        codes, distinct = series.to_native().factorize(use_na_sentinel=False)
        missing = distinct.isna() if hasattr(distinct, "isna") else distinct != distinct
        values = [None if gone else value for value, gone in zip(distinct.tolist(), missing, strict=True)]
        return Cells(codes.astype(np.int32), values)
    if series.dtype in (nw.Categorical, nw.Enum):
        series = series.cast(nw.String)
    if not (series.dtype == nw.String or series.dtype.is_integer()):
        return factorize(series_cells(series))
    if kind.is_pyarrow():
        encoded = series.to_native().combine_chunks().dictionary_encode(null_encoding="encode")
        return Cells(encoded.indices.to_numpy().astype(np.int32), encoded.dictionary.to_pylist())
    if kind.is_polars() and series.dtype == nw.String:
        values = series.unique(maintain_order=True).to_list()
        null = values.index(None) if None in values else len(values)
        codes = series.cast(nw.Enum([value for value in values if value is not None])).to_native().to_physical()
        place = np.delete(np.arange(len(values) + 1, dtype=np.int32), null)
        return Cells(np.append(place, np.int32(null))[codes.fill_null(len(place)).to_numpy()], values)
    return factorize(series_cells(series))


def arrow_cells(column: Any) -> Cells:
    """Codes of a pyarrow column of texts, plain or coded already, piece by piece: no text is copied."""
    codes, place, first = np.empty(len(column), dtype=np.int32), dict[Any, int](), 0
    for chunk in column.chunks:
        for start in range(0, len(chunk), _PIECE):
            piece = chunk.slice(start, _PIECE)
            coded = piece if hasattr(piece, "dictionary") else piece.dictionary_encode()
            values = [*coded.dictionary.to_pylist(), None]
            present, row = _present(coded.indices.fill_null(len(values) - 1).to_numpy(), len(values))
            translation = [place.setdefault(values[k], len(place)) for k in present.tolist()]
            codes[first : first + len(piece)] = np.array(translation, dtype=np.int32)[row]
            first += len(piece)
    return Cells(codes, list(place))


def _present(codes: NDArray[Any], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The codes that occur, in order of first appearance, and the place of each row's code among them."""
    first = np.full(size, len(codes), dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    present = np.argsort(first, kind="stable")[: int((first < len(codes)).sum())]
    place = np.empty(size, dtype=np.int64)
    place[present] = np.arange(len(present))
    return present, place[codes]


def shown(value: object) -> str:
    """A cell for an error message: short, and 'blank' when there is nothing in it."""
    if is_blank(value):
        return "blank"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def is_blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def read_name(value: Any) -> str:
    """Read the name of an agent, contest or judge: text without outer spaces, or a number or date as text."""
    known = isinstance(value, str | int | float | Decimal | date) and not isinstance(value, bool)
    if is_blank(value) or not known or (isinstance(value, float | Decimal) and not isfinite(value)):
        raise ValueError("a name")
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # frames turn whole numbers into floats when a cell is missing
    text = str(value).strip()
    if not text.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ValueError("a name in valid Unicode")
    return text


def read_word(value: Any) -> str:
    """Read a name; the empty text for a blank cell."""
    try:
        return read_name(value)
    except ValueError:
        return ""


def read_number(value: Any) -> float:
    """Read a finite number, or plain text of one (no thousands separators, no nan, no inf)."""
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
    """Read a score: a finite number, or nan for a blank cell, whose agent is absent from the task."""
    return float("nan") if is_blank(value) else read_number(value)


def read_time(value: Any) -> float:
    """Seconds since 1970 from a number, an ISO 8601 text, a date or a datetime; UTC where no zone is given."""
    with suppress(ValueError):
        return read_number(value)
    with suppress(ValueError, OverflowError):
        if isinstance(value, str):
            value = datetime.fromisoformat(re.sub(r"^(\d{4})[/.](\d\d)[/.](\d\d)\b", r"\1-\2-\3", value.strip()))
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
