"""Which agents do better or worse in one group of votes than in the others, beyond chance?

The ratings of all votes expect a share of its comparisons to be won by an agent in each vote; the residual is what it
won less that. For each agent and group, the mean residual inside the group is held against that outside:

    z = (mean inside - mean outside) / sqrt(variance inside / votes inside + variance outside / votes outside),

a vote at a time, since the comparisons of one vote depend on each other. All agents and groups are tested at once, so
that with no difference at all any is reported with a chance of 5 % at most (Holm, 1979). Expected shares are those of
the likelihood (``solvers.laplace``), with the opponents that the agent really met.

It misleads where votes are not independent, as those of one judge or voter: then more differs than it seems to.
Cost: one fit, and the comparisons of all votes.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from softcondorcet.arrays import Floats, Ints
from softcondorcet.formatting import percent
from softcondorcet.profile import Profile
from softcondorcet.solvers.laplace import laplace

# Votes of an agent in a group and outside, from which on a mean is about normal.
_FEWEST = 20
# Entries of votes that are held against each other at a time.
_AT_ONCE = 2_000_000


@dataclass(frozen=True)
class Difference:
    """`agent` won the share `won` of its comparisons in `group`; all votes expect `expected`. `p` is corrected."""

    agent: str
    group: str
    won: float
    expected: float
    votes: float
    p: float

    def words(self) -> str:
        """In a sentence."""
        verb = "more" if self.won > self.expected else "less"
        shares = f"{percent(self.won)} of its comparisons, where all votes together expect {percent(self.expected)}"
        return f"{self.agent} wins {verb} in {self.group} than elsewhere: {shares}."


def group_differences(profile: Profile, codes: Ints, names: tuple[str, ...], level: float = 0.95) -> list[Difference]:
    """The agents that do better or worse in a group than chance at this level allows, the surest first.

    `codes` is the group of each vote, as a place in `names`.
    """
    won, expected = _shares(profile)
    count = np.repeat(profile.counts * (profile.length > 1), profile.length)
    shape = profile.n_agents, len(names)
    cell = profile.agent * len(names) + np.repeat(codes, profile.length)

    def summed(values: Floats) -> Floats:
        """Over the votes of each agent in each group."""
        sums: Floats = np.bincount(cell, weights=count * values, minlength=shape[0] * shape[1]).astype(float)
        return sums.reshape(shape)

    votes, residual, square = summed(np.ones(len(cell))), summed(won - expected), summed((won - expected) ** 2)
    z = _differences(votes, residual, square)
    order = np.argsort(-np.abs(z), axis=None, kind="stable")[: int((z != 0).sum())]
    shares = summed(won), summed(expected)
    found = []
    for done, place in enumerate(order.tolist()):
        at = divmod(place, len(names))
        p = 2 * NormalDist().cdf(-abs(float(z[at]))) * (len(order) - done)
        if p > 1 - level:
            break
        share, chance = (float(total[at] / votes[at]) for total in shares)
        found.append(Difference(profile.agents[at[0]], names[at[1]], share, chance, float(votes[at]), p))
    return found


def _differences(votes: Floats, total: Floats, square: Floats) -> Floats:
    """By how many of its standard deviations the mean of each agent in each group differs from that outside it.

    0 where there are too few votes to tell.
    """
    means, variances = [], []
    outside = [sums.sum(axis=1, keepdims=True) - sums for sums in (votes, total, square)]
    for n, sums, squares in ((votes, total, square), outside):
        many = np.maximum(n, 1)
        means.append(sums / many)
        variances.append((squares / many - means[-1] ** 2) / many)
    variance = variances[0] + variances[1]
    told = (votes >= _FEWEST) & (outside[0] >= _FEWEST) & (variance > 0)
    return np.where(told, (means[0] - means[1]) / np.sqrt(np.where(told, variance, 1.0)), 0.0)


def _shares(profile: Profile) -> tuple[Floats, Floats]:
    """For each entry of each vote, the share of the others in it that it is above, level as half, and that expected."""
    rating = laplace(profile).ratings
    won, expected = np.zeros(len(profile.agent)), np.zeros(len(profile.agent))
    for k in np.unique(profile.length[profile.length > 1]).tolist():
        votes = np.flatnonzero(profile.length == k)
        for part in np.array_split(votes, max(1, len(votes) * k * k // _AT_ONCE)):
            entry = profile.start[part][:, None] + np.arange(k)
            tier, strength = profile.tier[entry], rating[profile.agent[entry]]
            above = (tier[:, :, None] < tier[:, None, :]) + 0.5 * (tier[:, :, None] == tier[:, None, :])
            chance = 0.5 + 0.5 * np.tanh((strength[:, :, None] - strength[:, None, :]) / 2)
            won[entry] = (above.sum(axis=2) - 0.5) / (k - 1)  # less itself, which is level
            expected[entry] = (chance.sum(axis=2) - 0.5) / (k - 1)
    return won, expected
