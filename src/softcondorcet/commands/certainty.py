"""Commands that say how sure an order is, and what would make it surer: bootstrap, next."""

from __future__ import annotations

import click

from softcondorcet.arguments import drawing_by, read_votes, reading, settings_of
from softcondorcet.screen import progress

FORMATS = ("table", "md", "csv", "json", "latex")

_METHOD = click.option("--method", default="sco", show_default=True, help="One of those that 'sco methods' lists.")
_RESAMPLES = click.option(
    "--resamples", type=click.IntRange(min=2), default=200, show_default=True, help="How many resamples to rate."
)
_LEVEL = click.option("--level", type=float, default=0.95, show_default=True, help="Of the intervals.")
_SEED = click.option("--seed", type=int, default=0, show_default=True, help="Seed of all that is drawn at random.")
_FORM = click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True)


@click.command()
@reading
@_METHOD
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="An option of the method. Repeatable.")
@_RESAMPLES
@drawing_by
@click.option(
    "--interval",
    type=click.Choice(("percentile", "bca")),
    default="percentile",
    show_default=True,
    help="How intervals of ratings are cut.",
)
@_LEVEL
@_SEED
@_FORM
@click.option("--top", type=click.IntRange(min=1), metavar="N", help="Only the best N agents.")
def bootstrap(
    file: str,
    kind: str | None,
    columns: tuple[str, ...],
    method: str,
    settings: tuple[str, ...],
    resamples: int,
    by: str,
    interval: str,
    level: float,
    seed: int,
    form: str,
    top: int | None,
) -> None:
    """Rate resamples of FILE: intervals of ratings and ranks, and which agents cannot be told apart.

    \b
    sco bootstrap battles.csv
    sco bootstrap scores.csv --by groups --method bradley_terry --interval bca
    """
    from softcondorcet.bootstrapping import bootstrap as run
    from softcondorcet.tables import FORMATS, printable

    with progress() as work:
        work(f"reading {printable(file)}")
        profile = read_votes(file, kind, columns)
        watch = work(f"{method} on {resamples} resamples of {profile.n_votes:,} votes")
        found = run(
            profile,
            method,
            n=resamples,
            by=by,  # type: ignore[arg-type]
            interval=interval,  # type: ignore[arg-type]
            level=level,
            seed=seed,
            watch=watch,
            **settings_of(settings),
        )
    if form == "json":
        click.echo(found.to_json(top))
        return
    click.echo(FORMATS[form](found.rows(top)))
    for line in found.summary():
        click.echo(printable(line), err=True)


@click.command("next")
@reading
@click.option("--count", type=click.IntRange(min=1), default=10, show_default=True, help="Matches to name.")
@click.option("--top", type=click.IntRange(min=1), metavar="K", help="Settle only the first K places; all by default.")
@_METHOD
@_RESAMPLES
@_LEVEL
@_SEED
@_FORM
def next_match(
    file: str,
    kind: str | None,
    columns: tuple[str, ...],
    count: int,
    top: int | None,
    method: str,
    resamples: int,
    level: float,
    seed: int,
    form: str,
) -> None:
    """Name the battles that would tell most about the order of FILE, or say that it is settled.

    \b
    sco next battles.csv --top 3
    """
    from softcondorcet.next_match import next_matches
    from softcondorcet.tables import FORMATS, printable

    with progress() as work:
        work(f"reading {printable(file)}")
        profile = read_votes(file, kind, columns)
        watch = work(f"{method} on {resamples} resamples of {profile.n_votes:,} votes")
        found = next_matches(profile, count, top=top, method=method, n=resamples, level=level, seed=seed, watch=watch)
    if form == "json":
        click.echo(found.to_json())
        return
    if found.matches:
        click.echo(FORMATS[form](found.rows()))
    for line in found.summary():
        click.echo(printable(line), err=True)
