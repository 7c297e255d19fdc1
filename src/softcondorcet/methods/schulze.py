"""Schulze: a is above b if the best path of victories from a to b is stronger than the best one back.

A path is as strong as its weakest victory; the best path from a to b has strength p(a, b), 0 if there is none. A
victory needs a positive margin; its strength is that margin, or the votes won. "Above" is transitive (Schulze, 2011),
though two agents may stay level: both paths missing, or equally strong. A rating counts the agents below, plus half
of those neither above nor below (``result``). Several agents may be unbeaten, no agent being above them, and yet
differ in how many are below: then a warning names them all.

Matrices of paths are needed only inside small groups. Let G_1, G_2, ... be the graphs of the victories at least as
strong as w_1 < w_2 < ..., all the strengths there are; p(a, b) >= w_k means that a leads to b in G_k. Call all agents
the one group of G_0, and the strongly connected components of G_k its groups. *Two agents in one group of G_k-1 but
not of G_k: a is above b if and only if a leads to b in G_k, along edges inside that group of G_k-1.* Proof: both paths
are at least as strong as w_k-1, and not both reach w_k, or they would share a group of G_k. So if a leads to b in G_k
then b does not to a, and p(a, b) >= w_k > p(b, a); if neither leads to the other both strengths are exactly w_k-1 (or
0). And an agent on a path in G_k from a to b is reached from a and leads on to b, which leads back to a in G_k-1: it
is in the group. So each pair is settled once, at the k that parts it, by counting along a graph without cycles; a
group that stays together goes on to k + 1. Agents of different components of the majority are settled at k = 1.

A group small enough is settled at once by the matrix of its widest paths (Floyd and Warshall), O(c^3); a large one by
going on. Which is quicker depends on the number of distinct strengths: few in sparse data, many in dense.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from softcondorcet.arrays import Ints
from softcondorcet.checks import one_of
from softcondorcet.exact_sums import difference
from softcondorcet.formatting import some
from softcondorcet.kernels.voting import widest
from softcondorcet.majority import strong_labels, victories
from softcondorcet.methods.result import Data, chosen, rated, reach_counts, standing
from softcondorcet.pairs import Pairs, as_pairs
from softcondorcet.ratings import Ratings

# A cell of the matrix costs 0.2 to 0.5 ns per agent, an edge about 30 ns per distinct strength.
_EDGE = 100
# A matrix of 20,000 agents takes 1.6 GB, and hours.
_MATRIX = 20_000


def schulze(data: Data, *, strength: str = "margins") -> Ratings:
    """Places from the bottom by strongest paths; `strength` of a victory: its "margins" or its "wins".

    >>> from softcondorcet import Profile
    >>> cycle = Profile.from_rankings([["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]], weights=[4, 3, 2])
    >>> schulze(cycle).order
    ['a', 'b', 'c']
    """
    pairs = as_pairs(data)
    one_of("strength", ("margins", "wins"), strength)
    below, above = strongest_paths(pairs, strength)
    board = rated(data, standing(below, above), "schulze", {"strength": strength})
    unbeaten = [pairs.agents[k] for k in np.flatnonzero(above == 0)]
    if len(unbeaten) in (1, int((board.ranks == 1).sum())):
        return board
    note = f"{len(unbeaten)} agents are unbeaten, and first are those above most others; unbeaten: {some(unbeaten)}"
    return replace(board, warnings=(*board.warnings, note))


def strongest_paths(pairs: Pairs, strength: str, edge: int = _EDGE) -> tuple[Ints, Ints]:
    """Number of agents below and above each one. `edge`: what an edge costs for each distinct strength, in cells."""
    below, above = np.zeros((2, pairs.n_agents), dtype=np.int64)
    inside = chosen(pairs, pairs.margin != 0)
    won = np.maximum(inside.wins, inside.losses)
    force = np.abs(inside.margin) if strength == "margins" else difference(won, np.zeros(len(won)))
    while len(inside):
        label = strong_labels(inside, by="majority")
        down, up = reach_counts(*victories(inside), label)
        below += down
        above += up
        large = np.zeros(len(inside), dtype=bool)
        for members in _groups(inside, label):
            agents = np.unique(np.concatenate([inside.left[members], inside.right[members]]))
            strengths = np.unique(force[members])
            if len(agents) <= _MATRIX and len(agents) ** 3 <= edge * len(strengths) * len(members):
                code = np.searchsorted(strengths, force[members]) + 1
                down, up = _by_matrix(chosen(inside, members), agents, code)
                below[agents] += down
                above[agents] += up
            else:
                large[members] = True
        large &= force > force[large].min(initial=np.inf)
        inside, force = chosen(inside, large), force[large]
    return below, above


def _groups(pairs: Pairs, label: Ints) -> Iterator[Ints]:
    """Numbers of the pairs inside each group that has any."""
    group = label[pairs.left]
    inner = np.flatnonzero(group == label[pairs.right])
    inner = inner[np.argsort(group[inner], kind="stable")]
    yield from np.split(inner, np.flatnonzero(np.diff(group[inner])) + 1) if len(inner) else ()


def _by_matrix(pairs: Pairs, agents: Ints, code: Ints) -> tuple[Ints, Ints]:
    """Agents below and above each of a few, from all their widest paths; strengths are coded 1, 2, 3 ..."""
    path = np.zeros((len(agents), len(agents)), dtype=np.int32)
    left, right = np.searchsorted(agents, pairs.left), np.searchsorted(agents, pairs.right)
    won = pairs.margin > 0
    path[np.where(won, left, right), np.where(won, right, left)] = code
    widest(path)
    stronger = path > path.T
    return stronger.sum(axis=1), stronger.sum(axis=0)
