"""How many agents can be reached from each one in a graph without cycles, by bit masks; and parts of graphs."""

import numpy as np

from softcondorcet.kernels.compile import lean


@lean
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
