"""Options of methods on the command line: --set NAME=VALUE, and the scale of ratings."""

from __future__ import annotations

import ast
from functools import wraps
from typing import Any

import click

from softcondorcet.checks import check
from softcondorcet.cli.options import Command, split

_SETTINGS = (
    click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="NAME=VALUE",
        help="An option of the method, as prior=0.1. Repeatable.",
    ),
    click.option(
        "--scale",
        type=click.Choice(("elo", "odds", "box", "own")),
        help="Ratings: Elo points (the default of sco), natural log-odds, the paper's box of 0 to 100 (sco), or the "
        "method's own (the default of all others).",
    ),
    click.option(
        "--anchor", metavar="AGENT=RATING", help="The Elo points that AGENT shall have; else the mean is 1000."
    ),
)


def SETTINGS(command: Command) -> Command:  # noqa: N802
    """Options of the method, and the scale of its ratings, which is one of them."""

    @wraps(command)
    def wrapped(*of: Any, settings: tuple[str, ...], scale: str | None, anchor: str | None, **given: Any) -> None:
        more = [] if scale is None else [f"scale={scale}"]
        if anchor is not None:
            name, equals, points = anchor.rpartition("=")
            try:
                more.append(f"anchor={(name, float(points))!r}")
            except ValueError:
                equals = ""
            check(bool(name and equals), "--anchor", "AGENT=RATING, such as gpt-4=1000", anchor)
        command(*of, settings=(*settings, *more), **given)

    made: Command = wrapped
    for option in reversed(_SETTINGS):
        made = option(made)
    return made


def settings_of(settings: tuple[str, ...]) -> dict[str, Any]:
    """NAME=VALUE with a Python literal for a value; anything else is a word."""
    words = {"true": True, "false": False, "none": None}
    options: dict[str, Any] = {}
    for setting in settings:
        name, value = split(setting, "--set", "NAME=VALUE")
        check(name != "watch", "--set", "an option with a plain value", setting)
        try:
            options[name] = words[value.lower()] if value.lower() in words else ast.literal_eval(value)
        except (ValueError, SyntaxError):
            options[name] = value
    return options
