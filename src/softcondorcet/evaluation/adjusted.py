"""Ratings on adjusted evidence beside the ratings without: what circumstances and margins of victory have in common."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from softcondorcet.arrays import Floats, Ints, sum_by
from softcondorcet.formatting import plural, some
from softcondorcet.leaderboard import as_dicts, leaderboard
from softcondorcet.pairs import Pairs
from softcondorcet.profile import Profile
from softcondorcet.ratings import Ratings


@dataclass(frozen=True, eq=False)
class Adjusted:
    """Two boards by the same method; `pairs` is the adjusted evidence, which any method on pairs takes."""

    board: Ratings
    plain: Ratings
    pairs: Pairs

    @cached_property
    def moved(self) -> list[str]:
        """The agents whose rank the adjustment changes, the best first."""
        return [name for name in self.board.order if self.board.rank_of(name) != self.plain.rank_of(name)]

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """The leaderboard, with the rank of each agent without the adjustment."""
        before = [{"rank_without": self.plain.rank_of(name)} for name in self.board.agents]
        return as_dicts(leaderboard(self.board, top=top, more={"facts": before}))

    def moves(self) -> str:
        """How many agents change rank, in words."""
        names = f": {some(self.moved, 6)}" if self.moved else ""
        return f"{plural(len(self.moved), 'agent')} of {len(self.board)} would stand elsewhere without{names}"


def adjusted_pairs(profile: Profile, left: Ints, right: Ints, count: Floats, won: Floats) -> Pairs:
    """Pairs of comparisons of agents left < right, of which the left one won so much, added up."""
    m = profile.n_agents
    pair, place = np.unique(left.astype(np.int64) * m + right, return_inverse=True)
    total, wins = sum_by(place, count, len(pair)), sum_by(place, won, len(pair))
    # More wins than battles may be expected: then the margin stays, and nobody lost less often than never.
    losses = np.where(wins < 0, total - 2 * wins, np.maximum(total - wins, 0.0))
    wins = np.where(wins > total, 2 * wins - total, np.maximum(wins, 0.0))
    ends = (pair // m).astype(np.int32), (pair % m).astype(np.int32)
    return Pairs(profile.agents, *ends, wins, losses, np.zeros(len(pair)), kind=profile.kind)
