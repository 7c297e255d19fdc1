"""Single transferable vote: votes count for their best agent that is left; round by round one is elected or leaves.

With `seats` to fill, an agent that holds a quota of the votes is elected and keeps a quota; the rest of its votes
moves on to the next agents, each vote with the same part of its worth (Gregory). When none holds a quota, the one with
the fewest votes leaves, and its votes move on. That is repeated until all agents are elected or gone. The order:
agents elected, first to last, then those that left, last to first. One seat is instant-runoff voting: a quota is a
majority.

The quota is Droop's: the smallest whole number of votes above (weight of all votes)/(seats + 1). Where weights are
not whole, a vote is the step that all are multiples of, 0.1 for weights of 0.1, 0.2 and 0.3; where they have none,
any weight above that share is enough. It does not fall as votes run out. A vote that ties agents counts for them in
equal parts; one whose agents are all gone counts for nobody.

Agents that hold equally many votes: the one with fewer Borda points leaves first, or with more is elected first. If
they are equal in that too, they are elected or leave together and share a place. So nothing depends on the listing of
agents and votes.

When it misleads: it may put a Condorcet winner last, and raising an agent in a vote can make it lose. It needs long
votes: agents that are never on top of what is left leave with no votes, in the order of their Borda points. Cost: O(m)
per round plus one step per vote that moves, so O(m^2 + entries of votes).
"""

from __future__ import annotations

import numpy as np

from softcondorcet.arrays import Floats, Ints
from softcondorcet.checks import whole
from softcondorcet.exact_sums import exact
from softcondorcet.kernels import voting
from softcondorcet.methods.result import places, rated
from softcondorcet.methods.scoring import borda_points
from softcondorcet.profile import Profile, as_profile
from softcondorcet.ratings import Ratings

# Shares such as thirds do not add up exactly: votes held are equal, or reach the quota, up to this part of all votes.
_ROUNDING = 1e-11


def stv(data: Profile, *, seats: int = 1) -> Ratings:
    """Places from the bottom by single transferable vote for a number of `seats`.

    >>> votes = Profile.from_rankings([["a", "b", "c"], ["b", "c", "a"], ["c", "b", "a"]], weights=[4, 3, 2])
    >>> stv(votes).order
    ['b', 'a', 'c']
    """
    profile = as_profile(data, "a Profile; pairs do not say who stood where in a vote")
    whole("seats", seats)
    return rated(profile, places(count(profile, int(seats))), "stv", {"seats": int(seats)})


def droop_quota(weight: Floats, seats: int) -> float:
    """What is needed for a seat: more than `seats` + 1 agents could all have."""
    total = float(weight.sum())
    share = total / (seats + 1)
    votes = np.floor(share) + 1 if (weight == np.rint(weight)).all() else 0.0
    return float(max(votes, share + 2 * _ROUNDING * total))


class Count:
    """A count in progress."""

    def __init__(self, profile: Profile, weight: Floats) -> None:
        m, n = profile.n_agents, profile.n_votes
        vote = np.repeat(np.arange(n, dtype=np.int32), profile.length)
        entry = np.argsort(profile.agent, kind="stable")
        row = np.concatenate([[0], np.cumsum(np.bincount(profile.agent, minlength=m))])
        self.by_agent = row, entry, vote[entry]
        self.staying, self.score = np.ones(m, dtype=bool), np.zeros(m)
        self.state = (
            *(profile.start, profile.agent, profile.tier, self.staying),
            *(profile.start[:-1].copy(), np.zeros(n, dtype=np.int64), weight.copy(), self.score),
        )
        self.scratch = np.full(n, -1.0), np.empty(n, dtype=np.int64)
        voting.settle_all(*self.state)

    def leave(self, agents: Ints, kept: float) -> None:
        """Take agents out, each with the part `kept` of what it holds."""
        voting.leave(agents, kept, *self.by_agent, *self.state, *self.scratch)


def count(profile: Profile, seats: int) -> Ints:
    """The level of each agent, the highest best: m - k if it is elected in round k, k - m if it leaves."""
    weight, points = exact(profile.weight)[0], borda_points(profile)
    quota, near = droop_quota(weight, seats), _ROUNDING * float(weight.sum())
    counting, level = Count(profile, weight), np.zeros(profile.n_agents, dtype=np.int64)
    for done in range(profile.n_agents):
        left = np.flatnonzero(counting.staying)
        if not len(left):
            break
        score = counting.score[left]
        elected = score.max() >= quota - near
        out = left[score >= score.max() - near] if elected else left[score <= score.min() + near]
        out = out[points[out] == (points[out].max() if elected else points[out].min())]
        level[out] = profile.n_agents - done if elected else done - profile.n_agents
        counting.leave(out, min(quota / score.max(), 1.0) if elected else 0.0)
    return level
