"""Commands that rank: rank, optima; and the lists of methods and formats."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from softcondorcet.checks import check, not_negative, one_of
from softcondorcet.cli import options
from softcondorcet.cli.settings import SETTINGS, settings_of

if TYPE_CHECKING:
    from softcondorcet.evaluation.controlled import Controlled
    from softcondorcet.evaluation.margins import Margins
    from softcondorcet.evaluation.teams import Teams
    from softcondorcet.pairs import Pairs
    from softcondorcet.profile import Profile
    from softcondorcet.ratings import Ratings
    from softcondorcet.uncertainty.by_group import ByGroup


@click.command()
@options.reading
@click.option(
    "--engine",
    metavar="ENGINE",
    default="auto",
    show_default=True,
    help="Who counts the votes: auto, in memory unless they are many; memory; duckdb, for files larger than that "
    "('votes/*.parquet'); or ray://HOST:PORT, a cluster, which then also rates.",
)
@click.option("--memory", metavar="SIZE", default="2GB", show_default=True, help="Memory for the votes, about.")
@options.METHOD
@SETTINGS
@options.SEED
@click.option("--certify", "proof", is_flag=True, help="Prove how far the order can be from the best one.")
@click.option(
    "--time-limit",
    type=click.FloatRange(0, 1e9),
    metavar="SECONDS",
    help="For --certify (10 if left out) and for exact methods (60).",
)
@click.option(
    "--start",
    type=click.Path(exists=True, dir_okay=False),
    metavar="RATINGS.json",
    help="Start from ratings saved with --format json.",
)
@options.formats(*options.TABLE, "latex", options.AGGREGATES)
@options.OUTPUT
@options.TOP
@options.GROUP_BY
@options.GROUPS
@click.option(
    "--control",
    metavar="A,B,...",
    help="Take circumstances out of the ratings: first (shown first), home, NAME for columns NAME_a and NAME_b, or a "
    "column with a value for each agent of a vote, such as lane.",
)
@click.option(
    "--margin",
    metavar="COLUMN",
    help="By how much each battle was won: a column, or A,B, the points of both. Wins by far count more, as far as "
    "that predicts held-out wins.",
)
@click.option(
    "--fixed",
    multiple=True,
    metavar="AGENT=POINTS",
    help="For bradley_terry: an agent of a known rating, in Elo points; others are fitted against it. Repeatable.",
)
@click.option(
    "--teams",
    metavar="SEPARATOR",
    help="Agents are sides of several: rate their members, as of 'ann+ben' with --teams +. Lists are known as sides.",
)
@click.option("-q", "--quiet", is_flag=True, help="No summary and warnings on standard error.")
def rank(
    source: options.Source,
    engine: str,
    memory: str,
    method: str,
    settings: tuple[str, ...],
    proof: bool,
    time_limit: float | None,
    form: str,
    output: str | None,
    top: int | None,
    group_by: str | None,
    groups: int,
    control: str | None,
    margin: str | None,
    fixed: tuple[str, ...],
    teams: str | None,
    quiet: bool,
    **given: Any,
) -> None:
    """Rate the agents of FILE and print them, best first.

    \b
    sco rank battles.csv
    sco rank election.soc --format json | jq .agents[0]
    sco rank battles.csv --group-by category
    cat votes.jsonl | sco rank - --top 10 --set prior=0.1
    sco rank 'votes/*.parquet' --engine duckdb --memory 1GB
    """
    from softcondorcet.cli.board_table import show_board

    options.check_methods("--method", method)
    options.check_output(form, output, top=top, group_by=group_by, control=control, margin=margin)
    limit = _time_limit(method, time_limit, proof, settings)
    chosen = _rank_options(method, {**limit, **given}, engine) | settings_of(settings) | _known_ratings(method, fixed)
    usual = {"--engine": None if engine in ("auto", "memory") else engine, "--certify": proof or None}
    ways = {"--group-by": group_by, "--control": control, "--margin": margin, "--teams": teams}
    _alone(ways, {**usual, "--start": given["start"]})
    if group_by is not None:
        options.show_groups(_by_group(source, group_by, method, groups, chosen, quiet), form, top, quiet)
        options.next_step("bootstrap", "--group-by", group_by)
        return
    if control is not None or margin is not None:
        options.show(_adjusted(source, control, margin, method, chosen, quiet), form, top, quiet=quiet)
        options.next_step("report")
        return
    with options.progress() as work:
        votes = source.count(work, engine, memory, quiet)
        teams = teams or _sides_in(votes)
        if teams:
            options.check_output(form, output, teams=teams)
            options.show(_members(votes, teams, method, settings, fixed), form, top, quiet=quiet)
            return
        ratings = _rated(votes, method, chosen, limit if proof else None, work)
    if output is not None:
        options.write_aggregates(ratings, output)
    elif form != "table":
        options.show(ratings, form, top, quiet=quiet)
    else:
        settled = {name: chosen[name] for name in chosen if name != "start"}
        show_board(votes, ratings, top=top, options=settled, quiet=quiet)
        options.next_step("report")


def _rated(
    votes: Profile | Pairs, method: str, chosen: dict[str, Any], proof: dict[str, float] | None, work: options.Work
) -> Ratings:
    """The ratings of a method; certified where options of a proof are given, with other optimal orders counted."""
    from softcondorcet.formatting import plural
    from softcondorcet.methods.kemeny import certify
    from softcondorcet.methods.optimal_orders import counted
    from softcondorcet.methods.registry import rank as run
    from softcondorcet.pairs import Pairs

    size = plural(len(votes), "pair") if isinstance(votes, Pairs) else plural(votes.n_votes, "vote")
    watch = work(f"{method} on {size}")
    ratings = run(votes, method, **_rank_options(method, {"watch": watch}), **chosen)
    if proof is not None and ratings.gap != 0:
        work("looking for a better order")
        ratings = certify(votes, ratings, made_from_these=True, **proof)
    return ratings if ratings.only_optimum else counted(votes, ratings)


def _by_group(
    source: options.Source, column: str, method: str, most: int, chosen: dict[str, Any], quiet: bool
) -> ByGroup:
    """A board for each group of the votes."""
    from softcondorcet.formatting import plural
    from softcondorcet.uncertainty.by_group import by_group

    with options.progress() as work:
        profile = source.read(work, quiet, keep=(column,))
        watch = work(f"{method} on {plural(profile.n_votes, 'vote')} by {column}")
        return by_group(profile, column, method, most=most, watch=watch, **chosen)


def _adjusted(
    source: options.Source, control: str | None, margin: str | None, method: str, chosen: dict[str, Any], quiet: bool
) -> Controlled | Margins:
    """Ratings with circumstances taken out, or with margins of victory."""
    from softcondorcet.evaluation.controlled import controlled
    from softcondorcet.evaluation.margins import margins
    from softcondorcet.formatting import plural

    with options.progress() as work:
        profile = source.read(work, quiet, keep=tuple((margin or "").split(",")) if margin else ())
        votes = f"{method} on {plural(profile.n_votes, 'vote')}"
        if margin is not None:
            work(f"{votes}, with margins")
            return margins(profile, margin, method, **chosen)
        assert control is not None
        work(f"{votes}, {control} controlled")
        return controlled(profile, control, method, **chosen)


def _known_ratings(method: str, fixed: tuple[str, ...]) -> dict[str, Any]:
    """The option of --fixed, where it is given and has a meaning."""
    from softcondorcet.methods.registry import METHODS

    if not fixed:
        return {}
    check("fixed" in METHODS[method].options, "--fixed", "left out but for --method bradley_terry", method)
    return {"fixed": dict(_known_rating(one) for one in fixed)}


def _alone(own: dict[str, str | None], usual: dict[str, Any]) -> None:
    """Of the options that rate votes in their `own` way one may be given, and none of the `usual` way with it."""
    first, *more = [name for name, value in own.items() if value is not None] or [""]
    given = {**own, **usual}
    for name in (*more, *usual) if first else ():
        check(given[name] is None, name, f"left out with {first}, which rates the votes itself", given[name])


def _sides_in(votes: Profile | Pairs) -> str | None:
    """What separates the members of sides in a file that has lists of them, unless a method was named."""
    named = click.get_current_context().get_parameter_source("method") is not ParameterSource.DEFAULT
    return None if named or votes.source is None else votes.source.teams


def _members(
    votes: Profile | Pairs, separator: str, method: str, settings: tuple[str, ...], fixed: tuple[str, ...]
) -> Teams:
    """Ratings of the members of sides."""
    from softcondorcet.evaluation.teams import teams

    default = click.get_current_context().get_parameter_source("method") is ParameterSource.DEFAULT
    check(default or method == "bradley_terry", "--method", "bradley_terry, or left out, with --teams", method)
    check(not fixed, "--fixed", "left out with --teams", fixed)
    chosen = settings_of(settings)
    known = ("combine", "prior", "level")
    for name in chosen:
        one_of("--set", known, name, "among")
    return teams(votes, separator, **chosen)


def _known_rating(text: str) -> tuple[str, float]:
    """AGENT=POINTS; the name of an agent may hold an equals sign."""
    name, _, points = text.rpartition("=")
    try:
        rating = float(points)
    except ValueError:
        rating = math.nan
    check(bool(name) and math.isfinite(rating), "--fixed", "AGENT=POINTS", text)
    return name, rating


def _time_limit(method: str, limit: float | None, proof: bool, settings: tuple[str, ...]) -> dict[str, float]:
    """The option of --time-limit, where it is given and has a meaning."""
    from softcondorcet.methods.registry import METHODS

    if limit is None:
        return {}
    exact = proof or "time_limit" in METHODS[method].options
    check(exact, "--time-limit", f"left out for {method} without --certify", limit)
    not_negative("--time-limit", limit)
    twice = "time_limit" in settings_of(settings)
    check(not twice, "--time-limit", "left out where --set time_limit is given", limit)
    return {"time_limit": limit}


def _rank_options(method: str, given: dict[str, Any], engine: str = "") -> dict[str, Any]:
    """What is given on the command line as options of a method, those that it has."""
    from softcondorcet.methods.registry import METHODS

    if (start := given.pop("start", None)) is not None:
        check(METHODS[method].starts_from_ratings, "--start", f"left out for {method}", start)
        given["start"] = options.saved_ratings(start)
    if engine.startswith(options.RAY):
        given["device"] = engine
    return {name: value for name, value in given.items() if name in METHODS[method].options}


@click.command()
@options.reading
@options.count("--most", 10, "Number of orders to list.", least=0)
@options.formats("table", "json")
def optima(source: options.Source, most: int, form: str) -> None:
    """Count the optimal orders of FILE and list some of them.

    An order is optimal if no other contradicts the votes less. Ties in the votes often leave several.
    """
    import json
    from dataclasses import asdict

    from softcondorcet.formatting import number, plural
    from softcondorcet.methods.optimal_orders import optimal_orders

    with options.progress() as work:
        profile = source.read(work)
        work(f"optimal orders of {plural(profile.n_votes, 'vote')}")
        optima = optimal_orders(profile, most=most)
    if form == "json":
        options.show_json(json.dumps(asdict(optima), indent=2, ensure_ascii=False))
        return
    first = f"; the first {most}" if most < optima.count else ""
    orders = plural(optima.count, "optimal order")
    options.lines([f"{orders}: no other contradicts as few as {number(optima.loss)}{first}"])
    options.lines(" > ".join(order) for order in optima.orders)
    options.next_step("rank", "--certify")


@click.command()
@options.formats("table", "md", "csv", "json")
def methods(form: str) -> None:
    """List the methods: name, title, source."""
    import json

    from softcondorcet.methods.registry import METHODS

    rows = [{"method": m.name, "title": m.title, "source": m.citation} for m in METHODS.values()]
    if form == "json":
        options.show_json(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        options.show_rows(rows, form)


@click.command()
@options.formats("table", "json")
def formats(form: str) -> None:
    """List formats of evaluation tools, with an example of each."""
    import json

    from softcondorcet.io.formats import FORMATS

    if form == "json":
        about = ("name", "title", "vote", "leaves_out", "example")
        rows = [{name: getattr(one, name) for name in about} for one in FORMATS.values()]
        options.show_json(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    for one in FORMATS.values():
        texts = f"one vote is {one.vote}", f"leaves out  {one.leaves_out}", one.example
        options.lines([f"{one.name}: {one.title}", *(f"    {text}" for text in texts), ""])
    options.lines(["Tables (csv, tsv, jsonl, json, parquet, xlsx, Markdown) and PrefLib files: docs/formats.md"])
