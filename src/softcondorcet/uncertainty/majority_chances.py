"""The chance of each agent to be the Condorcet winner, and in the Smith set: of resampled votes, by the majority alone.

A resample knows only outcomes that occurred: an agent that won its only battle wins it in every resample. So one
undecided comparison more is counted than the agent has in the pair that it met least: with v of these,

    chance = (v share + what is known before any vote) / (v + 1),

and before any vote each of m agents is the Condorcet winner with a chance of 1 / m, and all are in the Smith set. The
same holds of a place among the first k (k / m), with v the comparisons of the agent. Each chance is known up to the
error of simulation. It is about votes like these: pairs that never met stay open in all resamples, so that then nobody
is a Condorcet winner.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from softcondorcet.arrays import Floats, sum_by
from softcondorcet.majority import condorcet_winner, largest_group, smith_set
from softcondorcet.pairs import as_pairs
from softcondorcet.seeds import stream
from softcondorcet.uncertainty.first_place import simulation_error
from softcondorcet.uncertainty.resampling import Data, resampling

if TYPE_CHECKING:
    from softcondorcet.uncertainty.intervals import Uncertainty


@dataclass(frozen=True, eq=False)
class MajorityChances:
    """Shares of `samples` in which each agent was the Condorcet winner and in the Smith set.

    They are nan outside the main group. `fewest` are the comparisons of each agent with the one that it met least,
    `comparisons` all that it has; `k` is how many places count as the top.
    """

    k: int
    samples: int
    winner: Floats
    smith: Floats
    fewest: Floats
    comparisons: Floats

    def columns(self, found: Uncertainty) -> dict[str, list[float | None]]:
        """The chances by agent, each with its simulation error; None where nothing is known."""
        m = max(len(self.winner), 1)
        asked = {
            "top": (found.top(self.k), min(self.k / m, 1.0), self.comparisons),
            "condorcet": (self.winner, 1 / m, self.fewest),
            "smith": (self.smith, 1.0, self.fewest),
        }
        columns: dict[str, list[float | None]] = {}
        for name, (share, before, seen) in asked.items():
            known = [_careful(*one, before, self.samples) for one in zip(share.tolist(), seen.tolist(), strict=True)]
            columns[f"{name}_chance"], columns[f"{name}_error"] = [one[0] for one in known], [one[1] for one in known]
        return columns


def _careful(share: float, seen: float, before: float, samples: int) -> tuple[float | None, float | None]:
    """A share with one undecided comparison more, and its simulation error."""
    if math.isnan(share):
        return None, None
    return (seen * share + before) / (seen + 1), simulation_error(share, samples) * seen / (seen + 1)


def majority_chances(data: Data, k: int, n: int, by: str, seed: int) -> MajorityChances:
    """By n resamples of the votes, as ``bootstrap`` draws them."""
    pairs = as_pairs(data)
    m, place = pairs.n_agents, {name: number for number, name in enumerate(pairs.agents)}
    held, winner, smith = np.zeros(m), np.zeros(m), np.zeros(m)
    drawn = resampling(data, by, True, False)
    for rng in stream(seed, "resamples").spawn(n):
        sample = largest_group(drawn.draw(rng))
        held[[place[name] for name in sample.agents]] += 1
        smith[[place[name] for name in smith_set(sample)]] += 1
        if (first := condorcet_winner(sample)) is not None:
            winner[place[first]] += 1
    held[np.isin(pairs.agents, largest_group(pairs).agents, invert=True)] = 0
    winner, smith = (np.where(held > 0, count / np.maximum(held, 1), np.nan) for count in (winner, smith))
    met = pairs.wins + pairs.losses + pairs.ties
    fewest = np.full(m, np.inf)
    for end in (pairs.left, pairs.right):
        np.minimum.at(fewest, end, met)
    total = sum_by(pairs.left, met, m) + sum_by(pairs.right, met, m)
    return MajorityChances(k, n, winner, smith, np.where(np.isinf(fewest), 0.0, fewest), total)
