"""The command line: parse, one library call, print. Exit code 0 for an answer, 1 for bad data, 2 for bad usage."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from softcondorcet import __version__
from softcondorcet.arguments import RAY, count_votes, counting_by, read_votes, reading, saved_ratings, settings_of
from softcondorcet.commands import certainty, data, doctor, report, reproduce, serve, study
from softcondorcet.errors import DataError, OptionError
from softcondorcet.options import check, not_negative
from softcondorcet.screen import fail, print_board, progress, warn

if TYPE_CHECKING:
    from softcondorcet.profile import Profile

FORMATS = ("table", "md", "csv", "json", "latex")
MODELS = ("uniform", "skill", "mallows", "plackett-luce", "cycle", "demo")
# The models that each option of 'simulate' has a meaning for.
_APPLIES = {
    "votes": MODELS[:-1],
    "agents": MODELS[:-1],
    "size": ("uniform", "skill", "plackett-luce"),
    "phi": ("mallows", "cycle"),
    "cycle": ("cycle",),
}


class _Command(click.Group):
    """Turns the library's errors into one line and an exit code, and a closed pipe into silence."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = warn
                result = super().invoke(ctx)
            sys.stdout.flush()
        except DataError as error:
            fail(str(error), 1)
        except OptionError as error:
            fail(str(error), 2)
        except BrokenPipeError:
            sys.stderr.close()  # the reader has gone; Python's own complaint at exit would be noise
            sys.exit(0)
        except KeyboardInterrupt:
            fail("stopped", 130)
        return result


@click.group(cls=_Command, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, "--version", prog_name="sco")
def main() -> None:
    """Which agent is best, and how sure are we?

    Rank agents from evaluation data by Soft Condorcet Optimization: ratings whose order contradicts the votes least.

    FILE is a PrefLib file (.soc .soi .toc .toi), a csv, tsv, jsonl or parquet table of battles, rankings or scores
    (also .gz), a member of an archive (votes.zip::member.soc), or - for standard input.
    """


@main.command()
@reading
@counting_by
@click.option("--method", default="sco", show_default=True, help="One of the methods that 'sco methods' lists.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="An option of the method, e.g. --set temperature=0.5. Repeatable.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the methods that draw at random.")
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
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True)
@click.option("--top", type=click.IntRange(min=1), metavar="N", help="Only the best N agents.")
@click.option("-q", "--quiet", is_flag=True, help="No summary and warnings on standard error.")
def rank(
    file: str,
    kind: str | None,
    columns: tuple[str, ...],
    engine: str,
    memory: str,
    method: str,
    settings: tuple[str, ...],
    seed: int,
    proof: bool,
    time_limit: float | None,
    start: str | None,
    form: str,
    top: int | None,
    quiet: bool,
) -> None:
    """Rate the agents of FILE and print them, best first.

    \b
    sco rank battles.csv
    sco rank election.soc --format json | jq .agents[0]
    cat votes.jsonl | sco rank - --top 10 --set prior=0.1
    sco rank 'votes/*.parquet' --engine duckdb --memory 1GB
    """
    from softcondorcet.methods.kemeny import certify
    from softcondorcet.pairs import Pairs
    from softcondorcet.registry import METHODS
    from softcondorcet.registry import rank as run
    from softcondorcet.tables import printable

    if method not in METHODS:
        raise OptionError(f"--method must be one of {', '.join(METHODS)}, got {method!r}")
    known_options = METHODS[method].options
    exact = proof or time_limit is None or "time_limit" in known_options
    check(exact, "--time-limit", f"left out for {method} without --certify", time_limit)
    not_negative("--time-limit", time_limit or 0.0)
    check(start is None or METHODS[method].starts_from_ratings, "--start", f"left out for {method}", start)
    limit = {} if time_limit is None else {"time_limit": time_limit}
    twice = time_limit is not None and "time_limit" in settings_of(settings)
    check(not twice, "--time-limit", "left out where --set time_limit is given", time_limit)
    given: dict[str, Any] = {**limit, "seed": seed, "start": None if start is None else saved_ratings(start)}
    if engine.startswith(RAY):
        given["device"] = engine
    with progress() as work:
        work(f"reading {printable(file)}")
        data = count_votes(file, kind, columns, engine, memory)
        size = f"{len(data):,} pairs" if isinstance(data, Pairs) else f"{data.n_votes:,} votes"
        watch = work(f"{method} on {size}")
        known = {name: value for name, value in {**given, "watch": watch}.items() if name in known_options}
        if start is None:
            known.pop("start", None)
        board = run(data, method, **{**known, **settings_of(settings)})
        if proof and board.gap != 0:
            work("looking for a better order")
            board = certify(data, board, made_from_these=True, **limit)
    print_board(board, form, top, quiet)


@main.command()
@reading
@click.option("--most", type=click.IntRange(min=0), default=10, show_default=True, help="Orders to list.")
@click.option("--format", "form", type=click.Choice(("table", "json")), default="table", show_default=True)
def optima(file: str, kind: str | None, columns: tuple[str, ...], most: int, form: str) -> None:
    """Count the orders that contradict the votes of FILE least, and list some of them."""
    import json
    from dataclasses import asdict

    from softcondorcet.methods.optima import optimal_orders
    from softcondorcet.tables import printable

    found = optimal_orders(read_votes(file, kind, columns), most=most)
    if form == "json":
        click.echo(json.dumps(asdict(found), indent=2, ensure_ascii=False))
        return
    several, first = "s" * (found.count != 1), f"; the first {most}" if most < found.count else ""
    click.echo(f"{found.count:,} optimal order{several}: no other contradicts as few as {found.loss:,g}{first}")
    for order in found.orders:
        click.echo(" > ".join(map(printable, order)))


@main.command()
@reading
@click.argument("target")
@click.option("--to", "form", metavar="FORMAT", help="Format where TARGET does not say: soc, csv, jsonl ...")
def convert(file: str, target: str, kind: str | None, columns: tuple[str, ...], form: str | None) -> None:
    """Write the votes of FILE to TARGET in another format.

    TARGET may be - for standard output.
    """
    from softcondorcet.readers import write
    from softcondorcet.tables import printable

    profile = read_votes(file, kind, columns)
    write(profile, target, form)
    if target != "-":
        click.echo(f"{profile.n_votes:,} votes over {profile.n_agents:,} agents -> {printable(target)}", err=True)


@main.command()
@click.argument("model", type=click.Choice(MODELS))
@click.option("-o", "--output", default="-", show_default=True, help="File to write; the suffix picks the format.")
@click.option("--to", "form", metavar="FORMAT", help="Format where the name does not say; csv on standard output.")
@click.option("--votes", type=click.IntRange(min=1), default=100, show_default=True)
@click.option("--agents", type=click.IntRange(min=2), default=10, show_default=True)
@click.option("--size", type=click.IntRange(min=2), help="Agents per vote, where votes are partial.")
@click.option("--phi", type=float, default=0.8, show_default=True, help="Dispersion of Mallows votes, 0 to 1.")
@click.option("--cycle", type=click.IntRange(min=3), default=3, show_default=True, help="Length of the planted cycle.")
@click.option("--seed", type=int, help="0 by default, 7 for demo.")
def simulate(
    model: str,
    output: str,
    form: str | None,
    votes: int,
    agents: int,
    size: int | None,
    phi: float,
    cycle: int,
    seed: int | None,
) -> None:
    """Make votes with a known truth.

    uniform and skill are the tournaments of the paper; cycle plants a majority cycle; demo is the data of 'sco demo'.
    """
    from softcondorcet import synthetic
    from softcondorcet.readers import write

    context = click.get_current_context()
    for option, models in _APPLIES.items():
        asked = context.get_parameter_source(option) is ParameterSource.COMMANDLINE
        check(not asked or model in models, f"--{option}", f"left out for {model}", context.params[option])
    seed = (7 if model == "demo" else 0) if seed is None else seed

    made: dict[str, Callable[[], Profile]] = {
        "uniform": lambda: synthetic.tournament(votes, agents=agents, size=size or 4, seed=seed)[0],
        "skill": lambda: synthetic.tournament(votes, agents=agents, size=size or 4, matching="skill", seed=seed)[0],
        "mallows": lambda: synthetic.mallows(votes, agents=agents, phi=phi, seed=seed),
        "plackett-luce": lambda: synthetic.plackett_luce(votes, agents=agents, size=size, seed=seed)[0],
        "cycle": lambda: synthetic.planted_cycle(votes, agents=agents, cycle=cycle, phi=phi, seed=seed),
        "demo": lambda: synthetic.demo(seed),
    }
    write(made[model](), output, form or ("csv" if output == "-" else None))


@main.command()
def methods() -> None:
    """List the methods: name, title, source."""
    from softcondorcet.registry import METHODS
    from softcondorcet.tables import as_table

    click.echo(as_table([{"method": m.name, "title": m.title, "source": m.citation} for m in METHODS.values()]))


for command in (
    doctor.inspect,
    doctor.robustness,
    study.compare,
    study.holdout,
    study.tune,
    certainty.bootstrap,
    certainty.next_match,
    report.report,
    report.demo,
    reproduce.reproduce,
    data.data,
    serve.serve,
):
    main.add_command(command)
