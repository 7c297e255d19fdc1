"""Agents that many votes hold together, found by using the votes up forest by forest."""

from softcondorcet.kernels.compile import lean


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
