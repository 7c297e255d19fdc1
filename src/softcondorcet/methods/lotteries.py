"""Maximal lotteries (Kreweras, Fishburn): the lottery over agents that no agent beats on average; and their iteration.

Let M be the matrix of margins, 0 for pairs never compared. A lottery p is maximal if (p M)_b >= 0 for every agent b:
against any b, an agent drawn from p has at least as many votes on average (``central_path`` solves that game). A
Condorcet winner has probability 1. With an odd number of strict complete votes there is one maximal lottery, else
there may be many; this one is taken:

- Only agents of top components have a chance: strongly connected components of the majority that no agent outside
  beats. A maximal lottery of such a component is maximal at large, as its agents lose to nobody outside. (Where
  margins are 0, other agents may appear in maximal lotteries too: if a beats b, b beats c, and c never met a, then a
  and c in equal parts are maximal. But there a makes up for c, which loses to b; and a alone is maximal.)
- Every top component has the same chance. Inside it, p is the centre of the maximal lotteries of a set S of its
  agents: S begins with those of the greatest net margin, and grows by agents of the component that beat the lottery of
  S (those by at least half the largest lead; by all of them once S is large), until none does. So only a few agents
  are ever weighed against each other: in votes that are pure noise over 3,000 agents, 17 of them.

Nothing in this depends on the listing of the agents. Probabilities below 1e-9 count as 0, others are rounded to 10
decimals, so that agents in symmetric places tie.

*Iterated:* the agents of positive probability are the first level; take them out and repeat (Lanctot et al.,
Evaluating Agents using Social Choice Theory, 2023). The rating is the number of levels below plus the probability in
the level.

Cost: O(pairs) for the components, O(s^3) per step for the lottery of s agents in S, at most 4,000. The iterated form
goes through its component again for each level.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from softcondorcet.arrays import Floats, Ints, sum_by
from softcondorcet.errors import DataError
from softcondorcet.kernels import graph, reach
from softcondorcet.methods.central_path import central_lottery
from softcondorcet.methods.outcome import Data, rated
from softcondorcet.options import one_of, positive, whole
from softcondorcet.pairs import Pairs, as_pairs
from softcondorcet.ratings import Ratings

# A step with 4,000 agents takes seconds and 0.6 GB: five matrices.
_MOST, _BYTES = 4_000, 40
# Up to this many agents a step takes a few milliseconds at most, and it pays to add few at a time.
_FEW = 300
_ZERO, _DECIMALS = 1e-9, 10


def maximal_lotteries(data: Data, *, strength: str = "margins", steps: int = 100, tol: float = 1e-8) -> Ratings:
    """The probability of each agent in a maximal lottery; 0 for most.

    `strength` of a pair: its "margins", or "signs" (who wins counts, not by how much). `error` is the most that an
    agent gains against the lottery, in units of the largest margin; at most `tol`, or ``converged`` is False and more
    `steps` (of Newton's method, per lottery) may help.

    >>> from softcondorcet import Profile
    >>> maximal_lotteries(Profile.from_rankings([["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]])).values.round(3)
    array([0.333, 0.333, 0.333])
    """
    game = Game.of(data, strength, steps, tol)
    remaining = Remaining(game)
    level = remaining.lottery()
    note = "several lotteries are maximal; this one gives every top component of the majority the same chance"
    return _finished(data, "maximal_lotteries", level.chance, game, level.error, [] if level.unique else [note])


def iterated_maximal_lotteries(
    data: Data, *, strength: str = "margins", steps: int = 100, tol: float = 1e-8
) -> Ratings:
    """Maximal lotteries, level by level: the number of levels below, plus the probability in the agent's own level.

    The options are those of ``maximal_lotteries``; ``error`` is the largest of all levels.

    >>> from softcondorcet import Profile
    >>> iterated_maximal_lotteries(Profile.from_rankings([["a", "b", "c"], ["a", "c", "b"]])).values.tolist()
    [2.0, 0.5, 0.5]
    """
    game = Game.of(data, strength, steps, tol)
    remaining = Remaining(game)
    levels: list[Level] = []
    values, height = np.zeros(game.m), np.zeros(game.m)
    while remaining.tops:
        levels.append(remaining.lottery())
        inside = levels[-1].chance > 0
        values[inside], height[inside] = levels[-1].chance[inside], len(levels)
        remaining.remove(np.flatnonzero(inside))
    several = sum(not level.unique for level in levels)
    note = (
        f"at {several} of {len(levels)} levels several lotteries are maximal; see maximal_lotteries for which is taken"
    )
    error = max((level.error for level in levels), default=0.0)
    values += len(levels) - height
    return _finished(data, "iterated_maximal_lotteries", values, game, error, [note] if several else [])


@dataclass(frozen=True)
class Level:
    """A lottery over what remains, the most an agent gains against it, and whether it is the only maximal one."""

    chance: Floats
    error: float
    unique: bool


@dataclass(frozen=True)
class Game:
    """Margins in rows by agent, scaled to at most 1, and how exactly to solve."""

    m: int
    row: Ints
    column: Ints
    margin: Floats
    strength: str
    steps: int
    tol: float

    @classmethod
    def of(cls, data: Data, strength: str, steps: int, tol: float) -> Game:
        one_of("strength", ("margins", "signs"), strength)
        whole("steps", steps)
        positive("tol", tol)
        pairs: Pairs = as_pairs(data)
        rows = pairs.by_agent
        largest = float(np.abs(rows.margin).max(initial=0.0)) or 1.0
        margin = rows.margin / largest if strength == "margins" else np.sign(rows.margin)
        return cls(pairs.n_agents, rows.row, rows.column, margin, strength, int(steps), float(tol))

    def entries(self, agents: Ints) -> tuple[Ints, Ints]:
        """Where the entries of some rows are, and the place in `agents` of the row of each."""
        length = self.row[agents + 1] - self.row[agents]
        owner = np.repeat(np.arange(len(agents)), length)
        ends = np.cumsum(length)
        return np.arange(len(owner)) + (self.row[agents] - ends + length)[owner], owner

    def matrix(self, agents: Ints) -> Floats:
        """Margins among some agents, listed in order."""
        entry, owner = self.entries(agents)
        place = np.minimum(np.searchsorted(agents, self.column[entry]), len(agents) - 1)
        inner = agents[place] == self.column[entry]
        margin = np.zeros((len(agents), len(agents)))
        margin[owner[inner], place[inner]] = self.margin[entry[inner]]
        return margin

    def lead(self, agents: Ints, chance: Floats) -> Floats:
        """Mean margin over each agent of one drawn from a lottery over some agents."""
        entry, owner = self.entries(agents)
        return sum_by(self.column[entry], self.margin[entry] * chance[owner], self.m)

    def solve(self, component: Ints) -> tuple[Ints, Floats]:
        """A maximal lottery of a component of the majority: agents and their chances."""
        if len(component) == 1:
            return component, np.ones(1)
        # Margins inside the component alone: what is taken must not depend on agents that have left, or stand below.
        entry, owner = self.entries(component)
        among = np.zeros(self.m)
        among[component] = 1.0
        net = sum_by(owner, self.margin[entry] * among[self.column[entry]], len(component))
        chosen = component[net == net.max()]
        while True:
            chance = central_lottery(self.matrix(chosen), self.steps)
            lead = self.lead(chosen, chance)[component]
            strong = lead <= lead.min() / 2 if len(chosen) < _FEW else lead < 0
            grown = np.union1d(chosen, component[strong & (lead < -self.tol)])
            if len(grown) == len(chosen):
                return chosen, chance
            chosen = grown
            if len(chosen) > _MOST:
                raise DataError(
                    f"a component of {len(component):,} agents: more than {_MOST:,} of them must be weighed against "
                    f"each other; that many take {_BYTES * _MOST**2 / 1e9:.1f} GB, all of them "
                    f"{_BYTES * len(component) ** 2 / 1e9:,.1f} GB; leave out agents with few comparisons"
                )


class Remaining:
    """The agents that are left, in strongly connected components of the majority among them.

    A component is named by one of its agents; `defeats` counts the victories over it from outside. Without any it is on
    top. Only the top components change when agents leave, so only they are searched again.
    """

    def __init__(self, game: Game) -> None:
        self.game = game
        beats = game.margin > 0
        self.row = np.concatenate([[0], np.cumsum(beats)])[game.row]
        self.target = game.column[beats].astype(np.int64)
        self.left = np.ones(game.m, dtype=bool)
        self.group, self.defeats = np.zeros((2, game.m), dtype=np.int64)
        self.members: dict[int, Ints] = {}
        self.tops: list[int] = []
        self._split(np.arange(game.m))

    def lottery(self) -> Level:
        """Each top component with the same chance."""
        chance = np.zeros(self.game.m)
        for top in self.tops:
            agents, inside = self.game.solve(self.members[top])
            chance[agents] = inside / len(self.tops)
        chance[chance < _ZERO] = 0.0
        chance = chance.round(_DECIMALS)
        drawn = np.flatnonzero(chance)
        lead = self.game.lead(drawn, chance[drawn])[self.left]
        return Level(chance, -float(lead.min(initial=0.0)), self._unique(drawn, lead))

    def remove(self, agents: Ints) -> None:
        """Take out agents of top components; what is left of these falls into components of its own."""
        self.left[agents] = False
        hit = np.concatenate([self.target[self.row[a] : self.row[a + 1]] for a in agents])
        groups, losses = np.unique(self.group[hit[self.left[hit]]], return_counts=True)
        self.defeats[groups] -= losses
        free = groups[self.defeats[groups] == 0].tolist()
        broken = {top: self.members.pop(top) for top in self.tops}
        self.tops = [name for name in free if name not in broken]
        for members in broken.values():
            if self.left[members].any():
                self._split(members[self.left[members]])

    def _split(self, agents: Ints) -> None:
        """Components of agents that nobody outside beats."""
        number = np.full(self.game.m, -1)
        number[agents] = np.arange(len(agents))
        most = int((self.row[agents + 1] - self.row[agents]).sum())
        row, target = np.zeros(len(agents) + 1, dtype=np.int64), np.empty(most, dtype=np.int64)
        target = target[: reach.subgraph(self.row, self.target, agents, number, row, target)]
        label = graph.strong(row, target)
        order = np.argsort(label, kind="stable")
        for members in np.split(agents[order], np.flatnonzero(np.diff(label[order])) + 1) if len(agents) else ():
            self.members[int(members[0])] = members
            self.group[members] = members[0]
        tail, head = np.repeat(label, np.diff(row)), label[target]
        lost = np.bincount(head[tail != head], minlength=len(agents))
        names = self.group[agents]
        self.defeats[names] = lost[label]
        self.tops += sorted({int(name) for name in names[lost[label] == 0]})

    def _unique(self, drawn: Ints, lead: Floats) -> bool:
        """Whether no other lottery over the remaining agents is maximal.

        A maximal lottery q draws only agents that p does not beat, and is level with all that p draws: q M = 0 there.
        So p is the only one if it beats all it does not draw and the margins among those it draws have rank one less
        than their number. Else it is not: if the rank is smaller, p can move along a q; and there is a maximal lottery
        that beats all agents that none draws (Tucker, 1956), which p is not if it is level with one.
        """
        if int((lead <= self.game.tol).sum()) > len(drawn):
            return False
        return int(np.linalg.matrix_rank(self.game.matrix(drawn))) == len(drawn) - 1


def _finished(data: Data, method: str, values: Floats, game: Game, error: float, notes: list[str]) -> Ratings:
    options = {"strength": game.strength, "steps": game.steps, "tol": game.tol}
    board = rated(data, values, method, options, converged=error <= game.tol, error=error)
    return replace(board, warnings=(*board.warnings, *notes))
