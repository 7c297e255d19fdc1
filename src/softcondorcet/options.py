"""Checks of options: an ``OptionError`` names the option, what it must be, and what came. Any type may come."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

from softcondorcet.errors import OptionError

Box = tuple[float, float]


def check(condition: bool, option: str, expected: str, got: object) -> None:
    """Raise an ``OptionError`` naming the option unless the condition holds."""
    if not condition:
        raise OptionError(f"{option} must be {expected}, got {got!r}")


def one_of(option: str, choices: Collection[str], got: object) -> None:
    """One of a few words."""
    check(isinstance(got, str) and got in choices, option, " or ".join(repr(word) for word in choices), got)


def positive(option: str, got: Any) -> None:
    check(_finite(got) and got > 0, option, "a positive number", got)


def not_negative(option: str, got: Any) -> None:
    check(_finite(got) and got >= 0, option, "a number that is not negative", got)


def whole(option: str, got: Any) -> None:
    """A number of things: 1, 2, 3 ..."""
    check(isinstance(got, int) and not isinstance(got, bool) and got >= 1, option, "a positive whole number", got)


def box(option: str, got: Any) -> Box:
    """Two finite numbers, the lower one first."""
    pair = isinstance(got, tuple | list) and len(got) == 2 and all(map(_finite, got))
    check(pair and got[0] < got[1], option, "two numbers, low < high", got)
    return float(got[0]), float(got[1])


def _finite(value: Any) -> bool:
    try:
        return not isinstance(value, str | bytes | bool) and math.isfinite(value)
    except TypeError:
        return False
