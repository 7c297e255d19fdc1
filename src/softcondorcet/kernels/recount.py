"""Votes with other weights into the pairs they are known to hold: what counting a resample takes.

Where each comparison of each vote goes is found once (`cells`); after that a resample costs an addition per comparison.
"""

from softcondorcet.kernels.compile import lean


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
