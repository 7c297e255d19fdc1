"""How much memory the votes of a table would take, told by the file's size or its footer before it is read."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from softcondorcet.arrays import free_memory
from softcondorcet.checks import check
from softcondorcet.errors import DataError
from softcondorcet.io import archives
from softcondorcet.io.input_files import files_at

MEMORY = "2GB"
_UNITS = {"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
# Bytes that reading takes: for each row of battles in Parquet, and for each byte of text.
_ROW, _TEXT = 60, {".csv": 6, ".tsv": 6, ".jsonl": 4, ".ndjson": 4}
_GZIP = 8
# A file of fewer bytes is read without a look at its footer.
_SMALL = 1 << 16


def bytes_of(memory: str) -> float:
    """A size such as "2GB" as a number."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([KMGT])i?B", memory) if isinstance(memory, str) else None
    check(found is not None, "memory", "a size such as '2GB'", memory)
    assert found is not None
    return float(found[1]) * _UNITS[found[2]]


@dataclass(frozen=True)
class TableSize:
    """The tables behind a path, all of one format: how much memory their votes take, and how much is free."""

    path: str
    files: tuple[str, ...]
    suffix: str
    need: float
    free: float

    def is_large(self, memory: str = MEMORY) -> bool:
        """Whether the votes take more than half of such memory, whose other half a method needs, or than is free."""
        return self.need > min(bytes_of(memory) / 2, self.free)

    def __str__(self) -> str:
        return f"about {self.need / 1e9:,.1f} GB"

    def check(self) -> None:
        """Refuse what would end the process without a word."""
        if self.need > self.free:
            raise DataError(
                f"{self.path}: its votes take {self} of memory, and {self.free / 1e9:,.1f} GB are free; expected "
                "more, or only their pairs: engine='auto', as 'sco rank' does, also with --where"
            )


def size_of(path: str) -> TableSize | None:
    """The size of the tables at a path; None for small files, and for what is no table of rows: a log, a workbook."""
    if path == "-" or (os.path.isfile(path) and (os.path.getsize(path) <= _SMALL or archives.is_archive(path))):
        return None
    try:
        with files_at(path) as found:
            suffixes, names = {file.suffix for file in found}, [file.path for file in found]
    except DataError:
        return None
    if len(suffixes) != 1 or not all(map(os.path.isfile, names)):
        return None
    (suffix,) = suffixes
    if suffix == ".parquet":
        need = _ROW * sum(map(_rows, names))
    elif suffix in _TEXT:
        need = _TEXT[suffix] * sum(os.path.getsize(name) * (_GZIP if name.endswith(".gz") else 1) for name in names)
    else:
        return None
    return TableSize(path, tuple(names), suffix, need, free_memory())


def _rows(path: str) -> int:
    """The rows of a Parquet file by its footer; none where it cannot be read: its reader says why."""
    try:
        from pyarrow import parquet

        return int(parquet.read_metadata(path).num_rows)
    except Exception:  # whatever the library raises
        return 0
