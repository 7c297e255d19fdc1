"""Rows of a result as text: a table for people, Markdown, CSV, LaTeX. Names are hostile input in all of them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any
from unicodedata import combining, east_asian_width

Row = Mapping[str, Any]

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{c: "\\" + c for c in "&%$#_{}"},
}
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|#~!])")


def as_table(rows: Sequence[Row]) -> str:
    """Columns lined up, numbers to the right."""
    cells = _cells(rows, printable)
    if not cells:
        return ""
    numeric = [not isinstance(value, str) for value in rows[0].values()] if rows else [False] * len(cells[0])
    width = [max(wide(line[c]) for line in cells) for c in range(len(cells[0]))]
    return "\n".join("  ".join(map(_padded, line, width, numeric)).rstrip() for line in cells)


def as_markdown(rows: Sequence[Row]) -> str:
    cells = _cells(rows, lambda name: _MARKDOWN.sub(r"\\\1", printable(name)))
    lines = ["| " + " | ".join(line) + " |" for line in cells]
    return "\n".join([lines[0], "|" + "---|" * len(cells[0]), *lines[1:]])


def as_csv(rows: Sequence[Row]) -> str:
    """Full precision; names as they are, so that reading the file back gives the same names."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(rows[0] if rows else ["rank", "agent", "rating"])
    writer.writerows(row.values() for row in rows)
    return out.getvalue().rstrip("\n")


def as_latex(rows: Sequence[Row]) -> str:
    cells = _cells(rows, lambda name: "".join(_LATEX.get(c, c) for c in printable(name)))
    columns = "".join("l" if isinstance(value, str) else "r" for value in rows[0].values()) if rows else "rlr"
    head, *body = [" & ".join(line) + r" \\" for line in cells]
    return "\n".join(
        [rf"\begin{{tabular}}{{{columns}}}", r"\hline", head, r"\hline", *body, r"\hline", r"\end{tabular}"]
    )


def as_html(rows: Sequence[Row], caption: str = "") -> str:
    """A plain table without style, for notebooks."""
    right = ' style="text-align: right"'
    head, *body = _cells(rows, lambda name: escape(printable(name)))
    words = f"<caption>{escape(printable(caption))}</caption>" if caption else ""
    text = [isinstance(value, str) for value in rows[0].values()] if rows else [False] * len(head)
    lines = ["".join(f"<th>{cell}</th>" for cell in head)]
    lines += ["".join(f"<td{'' if t else right}>{c}</td>" for c, t in zip(line, text, strict=True)) for line in body]
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
    """A number as people read it: up to four digits after the point, none where there is nothing to say."""
    if isinstance(value, float):
        return f"{value:.4f}".rstrip("0").rstrip(".") if abs(value) < 1e15 else f"{value:g}"
    return str(value)


def wide(text: str) -> int:
    """How wide a terminal shows it: two columns for wide letters, none for combining ones."""
    return sum(0 if combining(c) else 1 + (east_asian_width(c) in "WF") for c in text)


def _padded(text: str, width: int, right: bool) -> str:
    space = " " * (width - wide(text))
    return space + text if right else text + space


def _cells(rows: Sequence[Row], escape: Any) -> list[list[str]]:
    head = list(rows[0]) if rows else ["rank", "agent", "rating"]
    return [head, *([escape(v) if isinstance(v, str) else short(v) for v in row.values()] for row in rows)]
