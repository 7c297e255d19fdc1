"""Checks of options: an ``OptionError`` names the option, what it must be, and what came. Any type may come."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Collection, Iterable
from itertools import islice
from numbers import Integral
from typing import Any, Literal

from softcondorcet.errors import OptionError
from softcondorcet.formatting import some

Box = tuple[float, float]
Precision = Literal["double", "single"]
# Called with the step just done, the number of steps, and the ratings so far (an array; help needs no numpy).
Watch = Callable[[int, int, Any], None]
# Beyond these a name is no slip of the pen, and the search for the nearest takes longer than anybody waits.
_SPELLED, _COMPARED = 100, 20_000


def check(condition: bool, option: str, expected: str, got: object) -> None:
    """Raise an ``OptionError`` naming the option unless the condition holds."""
    if not condition:
        raise OptionError(f"{option} must be {expected}, got {got!r}")


def one_of(option: str, choices: Collection[str], got: object, words: str = "") -> None:
    """One of the names there are; a near miss is told which was meant."""
    if not isinstance(got, str) or got not in choices:
        few = len(choices) < 4 and not words
        listed = " or ".join(map(repr, choices)) if few else f"{words or 'one of'} {some(choices, 40)}"
        raise OptionError(f"{option} must be {listed}, got {short(got)}{near(got, choices)}")


def short(name: object) -> str:
    """A name as it was given, cut where it is long."""
    return f"{name[:_SPELLED]!r}..." if isinstance(name, str) and len(name) > _SPELLED else repr(name)


def near(got: object, choices: Iterable[str]) -> str:
    """What a name that is none of the choices may have meant: ``; did you mean 'elo'?``, or nothing.

    Case, blanks, dashes and underlines do not count, and a part of a name, such as ``claude`` of ``claude-2``, is near.

    >>> near("Bradley-Terry", ["elo", "bradley_terry"]), near("elo", ["borda"])
    ("; did you mean 'bradley_terry'?", '')
    """
    if not isinstance(got, str) or not 0 < len(got) <= _SPELLED:
        return ""
    from difflib import get_close_matches

    by_form: dict[str, str] = {}
    for choice in islice(choices, _COMPARED):
        by_form.setdefault(_form(choice), choice)
    form = _form(got)
    found = [form] if form in by_form else get_close_matches(form, by_form, n=3)
    if not found and len(form) > 2:
        found = [name for name in by_form if form in name or (len(name) > 2 and name in form)][:3]
    return f"; did you mean {' or '.join(repr(by_form[name]) for name in found)}?" if found else ""


def near_file(path: str) -> str:
    """What a path that leads to no file may have meant, or what to do about an address."""
    if re.match(r"[a-z][a-z0-9+.]+:/", path):
        return "; addresses are not read: download the file first"
    from difflib import get_close_matches

    try:
        found = get_close_matches(os.path.basename(path), os.listdir(os.path.dirname(path) or "."), n=1, cutoff=0.75)
    except (OSError, ValueError):
        return ""
    return f"; did you mean {found[0]!r}?" if found else ""


def _form(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter not in " -_")


def positive(option: str, got: Any) -> None:
    check(_finite(got) and got > 0, option, "a positive number", got)


def not_negative(option: str, got: Any) -> None:
    check(_finite(got) and got >= 0, option, "a number that is not negative", got)


def whole(option: str, got: Any) -> None:
    """A number of things: 1, 2, 3 ..."""
    check(_integral(got) and got >= 1, option, "a positive whole number", got)


def natural(option: str, got: Any) -> None:
    """A seed, or a number of things that may be none: 0, 1, 2 ..."""
    check(_integral(got) and got >= 0, option, "a whole number that is not negative", got)


def yes_or_no(option: str, got: Any) -> None:
    check(isinstance(got, bool), option, "True or False", got)


def box(option: str, got: Any) -> Box:
    """Two finite numbers, the lower one first, with room for ratings between them."""
    pair = isinstance(got, tuple | list) and len(got) == 2 and all(map(_finite, got))
    check(pair and got[0] < got[1], option, "two numbers, low < high", got)
    low, high = float(got[0]), float(got[1])
    roomy = 1e-100 < high - low < 1e100 and high - low > 1e-9 * max(abs(low), abs(high))
    check(roomy, option, "two numbers that are clearly apart and not beyond 1e100", got)
    return low, high


def scale(option: str, got: Any, bounds: Box) -> None:
    """A temperature or a noise: positive, and of a size that the box gives a meaning to."""
    positive(option, got)
    width = bounds[1] - bounds[0]
    check(1e-9 * width <= got <= 1e9 * width, option, "between 1e-9 and 1e9 of the width of the bounds", got)


def _integral(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _finite(value: Any) -> bool:
    try:
        return not isinstance(value, str | bytes | bool) and math.isfinite(value)
    except (TypeError, OverflowError):
        return False
