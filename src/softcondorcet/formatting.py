"""Numbers, lists and tables as text: for people, and as Markdown, CSV, LaTeX and HTML. Names are hostile input."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from unicodedata import combining, east_asian_width

Row = Mapping[str, Any]

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{c: "\\" + c for c in "&%$#_{}"},
    "\u2013": "--",
    "\u2212": "$-$",
    "\u2026": r"\ldots{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
}
_DASH, _MINUS = "\u2013", "\u2212"
_NO_ROWS = ("rank", "agent", "rating")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|#~!])")


def number(value: float) -> str:
    """A number for people: thousands apart, four digits where it is not whole.

    >>> number(1234567.0), number(8.5), number(0.123456)
    ('1,234,567', '8.5', '0.1235')
    """
    if not math.isfinite(value) or abs(value) >= 1e15:
        return f"{value:g}"
    return f"{value:,.0f}" if value == round(value) else f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.1f}"


def signed(value: float, digits: int) -> str:
    """A number with a minus as printers set it, and none before a zero."""
    shown = f"{abs(value):,.{digits}f}"
    return f"{_MINUS}{shown}" if value < 0 and shown.strip("0.,") else shown


def plural(count: float, noun: str, nouns: str = "") -> str:
    """A number of things.

    >>> plural(1, "vote"), plural(2000, "vote"), plural(2, "match", "matches")
    ('1 vote', '2,000 votes', '2 matches')
    """
    return f"{number(count)} {noun if count == 1 else nouns or noun + 's'}"


def percent(share: float, digits: int = 0) -> str:
    """A share of one in percent; 0 % and 100 % only where it is exactly that.

    >>> percent(0.5), percent(0.9999), percent(1), percent(0.12345, 1)
    ('50 %', '99 %', '100 %', '12.3 %')
    """
    step = 10.0**-digits
    shown = round(100 * share, digits)
    if 0 < share < 1:
        shown = min(max(shown, step), 100 - step)
    return f"{shown:.{digits}f} %"


def confidence(share: float) -> str:
    """The level of an interval, as 95 % or 99.9 %."""
    return f"{100 * share:.4g} %"


def span(low: int, high: int) -> str:
    """A range of ranks: 3, or 2 to 5 with a dash between them."""
    return f"{low:,}" if low == high else f"{low:,}{_DASH}{high:,}"


def listing(names: Sequence[str], most: int = 4) -> str:
    """A, B and C; or the first few and how many more."""
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} and {len(names) - most + 1:,} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def some(names: Iterable[str], most: int = 3) -> str:
    """The first few names of a list, for a message, and how many more there are."""
    listed = list(names)
    rest = len(listed) - most
    return (", ".join(listed[:most]) + (f" and {rest} more" if rest > 0 else "")) or "none"


def as_table(rows: Sequence[Row]) -> str:
    """Columns lined up, numbers to the right."""
    head, body, numeric = _cells(rows, printable)
    lines = [head, *body]
    width = [max(wide(line[c]) for line in lines) for c in range(len(head))]
    return "\n".join("  ".join(map(_padded, line, width, numeric)).rstrip() for line in lines)


def as_markdown(rows: Sequence[Row]) -> str:
    head, body, _ = _cells(rows, lambda name: _MARKDOWN.sub(r"\\\1", printable(name)))
    lines = ["| " + " | ".join(line) + " |" for line in (head, *body)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


def as_csv(rows: Sequence[Row]) -> str:
    """All columns, full precision; names as they are, so that reading the file back gives the same names."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(rows[0] if rows else _NO_ROWS)
    writer.writerows(row.values() for row in rows)
    return out.getvalue().rstrip("\n")


def as_latex(rows: Sequence[Row]) -> str:
    """A tabular as papers print it: rank intervals as 2--5, in one column, and every special letter escaped."""
    head, body, numeric = _cells([_ranged(row) for row in rows], in_latex)
    columns = "".join("r" if right else "l" for right in numeric)
    lines = [" & ".join(line) + r" \\" for line in (head, *body)]
    return "\n".join(
        [rf"\begin{{tabular}}{{{columns}}}", r"\hline", lines[0], r"\hline", *lines[1:], r"\hline", r"\end{tabular}"]
    )


def in_latex(text: str) -> str:
    """Text for LaTeX: special letters escaped, a minus and dashes as it writes them."""
    return "".join(_LATEX.get(c, c) for c in printable(text))


def _ranged(row: Row) -> Row:
    """The ends of an interval in one cell, where a row has both."""
    cells: dict[str, Any] = {}
    for name, value in row.items():
        stem, _, end = name.rpartition("_")
        low, high = row.get(f"{stem}_low"), row.get(f"{stem}_high")
        if end not in ("low", "high") or f"{stem}_low" not in row or f"{stem}_high" not in row:
            cells[name] = value
        elif end == "low":
            ends = dict.fromkeys((short(low), short(high)))
            between = _DASH if isinstance(low, int) else " to "  # a dash before a minus could not be read
            cells[f"{stem}_range"] = None if low is None or high is None else between.join(ends)
    return cells


def as_html(rows: Sequence[Row], caption: str = "") -> str:
    """A plain table without style, for notebooks."""
    right = ' style="text-align: right"'
    from html import escape  # only for notebooks: its table of entities takes two milliseconds to load

    head, body, numeric = _cells(rows, lambda name: escape(printable(name)))
    words = f"<caption>{escape(printable(caption))}</caption>" if caption else ""
    lines = ["".join(f"<th>{cell}</th>" for cell in head)]
    lines += [
        "".join(f"<td{right if n else ''}>{cell}</td>" for cell, n in zip(line, numeric, strict=True)) for line in body
    ]
    return f"<table>{words}{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


FORMATS = {"table": as_table, "md": as_markdown, "csv": as_csv, "latex": as_latex}


def printable(name: str) -> str:
    """A name that cannot move the cursor, ring the bell or break the line."""
    if name.isprintable():
        return name
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def clipped(name: str, columns: int) -> str:
    """A printable name of at most so many columns. The middle goes: versions and sizes stand at the end of names."""
    shown = printable(name)
    if wide(shown) <= columns and len(shown) <= columns:
        return shown
    head, tail = _fitting(shown, columns - 1 - columns // 3), _fitting(shown[::-1], columns // 3)[::-1]
    return f"{head}…{tail}"


def _fitting(text: str, columns: int) -> str:
    """The first letters that fit; here a combining letter takes a column too, or a pile of them would never end."""
    taken = 0
    for k, letter in enumerate(text):
        taken += max(wide(letter), 1)
        if taken > columns:
            return text[:k]
    return text


def short(value: Any) -> str:
    """A cell of a table: up to four digits after the point, none where there is nothing to say."""
    if isinstance(value, float):
        return f"{value:.4f}".rstrip("0").rstrip(".") if abs(value) < 1e15 else f"{value:g}"
    return "" if value is None else str(value)


def wide(text: str) -> int:
    """How wide a terminal shows it: two columns for wide letters, none for combining ones."""
    return sum(0 if combining(c) else 1 + (east_asian_width(c) in "WF") for c in text)


def _padded(text: str, width: int, right: bool) -> str:
    space = " " * (width - wide(text))
    return space + text if right else text + space


def _cells(rows: Sequence[Row], escape: Callable[[str], str]) -> tuple[list[str], list[list[str]], list[bool]]:
    """Head and lines of a table for people, and which columns are numbers; columns that are empty are left out."""
    names = [name for name in (rows[0] if rows else _NO_ROWS) if not rows or any(row[name] is not None for row in rows)]
    numeric = [not any(isinstance(row[name], str) for row in rows) for name in names]
    body = [[escape(v) if isinstance(v := row[name], str) else short(v) for name in names] for row in rows]
    return [escape(name.replace("_", " ") if escape is in_latex else name) for name in names], body, numeric


def rounded_up(value: float) -> str:
    """Two digits, and never less than the value, which is not negative."""
    if value == 0:
        return "0"
    digit = 10.0 ** (math.floor(math.log10(value)) - 1) or value  # or value: of the smallest numbers there are
    return f"{math.ceil(value / digit) * digit:,.10g}"
