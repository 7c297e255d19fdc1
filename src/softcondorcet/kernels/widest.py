"""Widest paths between all agents of a component: how strong is the weakest link of the best path?"""

from softcondorcet.kernels.compile import lean


@lean
def widest(path):
    """Floyd and Warshall on a matrix of strengths, in place; 0 is no edge. O(c^3), several cells per nanosecond."""
    for k in range(len(path)):
        for i in range(len(path)):
            if i != k and path[i, k] > 0:
                widen(path[i], path[k], path[i, k])


@lean
def widen(line, through, first):
    """A path by way of k is as strong as the weaker of its halves. Apart from the loop above, this vectorises."""
    for j in range(len(line)):
        line[j] = max(line[j], min(first, through[j]))
