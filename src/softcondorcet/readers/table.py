"""Tables in files: csv and tsv by the csv module, jsonl line by line, parquet by pyarrow or polars.

Text is read in blocks of rows and each cell becomes an integer at once, so that millions of rows fit in little memory.
The line of a row is looked for only when there is an error to report.
"""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from typing import Any, NoReturn

import numpy as np

from softcondorcet.cells import Column, Table, as_table, shown
from softcondorcet.errors import DataError
from softcondorcet.profile import Profile

BLOCK = 1 << 8  # fewer new lists than set off the garbage collector (700): half the time of 1 << 14


def delimiter_of(text: str) -> str:
    """Comma, tab or semicolon: the one that stands most often in the first line that is not blank."""
    first = text.lstrip("\r\n").partition("\n")[0]
    return max(",\t;", key=first.count)


def parse_csv(text: str, name: str, delimiter: str | None = None) -> Table:
    """A csv text with a header line. Blank lines are skipped; every other row must have the header's cells."""
    delimiter = delimiter or delimiter_of(text)
    reader = _csv(text, delimiter)
    try:
        header = [cell.strip() for cell in next(row for row in reader if row)]
        coders: list[defaultdict[str, int]] = [defaultdict() for _ in header]
        for coder in coders:
            coder.default_factory = coder.__len__
        blocks: list[list[Any]] = [[] for _ in header]
        n = 0
        while block := list(islice(reader, BLOCK)):
            if set(map(len, block)) != {len(header)}:
                block = [row for row in block if row]
                for i, row in enumerate(block):
                    if len(row) != len(header):
                        raise DataError(
                            f"{name}:{_line_of(text, delimiter, n + i)}: row has {len(row)} cells; "
                            f"expected {len(header)} as in the header"
                        )
            for coder, codes, cells in zip(coders, blocks, zip(*block, strict=True), strict=False):
                codes.append(np.fromiter(map(coder.__getitem__, cells), dtype=np.int32, count=len(block)))
            n += len(block)
    except csv.Error as error:
        raise DataError(f"{name}:{reader.line_num}: {error}; expected rows of cells between {delimiter!r}") from None
    columns: dict[str, Column] = {}
    for title, codes, coder in zip(header, blocks, coders, strict=True):
        if title and any(title.casefold() == other.casefold() for other in columns):
            raise DataError(f"{name}: column {title!r} stands twice in the header; expected once")
        if n:
            columns[title] = Column(np.concatenate(codes), list(coder))
    if not n:
        raise DataError(f"{name}: a header and no rows; expected rows below it")
    return Table(name, columns, lambda row: f"{name}:{_line_of(text, delimiter, row)}")


def _csv(text: str, delimiter: str) -> Any:
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)


def _line_of(text: str, delimiter: str, row: int) -> int:
    """The line at which a row begins; rows below the header count from 0."""
    reader, before, seen = _csv(text, delimiter), 0, -1
    for cells in reader:
        if cells and seen == row:
            break
        seen, before = seen + bool(cells), reader.line_num
    return before + 1


def parse_jsonl(text: str, name: str) -> Table:
    """One JSON object per line; a key that a line leaves out is blank there."""
    rows = []
    for number, line in _full_lines(text):
        try:
            row = _JSON.decode(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{name}:{number}: not JSON ({error}); expected one object per line") from None
        if not isinstance(row, dict):
            raise DataError(f'{name}:{number}: line is {shown(row)}; expected an object such as {{"ranking": ...}}')
        rows.append(row)
    keys = dict.fromkeys(key for row in rows for key in row)
    columns = {key: [row.get(key) for row in rows] for key in keys}
    if not columns:
        raise DataError(f'{name}: objects without keys; expected keys such as "ranking" or "model_a"')
    return Table(name, columns, lambda row: f"{name}:{next(islice(_full_lines(text), row, None))[0]}")


def _full_lines(text: str) -> Iterator[tuple[int, str]]:
    return ((number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip())


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        raise ValueError("a key stands twice")
    return row


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number")


_JSON = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_constant)


def parse_parquet(data: bytes, name: str) -> Table:
    """The columns of a parquet file; rows are counted from 0 in errors."""
    frame: Any = None
    try:
        from pyarrow import parquet

        frame = parquet.read_table(io.BytesIO(data))
    except ImportError:
        try:
            import polars

            frame = polars.read_parquet(io.BytesIO(data))
        except ImportError:
            raise DataError(f"{name}: parquet needs pyarrow; expected softcondorcet[parquet] installed") from None
        except Exception as error:  # whatever the library raises, the file is what is wrong
            raise DataError(f"{name}: not a parquet file that can be read ({error})") from error
    except Exception as error:
        raise DataError(f"{name}: not a parquet file that can be read ({error})") from error
    return as_table(frame).renamed(name)


def csv_of(profile: Profile, delimiter: str = ",") -> str:
    """``contest_id, rank, agent`` rows, with ``weight``, ``group`` and ``when`` where the profile has them."""
    vote = np.repeat(np.arange(profile.n_votes), profile.length)
    columns: dict[str, list[Any]] = {
        "contest_id": (vote + 1).tolist(),
        "rank": (profile.tier + 1).tolist(),
        "agent": [profile.agents[k] for k in profile.agent.tolist()],
    }
    if (profile.weight != 1).any():
        columns["weight"] = [_short(weight) for weight in profile.weight[vote].tolist()]
    if profile.group is not None:
        columns["group"] = [profile.groups[k] for k in profile.group[vote].tolist()]
    if profile.when is not None:
        columns["when"] = [_short(when) for when in profile.when[vote].tolist()]
    target = io.StringIO()
    writer = csv.writer(target, delimiter=delimiter, lineterminator="\n")
    if any("\r" in name for name in (*profile.agents, *profile.groups)):  # the csv module does not quote these
        writer = csv.writer(target, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return target.getvalue()


def jsonl_of(profile: Profile) -> str:
    """One object per vote: ``ranking``, and ``weight``, ``group`` and ``when`` where the profile has them."""
    lines = []
    weighted = bool((profile.weight != 1).any())
    for v, tiers in enumerate(profile.rankings()):
        row: dict[str, Any] = {"ranking": [tier[0] if len(tier) == 1 else tier for tier in tiers]}
        if weighted:
            row["weight"] = _short(float(profile.weight[v]))
        if profile.group is not None:
            row["group"] = profile.groups[profile.group[v]]
        if profile.when is not None:
            row["when"] = _short(float(profile.when[v]))
        lines.append(json.dumps(row, ensure_ascii=False))
    return "\n".join([*lines, ""])


def _short(number: float) -> float | int:
    return int(number) if number.is_integer() else number
