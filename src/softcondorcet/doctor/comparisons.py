"""The input of all checks: the profile, its pairs, and each comparison of two agents that a vote makes.

Tests against chance need numbers of votes. A weight that is a whole number counts as that many votes; where weights
are not whole, they are no counts, and each vote counts as one.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from softcondorcet.arrays import Flags, Floats, Ints, sum_by
from softcondorcet.doctor.cycles import Cycle, strongest_cycle
from softcondorcet.doctor.finding import Unchecked
from softcondorcet.pairs import Pairs, couples
from softcondorcet.profile import Profile

# Comparisons that are looked at one by one: a second or two, and half a gigabyte.
MOST = 20_000_000


@dataclass(frozen=True, eq=False)
class Case:
    """A profile under inspection. Of votes that make more comparisons than `most`, none is looked at by itself."""

    profile: Profile
    most: int = MOST

    @cached_property
    def pairs(self) -> Pairs:
        return self.profile.pairs()

    @cached_property
    def count(self) -> Floats:
        """Number of votes that each row stands for."""
        return self.profile.counts

    @cached_property
    def tally(self) -> Pairs:
        """The pairs in numbers of votes."""
        same = self.count is self.profile.weight
        return self.pairs if same else replace(self.profile, weight=self.count).pairs()

    @cached_property
    def strongest_cycle(self) -> Cycle | None:
        return strongest_cycle(self.pairs, self.tally)

    @cached_property
    def vote_of(self) -> Ints:
        """The vote that each entry stands in."""
        return np.repeat(np.arange(self.profile.n_votes), self.profile.length)

    @cached_property
    def comparisons(self) -> Comparisons:
        profile = self.profile
        length = np.where(self.count > 0, profile.length, 0)
        if float((length * (length - 1.0) / 2).sum()) > self.most:
            raise Unchecked(f"the votes make more than {self.most:,} comparisons")
        upper, lower = couples(profile.start[:-1], length)
        return Comparisons(self, upper, lower)

    @cached_property
    def decided(self) -> Comparisons:
        """The comparisons without ties: who calls many ties is another question than whom they favour."""
        return self.comparisons.only(~self.comparisons.tied)

    @cached_property
    def by_group(self) -> Ints:
        """The group of each vote, where votes of a group can be told from those of others."""
        profile = self.profile
        if profile.group is None:
            raise Unchecked("votes have no judge, task or group")
        if len(np.unique(profile.group)) < 3:
            raise Unchecked("fewer than 3 groups")
        return profile.group

    @property
    def by_voter(self) -> Ints:
        """The voter of each vote as a number, -1 where it is not known."""
        voter = self.profile.voter
        if voter is None or not (voter >= 0).any():
            raise Unchecked("votes have no voter (--column voter=NAME says who cast them)")
        return voter

    @property
    def score_table(self) -> bool:
        """Whether each vote is a task of its own that most agents were run on: what reading a table of scores gives.

        A quarter of the cells must be filled. Battles with a prompt each are no such table.
        """
        profile, group = self.profile, self.profile.group
        if group is None or len(group) < 2 or profile.length.max() <= 2:
            return False
        return len(np.unique(group)) == len(group) and 4 * len(profile.agent) >= profile.n_agents * profile.n_votes


class Comparisons:
    """All comparisons that votes make, one row each: 1, 0 or 1/2, seen from the agent with the smaller number."""

    def __init__(self, case: Case, upper: Ints, lower: Ints) -> None:
        profile, tally = case.profile, case.tally
        a, b = profile.agent[upper], profile.agent[lower]
        self.vote = case.vote_of[upper]
        self.count = case.count[self.vote]
        self.tied: Flags = profile.tier[upper] == profile.tier[lower]
        self.result = np.where(self.tied, 0.5, np.where(a < b, 1.0, 0.0))
        self.entry = np.where(a < b, upper, lower), np.where(a < b, lower, upper)
        self.n_pairs, m = len(tally), profile.n_agents
        key = np.minimum(a, b).astype(np.int64) * m + np.maximum(a, b)
        self.pair = np.searchsorted(tally.left.astype(np.int64) * m + tally.right, key)

    def only(self, chosen: Flags) -> Comparisons:
        """Only the chosen comparisons."""
        some = copy(self)
        some.vote, some.count, some.pair = self.vote[chosen], self.count[chosen], self.pair[chosen]
        some.tied, some.result = self.tied[chosen], self.result[chosen]
        some.entry = self.entry[0][chosen], self.entry[1][chosen]
        return some

    @property
    def total(self) -> Floats:
        """Comparisons of each pair."""
        return sum_by(self.pair, self.count, self.n_pairs)

    def expected(self, value: Floats) -> Floats:
        """The mean of a value over all comparisons of the same two agents, for each pair."""
        return sum_by(self.pair, self.count * value, self.n_pairs) / np.maximum(self.total, 1)

    def room(self, label: Ints) -> Floats:
        """(N - n) / (N - 1) for each comparison: N of the same pair, n of them in votes of the same label.

        If labels are dealt out at random among the N, the sum of the n values, less n times their mean, has n times
        this times the variance of the values for a variance.
        """
        total = self.total[self.pair]
        key, size = (
            label[self.vote].astype(np.int64) * self.n_pairs + self.pair,
            (label.max(initial=0) + 1) * self.n_pairs,
        )
        if size > MOST:
            distinct, key = np.unique(key, return_inverse=True)
            size = len(distinct)
        own = sum_by(key, self.count, int(size))[key]
        room: Floats = (total - own) / np.maximum(total - 1, 1)
        return room
