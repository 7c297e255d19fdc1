"""The command that runs the live leaderboard."""

from __future__ import annotations

import shlex
import sys
import tempfile
from collections.abc import Mapping
from typing import Any

import click

from softcondorcet.checks import check
from softcondorcet.cli.board import board as board_commands, token as token_commands
from softcondorcet.installation import needs

_RATE = click.FloatRange(min=0.001)


def _facts(_: click.Context, __: click.Parameter, table: str | None) -> Mapping[str, Mapping[str, str | float]]:
    """What a table says about agents; a live board keeps the names that its votes have."""
    if table is None:
        return {}
    from softcondorcet.formatting import some
    from softcondorcet.io.files import read_agent_facts

    about = read_agent_facts(table)
    words = "a table without aliases: a live board keeps the names that its votes have"
    check(not about.aliases, "--agent-facts", words, some(about.aliases))
    return about.facts


@click.command()
@click.argument("address", metavar="BOARD", required=False)
@click.option("--demo", is_flag=True, help="Serve example votes from a temporary file, without a BOARD.")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on. Any other than this one needs a token first.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8700,
    show_default=True,
    help="Port to listen on; 0 takes a free one.",
)
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="HOST",
    help="A name that visitors use, as arena.example: the server answers to no others. Repeatable.",
)
@click.option(
    "--proxy",
    "proxies",
    multiple=True,
    metavar="ADDRESS",
    help="A proxy in front, which says by X-Forwarded-For where requests come from. Repeatable.",
)
@click.option("--title", default="Leaderboard", show_default=True, help="Title of the page, where the board is new.")
@click.option("--open", "open_votes", is_flag=True, help="Accept votes without a token, even after tokens were made.")
@click.option(
    "--every", type=click.FloatRange(min=0.1), default=5.0, show_default=True, help="Seconds between fits of all votes."
)
@click.option(
    "--token-rate",
    type=_RATE,
    default=4000.0,
    show_default=True,
    help="Votes per second accepted from one token, or from one host without a token.",
)
@click.option(
    "--voter-rate", type=_RATE, default=400.0, show_default=True, help="Votes per second accepted from one voter."
)
@click.option(
    "--max-agents",
    "most_agents",
    type=click.IntRange(min=2),
    default=5000,
    show_default=True,
    help="Most agents that a board may have.",
)
@click.option(
    "--max-pairs",
    "most_pairs",
    type=click.IntRange(min=1),
    default=1_000_000,
    show_default=True,
    help="Most pairs of agents that a board may have compared.",
)
@click.option(
    "--max-weight",
    "most_weight",
    type=click.FloatRange(min=1e-6, max=1e6),
    default=1.0,
    show_default=True,
    help="Largest weight of a vote without an admin's token.",
)
@click.option(
    "--balance",
    type=click.Choice(("groups",)),
    help="Each group of votes counts the same, whatever its number of votes.",
)
@click.option(
    "--agent-facts",
    "facts",
    metavar="TABLE",
    callback=_facts,
    help="A table about agents, which pages show: name, organisation, licence, price, context, link, colour.",
)
@click.option(
    "--owner-link/--no-owner-link",
    default=None,
    help="Print a link by which you run the board in a browser. By default only to a terminal, and not to a log.",
)
# What 'sco board' and 'sco token' do now.
@click.option("--get", "get", hidden=True)
@click.option("--backup", "backup", hidden=True)
@click.option("--restore", "restore", hidden=True)
@click.option("--force", is_flag=True, hidden=True)
@click.option("--check", "check", is_flag=True, hidden=True)
@click.option("--new-token", "new", hidden=True)
@click.option("--scope", default="vote", hidden=True)
@click.option("--board", hidden=True)
@click.option("--list-tokens", "list", is_flag=True, hidden=True)
@click.option("--revoke", "revoke", hidden=True)
def serve(
    address: str | None,
    demo: bool,
    host: str,
    port: int,
    names: tuple[str, ...],
    proxies: tuple[str, ...],
    force: bool,
    scope: str,
    board: str | None,
    owner_link: bool | None,
    **given: Any,
) -> None:
    """Run a live leaderboard over BOARD.

    BOARD is a file, or postgresql://... A new file is made where there is none. Votes come in over HTTP. Each is
    answered once it is on disk. 'sco board' copies and checks a board, 'sco token' makes tokens for it.

    \b
    sco serve --demo
    sco serve board.db
    curl -d '{"a": "x", "b": "y", "winner": "a"}' http://127.0.0.1:8700/votes
    """
    needs("starlette", "serve")
    from softcondorcet.server.ledger.service import Settings
    from softcondorcet.server.run import run

    if owner_link is None:
        owner_link = sys.stdout.isatty()
    before = {word: value for word in _MOVED if (value := given.pop(word)) not in (None, False)}
    if demo and (before or address is not None):
        raise click.UsageError("--demo makes a board of its own; leave BOARD out.")
    if demo:
        from softcondorcet.server.demo import make_demo

        with tempfile.TemporaryDirectory(prefix="sco-demo-") as folder:
            make_demo(f"{folder}/demo.db")
            run(f"{folder}/demo.db", Settings(**given), host, port, owner_link=owner_link)
    elif address is None:
        raise click.UsageError("Missing argument 'BOARD': a file, or postgresql://...; or --demo.")
    elif before:
        more = ["--force"] * force, ["--scope", scope, *(["--board", board] if board else [])]
        _run_moved(address, before, *more)
    else:
        run(address, Settings(**given), host, port, names, proxies, owner_link=owner_link)


# Options of before -> the command that does the same now.
_MOVED = {
    "get": board_commands, "backup": board_commands, "restore": board_commands, "check": board_commands,
    "new": token_commands, "list": token_commands, "revoke": token_commands,
}  # fmt: skip


def _run_moved(address: str, before: dict[str, Any], force: list[str], of_token: list[str]) -> None:
    """Run the command that replaced an old option, and say which one it is."""
    if len(before) > 1:
        raise click.UsageError(f"{' and '.join(before)} cannot be used together.")
    ((word, value),) = before.items()
    words = [address, *([] if value is True else [str(value)])]
    words += force if word in ("backup", "restore") else of_token if word == "new" else []
    group = _MOVED[word]
    click.echo(f"sco: this is now: sco {shlex.join([str(group.name), word, *words])}", err=True)
    group.main([word, *words], prog_name=f"sco {group.name}", standalone_mode=False)
