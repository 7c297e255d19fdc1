"""Votes in Parquet files, counted into pairs by the workers of a Ray cluster.

Each worker reads some row groups and counts them as any other table (``columns.battles``, ``columns.contests``). The
rows of a contest may lie in several files: every row first goes to the worker that the name of its contest tells, so
that votes are whole where they are counted. Only pairs come back, and are added up by name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import Any
from zlib import crc32

import numpy as np

from softcondorcet import arrays
from softcondorcet.backends.ray import HERE, connect, cores, fetch
from softcondorcet.checks import one_of, whole
from softcondorcet.errors import DataError
from softcondorcet.installation import needs
from softcondorcet.io.assemble import battles, contests
from softcondorcet.io.cells import Table, as_table, encode, read_number, read_weight
from softcondorcet.io.column_names import KINDS, roles_of
from softcondorcet.pairs import Pairs, add_pairs, count_pairs
from softcondorcet.profile import Profile

# Footers that are read at a time: on a store far away each takes its time.
_FOOTERS = 16


def read_pairs(
    source: str,
    *,
    address: str | None = None,
    kind: str | None = None,
    columns: Mapping[str, str] | None = None,
    shards: int | None = None,
) -> Pairs:
    """The pairs of battles (model_a, model_b, winner) or rankings (contest_id, rank, agent) in Parquet files.

    Parameters
    ----------
    source: a file, or several as in ``votes/*.parquet`` or ``s3://bucket/votes/*.parquet``, which the workers can read.
    address: of the cluster, ``ray://HOST:PORT``; None is one on this machine.
    kind, columns: as in ``read``. Groups and times are left where they are.
    shards: how many parts the rows are cut into, each counted in the memory of one worker; one per core by default.
    """
    needs("pyarrow", "cluster")
    device = address or HERE
    if kind is not None:
        one_of("kind", KINDS, kind, "one of")
    if shards is not None:
        whole("shards", shards)
    ray = connect(device)
    shards = shards or cores(device)
    source = source if "://" in source else os.path.abspath(source)
    [(groups, head)] = fetch(ray, [ray.remote(_row_groups).remote(source)])
    form, roles = roles_of(head, kind, columns)
    rows = np.cumsum([0, *(group.rows for group in groups)])
    parts = [(source, groups[first:last], roles) for first, last in arrays.cut(rows, 0, min(shards, len(groups)))]
    if form == "battles":
        counted = [ray.remote(_count_battles).remote(*part) for part in parts]
    else:
        deal = ray.remote(num_returns=shards)(_split_by_contest)
        dealt = [deal.remote(*part, shards) for part in parts]
        shares = zip(*dealt, strict=True) if shards > 1 else [dealt]
        counted = [ray.remote(_count_contests).remote(source, roles, *part) for part in shares]
    return add_pairs([part for part in fetch(ray, counted) if part is not None])


@dataclass(frozen=True)
class _RowGroup:
    """A row group of a file, with the number of rows before it there."""

    path: str
    index: int
    before: int
    rows: int


def _row_groups(source: str) -> tuple[list[_RowGroup], Table]:
    """The row groups of the files, and a table of one row, in which columns that are blank in all rows are blank."""
    import pyarrow.parquet as pq

    system, paths = _files(source)

    def footer(path: str) -> Any:
        with _reading(path):
            return pq.read_metadata(path, filesystem=system)

    with ThreadPoolExecutor(_FOOTERS) as pool:
        footers = list(pool.map(footer, paths))
    groups: list[_RowGroup] = []
    cells: dict[str, str | None] = {}
    for path, found in zip(paths, footers, strict=True):
        before = 0
        for k, group in enumerate(map(found.row_group, range(found.num_row_groups))):
            if not group.num_rows:
                continue
            groups.append(_RowGroup(path, k, before, group.num_rows))
            before += group.num_rows
            for column in map(group.column, range(group.num_columns)):
                known = column.statistics
                blank = known is not None and known.has_null_count and known.null_count == group.num_rows
                if not blank or column.path_in_schema not in cells:
                    cells[column.path_in_schema] = None if blank else "some cell"
    if not groups:
        raise DataError(f"{source}: no rows; expected at least one")
    return groups, Table(source, {column: [cell] for column, cell in cells.items()})


def _files(source: str) -> tuple[Any, list[str]]:
    """The file system of a path or an address, and the files there that it names, in the order of the alphabet."""
    from pyarrow import fs

    system, folder, names = _folder(source)
    with _reading(source):
        listed = system.get_file_info(fs.FileSelector(folder, recursive=len(names) > 1))

    def fits(path: str) -> bool:
        parts = path[len(folder) :].strip("/").split("/")
        return len(parts) == len(names) and all(map(fnmatchcase, parts, names))

    paths = sorted(info.path for info in listed if info.is_file and fits(info.path))
    if not paths:
        raise DataError(f"{source}: no files found; expected at least one")
    return system, paths


def _folder(source: str) -> tuple[Any, str, list[str]]:
    """The file system and the folder that all files lie in, and what their names below it are like."""
    from pyarrow import fs

    root, _, _ = re.split(r"[*?[]", source)[0].rpartition("/")
    with _reading(source):
        system, folder = fs.FileSystem.from_uri(root or "/")
    return system, folder, source[len(root) + 1 :].split("/")


@contextmanager
def _reading(name: str) -> Iterator[None]:
    """What a file or a store answers in place of data is an error of the data."""
    import pyarrow as pa

    try:
        yield
    except (OSError, pa.ArrowException) as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"{name}: {reason}; expected Parquet files that the workers can read") from None


def _table(source: str, groups: list[_RowGroup], roles: dict[str, str]) -> Table:
    """The rows of some row groups, with the place of each in its file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    system, _, _ = _folder(source)
    used = [column for column in roles.values() if column]
    tables = []
    for group in groups:
        with _reading(group.path), pq.ParquetFile(group.path, filesystem=system) as file:
            rows = file.read_row_group(group.index, columns=used)
        for column in set(used) - set(rows.column_names):
            raise DataError(f"{group.path}: no column {column!r}; expected the same columns in all files")
        tables.append(rows)
    with _reading(source):
        table = as_table(pa.concat_tables(tables, promote_options="default"))
    first = np.cumsum([0, *(group.rows for group in groups)])

    def place(row: int) -> str:
        k = int(np.searchsorted(first, row, "right")) - 1
        return f"{groups[k].path}: row {groups[k].before + row - int(first[k])}"

    return _with_places(table, source, place)


def _with_places(table: Table, source: str, place: Callable[[int], str]) -> Table:
    table = table.renamed(source)
    table.place = place
    return table


def _count(function: Any, table: Table, roles: dict[str, str]) -> Pairs:
    return count_pairs(Profile(**function(table, **roles, group="", when="")))


def _count_battles(source: str, groups: list[_RowGroup], roles: dict[str, str]) -> Pairs:
    return _count(battles, _table(source, groups, roles), roles)


def _split_by_contest(source: str, groups: list[_RowGroup], roles: dict[str, str], shards: int) -> Any:
    """Rows dealt out by the name of their contest: a table for each shard."""
    import pyarrow as pa

    table = _table(source, groups, roles)
    (vote,), contest = encode(table, roles["contest"])
    (who,), agent = encode(table, roles["agent"])
    rows = {
        roles["contest"]: pa.array(contest, pa.large_string()).take(vote),
        roles["rank"]: table.numbers(roles["rank"], read_number),
        roles["agent"]: pa.array(agent, pa.large_string()).take(who),
    }
    if roles["weight"]:
        rows[roles["weight"]] = table.numbers(roles["weight"], read_weight)
    # Python's own hash of text differs from process to process.
    shard = np.array([crc32(name.encode()) % shards for name in contest])[vote]
    order = np.argsort(shard, kind="stable")
    edges = np.searchsorted(shard[order], np.arange(shards + 1))
    shares = [pa.table(rows).take(order[a:b]) for a, b in pairwise(edges)]
    return shares if shards > 1 else shares[0]


def _count_contests(source: str, roles: dict[str, str], *shares: Any) -> Pairs | None:
    """The pairs of one shard, dealt to it by all; none if it got no rows."""
    import pyarrow as pa

    rows = pa.concat_tables(shares)
    return _count(contests, _with_places(as_table(rows), source, lambda _: source), roles) if len(rows) else None
