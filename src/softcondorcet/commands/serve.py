"""The command that runs the live leaderboard, and looks after its database."""

from __future__ import annotations

import tempfile
from typing import Any

import click

from softcondorcet.errors import DataError
from softcondorcet.options import needs

_RATE = click.FloatRange(min=0.001)


@click.command()
@click.argument("address", metavar="BOARD", required=False)
@click.option("--demo", is_flag=True, help="Serve made-up votes from a temporary file; no BOARD.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; others need a token first.")
@click.option("--port", type=click.IntRange(0, 65535), default=8700, show_default=True, help="Port; a free one if 0.")
@click.option("--title", default="Leaderboard", show_default=True, help="Title of a new board.")
@click.option("--open", "open_votes", is_flag=True, help="Take votes without a token, even where tokens exist.")
@click.option("--every", type=click.FloatRange(min=0.1), default=5.0, show_default=True, help="Seconds between fits.")
@click.option(
    "--token-rate", type=_RATE, default=4000.0, show_default=True, help="Votes a second of one token or host."
)
@click.option("--voter-rate", type=_RATE, default=400.0, show_default=True, help="Votes a second of one voter.")
@click.option("--max-agents", type=click.IntRange(min=2), default=5000, show_default=True, help="Agents of a board.")
@click.option("--get", "path", metavar="/PATH", help="Print what a GET answers, and end; a server may run beside.")
@click.option("--backup", "copy", metavar="FILE", help="Copy BOARD to FILE, and end; a server may run beside.")
@click.option("--restore", "source", metavar="FILE", help="Put the copy FILE in the place of BOARD, and end.")
@click.option("--force", is_flag=True, help="Let --backup and --restore take the place of a file.")
@click.option("--check", "examined", is_flag=True, help="Read every row, count again, compare, and end.")
@click.option("--new-token", "label", metavar="LABEL", help="Make a token, print its secret this once, and end.")
@click.option(
    "--scope", type=click.Choice(("vote", "admin")), default="vote", show_default=True, help="Of --new-token."
)
@click.option("--board", metavar="NAME", help="Board that --new-token is for; all by default.")
@click.option("--list-tokens", "listed", is_flag=True, help="Print the tokens without their secrets, and end.")
@click.option("--revoke", "revoked", type=int, metavar="ID", help="End a token, by its number, and end.")
def serve(
    address: str | None,
    demo: bool,
    host: str,
    port: int,
    title: str,
    open_votes: bool,
    every: float,
    token_rate: float,
    voter_rate: float,
    max_agents: int,
    path: str | None,
    copy: str | None,
    source: str | None,
    force: bool,
    examined: bool,
    label: str | None,
    scope: Any,
    board: str | None,
    listed: bool,
    revoked: int | None,
) -> None:
    """Run a live leaderboard over BOARD: a file, or postgresql://...

    Votes come in over HTTP and are answered when they are on disk. The file is made if it is not there.

    \b
    sco serve --demo
    sco serve board.db
    curl -d '{"a": "x", "b": "y", "winner": "a"}' http://127.0.0.1:8700/votes
    sco serve board.db --get /leaderboard.json
    """
    needs("fastapi", "serve")
    from softcondorcet.serve import keeping
    from softcondorcet.serve.service import Settings

    once = {"--get": path, "--backup": copy, "--restore": source, "--check": examined, "--new-token": label,
            "--list-tokens": listed, "--revoke": revoked}  # fmt: skip
    asked = [option for option, value in once.items() if value not in (None, False)]
    if len(asked) > 1:
        raise click.UsageError(f"{asked[0]} and {asked[1]} cannot be used together.")
    if demo and (asked or address is not None):
        raise click.UsageError(f"--demo makes a board of its own, and takes no {asked[0] if asked else 'BOARD'}.")
    settings = Settings(
        title=title, open_votes=open_votes, every=every, most_agents=max_agents, token_rate=token_rate,
        voter_rate=voter_rate,
    )  # fmt: skip
    if demo:
        _demo(settings, host, port)
    elif address is None:
        raise click.UsageError("Missing argument 'BOARD': a file, or postgresql://...; or --demo.")
    elif path is not None:
        _get(address, path, settings)
    elif copy is not None:
        click.echo(keeping.backup(address, copy, force=force))
    elif source is not None:
        click.echo(keeping.restore(address, source, force=force))
    elif examined:
        click.echo("\n".join(keeping.examine(address)))
    elif label is not None:
        token, secret = keeping.new_token(address, label, scope, board)
        click.echo(secret)
        click.echo(f"token {token.id} ({token.label}): scope {token.scope}; it is not shown again", err=True)
    elif listed:
        click.echo("\n".join(keeping.list_tokens(address)))
    elif revoked is not None:
        click.echo(f"token {revoked} ({keeping.revoke(address, revoked).label}) is no longer good")
    else:
        from softcondorcet.serve.run import run

        run(address, settings, host, port)


def _demo(settings: Any, host: str, port: int) -> None:
    from softcondorcet.serve.demo import make_demo
    from softcondorcet.serve.run import run

    with tempfile.TemporaryDirectory(prefix="sco-demo-") as folder:
        make_demo(f"{folder}/demo.db")
        run(f"{folder}/demo.db", settings, host, port)


def _get(address: str, path: str, settings: Any) -> None:
    from softcondorcet.serve.run import get

    if not path.startswith("/"):
        raise click.UsageError(f"--get takes a path that begins with a slash, got {path}")
    status, body = get(address, path, settings)
    if status != 200:
        raise DataError(f"{path}: expected 200, got {status} {body.decode(errors='replace')}")
    click.echo(body, nl=False)
