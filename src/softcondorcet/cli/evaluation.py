"""Commands that compare and rate again: compare, versus, holdout, tune, robustness, bootstrap, next."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from softcondorcet.checks import check
from softcondorcet.cli import completion, options
from softcondorcet.cli.settings import SETTINGS, settings_of
from softcondorcet.errors import DataError
from softcondorcet.installation import needs

if TYPE_CHECKING:
    from softcondorcet.profile import Profile
    from softcondorcet.uncertainty.intervals import Uncertainty

METHODS_OPTION = click.option(
    "--methods",
    metavar="A,B,...",
    shell_complete=completion.methods,
    help="Methods that 'sco methods' lists, or all; a few usual ones if left out.",
)
_LIMIT = click.option(
    "--time-limit", type=float, default=10.0, show_default=True, help="Seconds for each fit of an exact method."
)
RESAMPLES = options.count(
    "--resamples", None, "Number of resamples to rate; 200, fewer for many pairs.", least=2, metavar="N"
)


def affordable(profile: Profile, method: str, chosen: dict[str, Any], asked: int | None) -> tuple[dict[str, Any], int]:
    """Options and number of resamples: as asked for, or as many as are worth their time, which is said."""
    from softcondorcet.evaluation.budget import budget

    if asked is not None:
        return chosen, asked
    plan = budget(profile, method, chosen, 200)
    options.say([f"note: {cut}" for cut in plan.cuts])
    if not plan.resamples:
        raise DataError("votes: too many pairs to rate resamples in seconds; --resamples 10 rates ten all the same")
    return dict(plan.options), plan.resamples


HELD_OUT = click.option(
    "--by",
    type=click.Choice(("random", "time")),
    default="random",
    show_default=True,
    help="Hold out random votes, or later votes than those trained on.",
)


def method_names(text: str | None) -> tuple[str, ...] | None:
    """The names given; None where none are."""
    from softcondorcet.methods.registry import METHODS

    if text is None:
        return None
    names = tuple(METHODS) if text == "all" else tuple(map(str.strip, text.split(",")))
    options.check_methods("--methods", *names)
    return names


@click.command()
@options.reading
@METHODS_OPTION
@options.SEED
@_LIMIT
@options.formats(*options.TABLE, "latex")
@options.TOP
def compare(
    source: options.Source, methods: str | None, seed: int, time_limit: float, form: str, top: int | None
) -> None:
    """Rate FILE by several methods and show them side by side.

    Prints the rank of each agent by each method, how much each order contradicts the votes, and which methods
    contradict the majority.

    \b
    sco compare battles.csv
    sco compare election.soc --methods sco,kemeny,borda,schulze
    """
    from softcondorcet.evaluation.compare import compare as run
    from softcondorcet.formatting import plural

    names = method_names(methods)
    with options.progress() as work:
        profile = source.read(work)
        watch = work(f"{plural(len(names), 'method') if names else 'methods'} on {plural(profile.n_votes, 'vote')}")
        comparison = run(profile, names, seed=seed, time_limit=time_limit, watch=watch)
    if form == "json":
        options.show_json(comparison.to_json())
        return
    options.show_rows(comparison.rows(top), form, names=True)
    if form == "table":
        click.echo()
        options.show_table(comparison.losses())
    options.say([*comparison.summary(), *_circumstances(profile)])
    options.next_step("holdout")


def _circumstances(profile: Profile) -> list[str]:
    """What circumstances of the votes would move, in words."""
    from softcondorcet.doctor.circumstances import circumstances, position_bias
    from softcondorcet.doctor.comparisons import Case
    from softcondorcet.doctor.finding import Unchecked

    case, found = Case(profile), list[str]()
    for check_votes in (position_bias, circumstances):
        with suppress(Unchecked):
            found += [f"{one.text}: {one.advice}" for one in check_votes(case)]
    return found


@click.command()
@options.reading
@METHODS_OPTION
@options.count("--test", None, "Number of votes to hold out; a tenth of them by default.", metavar="N")
@options.count("--splits", 1, "Number of random splits to average over.")
@HELD_OUT
@options.SEED
@_LIMIT
@options.formats(*options.TABLE)
def holdout(source: options.Source, methods: str | None, form: str, **given: Any) -> None:
    """Fit each method on part of FILE, test it on held-out votes."""
    from softcondorcet.evaluation.holdout import TESTED, holdout as run
    from softcondorcet.formatting import plural

    names = method_names(methods)
    with options.progress() as work:
        profile = source.read(work)
        watch = work(f"{plural(len(names), 'method') if names else 'methods'} on {plural(profile.n_votes, 'vote')}")
        result = run(profile, TESTED if names is None else names, watch=watch, **given)
    options.show(result, form)
    options.next_step("rank", "--method", result.scores[0].method)


@click.command()
@options.reading
@options.count("--folds", 5, "Number of folds.", least=2)
@HELD_OUT
@click.option(
    "--plot",
    metavar="FILE",
    help="Draw the held-out error of each setting to FILE (.png, .svg, .pdf); needs the plot extra.",
)
@options.SEED
@options.formats(*options.TABLE)
def tune(source: options.Source, plot: str | None, form: str, **given: Any) -> None:
    """Choose options of sco for FILE by cross-validation.

    The options are sharpness, prior and temperature. The last line printed is the 'sco rank' command that uses them.
    """
    from softcondorcet.evaluation.tune import tune as run
    from softcondorcet.formatting import plural

    if plot is not None:
        needs("matplotlib", "plot")
    with options.progress() as work:
        profile = source.read(work)
        result = run(profile, watch=work(f"tuning on {plural(profile.n_votes, 'vote')}"), **given)
    options.show(result, form)
    if plot is not None:
        result.plot(plot)
    if form != "json":
        best = " ".join(f"--set {name}={value}" for name, value in result.best.items())
        options.say([f"use it: sco rank {source.file} {best}"])


@click.command()
@options.reading
@options.METHOD
@SETTINGS
@click.option(
    "--parts", metavar="A,B,...", help="What to change: votes, agents, groups or clones; all of these by default."
)
@options.count("--rivals", 5, "Number of runners-up to try to put first.")
@options.count("--agents", None, "Number of agents to leave out, one at a time; 20, fewer for many pairs.", metavar="N")
@options.count("--groups", None, "Number of groups to leave out, one at a time; 50, fewer for many pairs.", metavar="N")
@options.count("--clones", None, "Number of agents to copy, one at a time; 5, fewer for many pairs.", metavar="N")
@options.SEED
@options.formats(*options.TABLE)
def robustness(
    source: options.Source, method: str, settings: tuple[str, ...], parts: str | None, form: str, **given: Any
) -> None:
    """What would change the order: few votes, an agent, a judge.

    Finds the fewest votes whose removal changes the first place. Leaves out agents and groups (judges, tasks) one at a
    time, and adds copies of agents.

    \b
    sco robustness battles.csv
    sco robustness battles.csv --method bradley_terry --parts votes,groups
    """
    from softcondorcet.evaluation.robustness import PARTS, robustness as run

    options.check_methods("--method", method)
    some = PARTS if parts is None else parts.split(",")
    with options.progress() as work:
        profile = source.read(work)
        watch = work(f"{method} on changed votes")
        result = run(profile, method, options=settings_of(settings), parts=some, watch=watch, **given)
    if form == "json":
        options.show_json(result.to_json())
        return
    if form != "table":
        options.show_rows(result.rows(), form)
        return
    options.lines(result.summary())
    for rows in filter(None, (result.removed_rows(), result.rows())):
        click.echo()
        options.show_table(rows)
    options.next_step("next", "--top", "1")


@click.command()
@options.reading
@options.METHOD
@SETTINGS
@RESAMPLES
@click.option(
    "--by",
    type=click.Choice(("votes", "groups", "new-group")),
    default="votes",
    show_default=True,
    help="What a resample draws: votes; all votes of a judge or task together; or, for ranges on one more judge or "
    "task, one of them alone.",
)
@click.option(
    "--interval",
    type=click.Choice(("percentile", "bca")),
    default="percentile",
    show_default=True,
    help="How intervals are computed: percentiles, or bias-corrected and accelerated (BCa).",
)
@options.LEVEL
@click.option("--simultaneous", is_flag=True, help="Rank ranges that hold for all agents at once at the level.")
@options.count(
    "--top-k", None, "Also the chance to be among the first K, Condorcet winner, in the Smith set.", metavar="K"
)
@options.SEED
@options.formats(*options.TABLE, "latex", options.AGGREGATES)
@options.OUTPUT
@options.TOP
@options.GROUP_BY
@options.GROUPS
def bootstrap(
    source: options.Source,
    method: str,
    settings: tuple[str, ...],
    resamples: int | None,
    form: str,
    output: str | None,
    top: int | None,
    group_by: str | None,
    groups: int,
    **given: Any,
) -> None:
    """Intervals of ratings and ranks, from resampled votes.

    Also says which agents cannot be told apart.

    \b
    sco bootstrap battles.csv
    sco bootstrap scores.csv --by groups --method bradley_terry --interval bca
    sco bootstrap battles.csv --top-k 3 --simultaneous
    """
    from softcondorcet.formatting import plural
    from softcondorcet.uncertainty.bootstrap import bootstrap as run

    options.check_output(form, output, top=top, group_by=group_by)
    chosen = settings_of(settings)
    with options.progress() as work:
        profile = source.read(work, keep=(group_by,) if group_by else ())
        chosen, n = affordable(profile, method, chosen, resamples)
        watch = work(f"{method} on {n:,} resamples of {plural(profile.n_votes, 'vote')}")
        if group_by is not None:
            from softcondorcet.uncertainty.by_group import by_group

            seed = given.pop("seed")
            boards = by_group(
                profile, group_by, method, n=n, most=groups, seed=seed, watch=watch, intervals=given, **chosen
            )
        elif given["by"] == "new-group":
            result = _new_group(profile, method, {"n": n, "watch": watch, **chosen}, given)
        else:
            result = run(profile, method, n=n, watch=watch, **given, **chosen)
    if group_by is not None:
        options.show_groups(boards, form, top)
        return
    if output is not None:
        options.write_aggregates(result, output)
        return
    if form == "latex":  # a line between groups that cannot be told apart
        group = {name: k for k, names in enumerate(result.tie_groups) for name in names}
        options.show_rows([{**row, "tie_group": group.get(row["agent"])} for row in result.rows(top)], form)
    else:
        options.show(result, form, top, quiet=True)
    if form != "json":
        what, answer, *rest = result.summary()
        options.say([what, *rest])
        options.conclude([answer])
    options.next_step("next")


def _new_group(profile: Profile, method: str, how: dict[str, Any], given: dict[str, Any]) -> Uncertainty:
    """Ranges for one more group; options of resamples have no meaning there."""
    from softcondorcet.uncertainty.new_group import new_group

    usual = {"interval": "percentile", "simultaneous": False, "top_k": None}
    for name, value in usual.items():
        check(given[name] == value, f"--{name.replace('_', '-')}", "left out with --by new-group", given[name])
    return new_group(profile, method, level=given["level"], seed=given["seed"], **how)


# Groups up to which a table of two agents lists them; JSON has all.
_PARTS = 20


@click.command()
@options.reading
@click.argument("agent")
@click.argument("others", nargs=-1, required=True, metavar="OTHER...")
@click.option(
    "--by",
    metavar="COLUMN",
    help="The independent units: votes, groups, or a column. Default: groups, where there are six or more; else votes.",
)
@click.option("--each", metavar="COLUMN", help="Also list wins for each value of this column; the groups by default.")
@click.option(
    "--measure",
    type=click.Choice(("wins", "scores")),
    help="Compare wins, or mean scores; scores by default where there are any.",
)
@click.option("--level", type=float, default=0.95, show_default=True, help="Level of the intervals and of the test.")
@options.count("--resamples", 2000, "Number of bootstrap resamples.")
@options.SEED
@options.formats(*options.TABLE)
def versus(
    source: options.Source, agent: str, others: tuple[str, ...], each: str | None, resamples: int, form: str,
    **given: Any,
) -> None:  # fmt: skip
    """Is AGENT better than OTHER, on the votes that hold both?

    With several OTHERs, AGENT is the baseline and p-values are corrected by Holm's method.

    \b
    sco versus battles.csv gpt-4 claude-2
    sco versus scores.csv baseline new-1 new-2 --by subject
    """
    from softcondorcet.evaluation.versus import versus as run
    from softcondorcet.evaluation.versus_result import Versus
    from softcondorcet.formatting import plural

    with options.progress() as work:
        profile = source.read(work)
        work(f"{plural(len(others), 'comparison')} on {plural(profile.n_votes, 'vote')}")
        result = run(profile, agent, others[0] if len(others) == 1 else others, per=each, n=resamples, **given)
    parts = result.parts if isinstance(result, Versus) else ()
    listed = form == "table" and 1 < len(parts) <= _PARTS
    options.show(result, form, quiet=listed)
    if listed:
        click.echo()
        options.show_table([dict(vars(part)) for part in parts])
        options.say(result.summary())


@click.command("next")
@options.reading
@options.count("--count", 10, "Number of matches or runs to list.")
@options.count("--top", None, "Settle the first K places only; all by default, one with --until.", metavar="K")
@click.option(
    "--until",
    type=float,
    metavar="LEVEL",
    help="Stop when the first place (or the first K) is settled at LEVEL (0.95). May be asked after every vote.",
)
@options.METHOD
@RESAMPLES
@options.LEVEL
@options.SEED
@options.formats(*options.TABLE, "latex")
def next_match(
    source: options.Source,
    count: int,
    top: int | None,
    until: float | None,
    method: str,
    resamples: int | None,
    form: str,
    **given: Any,
) -> None:
    """List the matches worth playing next, or say it is settled.

    Of a score table, the runs of agents on tasks that are missing and would tell most.

    \b
    sco next battles.csv --top 3
    sco next battles.csv --until 0.95
    """
    from softcondorcet.evaluation.compare import run
    from softcondorcet.formatting import plural
    from softcondorcet.uncertainty.bootstrap import bootstrap
    from softcondorcet.uncertainty.next_matches import NextMatches, next_matches
    from softcondorcet.uncertainty.next_runs import NextRuns, next_runs
    from softcondorcet.uncertainty.sequential_test import SequentialTest, sequential_test

    with options.progress() as work:
        profile = source.read(work)
        result: NextMatches | NextRuns | SequentialTest
        if until is None:
            chosen, n = affordable(profile, method, {}, resamples)
            watch = work(f"{method} on {n:,} resamples of {plural(profile.n_votes, profile.noun)}")
            found = bootstrap(profile, method, n=n, watch=watch, **given, **chosen)
            scored = profile.noun != "vote"
            result = next_runs(profile, found, count, top=top) if scored else next_matches(found, count, top=top)
        else:
            work(f"{method} on {plural(profile.n_votes, 'vote')}")
            order = run(profile, method, {}, given["seed"]).order
            result = sequential_test(profile, count, top=top or 1, level=until, order=order)
    if form == "json" or result.rows():
        options.show(result, form)
    else:
        options.say(result.summary())
