"""Rows as tables: plain text, Markdown, CSV, LaTeX and HTML. Names are hostile input."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from softcondorcet.formatting import DASH, printable
from softcondorcet.text_table import NO_ROWS, columns_of, text_table

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
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|#~!])")


def as_table(rows: Sequence[Row]) -> str:
    """Columns lined up, numbers to the right, as wide as it takes."""
    return str(text_table(rows))


def as_markdown(rows: Sequence[Row]) -> str:
    head, body, _ = _cells(rows, lambda name: _MARKDOWN.sub(r"\\\1", printable(name)))
    lines = ["| " + " | ".join(line) + " |" for line in (head, *body)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


def as_csv(rows: Sequence[Row]) -> str:
    """All columns, full precision; names as they are, so that reading the file back gives the same names."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(rows[0] if rows else NO_ROWS)
    writer.writerows(row.values() for row in rows)
    return out.getvalue().rstrip("\n")


def as_latex(rows: Sequence[Row]) -> str:
    """A tabular as papers print it: rank ranges as 2--5, in one column, and every special letter escaped.

    Where rows have a ``tie_group``, a line parts those of one group from those of the next.
    """
    groups = [row.get("tie_group") for row in rows]
    plain = [{name: row[name] for name in row if name != "tie_group"} for row in rows]
    head, body, numeric = _cells([_ranged(row) for row in plain], in_latex)
    columns = "".join("r" if right else "l" for right in numeric)
    lines = [" & ".join(line) + r" \\" for line in (head, *body)]
    for k, (before, after) in enumerate(pairwise(groups), 1):
        lines[k] += r" \hline" * (before != after)
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
            between = DASH if isinstance(low, int) else " to "  # a dash before a minus could not be read
            cells[f"{stem}_range"] = None if low is None or high is None else between.join(ends)
    return cells


def as_html(rows: Sequence[Row], caption: str = "", *, names: bool = False) -> str:
    """A plain table without style, for notebooks: with the cells that a terminal has."""
    from html import escape  # only for notebooks: its table of entities takes two milliseconds to load

    columns = columns_of(rows, names)
    ends = ["<td" + ' style="text-align: right"' * (column.kind == "number") + ">" for column in columns]
    words = f"<caption>{escape(printable(caption))}</caption>" if caption else ""
    lines = ["".join(f"<th>{escape(column.title)}</th>" for column in columns)]
    lines += [
        "".join(f"{td}{escape(cell)}</td>" for td, cell in zip(ends, line, strict=True))
        for line in zip(*(column.cells for column in columns), strict=True)
    ]
    return f"<table>{words}{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


FORMATS = {"table": as_table, "md": as_markdown, "csv": as_csv, "latex": as_latex}


def short(value: Any) -> str:
    """A cell of a table: up to four digits after the point, none where there is nothing to say."""
    if isinstance(value, float):
        return f"{value:.4f}".rstrip("0").rstrip(".") if abs(value) < 1e15 else f"{value:g}"
    return "" if value is None else str(value)


def _cells(rows: Sequence[Row], escape: Callable[[str], str]) -> tuple[list[str], list[list[str]], list[bool]]:
    """Head and lines of a table for people, and which columns are numbers; columns that are empty are left out."""
    names = [name for name in (rows[0] if rows else NO_ROWS) if not rows or any(row[name] is not None for row in rows)]
    numeric = [not any(isinstance(row[name], str) for row in rows) for name in names]
    body = [[escape(v) if isinstance(v := row[name], str) else short(v) for name in names] for row in rows]
    return [escape(name.replace("_", " ") if escape is in_latex else name) for name in names], body, numeric
