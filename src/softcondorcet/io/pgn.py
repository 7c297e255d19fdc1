"""PGN: games of chess and the like, from the tags ``White``, ``Black`` and ``Result``; moves are not read.

``*`` is a game that did not end: left out and counted. Text is UTF-8, or Latin-1 as the standard of PGN says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from softcondorcet.errors import DataError
from softcondorcet.io.input_files import InputFile, brief, lines
from softcondorcet.io.records import Battles, Format, Options, name_of

_TAG = re.compile(r'\[\s*(\w+)\s+"((?:[^"\\]|\\.)*)"\s*\]')
RESULTS = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5, "1/2": 0.5, "½-½": 0.5}
_UNFINISHED = ("*", "?", "")


def recognise(source: InputFile) -> bool:
    return re.match(rb'(\xef\xbb\xbf)?(\s*[;%][^\n]*\n)*\s*\[\s*\w+\s+"', source.head) is not None


def read(files: list[InputFile], options: Options) -> Battles:
    battles = Battles("PGN")
    for file in files:
        for line, tags in _games(file):
            place = f"{file.name}:{line}"
            white, black = (name_of(tags.get(key), place, key) for key in ("White", "Black"))
            result = tags.get("Result")
            if result is None:
                raise DataError(f"{place}: Result is missing; expected 1-0, 0-1, 1/2-1/2 or *")
            if result in _UNFINISHED:
                battles.left_out["games that did not end (*)"] += 1
            elif result not in RESULTS:
                raise DataError(f"{place}: Result is {brief(result)}; expected 1-0, 0-1, 1/2-1/2 or *")
            elif "?" in (white, black):
                battles.left_out["games of unknown players (?)"] += 1
            elif white == black:
                battles.left_out["games of a player with himself"] += 1
            else:
                battles.add(white, black, RESULTS[result], event=tags.get("Event") or None, when=_time(tags))
    _all_or_none(battles, "when")
    return battles


def _all_or_none(battles: Battles, column: str) -> None:
    """Times of some games only put no games in order: the column goes, and that is said."""
    found = battles.columns.get(column)
    if found is not None and (missing := sum(code < 0 for code in found.codes)):
        del battles.columns[column]
        battles.notes.append(
            f"{missing:,} of {len(battles):,} games have no full date: games stay in the order of the file"
        )


def _games(file: InputFile) -> Iterator[tuple[int, dict[str, str]]]:
    """The tags of each game with the line of its first."""
    tags: dict[str, str] = {}
    start, in_moves = 1, False
    for number, line in lines(file):
        match = _TAG.match(_text(line)) if line.startswith(b"[") else None
        if match is None:
            in_moves = in_moves or bool(tags)
            continue
        if tags and (in_moves or match[1] in tags):
            yield start, tags
            tags = {}
        if not tags:
            start, in_moves = number, False
        tags[match[1]] = re.sub(r"\\(.)", r"\1", match[2]).strip()
    if tags:
        yield start, tags
    if not tags:
        raise DataError(f'{file.name}: no tags; expected games with [White "..."], [Black "..."] and [Result "..."]')


def _text(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("latin-1")


def _time(tags: dict[str, str]) -> str | None:
    """The time of a game as ISO 8601, or None where the date has question marks."""
    day, hour = tags.get("UTCDate") or tags.get("Date") or "", tags.get("UTCTime") or tags.get("Time") or ""
    for text, form in ((f"{day} {hour}", "%Y.%m.%d %H:%M:%S"), (day, "%Y.%m.%d")):
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC).isoformat()
        except ValueError:
            continue
    return None


FORMAT = Format(
    name="pgn",
    title="PGN: games with White, Black and Result",
    recognise=recognise,
    read=read,
    vote="a game",
    leaves_out="games that did not end (*)",
    example="sco rank games.pgn",
)
