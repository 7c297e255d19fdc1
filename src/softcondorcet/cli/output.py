"""What commands print: tables that fit the terminal, JSON, notes, and what to do next.

Results go to standard output and all else to standard error, so that a pipe gets only the result. On a terminal, and
wherever COLUMNS is set, tables and sentences fit its width; elsewhere a table has all columns and a sentence is a line.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TextIO

import click

from softcondorcet.checks import check

if TYPE_CHECKING:
    from softcondorcet.text_table import Range
    from softcondorcet.uncertainty.by_group import ByGroup

# The format that needs a folder.
AGGREGATES = "every_eval_ever"
# Where a command keeps what was done to the votes, until it prints JSON.
DONE = "softcondorcet.done"
# What programs read and people do not: older names of columns, and facts that pages show.
_OLD_NAMES = ("rating_lower", "rating_upper")
_HIDDEN = {
    "table": (*_OLD_NAMES, "rank_ub", "colour", "link"),
    "latex": (*_OLD_NAMES, "colour", "link"),
    "md": (*_OLD_NAMES, "colour"),
}
# Columns of agents without a rank, and up to how many of them it is said what would place each.
_APART, _EXPLAINED = ("agent", "rating", "votes"), 8
# No line is narrower.
_NARROWEST = 40
# For terminals that know no other letters.
_ASCII = str.maketrans("├┤─●…±━╌▲▼\u2013\u2212", "||-o~+=.^v--")


def width(stream: TextIO | None) -> int | None:
    """The columns of the terminal, or what COLUMNS says; None where lines may be of any length."""
    asked = os.environ.get("COLUMNS", "")
    if asked.isdigit() and int(asked) > 0:
        return max(int(asked), _NARROWEST)
    try:
        if stream is None or not stream.isatty():
            return None
        return max(os.get_terminal_size(stream.fileno()).columns, _NARROWEST)
    except (OSError, ValueError):
        return None


def echo(text: str, *, err: bool = False) -> None:
    """Print a text in letters that the terminal knows."""
    encoding = getattr(sys.stderr if err else sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.translate(_ASCII).encode(encoding, "backslashreplace").decode(encoding)
    click.echo(text, err=err)


def lines(texts: Iterable[str], *, err: bool = False, bold: bool = False) -> None:
    """Print sentences, each broken between words where it does not fit."""
    from softcondorcet.formatting import wrapped

    most = width(sys.stderr if err else sys.stdout)
    for part in [part for text in texts for part in wrapped(text, most)]:
        mark = "warning:" if part.startswith("warning: ") else ""
        rest = part.removeprefix(mark)
        echo(
            (click.style(mark, fg="yellow") if mark else "") + (click.style(rest, bold=True) if bold else rest), err=err
        )


def say(texts: Iterable[str]) -> None:
    """Sentences for people, to standard error."""
    lines(texts, err=True)


def conclude(texts: Iterable[str]) -> None:
    """The answer, last and in bold, to standard error."""
    for text in filter(None, texts):
        lines([text], err=True, bold=True)


def check_output(form: str, output: str | None, **others: Any) -> None:
    """A folder is needed for aggregates, and for nothing else; they are of all agents on one board."""
    check((form == AGGREGATES) == (output is not None), "-o", f"a folder for --format {AGGREGATES}", output)
    for name, value in others.items() if output is not None else ():
        check(value is None, f"--{name.replace('_', '-')}", f"left out for --format {AGGREGATES}", value)


def write_aggregates(result: Any, folder: str) -> None:
    """Write a file for each agent of a result, and say what these do not keep."""
    from softcondorcet.io.write import write_out

    say(write_out(result, folder, AGGREGATES))


def show(result: Any, form: str, *top: int | None, quiet: bool = False) -> None:
    """Print the rows of a result, and its summary to standard error; or all of it as JSON, and nothing else."""
    if form == "json":
        show_json(result.to_json(*top))
        return
    show_rows(result.rows(*top), form)
    if not quiet:
        say(result.summary())


def show_rows(
    rows: Sequence[dict[str, Any]], form: str, bars: Sequence[Range | None] = (), *, names: bool = False
) -> bool:
    """Print rows as a table, with a column for each fact about agents; whether it has bars.

    `names`: the titles are names, of methods or groups.
    """
    from softcondorcet.leaderboard import flat, rounded

    hidden = _HIDDEN.get(form, ())
    shown = flat(rows) if form == "csv" else rounded(flat(rows))
    shown = [{name: row[name] for name in row if name not in hidden} for row in shown]
    if form == "table":
        return _show_board(shown, [row.get("unplaced") for row in rows], bars or _bars(shown), names)
    from softcondorcet.tables import FORMATS

    _data(FORMATS[form](shown))
    return False


def _show_board(
    rows: list[dict[str, Any]], reasons: Sequence[str | None], bars: Sequence[Range | None], names: bool
) -> bool:
    """Agents with a rank as a table, and below it those without one, with the reason."""
    ranked = [k for k, reason in enumerate(reasons) if not reason]
    apart = [k for k, reason in enumerate(reasons) if reason]
    drawn = False
    if ranked or not apart:
        drawn = show_table([rows[k] for k in ranked], [bars[k] for k in ranked] if bars else (), names=names)
    if apart:
        whole = len(apart) <= _EXPLAINED
        echo("\n" * bool(ranked) + "without a rank:")
        show_table(
            [
                {name: rows[k].get(name) for name in _APART} | {"why": reasons[k] if whole else rows[k]["unplaced"]}
                for k in apart
            ]
        )
    return drawn


def show_table(rows: Sequence[dict[str, Any]], bars: Sequence[Range | None] = (), *, names: bool = False) -> bool:
    """Print a table that fits; what did not is named on standard error. Whether it has bars."""
    from softcondorcet.formatting import plural
    from softcondorcet.text_table import text_table

    table = text_table(rows, width(sys.stdout), bars, names=names)
    echo(click.style("  ".join(table.head).rstrip(), bold=True))
    for cells in table.body:
        painted = (
            click.style(cell, fg="cyan") if kind == "bar" else cell
            for cell, kind in zip(cells, table.kinds, strict=True)
        )
        echo("  ".join(painted).rstrip())
    if table.left_out:
        columns = plural(len(table.left_out), "column")
        say([f"{columns} left out, too wide: {', '.join(table.left_out)} (--format csv has all)"])
    return "bar" in table.kinds


def _bars(rows: Sequence[dict[str, Any]]) -> list[Range | None]:
    """The intervals of ratings, where rows have any."""
    ends = [tuple(row.get(name) for name in ("rating_low", "rating", "rating_high")) for row in rows]
    found = [None if None in end else end for end in ends]
    return found if any(found) else []  # type: ignore[return-value]


def show_json(text: str) -> None:
    """Print JSON, with the keys ``where`` if only some of the votes were wanted, ``balance`` if they are balanced."""
    import json

    done = click.get_current_context().meta.get(DONE)
    if done:
        text = json.dumps({**json.loads(text), **done}, indent=2, ensure_ascii=False, allow_nan=False)
    _data(text)


def _data(text: str) -> None:
    """Print what programs read: in UTF-8, whatever the terminal knows."""
    click.echo(text.encode("utf-8", "backslashreplace"))


def show_groups(result: ByGroup, form: str, top: int | None, quiet: bool = False) -> None:
    """Print boards by group: ranks side by side for people, a row for each group and agent as csv, boards as JSON."""
    if form == "json":
        show_json(result.to_json(top))
        return
    show_rows(result.long_rows(top) if form == "csv" else result.rows(top), form, names=True)
    if not quiet:
        say(result.summary())
