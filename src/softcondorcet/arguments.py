"""What commands of ``sco`` take: FILE with its options, NAME=VALUE settings, saved ratings."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from softcondorcet.errors import DataError, OptionError
from softcondorcet.options import check

if TYPE_CHECKING:
    from softcondorcet.pairs import Pairs
    from softcondorcet.profile import Profile
    from softcondorcet.ratings import Ratings

KINDS = ("battles", "rankings", "scores")
RAY = "ray://"
_WORDS = {"true": True, "false": False, "none": None}


def reading(command: Callable[..., None]) -> Callable[..., None]:
    """The argument and options of every command that reads data."""
    for decorate in (
        click.option(
            "--column",
            "columns",
            multiple=True,
            metavar="ROLE=NAME",
            help="Name of the column for a role (a, b, winner, agent, group, when ...). Repeatable.",
        ),
        click.option("--kind", type=click.Choice(KINDS), help="What a table holds; told by its columns by default."),
        click.argument("file"),
    ):
        command = decorate(command)
    return command


def counting_by(command: Callable[..., None]) -> Callable[..., None]:
    """The options of commands that also take votes too many for memory."""
    for decorate in (
        click.option(
            "--memory", metavar="SIZE", default="2GB", show_default=True, help="Memory for the engine, about."
        ),
        click.option(
            "--engine",
            metavar="ENGINE",
            default="memory",
            show_default=True,
            help="Who counts the votes: memory; duckdb, for files larger than that ('votes/*.parquet'); "
            "or ray://HOST:PORT, a cluster, which then also rates.",
        ),
    ):
        command = decorate(command)
    return command


def drawing_by(command: Callable[..., None]) -> Callable[..., None]:
    """The option of every command that resamples votes."""
    return click.option(
        "--by",
        type=click.Choice(("votes", "groups")),
        default="votes",
        show_default=True,
        help="What a resample draws: votes, or all votes of a judge or task together.",
    )(command)


def read_votes(file: str, kind: str | None, columns: tuple[str, ...]) -> Profile:
    from softcondorcet.readers import read

    return read(file, kind=kind, columns=_roles(columns))


def count_votes(file: str, kind: str | None, columns: tuple[str, ...], engine: str, memory: str) -> Profile | Pairs:
    """The votes, or, where an engine counts them, their pairs."""
    if engine == "memory":
        return read_votes(file, kind, columns)
    if engine.startswith(RAY):
        from softcondorcet.scale.ray import read_pairs

        return read_pairs(file, address=engine, kind=kind, columns=_roles(columns))
    check(engine == "duckdb", "--engine", f"memory, duckdb or {RAY}HOST:PORT", engine)
    from softcondorcet.readers import read

    return read(file, kind=kind, columns=_roles(columns), engine="duckdb", memory=memory)


def _roles(columns: tuple[str, ...]) -> dict[str, str] | None:
    return dict(_split(column, "--column", "ROLE=NAME") for column in columns) or None


def saved_ratings(path: str) -> Ratings:
    from softcondorcet.ratings import Ratings

    try:
        with open(path, encoding="utf-8") as file:
            return Ratings.from_json(file.read())
    except (DataError, OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: {error}") from None


def _split(text: str, option: str, form: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise OptionError(f"{option} must be {form}, got {text!r}")
    return name, value


def settings_of(settings: tuple[str, ...]) -> dict[str, Any]:
    """NAME=VALUE with a Python literal for a value; anything else is a word."""
    options: dict[str, Any] = {}
    for setting in settings:
        name, value = _split(setting, "--set", "NAME=VALUE")
        check(name != "watch", "--set", "an option with a plain value", setting)
        try:
            options[name] = _WORDS[value.lower()] if value.lower() in _WORDS else ast.literal_eval(value)
        except (ValueError, SyntaxError):
            options[name] = value
    return options
