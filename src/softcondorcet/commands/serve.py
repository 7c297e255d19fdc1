"""The command that runs the live leaderboard."""

from __future__ import annotations

import click

from softcondorcet.options import needs


@click.command()
@click.argument("address", metavar="BOARD", required=False)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; others need a token first.")
@click.option("--port", type=click.IntRange(0, 65535), default=8700, show_default=True, help="Port; a free one if 0.")
@click.option("--title", default="Leaderboard", show_default=True, help="Title of a new board.")
@click.option("--open", "open_votes", is_flag=True, help="Take votes without a token, even where tokens exist.")
@click.option("--every", type=click.FloatRange(min=0.1), default=5.0, show_default=True, help="Seconds between fits.")
def serve(address: str | None, host: str, port: int, title: str, open_votes: bool, every: float) -> None:
    """Run a live leaderboard over BOARD: a file, or postgresql://...

    Votes come in over HTTP and are answered when they are on disk. The file is made if it is not there.

    \b
    sco serve board.db
    curl -d '{"a": "x", "b": "y", "winner": "a"}' http://127.0.0.1:8700/votes
    """
    needs("fastapi", "serve")
    from softcondorcet.serve.run import run
    from softcondorcet.serve.service import Settings

    if address is None:
        raise click.UsageError("Missing argument 'BOARD': a file, or postgresql://...")
    run(address, Settings(title=title, open_votes=open_votes, every=every), host, port)
