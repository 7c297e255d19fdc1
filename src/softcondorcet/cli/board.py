"""Commands that look after the database of a live leaderboard: copies, a check, answers without a server, tokens."""

from __future__ import annotations

from typing import Any

import click

from softcondorcet.errors import DataError
from softcondorcet.installation import needs

_board = click.argument("address", metavar="BOARD")


@click.group()
def board() -> None:
    """Copy, check or read a board of the live leaderboard.

    BOARD is a file, or postgresql://...
    """
    needs("starlette", "serve")


@board.command()
@_board
@click.argument("file")
@click.option("--force", is_flag=True, help="Overwrite FILE if it exists.")
def backup(address: str, file: str, force: bool) -> None:
    """Copy BOARD to FILE. A server may be running.

    The copy is consistent: BOARD as it is at one moment, checked before FILE appears.

    \b
    sco board backup board.db board-monday.db
    """
    from softcondorcet.server import maintenance

    click.echo(maintenance.backup(address, file, force=force))


@board.command()
@_board
@click.argument("file")
@click.option("--force", is_flag=True, help="Overwrite BOARD if it exists.")
def restore(address: str, file: str, force: bool) -> None:
    """Replace BOARD by the copy FILE. No server may be running."""
    from softcondorcet.server import maintenance

    click.echo(maintenance.restore(address, file, force=force))


@board.command()
@_board
def check(address: str) -> None:
    """Check BOARD: read every row, count all pairs two ways."""
    from softcondorcet.server import maintenance

    click.echo("\n".join(maintenance.examine(address)))


@board.command()
@_board
@click.argument("path", metavar="/PATH")
def get(address: str, path: str) -> None:
    """Print the answer to GET /PATH from disk, without a server.

    \b
    sco board get board.db /leaderboard.json
    sco board get board.db '/pair.json?a=x&b=y'
    """
    from softcondorcet.server.run import get as answer

    if not path.startswith("/"):
        raise click.UsageError(f"/PATH begins with a slash, got {path}")
    status, body = answer(address, path)
    if status != 200:
        raise DataError(f"{path}: expected 200, got {status} {body.decode(errors='replace')}")
    click.echo(body, nl=False)


@click.group()
def token() -> None:
    """Make, list or revoke the tokens of a board.

    BOARD is a file, or postgresql://... While a server runs, make and revoke tokens over its API instead.
    """
    needs("starlette", "serve")


@token.command()
@_board
@click.argument("label")
@click.option(
    "--scope",
    type=click.Choice(("vote", "admin")),
    default="vote",
    show_default=True,
    help="What the token allows: to vote, or everything.",
)
@click.option("--board", "name", metavar="NAME", help="The only board that the token is for; all boards by default.")
def new(address: str, label: str, scope: Any, name: str | None) -> None:
    """Make a token called LABEL and print its secret.

    The secret is printed this once: only a hash of it is stored.

    \b
    sco token new board.db laptop --scope admin
    """
    from softcondorcet.server import maintenance

    made, secret = maintenance.new_token(address, label, scope, name)
    click.echo(secret)
    click.echo(f"token {made.id} ({made.label}): scope {made.scope}; it is not shown again", err=True)


@token.command("list")
@_board
def list_tokens(address: str) -> None:
    """List the tokens of BOARD, without their secrets."""
    from softcondorcet.server import maintenance

    click.echo("\n".join(maintenance.list_tokens(address)))


@token.command()
@_board
@click.argument("number", metavar="ID", type=int)
def revoke(address: str, number: int) -> None:
    """Revoke the token with this number."""
    from softcondorcet.server import maintenance

    click.echo(f"token {number} ({maintenance.revoke(address, number).label}) is no longer good")
