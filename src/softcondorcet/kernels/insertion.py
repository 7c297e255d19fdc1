"""Best-insertion local search on the discrete loss (sum of Kendall-tau distances), on sparse margins.

Take each agent out of the order and put it back where the votes it wins most exceed those it loses; repeat until no
move helps. Only margins count: passing b upwards changes the loss by -margin(a, b). Every move strictly lowers the
loss, so it ends. A Condorcet winner not on top could always be lifted there, so every order that is left alone has
it first (and a Condorcet loser last). One pass costs O(pairs) when rows are full, O(pairs log) when they are short.
"""

import numpy as np

from softcondorcet.arrays import Floats, Ints
from softcondorcet.kernels.compile import lean
from softcondorcet.kernels.counting import sort_few


def improve_order(row: Ints, column: Ints, margin: Floats, order: Ints, passes: int) -> tuple[float, bool]:
    """Improve `order` (agents, best first) in place. Returns the loss removed and whether a full pass was idle."""
    place, agents, spots = np.empty((3, len(order)), np.int64)
    removed, idle = improve(row, column, margin, order, passes, place, agents, spots, np.zeros(len(order)))
    return float(removed), bool(idle)


@lean
def improve(row, column, margin, order, passes, place, agents, spots, line):
    """The search, with room to work in: `line` holds the margins of the agent in hand by the partner's place."""
    m = len(order)
    for k in range(m):
        place[order[k]] = k
    removed = 0.0
    for _ in range(passes):
        idle = True
        for k in range(m):  # a loop, not agents[:] = order: that takes numba seconds to compile
            agents[k] = order[k]
        for turn in range(m):
            a = agents[turn]
            here = place[a]
            gain, there = best_place(row, column, margin, place, line, spots, a, here)
            if there == here:
                continue
            idle = False
            removed += gain
            step = 1 if there > here else -1
            for k in range(here, there, step):
                order[k] = order[k + step]
                place[order[k]] = k
            order[there] = a
            place[a] = there
        if idle:
            return removed, True
    return removed, False


@lean
def best_place(row, column, margin, place, line, spots, a, here):
    """Where to put agent a, and how much loss that removes; `here` and nothing when no place is clearly better.

    Passing partners one by one, upwards and downwards, adds up their margins; the best place is at the highest sum.
    """
    first, last = row[a], row[a + 1]
    top, bottom, size, found = here, here, 0.0, 0
    for k in range(first, last):
        spot = place[column[k]]
        line[spot] = margin[k]
        spots[k - first] = spot
        size += abs(margin[k])
        top, bottom = min(top, spot), max(bottom, spot)
    if 32 * (last - first) < bottom - top:  # few partners, far apart: sort them rather than walk all places between
        found = last - first
        sort_few(spots[:found])
    else:
        for k in range(top, bottom + 1):
            if line[k] != 0.0:
                spots[found] = k
                found += 1
    split = 0
    while split < found and spots[split] < here:
        split += 1
    gain, best = 1e-12 * size, here  # rounding of the sums must not count as a gain, or the search need not end
    total = 0.0
    for k in range(split - 1, -1, -1):
        total += line[spots[k]]
        if total > gain:
            gain, best = total, spots[k]
    total = 0.0
    for k in range(split, found):
        total -= line[spots[k]]
        if total > gain:
            gain, best = total, spots[k]
    for k in range(found):
        line[spots[k]] = 0.0
    return gain, best
