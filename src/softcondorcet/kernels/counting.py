"""Votes into pair counts, in two ways that give the same sums.

Dense, for modest m: ``above[a, b]`` += weight, vote by vote. A vote's inner loop stays inside one row of the matrix,
so it costs about a nanosecond per raw pair.

By rows, for large or sparse m: for agent i, walk the votes that hold i and add each outcome against a partner j > i
to a scratch line of 3 m numbers; then write the touched part of the line out, sorted. Memory is the result plus the
line, however long the votes are; no list of raw pairs is ever built. Rows are independent, so threads can share them
without changing a bit of the sums. Cost: one add per raw pair, plus a counting pass that stops as soon as a row is
full.

Votes with other weights, as a resample has them, go into the pairs that they are known to hold. Where each comparison
of each vote goes is found once (`cells`); after that a resample costs an addition per comparison.
"""

import numpy as np

from softcondorcet.kernels.compile import kernel, lean


@lean
def count_dense(start, agent, tier, weight, above, level):
    """Add each vote to `above[a, b]` (a above b) and `level[a, b]` (a tied with b, once per pair)."""
    for v in range(len(start) - 1):
        names, tiers, w = agent[start[v] : start[v + 1]], tier[start[v] : start[v + 1]], weight[v]
        for x in range(len(names)):
            y = x + 1
            while y < len(names) and tiers[y] == tiers[x]:
                level[names[x], names[y]] += w
                y += 1
            line = above[names[x]]
            for z in range(y, len(names)):
                line[names[z]] += w


@kernel
def sort_entries(start, agent, tier, m):
    """Votes with their entries in order of agent, and for each agent the list of its entries, in order of votes.

    Two counting sorts, no comparison: entries are dealt out to agents, then, agent by agent, back to their votes.
    Returns `agent` and `tier` in the new order, and `begin`, `entry`, `vote`: agent a stands in votes
    ``vote[begin[a]:begin[a + 1]]`` at places ``entry[...]``, so that its partners j > a follow it there.
    """
    begin = np.zeros(m + 1, np.int64)
    for e in range(len(agent)):
        begin[agent[e] + 1] += 1
    for a in range(m):
        begin[a + 1] += begin[a]
    fill = begin[:-1].copy()
    entry = np.empty(len(agent), np.int64)
    vote = np.empty(len(agent), np.int32)
    for v in range(len(start) - 1):
        for e in range(start[v], start[v + 1]):
            a = agent[e]
            entry[fill[a]] = e
            vote[fill[a]] = v
            fill[a] += 1
    by, of = np.empty_like(agent), np.empty_like(tier)
    place = np.empty(len(start) - 1, np.int64)
    for v in range(len(place)):
        place[v] = start[v]
    for a in range(m):
        for k in range(begin[a], begin[a + 1]):
            v = vote[k]
            by[place[v]], of[place[v]] = a, tier[entry[k]]
            entry[k] = place[v]
            place[v] += 1
    return by, of, begin, entry, vote


@kernel
def count_partners(start, agent, begin, entry, vote, first, last):
    """Number of distinct partners j > i of each agent i in [first, last)."""
    m = len(begin) - 1
    stamp = np.full(m, -1, np.int32)
    partners = np.zeros(last - first, np.int64)
    for i in range(first, last):
        found = 0
        for k in range(begin[i], begin[i + 1]):
            for f in range(entry[k] + 1, start[vote[k] + 1]):
                j = agent[f]
                if stamp[j] != i:
                    stamp[j] = i
                    found += 1
            if found == m - 1 - i:
                break
        partners[i - first] = found
    return partners


@lean
def sort_few(values):
    """Shell sort in place: a few lines that compile at once, where numba's own sort takes seconds to."""
    gap = len(values) // 2 if len(values) > 32 else 1
    while gap > 0:
        for k in range(gap, len(values)):
            value, spot = values[k], k
            while spot >= gap and values[spot - gap] > value:
                values[spot] = values[spot - gap]
                spot -= gap
            values[spot] = value
        gap = 1 if gap == 2 else gap * 5 // 11


@kernel
def fill_rows(start, agent, tier, weight, begin, entry, vote, row, right, counts, first, last):
    """Write partners and [wins, losses, ties] of the agents in [first, last) into their places given by `row`."""
    m = len(begin) - 1
    line = np.zeros(3 * m)
    seen = np.zeros(m, np.bool_)
    for i in range(first, last):
        place, size = row[i], row[i + 1] - row[i]
        few = size < (m - i) // 16  # a sort of few partners is cheaper than a walk over all agents
        found = 0
        for k in range(begin[i], begin[i + 1]):
            e, w = entry[k], weight[vote[k]]
            own = tier[e]
            for f in range(e + 1, start[vote[k] + 1]):
                j, other = agent[f], tier[f]
                line[3 * j + (own > other) + 2 * (own == other)] += w
                if few and not seen[j]:
                    right[place + found] = j
                    found += 1
                seen[j] = True
        if few:
            sort_few(right[place : place + size])
        else:
            for j in range(i + 1, m):
                if seen[j]:
                    right[place + found] = j
                    found += 1
        for k in range(place, place + size):
            j = right[k]
            for c in range(3):
                counts[c, k] = line[3 * j + c]
                line[3 * j + c] = 0.0
            seen[j] = False


@lean
def spread_to_both(left, right, forward, backward, begin, next_pair, fill, width, column, value):
    """Sorted pairs into rows by agent: each pair in both rows, `forward` in that of `left`; rows sorted by partner.

    Pairs of `left` = a start at ``begin[a]``; `next_pair` is a copy of that to count up, `fill` says where each row
    goes on. A dense table is turned over in tiles of 64 x `width`, else every write would miss the cache.
    """
    m = len(fill)
    for block in range(0, m, 64):
        for edge in range(width, m + width, width):
            for a in range(block, min(block + 64, m)):
                k = next_pair[a]
                while k < begin[a + 1] and right[k] < edge:
                    place = fill[right[k]]
                    fill[right[k]] = place + 1
                    column[place] = a
                    value[place] = backward[k]
                    k += 1
                next_pair[a] = k
    for k in range(len(left)):
        place = fill[left[k]]
        fill[left[k]] = place + 1
        column[place] = right[k]
        value[place] = forward[k]


@lean
def cells(start, agent, tier, begin, right, cell):
    """For each vote, each two of its entries in turn: 3 k + 0, 1 or 2 for a win, loss or tie of pair k, seen from left.

    Pairs of `left` = a have their `right` agents, sorted, at ``begin[a]:begin[a + 1]``.
    """
    at = 0
    for v in range(len(start) - 1):
        for x in range(start[v], start[v + 1]):
            for y in range(x + 1, start[v + 1]):
                a, b = agent[x], agent[y]
                turned = a > b
                if turned:
                    a, b = b, a
                low, high = begin[a], begin[a + 1] - 1
                while low < high:
                    middle = (low + high) // 2
                    if right[middle] < b:
                        low = middle + 1
                    else:
                        high = middle
                cell[at] = 3 * low + (2 if tier[x] == tier[y] else turned)
                at += 1


@lean
def recount(first, cell, weight, counts):
    """Add each vote's weight to the cells of its comparisons, ``first[v]:first[v + 1]`` of `cell`."""
    for v in range(len(first) - 1):
        if weight[v] != 0.0:
            for at in range(first[v], first[v + 1]):
                counts[cell[at]] += weight[v]
