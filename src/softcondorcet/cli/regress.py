"""sco regress: a check for continuous integration that a new model is not worse than the old one."""

from __future__ import annotations

from pathlib import Path

import click

from softcondorcet.cli import options
from softcondorcet.errors import DataError


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
