"""Gradient of the pairwise family on rows of pairs (``Pairs.by_agent``).

For a pair won by a over b, with p = 1 / (1 + exp(-(x_a - x_b))) and x = ratings / temperature,

    loss = (1 - p^q) / q;    q = 1: the paper's sigmoid loss, eq. (5);    q -> 0: -log p, Bradley-Terry,

so a's gradient per win is -p^q (1 - p), and per loss (1 - p)^q p. For q = 1 the two join to -margin p (1 - p).
Each pair stands in both rows: every agent's gradient is written once, rows can be shared between threads.
"""

import numpy as np

from softcondorcet.kernels.compile import kernel, summing_kernel

# Spread of x up to which exponentials can be used: E_a E_b and (E_a + E_b)^2 stay below 4 e^690 = 1.8e300.
WIDE = 690.0
# Partners handled at a time: their values are gathered into this buffer first, so that the arithmetic vectorises.
BLOCK = 256


@summing_kernel
def sigmoid_gradient(row, column, margin, e, gradient, first, last):
    """The case q = 1 with no exponential per pair: e_a = exp(x_a) gives p (1 - p) = e_a e_b / (e_a + e_b)^2.

    The caller keeps x within +-345, so that the products stay finite.
    """
    near = np.empty(BLOCK)
    for a in range(first, last):
        own, total = e[a], 0.0
        partner, lead = column[row[a] : row[a + 1]], margin[row[a] : row[a + 1]]
        for s in range(0, len(partner), BLOCK):
            size = min(BLOCK, len(partner) - s)
            for k in range(size):
                near[k] = e[partner[s + k]]
            part = lead[s : s + size]
            for k in range(size):
                p = near[k] / (own + near[k])
                total += part[k] * p * (1.0 - p)
        gradient[a] = -total


@summing_kernel
def logistic_gradient(row, column, margin, played, e, gradient, first, last):
    """The convex end q = 0 in the same form: expected wins minus wins."""
    near = np.empty(BLOCK)
    for a in range(first, last):
        own, total = e[a], 0.0
        partner = column[row[a] : row[a + 1]]
        lead, games = margin[row[a] : row[a + 1]], played[row[a] : row[a + 1]]
        for s in range(0, len(partner), BLOCK):
            size = min(BLOCK, len(partner) - s)
            for k in range(size):
                near[k] = e[partner[s + k]]
            part, whole = lead[s : s + size], games[s : s + size]
            for k in range(size):
                total += whole[k] * (own / (own + near[k]) - 0.5) - 0.5 * part[k]
        gradient[a] = total


@kernel
def logistic(d):
    """For a lead d = x_a - x_b, safe at any d: p, 1 - p, log p, log (1 - p)."""
    t = np.exp(-abs(d))
    high, low, log_high = 1.0 / (1.0 + t), t / (1.0 + t), -np.log1p(t)
    if d >= 0:
        return high, low, log_high, log_high - d
    return low, high, log_high + d, log_high


@kernel
def family_gradient(row, column, margin, played, tied, x, q, gradient, first, last):
    """Any q, any spread of x. `played` counts a tie as half a win for each.

    Where `tied` (ties of each pair) is not empty, each tie costs 1/2 - 2 p (1 - p) instead: nothing for equal ratings,
    half a mistake for ratings far apart.
    """
    pull = len(tied) > 0
    for a in range(first, last):
        total = 0.0
        for k in range(row[a], row[a + 1]):
            p, rest, log_p, log_rest = logistic(x[a] - x[column[k]])
            level = tied[k] if pull else 0.0
            won, lost = (played[k] - level + margin[k]) / 2, (played[k] - level - margin[k]) / 2
            total += lost * np.exp(q * log_rest) * p - won * np.exp(q * log_p) * rest
            total += 2.0 * level * p * rest * (p - rest)
        gradient[a] = total
