"""Commands that compare two leaderboards: diff, regress."""

from __future__ import annotations

from pathlib import Path

import click

from softcondorcet.cli import options
from softcondorcet.cli.completion import PATH
from softcondorcet.errors import DataError


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


@click.command()
@click.argument("old", metavar="OLD.json")
@click.argument("new", metavar="NEW.json")
@click.option(
    "--agent",
    "agents",
    multiple=True,
    metavar="NEW[=OLD]",
    help="A model that has to be told apart as better: than it was, or than OLD. Repeatable.",
)
@click.option("--junit", metavar="FILE", help="Write the checks as JUnit XML too, for a test report.")
@options.TOP
@options.formats(*options.TABLE)
@click.pass_context
def regress(
    context: click.Context, old: str, new: str, agents: tuple[str, ...], junit: str | None, top: int | None, form: str
) -> None:
    """Exit with 1 if a new model is not better than the old one.

    OLD and NEW are JSON of 'sco bootstrap', or of a live board (leaderboard.json). With --agent, each named model must
    be told apart as better: its rank range lies above the old one. Without, no agent of both boards may be told apart
    as worse.

    \b
    sco regress main.json branch.json
    sco regress main.json branch.json --agent model-v2=model-v1 --junit regress.xml --format md
    """
    from softcondorcet.evaluation.regress import regress as checked

    pairs = [(name, instead_of or name) for name, _, instead_of in (word.partition("=") for word in agents)]
    found = checked(old, new, dict(pairs) or None)
    if junit is not None:
        try:
            Path(junit).write_text(found.to_junit(), encoding="utf-8")
        except OSError as error:
            raise DataError(f"{junit}: cannot be written ({error.strerror})") from None
    options.show(found, form, top)
    if found.failed:
        context.exit(1)
