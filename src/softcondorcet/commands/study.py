"""Commands that try several methods or settings on the same votes: compare, holdout, tune."""

from __future__ import annotations

import click

from softcondorcet.arguments import read_votes, reading
from softcondorcet.errors import OptionError
from softcondorcet.options import needs
from softcondorcet.screen import progress

FORMATS = ("table", "md", "csv", "json")


def _methods(text: str | None) -> tuple[str, ...]:
    from softcondorcet.comparison import USUAL
    from softcondorcet.registry import METHODS

    names = USUAL if text is None else tuple(METHODS) if text == "all" else tuple(map(str.strip, text.split(",")))
    for name in names:
        if name not in METHODS:
            raise OptionError(f"--methods must be among {', '.join(METHODS)}, got {name!r}")
    return names


_METHODS = click.option(
    "--methods",
    metavar="A,B,...",
    help="Names from 'sco methods', or all; a few usual ones if left out.",
)
_FORM = click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True)
_SEED = click.option("--seed", type=int, default=0, show_default=True, help="Seed of all that is drawn at random.")


_LIMIT = click.option(
    "--time-limit", type=float, default=10.0, show_default=True, help="Seconds for each fit of an exact method."
)


@click.command()
@reading
@_METHODS
@_SEED
@_LIMIT
@_FORM
@click.option("--top", type=click.IntRange(min=1), metavar="N", help="Only the best N agents.")
def compare(
    file: str,
    kind: str | None,
    columns: tuple[str, ...],
    methods: str | None,
    seed: int,
    time_limit: float,
    form: str,
    top: int | None,
) -> None:
    """Rate FILE by several methods: ranks side by side, losses, and who contradicts the majority.

    \b
    sco compare battles.csv
    sco compare election.soc --methods sco,kemeny,borda,schulze
    """
    from softcondorcet.comparison import compare as run
    from softcondorcet.tables import FORMATS, printable

    names = _methods(methods)
    with progress() as work:
        work(f"reading {printable(file)}")
        profile = read_votes(file, kind, columns)
        work(f"{len(names)} methods on {profile.n_votes:,} votes")
        found = run(profile, names, seed=seed, time_limit=time_limit)
    if form == "json":
        click.echo(found.to_json())
        return
    click.echo(FORMATS[form](found.rows(top)))
    if form == "table":
        click.echo("\n" + FORMATS[form](found.losses()) + "\n")
    for line in found.summary():
        click.echo(printable(line), err=True)


@click.command()
@reading
@_METHODS
@click.option("--test", type=click.IntRange(min=1), metavar="N", help="Votes to hold out; a tenth if left out.")
@click.option("--splits", type=click.IntRange(min=1), default=1, show_default=True, help="Random splits.")
@click.option(
    "--by", type=click.Choice(("random", "time")), default="random", show_default=True, help="Which votes to hold out."
)
@_SEED
@_LIMIT
@_FORM
def holdout(
    file: str,
    kind: str | None,
    columns: tuple[str, ...],
    methods: str | None,
    test: int | None,
    splits: int,
    by: str,
    seed: int,
    time_limit: float,
    form: str,
) -> None:
    """Rate a part of the votes of FILE and hold each method's order against the rest."""
    from softcondorcet.heldout import holdout as run
    from softcondorcet.tables import FORMATS, printable

    names = _methods(methods)
    with progress() as work:
        work(f"reading {printable(file)}")
        profile = read_votes(file, kind, columns)
        watch = work(f"{len(names)} methods on {profile.n_votes:,} votes")
        found = run(profile, names, test=test, splits=splits, by=by, seed=seed, time_limit=time_limit, watch=watch)  # type: ignore[arg-type]
    click.echo(found.to_json() if form == "json" else FORMATS[form](found.rows()))
    if form != "json":
        for line in found.summary():
            click.echo(printable(line), err=True)


@click.command()
@reading
@click.option("--folds", type=click.IntRange(min=2), default=5, show_default=True, help="Parts of the votes.")
@click.option("--plot", metavar="FILE", help="Draw the distances to FILE (.png, .svg, .pdf); needs the plot extra.")
@_SEED
@_FORM
def tune(
    file: str, kind: str | None, columns: tuple[str, ...], folds: int, plot: str | None, seed: int, form: str
) -> None:
    """Choose sharpness, prior and temperature of sco for FILE by cross-validation."""
    from softcondorcet.tables import FORMATS, printable
    from softcondorcet.tuning import tune as run

    if plot is not None:
        needs("matplotlib", "plot")
    with progress() as work:
        work(f"reading {printable(file)}")
        profile = read_votes(file, kind, columns)
        found = run(profile, folds=folds, seed=seed, watch=work(f"tuning on {profile.n_votes:,} votes"))
    click.echo(found.to_json() if form == "json" else FORMATS[form](found.rows()))
    if plot is not None:
        found.plot(plot)
    if form != "json":
        best = " ".join(f"--set {name}={value}" for name, value in found.best.items())
        for line in [*found.summary(), f"use it: sco rank {printable(file)} {best}"]:
            click.echo(line, err=True)
