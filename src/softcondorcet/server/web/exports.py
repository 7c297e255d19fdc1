"""The votes of a board as a file, piece by piece, that ``read`` reads again: the same votes, so the same pairs.

csv and parquet have one row per vote and agent, jsonl one line per vote. What was said of each vote goes along.

A spreadsheet takes a cell that begins with one of a few signs for a formula and runs it: ``neutral`` prevents that.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Generator, Iterator
from typing import Any

from softcondorcet.server.ledger.board import NONE, Board, Filter
from softcondorcet.server.ledger.database import Database
from softcondorcet.server.ledger.writer import MICRO, Entry, entries

_SIGNS = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")  # the last four: wide forms of the first


def neutral(cell: str) -> str:
    """A cell of a CSV that no spreadsheet takes for a formula: a quote in front of what begins like one, or like this.

    >>> neutral("=1+1"), neutral("gpt-4")
    ("'=1+1", 'gpt-4')
    """
    return "'" + cell if cell.lstrip("'").startswith(_SIGNS) else cell


def plain(cell: str) -> str:
    """The inverse of ``neutral``.

    >>> plain(neutral("'=1+1"))
    "'=1+1"
    """
    return cell[1:] if cell.startswith("'") and cell.lstrip("'").startswith(_SIGNS) else cell


Row = dict[str, Any]
Pieces = Generator[list[Row], None, None]
Bytes = Generator[bytes, None, None]
# Places in votes to a piece: some hundred kilobytes.
_PIECE = 5000


def counted(database: Database, board: Board, wanted: Filter, *, voters: bool = False) -> Pieces:
    """The votes that count and are wanted, in the order they came, some at a time; who cast them only if asked for."""
    agents, ids = board.chosen(wanted)
    grouped = bool(board.votes.groups.names)
    reader = database.reader()
    try:
        piece, places = [], 0
        for entry in _only(entries(reader, board.id), iter(ids.tolist())):
            piece.append(_row(entry, agents, grouped, voters))
            places += sum(map(len, entry.body))
            if places >= _PIECE:
                yield piece
                piece, places = [], 0
        if piece:
            yield piece
    finally:
        reader.close()


def _only(rows: Iterator[Entry], ids: Iterator[int]) -> Iterator[Entry]:
    """The rows with these ids; both are in ascending order."""
    wanted = next(ids, None)
    for entry in rows:
        if wanted is None:
            return
        if entry.id == wanted:
            yield entry
            wanted = next(ids, None)


def _row(entry: Entry, agents: tuple[str, ...], grouped: bool, voters: bool) -> Row:
    # Readers take a column for blank throughout or not at all: what a vote has not is a word too.
    return {
        "id": entry.id,
        "ranking": [[agents[k] for k in tier] for tier in entry.body],
        "winner": entry.winner or NONE,
        "weight": entry.weight / MICRO,
        **({"group": entry.group or NONE} if grouped else {}),
        "when": entry.made,
        **({"voter": entry.voter or NONE} if voters else {}),
    }


def as_jsonl(pieces: Pieces) -> Bytes:
    for piece in pieces:
        yield "".join(f"{json.dumps({**row, 'ranking': _flat(row)}, ensure_ascii=False)}\n" for row in piece).encode()


def _flat(row: Row) -> list[Any]:
    return [tier[0] if len(tier) == 1 else tier for tier in row["ranking"]]


def as_csv(pieces: Pieces) -> Bytes:
    """Votes as CSV in which no cell is a formula (see ``neutral``)."""
    header = True
    for piece in pieces:
        target = io.StringIO()
        writer = csv.writer(target, lineterminator="\n")
        rows = [place for row in piece for place in _places(row)]
        if header:
            writer.writerow(rows[0])
            header = False
        writer.writerows([neutral(cell) if isinstance(cell, str) else cell for cell in row.values()] for row in rows)
        yield target.getvalue().encode()


def as_parquet(pieces: Pieces) -> Bytes:
    """Votes as Parquet; needs pyarrow."""
    import pyarrow as pa
    from pyarrow import parquet

    sink, writer = _Sink(), None
    for piece in pieces:
        table = pa.Table.from_pylist([place for row in piece for place in _places(row)])
        if writer is None:
            # A column that is blank in the first piece need not be so in all.
            names = [(f.name, pa.string() if pa.types.is_null(f.type) else f.type) for f in table.schema]
            writer = parquet.ParquetWriter(sink, pa.schema(names))
        writer.write_table(table.cast(writer.schema))
        yield sink.taken()
    if writer is not None:
        writer.close()
        yield sink.taken()


def _places(row: Row) -> Iterator[Row]:
    """One row per agent of a vote."""
    about = {name: value for name, value in row.items() if name not in ("id", "ranking")}
    for rank, tier in enumerate(row["ranking"], 1):
        for agent in tier:
            yield {"contest_id": row["id"], "rank": rank, "agent": agent, **about}


class _Sink(io.RawIOBase):
    """A buffer to write to, whose content is taken out piece by piece."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._at = 0

    def writable(self) -> bool:
        return True

    def write(self, part: Any) -> int:
        self._parts.append(bytes(part))
        self._at += len(self._parts[-1])
        return len(self._parts[-1])

    def tell(self) -> int:
        return self._at

    def taken(self) -> bytes:
        parts, self._parts = self._parts, []
        return b"".join(parts)


# Suffix -> media type, and what makes the file.
FORMATS: dict[str, tuple[str, Callable[[Pieces], Bytes]]] = {
    "csv": ("text/csv; charset=utf-8", as_csv),
    "jsonl": ("application/x-ndjson", as_jsonl),
    "parquet": ("application/vnd.apache.parquet", as_parquet),
}
