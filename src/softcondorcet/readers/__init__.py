"""Reading and writing profiles: PrefLib, csv, tsv, jsonl, parquet, frames; plain, gzipped or inside a zip.

``read`` picks the format by suffix, else by content, and the kind of table by its columns. Whatever is wrong with the
input is a ``DataError`` that begins with its place.
"""

from __future__ import annotations

import gzip
import inspect
import os
import re
import sys
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import IO, TYPE_CHECKING, Any, Literal, overload

from softcondorcet.cells import Table, as_table
from softcondorcet.columns import KINDS, pick
from softcondorcet.errors import DataError
from softcondorcet.options import check, one_of
from softcondorcet.profile import Profile, as_profile
from softcondorcet.readers import preflib, table

if TYPE_CHECKING:
    from softcondorcet.pairs import Pairs

__all__ = ["FORMATS", "read", "read_archive", "write", "write_preflib"]

FORMATS = (*preflib.TYPES, "preflib", "csv", "tsv", "jsonl", "parquet")
_SUFFIXES = {**{name: name for name in FORMATS if name != "preflib"}, "ndjson": "jsonl"}
_BROKEN = (OSError, EOFError, ValueError, RuntimeError, NotImplementedError, zlib.error, zipfile.BadZipFile)


@overload
def read(
    source: Any,
    *,
    kind: str | None = None,
    format: str | None = None,
    columns: Mapping[str, Any] | None = None,
    engine: Literal["memory"] = "memory",
) -> Profile: ...


@overload
def read(
    source: Any,
    *,
    kind: str | None = None,
    columns: Mapping[str, Any] | None = None,
    engine: Literal["duckdb", "ibis"],
    memory: str = "2GB",
) -> Pairs: ...


def read(
    source: Any,
    *,
    kind: str | None = None,
    format: str | None = None,
    columns: Mapping[str, Any] | None = None,
    engine: str = "memory",
    memory: str = "2GB",
) -> Profile | Pairs:
    """The profile in a file, an archive member (``"x.zip::member"``), stdin (``"-"``), an open file or a frame.

    ``kind`` is ``battles``, ``rankings`` or ``scores`` where the columns leave a doubt; ``format`` one of ``FORMATS``
    where suffix and content do; ``columns`` names the column of a role, such as ``{"a": "first", "b": "second"}``.

    Votes that are too many for memory are counted by an `engine`, and their pairs come back: by ``"duckdb"``, with
    about `memory`, from files such as ``"votes/*.parquet"``; by ``"ibis"``, from a table of any engine that Ibis knows.

    >>> read({"model_a": ["x", "y"], "model_b": ["y", "z"], "winner": ["model_a", "tie"]}).n_votes
    2
    """
    check(kind is None or kind in KINDS, "kind", f"one of {', '.join(KINDS)}", kind)
    check(format is None or format in FORMATS, "format", f"one of {', '.join(FORMATS)}", format)
    one_of("engine", ("memory", "duckdb", "ibis"), engine)
    if engine != "memory":
        return _count(source, engine, kind, columns, memory)
    if isinstance(source, Profile):
        return source
    if isinstance(source, str | os.PathLike):
        return _parse(*_load(os.fsdecode(source)), kind, format, columns)
    if hasattr(source, "read") and not hasattr(source, "columns"):
        name = getattr(source, "name", None)
        return _parse(name if isinstance(name, str) else "<stream>", _bytes(source), kind, format, columns)
    return _profile(as_table(source), kind, columns)


def _count(source: Any, engine: str, kind: str | None, columns: Mapping[str, Any] | None, memory: str) -> Pairs:
    if engine == "ibis":
        from softcondorcet.scale.sql import count

        return count(source, kind=kind, columns=columns)
    from softcondorcet.scale.duck import read_pairs

    path = isinstance(source, str | os.PathLike)
    check(path, "source", "a path, or several as in 'votes/*.parquet', for DuckDB", source)
    return read_pairs(os.fsdecode(source), kind=kind, columns=columns, memory=memory)


def read_archive(path: str | os.PathLike[str], pattern: str = "*") -> Iterator[tuple[str, Profile]]:
    """Each member of a zip archive whose name matches the pattern, with its profile, one by one in order of name."""
    name = os.fsdecode(path)
    with _open_zip(name) as archive:
        members = [member for member in _members(archive) if fnmatchcase(member, pattern)]
        if not members:
            raise DataError(f"{name}: no member matches {pattern!r}; expected at least one")
        for member in members:
            yield member, _parse(f"{name}::{member}", _member(archive, name, member), None, None, None)


def write(profile: Profile, target: str | os.PathLike[str] | IO[Any], format: str | None = None) -> None:
    """Write a profile to a path, an open file or stdout (``"-"``); the suffix tells the format unless it is given.

    Formats: soc, soi, toc, toi, preflib, csv and tsv (one row per contest and agent), jsonl; a path that ends in
    ``.gz`` is compressed. Agents that stand in no vote are kept by PrefLib only; groups and times by the others only.
    """
    path = os.fsdecode(target) if isinstance(target, str | os.PathLike) else None
    name = path or "output"
    known = [known for known in FORMATS if known != "parquet"]
    format = format or _SUFFIXES.get(_suffix(path or ""))
    check(
        format in known,
        f"format of {name}",
        f"one of {', '.join(known)}, by suffix or name",
        format or "no suffix of these",
    )
    _refuse_names(as_profile(profile, "a Profile"), name)
    if format in ("csv", "tsv", "jsonl"):
        unseen = profile.n_agents - len(set(profile.agent.tolist()))
        if unseen:
            warnings.warn(
                f"{name}: {unseen} agents stand in no vote and are not in a {format}; PrefLib keeps them", stacklevel=2
            )
        text = table.jsonl_of(profile) if format == "jsonl" else table.csv_of(profile, "\t" if format == "tsv" else ",")
    else:
        try:
            text = preflib.text_of(profile, None if format == "preflib" else format)
        except DataError as error:
            raise DataError(f"{name}: {error}") from None
    try:
        data = text.encode()
        if path is None or path == "-":
            stream: Any = sys.stdout if path else target
            stream.write(text if hasattr(stream, "encoding") else data)
        else:
            with open(path, "wb") as file:
                file.write(gzip.compress(data, mtime=0) if path.lower().endswith(".gz") else data)
    except (OSError, ValueError) as error:
        raise DataError(f"{name}: cannot be written ({_reason(error)})") from error


def write_preflib(profile: Profile, target: str | os.PathLike[str] | IO[Any]) -> None:
    """Write a PrefLib file of the type its suffix names, else of the narrowest type that holds the votes."""
    path = os.fsdecode(target) if isinstance(target, str | os.PathLike) else ""
    suffix = _suffix(path)
    write(profile, target, suffix if suffix in preflib.TYPES else "preflib")


def _parse(name: str, data: bytes, kind: str | None, format: str | None, columns: Mapping[str, Any] | None) -> Profile:
    if data[:2] == b"\x1f\x8b" or name.lower().endswith(".gz"):
        try:
            data = gzip.decompress(data)
        except _BROKEN as error:
            raise DataError(f"{name}: not a gzip file that can be read ({_reason(error)})") from error
    format = format or _SUFFIXES.get(_suffix(name)) or ("parquet" if data[:4] == b"PAR1" else None)
    if format == "parquet":
        return _profile(table.parse_parquet(data, name), kind, columns)
    text = _text(data, name)
    format = format or _sniff(text, name)
    if format in (*preflib.TYPES, "preflib"):
        check(kind in (None, "rankings"), "kind", "rankings for a PrefLib file", kind)
        check(not columns, "columns", "left out for a PrefLib file", columns)
        said = [known for known in (format, _suffix(name)) if known in preflib.TYPES]
        return preflib.parse(text, name, said[0] if said else None)
    if format == "jsonl":
        return _profile(table.parse_jsonl(text, name), kind, columns)
    return _profile(table.parse_csv(text, name, "\t" if format == "tsv" else None), kind, columns)


def _profile(source: Table, kind: str | None, columns: Mapping[str, Any] | None) -> Profile:
    columns = columns or {}
    if not source.n_rows:
        raise DataError(f"{source.name}: no rows; expected at least one")
    function = pick(source, kind, columns)
    roles = list(inspect.signature(function).parameters)[1:]
    check(columns.keys() <= set(roles), "columns", f"a dict with keys among {', '.join(roles)}", dict(columns))
    fields = function(source, **columns)
    try:
        return Profile(**fields)
    except DataError as error:
        raise DataError(f"{source.name}: {error}") from None


def _text(data: bytes, name: str) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(f"{name}:{line}: byte 0x{data[error.start]:02x} is not UTF-8; expected text in UTF-8") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise DataError(f"{name}:{line}: a NUL byte; expected text in UTF-8")
    if not text.strip():
        raise DataError(f"{name}: empty; expected votes")
    return text


def _sniff(text: str, name: str) -> str:
    first = text.lstrip().partition("\n")[0].strip()
    if first.startswith("{"):
        return "jsonl"
    if first.startswith("[") or "." + _suffix(name) in (".cat", ".wmd", ".json", ".xlsx"):
        raise DataError(
            f"{name}: not a format that can be read; expected PrefLib (soc, soi, toc, toi), csv, tsv, "
            "jsonl (one object per line) or parquet"
        )
    return "preflib" if re.match(r"#|\d+\s*(:|$)", first) else "csv"


def _suffix(name: str) -> str:
    base = re.split(r"[/\\:]", name.lower())[-1].removesuffix(".gz")
    return base.rpartition(".")[2] if "." in base else ""


def _load(path: str) -> tuple[str, bytes]:
    """The bytes behind a path, with the name to use for their place."""
    if path == "-":
        return "<stdin>", sys.stdin.buffer.read()
    name, separator, member = path.partition("::")
    if separator and not os.path.exists(path):
        with _open_zip(name) as archive:
            return path, _member(archive, name, member)
    if path.lower().endswith(".zip"):
        with _open_zip(path) as archive:
            members = _members(archive)
            if len(members) != 1:
                raise DataError(
                    f"{path}: holds {len(members)} files; expected one, or one of them named as "
                    f"'{path}::{members[0] if members else 'member'}', or read_archive for all"
                )
            return f"{path}::{members[0]}", _member(archive, path, members[0])
    try:
        with open(path, "rb") as file:
            return path, file.read()
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: {_reason(error)}; expected a file to read") from error


def _open_zip(path: str) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise DataError(f"{path}: {_reason(error)}; expected a zip archive") from error
    except _BROKEN as error:
        raise DataError(f"{path}: not a zip archive that can be read ({_reason(error)})") from error


def _members(archive: zipfile.ZipFile) -> list[str]:
    return sorted(name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX/"))


def _member(archive: zipfile.ZipFile, name: str, member: str) -> bytes:
    try:
        return archive.read(member)
    except KeyError as error:
        count = len(_members(archive))
        raise DataError(f"{name}::{member}: no such member; expected one of the archive's {count} files") from error
    except _BROKEN as error:
        raise DataError(f"{name}::{member}: cannot be unpacked ({_reason(error)})") from error


def _bytes(stream: Any) -> bytes:
    try:
        data = stream.read()
        return data.encode("utf-8", "surrogateescape") if isinstance(data, str) else bytes(data)
    except _BROKEN as error:
        raise DataError(f"<stream>: cannot be read ({_reason(error)})") from error


def _reason(error: BaseException) -> str:
    words = error.strerror if isinstance(error, OSError) and error.strerror else str(error) or type(error).__name__
    return words[:1].lower() + words[1:]


def _refuse_names(profile: Profile, name: str) -> None:
    for agent in (*profile.agents, *profile.groups):
        if not agent or agent != agent.strip() or "\0" in agent:
            raise DataError(f"{name}: name {agent!r} cannot be written; expected text without outer spaces or NUL")
