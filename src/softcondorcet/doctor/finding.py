"""A finding: one thing to know about the data; and whether chance alone can make it.

A judge, or a half of the votes, is held against the others on the same pairs of agents: if labels were dealt out at
random among the votes on a pair, its results would have the mean of all results of that pair, however strong the agents
are and however often they meet (Mantel and Haenszel, 1959, for tables of counts). Differences are summed over pairs.

The vote is the unit: comparisons inside a vote of many agents hang together, so their differences are summed per vote
before they are squared for the variance. The variance of a label is taken from its own votes or from all, whichever is
larger: an accusation should not rest on a few votes that happen to be alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np

from softcondorcet.arrays import Floats, Ints, sum_by

Severity = Literal["problem", "caution", "note"]
# From bad to harmless.
SEVERITIES: tuple[Severity, ...] = ("problem", "caution", "note")


@dataclass(frozen=True)
class Finding:
    """One thing to know: "problem" makes some answers meaningless, "caution" weakens them, "note" is good to know.

    `name` is the kind of finding, `number` how much of it there is, `text` what it is, `advice` what to do, and
    `names` the agents, judges or tasks concerned.
    """

    severity: Severity
    name: str
    number: float
    text: str
    advice: str = ""
    names: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """The finding as lines of text."""
        return [f"{self.severity}: {self.text}", *([f"  {self.advice}"] if self.advice else [])]


class Unchecked(Exception):  # noqa: N818
    """The error of a check that could not be made; its text says why."""


# Chance of a check to find anything where there is nothing: one in ten thousand for each family of tests, so that the
# dozen checks together raise a false alarm in about one of a thousand clean data sets.
ALPHA = 0.0001
# Fewer votes than this cannot accuse anyone: sums of so few are not normal far out.
FEWEST = 20


@dataclass(frozen=True)
class Excess:
    """For each label: its sum of differences in standard deviations, and how many votes it rests on."""

    z: Floats
    votes: Floats


def critical(tests: int, sides: int = 1) -> float:
    """What z must exceed in one of several tests (Bonferroni)."""
    return NormalDist().inv_cdf(1 - ALPHA / (sides * max(tests, 1)))


def excess(label: Ints, difference: Floats, room: Floats, count: Floats, size: int) -> Excess:
    """One unit per vote (or per vote and agent): its label, its summed difference, the room for chance, its count."""
    votes = sum_by(label, count, size)
    overall = float((count * difference**2).sum() / max(count.sum(), 1.0))
    own = sum_by(label, count * room * difference**2, size)
    usual = sum_by(label, count * room * overall, size)
    spread = np.sqrt(np.maximum(own, usual))
    return Excess(sum_by(label, count * difference, size) / np.where(spread > 0, spread, np.inf), votes)
