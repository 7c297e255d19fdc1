"""Shared by the readers of evaluation logs: the name of an agent, and required fields."""

from __future__ import annotations

import posixpath
import re
from typing import Any

from softcondorcet.checks import check
from softcondorcet.errors import DataError
from softcondorcet.io.input_files import InputFile, brief
from softcondorcet.io.records import Options, name_of


def agent_of(source: InputFile, inside: Any, options: Options, what: str) -> str:
    """The agent of a file: by ``agent_from`` where it is given, else the one named inside, else an error that asks."""
    how = options.agent_from
    if how == "file":
        return name_of(source.stem, source.name, "the file's name")
    if how == "folder":
        return name_of(posixpath.basename(source.folder), source.name, "the folder's name")
    if how is not None:
        try:
            match = re.search(how, source.path)
        except re.error as error:
            check(False, "agent_from", f"file, folder or a regular expression ({error})", how)
        if not match:
            raise DataError(f"{source.name}: {how!r} is not found in the path; expected it there (--agent-from)")
        return name_of(match[1] if match.re.groups else match[0], source.name, "what --agent-from finds")
    if inside is None or (isinstance(inside, str) and not inside.strip()):
        raise DataError(
            f"{source.name}: {what} is missing, so nothing names the agent; "
            "expected --agent-from file, folder or a regular expression"
        )
    return name_of(inside, source.name, what)


def get(value: Any, place: str, key: str, kind: type | tuple[type, ...], words: str) -> Any:
    """The value of a key, which must be there and of one kind."""
    if not isinstance(value, dict):
        raise DataError(f"{place}: {brief(value)}; expected an object with {key!r}")
    found = value.get(key)
    if key not in value or not isinstance(found, kind) or (isinstance(found, bool) and kind is not bool):
        said = brief(found) if key in value else "missing"
        raise DataError(f"{place}: {key} is {said}; expected {words}")
    return found


def optional(value: Any, *keys: str) -> Any:
    """The value at the end of a path of keys, or None."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def text_or_none(value: Any) -> str | None:
    """A value as text for an extra column, or None."""
    return str(value)[:200] if isinstance(value, str | int | float) and not isinstance(value, bool) else None
