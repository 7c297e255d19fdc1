"""Distances between orders and votes: Kendall-tau inversions, soft Spearman footrule, mistakes on held-out votes.

Inversions are counted by merge sort, in O(k log k). The soft footrule comes with its gradient: in a vote, agent a has
the soft place s_a = sum over b of sigma(x_b - x_a) (the expected number of agents above it), and the mean place t_a
of its tier. The loss of the vote is the sum of h(s_a - t_a), with h(u) = sqrt(u^2 + 1/4) - 1/2: the absolute value,
rounded off within half a place so that it has a curvature. Held-out votes are judged one by one, by mistakes and
log-loss of ratings that have not seen them.
"""

import math

import numpy as np

from softcondorcet.kernels.compile import kernel, lean


@kernel
def inversions(values):
    """Pairs i < j with values[i] > values[j]; equal values do not count."""
    k, found, width = len(values), 0, 1
    now, then = np.empty(k), np.empty(k)
    for place in range(k):
        now[place] = values[place]
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
                        place += 1.0 / (1.0 + math.exp(min(x[names[i]] - x[names[j]], 700.0)))
                off = place - (first + last - 1) / 2
                root = math.sqrt(off * off + 0.25)
                loss += w * (root - 0.5)
                slope[i] = off / root
            first = last
        for i in range(k):
            for j in range(i):
                t = math.exp(-abs(x[names[i]] - x[names[j]]))
                pull = w * (slope[j] - slope[i]) * t / ((1.0 + t) * (1.0 + t))
                gradient[names[i]] += pull
                gradient[names[j]] -= pull
    return loss


@lean
def judge(start, agent, tier, values, unit, mistakes, surprise):
    """For each vote: pairs that the ratings put the other way round, and minus the sum of log-likelihoods of its pairs.

    Equal ratings are half a mistake, and so is a tie in a vote, whatever the ratings. With `unit` 0 ratings are no
    log-odds, and `surprise` is left alone; a tie in a vote counts as half a win for each.
    """
    for v in range(len(start) - 1):
        for i in range(start[v], start[v + 1]):
            for j in range(i + 1, start[v + 1]):
                lead = values[agent[i]] - values[agent[j]]
                tied = tier[i] == tier[j]
                if tied or lead == 0.0:
                    mistakes[v] += 0.5
                elif lead < 0.0:
                    mistakes[v] += 1.0
                if unit > 0.0:
                    d = lead / unit
                    lost = max(-d, 0.0) + math.log1p(math.exp(-abs(d)))
                    surprise[v] += lost + 0.5 * d if tied else lost
