"""Files that are larger than memory, counted by DuckDB: it reads what it needs, and spills what it cannot hold."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from softcondorcet.errors import DataError
from softcondorcet.installation import needs
from softcondorcet.io.conditions import Condition
from softcondorcet.io.engines.ibis import count
from softcondorcet.io.table_size import MEMORY, bytes_of
from softcondorcet.pairs import Pairs

# Cells of text files stay text: an agent called 007 is not agent 7.
_READERS: dict[str, tuple[str, dict[str, Any]]] = {
    "parquet": ("read_parquet", {}),
    "csv": ("read_csv", {"all_varchar": True}),
    "tsv": ("read_csv", {"all_varchar": True, "delim": "\t"}),
    "jsonl": ("read_json", {"format": "newline_delimited"}),
    "ndjson": ("read_json", {"format": "newline_delimited"}),
}


def read_pairs(
    source: str,
    *,
    kind: str | None = None,
    columns: Mapping[str, str] | None = None,
    memory: str = MEMORY,
    where: Collection[Condition] = (),
    balance: str | None = None,
    files: Sequence[str] = (),
) -> Pairs:
    """The pairs of the votes in a file, or in several (``votes/*.parquet``), with about `memory` for the engine.

    Parquet, csv, tsv or jsonl, text also gzipped; `files` are those behind `source` where they are known. What does not
    fit goes to files in the folder for temporary ones.
    """
    needs("duckdb", "duckdb")
    needs("ibis", "duckdb")
    bytes_of(memory)  # refuses what is none
    import duckdb
    import ibis

    with tempfile.TemporaryDirectory(prefix="sco-") as folder:
        engine = ibis.duckdb.connect(
            memory_limit=memory, temp_directory=folder, preserve_insertion_order=False,
            autoinstall_known_extensions=False, autoload_known_extensions=False,
        )  # fmt: skip
        engine.raw_sql("SET enable_progress_bar = false")  # it would write to standard output
        try:
            table = _table(engine, source, files)
            return count(table, kind=kind, columns=columns, name=source, where=where, balance=balance)
        except duckdb.Error as error:
            raise DataError(f"{source}: {str(error).splitlines()[0]}") from None
        finally:
            engine.disconnect()


def _table(engine: Any, source: str, files: Sequence[str]) -> Any:
    suffix = re.sub(r"\.gz$", "", (files or [source])[0].lower()).rpartition(".")[2]
    if suffix not in _READERS:
        raise DataError(f"{source}: expected a name that ends in {', '.join(_READERS)}, text plain or .gz")
    reader, options = _READERS[suffix]
    return getattr(engine, reader)(list(files) or source, **options)
