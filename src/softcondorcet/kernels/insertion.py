"""Moving one agent of an order at a time, on sparse margins: best insertion, and insertion by chance at a temperature.

Take an agent out of the order and put it back where the votes it wins most exceed those it loses. Only margins count:
passing b upwards changes the loss by -margin(a, b), so one walk along its partners says what every place costs.

`improve` repeats that until no move helps. Every move strictly lowers the loss, so it ends. A Condorcet winner
not on top could always be lifted there, so every order that is left alone has it first (and a Condorcet loser last).
`stir` draws the place instead, with probability in proportion to exp(-loss / heat), as annealing wants it.

One pass costs O(pairs) when rows are full, O(pairs log) when they are short.
"""

import math

import numpy as np

from softcondorcet.kernels.batch import GOLDEN, uniform
from softcondorcet.kernels.compile import lean
from softcondorcet.kernels.counting import sort_few


@lean
def improve(row, column, margin, order, passes, stale, place, agents, spots, line):
    """The search, with room to work in: `line` holds the margins of the agent in hand by the partner's place.

    An agent that found no better place will find none until one of its partners moves: others only shift the places
    between which its partners stand. So each move makes the partners of the agent stale, and only those are asked.
    """
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
            if not stale[a]:
                continue
            stale[a] = False
            gain, there = best_place(row, column, margin, place, line, spots, a, place[a])
            if there != place[a]:
                idle = False
                removed += gain
                move(order, place, a, there)
                for k in range(row[a], row[a + 1]):
                    stale[column[k]] = True
        if idle:
            return removed, True
    return removed, False


@lean
def stir(row, column, margin, order, place, spots, line, cost, heat, state):
    """As many draws as there are agents: an agent by chance, and a place for it by chance, lower losses more likely.

    `place` says where each agent stands in `order`; both follow the moves. `state` is the generator's counter.
    """
    m, counter = len(order), state[0]
    for _ in range(m):
        counter += GOLDEN
        a = np.int64(uniform(counter) * m)
        here = place[a]
        found, split = line_up(row, column, margin, place, line, spots, a, here)
        least, total = 0.0, 0.0
        for k in range(split - 1, -1, -1):
            total -= line[spots[k]]
            cost[k] = total
            least = min(least, total)
        total = 0.0
        for k in range(split, found):
            total += line[spots[k]]
            cost[k] = total
            least = min(least, total)
        stay = math.exp(least / heat)
        total = stay
        for k in range(found):
            line[spots[k]] = 0.0
            cost[k] = math.exp((least - cost[k]) / heat) if cost[k] - least < 20.0 * heat else 0.0
            total += cost[k]
        counter += GOLDEN
        left = uniform(counter) * total - stay
        if left > 0.0:
            k = 0
            while left > cost[k] and k < found - 1:
                left -= cost[k]
                k += 1
            move(order, place, a, spots[k])
    state[0] = counter


@lean
def move(order, place, a, there):
    """Put agent a where `there` is; those between make room."""
    here = place[a]
    step = 1 if there > here else -1
    for k in range(here, there, step):
        order[k] = order[k + step]
        place[order[k]] = k
    order[there] = a
    place[a] = there


@lean
def best_place(row, column, margin, place, line, spots, a, here):
    """Where to put agent a, and how much loss that removes; `here` and nothing when no place is clearly better.

    Passing partners one by one, upwards and downwards, adds up their margins; the best place is at the highest sum.
    """
    found, split = line_up(row, column, margin, place, line, spots, a, here)
    size = 0.0
    for k in range(found):
        size += abs(line[spots[k]])
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


@lean
def line_up(row, column, margin, place, line, spots, a, here):
    """The places of agent a's partners in `spots`, sorted, and its margins over them in `line`, by place.

    Returns how many they are, and how many of them stand above a.
    """
    first, last = row[a], row[a + 1]
    top, bottom, found = here, here, 0
    for k in range(first, last):
        spot = place[column[k]]
        line[spot] = margin[k]
        spots[k - first] = spot
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
    return found, split
