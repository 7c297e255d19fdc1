"""The errors a user can meet: each says where, what was expected, and what came."""

from pathlib import Path
from traceback import extract_tb


class DataError(ValueError):
    """The data cannot be used as it is. Reads ``place: what is wrong; expected this``."""


class OptionError(ValueError):
    """An option has a value the method cannot use."""


class NotConverged(UserWarning):
    """The result is usable but the solver stopped before its tolerance was met."""


def place(error: BaseException) -> str:
    """What kind of error, and the line that raised it: for a log that holds nothing of what came in."""
    where = extract_tb(error.__traceback__)
    return (
        f"{type(error).__name__} at {Path(where[-1].filename).name}:{where[-1].lineno}" if where else str(type(error))
    )
