"""The errors a user can meet: each says where, what was expected, and what came."""

from collections.abc import Iterable


class DataError(ValueError):
    """The data cannot be used as it is. Reads ``place: what is wrong; expected this``."""


class OptionError(ValueError):
    """An option has a value the method cannot use."""


class NotConverged(UserWarning):
    """The result is usable but the solver stopped before its tolerance was met."""


def some(names: Iterable[str], most: int = 3) -> str:
    """The first few names of a list, for a message, and how many more there are."""
    listed = list(names)
    rest = len(listed) - most
    return (", ".join(listed[:most]) + (f" and {rest} more" if rest > 0 else "")) or "none"
