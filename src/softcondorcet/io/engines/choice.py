"""The engine of a file that nobody named: votes that are many are counted where they lie, and only pairs come back.

Parquet files, and rankings, are counted by DuckDB where it is installed; battles in Parquet without it, and in text,
some rows at a time. What an engine cannot count as the readers of files would is left to them: they know how results
are written, and say where something is wrong.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

from softcondorcet.checks import check
from softcondorcet.errors import DataError
from softcondorcet.formatting import number, plural
from softcondorcet.io.column_names import roles_of
from softcondorcet.io.conditions import Condition
from softcondorcet.io.engines import chunks
from softcondorcet.io.outcomes import is_result
from softcondorcet.io.records import Options
from softcondorcet.io.table_size import MEMORY, TableSize, bytes_of
from softcondorcet.io.tables import read_table
from softcondorcet.pairs import Pairs
from softcondorcet.source import Source

RAY = "ray://"


def count(
    size: TableSize,
    kind: str | None,
    columns: Mapping[str, Any] | None,
    where: Collection[Condition] = (),
    memory: str = MEMORY,
) -> Pairs | None:
    """The pairs of these tables; None where their rows do not count as they stand.

    Also where something is wrong: as votes, if there is memory for them, the error says in which row.
    """
    about = ("group", "when", "voter")  # of votes, not of pairs
    given = {role: name for role, name in (columns or {}).items() if role not in about}
    try:
        head = chunks.heading(size.files)
        if read_table(head, kind, given, Options()) is not None:
            return None
        form, _ = roles_of(head, kind, given)
        pairs = _by_duckdb(size, form, kind, given, where, memory)
        if pairs is None:
            pairs = _in_parts(size, form, kind, given, where)
    except DataError:
        if size.need > size.free:
            raise
        return None
    # Of an agent called 1, the reader of files takes a winner called 1 for a result.
    if pairs is None or any(map(is_result, pairs.agents)):
        return None
    return pairs


def _by_duckdb(
    size: TableSize, form: str, kind: str | None, columns: dict[str, str], where: Collection[Condition], memory: str
) -> Pairs | None:
    if not (find_spec("duckdb") and find_spec("ibis")):
        return None
    if size.suffix != ".parquet" and form == "battles" and not where:
        return None  # text is read as the readers of files do, and as fast
    from softcondorcet.io.engines.duckdb import read_pairs

    # Half of it is for what DuckDB does not count as its own, and with less than 200 MB it does not work.
    limit = f"{max(200, min(bytes_of(memory), size.free) / 2.5e6):.0f}MB"
    pairs = read_pairs(size.path, files=size.files, kind=kind, columns=columns, memory=limit, where=where)
    return _noted(size, pairs, "by DuckDB")


def _in_parts(
    size: TableSize, form: str, kind: str | None, columns: dict[str, str], where: Collection[Condition]
) -> Pairs | None:
    if form != "battles" or where:
        return None
    return _noted(size, chunks.read_pairs(size.files, kind=kind, columns=columns), "in parts")


def _noted(size: TableSize, pairs: Pairs, how: str) -> Pairs:
    counted = f"{number(pairs.total)} comparisons of {plural(pairs.n_agents, 'agent')}"
    note = f"counted {how}: {counted}; as votes they would take {size}: engine='memory' (--engine memory)"
    source = pairs.source or Source(size.path, "")
    return replace(pairs, source=replace(source, notes=(note, *source.notes)))


def count_by(
    source: Any,
    engine: str,
    *,
    kind: str | None = None,
    columns: Mapping[str, Any] | None = None,
    memory: str = "2GB",
    where: Collection[Condition] = (),
    balance: str | None = None,
) -> Pairs:
    """The pairs of votes that an engine counts, by its name."""
    if engine == "ibis":
        from softcondorcet.io.engines.ibis import count

        return count(source, kind=kind, columns=columns, where=where, balance=balance)
    known = isinstance(engine, str) and (engine == "duckdb" or engine.startswith(RAY))
    check(known, "engine", f"'memory', 'auto', 'duckdb', 'ibis' or '{RAY}HOST:PORT'", engine)
    path = isinstance(source, str | os.PathLike)
    check(path, "source", f"a path, or several as in 'votes/*.parquet', for {engine}", source)
    if engine.startswith(RAY):
        words = f"left out for {RAY}, whose workers read whole files ('sco convert' chooses votes)"
        check(not where, "where", words, "some")
        words = f"left out for {RAY}, whose workers count pairs, which have no groups (engine duckdb balances)"
        check(balance is None, "balance", words, balance)
        from softcondorcet.io.engines.ray import read_pairs as read_by_ray

        return read_by_ray(os.fsdecode(source), address=engine, kind=kind, columns=columns)
    from softcondorcet.io.engines.duckdb import read_pairs

    return read_pairs(os.fsdecode(source), kind=kind, columns=columns, memory=memory, where=where, balance=balance)
