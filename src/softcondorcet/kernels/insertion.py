"""Best-insertion local search on the discrete loss (sum of Kendall-tau distances), on sparse margins.

Take each agent out of the order and put it back where the votes it wins most exceed those it loses; repeat until no
move helps. Only margins count: passing b upwards changes the loss by -margin(a, b). Every move strictly lowers the
loss, so it ends. A Condorcet winner not on top could always be lifted there, so every order that is left alone has
it first (and a Condorcet loser last). One pass costs O(pairs) when rows are full, O(pairs log) when they are short.
"""

import numpy as np

from softcondorcet.kernels.compile import kernel
from softcondorcet.kernels.counting import sort_few


@kernel
def improve_order(row, column, margin, order, passes):
    """Improve `order` (agents, best first) in place. Returns the loss removed and whether a full pass was idle."""
    m = len(order)
    place = np.empty(m, np.int64)
    for k in range(m):
        place[order[k]] = k
    line = np.zeros(m)  # margins of the agent in hand, by the partner's place
    agents = order.copy()
    removed = 0.0
    for _ in range(passes):
        idle = True
        agents[:] = order
        for a in agents:
            here = place[a]
            gain, best = best_place(row, column, margin, place, line, a, here)
            if best != here:
                move(order, place, a, here, best)
                removed += gain
                idle = False
        if idle:
            return removed, True
    return removed, False


@kernel
def best_place(row, column, margin, place, line, a, here):
    """Where to put agent a, and how much loss that removes; `here` and nothing when no place is clearly better.

    Passing partners one by one, upwards and downwards, adds up their margins; the best place is at the highest sum.
    """
    first, last = row[a], row[a + 1]
    top, bottom, size = here, here, 0.0
    for k in range(first, last):
        spot = place[column[k]]
        line[spot] = margin[k]
        size += abs(margin[k])
        top, bottom = min(top, spot), max(bottom, spot)
    gain, best = 1e-12 * size, here  # rounding of the sums must not count as a gain, or the search need not end
    if 32 * (last - first) < bottom - top:  # few partners, far apart: sort them rather than walk all places between
        spots = np.empty(last - first, np.int64)
        for k in range(first, last):
            spots[k - first] = place[column[k]]
        sort_few(spots)
        split = 0
        while split < len(spots) and spots[split] < here:
            split += 1
        total = 0.0
        for k in range(split - 1, -1, -1):
            total += line[spots[k]]
            if total > gain:
                gain, best = total, spots[k]
        total = 0.0
        for k in range(split, len(spots)):
            total -= line[spots[k]]
            if total > gain:
                gain, best = total, spots[k]
    else:
        total = 0.0
        for k in range(here - 1, top - 1, -1):
            total += line[k]
            if total > gain:
                gain, best = total, k
        total = 0.0
        for k in range(here + 1, bottom + 1):
            total -= line[k]
            if total > gain:
                gain, best = total, k
    for k in range(first, last):
        line[place[column[k]]] = 0.0
    return gain, best


@kernel
def move(order, place, a, here, there):
    """Take agent a from one place of the order to another; those between step aside."""
    step = 1 if there > here else -1
    for k in range(here, there, step):
        order[k] = order[k + step]
        place[order[k]] = k
    order[there] = a
    place[a] = there
