"""Commands that make a page: report and demo."""

from __future__ import annotations

import os
import shlex
import sys
from typing import Any, Literal

import click
from click.core import ParameterSource

from softcondorcet.arguments import drawing_by, read_votes, reading, settings_of
from softcondorcet.errors import DataError, OptionError
from softcondorcet.screen import print_board, progress

_MARK = b'<meta name="generator" content="softcondorcet'


@click.command()
@reading
@click.option(
    "-o", "--output", default="report.html", show_default=True, metavar="PAGE", help="File to write; - prints."
)
@click.option("--method", default="sco", show_default=True, help="What the leaderboard is made by.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="An option of the method. Repeatable.")
@click.option("--methods", metavar="A,B,...", help="Methods to hold it against; a few usual ones if left out.")
@click.option(
    "--resamples",
    type=click.IntRange(min=0),
    default=200,
    show_default=True,
    help="Resamples of the votes, for intervals; 0 for none.",
)
@drawing_by
@click.option(
    "--top", type=click.IntRange(min=1), default=100, show_default=True, help="Agents in the table, the best ones."
)
@click.option("--title", help="Stands above the answer; the name of the file if left out.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of all that is drawn at random.")
def report(
    file: str,
    kind: str | None,
    columns: tuple[str, ...],
    output: str,
    method: str,
    settings: tuple[str, ...],
    methods: str | None,
    resamples: int,
    by: Literal["votes", "groups"],
    top: int,
    title: str | None,
    seed: int,
) -> None:
    """Write what there is to know about FILE as one HTML page.

    Leaderboard with intervals and tie groups, head to head, cycles, other methods, doubtful data. The page needs no
    network and no script.

    \b
    sco report battles.csv
    sco report election.soc -o election.html --method schulze --resamples 0
    """
    from softcondorcet.reporting import USUAL, write
    from softcondorcet.reporting import report as make
    from softcondorcet.tables import printable

    page = _free("report.html") if _left_out("output") else output
    if file != "-" and os.path.exists(page) and os.path.exists(file) and os.path.samefile(page, file):
        raise OptionError(f"--output must be another file than FILE, got {page!r}")
    with progress() as work:
        work(f"reading {printable(file)}")
        votes = read_votes(file, kind, columns)
        html = make(
            votes,
            method=method,
            options=settings_of(settings),
            methods=USUAL if methods is None else methods.split(","),
            resamples=resamples,
            by=by,
            top=top,
            seed=seed,
            title=title or ("standard input" if file == "-" else None),
            source=None if file == "-" else file,
            command=_command(file),
            watch=work(f"{resamples} resamples of {votes.n_votes:,} votes"),
        )
    if page == "-":
        click.echo(html)
        return
    said = _replaces(page)
    write(html, page)
    click.echo(f"{said} {printable(page)} ({len(html.encode()) / 1000:,.0f} KB): open it in a browser")


@click.command()
@click.option("-o", "--output", default="sco-demo.html", show_default=True, metavar="PAGE", help="File to write.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port to show the page on; a free one if 0.")
def demo(output: str, port: int) -> None:
    """Rank a built-in arena, say what there is to see, and write a report.

    At a terminal the report is also shown on a local address until Ctrl-C.
    """
    from softcondorcet import synthetic
    from softcondorcet.doctor import inspect as look
    from softcondorcet.methods.sco import sco
    from softcondorcet.reporting import report as make
    from softcondorcet.reporting import write
    from softcondorcet.tables import printable

    profile = synthetic.demo()
    click.echo(f"A made-up arena: {profile.n_votes:,} battles, {profile.n_agents} models, 8 judges, some ties.\n")
    print_board(sco(profile), "table", None, quiet=False)
    click.echo("\nWhat the data says by itself (sco inspect):\n")
    click.echo("\n".join(look(profile).lines()))
    page = _free(output) if _left_out("output") else output
    html = make(profile, title="A made-up arena", command="sco demo")
    said = _replaces(page)
    write(html, page)
    click.echo(f"\n{said} the report of it: {printable(os.path.abspath(page))}")
    click.echo("\nNext: sco rank YOUR_FILE.csv, sco report YOUR_FILE.csv, sco simulate demo -o arena.csv")
    if sys.stdin.isatty() and sys.stdout.isatty():
        _show(html, port)


def _show(html: str, port: int) -> None:
    """Serve the page until Ctrl-C."""
    from softcondorcet.reporting.local import server

    try:
        page = server(html, port)
    except OSError as error:
        raise OptionError(f"--port must be a free port, got {port} ({error.strerror})") from None
    with page:
        click.echo(f"\nThe report is at http://127.0.0.1:{page.server_port}/ until Ctrl-C.")
        try:
            page.serve_forever(poll_interval=0.1)
        except KeyboardInterrupt:
            click.echo("")


def _free(page: str) -> str:
    """The page by this name, or, where that is a file of someone else, the first numbered one that is not."""
    stem, suffix = os.path.splitext(page)
    for k in range(1, 100):
        name = page if k == 1 else f"{stem}-{k}{suffix}"
        if not os.path.exists(name) or _ours(name):
            return name
    raise DataError(f"{page}: a hundred files of this name are there already; choose another with -o")


def _ours(page: str) -> bool:
    """Whether a file is a report that this program wrote."""
    try:
        with open(page, "rb") as file:
            return _MARK in file.read(2000)
    except OSError:
        return False


def _replaces(page: str) -> str:
    return "replaced" if os.path.exists(page) else "wrote"


def _left_out(option: str) -> bool:
    return click.get_current_context().get_parameter_source(option) is ParameterSource.DEFAULT


def _command(file: str) -> str:
    """The command as given, without the folders of files and without where its page goes."""
    context = click.get_current_context()
    words = ["sco", "report", os.path.basename(file) or file]
    for option in context.command.params:
        name = option.name or ""
        given: Any = context.params[name]
        if isinstance(option, click.Option) and name != "output" and not _left_out(name):
            for value in given if isinstance(given, tuple) else (given,):
                words += [option.opts[-1], str(value)]
    return shlex.join(words)
