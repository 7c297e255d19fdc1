"""Means over seeds, splits or orders, with Student's 95 % interval, as two cells of a row: `name` and `name_half`.

Methods that ran on the same seeds are compared by the interval of their differences, seed by seed: much of what one
tournament or split adds to a distance it adds for all methods.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from experiments.study import Row
from softcondorcet.evaluation.holdout import half_width


def spread(name: str, values: Sequence[float]) -> Row:
    """Mean and half-width."""
    return {name: round(float(np.mean(values)), 5), f"{name}_half": round(half_width(values), 5)}


def difference(name: str, values: Sequence[float], others: Sequence[float]) -> Row:
    """Mean and half-width of the differences, pair by pair."""
    return spread(name, (np.asarray(values) - np.asarray(others)).tolist())


def below(row: Row, name: str) -> bool:
    """Whether the whole interval is below 0."""
    return bool(row[name] + row[f"{name}_half"] < 0)


def above(row: Row, name: str) -> bool:
    """Whether the whole interval is above 0."""
    return bool(row[name] - row[f"{name}_half"] > 0)


def shown(row: Row, name: str, digits: int = 2) -> str:
    return f"{row[name]:.{digits}f} +- {row[f'{name}_half']:.{digits}f}"
