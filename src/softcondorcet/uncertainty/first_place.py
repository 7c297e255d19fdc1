"""Who is first, and how sure that is: the one place where it is decided, and the words for it.

Agents are *told apart* where it is sure that one stands above the other (``Uncertainty.confidence`` reaches
``Uncertainty.sure``). They *share* first place where their ratings are equal. The share of samples in which an agent is
first is known up to the error of simulation, sqrt(share (1 - share) / samples).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from softcondorcet.formatting import listing, percent, some

if TYPE_CHECKING:
    from softcondorcet.uncertainty.intervals import Uncertainty


# The share of samples from which on a first place is likely.
LIKELY = 0.8


@dataclass(frozen=True)
class FirstPlace:
    """`share` of the samples have `agent` first, up to `error`; None where no sample says so.

    `shares_with` are agents of the same rating, `not_told_from` the others of its tie group.
    """

    agent: str
    share: float | None
    error: float | None
    shares_with: tuple[str, ...] = ()
    not_told_from: tuple[str, ...] = ()

    @property
    def lead(self) -> str:
        """What it does: the verb of headlines, without certainty that the votes do not give."""
        share = self.share or 0.0
        if share < 0.5:
            return "comes first"
        return "leads narrowly" if self.not_told_from or share < LIKELY else "leads"

    def words(self) -> str:
        """One clause for headlines."""
        if self.shares_with:
            return f"{self.agent} shares first place with {listing(self.shares_with)}"
        if self.not_told_from:
            return f"{self.agent} {self.lead}, but cannot be told from {some(self.not_told_from, 4)}"
        return f"{self.agent} {self.lead}, told apart from every other agent with a rank"

    def share_in_words(self) -> str:
        """The share with what simulation leaves open, where that shows."""
        return "in no sample" if self.share is None or self.error is None else share_in_words(self.share, self.error)


def share_in_words(share: float, error: float) -> str:
    """A share of samples and its standard error, where that shows.

    >>> share_in_words(0.58, 0.035), share_in_words(1.0, 0.004)
    ('58 % ± 4', '100 %')
    """
    points = round(100 * error)
    return f"{percent(share)}{f' ± {points}' if points else ''}"


def simulation_error(share: float, samples: int) -> float:
    """The standard error of a share of so many samples; for a share of 0 or 1, as if one sample more were not so."""
    known = (share * samples + 0.5) / (samples + 1)
    return math.sqrt(known * (1 - known) / samples)


def first_place(found: Uncertainty) -> FirstPlace | None:
    """Who is first by these samples; None where the votes give no agent a rank."""
    board = found.board
    k = int(board.listing[0]) if len(board) else 0
    if not board.places.any():
        return None
    name, share = board.agents[k], float(found.top(1)[k])
    level = [board.agents[a] for a in board.listing[1:] if board.places[a] == 1]
    group = next((group for group in found.tie_groups if name in group), [])
    rest = tuple(other for other in group if other != name and other not in level)
    if math.isnan(share):
        return FirstPlace(name, None, None, tuple(level), rest)
    return FirstPlace(name, share, simulation_error(share, len(found)), tuple(level), rest)
