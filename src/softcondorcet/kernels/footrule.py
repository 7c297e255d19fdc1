"""Soft Spearman footrule of whole votes: loss and gradient.

In a vote, agent a has the soft place s_a = sum over b of sigma(x_b - x_a) (the expected number of agents above it), and
the mean place t_a of its tier. The loss of the vote is the sum of h(s_a - t_a), with h(u) = sqrt(u^2 + 1/4) - 1/2: the
absolute value, rounded off within half a place so that it has a curvature.
"""

import numpy as np

from softcondorcet.kernels.compile import kernel


@kernel
def footrule_gradient(start, agent, tier, weight, x, gradient):
    """Add the gradient in x of all votes to `gradient`; returns the loss. O(k^2) for a vote of k agents."""
    longest = 0
    for v in range(len(start) - 1):
        longest = max(longest, start[v + 1] - start[v])
    slope = np.empty(longest)
    loss = 0.0
    for v in range(len(start) - 1):
        names, tiers, w = agent[start[v] : start[v + 1]], tier[start[v] : start[v + 1]], weight[v]
        k = len(names)
        first = 0
        while first < k:
            last = first
            while last < k and tiers[last] == tiers[first]:
                last += 1
            for i in range(first, last):
                place = 0.0
                for j in range(k):
                    if j != i:
                        place += 1.0 / (1.0 + np.exp(min(x[names[i]] - x[names[j]], 700.0)))
                off = place - (first + last - 1) / 2
                root = np.sqrt(off * off + 0.25)
                loss += w * (root - 0.5)
                slope[i] = off / root
            first = last
        for i in range(k):
            for j in range(i):
                t = np.exp(-abs(x[names[i]] - x[names[j]]))
                pull = w * (slope[j] - slope[i]) * t / ((1.0 + t) * (1.0 + t))
                gradient[names[i]] += pull
                gradient[names[j]] -= pull
    return loss
