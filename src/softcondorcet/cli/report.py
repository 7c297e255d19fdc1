"""Commands that make a page: report and demo. The demo serves its page on an address of this machine."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from softcondorcet.cli import completion, options
from softcondorcet.cli.completion import PATH
from softcondorcet.cli.settings import SETTINGS, settings_of
from softcondorcet.errors import DataError, OptionError

if TYPE_CHECKING:
    from http.server import ThreadingHTTPServer

_HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
}


def server(html: str, port: int = 0) -> ThreadingHTTPServer:
    """A server of this page and nothing else, bound to 127.0.0.1; port 0 takes a free one."""
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    body = html.encode()

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(200 if self.path == "/" else 404, body if self.path == "/" else b"not here: see /\n")

        def do_HEAD(self) -> None:
            self.do_GET()

        def _answer(self, status: int, content: bytes) -> None:
            self.send_response(status)
            for name, value in _HEADERS.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            """No line per request: the terminal shows the table."""

    return ThreadingHTTPServer(("127.0.0.1", port), Page)


_MARK = b'<meta name="generator" content="softcondorcet'


@click.command()
@options.reading
@click.option(
    "-o",
    "--output",
    type=PATH,
    default="report.html",
    show_default=True,
    metavar="PAGE",
    help="File to write; - prints.",
)
@options.METHOD
@SETTINGS
@click.option(
    "--methods",
    metavar="A,B,...",
    shell_complete=completion.methods,
    help="Methods to compare with, that 'sco methods' lists; a few usual ones by default.",
)
@options.count("--resamples", 200, "Number of bootstrap resamples for intervals; 0 for no intervals.", least=0)
@options.BY
@options.count("--top", 5000, "Show at most the best N agents.")
@click.option("--title", help="Title of the page; the name of FILE by default.")
@options.SEED
def report(
    source: options.Source,
    output: str,
    settings: tuple[str, ...],
    methods: str | None,
    resamples: int,
    title: str | None,
    **given: Any,
) -> None:
    """Write a report about FILE as one HTML page.

    It shows the leaderboard with intervals and tie groups, agents head to head, cycles, other methods, and doubtful
    data. The page needs no network and no script.

    \b
    sco report battles.csv
    sco report election.soc -o election.html --method schulze --resamples 0
    """
    from softcondorcet.formatting import plural
    from softcondorcet.reporting.page import report as run

    if output.lower().endswith((".pdf", ".png", ".svg")):
        raise OptionError(f"--output must be a page such as report.html, got {output!r}: 'sco plot' draws its figures")
    page, file = _free("report.html") if _left_out("output") else output, source.file
    if file != "-" and os.path.exists(page) and os.path.exists(file) and os.path.samefile(page, file):
        raise OptionError(f"--output must be another file than FILE, got {page!r}")
    with options.progress() as work:
        votes = source.read(work)
        html = run(
            votes,
            options=settings_of(settings),
            methods=None if methods is None else methods.split(","),
            resamples=resamples,
            title=title or ("standard input" if file == "-" else None),
            source=None if file == "-" else file,
            command=_command(file),
            watch=work(f"{resamples:,} resamples of {plural(votes.n_votes, 'vote')}"),
            **given,
        )
    if page == "-":
        click.echo(html)
    else:
        click.echo(f"{_write(html, page)} ({len(html.encode()) / 1000:,.0f} KB): open it in a browser")


@click.command()
@click.option(
    "-o", "--output", type=PATH, default="sco-demo.html", show_default=True, metavar="PAGE", help="File to write."
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port to show the page on; a free one if 0.")
def demo(output: str, port: int) -> None:
    """Rank built-in example votes and write a report on them.

    At a terminal the report is also shown on a local address until Ctrl-C.
    """
    from softcondorcet import synthetic
    from softcondorcet.cli.board_table import show_board
    from softcondorcet.doctor import inspect
    from softcondorcet.methods.sco import sco
    from softcondorcet.reporting.page import report as run

    profile = synthetic.demo()
    click.echo(f"A made-up arena: {profile.n_votes:,} battles, {profile.n_agents} models, 8 judges, some ties.\n")
    show_board(profile, sco(profile))
    click.echo("\nWhat the votes can support (sco inspect):\n")
    options.lines(inspect(profile).lines())
    page = _free(output) if _left_out("output") else output
    html = run(profile, title="A made-up arena", command="sco demo")
    click.echo(f"\n{_write(html, os.path.abspath(page))}: the same as a report")
    options.lines(["", "Next: sco rank YOUR_FILE.csv, sco report YOUR_FILE.csv, sco simulate demo -o arena.csv"])
    if sys.stdin.isatty() and sys.stdout.isatty():
        serve_page(html, port)


def serve_page(html: str, port: int) -> None:
    """Serve the page until Ctrl-C."""
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


def _write(html: str, page: str) -> str:
    """Write a page; says what was done."""
    from softcondorcet.formatting import printable
    from softcondorcet.reporting.page import write

    done = "replaced" if os.path.exists(page) else "wrote"
    write(html, page)
    return f"{done} {printable(page)}"


def _left_out(option: str) -> bool:
    return click.get_current_context().get_parameter_source(option) is ParameterSource.DEFAULT


def _command(file: str) -> str:
    """The command as given, without the folders of files and without where its page goes."""
    return shlex.join(["sco", "report", os.path.basename(os.path.normpath(file)), *options.as_given(but=("output",))])
