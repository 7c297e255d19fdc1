"""Battles in files that are larger than memory, counted some rows at a time: no engine has to be installed.

Each part is read as any other table and its pairs are added to those before. Rankings, whose rows may lie anywhere in a
file, need an engine that can sort: DuckDB.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice

from softcondorcet.errors import DataError
from softcondorcet.io.assemble import battles
from softcondorcet.io.cells import Table, as_table
from softcondorcet.io.column_names import roles_of
from softcondorcet.io.delimited import BLOCK, GrowingColumn, delimiter_of, json_object
from softcondorcet.io.input_files import InputFile, lines
from softcondorcet.pairs import Pairs, add_pairs, check_total, count_pairs
from softcondorcet.profile import Profile

# Rows that are read at a time, of text fewer, and distinct pairs that are kept apart before they are added up.
_ROWS, _TEXT_ROWS, _APART = 1 << 20, 1 << 19, 2_000_000


def read_pairs(
    files: Sequence[str], *, kind: str | None = None, columns: Mapping[str, str] | None = None, rows: int | None = None
) -> Pairs:
    """The pairs of the battles in files of one format (Parquet, csv, tsv, jsonl).

    `rows` are read at a time: by default so many that a part takes about 100 MB.
    """
    head = heading(files)
    form, roles = roles_of(head, kind, columns)
    if form != "battles":
        raise DataError(f"{files[0]}: rankings; expected battles, or DuckDB: pip install 'softcondorcet[duckdb]'")
    used = {role: column for role, column in roles.items() if column}
    total, apart, weight = None, list[Pairs](), 0.0
    for table in chain.from_iterable(tables(file, [*used.values()], rows) for file in files):
        profile = Profile(**battles(table, **{"weight": "", **used}, group="", when="", voter=""))
        apart.append(count_pairs(profile))
        weight += apart[-1].total
        if sum(map(len, apart)) > _APART:
            total, apart = add_pairs([*([total] if total else []), *apart]), []
    total = add_pairs([*([total] if total else []), *apart])
    check_total(total, weight)
    return total


def heading(files: Sequence[str]) -> Table:
    """The first rows of the first file, with all its columns."""
    table = next(tables(files[0], None, 1000), None)
    if table is None:
        raise DataError(f"{files[0]}: no rows; expected at least one")
    return table


def tables(path: str, columns: list[str] | None, rows: int | None) -> Iterator[Table]:
    """The rows of a file, so many at a time, as tables of some columns or of all."""
    file = InputFile.on_disk(path)
    if file.suffix == ".parquet":
        return _parquet(file, columns, rows or _ROWS)
    return (_jsonl if file.suffix in (".jsonl", ".ndjson") else _csv)(file, columns, rows or _TEXT_ROWS)


def _parquet(file: InputFile, columns: list[str] | None, rows: int) -> Iterator[Table]:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        schema = parquet.read_schema(file.path)
        texts = [name for name in columns or [] if pa.types.is_string(schema.field(name).type)]
        with parquet.ParquetFile(file.path, read_dictionary=texts) as opened:
            first = 0
            for batch in opened.iter_batches(batch_size=rows, columns=columns, use_threads=False):
                yield _placed(as_table(pa.Table.from_batches([batch])), file.name, first)
                first += len(batch)
    except (OSError, KeyError, pa.ArrowException) as error:
        raise DataError(f"{file.name}: not a parquet file that can be read ({error})") from None


def _placed(table: Table, name: str, first: int) -> Table:
    return table.renamed(name, lambda row: f"{name}: row {first + row}")


def _csv(file: InputFile, columns: list[str] | None, rows: int) -> Iterator[Table]:
    """Rows of text. Where one stands is said by its number: cells may hold line breaks."""
    head = file.read(1 << 16).decode("utf-8-sig", "replace")
    delimiter = "\t" if file.suffix == ".tsv" else delimiter_of(head)
    with file.open() as stream, io.TextIOWrapper(stream, "utf-8-sig", newline="") as text:
        try:
            reader = (row for row in csv.reader(text, delimiter=delimiter, strict=True) if row)
            header = [cell.strip() for cell in next(reader, [])]
            chosen = [k for k, name in enumerate(header) if columns is None or name in columns]
            first = 1
            while (part := _coded(reader, header, chosen, rows, file.name)).n_rows:
                yield _placed(part, file.name, first)
                first += part.n_rows
        except (csv.Error, UnicodeDecodeError) as error:
            raise DataError(f"{file.name}: {error}; expected rows of cells between {delimiter!r}") from None


def _coded(reader: Iterator[list[str]], header: list[str], chosen: list[int], rows: int, name: str) -> Table:
    """The next rows of a csv reader."""
    columns = {k: GrowingColumn() for k in chosen}
    for _ in range(0, rows, BLOCK):
        block = list(islice(reader, BLOCK))
        if not block:
            break
        if set(map(len, block)) != {len(header)}:
            raise DataError(f"{name}: rows of other lengths than the header; expected {len(header)} cells in each")
        cells = list(zip(*block, strict=True))
        for k, column in columns.items():
            column.add_texts(cells[k])
    return Table(name, {header[k]: column.cells() for k, column in columns.items()}, text=True)


def _jsonl(file: InputFile, columns: list[str] | None, rows: int) -> Iterator[Table]:
    numbered, first = lines(file), 1
    while True:
        growing: dict[str, GrowingColumn] = {name: GrowingColumn() for name in columns or ()}
        n = 0
        for _ in range(0, rows, BLOCK):
            block = [json_object(line.decode(), number, file.name) for number, line in islice(numbered, BLOCK)]
            for name in dict.fromkeys(key for row in block for key in row) if columns is None else ():
                if name not in growing:
                    growing[name] = GrowingColumn(n)
            for name, column in growing.items():
                column.add([row.get(name) for row in block])
            n += len(block)
            if len(block) < BLOCK:
                break
        if not n:
            return
        part = Table(file.name, {name: column.cells() for name, column in growing.items()})
        yield _placed(part, file.name, first)
        first += n
