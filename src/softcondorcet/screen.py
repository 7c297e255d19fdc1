"""What a person at a terminal sees: the board, a progress bar, warnings and errors in one line each."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import click

from softcondorcet.errors import NotConverged
from softcondorcet.options import Watch

if TYPE_CHECKING:
    from softcondorcet.ratings import Ratings


def print_board(board: Ratings, form: str, top: int | None, quiet: bool) -> None:
    """The table goes to standard output, what it rests on to standard error: a pipe gets only the table."""
    from softcondorcet.tables import FORMATS, printable

    click.echo(board.to_json(top) if form == "json" else FORMATS[form](board.rows(top)))
    if quiet or form == "json":
        return
    for line in board.summary():
        click.echo(printable(line), err=True)


@contextmanager
def progress() -> Iterator[Callable[[str], Watch | None]]:
    """A bar for work that takes more than two seconds, on a terminal; nothing elsewhere.

    Gives a function that names the work at hand and returns what a method calls to report its steps.
    """
    if not sys.stderr.isatty():
        yield lambda title: None
        return
    from threading import Timer

    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task("", total=None)

    def name(title: str) -> Watch:
        bar.update(task, description=title, completed=0, total=None)
        return lambda step, steps, _: bar.update(task, completed=step, total=steps)

    timer = Timer(2.0, bar.start)
    timer.start()
    try:
        yield name
    finally:
        timer.cancel()
        bar.stop()


def warn(message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: Any, **__: Any) -> None:
    """One line instead of Python's two with a path. A result that did not converge says so itself."""
    if not issubclass(category, NotConverged):
        click.echo(f"warning: {message}", err=True)


def fail(message: str, code: int) -> NoReturn:
    from softcondorcet.tables import printable

    click.echo(f"sco: {printable(message)}", err=True)
    sys.exit(code)
