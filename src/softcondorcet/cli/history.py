"""Commands about ratings over time: history, replay."""

from __future__ import annotations

import sys
from typing import Any

import click

from softcondorcet.cli import completion, options
from softcondorcet.installation import needs

# Columns of a period in a table, and of all that stands beside them.
_PERIOD, _BESIDE_PERIODS = 9, 40


@click.command()
@options.reading
@click.option(
    "--period",
    default="auto",
    show_default=True,
    help="Length of a period: day, week, month, quarter, year, or a time such as 90d; auto: at most 60 periods.",
)
@click.option("--drift", default="auto", show_default=True, help="How far a rating moves in a year, natural log-odds.")
@click.option(
    "--model",
    type=click.Choice(("bradley_terry", "plackett_luce")),
    default="bradley_terry",
    show_default=True,
    help="Rankings as all their pairs, or as they are.",
)
@click.option(
    "--plot", metavar="FILE", help="Draw the ratings of the best to FILE (.png, .svg, .pdf); needs the plot extra."
)
@options.LEVEL
@options.SEED
@options.formats(*options.TABLE)
@options.TOP
def history(
    source: options.Source, period: str, drift: str, plot: str | None, form: str, top: int | None, **given: Any
) -> None:
    """Rate every agent of FILE over time, by all votes at once.

    \b
    sco history battles.csv --period month
    sco history battles.csv --top 5 --plot history.png
    sco history battles.csv --format csv > ratings.csv
    """
    from softcondorcet.evaluation.history import history as run
    from softcondorcet.formatting import plural

    if plot is not None:
        needs("matplotlib", "plot")
    with options.progress() as work:
        profile = source.read(work)
        work(f"history of {plural(profile.n_votes, 'vote')}")
        result = run(profile, period=period, drift=_number(drift), **given)
    if form == "json":
        options.show_json(result.to_json(top))
    else:
        options.show_rows(result.rows(top) if form == "csv" else result.table(top, _periods(form)), form)
        options.say(result.summary())
        options.next_step("report")
    if plot is not None:
        from softcondorcet.plots import history as draw

        draw(result, top=top or 6).savefig(plot, dpi=150)


def _periods(form: str) -> int:
    """How many periods a table has room for."""
    most = options.width(sys.stdout) if form == "table" else None
    return 8 if most is None else min(max((most - _BESIDE_PERIODS) // _PERIOD, 2), 8)


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


@click.command()
@options.reading
@click.option(
    "--models",
    default="sco,elo,weng_lin,kalman",
    show_default=True,
    metavar="A,B,...",
    shell_complete=completion.models,
    help="Online models.",
)
@click.option(
    "--scored", type=float, default=0.5, show_default=True, help="The share of the votes, the last, to score."
)
@click.option("--tune", is_flag=True, help="Choose the options of each model by the votes that are not scored.")
@options.formats(*options.TABLE)
def replay(source: options.Source, models: str, scored: float, tune: bool, form: str) -> None:
    """Predict each vote of FILE from those before it.

    \b
    sco replay battles.csv
    sco replay battles.csv --models elo,kalman --tune
    """
    from softcondorcet.evaluation.replay import replay as run
    from softcondorcet.formatting import plural

    names = tuple(map(str.strip, models.split(",")))
    with options.progress() as work:
        profile = source.read(work)
        work(f"{plural(len(names), 'model')} on {plural(profile.n_votes, 'vote')}")
        result = run(profile, names, scored=scored, tune=tune)
    options.show(result, form)
