"""Writing profiles: PrefLib, csv, tsv, jsonl; to a path, an open file or stdout."""

from __future__ import annotations

import gzip
import os
import sys
import warnings
from itertools import chain
from typing import IO, Any

from softcondorcet.checks import check
from softcondorcet.errors import DataError
from softcondorcet.io import delimited, preflib
from softcondorcet.io.archives import reason
from softcondorcet.io.input_files import suffix_of
from softcondorcet.profile import Profile, as_profile

WRITABLE = (*preflib.TYPES, "preflib", "csv", "tsv", "jsonl")


def write(profile: Profile, target: str | os.PathLike[str] | IO[Any], format: str | None = None) -> None:
    """Write a profile to a path, an open file or stdout (``"-"``); the suffix tells the format unless it is given.

    Formats: soc, soi, toc, toi, preflib, csv and tsv (one row per contest and agent), jsonl; a path that ends in
    ``.gz`` is compressed. PrefLib alone keeps agents that stand in no vote; the others alone keep groups, times,
    voters, scores and other columns.
    """
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
    _refuse_names(as_profile(profile, "a Profile"), name)
    if format in ("csv", "tsv", "jsonl"):
        unseen = profile.n_agents - len(set(profile.agent.tolist()))
        if unseen:
            warnings.warn(
                f"{name}: {unseen} agents stand in no vote and are not in a {format}; PrefLib keeps them", stacklevel=2
            )
        text = (
            delimited.jsonl_of(profile)
            if format == "jsonl"
            else delimited.csv_of(profile, "\t" if format == "tsv" else ",")
        )
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
        raise DataError(f"{name}: cannot be written ({reason(error)})") from error


def _refuse_names(profile: Profile, name: str) -> None:
    columns = [(name, *column.names) for name, column in profile.columns.items()]
    for agent in (*profile.agents, *profile.groups, *chain(*columns)):
        if not agent or agent != agent.strip() or "\0" in agent:
            raise DataError(f"{name}: name {agent!r} cannot be written; expected text without outer spaces or NUL")
