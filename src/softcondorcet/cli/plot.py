"""The command that draws figures for papers and a card for posts: plot."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from softcondorcet.checks import Watch, check
from softcondorcet.cli import options
from softcondorcet.cli.completion import PATH
from softcondorcet.errors import DataError, OptionError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from softcondorcet.profile import Profile

KINDS = ("whiskers", "heatmap", "bump", "cycle", "groups", "calibration")
_SUFFIXES = (".pdf", ".svg", ".png")
# Inches: a column of a two-column paper, and its page.
_WIDTHS = {"column": 3.35, "page": 6.9}
_TOP = {"whiskers": 25, "heatmap": 12, "bump": 12, "groups": 15}


@click.command()
@options.reading
@click.argument("kind_of_plot", metavar="KIND", required=False, type=click.Choice(KINDS))
@click.option("-o", "--output", type=PATH, required=True, metavar="FIGURE", help="File to write: .pdf, .svg or .png.")
@click.option("--card", is_flag=True, help="A picture of 1200 x 630 for posts: answer, best ten, votes to change it.")
@click.option(
    "--width",
    type=click.Choice(tuple(_WIDTHS)),
    default="column",
    show_default=True,
    help="Of one column of a paper, or of its page.",
)
@options.METHOD
@options.TOP
@click.option("--group-by", metavar="COLUMN", default="group", show_default=True, help="For groups: whose ranks.")
@options.SEED
def plot(
    source: options.Source, kind_of_plot: str | None, output: str, card: bool, width: str, method: str,
    top: int | None, group_by: str, seed: int,
) -> None:  # fmt: skip
    """Draw a figure about FILE for a paper, or a card for posts.

    KIND is whiskers, heatmap, bump, cycle, groups or calibration.

    \b
    sco plot battles.csv whiskers -o fig.pdf
    sco plot battles.csv --card -o card.png
    """
    from softcondorcet.formatting import printable

    got = kind_of_plot or "nothing"
    check(card == (kind_of_plot is None), "KIND", f"one of {', '.join(KINDS)}, or --card without it", got)
    suffix = os.path.splitext(output)[1].lower()
    check(suffix in _SUFFIXES, "--output", f"a file of type {', '.join(_SUFFIXES)}", output)
    options.check_methods("--method", method)
    kind = kind_of_plot or "card"
    with options.progress() as work:
        keep = (group_by,) if kind == "groups" and group_by != "group" else ()
        profile = source.read(work, keep=keep)
        figure = _drawn(profile, kind, method, top or _TOP.get(kind, 10), group_by, seed, work(f"drawing {kind}"))
    if kind != "card":
        from softcondorcet.plots import sized

        sized(figure, _WIDTHS[width])
    try:
        figure.savefig(output, dpi=100 if kind == "card" else 300, metadata=_undated(suffix))
    except OSError as error:
        raise DataError(f"{output}: cannot be written ({error.strerror})") from None
    options.lines([f"wrote {printable(output)}"])


def _undated(suffix: str) -> dict[str, Any] | None:
    """So that the same votes give the same file."""
    return {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}.get(suffix)


def _drawn(profile: Profile, kind: str, method: str, top: int, group_by: str, seed: int, watch: Watch | None) -> Figure:
    """The figure, with the same numbers as the report."""
    from softcondorcet import plots
    from softcondorcet.evaluation.budget import budget
    from softcondorcet.evaluation.calibration import calibration
    from softcondorcet.evaluation.compare import compare, run
    from softcondorcet.reporting.analysis import analyse
    from softcondorcet.reporting.verdict import verdict
    from softcondorcet.uncertainty.bootstrap import bootstrap
    from softcondorcet.uncertainty.by_group import by_group

    if kind == "card":
        analysis = analyse(profile, method=method, methods=("sco",), seed=seed, watch=watch)
        says = analysis.headline(verdict(analysis.pairs, analysis.ratings, analysis.noun))
        return plots.card(analysis.rows(), says.answer, analysis.flip)
    if kind == "bump":
        names = (method, *(name for name in ("sco", "win_rate", "bradley_terry", "borda") if name != method))
        return plots.bump(compare(profile, names, seed=seed, watch=watch), top=top)
    if kind == "calibration":
        return plots.calibration(calibration(profile, tuple(dict.fromkeys((method, "bradley_terry"))), seed=seed))
    if kind == "groups":
        if group_by == "group" and profile.group is None:
            raise OptionError("--group-by must be a column of the votes, which have no judge, task or group")
        return plots.groups(by_group(profile, group_by, method, seed=seed, watch=watch), top=top)
    plan = budget(profile, method, {}, 200)
    if kind == "whiskers" and plan.resamples:
        how: dict[str, Any] = {"n": plan.resamples, "level": plan.level, "seed": seed, "watch": watch}
        try:
            return plots.whiskers(bootstrap(profile, method, **how, **plan.options), top=top)
        except DataError as error:
            options.say([f"no intervals: {error}"])
    board = run(profile, method, plan.options, seed)
    if kind == "cycle":
        says = verdict(profile.pairs(), board, profile.noun)
        if says.kind != "cycle":
            raise DataError(f"there is no cycle at the top to draw: {says.answer}")
        return plots.cycle(says.names, says.arrows)
    return plots.whiskers(board, top=top) if kind == "whiskers" else plots.head_to_head(profile, board, top=top)
