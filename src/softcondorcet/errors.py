"""The errors a user can meet: each says where, what was expected, and what came."""


class DataError(ValueError):
    """The data cannot be used as it is. Reads ``place: what is wrong; expected this``."""


class OptionError(ValueError):
    """An option has a value the method cannot use."""


class NotConverged(UserWarning):
    """The result is usable but the solver stopped before its tolerance was met."""
