"""KwikSort: quicksort by the majority, which need not be an order."""

import numpy as np

from softcondorcet.kernels.batch import GOLDEN, uniform
from softcondorcet.kernels.compile import lean


@lean
def pivot_order(row, column, margin, order, line, hold, stack, state):
    """Sort `order` in place: an agent drawn as pivot, those that beat it above, those it beats below, and so on.

    An agent that neither beats the pivot nor is beaten goes to either side by chance. `line`, all zero, and `hold` are
    room for one entry per agent, `stack` for two.
    """
    counter, stack[0], stack[1], depth = state[0], 0, len(order), 1
    while depth > 0:
        depth -= 1
        first, last = stack[2 * depth], stack[2 * depth + 1]
        if last - first < 2:
            continue
        counter += GOLDEN
        pivot = order[first + np.int64(uniform(counter) * (last - first))]
        for e in range(row[pivot], row[pivot + 1]):
            line[column[e]] = margin[e]
        above, below = first, 0
        for k in range(first, last):
            a = order[k]
            if a == pivot:
                continue
            up = line[a] < 0.0
            if line[a] == 0.0:
                counter += GOLDEN
                up = uniform(counter) < 0.5
            if up:
                order[above] = a
                above += 1
            else:
                hold[below] = a
                below += 1
        for e in range(row[pivot], row[pivot + 1]):
            line[column[e]] = 0.0
        order[above] = pivot
        for k in range(below):
            order[above + 1 + k] = hold[k]
        stack[2 * depth], stack[2 * depth + 1] = first, above
        stack[2 * depth + 2], stack[2 * depth + 3] = above + 1, last
        depth += 2
    state[0] = counter
