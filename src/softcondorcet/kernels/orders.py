"""Exact orders of few agents, and the cycles that stand in the way of more: what ``kemeny`` is made of.

`margin` is a full matrix, margin[a, b] = -margin[b, a] > 0 where a beats b; the loss of an order is the sum of the
margins it contradicts.
"""

import numpy as np

from softcondorcet.kernels.compile import kernel


@kernel
def subset_losses(margin):
    """Smallest loss of ordering each subset S of c agents among themselves, as an array of 2^c numbers.

    best[S] = min over a in S of best[S - a] + (what placing a below all of S - a contradicts). That cost is a sum over
    S - a, looked up in two halves, so that a subset costs one pass over its members: O(2^c c) in all.
    """
    c = len(margin)
    half = c // 2
    low, high = np.zeros((c, 1 << half)), np.zeros((c, 1 << (c - half)))
    for a in range(c):
        for s in range(1, 1 << half):
            b = 0
            while not (s >> b) & 1:
                b += 1
            low[a, s] = low[a, s & (s - 1)] + max(margin[a, b], 0.0)
        for s in range(1, 1 << (c - half)):
            b = 0
            while not (s >> b) & 1:
                b += 1
            high[a, s] = high[a, s & (s - 1)] + max(margin[a, half + b], 0.0)
    best = np.empty(1 << c)
    best[0] = 0.0
    mask = (1 << half) - 1
    for s in range(1, 1 << c):
        least = np.inf
        for a in range(c):
            if (s >> a) & 1:
                rest = s ^ (1 << a)
                least = min(least, best[rest] + low[a, rest & mask] + high[a, rest >> half])
        best[s] = least
    return best


@kernel
def trace_order(margin, best):
    """An order of the whole set with the loss that `subset_losses` found, from the last place up."""
    c = len(margin)
    order = np.empty(c, np.int64)
    s = (1 << c) - 1
    for place in range(c - 1, -1, -1):
        least = np.inf
        for a in range(c):
            if (s >> a) & 1:
                cost = best[s ^ (1 << a)]
                for b in range(c):
                    if b != a and (s >> b) & 1:
                        cost += max(margin[a, b], 0.0)
                if cost < least:
                    least, order[place] = cost, a
        s ^= 1 << order[place]
    return order


@kernel
def broken_triples(x, each, found):
    """Triples i < j < k whose x_ij + x_jk - x_ik leaves [0, 1] clearly: rows (i, j, k, 1 above or 0 below).

    x[i, j] says how far i stands above j. At most `each` per pair i, j, so that the cuts spread; returns how many.
    """
    m, count = len(x), 0
    for i in range(m):
        for j in range(i + 1, m):
            taken = 0
            for k in range(j + 1, m):
                total = x[i, j] + x[j, k] - x[i, k]
                if total > 1.0 + 1e-6 or total < -1e-6:
                    if count == len(found):
                        return count
                    found[count, 0] = i
                    found[count, 1] = j
                    found[count, 2] = k
                    found[count, 3] = total > 1.0
                    count += 1
                    taken += 1
                    if taken == each:
                        break
    return count


@kernel
def packed_cycles(row, column, margin, place, left):
    """A lower bound on the loss: 3-cycles of the majority that share no margin, each costing its smallest one.

    For each pair the order contradicts (b above a although a beats b), looks for agents k with b beats k beats a, and
    takes what is left of all three margins. `left` starts as a copy of `margin` and keeps what is unused.
    """
    m, bound = len(row) - 1, 0.0
    spot = np.full(m, -1, np.int64)
    for a in range(m):
        for e in range(row[a], row[a + 1]):
            spot[column[e]] = e
        for e in range(row[a], row[a + 1]):
            b = column[e]
            if left[e] <= 0.0 or place[b] > place[a]:
                continue
            for f in range(row[b], row[b + 1]):  # b beats k?
                k = column[f]
                back = spot[k]
                if left[f] <= 0.0 or back < 0 or left[back] >= 0.0 or k == a:
                    continue
                take = min(left[e], left[f], -left[back])
                bound += take
                left[e] -= take
                left[f] -= take
                left[back] += take
                mirror(row, column, left, b, a, take)
                mirror(row, column, left, k, b, take)
                mirror(row, column, left, k, a, -take)
                if left[e] <= 0.0:
                    break
        for e in range(row[a], row[a + 1]):
            spot[column[e]] = -1
    return bound


@kernel
def mirror(row, column, left, a, b, take):
    """Keep row a in step with row b: what left[b, a] lost, left[a, b] gains."""
    first, last = row[a], row[a + 1]
    while last - first > 1:
        middle = (first + last) // 2
        if column[middle] <= b:
            first = middle
        else:
            last = middle
    left[first] += take
