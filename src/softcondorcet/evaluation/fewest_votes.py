"""How few votes, taken away, take the first place from the top agent?

A bound from below, where one can be proven, and a set of votes from above, found by search and verified by rating the
votes that are left.

The bound. A method that ranks a Condorcet winner first goes on doing so while the top agent beats every other one. A
vote taken away lowers its margin over a rival by at most the weight of that vote, so at least as many votes must go
as it takes to bring the smallest margin to zero. For other methods, and without a Condorcet winner, only "at least
one" is proven.

The set. For each of the nearest rivals, votes are put in order of how much they speak for the top agent against the
rival, and as few of the first ones are taken away as change the top (bisection; every step rates the votes left).
Then votes are put back one lot after the other, wherever the top stays changed without them. The smallest set wins.
It is a set that works, not the smallest there is, unless its size is the bound. Where fits of all agents take too long
for that, votes are looked for among the best agents alone, and what is found there counts if it works among all.

A row of whole weight w holds w votes, which can go one by one; where weights are not whole, each row is one vote.

Profiles with something changed (without an agent, without some votes, with a copy of an agent) are made here too:
votes keep their order, weight, group and time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from softcondorcet import majority
from softcondorcet.arrays import Flags, Floats, Ints
from softcondorcet.formatting import number, plural
from softcondorcet.leaderboard import placed
from softcondorcet.profile import Profile
from softcondorcet.ratings import Ratings


def without_agent(profile: Profile, agent: int) -> Profile:
    """The votes over the other agents; a vote that then compares nobody, and did before, is gone.

    >>> votes = Profile.from_rankings([["a", "b", "c"], ["a", "b"]])
    >>> list(without_agent(votes, 0).rankings())
    [[['b'], ['c']]]
    """
    return of_agents(profile, np.arange(profile.n_agents) != agent)[0]


def of_agents(profile: Profile, kept: Flags) -> tuple[Profile, Ints]:
    """The votes over some of the agents, and which of the rows they are: without those that now compare nobody."""
    stays = kept[profile.agent]
    length = np.add.reduceat(stays, profile.start[:-1]) if profile.n_votes else profile.length
    tells = (length > 1) | ((profile.length == 1) & (length == 1))
    entries = stays & np.repeat(tells, profile.length)
    number = np.cumsum(kept) - 1
    part = replace(
        profile.take(tells),
        agents=tuple(name for name, stays in zip(profile.agents, kept.tolist(), strict=True) if stays),
        start=_starts(length[tells]),
        agent=number[profile.agent[entries]],
        tier=profile.tier[entries],
        turned=None,
        score=None,
        higher_is_better=None,
    )
    return part, np.flatnonzero(tells)


def with_copy(profile: Profile, agent: int) -> Profile:
    """The votes with one more agent, the last one, that ties with the original wherever that stands.

    >>> list(with_copy(Profile.from_rankings([["a", "b"]]), 1).rankings())
    [[['a'], ['b', 'copy of b']]]
    """
    name = f"copy of {profile.agents[agent]}"
    while name in profile.agents:
        name = f"copy of {name}"
    found = profile.agent == agent
    after = np.flatnonzero(found) + 1
    holds = np.add.reduceat(found, profile.start[:-1]) if profile.n_votes else profile.length
    return replace(
        profile,
        agents=(*profile.agents, name),
        start=_starts(profile.length + holds),
        agent=np.insert(profile.agent, after, profile.n_agents),
        tier=np.insert(profile.tier, after, profile.tier[found]),
        turned=None,
        score=None,
        higher_is_better=None,
    )


def without_votes(profile: Profile, removed: Floats) -> Profile:
    """The votes less a part of their weight, one number for each; those with nothing left are gone."""
    left = profile.weight - removed
    kept = left > 0
    return replace(profile.take(kept), weight=left[kept])


def _starts(length: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(length)])


Fit = Callable[[Profile], Ratings]
Each = Callable[[Callable[[Any], Any], list[Any]], list[Any]]

# Lots of votes tried to put back, and tiers of a vote shown.
_LOTS, _SHOWN = 60, 8
# Fits that the search takes for each rival, about; where so many are too many, votes are looked for among so many of
# the best agents, and so many of the sets found there are tried on all.
_FITS, _NEAR, _TRIED = 30, 60, 2


@dataclass(frozen=True)
class Removed:
    """`count` of the votes of row `vote` (counted from 1), and what they say."""

    vote: int
    count: int
    says: str


@dataclass(frozen=True)
class Flip:
    """Fewest votes whose removal takes the first place from `top`: proven to be at least `bound`, at most `votes`.

    ``removed`` is a set of that many votes: without them the method puts ``new_top`` first, and ``top`` below. None of
    the three is known where no set was found. ``reason`` says why the bound holds, ``margins`` how far the top agent is
    ahead of its nearest rivals, ``fits`` how many times votes were rated to find out.
    """

    top: str
    bound: int
    reason: str
    votes: int | None
    new_top: str | None
    removed: tuple[Removed, ...]
    margins: tuple[tuple[str, float], ...]
    fits: int

    @property
    def exact(self) -> bool:
        return self.votes == self.bound

    def headline(self, total: float, one: str = "vote") -> str:
        """The number in one sentence, of so many votes in all; `one` is what a vote is, such as a task.

        >>> Flip("a", 3, "", 3, "b", (), (), 9).headline(2400)
        '3 of 2,400 votes would change first place: without them b is first.'
        """
        of = f"of {plural(total, one)} would change first place"
        if self.votes is None and self.bound < 2:
            return f"It is not known how many {of}."
        if self.votes is None:
            return f"No fewer than {number(self.bound)} {of}; it is not known how many do."
        known = number(self.votes) if self.exact else f"At most {number(self.votes)}"
        least = "" if self.exact or self.bound < 2 else f", and no fewer than {number(self.bound)}"
        them = "it" if self.votes == 1 else "them"
        return f"{known} {of}: without {them} {self.new_top} is first{least}."

    def lines(self) -> list[str]:
        """For people to read."""
        proven = f"at least {plural(self.bound, 'vote')} ({self.reason})"
        if self.votes is None:
            return [f"no set of votes was found whose removal takes the first place from {self.top}; {proven}"]
        said = f"{plural(self.votes, 'vote')} less, and {self.new_top} is first instead of {self.top}"
        return [f"{said}: {'no fewer will do' if self.exact else f'proven is {proven}'}"]


class Units:
    """The votes of a profile as single ones: how many each row holds, and what one of them weighs."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.count: Ints = profile.counts.astype(np.int64)
        self.weight: Floats = profile.weight / np.maximum(profile.counts, 1)

    def first(self, order: Ints, many: int) -> Ints:
        """How many go of each row when `many` go along an order of rows."""
        before = np.cumsum(self.count[order]) - self.count[order]
        gone = np.zeros(self.profile.n_votes, dtype=np.int64)
        gone[order] = np.clip(many - before, 0, self.count[order])
        return gone

    def left(self, gone: Ints) -> Profile:
        removed = np.where(
            gone < self.count, gone * self.weight, self.profile.weight
        )  # all of it, whatever rounding says
        return without_votes(self.profile, removed)


class Standing:
    """Where one agent stands in each vote."""

    def __init__(self, profile: Profile, agent: int) -> None:
        found = np.flatnonzero(profile.agent == agent)
        vote = np.searchsorted(profile.start, found, side="right") - 1
        self.tier = np.full(profile.n_votes, -1)
        self.tier[vote] = profile.tier[found]
        own = self.tier[np.repeat(np.arange(profile.n_votes), profile.length)]
        lead = np.where(own >= 0, np.sign(profile.tier - own), 0)
        self.lead = np.add.reduceat(lead, profile.start[:-1]) if profile.n_votes else lead  # agents below less above

    def over(self, other: Standing) -> Ints:
        """1 in votes that put this agent above another one, -1 below, 0 elsewhere."""
        met = (self.tier >= 0) & (other.tier >= 0)
        return np.where(met, np.sign(other.tier - self.tier), 0)


class Search:
    """The search for votes whose removal changes the top of one method on one profile."""

    def __init__(self, profile: Profile, board: Ratings, fit: Fit) -> None:
        self.profile, self.board, self.fit = profile, board, fit
        self.placed = placed(board)  # an agent without a rank takes nobody's
        self.units, self.top = Units(profile), int(self.placed[0])
        self.fitted: list[int] = []  # one entry per fit: threads may append at the same time

    def top_without(self, gone: Ints) -> str | None:
        """Who is first instead, when these votes are gone; None if the top agent still is."""
        left = self.units.left(gone)
        if not left.n_votes:
            return None
        self.fitted.append(left.n_votes)
        board = self.fit(left)
        values = board.values[self.placed]
        best = int(self.placed[np.argmax(values)])
        return self.profile.agents[best] if board.values[self.top] < values.max() else None

    @cached_property
    def own(self) -> Standing:
        return Standing(self.profile, self.top)

    @cached_property
    def own_votes(self) -> Ints:
        """All votes that hold the top agent, the best for it first: without them it is first of nothing."""
        held = np.flatnonzero(self.own.tier >= 0)
        return held[np.argsort(-self.own.lead[held], kind="stable")]

    def bound(self, condorcet: bool) -> tuple[int, str]:
        """Fewest votes that must go, and why."""
        top = self.profile.agents[self.top]
        if not condorcet:
            return 1, "the method promises nothing to an agent that beats all others, so no more is proven"
        if majority.condorcet_winner(self.profile) != top:
            return 1, f"{top} does not beat every other agent, so no more is proven"
        fewest, heaviest = int(self.units.count.sum()), float(self.units.weight.max())
        for rival, lead in self.margins:
            if lead / heaviest >= fewest:
                break
            fewest = min(fewest, self._to_level(rival, lead))
        return fewest, f"{top} stays first while it beats every other agent"

    def _to_level(self, rival: int, lead: float) -> int:
        """Fewest votes that must go until the top agent no longer beats a rival: the heaviest that put it above."""
        over = np.flatnonzero(self.own.over(Standing(self.profile, rival)) > 0)
        order = over[np.argsort(-self.units.weight[over], kind="stable")]
        count, weight = self.units.count[order], self.units.weight[order]
        heavy = np.cumsum(count * weight)
        row = min(int(np.searchsorted(heavy, lead * (1 - 1e-12))), len(order) - 1)  # what rounding adds is no margin
        before = float(heavy[row - 1]) if row else 0.0
        return int(count[:row].sum()) + math.ceil((lead - before) / float(weight[row]) - 1e-9)

    @cached_property
    def margins(self) -> list[tuple[int, float]]:
        """Agents with the top agent's margin over them, the smallest first; those never met come last."""
        pairs = self.profile.pairs()
        lead = np.full(self.profile.n_agents, np.inf)
        for own, other, sign in ((pairs.left, pairs.right, 1.0), (pairs.right, pairs.left, -1.0)):
            its = own == self.top
            lead[other[its]] = sign * pairs.margin[its] + 0.0  # no minus zero
        order = np.argsort(lead, kind="stable")
        return [(int(k), float(lead[k])) for k in order if np.isfinite(lead[k])]

    def rivals(self, most: int) -> list[int]:
        """Those next to the top agent: by the order, and by margin."""
        near = [k for pair in zip(self.placed[1:], self._by_margin(), strict=False) for k in pair]
        return list(dict.fromkeys(int(k) for k in [*near, *self.placed[1:]]))[:most]

    def _by_margin(self) -> list[int]:
        by_margin = [k for k, _ in self.margins]
        return [*by_margin, *(int(k) for k in self.placed[1:])]

    def orders(self, rival: int) -> list[Ints]:
        """Votes for the top agent and against a rival, the most telling first, in two ways.

        First those that put it above the rival, or by places: agents below it, less those below the rival.
        """
        other = Standing(self.profile, rival)
        over, places = self.own.over(other), self.own.lead - other.lead
        by_duel = np.lexsort((-places, -over))
        by_places = np.lexsort((-over, -places))
        useful = (over > 0) | ((over == 0) & (places > 0))
        return [by_duel[useful[by_duel]], by_places[places[by_places] > 0]]

    def fewest(self, order: Ints, least: int) -> Ints | None:
        """As few of the first votes of an order as change the top, and one less does not; None if none do."""
        high = int(self.units.count[order].sum())
        step = max(least, 1)
        low = step - 1  # proven not to do
        while step < high and self.top_without(self.units.first(order, step)) is None:
            low, step = step, 2 * step
        high = min(step, high)
        if low >= high or self.top_without(self.units.first(order, high)) is None:
            return None
        while high - low > 1:
            middle = (low + high) // 2
            if self.top_without(self.units.first(order, middle)) is None:
                low = middle
            else:
                high = middle
        return self.units.first(order, high)

    def sets(self, least: int, rivals: int, each: Each) -> list[Ints]:
        """Sets of votes that change the top, the smallest first, of each rival and order of votes at most one."""
        orders = [order for rival in self.rivals(rivals) for order in self.orders(rival)]
        orders.append(self.own_votes)
        found = [gone for gone in each(lambda order: self.fewest(order, least), orders) if gone is not None]
        return sorted(found, key=lambda gone: int(gone.sum()))

    def found_near(self, least: int, rivals: int, each: Each, fits: int) -> tuple[Ints | None, str | None]:
        """A set that changes the top among the best agents and, as at most so many fits show, among all; who is first.

        Where none does, more and more of the votes that hold the top agent go.
        """
        sets = self._sets_near(least, rivals, each)[: max(fits - 1, 1)]
        most, tries = int(self.units.count[self.own_votes].sum()), max(fits - len(sets), 1)
        sizes = np.unique(np.geomspace(max(least, 1), max(least, 0.9 * most, 1), tries + 1).astype(np.int64)[1:])
        sets += [self.units.first(self.own_votes, int(size)) for size in sizes]
        for gone in sets[:fits]:
            new_top = self.top_without(gone)
            if new_top is not None:
                return gone, new_top
        return None, None

    def _sets_near(self, least: int, rivals: int, each: Each) -> list[Ints]:
        """Sets that change the top among the best agents, the smallest first."""
        kept = np.zeros(self.profile.n_agents, dtype=bool)
        kept[[self.top, *self.placed[:_NEAR], *self._by_margin()[:rivals]]] = True
        part, rows = of_agents(self.profile, kept)
        board = self.fit(part)
        if board.agents[int(placed(board)[0])] != self.profile.agents[self.top]:
            return []
        near = Search(part, board, self.fit)
        near.units.count, near.units.weight = self.units.count[rows], self.units.weight[rows]
        found = near.sets(least, rivals, each)
        sets = []
        for gone in [*(near.put_back(gone, least) for gone in found[:1]), *found]:
            of_all = np.zeros_like(self.units.count)
            of_all[rows] = gone
            sets.append(of_all)
        return sets

    def put_back(self, gone: Ints, least: int) -> Ints:
        """Votes put back, lot by lot and ever smaller lots, wherever the top stays changed all the same."""
        tried, lot = 0, max(int(gone.sum()) // 2, 1)
        while lot and gone.sum() > least and tried < _LOTS:
            rows = np.flatnonzero(gone)[::-1]
            begin = 0
            while begin < int(gone[rows].sum()) and tried < _LOTS and gone.sum() > least:
                back = self._slice(gone, rows, begin, lot)
                tried += 1
                if self.top_without(gone - back) is not None:
                    gone = gone - back
                else:
                    begin += lot
            lot //= 2
        return gone

    def _slice(self, gone: Ints, rows: Ints, begin: int, many: int) -> Ints:
        before = np.cumsum(gone[rows]) - gone[rows]
        back = np.zeros_like(gone)
        back[rows] = np.clip(begin + many - before, 0, gone[rows]) - np.clip(begin - before, 0, gone[rows])
        return back


def fewest_votes(
    profile: Profile, board: Ratings, fit: Fit, *, condorcet: bool, rivals: int, each: Each, fits: int | None = None
) -> Flip:
    """Bound and set for the top agent of `board`, which `fit` made of `profile`.

    `condorcet` says whether the method ranks a Condorcet winner first; `each` runs the search for every rival; `fits`
    is how many fits of all agents are worth their time, any number if it is left out.
    """
    search = Search(profile, board, fit)
    bound, reason = search.bound(condorcet)
    if fits is None or fits >= rivals * _FITS:
        found = search.sets(bound, rivals, each)
        best = search.put_back(found[0], bound) if found else None
        new_top = None if best is None else search.top_without(best)
    else:
        best, new_top = search.found_near(bound, rivals, each, min(fits, _TRIED))
    agents = profile.agents
    margins = tuple((agents[k], lead) for k, lead in search.margins[:5])
    return Flip(
        agents[search.top],
        bound,
        reason,
        None if best is None else int(best.sum()),
        new_top,
        () if best is None else _removed(profile, best),
        margins,
        len(search.fitted),
    )


def _removed(profile: Profile, gone: Ints) -> tuple[Removed, ...]:
    rows = np.flatnonzero(gone)
    votes = profile.take(rows).rankings()
    return tuple(Removed(int(row) + 1, int(gone[row]), _said(vote)) for row, vote in zip(rows, votes, strict=True))


def _said(vote: list[list[str]]) -> str:
    shown = " > ".join(" = ".join(tier) for tier in vote[:_SHOWN])
    return f"{shown} > {len(vote) - _SHOWN} more" if len(vote) > _SHOWN else shown
