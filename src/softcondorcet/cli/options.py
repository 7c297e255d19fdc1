"""What commands share: FILE and its options, settings of methods, progress on a terminal, results, and errors.

Results go to standard output and all else to standard error, so that a pipe gets only the result.
"""

from __future__ import annotations

import errno
import os
import shlex
import sys
import warnings
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click
from click.core import ParameterSource

from softcondorcet.checks import check, near, one_of
from softcondorcet.cli import completion
from softcondorcet.cli.completion import PATH
from softcondorcet.cli.output import (
    AGGREGATES as AGGREGATES,
    DONE,
    check_output as check_output,
    conclude as conclude,
    echo as echo,
    lines as lines,
    say as say,
    show as show,
    show_groups as show_groups,
    show_json as show_json,
    show_rows as show_rows,
    show_table as show_table,
    width as width,
    write_aggregates as write_aggregates,
)
from softcondorcet.cli.progress import Work as Work, progress as progress
from softcondorcet.errors import DataError, NotConverged, OptionError

if TYPE_CHECKING:
    from softcondorcet.pairs import Pairs
    from softcondorcet.profile import Profile
    from softcondorcet.ratings import Ratings
    from softcondorcet.source import Source as Provenance

RAY = "ray://"
Command = Callable[..., None]
FC = TypeVar("FC", bound=Callable[..., Any] | click.Command)


@dataclass(frozen=True)
class Source:
    """FILE and the options that say how to read it."""

    file: str
    kind: str | None
    columns: tuple[str, ...]
    where: tuple[str, ...]
    ages: dict[str, Any]  # votes up to which date, and how much old ones count
    about: dict[str, Any]  # which agents are last, what is known of them, which groups count the same
    results: dict[str, Any]  # what ``read`` takes for results of evaluations

    @property
    def options(self) -> dict[str, Any]:
        roles = dict(split(column, "--column", "ROLE=NAME") for column in self.columns)
        return {"kind": self.kind, "columns": roles or None, "where": self.where, **self.about}

    def read(self, work: Work = lambda title: None, quiet: bool = False, keep: tuple[str, ...] = ()) -> Profile:
        """The votes; what the reader did and left out goes to standard error."""
        from softcondorcet.formatting import printable
        from softcondorcet.io.files import read
        from softcondorcet.io.table_size import size_of

        work(f"reading {printable(self.file)}")
        if not quiet and (size := size_of(self.file)) and size.is_large():
            say([f"this needs the votes themselves: {size} of memory; 'sco rank' counts their pairs"])
        profile: Profile = read(self.file, **self.options, **self.results, keep=keep)
        return self._read(profile, work, quiet)

    def _read(self, profile: Profile, work: Work, quiet: bool) -> Profile:
        """What was read, and how it was weighed, also in the JSON of this command."""
        self._say(profile.source, quiet)
        if profile.balance is not None:
            done = click.get_current_context().meta.setdefault(DONE, {})
            done["balance"] = profile.balance
        return self._by_age(profile, work, quiet)

    def _by_age(self, profile: Profile, work: Work, quiet: bool) -> Profile:
        """The votes up to a date, weighted by age, where that is asked for."""
        if not any(self.ages.values()):
            return profile
        from softcondorcet.evaluation.decay import decayed

        if self.ages["half_life"] == "auto":
            work("choosing a half-life by later votes")
        found = decayed(profile, **self.ages)
        if not quiet:
            say(found.summary())
        done = click.get_current_context().meta.setdefault(DONE, {})
        done["time"] = {"as_of": self.ages["as_of"], **found.facts()}
        return found.profile

    def _say(self, source: Provenance | None, quiet: bool) -> None:
        """What was read, on standard error; which votes were chosen, also in the JSON of this command."""
        if source is not None and not quiet:
            say(list(source.notes))
        if source is not None and source.selection is not None:
            click.get_current_context().meta.setdefault(DONE, {})["where"] = vars(source.selection)

    def count(self, work: Work, engine: str, memory: str, quiet: bool = False) -> Profile | Pairs:
        """The votes, or, where an engine counts them, their pairs."""
        if engine == "memory":
            return self.read(work, quiet)
        if engine == "auto" and any(self.ages.values()):  # weighs votes by their time
            return self.read(work, quiet)
        known = engine in ("auto", "duckdb") or engine.startswith(RAY)
        check(known, "--engine", f"auto, memory, duckdb or {RAY}HOST:PORT", engine)
        for name, value in self.ages.items():
            check(value is None, f"--{name.replace('_', '-')}", "left out where an engine counts the votes", value)
        from softcondorcet.formatting import printable
        from softcondorcet.io.files import read
        from softcondorcet.profile import Profile

        if engine == "auto":
            work(f"reading {printable(self.file)}")
            votes: Profile | Pairs = read(self.file, engine="auto", memory=memory, **self.options, **self.results)
            if isinstance(votes, Profile):
                return self._read(votes, work, quiet)
            self._say(votes.source, quiet)
            return votes
        pairs = read(self.file, engine=engine, memory=memory, **self.options)
        self._say(pairs.source, quiet)
        if pairs.balance is not None:
            click.get_current_context().meta.setdefault(DONE, {})["balance"] = pairs.balance
        return pairs


def reading(command: Command) -> Command:
    """The argument and options of every command that reads votes; the command gets them as a ``Source``."""

    @click.argument("file", type=PATH)
    @click.option(
        "--kind",
        type=click.Choice(("battles", "rankings", "scores")),
        help="What a table holds, where its columns leave a doubt.",
    )
    @_named("--column", "The column of a role (a, b, winner, agent, group, when ...).", "columns", "ROLE=NAME")
    @_named(
        "--where",
        "Only votes that meet this: language=en,de, judge!=anna, 'when>=2026-01', agent!=x.",
        metavar="COLUMN=VALUE",
    )
    @click.option(
        "--balance",
        metavar="COLUMN",
        help="Each name in COLUMN (groups, judge, task) counts the same, whatever its number of votes.",
    )
    @click.option(
        "--agent-facts",
        type=PATH,
        metavar="TABLE",
        help="A table about agents: name, organisation, licence, price, context, link, colour, alias.",
    )
    @click.option(
        "--both-orders",
        type=click.Choice(("tie", "half")),
        help="Two battles of one question, shown both ways round: one vote, a tie if they disagree; or two halves.",
    )
    @click.option(
        "--unlisted",
        type=click.Choice(("absent", "last")),
        default="absent",
        show_default=True,
        help="Agents that a ballot leaves out: unknown, or below those that it lists.",
    )
    @click.option("--as-of", metavar="DATE", help="Only votes up to the end of this day, month or year.")
    @click.option(
        "--half-life",
        metavar="TIME",
        help="Votes count half for each TIME of age (180d, 26w, 6mo, 2y); auto: by how well later votes are predicted.",
    )
    @wraps(command)
    def wrapped(file: str, kind: str | None, columns: tuple[str, ...], where: tuple[str, ...], **given: Any) -> None:
        ages = {name: given.pop(name) for name in ("half_life", "as_of")}
        about = {name: given.pop(name) for name in ("balance", "unlisted", "agent_facts", "both_orders")}
        results = {name: given.pop(name) for name in _RESULTS}
        command(Source(file, kind, columns, where, ages, about, results), **given)

    made: Command = wrapped
    for option in reversed(_RESULTS.values()):
        made = option(made)
    return made


def _named(flag: str, words: str, name: str | None = None, metavar: str = "NAME") -> Callable[[Command], Command]:
    """An option that may be given several times."""
    return click.option(flag, *([name] if name else []), multiple=True, metavar=metavar, help=f"{words} Repeatable.")


# Options for results of evaluations: logs of tools, tables with items, wide tables.
_RESULTS: dict[str, Callable[[Command], Command]] = {
    "format": click.option(
        "--format-in",
        "format",
        metavar="FORMAT",
        shell_complete=completion.formats,
        help="The format of FILE where its content does not tell it.",
    ),
    "agent_from": click.option(
        "--agent-from",
        metavar="file|folder|REGEX",
        help="Where logs name no agent: the file's name, its folder's, or what REGEX finds in the path.",
    ),
    "metric": _named("--metric", "The metric of tasks that have several; or TASK=NAME for one."),
    "lower_is_better": _named("--lower-is-better", "A task or metric that is better when low."),
    "higher_is_better": _named("--higher-is-better", "A task or metric that is better when high."),
    "tasks": _named("--task", "Only these tasks.", "tasks"),
    "failures": click.option(
        "--failures",
        type=click.Choice(("last", "absent")),
        help="Runs that failed (inf, timeout): below all others, or left out.",
    ),
    "lenient": click.option(
        "--lenient", is_flag=True, help="PrefLib files: take the votes as they stand, whatever the header says."
    ),
    "per": click.option(
        "--per",
        type=click.Choice(("item", "task")),
        default="item",
        show_default=True,
        help="What a vote is: an item, or a task with the mean over its items.",
    ),
}


# Options that say which votes of FILE are wanted, and how to read them.
_READING = frozenset(
    ("kind", "columns", "where", "balance", "agent_facts", "both_orders", "unlisted", "as_of", "half_life", *_RESULTS)
)


def count(name: str, default: int | None, words: str, least: int = 1, metavar: str | None = None) -> Callable[[FC], FC]:
    """An option that takes a number of things."""
    kind = click.IntRange(min=least)
    return click.option(name, type=kind, default=default, show_default=default is not None, metavar=metavar, help=words)


def formats(*names: str) -> Callable[[FC], FC]:
    """How a result is printed; the first format is the default."""
    form = click.option("--format", "form", type=click.Choice(names), default=names[0], show_default=True)
    return lambda command: form(_COLOUR(command))


def _colour(context: click.Context, _: click.Parameter, wanted: str) -> None:
    """Whether click keeps colours: where it prints to a terminal unless NO_COLOR is set, always or never."""
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    context.color = {"always": True, "never": False}.get(wanted, False if plain else None)


_COLOUR = click.option(
    "--color",
    type=click.Choice(("auto", "always", "never")),
    default="auto",
    show_default=True,
    expose_value=False,
    callback=_colour,
    help="Colours: on a terminal, unless NO_COLOR is set; always; or never.",
)


TABLE = ("table", "md", "csv", "json")
OUTPUT = click.option("-o", "--output", metavar="FOLDER", help=f"For --format {AGGREGATES}: a file for each agent.")
METHOD = click.option(
    "--method",
    default="sco",
    show_default=True,
    shell_complete=completion.methods,
    help="A method that 'sco methods' lists.",
)
SEED = click.option("--seed", type=int, default=0, show_default=True, help="Seed of everything drawn at random.")
TOP = count("--top", None, "Only the best N agents.", metavar="N")
GROUP_BY = click.option(
    "--group-by",
    metavar="COLUMN",
    help="One board for each name in COLUMN (category, judge, group), or for each year, month or day; side by side.",
)
GROUPS = count("--groups", 50, "With --group-by: this many of the largest groups.")
LEVEL = click.option("--level", type=float, default=0.95, show_default=True, help="Level of the intervals.")
BY = click.option(
    "--by",
    type=click.Choice(("votes", "groups")),
    default="votes",
    show_default=True,
    help="What a resample draws: single votes, or all votes of a judge or task together.",
)


def split(text: str, option: str, form: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise OptionError(f"{option} must be {form}, got {text!r}")
    return name, value


def as_given(only: Collection[str] | None = None, but: Collection[str] = ()) -> list[str]:
    """The options of this command as they were given, all or some of them."""
    context, words = click.get_current_context(), list[str]()
    for option in context.command.params:
        name = option.name or ""
        given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE and name not in but
        if isinstance(option, click.Option) and given and (only is None or name in only):
            value = context.params[name]
            values = value if isinstance(value, tuple) else (value,)
            words += [option.opts[-1]] if option.is_flag else [w for one in values for w in (option.opts[-1], str(one))]
    return words


def next_step(command: str, *words: str) -> None:
    """Say on a terminal which command comes next; on the same votes, read in the same way, where there is FILE."""
    context = click.get_current_context()
    file, form = context.params.get("file"), context.params.get("form", "table")
    if width(sys.stderr) and file != "-" and form == "table" and not context.params.get("quiet"):
        known = [] if file is None else [file, *as_given(only=_READING)]
        echo(click.style("next:", fg="cyan") + f" sco {shlex.join([command, *known, *words])}", err=True)


def check_methods(option: str, *names: str) -> None:
    """Refuse the name of a method that there is not, before a file is read."""
    from softcondorcet.methods.registry import METHODS

    for name in names:
        one_of(option, METHODS, name, "" if option == "--method" else "among")


def saved_ratings(path: str) -> Ratings:
    """Ratings that were printed with --format json."""
    from softcondorcet.ratings import Ratings

    try:
        with open(path, encoding="utf-8") as file:
            return Ratings.from_json(file.read())
    except (DataError, OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: {error}") from None


def warn(message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: Any, **__: Any) -> None:
    """One line instead of Python's two with a path. A result that did not converge says so itself."""
    if not issubclass(category, NotConverged):
        click.echo(f"warning: {message}", err=True)


def fail(message: str, code: int) -> NoReturn:
    say([f"sco: {message}"])
    sys.exit(code)


class Commands(click.Group):
    """A group of commands: an error of the library is one line and an exit code, a closed pipe is silence.

    The help lists commands by the job they are for.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.jobs: dict[str, list[click.Command]] = {}

    def add_job(self, job: str, commands: Iterable[click.Command]) -> None:
        """Add commands that the help lists under a heading of their own."""
        self.jobs[job] = list(commands)
        for command in self.jobs[job]:
            self.add_command(command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(len(str(command.name)) for commands in self.jobs.values() for command in commands)
        for job, commands in self.jobs.items():
            with formatter.section(job):
                limit = formatter.width - width - 6
                formatter.write_dl(
                    [(f"{command.name:<{width}}", command.get_short_help_str(limit)) for command in commands]
                )

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            meant = near(args[0], self.list_commands(ctx))
            if os.path.exists(args[0]):
                meant = f"; did you mean 'sco rank {shlex.quote(args[0])}'?"
            raise click.UsageError(error.message.rstrip(".") + meant, ctx) from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = warn
                result = super().invoke(ctx)
            if sys.stdout is not None:
                sys.stdout.flush()
        except click.UsageError as error:
            advice = _advice(error)
            raise click.UsageError(error.format_message() + advice, error.ctx) if advice else error from None
        except DataError as error:
            fail(str(error), 1)
        except OptionError as error:
            fail(str(error), 2)
        except BrokenPipeError:
            sys.stderr.close()  # the reader has gone; Python's own complaint at exit would be noise
            sys.exit(0)
        except KeyboardInterrupt:
            fail("stopped", 130)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            fail(f"the result cannot be written: {error.strerror}", 1)
        return result


def _advice(error: click.UsageError) -> str:
    """What to do about two mistakes that nearly everybody makes once."""
    if isinstance(error, click.NoSuchOption) and error.option_name in ("-o", "--output", "--out"):
        return " It prints its result: add --format csv > result.csv."
    if "unexpected extra argument" in error.message:
        return ": FILE may be a folder, or several files as a glob in quotes, 'votes/*.csv'."
    return ""
