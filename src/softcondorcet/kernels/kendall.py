"""Inversions by merge sort: the heart of the Kendall-tau distance, O(k log k)."""

import numpy as np

from softcondorcet.kernels.compile import kernel


@kernel
def inversions(values):
    """Pairs i < j with values[i] > values[j]; equal values do not count."""
    now, then = values.copy(), np.empty_like(values)
    k, found, width = len(values), 0, 1
    while width < k:
        for first in range(0, k, 2 * width):
            middle, last = min(first + width, k), min(first + 2 * width, k)
            a, b = first, middle
            for place in range(first, last):
                if b >= last or (a < middle and now[a] <= now[b]):
                    then[place] = now[a]
                    a += 1
                else:
                    then[place] = now[b]
                    found += middle - a
                    b += 1
        now, then = then, now
        width *= 2
    return found
