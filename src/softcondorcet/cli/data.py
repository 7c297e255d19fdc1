"""Commands about votes themselves: inspect, convert, simulate."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from softcondorcet.checks import check
from softcondorcet.cli import completion, options
from softcondorcet.cli.completion import PATH

if TYPE_CHECKING:
    from softcondorcet.profile import Profile

# Those of softcondorcet.doctor, which help must not import.
_SEVERITIES = ("problem", "caution", "note")
_MODELS = ("uniform", "skill", "mallows", "plackett-luce", "cycle", "demo")
# The models that each option of 'simulate' has a meaning for.
_APPLIES = {
    "votes": _MODELS[:-1],
    "agents": _MODELS[:-1],
    "size": ("uniform", "skill", "plackett-luce"),
    "phi": ("mallows", "cycle"),
    "cycle": ("cycle",),
}


@click.command()
@options.reading
@options.formats("table", "json")
@click.option("--strict", is_flag=True, help="Exit with 1 if a finding is a problem: for CI.")
@click.option("--fail-on", type=click.Choice(_SEVERITIES), help="Exit with 1 if a finding is this bad or worse.")
def inspect(source: options.Source, form: str, strict: bool, fail_on: str | None) -> None:
    """Check the data: what it can support, what looks wrong.

    Looks for disconnected agents, duplicate votes, names that may be one, judges and voters unlike the rest, and more.

    \b
    sco inspect battles.csv
    sco inspect battles.csv --fail-on caution --format json
    """
    from softcondorcet.doctor import inspect as run
    from softcondorcet.formatting import plural

    with options.progress() as work:
        profile = source.read(work)
        inspection = run(profile, watch=work(f"inspecting {plural(profile.n_votes, 'vote')}"))
    if form == "json":
        options.show_json(inspection.to_json())
    else:
        options.lines(inspection.lines())
        options.next_step("rank")
    limit = fail_on or ("problem" if strict else None)
    if limit and inspection.worst and _SEVERITIES.index(inspection.worst) <= _SEVERITIES.index(limit):
        sys.exit(1)


@click.command()
@options.reading
@click.argument("target", type=PATH)
@click.option(
    "--to",
    "form",
    metavar="FORMAT",
    shell_complete=completion.written,
    help="Format to write, where the suffix of TARGET does not say: soc, csv, jsonl, parquet, every_eval_ever ...",
)
@click.option(
    "--as",
    "rows",
    type=click.Choice(("battles", "rankings", "scores")),
    help="What the rows of a table are; what FILE holds, if left out.",
)
def convert(source: options.Source, target: str, form: str | None, rows: Any) -> None:
    """Write the votes of FILE to TARGET in another format.

    TARGET may be - for standard output. What a format does not keep is counted on standard error.

    \b
    sco convert battles.csv battles.parquet
    sco convert results/ scores.csv
    sco convert results/ aggregates/ --to every_eval_ever
    """
    from softcondorcet.formatting import plural, printable
    from softcondorcet.io.write import write_out

    with options.progress() as work:
        profile = source.read(work)
        work(f"writing {printable(target)}")
        notes = write_out(profile, target, form, kind=rows)
    options.say(notes)
    if target != "-":
        size = f"{plural(profile.n_votes, 'vote')} over {plural(profile.n_agents, 'agent')}"
        click.echo(f"{size} -> {printable(target)}", err=True)
        click.get_current_context().params["file"] = None  # what was read by options is written now
        options.next_step("rank", target)


@click.command()
@click.argument("model", type=click.Choice(_MODELS))
@click.option(
    "-o", "--output", type=PATH, default="-", show_default=True, help="File to write; the suffix picks the format."
)
@click.option(
    "--to",
    "form",
    metavar="FORMAT",
    shell_complete=completion.written,
    help="Format to write, where the suffix of the file does not say; csv on standard output.",
)
@options.count("--votes", 100, "Number of votes.")
@options.count("--agents", 10, "Number of agents.", least=2)
@options.count("--size", None, "Agents in each vote, where votes are partial.", least=2)
@click.option("--phi", type=float, default=0.8, show_default=True, help="Dispersion of Mallows votes, 0 to 1.")
@options.count("--cycle", 3, "Length of the planted cycle.", least=3)
@click.option("--seed", type=int, help="Seed of the random votes; 0 by default, 7 for demo.")
def simulate(model: str, output: str, form: str | None, seed: int | None, **given: Any) -> None:
    """Simulate votes whose true order is known.

    uniform and skill are the tournaments of the paper: agents meet at random, or by similar skill. mallows and
    plackett-luce are the models of that name. cycle plants a majority cycle. demo is the data of 'sco demo'.
    """
    from softcondorcet.io.write import write_out

    context = click.get_current_context()
    for option, models in _APPLIES.items():
        asked = context.get_parameter_source(option) is ParameterSource.COMMANDLINE
        check(not asked or model in models, f"--{option}", f"left out for {model}", given[option])
    profile = _simulated(model, seed=(7 if model == "demo" else 0) if seed is None else seed, **given)
    options.say(write_out(profile, output, form or ("csv" if output == "-" else None)))


def _simulated(model: str, *, votes: int, agents: int, size: int | None, phi: float, cycle: int, seed: int) -> Profile:
    from softcondorcet import synthetic

    models: dict[str, Callable[[], Profile]] = {
        "uniform": lambda: synthetic.tournament(votes, agents=agents, size=size or 4, seed=seed)[0],
        "skill": lambda: synthetic.tournament(votes, agents=agents, size=size or 4, matching="skill", seed=seed)[0],
        "mallows": lambda: synthetic.mallows(votes, agents=agents, phi=phi, seed=seed),
        "plackett-luce": lambda: synthetic.plackett_luce(votes, agents=agents, size=size, seed=seed)[0],
        "cycle": lambda: synthetic.planted_cycle(votes, agents=agents, cycle=cycle, phi=phi, seed=seed),
        "demo": lambda: synthetic.demo(seed),
    }
    return models[model]()
