"""Weng and Lin's updates, vote by vote: means move together, variances shrink.

Both models move the mean of agent i by s_i^2 times the slope of the vote's log-likelihood, and shrink its variance
s_i^2 by the share s_i^2 times its curvature, dampened by the paper's choice gamma = s_i / c.
"""

import numpy as np

from softcondorcet.kernels.batch import exp
from softcondorcet.kernels.bradley_terry import both
from softcondorcet.kernels.compile import lean
from softcondorcet.kernels.elo import FAR


@lean
def plackett_luce_terms(mean, variance, place, size, beta2, slope, shrink, chance):
    """Algorithm 4: each tier is chosen from what is left; c^2 sums variances and noise over the whole vote."""
    total, top = 0.0, mean[0]
    for i in range(size):
        total += variance[i] + beta2
        top = max(top, mean[i])
    c = np.sqrt(total)
    for i in range(size):
        chance[i] = exp(max((mean[i] - top) / c, -FAR))
    left = 0.0
    for i in range(size - 1, -1, -1):  # 1 / (sum of what is left from the tier of i on), at the first of each tier
        left += chance[i]
        slope[i] = 1.0 / left
    once, twice, first = 0.0, 0.0, 0
    while first < size:
        last = first + 1
        while last < size and place[last] == place[first]:
            last += 1
        once += slope[first]
        twice += slope[first] * slope[first]
        for i in range(first, last):
            own = chance[i]
            slope[i] = variance[i] / c * (1.0 / (last - first) - own * once)
            shrink[i] = np.sqrt(variance[i]) / c * variance[i] / total * (own * once - own * own * twice)
        first = last


@lean
def full_pair_terms(mean, variance, place, size, beta2, slope, shrink):
    """Algorithm 1: every pair of the vote is a battle by itself."""
    for i in range(size):
        slope[i] = 0.0
        shrink[i] = 0.0
    for i in range(size):
        for j in range(i + 1, size):
            c2 = variance[i] + variance[j] + 2.0 * beta2
            c = np.sqrt(c2)
            p, q = both((mean[i] - mean[j]) / c)
            won = 0.5 * (q - p) if place[i] == place[j] else q
            slope[i] += variance[i] / c * won
            slope[j] -= variance[j] / c * won
            shrink[i] += np.sqrt(variance[i]) / c * variance[i] / c2 * p * q
            shrink[j] += np.sqrt(variance[j]) / c * variance[j] / c2 * p * q


@lean
def run_weng_lin(mu, sigma2, start, agent, tier, weight, pairs, beta2, drift2, kappa, scratch):
    """One pass over the votes, in place. Returns how often a variance met the floor `kappa` of its former value."""
    mean, variance, slope, shrink, chance = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4]
    floored = 0
    for v in range(len(weight)):
        first, size, w = start[v], start[v + 1] - start[v], weight[v]
        if size < 2 or w == 0.0:
            continue
        who, place = agent[first : first + size], tier[first : first + size]
        for i in range(size):
            mean[i] = mu[who[i]]
            variance[i] = sigma2[who[i]] + drift2
        if pairs:
            full_pair_terms(mean, variance, place, size, beta2, slope, shrink)
        else:
            plackett_luce_terms(mean, variance, place, size, beta2, slope, shrink, chance)
        for i in range(size):
            kept = 1.0 - w * shrink[i]
            if kept < kappa:
                kept = kappa
                floored += 1
            mu[who[i]] = mean[i] + w * slope[i]
            sigma2[who[i]] = variance[i] * kept
    return floored
