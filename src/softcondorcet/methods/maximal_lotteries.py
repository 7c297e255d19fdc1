"""Maximal lotteries (Kreweras, Fishburn): the lottery over agents that no agent beats on average; and their
iteration.

Let M be the matrix of margins, 0 for pairs never compared. A lottery p is maximal if (p M)_b >= 0 for every agent b:
against any b, an agent drawn from p has at least as many votes on average (``central_path`` solves that game). A
Condorcet winner has probability 1. With an odd number of strict complete votes there is one maximal lottery, else
there may be many; this one is taken:

- Only agents of top components have a chance: strongly connected components of the majority that no agent outside
  beats. A maximal lottery of such a component is maximal at large, as its agents lose to nobody outside. (Where
  margins are 0, other agents may appear in maximal lotteries too: if a beats b, b beats c, and c never met a, then a
  and c in equal parts are maximal. But there a makes up for c, which loses to b; and a alone is maximal.)
- Every top component has the same chance. Inside it, p is the centre of the maximal lotteries of a set S of its
  agents: S begins with those of the greatest net margin, and grows by agents of the component that beat the lottery
  of S (those by at least half the largest lead; by all of them once S is large), until none does. So only a few
  agents are ever weighed against each other: in votes that are pure noise over 3,000 agents, 17 of them.

Nothing in this depends on the listing of the agents. Probabilities below 1e-9 count as 0, others are rounded to 10
decimals, so that agents in symmetric places tie.

*Iterated:* the agents of positive probability are the first level; take them out and repeat (Lanctot et al.,
Evaluating Agents using Social Choice Theory, 2023). The rating is the number of levels below plus the probability in
the level.

Cost: O(pairs) for the components, O(s^3) per step for the lottery of s agents in S, at most 4,000. The iterated form
goes through its component again for each level.

``central_path`` solves the symmetric zero-sum game of the margins along its central path. M is skew-symmetric, M[a,
b] > 0 where a beats b. Two players name an agent each; the one whose agent beats the other's wins the margin. A
lottery p over the agents is optimal if it loses to no agent: (p M)_b >= 0 for all b. The value is 0.

For t > 0 there is one p with p_i s_i = t/c for all i, where s = p M + t; summed over i it says that p adds up to 1,
for p M p = 0. At t = infinity all p_i are 1/c. As t goes to 0, p goes to the analytic centre of the set of optimal
lotteries: p_i stays positive for every agent that any optimal lottery uses, s_i for every other one. So where there
are several optimal lotteries this is a well-defined one, which treats agents alike that the game treats alike, as no
corner of the set found by a simplex method would.

Newton's step for t -> u t solves (diag(s/p) - M) d = (t - s) + u (t/(c p) - t). The matrix is a skew one plus a
positive diagonal, so it is never singular. A step is linear in u: one solve gives the best u too. O(c^3) per step, 10
to 30 steps.

Such fast descent strays from the path, and where many lotteries are optimal no further descent leads back: it ends at
one of them, off the centre by a tenth and more at times. But by then it is known which p_i and s_i stay positive, and
the centre is where the product of these is largest, among the lotteries that are level with all agents they draw.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from softcondorcet.arrays import Floats, Ints, sum_by
from softcondorcet.checks import one_of, positive, whole
from softcondorcet.errors import DataError
from softcondorcet.kernels import graph
from softcondorcet.majority import strongly_connected
from softcondorcet.methods.result import Data, rated
from softcondorcet.pairs import Pairs, as_pairs
from softcondorcet.ratings import Ratings

# Below this gap, p is as exact as sums of floats of size 1 allow.
_GAP = 1e-13
# Singular values below this part of the largest are 0, and the centre is found when no entry moves by more than _STILL.
_RANK, _STILL, _CENTRING = 1e-10, 1e-12, 50
# How far to go of the way to where a p_i or s_i would become 0.
_SHORT = 0.99


def central_lottery(margin: Floats, steps: int) -> Floats:
    """The centre of the optimal lotteries of a margin matrix, after at most so many Newton steps."""
    c = len(margin)
    game = margin / max(float(np.abs(margin).max(initial=0.0)), np.finfo(float).tiny)
    p, t = np.full(c, 1 / c), 2.0
    s = p @ game + t
    for _ in range(steps if game.any() else 0):
        if t < _GAP:
            break
        affine, centring = np.linalg.solve(np.diag(s / p) - game, np.stack([t - s, t / (c * p) - t], axis=1)).T
        reach = min(1.0, _room(p, affine), _room(s, affine @ game - t))
        u = (1 - reach) ** 3  # Mehrotra's rule: the further plain descent gets, the less centring
        along = affine + u * centring
        fall = along @ game - (1 - u) * t
        size = min(1.0, _SHORT * min(_room(p, along), _room(s, fall)))
        p, s, t = p + size * along, s + size * fall, t * (1 - size * (1 - u))
    if game.any():
        p = _centre(np.where(p > s, p, 0.0), s, game)
    return p / float(p.sum())


def _centre(p: Floats, s: Floats, game: Floats) -> Floats:
    """The optimal lottery of greatest product of chances and leads, from any that draws all agents it can."""
    drawn, beaten = np.flatnonzero(p > 0), np.flatnonzero(p == 0)
    # Directions that keep the sum of the chances, and the lottery level with all it draws.
    level = np.vstack([game[np.ix_(drawn, drawn)], np.ones(len(drawn))])
    _, size, across = np.linalg.svd(level)
    free = across[int((size > _RANK * size[0]).sum()) :]
    if not len(free):
        return p
    x = np.concatenate([p[drawn], s[beaten]])
    ways = np.hstack([free, free @ game[np.ix_(drawn, beaten)]])
    for _ in range(_CENTRING):
        slope = ways / x
        step = np.linalg.solve(slope @ slope.T, slope.sum(axis=1)) @ ways
        x = x + min(1.0, _SHORT * _room(x, step)) * step
        if np.abs(step / x).max() < _STILL:
            break
    centre = np.zeros_like(p)
    centre[drawn] = x[: len(drawn)]
    return centre


def _room(x: Floats, step: Floats) -> float:
    """The longest step after which no entry of x is negative."""
    falling = step < 0
    return float((x[falling] / -step[falling]).min(initial=np.inf))


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
    most: int = _MOST  # agents in one game

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
            if len(chosen) > self.most:
                raise DataError(
                    f"a component of {len(component):,} agents: more than {self.most:,} of them must be weighed "
                    f"against each other; that many take {_BYTES * self.most**2 / 1e9:.1f} GB, all of them "
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
        target = target[: graph.subgraph(self.row, self.target, agents, number, row, target)]
        label = strongly_connected(row, target)
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
