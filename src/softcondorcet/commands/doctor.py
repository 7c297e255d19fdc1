"""Commands that ask how far the data can be trusted: inspect, robustness."""

from __future__ import annotations

import sys

import click

from softcondorcet.arguments import read_votes, reading, settings_of
from softcondorcet.errors import OptionError
from softcondorcet.screen import progress

# Those of softcondorcet.doctor, which help must not import.
_SEVERITIES = ("problem", "caution", "note")


@click.command()
@reading
@click.option("--format", "form", type=click.Choice(("table", "json")), default="table", show_default=True)
@click.option("--strict", is_flag=True, help="Exit with 1 if a finding is a problem. For use in CI.")
@click.option("--fail-on", type=click.Choice(_SEVERITIES), help="Exit with 1 if a finding is this bad or worse.")
def inspect(
    file: str, kind: str | None, columns: tuple[str, ...], form: str, strict: bool, fail_on: str | None
) -> None:
    """Say what the data of FILE can support, and what looks wrong in it.

    \b
    sco inspect battles.csv
    sco inspect battles.csv --fail-on caution --format json
    """
    from softcondorcet.doctor import inspect as look
    from softcondorcet.tables import printable

    with progress() as work:
        work(f"reading {printable(file)}")
        profile = read_votes(file, kind, columns)
        work(f"looking at {profile.n_votes:,} votes")
        found = look(profile)
    if form == "json":
        click.echo(found.to_json())
    else:
        click.echo("\n".join(printable(line) for line in found.lines()))
    limit = fail_on or ("problem" if strict else None)
    if limit and found.worst and _SEVERITIES.index(found.worst) <= _SEVERITIES.index(limit):
        sys.exit(1)


@click.command()
@reading
@click.option("--method", default="sco", show_default=True, help="One of the methods that 'sco methods' lists.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="An option of the method. Repeatable.")
@click.option("--parts", metavar="A,B,...", help="Of votes, agents, groups, clones; all if left out.")
@click.option("--rivals", type=click.IntRange(min=1), default=5, show_default=True, help="Agents that might be first.")
@click.option("--agents", type=click.IntRange(min=1), default=20, show_default=True, help="Agents to leave out.")
@click.option("--groups", type=click.IntRange(min=1), default=50, show_default=True, help="Groups to leave out.")
@click.option("--clones", type=click.IntRange(min=1), default=5, show_default=True, help="Agents to copy.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the methods that draw at random.")
@click.option("--format", "form", type=click.Choice(("table", "md", "csv", "json")), default="table", show_default=True)
def robustness(
    file: str,
    kind: str | None,
    columns: tuple[str, ...],
    method: str,
    settings: tuple[str, ...],
    parts: str | None,
    rivals: int,
    agents: int,
    groups: int,
    clones: int,
    seed: int,
    form: str,
) -> None:
    """Say what would change the order of FILE: a few votes, an agent, a judge, a copy of an agent.

    \b
    sco robustness battles.csv
    sco robustness battles.csv --method bradley_terry --parts votes,groups
    """
    from softcondorcet.registry import METHODS
    from softcondorcet.robust import PARTS
    from softcondorcet.robust import robustness as run
    from softcondorcet.tables import FORMATS, printable

    if method not in METHODS:
        raise OptionError(f"--method must be one of {', '.join(METHODS)}, got {method!r}")
    with progress() as work:
        work(f"reading {printable(file)}")
        profile = read_votes(file, kind, columns)
        found = run(
            profile,
            method,
            options=settings_of(settings),
            parts=PARTS if parts is None else parts.split(","),
            rivals=rivals,
            agents=agents,
            groups=groups,
            clones=clones,
            seed=seed,
            watch=work(f"{method} on changed votes"),
        )
    if form == "json":
        click.echo(found.to_json())
        return
    if form == "table":
        click.echo("\n".join(printable(line) for line in found.summary()))
        if found.flip is not None and found.flip.removed:
            click.echo("\n" + FORMATS[form](found.removed_rows()))
        click.echo()
    click.echo(FORMATS[form](found.rows()))
