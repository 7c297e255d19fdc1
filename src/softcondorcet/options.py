"""Checks of options: an ``OptionError`` names the option, what it must be, and what came. Any type may come."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from importlib.util import find_spec
from numbers import Integral
from typing import Any, Literal

from softcondorcet.errors import OptionError

Box = tuple[float, float]
Precision = Literal["double", "single"]
# Called with the step just done, the number of steps, and the ratings so far (an array; help needs no numpy).
Watch = Callable[[int, int, Any], None]


def check(condition: bool, option: str, expected: str, got: object) -> None:
    """Raise an ``OptionError`` naming the option unless the condition holds."""
    if not condition:
        raise OptionError(f"{option} must be {expected}, got {got!r}")


def needs(package: str, extra: str | None = None) -> None:
    """A package that only an extra installs, or none, must be there: asked before any work is done for it."""
    if find_spec(package) is None:
        what = f"'softcondorcet[{extra}]'" if extra else package
        raise OptionError(f"this needs {package}: pip install {what}")


def one_of(option: str, choices: Collection[str], got: object) -> None:
    """One of a few words."""
    check(isinstance(got, str) and got in choices, option, " or ".join(repr(word) for word in choices), got)


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
