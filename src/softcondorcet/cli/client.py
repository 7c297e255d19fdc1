"""Commands that talk to a live leaderboard: one vote, or the votes of a file."""

from __future__ import annotations

from typing import Any

import click

from softcondorcet.cli import options

_URL = click.argument("url")
_TOKEN = click.option(
    "--token", envvar="SCO_TOKEN", help="The secret of a token; better in the environment, as SCO_TOKEN."
)
_BOARD = click.option("--board", default="main", show_default=True, metavar="NAME", help="The board on that server.")


@click.command()
@_URL
@click.argument("a")
@click.argument("b")
@click.argument("winner")
@click.option("--voter", metavar="NAME", help="Who votes.")
@click.option("--group", metavar="NAME", help="A judge, task or prompt.")
@click.option("--weight", type=float, help="1 by default; more takes an admin's token.")
@_TOKEN
@_BOARD
def vote(url: str, a: str, b: str, winner: str, token: str | None, board: str, **about: Any) -> None:
    """Send one vote to the live leaderboard at URL.

    It prints the number of the vote. WINNER is A or B by name, tie or both_bad. The number comes when the vote
    is on the server's disk.

    \b
    sco vote http://127.0.0.1:8700 gpt-x llama-y gpt-x --voter ann
    """
    from softcondorcet.client import Client

    with Client(url, token=token, board=board) as client:
        click.echo(client.vote(a, b, winner, **about))


@click.command()
@options.reading
@_URL
@click.option("--skip", type=click.IntRange(min=0), default=0, help="Leave out the first votes: those sent before.")
@click.option("--again", is_flag=True, help="Send votes that this server has already.")
@_TOKEN
@_BOARD
@click.option("-q", "--quiet", is_flag=True, help="Nothing but what was sent.")
def push(source: options.Source, url: str, skip: int, again: bool, token: str | None, board: str, quiet: bool) -> None:
    """Send the votes of FILE to the live leaderboard at URL.

    FILE is anything that 'sco rank' reads. A push that broke off is finished by the same command, and the same votes
    count once. When FILE has grown, --skip the votes that were sent.

    \b
    sco push results/ https://arena.example --board coding
    """
    from softcondorcet.client import Client
    from softcondorcet.formatting import plural

    with options.progress() as work, Client(url, token=token, board=board) as client:
        profile = source.read(work, quiet)
        watch = work(f"sending {plural(profile.n_votes, 'vote')}")
        done = client.push(profile, skip=skip, again=again, watch=watch)
    if not quiet:
        options.say(list(done.notes))
    known = f", of which the server had {done.known:,}" if done.known else ""
    click.echo(f"{plural(done.votes, 'vote')} sent to {client.url}{known}")
    if not quiet and done.votes:
        options.say([f"when FILE has grown: sco push --skip {skip + done.votes} sends the rest"])
