"""A table as plain text, fitted to a width: columns are shortened, wrapped or left out, and what is left out is named.

Columns stand in order of importance: where they do not fit, the last one goes first. Names lose what they share, so
that no two read the same; reasons and titles are wrapped between words; numbers of a column have the same digits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from softcondorcet.formatting import clipped, padded, percent, printable, shortened, span, widest, wrapped

Row = Mapping[str, Any]
# An interval and a value inside it.
Range = tuple[float, float, float]

NO_ROWS = ("rank", "agent", "rating")
# Columns of shares of one, which are shown in percent, and columns of words that may be wrapped.
_SHARES = frozenset(("win_chance", "chance", "above", "accuracy", "share"))
_PROSE = frozenset(("why", "title", "source", "says", "what"))
# Columns with the names of agents, and columns that go before those on their right.
_WHO = frozenset(("agent", "a", "b"))
_FIRST_TO_GO = frozenset(("wins", "losses", "ties", "log_odds", "mcnemar", "needed", "more"))
# Columns up to which a name and words need not shrink before other columns go, and to which they may.
_NAME, _WORDS, _LEAST = 24, 30, 8
# Widths of a bar.
_BAR = range(14, 41)
# What four digits show as 0.
_TINY = 5e-5
_GAP, _RANGE = "  ", "rating range"


@dataclass(frozen=True)
class TextTable:
    """Cells padded to the width of their column; a row with wrapped words takes several lines.

    `kinds` says of each column whether it holds a "name", "words", a "number" or a "bar". `left_out` are the titles of
    the columns that did not fit.
    """

    head: Sequence[str]
    body: Sequence[Sequence[str]]
    kinds: Sequence[str]
    left_out: Sequence[str] = ()

    def __str__(self) -> str:
        return "\n".join(_GAP.join(line).rstrip() for line in (self.head, *self.body))


@dataclass(frozen=True)
class Column:
    """A column in words: its kind is "name", "words", "number" or "bar", and `natural` as wide as it takes."""

    name: str
    title: str
    kind: str
    cells: Sequence[str]
    natural: int = 0

    @property
    def least(self) -> int:
        """What it needs before other columns go."""
        return min(self.natural, {"name": _NAME, "words": _WORDS}.get(self.kind, self.natural))

    def lines(self, width: int) -> list[list[str]]:
        """The title and each cell as lines no wider than this; what is one line is never broken into two."""
        if self.natural <= width:
            return [[text] for text in (self.title, *self.cells)]
        if self.kind == "words":
            return [[self.title], *(wrapped(text, width) for text in self.cells)]
        return [[clipped(self.title, width)], *([name] for name in shortened(self.cells, width))]


def text_table(
    rows: Sequence[Row], width: int | None = None, bars: Sequence[Range | None] = (), *, names: bool = False
) -> TextTable:
    """A table of at most this width; of any width, and without bars, where it is None.

    `bars` are drawn beside the ratings, one for each row, where there is room for them. `names`: the titles are names,
    of methods or groups, and stay as they are.
    """
    columns, left_out = columns_of(rows, names), list[str]()
    if width is not None:
        fitting = _with_bars(_fitted(columns, width), bars, width)
        left_out = [column.title for column in columns if column not in fitting]
        columns = fitting
    widths = _widths(columns, width)
    cells = [column.lines(most) for column, most in zip(columns, widths, strict=True)]
    tall = [max(map(len, row)) for row in zip(*cells, strict=True)]
    filled = [
        [line for lines, n in zip(column, tall, strict=True) for line in [*lines, *[""] * (n - len(lines))]]
        for column in cells
    ]
    right = [column.kind == "number" for column in columns]
    ready = [padded(lines, most, right=r) for lines, most, r in zip(filled, widths, right, strict=True)]
    head, *body = zip(*ready, strict=True)
    return TextTable(head, body, [column.kind for column in columns], left_out)


def columns_of(rows: Sequence[Row], names: bool = False) -> list[Column]:
    """The columns that are not empty; the ends of an interval are one column."""
    if not rows:
        return [Column(name, name, "name", (), len(name)) for name in NO_ROWS]
    known = {name: [row[name] for row in rows] for name in rows[0]}
    known = {name: values for name, values in known.items() if any(value is not None for value in values)}
    titles = [printable(name if names else name.replace("_", " ")) for name in known]
    found = []
    for title, (name, values) in zip(titles, known.items(), strict=True):
        stem, low, high = _ends(name)
        if low and low in known and high in known:
            if name == low:
                found.append(_range_column(stem, known[low], known[high]))
        else:
            found.append(_column(name, title, values))
    return [replace(column, natural=widest((column.title, *column.cells))) for column in found]


def _ends(name: str) -> tuple[str, str, str]:
    """What an interval is of, and the names of the columns with its ends."""
    stem = name.removesuffix("low").removesuffix("high")
    return (stem.rstrip("_"), f"{stem}low", f"{stem}high") if stem != name else (name, "", "")


def _range_column(stem: str, low: Sequence[Any], high: Sequence[Any]) -> Column:
    whole = all(isinstance(end, int) or end is None for end in (*low, *high))
    digits = _digits([*low, *high])
    cells = []
    for ends in zip(low, high, strict=True):
        if whole:
            cells.append("" if None in ends else span(*ends))
        elif stem in _SHARES:
            cells.append("" if None in ends else " to ".join(percent(end, 1) for end in ends))
        else:
            cells.append("" if None in ends else " to ".join(_number(end, digits) for end in ends))
    return Column(stem, f"{stem} range".strip().replace("_", " "), "number", cells)


def _column(name: str, title: str, values: Sequence[Any]) -> Column:
    if any(isinstance(value, str | bool) for value in values):
        kind = "words" if name in _PROSE else "name"
        return Column(name, title, kind, ["" if v is None else printable(str(v)) for v in values])
    if name in _SHARES:
        return Column(name, title, "number", ["" if value is None else percent(value, 1) for value in values])
    digits = _digits(values)
    return Column(name, title, "number", ["" if value is None else _number(value, digits) for value in values])


def _digits(values: Sequence[float | None]) -> int:
    """Digits after the point that all numbers of a column have: up to four, and five in all of the largest."""
    known = [abs(value) for value in values if isinstance(value, float) and math.isfinite(value)]
    most = 4 - min(max(math.floor(math.log10(max(known))), 0), 4) if known and max(known) > 0 else 0
    enough = (d for d in range(most) if all(abs(v - round(v, d)) < _TINY for v in known))
    return most if any(0 < v < _TINY for v in known) else next(enough, most)


def _number(value: float, digits: int) -> str:
    """So many digits, thousands apart from five digits on; a chance is never shown as 0 that is not."""
    if not math.isfinite(value) or abs(value) >= 1e15:
        return f"{value:g}"
    if 0 < value < _TINY and digits == 4:
        return "<0.0001"
    return f"{value:z,.{digits}f}" if abs(value) >= 10_000 else f"{value:z.{digits}f}"


def _fitted(columns: Sequence[Column], width: int) -> list[Column]:
    """The columns that fit, the last ones left out first; who is meant and words stay."""
    named = next((k for k, column in enumerate(columns) if column.kind == "name"), 0)
    going = [column for column in columns[named + 1 :] if column.kind != "words" and column.name not in _WHO]
    going.sort(key=lambda column: column.name in _FIRST_TO_GO)
    kept = list(columns)
    while going and _taken(kept, [column.least for column in kept]) > width:
        kept.remove(going.pop())
    return kept


def _taken(columns: Sequence[Column], widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * max(len(columns) - 1, 0)


def _widths(columns: Sequence[Column], width: int | None) -> list[int]:
    """How wide each column is: as wide as it takes, or names and words share what the others leave."""
    widths = [column.natural for column in columns]
    if width is None:
        return widths
    soft = [k for k, column in enumerate(columns) if column.kind in ("name", "words")]
    while soft and _taken(columns, widths) > width:
        longest = max(soft, key=lambda k: widths[k])
        if widths[longest] <= _LEAST:
            break
        widths[longest] -= 1
    return widths


def _with_bars(columns: list[Column], bars: Sequence[Range | None], width: int) -> list[Column]:
    """A bar for each row right of the ratings, where there is room, or in the place of the ranges in numbers."""
    known = [bar for bar in bars if bar is not None]
    for kept in (columns, [column for column in columns if column.title != _RANGE]):
        room = min(width - _taken(kept, [column.natural for column in kept]) - len(_GAP), _BAR.stop - 1)
        if known and room >= _BAR.start:
            low, high = min(bar[0] for bar in known), max(bar[2] for bar in known)
            drawn = ["" if bar is None else _bar(bar, low, high, room) for bar in bars]
            place = 1 + max(k for k, column in enumerate(kept) if column.name == "rating")
            return [*kept[:place], Column("", "", "bar", drawn, room), *kept[place:]]
    return columns


def _bar(bar: Range, low: float, high: float, cells: int) -> str:
    """An interval on an axis: its ends, the line between them, and the value."""
    scale = (cells - 1) / (high - low) if high > low else 0.0
    first, value, last = (round((min(max(x, bar[0]), bar[2]) - low) * scale) for x in bar)
    line = list(" " * first + "├" + "─" * (last - first - 1) + "┤" * (last > first))
    line[value] = "●"
    return "".join(line)
