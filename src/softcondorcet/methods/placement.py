"""Which agents have no rank among the others, why, and what would give them one: the one rule for all that shows ranks.

An agent is unplaced

- outside the main group, the largest one that comparisons link: nothing says where it stands among the others. Each
  smaller group is ranked in itself. Where two groups are the largest, neither is the main one;
- where the main group has eight agents or more and the votes leave the agent's rank within a range of more than half
  of them: the range of 95 % by the curvature of the likelihood (``solvers.laplace``). An agent of which the votes tell
  as much as a hundred votes between equals do is placed all the same: its chances are known to ten points either way,
  and its rank is open because the field is close. In an election, where the votes are all there will be, the rule is
  for agents of which they tell less than half of what they tell of the median one.

A Condorcet winner, which beats all others of the main group head to head, is never unplaced.

The rule asks the votes alone, so it is the same for every method. It is worked out when it is first asked for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from statistics import NormalDist

import numpy as np

from softcondorcet import majority
from softcondorcet.arrays import Flags, Floats, Ints, sum_by
from softcondorcet.formatting import plural, some
from softcondorcet.leaderboard import Unplaced
from softcondorcet.majority import linked_labels, victories
from softcondorcet.pairs import Pairs, as_pairs
from softcondorcet.profile import Profile
from softcondorcet.solvers.laplace import Laplace, laplace, normal_below

# Fewer agents have a rank whatever the range: half of seven ranks is next to nothing.
_SEVERAL = 8
# Ends of the range in standard deviations: 95 %.
ENDS = NormalDist().inv_cdf(0.975)
# What a hundred votes between equals tell, each 1/4: standard deviations of 0.2, chances within 10 points at 95 %.
_WELL_KNOWN = 25.0
# In an election, the share of what is known of the median agent from which on nobody is unplaced.
_USUAL = 0.5
# Ratings at which it is counted how many agents are above, where agents are many, and how many are counted at a time.
_GRID, _AT_ONCE = 512, 4096


class Placement(Mapping[str, Unplaced]):
    """The unplaced agents of votes, by name. `ranges`: whether the range of ranks counts, or only groups."""

    def __init__(self, data: Profile | Pairs, *, ranges: bool = True) -> None:
        self._data, self._ranges = data, ranges

    def __getitem__(self, agent: str) -> Unplaced:
        return self._found[agent]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    @cached_property
    def pairs(self) -> Pairs:
        return as_pairs(self._data)

    @cached_property
    def _groups(self) -> tuple[Ints, int | None]:
        return groups(self.pairs)

    @cached_property
    def main_pairs(self) -> Pairs:
        """The pairs among the agents of the main group; all of them where there is none."""
        group, main = self._groups
        whole = main is None or not group.any()
        return self.pairs if whole else majority.largest_group(self.pairs)

    @cached_property
    def spread(self) -> Laplace:
        """How uncertain the votes leave each agent's rating."""
        return laplace(self._data)

    @cached_property
    def _found(self) -> dict[str, Unplaced]:
        pairs, (group, main) = self.pairs, self._groups
        found = _outside(pairs, group, main)
        if self._ranges and main is not None and int((group == main).sum()) >= _SEVERAL:
            found |= _too_wide(self._data, self.spread, pairs, group == main)
        return found


def groups(pairs: Pairs) -> tuple[Ints, int | None]:
    """The linked group of each agent, 0 for the largest, and which is the main one: None where two are the largest."""
    label = linked_labels(pairs)
    size = np.bincount(label, minlength=1)
    turn = np.argsort(-size, kind="stable")
    number = np.empty(len(size), dtype=np.int64)
    number[turn] = np.arange(len(size))
    shared = len(size) > 1 and size[turn[0]] == size[turn[1]]
    return number[label], None if shared or not len(label) else 0


def main_pairs(pairs: Pairs) -> Pairs:
    """The same of pairs alone."""
    return Placement(pairs).main_pairs


def _outside(pairs: Pairs, group: Ints, main: int | None) -> dict[str, Unplaced]:
    """The agents outside the main group."""
    size = np.bincount(group, minlength=1)
    members: dict[int, list[str]] = {}
    outside = np.flatnonzero(group != (-1 if main is None else main)).tolist()
    for k in outside:
        members.setdefault(int(group[k]), []).append(pairs.agents[k])
    return {
        name: Unplaced(_apart_in_words(name, own, size, main is None), number)
        for number, own in members.items()
        for name in own
    }


def _apart_in_words(agent: str, own: list[str], size: Ints, level: bool) -> str:
    """Why an agent of a group of its `own` is apart; `level`: no group is the main one."""
    if len(own) == 1:
        return "no vote compares it with another agent"
    largest = plural(int(size[0]), "agent")
    if level and len(own) == size[0]:
        several = int((size == size[0]).sum())
        return f"{several} groups of {largest} were never compared with each other: votes between them would place it"
    others = some([name for name in own if name != agent], 1)
    whom = f"groups of {largest}" if level else f"the main group of {largest}"
    return f"never compared with {whom}: votes between it, or {others}, and them would place it"


def _too_wide(data: Profile | Pairs, found: Laplace, pairs: Pairs, inside: Flags) -> dict[str, Unplaced]:
    """The agents of the main group whose rank the votes leave within more than half of its ranks."""
    members = np.flatnonzero(inside)
    low, high = rank_range(found.ratings[members], found.sd[members])
    size = len(members)
    wide = high - low + 1 > size / 2
    wide &= np.bincount(victories(pairs)[0], minlength=pairs.n_agents)[members] < size - 1
    told = 1 / found.variance[members] - found.prior[found.group[members]]
    wide &= told < _WELL_KNOWN
    if data.kind == "election":
        wide &= told < _USUAL * np.median(told)
    votes = _votes(data, pairs)[members]
    more = _votes_needed(found, members, np.flatnonzero(wide), told, votes)
    noun = "comparison" if isinstance(data, Pairs) else "vote"
    return {
        pairs.agents[members[k]]: Unplaced(_range_in_words(low[k], high[k], size, votes[k], noun, needed), 0)
        for k, needed in zip(np.flatnonzero(wide).tolist(), more, strict=True)
    }


def _range_in_words(low: int, high: int, size: int, votes: float, noun: str, more: int) -> str:
    verb = "leaves" if votes == 1 else "leave"
    rank = f"{plural(votes, noun)} {verb} its rank between {low:,} and {high:,} of {size:,}"
    return f"{rank}: about {more:,} more would place it"


def rank_range(ratings: Floats, sd: Floats, ends: float = ENDS) -> tuple[Ints, Ints]:
    """Best and worst rank of each agent, `ends` of its standard deviations up and down.

    Its rank is 1 + how many others are above, which are uncertain too: each counts by the chance that it is above.
    """
    tail = float(normal_below(np.array(-ends)))  # of what is counted, an agent's own share
    above_high = _number_above(ratings + ends * sd, ratings, sd) - tail
    above_low = _number_above(ratings - ends * sd, ratings, sd) - (1 - tail)
    return 1 + np.rint(above_high).astype(np.int64), 1 + np.rint(above_low).astype(np.int64)


def _number_above(limit: Floats, ratings: Floats, sd: Floats) -> Floats:
    """How many ratings are above each limit, on average."""
    at = limit if len(limit) <= _GRID else np.linspace(limit.min(), limit.max(), _GRID)
    count = np.zeros(len(at))
    for first in range(0, len(ratings), _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        count += normal_below((ratings[part] - at[:, None]) / sd[part]).sum(axis=1)
    return count if at is limit else np.interp(limit, at, count)


def _votes_needed(found: Laplace, members: Ints, wide: Ints, told: Floats, votes: Floats) -> list[int]:
    """About how many votes more would place each of these agents, by a narrower range or as well known.

    A vote more tells of an agent what its votes told on average, and of one without telling votes what a vote between
    equals does.
    """
    if not len(wide):
        return []
    ratings, sd = found.ratings[members], found.sd[members]
    at = np.linspace(ratings.min() - 8 * sd.max(), ratings.max() + 8 * sd.max(), _GRID)
    above = _number_above(at, ratings, sd)
    narrow, broad = np.zeros(len(wide)), sd[wide]
    for _ in range(30):
        middle = (narrow + broad) / 2
        ends = ratings[wide] - ENDS * middle, ratings[wide] + ENDS * middle
        fits = np.interp(ends[0], at, above) - np.interp(ends[1], at, above) <= len(members) / 2
        narrow, broad = np.where(fits, middle, narrow), np.where(fits, broad, middle)
    missing = np.minimum(1 / np.maximum(narrow, 1e-9) ** 2 - 1 / sd[wide] ** 2, _WELL_KNOWN - told[wide])
    each = found.information[members][wide] / np.maximum(votes[wide], np.finfo(float).tiny)
    return [max(1, math.ceil(float(f"{more:.2g}"))) for more in (missing / np.where(each > 0, each, 0.25)).tolist()]


def _votes(data: Profile | Pairs, pairs: Pairs) -> Floats:
    """The weight of the votes that compare each agent, or of its comparisons where there are no votes."""
    if isinstance(data, Pairs):
        met, m = pairs.wins + pairs.losses + pairs.ties, pairs.n_agents
        return sum_by(pairs.left, met, m) + sum_by(pairs.right, met, m)
    weight = np.where(data.length > 1, data.weight, 0.0)
    return sum_by(data.agent, np.repeat(weight, data.length), data.n_agents)
