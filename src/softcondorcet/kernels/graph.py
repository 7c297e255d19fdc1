"""Connected and strongly connected components of sparse graphs, without recursion."""

import numpy as np

from softcondorcet.arrays import Ints
from softcondorcet.kernels.compile import kernel, lean


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


def strong(row: Ints, target: Ints) -> Ints:
    """Number of each agent's strongly connected component, counted from the sources down (Tarjan, 1972).

    Edges of agent a lead to ``target[row[a]:row[a + 1]]``. An edge between components leads to a higher number.
    """
    m = len(row) - 1
    label = np.full(m, -1)
    count: int = visit(row, target, label, np.full(m, -1), *np.zeros((3, m), dtype=np.int64), row[:-1].copy())
    return count - 1 - label  # Tarjan finishes sinks first


@lean
def visit(row, target, label, found, low, path, stack, edge):
    """Label the components, sinks first; returns how many. Agents on the stack are those found but not labelled."""
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
