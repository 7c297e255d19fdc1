"""Reading profiles: PrefLib, tables, evaluation logs, frames; a file, a folder, a glob or an archive.

``read`` picks the format by content, else by suffix, and the kind of table by its columns. Whatever is wrong with the
input is a ``DataError`` that begins with its place.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, overload

from softcondorcet.checks import check, one_of
from softcondorcet.errors import DataError
from softcondorcet.formatting import some
from softcondorcet.io import archives, preflib
from softcondorcet.io.agent_facts import AgentFacts, agent_facts_of, described, described_pairs
from softcondorcet.io.assemble import READERS
from softcondorcet.io.balance import GROUPS
from softcondorcet.io.ballots import with_ranking, with_unlisted_last
from softcondorcet.io.both_orders import joined
from softcondorcet.io.cells import Table, as_table
from softcondorcet.io.column_names import KINDS, pick
from softcondorcet.io.conditions import Condition, Where, columns_of, conditions, select
from softcondorcet.io.input_files import (
    LOGS,
    InputFile,
    digest,
    files_at,
    in_memory,
    stream_bytes,
    suffix_of,
    unzipped,
    whole_file,
)
from softcondorcet.io.parquet import PARQUET, parse_parquet
from softcondorcet.io.record_votes import battle_fields, score_fields
from softcondorcet.io.records import Battles, Options, Scores
from softcondorcet.io.table_size import MEMORY, size_of
from softcondorcet.io.tables import SIDES, SUFFIXES, read_table, table_in, text_in, together, with_index, with_sides
from softcondorcet.io.write import WRITABLE
from softcondorcet.profile import KINDS as PROFILE_KINDS, Kind, Profile
from softcondorcet.source import Source

if TYPE_CHECKING:
    from softcondorcet.pairs import Pairs

__all__ = ["FORMATS", "read", "read_archive"]

FORMATS = tuple(dict.fromkeys((*WRITABLE, "json", "md", "xlsx", *LOGS)))
_TABLES = ("csv", "tsv", "jsonl", "ndjson", "parquet", "xlsx")  # of several files in a folder


@dataclass(frozen=True)
class _Options:
    """How to read: the options of ``read`` that say what is in a file."""

    kind: str | None = None
    format: str | None = None
    columns: Mapping[str, Any] | None = None
    keep: Collection[str] = ()
    profile_kind: Kind | None = None
    logs: Options = field(default_factory=Options)
    lenient: bool = False


@overload
def read(
    source: Any,
    *,
    kind: str | None = None,
    format: str | None = None,
    columns: Mapping[str, Any] | None = None,
    keep: Collection[str] = (),
    profile_kind: Kind | None = None,
    metric: str | Collection[str] = (),
    lower_is_better: str | Collection[str] = (),
    higher_is_better: str | Collection[str] = (),
    agent_from: str | None = None,
    tasks: str | Collection[str] = (),
    failures: str | None = None,
    per: str = "item",
    where: Where = (),
    lenient: bool = False,
    unlisted: str = "absent",
    both_orders: str | None = None,
    balance: str | None = None,
    agent_facts: Any = None,
    engine: Literal["memory"] = "memory",
) -> Profile: ...


@overload
def read(
    source: Any,
    *,
    kind: str | None = None,
    columns: Mapping[str, Any] | None = None,
    profile_kind: Kind | None = None,
    where: Where = (),
    unlisted: str = "absent",
    balance: str | None = None,
    agent_facts: Any = None,
    engine: Literal["auto"],
    memory: str = MEMORY,
) -> Profile | Pairs: ...


@overload
def read(
    source: Any,
    *,
    kind: str | None = None,
    columns: Mapping[str, Any] | None = None,
    profile_kind: Kind | None = None,
    where: Where = (),
    unlisted: str = "absent",
    balance: str | None = None,
    agent_facts: Any = None,
    engine: str,
    memory: str = MEMORY,
) -> Pairs: ...


def read(
    source: Any,
    *,
    kind: str | None = None,
    format: str | None = None,
    columns: Mapping[str, Any] | None = None,
    keep: Collection[str] = (),
    profile_kind: Kind | None = None,
    metric: str | Collection[str] = (),
    lower_is_better: str | Collection[str] = (),
    higher_is_better: str | Collection[str] = (),
    agent_from: str | None = None,
    tasks: str | Collection[str] = (),
    failures: str | None = None,
    per: str = "item",
    where: Where = (),
    lenient: bool = False,
    unlisted: str = "absent",
    both_orders: str | None = None,
    balance: str | None = None,
    agent_facts: Any = None,
    engine: str = "memory",
    memory: str = MEMORY,
) -> Profile | Pairs:
    """The profile in a file, a folder, a glob, an archive, stdin (``"-"``), an open file or a frame.

    ``kind`` is ``battles``, ``rankings`` or ``scores`` where the columns leave a doubt; ``format`` one of ``FORMATS``
    where suffix and content do; ``columns`` names the column of a role, such as ``{"a": "first", "b": "second"}``.

    Logs of evaluation tools, score tables with items and wide tables: ``metric`` names the metric (``"acc"`` or
    ``"TASK=acc"``), ``lower_is_better`` and ``higher_is_better`` name tasks or metrics, ``agent_from`` is ``"file"``,
    ``"folder"`` or a regular expression that finds the agent in the path, ``tasks`` keeps only these, ``failures`` puts
    runs that failed ``"last"`` or leaves them out (``"absent"``), ``per`` makes one vote per ``"item"`` or ``"task"``.
    What was done and left out is in ``Profile.source.notes``.

    ``lenient`` reads PrefLib files whose header, type or comments do not fit their votes, with a warning.

    ``unlisted="last"`` ranks all agents that a vote leaves out below those that it lists, level with each other: for
    ballots that name a few of many. ``both_orders`` joins two battles of one question that showed the agents both ways
    round: a ``"tie"`` where they disagree, or ``"half"`` a vote each. ``agent_facts`` is a table about agents (a file,
    a frame or a dict): ``name``, ``organisation``, ``licence``, ``price``, ``link``, ``alias`` and the like
    (``Profile.facts``). ``balance`` weighs votes so that each group counts the same: "groups", or a column
    (``Profile.balanced``).

    Columns without a role that have one value for each vote are in ``Profile.columns``; not so long texts, and
    those of more than 10,000 names, unless `keep` lists them. ``profile_kind`` is "games" or "election" where the
    votes are not of the kind that such a table usually has (``Profile.kind``).

    ``where`` chooses votes, as ``"language=en"``, ``["judge!=anna", "when>=2026"]`` or ``{"language": ["en", "de"]}``:
    see ``Profile.where``. A column that it names is kept.

    Votes that are too many for memory are counted by an `engine`, and their pairs come back: by ``"auto"``, where they
    would take more than half of `memory` or than is free, else they come as votes; by ``"duckdb"``, with about
    `memory`, from files such as ``"votes/*.parquet"``; by ``"ibis"``, from a table of any engine that Ibis knows; by
    ``"ray://HOST:PORT"``, a cluster, from Parquet files that its workers can read.

    >>> read({"model_a": ["x", "y"], "model_b": ["y", "z"], "winner": ["model_a", "tie"]}).n_votes
    2
    """
    if kind is not None:
        one_of("kind", KINDS, kind, "one of")
    if format is not None:
        one_of("format", FORMATS, format)
    if profile_kind is not None:
        one_of("profile_kind", PROFILE_KINDS, profile_kind)
    chosen = conditions(where)
    changes = {"unlisted": unlisted if unlisted != "absent" else None, "both_orders": both_orders}
    changes |= {"agent_facts": agent_facts, "balance": balance}
    asked = {option: given for option, given in changes.items() if given is not None}
    if asked:
        _check_changes(asked)
    if engine not in ("memory", "auto"):
        counted = _counted_by(source, engine, asked, kind=kind, columns=columns, memory=memory, where=chosen)
        return replace(counted, kind=profile_kind) if profile_kind else counted
    logs = Options(
        metric=_words(metric),
        lower_is_better=_words(lower_is_better),
        higher_is_better=_words(higher_is_better),
        agent_from=agent_from,
        tasks=_words(tasks),
        failures=failures,
        per=per,
        keep=(*_words(keep), *columns_of(chosen), *([balance] if balance not in (None, GROUPS) else ())),
    )
    options = _Options(kind, format, columns, logs.keep, profile_kind, logs, lenient)
    needs_votes = bool(asked) or engine == "memory"
    if (pairs := _counted_if_large(source, options, chosen, None if needs_votes else memory)) is not None:
        return pairs
    profile = _read(source, options)
    if asked:
        profile = _changed(profile, asked)
    profile = select(profile, chosen, _words(keep))
    return profile if balance is None else profile.balanced(balance)


def _counted_by(source: Any, engine: str, asked: Mapping[str, Any], **how: Any) -> Pairs:
    """The pairs that an engine counts by its name, as they are asked for."""
    from softcondorcet.io.engines.choice import count_by

    words = {"unlisted": "who is listed in which vote", "both_orders": "which battles are of one question"}
    for option, what in words.items():
        said = f"left out for the engine {engine}, which does not keep {what} (engine memory does)"
        check(option not in asked, option, said, asked.get(option))
    pairs = count_by(source, engine, balance=asked.get("balance"), **how)
    return described_pairs(pairs, read_agent_facts(asked["agent_facts"])) if "agent_facts" in asked else pairs


def _counted_if_large(source: Any, options: _Options, where: Collection[Condition], memory: str | None) -> Pairs | None:
    """The pairs of a table whose votes take too much of such memory; an error where they do not fit and cannot be."""
    size = size_of(os.fsdecode(source)) if isinstance(source, str | os.PathLike) else None
    if size is None:
        return None
    plain = options.logs == Options(keep=columns_of(where)) and options.format is None and not options.lenient
    if memory is not None and plain and size.is_large(memory):
        from softcondorcet.io.engines.choice import count

        counted = count(size, options.kind, options.columns, where, memory)
        if counted is not None:
            return replace(counted, kind=options.profile_kind) if options.profile_kind else counted
    size.check()
    return None


def _read(source: Any, options: _Options) -> Profile:
    """The votes of a path, an open file, a frame or a profile."""
    if isinstance(source, Profile):
        return replace(source, kind=options.profile_kind) if options.profile_kind else source
    if isinstance(source, str | os.PathLike):
        return _read_path(os.fsdecode(source), options)
    if hasattr(source, "read") and not hasattr(source, "columns"):
        name, data = getattr(source, "name", None), stream_bytes(source)
        return _read_bytes(data, name if isinstance(name, str) else "<stream>", options)
    return _profile(as_table(with_index(source)), None, options)


def _check_changes(asked: Mapping[str, Any]) -> None:
    """Check the options that change votes after they are read."""
    for option, choices in (("unlisted", ("absent", "last")), ("both_orders", ("tie", "half"))):
        if option in asked:
            one_of(option, choices, asked[option])


def _changed(profile: Profile, asked: Mapping[str, Any]) -> Profile:
    """Apply the options that change votes: facts about agents, unlisted agents, battles in both orders."""
    if "agent_facts" in asked:
        profile = described(profile, read_agent_facts(asked["agent_facts"]))
    if "unlisted" in asked:
        profile = with_unlisted_last(profile)
    return joined(profile, asked["both_orders"]) if "both_orders" in asked else profile


def read_agent_facts(source: Any) -> AgentFacts:
    """Read facts about agents from the path of a table, a frame or a dict of columns."""
    if isinstance(source, str | os.PathLike):
        data, read_from = whole_file(os.fsdecode(source))
        return agent_facts_of(table_in(data, read_from.name)[0])
    return agent_facts_of(as_table(source).renamed("agent_facts"))


def _words(given: str | Collection[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _read_path(path: str, options: _Options) -> Profile:
    """The votes behind a path: one file as it stands, several as one set of results."""
    name, separator, sheet = path.partition("::")
    inside = separator and not os.path.exists(path)
    if inside and suffix_of(name) in ("xlsx", "xls", "ods"):
        return _parse(*whole_file(name), options, sheet)
    if path == "-" or inside:
        data, source = whole_file(path)
        return _read_bytes(data, source.name, options, source)
    with files_at(path) as files:
        if [file.name for file in files] != [path] or not os.path.isfile(path):
            return _read_several(path, files, options)
        if not files[0].head:
            raise DataError(f"{path}: empty; expected votes")
        records = _logs(path, files, options)
        if records is not None:
            return _of_records(records, Source(path, digest(files)), options)
        if files[0].head[:4] == PARQUET and options.format in (None, "parquet"):
            _refuse_lenient(options)
            return _profile(parse_parquet(path, path), Source(path, digest(files)), options)
    return _parse(*whole_file(path), options)


def _read_bytes(data: bytes, name: str, options: _Options, source: Source | None = None) -> Profile:
    source = source or Source(name, sha256(data).hexdigest())
    records = _logs(name, [in_memory(name, data)], options)
    return _parse(data, source, options) if records is None else _of_records(records, source, options)


def _logs(name: str, files: list[InputFile], options: _Options) -> Scores | Battles | None:
    """The scores or battles in logs of an evaluation tool; None if the files are tables."""
    if options.format is not None and options.format not in LOGS:
        return None
    if options.format is None and (options.kind is not None or options.columns):
        return None
    if options.format is None and not any(file.may_be_log for file in files):
        return None
    from softcondorcet.io.formats import read_logs

    return read_logs(name, files, options.format, options.logs)


def _read_several(path: str, files: list[InputFile], options: _Options) -> Profile:
    """The votes in a folder, a glob or an archive: logs of one tool, else tables with the same columns."""
    if not files:
        raise DataError(f"{path}: is {'a directory' if os.path.isdir(path) else 'an archive'} without files")
    source = Source(path, digest([InputFile.on_disk(path)] if os.path.isfile(path) else files))
    records = _logs(path, files, options)
    if records is not None:
        return _of_records(records, source, options)
    if len(files) == 1:
        return _parse(files[0].read(), replace(source, name=files[0].name), options)
    tables = [file for file in files if file.suffix.removeprefix(".") in _TABLES]
    if not tables or (os.path.isfile(path) and len(tables) < len(files)):
        listed = some([file.path.rpartition("/")[2] for file in files])
        raise DataError(
            f"{path}: holds {len(files)} files; expected one, results of one tool ('sco formats'), tables with the "
            f"same columns, or one of an archive named as in '{files[0].name}' or all by read_archive; found {listed}"
        )
    read = [(file, table_in(file.read(), file.name, options.format)[0]) for file in tables]
    notes = [f"{len(tables)} tables of {len(files)} files"]
    return _profile(together(path, read, options.logs), source, options, notes=notes)


def read_archive(path: str | os.PathLike[str], pattern: str = "*") -> Iterator[tuple[str, Profile]]:
    """Each member of a zip archive whose name matches the pattern, with its profile, one by one in order of name."""
    name = os.fsdecode(path)
    with archives.open_zip(name) as (archive, digest):
        members = [member for member in archives.file_names(archive) if fnmatchcase(member, pattern)]
        if not members:
            raise DataError(f"{name}: no member matches {pattern!r}; expected at least one")
        for member in members:
            place = Source(f"{name}::{member}", digest)
            yield member, _parse(archives.member(archive, name, member), place, _Options())


def _parse(data: bytes, source: Source, options: _Options, sheet: str | None = None) -> Profile:
    name = source.name
    if data[:2] == b"\x1f\x8b" or name.lower().endswith(".gz"):
        data = unzipped(data, name)
    format = options.format or SUFFIXES.get(suffix_of(name))
    if format is None and suffix_of(name) in ("cat", "wmd"):
        raise DataError(
            f"{name}: not a format that can be read; expected PrefLib (soc, soi, toc, toi), csv, tsv, "
            "jsonl (one object per line) or parquet"
        )
    if format in (*preflib.TYPES, "preflib") or (format is None and preflib.is_preflib(data)):
        check(options.kind in (None, "rankings"), "kind", "rankings for a PrefLib file", options.kind)
        check(not options.columns, "columns", "left out for a PrefLib file", options.columns)
        said = next((known for known in (format, suffix_of(name)) if known in preflib.TYPES), None)
        kind = options.profile_kind or "election"
        return preflib.parse(text_in(data, name), name, said, kind=kind, source=source, lenient=options.lenient)
    _refuse_lenient(options)
    table, decimal_comma, notes = table_in(data, name, options.format, sheet)
    return _profile(table, source, options, decimal_comma, notes)


def _refuse_lenient(options: _Options) -> None:
    check(not options.lenient, "lenient", "left out: only PrefLib files have a header that may be wrong", True)


def _of_records(records: Scores | Battles, source: Source, options: _Options) -> Profile:
    """The profile of scores or battles, with what was done and left out in its source's notes."""
    if isinstance(records, Battles):
        roles = {"group", "when", "voter", "weight"}
        given = {role: name for role, name in (options.columns or {}).items() if role in roles}
        fields = battle_fields(records, given, options.keep)
    else:
        fields = score_fields(records, options.logs)
    try:
        kind = options.profile_kind or fields["kind"]
        return Profile(**{**fields, "kind": kind}, source=replace(source, notes=tuple(records.summary())))
    except DataError as error:
        raise DataError(f"{source.name}: {error}") from None


def _profile(
    table: Table,
    source: Source | None,
    options: _Options,
    decimal_comma: bool | None = None,
    notes: Collection[str] = (),
) -> Profile:
    columns = options.columns or {}
    if not table.n_rows:
        raise DataError(f"{table.name}: no rows; expected at least one")
    if not columns and options.kind in (None, "rankings"):
        table = with_ranking(table)
    table, teams = with_sides(table)
    if teams is not None:
        source = replace(source or Source(table.name, ""), teams=teams)
        notes = (*notes, SIDES)
    records = read_table(table, options.kind, columns, options.logs, decimal_comma)
    if records is not None:
        records.notes[:0] = notes
        return _of_records(records, source or Source(table.name, ""), options)
    form = pick(table, options.kind, columns)
    if options.logs.said:
        name, given = options.logs.said[0]
        words = "left out: this table holds no scores" if form != "scores" else "left out where scores have weights"
        check(False, name, words, given)
    function = READERS[form]
    roles = [role for role in inspect.signature(function).parameters if role not in ("table", "keep")]
    check(columns.keys() <= set(roles), "columns", f"a dict with keys among {', '.join(roles)}", dict(columns))
    fields = function(table, keep=options.keep, **columns)
    if source is not None and notes:
        source = replace(source, notes=tuple(notes))
    name = table.name
    del table  # codes of columns that are read now take as much memory as half of the votes
    try:
        return Profile(**{**fields, "kind": options.profile_kind or fields["kind"]}, source=source)
    except DataError as error:
        raise DataError(f"{name}: {error}") from None
