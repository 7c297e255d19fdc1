"""Sparse graphs: connected and strongly connected components, reachability, parts, and well-connected cores.

Nothing here recurses. Reachability in a graph without cycles is counted by bit masks. Agents that many votes hold
together are found by using the votes up forest by forest.
"""

import numpy as np

from softcondorcet.kernels.compile import fused, kernel, lean


@kernel
def connected(left, right, linked, m):
    """A representative for each agent, the same for all agents joined by linked pairs (union-find, path halving)."""
    parent = np.empty(m, np.int64)
    for a in range(m):
        parent[a] = a
    for k in range(len(left)):
        if not linked[k]:
            continue
        a, b = np.int64(left[k]), np.int64(right[k])
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        if a < b:
            parent[b] = a
        else:
            parent[a] = b
    for a in range(m):
        parent[a] = parent[parent[a]]  # a parent has a smaller number, so it is settled already
    return parent


@lean
def visit(row, target, label, found, low, path, stack, edge):
    """Label strongly connected components, sinks first; returns how many (Tarjan, 1972).

    Edges of agent a lead to ``target[row[a]:row[a + 1]]``. Agents on the stack are those found but not labelled.
    """
    clock, components, stacked = 0, 0, 0
    for root in range(len(label)):
        if found[root] >= 0:
            continue
        depth = 0
        path[0] = root
        while depth >= 0:
            a = path[depth]
            if found[a] < 0:
                found[a] = low[a] = clock
                clock += 1
                stack[stacked] = a
                stacked += 1
            if edge[a] < row[a + 1]:
                b = target[edge[a]]
                edge[a] += 1
                if found[b] < 0:
                    depth += 1
                    path[depth] = b
                elif label[b] < 0:
                    low[a] = min(low[a], found[b])
                continue
            if low[a] == found[a]:
                last = -1
                while last != a:
                    stacked -= 1
                    last = stack[stacked]
                    label[last] = components
                components += 1
            depth -= 1
            if depth >= 0:
                low[path[depth]] = min(low[path[depth]], low[a])
    return components


@fused
def popcount(x):
    """Ones among 64 bits (LLVM knows these lines and makes one instruction of them)."""
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@lean
def reached(row, target, begin, mask, count):
    """Add to count[g] the number of agents in the groups that group g leads to, directly or not, without its own.

    Group g leads to the groups ``target[row[g]:row[g + 1]]``, all of higher numbers, and holds the agents
    ``begin[g]:begin[g + 1]``. Agents are taken in windows as wide as a line of `mask`, the scratch: one pass over the
    groups from the last to the first finds which agents of the window each group reaches. O(edges x agents / 64).
    """
    groups, words = mask.shape
    last = 0
    for low in range(0, begin[groups], 64 * words):
        high = min(low + 64 * words, begin[groups])
        while last < groups and begin[last] < high:
            last += 1
        for g in range(last - 1, -1, -1):  # no group from `last` on has an agent in the window, or leads to one
            for w in range(words):
                mask[g, w] = np.uint64(0)
            for e in range(row[g], row[g + 1]):
                if target[e] < last:
                    for w in range(words):
                        mask[g, w] |= mask[target[e], w]
            for w in range(words):
                count[g] += popcount(mask[g, w])
            for bit in range(max(begin[g], low) - low, min(begin[g + 1], high) - low):
                mask[g, bit // 64] |= np.uint64(1) << np.uint64(bit % 64)


@lean
def subgraph(row, target, agents, number, inner_row, inner_target):
    """Edges among some agents, whose place in `agents` is in `number` (-1 for all others). Returns how many."""
    edges = 0
    for k in range(len(agents)):
        for e in range(row[agents[k]], row[agents[k] + 1]):
            inner = number[target[e]]
            if inner >= 0:
                inner_target[edges] = inner
                edges += 1
        inner_row[k + 1] = edges
    return edges


@lean
def root(parent, a):
    """The representative of a, with the path to it halved."""
    while parent[a] != a:
        parent[a] = parent[parent[a]]
        a = parent[a]
    return a


@lean
def merge(start, member, left, label, forests, parent):
    """Give agents one label that more than `forests` votes join, as far as one sweep can tell.

    Vote v joins ``member[start[v]:start[v + 1]]``, labels of agents, and may be used ``left[v]`` times. Each forest
    uses every vote that joins what it has not joined yet once; what is left over after the last joins agents that
    each forest had joined as well. `left` and `parent` are scratch; labels are those of agents and point to themselves.
    """
    n, m = len(start) - 1, len(label)
    for _ in range(forests):
        for a in range(m):
            parent[a] = a
        for v in range(n):
            if left[v] == 0:
                continue
            first = root(parent, member[start[v]])
            joins = False
            for e in range(start[v] + 1, start[v + 1]):
                other = root(parent, member[e])
                if other != first:
                    parent[other] = first
                    joins = True
            if joins:
                left[v] -= 1
    for v in range(n):
        if left[v] > 0:
            first = root(label, member[start[v]])
            for e in range(start[v] + 1, start[v + 1]):
                other = root(label, member[e])
                if other != first:
                    label[other] = first
    for a in range(m):
        label[a] = root(label, a)


@lean
def relate(row, column, margin, order, place, best, worst, above, below):
    """Of all agents below each one, the best rating, and how many stand one below the other; of those above, the worst.

    `best` and `worst` come with the ratings; a is above b where they have a margin and a comes first in the order.
    """
    for k in range(len(order) - 1, -1, -1):
        a = order[k]
        for j in range(row[a], row[a + 1]):
            b = column[j]
            if margin[j] != 0.0 and place[b] > k:
                best[a] = max(best[a], best[b])
                below[a] = max(below[a], below[b] + 1)
    for k in range(len(order)):
        a = order[k]
        for j in range(row[a], row[a + 1]):
            b = column[j]
            if margin[j] != 0.0 and place[b] < k:
                worst[a] = min(worst[a], worst[b])
                above[a] = max(above[a], above[b] + 1)
