"""Parquet files: a table whose columns are read when something asks for them, by pyarrow, or by polars at once.

A table of battles may hold whole conversations beside the three columns that count: those stay in the file. Texts are
read as codes, so that 20 million rows of a column take 80 MB. Rows are counted from 0 in errors.
"""

from __future__ import annotations

import io
import os
from typing import Any

from softcondorcet.errors import DataError
from softcondorcet.installation import install_command
from softcondorcet.io.cells import Cells, Table, Unread, arrow_cells, as_table
from softcondorcet.io.vote_columns import LONG_TEXT

# The first bytes of every Parquet file.
PARQUET = b"PAR1"


def parse_parquet(source: str | bytes, name: str) -> Table:
    """The table in a file, by its path or its bytes."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return _by_polars(source, name)
    file = _File(source, name)
    opened = file.open()
    schema, rows = opened.schema_arrow, opened.metadata.num_rows
    if rows < 0:
        raise _unreadable(name, ValueError(f"{rows:,} rows"))
    twice = next((title for title in schema.names if schema.names.count(title) > 1), None)
    if twice is not None:
        raise DataError(f"{name}: column {twice!r} appears twice; expected once")
    columns = {title: Unread(rows, file.head(title), file.column(title, rows)) for title in schema.names}
    return Table(name, columns).renamed(name)


def _by_polars(source: str | bytes, name: str) -> Table:
    try:
        import polars
    except ImportError:
        raise DataError(f"{name}: reading Parquet needs pyarrow: {install_command('pyarrow', 'parquet')}") from None
    try:
        frame = polars.read_parquet(io.BytesIO(source) if isinstance(source, bytes) else source)
    except Exception as error:  # whatever the library raises, the file is what is wrong
        raise _unreadable(name, error) from None
    return as_table(frame).renamed(name)


def _unreadable(name: str, error: Exception) -> DataError:
    return DataError(f"{name}: not a parquet file that can be read ({str(error).partition(chr(10))[0]})")


class _File:
    """A Parquet file that is opened for each column, and must stay what it was."""

    def __init__(self, source: str | bytes, name: str) -> None:
        self.source, self.name = source, name
        self.state = self._state()

    def _state(self) -> tuple[int, int] | None:
        if isinstance(self.source, bytes):
            return None
        try:
            found = os.stat(self.source)
        except OSError as error:
            raise DataError(f"{self.name}: {error.strerror}; expected the file that was read before") from None
        return found.st_size, found.st_mtime_ns

    def open(self, coded: list[str] | None = None) -> Any:
        """The file, with some of its columns of texts as codes."""
        from pyarrow import BufferReader, parquet

        if self._state() != self.state:
            raise DataError(f"{self.name}: has changed while it was read; expected a file that stays as it is")
        source = BufferReader(self.source) if isinstance(self.source, bytes) else self.source
        try:
            return parquet.ParquetFile(source, read_dictionary=coded)
        except Exception as error:  # whatever the library raises, the file is what is wrong
            raise _unreadable(self.name, error) from None

    def head(self, title: str) -> Any:
        """What gives the first cells of a column."""

        def read(most: int) -> Any:
            def first(file: Any) -> Any:
                import pyarrow

                batches = file.iter_batches(batch_size=most, columns=[title])
                batch = next(batches, None)
                return file.read(columns=[title]) if batch is None else pyarrow.Table.from_batches([batch])

            return self._series(title, first, None)

        return read

    def column(self, title: str, rows: int) -> Any:
        """What gives a column of so many rows: short texts as cells, anything else as a series."""

        def whole(file: Any) -> Any:
            table = file.read(columns=[title])
            if len(table) != rows:
                raise DataError(f"{title} has {len(table):,} rows, not {rows:,}")
            return table

        def read() -> Cells | Any:
            from pyarrow import types

            kind = self.open().schema_arrow.field(title).type
            text = types.is_string(kind) or types.is_large_string(kind) or types.is_dictionary(kind)
            if text and self._is_short(title):
                return arrow_cells(self._column(title, whole, [title]))
            return self._series(title, whole, None)

        return read

    def _is_short(self, title: str) -> bool:
        cells = self.head(title)(100).to_list()
        texts = [cell for cell in cells if isinstance(cell, str)]
        return sum(map(len, texts)) <= LONG_TEXT * len(texts)

    def _column(self, title: str, read: Any, coded: list[str] | None) -> Any:
        from pyarrow import types

        file = self.open(coded)
        try:
            column = read(file).column(title)
            kind = column.type
            if types.is_string(kind) or types.is_large_string(kind) or types.is_dictionary(kind):
                column.validate(full=True)  # bytes that are no text
            return column
        except Exception as error:
            raise _unreadable(self.name, error) from None
        finally:
            file.close()

    def _series(self, title: str, read: Any, coded: list[str] | None) -> Any:
        import narwhals as nw

        return nw.from_native(self._column(title, read, coded), series_only=True, allow_series=True)
