"""Writing profiles: PrefLib, csv, tsv, jsonl, Parquet, Every Eval Ever; to a path, an open file or stdout."""

from __future__ import annotations

import gzip
import io
import os
import sys
import warnings
from itertools import chain
from typing import IO, TYPE_CHECKING, Any

from softcondorcet.checks import check, one_of
from softcondorcet.errors import DataError
from softcondorcet.formatting import plural, some
from softcondorcet.installation import needs
from softcondorcet.io import delimited, preflib
from softcondorcet.io.archives import reason
from softcondorcet.io.column_names import KINDS
from softcondorcet.io.input_files import suffix_of
from softcondorcet.io.profile_table import TableColumns, TableKind, lost_entries, lost_with_agents, table_of
from softcondorcet.profile import Profile, as_profile
from softcondorcet.ratings import Ratings

if TYPE_CHECKING:
    from softcondorcet.uncertainty.intervals import Uncertainty

EVER = "every_eval_ever"
_TABLES = ("csv", "tsv", "jsonl", "parquet")
WRITABLE = (*preflib.TYPES, "preflib", *_TABLES, EVER)


def write(
    data: Profile | Ratings | Uncertainty,
    target: str | os.PathLike[str] | IO[Any],
    format: str | None = None,
    *,
    kind: TableKind | None = None,
) -> None:
    """Write votes to a path, an open file or stdout (``"-"``); the suffix tells the format unless it is given.

    Formats: soc, soi, toc, toi, preflib; csv, tsv, jsonl and parquet; a path that ends in ``.gz`` is compressed.
    ``kind`` says what the rows of a table are: ``"battles"``, ``"rankings"`` or ``"scores"``; without it, what the
    votes were read from. ``every_eval_ever`` writes a folder with a file for each agent: its scores, or, given ratings
    or their intervals in place of votes, its rating. What a format does not keep is counted in one warning.
    """
    if lost := write_out(data, target, format, kind=kind):
        warnings.warn(lost[0], stacklevel=2)


def write_out(
    data: Profile | Ratings | Uncertainty,
    target: str | os.PathLike[str] | IO[Any],
    format: str | None = None,
    *,
    kind: TableKind | None = None,
) -> list[str]:
    """``write``; what is not kept comes back as a line, if there is anything, in place of a warning."""
    path = os.fsdecode(target) if isinstance(target, str | os.PathLike) else None
    name = path or "output"
    suffix = suffix_of(path or "")
    format = format or {"ndjson": "jsonl"}.get(suffix, suffix)
    check(
        format in WRITABLE,
        f"format of {name}",
        f"one of {', '.join(WRITABLE)}, by suffix or name",
        format or "no suffix of these",
    )
    if kind is not None:
        one_of("kind", KINDS, kind, "one of")
        check(format in _TABLES, "kind", f"left out for {format}: {', '.join(_TABLES)} have kinds", kind)
    if format == EVER:
        return _said(name, _write_aggregates(data, path, name))
    profile = as_profile(data, "a Profile")
    _refuse_names(profile, name)
    try:
        content, lost = _table(profile, format, kind) if format in _TABLES else _preflib(profile, format)
    except DataError as error:
        raise DataError(f"{name}: {error}") from None
    _write(content, target, path, name)
    return _said(name, lost)


def _table(profile: Profile, format: str, kind: TableKind | None) -> tuple[str | bytes, list[str]]:
    columns, lost = table_of(profile, kind)
    if format == "parquet":
        return _parquet(columns), lost
    if format != "jsonl":
        return delimited.csv_text(columns, "\t" if format == "tsv" else ","), lost
    if "rank" not in columns:
        return delimited.jsonl_text(columns), lost
    lost += lost_entries(profile)
    longest, listed = int(profile.length.max(initial=0)), len(set(profile.agent.tolist()))
    if profile.kind != ("games" if longest <= 2 and 2 * longest <= listed else "election"):  # as readers take them
        lost.append(f"that {plural(profile.n_votes, 'vote')} are of the kind {profile.kind!r}")
    return delimited.rankings_jsonl(profile), lost


def _parquet(columns: TableColumns) -> bytes:
    needs("pyarrow", "parquet")
    import pyarrow as pa
    from pyarrow import parquet

    out = io.BytesIO()
    parquet.write_table(pa.table({name: pa.array(column, from_pandas=True) for name, column in columns.items()}), out)
    return out.getvalue()


def _preflib(profile: Profile, format: str) -> tuple[str, list[str]]:
    text = preflib.text_of(profile, None if format == "preflib" else format)
    about = {"times": profile.when, "who was shown first": profile.turned, "scores": profile.score}
    lost = [f"{words} of {plural(profile.n_votes, 'vote')}" for words, there in about.items() if there is not None]
    columns = list(profile.columns)
    lost += [f"{plural(len(columns), 'column')} ({some(map(repr, columns))})"] if columns else []
    lost += [f"that {plural(profile.n_votes, 'vote')} are games"] if profile.kind == "games" else []
    lost += lost_entries(profile)
    return text, lost + [one for one in lost_with_agents(profile) if "in no vote" not in one]


def _write_aggregates(data: Any, folder: str | None, name: str) -> list[str]:
    """A folder of files, one for each agent."""
    from softcondorcet import __version__
    from softcondorcet.io.eval_aggregates import rating_results, score_results, write_aggregates

    check(folder is not None and folder != "-", f"target of {EVER}", "the path of a folder", name)
    assert folder is not None
    if isinstance(data, Profile):
        library = {"name": "unknown", "version": "unknown"}
        source = os.path.basename(data.source.name.rstrip("/")) if data.source else "scores"
        try:
            results, lost = score_results(data)
        except DataError as error:
            raise DataError(f"{name}: {error}") from None
    else:
        check(hasattr(data, "to_dict"), "data", "a Profile, ratings or their intervals", type(data).__name__)
        library = {"name": "softcondorcet", "version": __version__}
        source = "softcondorcet"
        results, lost = rating_results(data.to_dict())
    write_aggregates(results, folder, source, library)
    return lost


def _said(name: str, lost: list[str]) -> list[str]:
    return [f"{name} does not keep: {'; '.join(lost)}"] if lost else []


def _write(content: str | bytes, target: Any, path: str | None, name: str) -> None:
    try:
        data = content.encode() if isinstance(content, str) else content
        if path is None or path == "-":
            stream: Any = sys.stdout if path else target
            if hasattr(stream, "encoding") and isinstance(content, bytes):
                stream = stream.buffer
            stream.write(content if hasattr(stream, "encoding") else data)
        else:
            with open(path, "wb") as file:
                file.write(gzip.compress(data, mtime=0) if path.lower().endswith(".gz") else data)
    except (OSError, ValueError, AttributeError) as error:
        raise DataError(f"{name}: cannot be written ({reason(error)})") from error


def _refuse_names(profile: Profile, name: str) -> None:
    columns = [(name, *column.names) for name, column in profile.columns.items()]
    for agent in (*profile.agents, *profile.groups, *chain(*columns)):
        if not agent or agent != agent.strip() or "\0" in agent:
            raise DataError(f"{name}: name {agent!r} cannot be written; expected text without outer spaces or NUL")
