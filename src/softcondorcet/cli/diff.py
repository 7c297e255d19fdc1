"""sco diff: what changed between two leaderboards."""

from __future__ import annotations

import click

from softcondorcet.cli import options
from softcondorcet.cli.completion import PATH


@click.command()
@click.argument("old", type=PATH, metavar="OLD.json")
@click.argument("new", type=PATH, metavar="NEW.json")
@click.option(
    "--fail-on",
    type=click.Choice(("first", "told-apart", "moved")),
    help="Exit with 1 if first place changed, a move is told apart, or any agent moved.",
)
@options.TOP
@options.formats(*options.TABLE)
@click.pass_context
def diff(context: click.Context, old: str, new: str, fail_on: str | None, top: int | None, form: str) -> None:
    """Say what changed between two leaderboards.

    OLD and NEW are JSON of 'sco rank', 'sco bootstrap' or a live board (leaderboard.json). A move is told apart where
    the rank ranges before and after have no rank in common; 'sco bootstrap' and live boards have ranges.

    \b
    sco diff monday.json friday.json
    sco diff main.json branch.json --format md --fail-on first
    """
    from softcondorcet.evaluation.diff import diff as compared

    found = compared(old, new)
    options.show(found, form, top)
    apart = any(found.told_apart(agent) for agent in found.moved)
    failed = {"first": found.first[0] != found.first[1], "told-apart": apart, "moved": bool(found.moved)}
    if fail_on is not None and failed[fail_on]:
        context.exit(1)
