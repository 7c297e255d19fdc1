"""Commands about chances: predict, calibration."""

from __future__ import annotations

from typing import Any

import click

from softcondorcet.checks import check
from softcondorcet.cli import options
from softcondorcet.cli.evaluation import HELD_OUT, METHODS_OPTION, RESAMPLES, affordable, method_names
from softcondorcet.cli.settings import SETTINGS, settings_of


@click.command()
@options.reading
@click.argument("agents", nargs=-1, metavar="[AGENT...]")
@click.option("--pairs", metavar="TABLE", help="Predict the pairs in TABLE, a file with two columns of names.")
@options.METHOD
@SETTINGS
@RESAMPLES
@options.BY
@options.LEVEL
@options.SEED
@options.formats(*options.TABLE)
def predict(
    source: options.Source,
    agents: tuple[str, ...],
    pairs: str | None,
    method: str,
    settings: tuple[str, ...],
    resamples: int | None,
    form: str,
    **given: Any,
) -> None:
    """The chance that AGENT comes out above another one.

    With its interval, and whether the votes tell the two apart. One AGENT is held against every other, several against
    each other.

    \b
    sco predict battles.csv gpt-4 claude-2
    sco predict battles.csv gpt-4
    sco predict results.csv --pairs fixtures.csv --format csv
    """
    from softcondorcet.formatting import plural
    from softcondorcet.uncertainty.predict import predict as run

    options.check_methods("--method", method)
    check((pairs is None) == bool(agents), "AGENT", "one or more names, or --pairs TABLE without them", agents)
    with options.progress() as work:
        profile = source.read(work)
        chosen, n = affordable(profile, method, settings_of(settings), resamples)
        watch = work(f"{method} on {n:,} resamples of {plural(profile.n_votes, profile.noun)}")
        result = run(profile, *agents, pairs=pairs, method=method, n=n, watch=watch, **given, **chosen)
    options.show(result, form)


@click.command()
@options.reading
@METHODS_OPTION
@options.count("--folds", 5, "Number of parts, each of which is held out once.", least=2)
@options.count("--bins", 10, "Number of bins of the chance, from 50 to 100 %.")
@HELD_OUT
@options.SEED
@options.formats(*options.TABLE)
def calibration(source: options.Source, methods: str | None, form: str, **given: Any) -> None:
    """How often what ratings call likely comes out.

    Each part of the votes is predicted from the others.

    \b
    sco calibration battles.csv
    sco calibration battles.csv --by time --methods sco,elo
    """
    from softcondorcet.evaluation.calibration import CALIBRATED, calibration as run
    from softcondorcet.formatting import plural

    names = method_names(methods)
    with options.progress() as work:
        profile = source.read(work)
        watch = work(f"predicting parts of {plural(profile.n_votes, profile.noun)}")
        result = run(profile, CALIBRATED if names is None else names, watch=watch, **given)
    options.show(result, form)
