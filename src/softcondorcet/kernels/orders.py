"""Exact orders of few agents, and the cycles that stand in the way of more: what ``kemeny`` is made of.

`margin` is a full matrix, margin[a, b] = -margin[b, a] > 0 where a beats b; the loss of an order is the sum of the
margins it contradicts.
"""

import numpy as np

from softcondorcet.arrays import Floats, Ints
from softcondorcet.kernels.compile import kernel, lean


def subset_losses(margin: Floats) -> Floats:
    """Smallest loss of ordering each subset S of c agents among themselves, as an array of 2^c numbers.

    best[S] = min over a in S of best[S - a] + (what placing a below all of S - a contradicts). That cost is a sum over
    S - a, looked up in two halves, so that a subset costs one pass over its members: O(2^c c) in all.
    """
    lost, half = np.maximum(margin, 0), len(margin) // 2
    best = np.zeros(1 << len(margin))
    fill_subsets(subset_sums(lost[:, :half]), subset_sums(lost[:, half:]), best)
    return best


def subset_sums(values: Floats) -> Floats:
    """Of each row, the sum over every subset of its columns."""
    sums = np.zeros((len(values), 1))
    for column in values.T:
        sums = np.concatenate([sums, sums + column[:, None]], axis=1)
    return sums


@lean
def fill_subsets(low, high, best):
    c, half, mask = len(low), len(low) // 2, low.shape[1] - 1
    for s in range(1, len(best)):
        least = np.inf
        for a in range(c):
            if (s >> a) & 1:
                rest = s ^ (1 << a)
                least = min(least, best[rest] + low[a, rest & mask] + high[a, rest >> half])
        best[s] = least


def trace_order(margin: Floats, best: Floats) -> Ints:
    """An order of the whole set with the loss that `subset_losses` found, from the last place up."""
    lost, left = np.maximum(margin, 0), np.arange(len(margin))
    order = []
    while len(left):
        below = best[(1 << left).sum() ^ (1 << left)] + lost[np.ix_(left, left)].sum(axis=1)
        order.append(left[below.argmin()])
        left = np.delete(left, below.argmin())
    return np.array(order[::-1], dtype=np.int64)


@kernel
def fill_optima(cost, best, within, above, count, far):
    """Of every subset: how many of its orders have the loss that `subset_losses` found, or at most `within` times it,

    and the smallest sum over them of above[a, b] for a placed below b. At most 20 agents; O(2^c c^2).
    """
    c = len(cost)
    count[0], far[0] = 1, 0.0
    for s in range(1, 1 << c):
        count[s], far[s] = 0, np.inf
        for a in range(c):
            if (s >> a) & 1:
                rest = s ^ (1 << a)
                total, wrong = best[rest], far[rest]
                for b in range(c):
                    if (rest >> b) & 1:
                        total += cost[a, b]
                        wrong += above[a, b]
                if total <= best[s] * within:
                    count[s] += count[rest]
                    far[s] = min(far[s], wrong)


@kernel
def forced_losses(margin, best):
    """Smallest loss of an order of the whole set that puts b above a, for every pair: forced[b, a].

    Such an order has a top part S with b in it and a not. S above the rest costs best[S] + best[rest] + what that
    contradicts between them, so the smallest such sum is exact. O(2^c c), as long as few sums improve on others.
    """
    c = len(margin)
    everyone = (1 << c) - 1
    between = np.zeros(1 << c)
    forced = np.full((c, c), np.inf)
    for a in range(c):
        forced[a, a] = 0.0
    worst = np.inf
    for s in range(1, everyone):
        a = 0
        while not (s >> a) & 1:
            a += 1
        rest = s & (s - 1)
        total = between[rest]
        for b in range(c):
            if b != a:
                total += -max(margin[a, b], 0.0) if (rest >> b) & 1 else max(margin[b, a], 0.0)
        between[s] = total
        loss = best[s] + best[everyone ^ s] + total
        if loss < worst:
            worst = 0.0
            for b in range(c):
                for a in range(c):
                    if (s >> b) & 1 and not (s >> a) & 1:
                        forced[b, a] = min(forced[b, a], loss)
                    worst = max(worst, forced[b, a])
    return forced


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
