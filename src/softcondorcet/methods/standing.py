"""Ratings for rules that give an order, or less: who is above whom.

An agent is rated by the number of agents below it, plus half of those neither above nor below. For a full order that
is the number of places from the bottom; agents that share a place get the mean of the places they cover. For a
relation that is only a partial order it is an order that contradicts nothing: if a is above b, then all that is below
b is below a too, and a itself has less above it. Nothing depends on the listing of the agents.
"""

from __future__ import annotations

import numpy as np

from softcondorcet.arrays import Floats, Ints
from softcondorcet.kernels import reach
from softcondorcet.pairs import Pairs

# A window of 512 agents: one cache line per agent or group.
_WORDS = 8


def chosen(pairs: Pairs, kept: Ints | np.ndarray) -> Pairs:
    """Some of the pairs."""
    counts = (column[kept] for column in (pairs.wins, pairs.losses, pairs.ties))
    return Pairs(pairs.agents, pairs.left[kept], pairs.right[kept], *counts)


def standing(below: Ints, above: Ints) -> Floats:
    """Agents below, and half of those neither above nor below."""
    return (len(below) - 1 + below - above) / 2


def places(level: Floats | Ints) -> Floats:
    """The same for agents in levels, the highest best."""
    ascending = np.sort(level)
    below = np.searchsorted(ascending, level, side="left")
    return standing(below, len(level) - np.searchsorted(ascending, level, side="right"))


def reach_counts(source: Ints, target: Ints, label: Ints) -> tuple[Ints, Ints]:
    """How many agents each one leads to along edges, and how many lead to it; those of its own group do not count.

    Groups are numbered by `label` so that no edge leads to a lower number; edges inside a group are passed over.
    """
    last = int(label.max(initial=-1))
    return _reached(source, target, label), _reached(target, source, last - label)


def _reached(source: Ints, target: Ints, label: Ints) -> Ints:
    size = np.bincount(label)
    begin = np.concatenate([[0], np.cumsum(size)])
    tail, head = label[source], label[target]
    between = np.flatnonzero(tail != head)
    tail, head = tail[between], head[between]
    row = np.concatenate([[0], np.cumsum(np.bincount(tail, minlength=len(size)))])
    count, mask = np.zeros(len(size), dtype=np.int64), np.zeros((len(size), _WORDS), dtype=np.uint64)
    reach.reached(row, head[np.argsort(tail, kind="stable")], begin, mask, count)
    return count[label]
