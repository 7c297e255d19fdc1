"""Cycles of the majority, named with their margins: "a beats b by 12, b beats c by 3, c beats a by 7"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from softcondorcet import majority
from softcondorcet.arrays import Ints, in_order_of
from softcondorcet.doctor.finding import ALPHA, Finding
from softcondorcet.formatting import number, some
from softcondorcet.pairs import Pairs

if TYPE_CHECKING:
    from softcondorcet.doctor.comparisons import Case


@dataclass(frozen=True)
class Cycle:
    """Agents that beat each other in a circle, each the next and the last the first, and by how much.

    ``beyond_chance`` where every link is stronger than chance makes them in a cycle: see ``limit``.
    """

    agents: tuple[str, ...]
    margins: tuple[float, ...]
    strength: float
    beyond_chance: bool

    def __str__(self) -> str:
        following = (*self.agents[1:], self.agents[0])
        links = zip(self.agents, following, self.margins, strict=True)
        return some([f"{a} beats {b} by {number(margin)}" for a, b, margin in links], 6)


def cycles(case: Case) -> Iterator[Finding]:
    """Report a cycle that chance does not explain. Weaker ones are no finding: close agents make them all the time."""
    cycle = case.strongest_cycle
    if cycle is None or not cycle.beyond_chance:
        return
    winner, length = majority.condorcet_winner(case.pairs), len(cycle.agents)
    text = f"{length} agents beat each other in a circle, by more than chance makes: {cycle}"
    if winner is None:
        advice = (
            "No order is right for all of them: show the Smith set beside it; maximal_lotteries gives shares instead."
        )
    else:
        advice = f"The first place is {winner}'s all the same; ranks inside the circle depend on the method."
    yield Finding("caution" if winner is None else "note", "cycles", length, text, advice, cycle.agents)


def limit(m: int) -> float:
    """How strong the weakest link of a cycle must be: z with 2 C(m, 3) P(Z > z)^3 small, for three level agents.

    With it m P(Z > z) stays near 0.06, so that longer cycles are rarer still.
    """
    triples = max(m * (m - 1) * (m - 2) / 6, 1.0)
    return NormalDist().inv_cdf(1 - (ALPHA / (2 * triples)) ** (1 / 3))


def strongest_cycle(pairs: Pairs, tally: Pairs) -> Cycle | None:
    """A shortest one among the cycles of the majority whose weakest link is strongest.

    The strength of a link is its margin in standard deviations of a level pair, in numbers of votes.
    """
    edges = Beats(pairs, tally)
    strongest = edges.strongest_cycle()
    if strongest is None:
        return None
    cycle, strength = strongest
    agents = tuple(pairs.agents[k] for k in cycle)
    return Cycle(agents, edges.margins(cycle), strength, strength > limit(pairs.n_agents))


class Beats:
    """Who beats whom: `winner`, `loser`, `margin` and `strength` of each pair that is not level."""

    def __init__(self, pairs: Pairs, tally: Pairs) -> None:
        decided = pairs.margin != 0
        up = pairs.margin[decided] > 0
        left, right = pairs.left[decided], pairs.right[decided]
        self.m = pairs.n_agents
        self.winner, self.loser = np.where(up, left, right), np.where(up, right, left)
        self.margin = np.abs(pairs.margin[decided])
        votes = (tally.wins + tally.losses)[decided]
        self.strength = np.abs(tally.margin[decided]) / np.sqrt(np.maximum(votes, 1.0))

    def strongest_cycle(self) -> tuple[list[int], float] | None:
        """Agents of the cycle, and the strength of its weakest link: the largest threshold that leaves a cycle."""
        kept = self._on_cycles(np.arange(len(self.winner), dtype=np.int32))
        if not len(kept):
            return None
        levels = np.unique(self.strength[kept])
        low, high = 0, len(levels)
        while high - low > 1:
            middle = (low + high) // 2
            stronger = self._on_cycles(kept[self.strength[kept] >= levels[middle]])
            if len(stronger):
                low, kept = middle, stronger
            else:
                high = middle
        weakest = kept[np.argmin(self.strength[kept])]
        return self._path(kept, int(self.loser[weakest]), int(self.winner[weakest])), float(levels[low])

    def _on_cycles(self, links: Ints) -> Ints:
        """The links that are part of a cycle."""
        label = majority.strongly_connected(*self._rows(links))
        kept: Ints = links[label[self.winner[links]] == label[self.loser[links]]]
        return kept

    def _rows(self, links: Ints) -> tuple[Ints, Ints]:
        source = self.winner[links]
        row = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=self.m))])
        return row, self.loser[links][in_order_of(source, self.m)]

    def _path(self, links: Ints, first: int, last: int) -> list[int]:
        """A shortest way from one agent to another along links, breadth first."""
        row, target = self._rows(links)
        came, front = {first: first}, [first]
        while last not in came:
            reached = [(a, b) for a in front for b in target[row[a] : row[a + 1]].tolist()]
            front = [b for a, b in reached if b not in came and came.setdefault(b, a) == a]
        path = [last]
        while path[-1] != first:
            path.append(came[path[-1]])
        return path[::-1]

    def margins(self, cycle: list[int]) -> tuple[float, ...]:
        """By how much each agent of a cycle beats the next."""
        links = zip(cycle, [*cycle[1:], cycle[0]], strict=True)
        return tuple(float(self.margin[(self.winner == a) & (self.loser == b)][0]) for a, b in links)
