"""The online filter: a mean and a variance for each agent, moved by every pair of a vote (Glickman, 1999, whole votes).

Before a vote the variance of each agent in it grows by `per_second` for each second since its last vote and by
`per_vote`, up to `most`. Then over all pairs (i, j) of the vote, from the means before it, with y = 1, 1/2 or 0,

    g_j = 1 / sqrt(1 + 3 v_j / pi^2),    p = s(g_j (mu_i - mu_j)),    s the logistic function,
    G_i += c g_j (y - p),    H_i += c g_j^2 p (1 - p),

and v_i <- 1 / (1 / v_i + H_i), mu_i <- mu_i + v_i G_i. Each pair of a vote of k agents counts c = 1 / (1 + overlap
(k - 2)), since such pairs say much the same: a battle counts 1. A weight w is w votes in a row, of at most 1 each.

`sharp` takes the slope of the sigmoid loss, twice p (1 - p), in place of 1 - p where the vote puts the winner first:
equal for level agents, next to nothing for an upset that no change of ratings would explain. A tie then has no slope.

The chance of i over j is s(a d), with d the difference of the means over sqrt(1 + 3 (v_i + v_j) / pi^2). Where `rate`
is not 0, log a follows the votes that were predicted by it: `scale` holds a and the sum of its squared slopes.
"""

import math

import numpy as np

from softcondorcet.kernels.batch import exp
from softcondorcet.kernels.bradley_terry import both
from softcondorcet.kernels.compile import fused

SPREAD = 3.0 / math.pi**2
MOST_STEPS = 1_000  # heavier votes are cut into so many steps
LEVEL = 1e-12  # differences that rounding leaves of equal ratings


@fused
def grow(variance, last, now, most, per_second, per_vote):
    """The variance of an agent before a vote; nan is a time that nobody knows."""
    passed = now - last
    if passed > 0.0:  # False for nan
        variance += per_second * passed
    return min(variance + per_vote, max(most, variance))


@fused
def look(mean, variance, tier, size, scale, rate):
    """Predict a vote: the pairs it puts the other way round, minus their log-likelihood; then move the scale."""
    wrong, surprise, slope = 0.0, 0.0, 0.0
    for i in range(size):
        for j in range(i + 1, size):
            d = (mean[i] - mean[j]) / math.sqrt(1.0 + SPREAD * (variance[i] + variance[j]))
            tied = tier[i] == tier[j]
            if tied or abs(d) < LEVEL:
                wrong += 0.5
            elif d < 0.0:
                wrong += 1.0
            x = scale[0] * d
            lost = max(-x, 0.0) + math.log1p(math.exp(-abs(x)))
            surprise += lost + 0.5 * x if tied else lost
            p, q = both(x)
            slope += x * (0.5 * (q - p) if tied else q)
    if rate > 0.0 and size > 1:
        slope /= 0.5 * size * (size - 1)
        scale[1] += slope * slope
        scale[0] = min(max(scale[0] * exp(rate * slope / math.sqrt(1.0 + scale[1])), 1e-3), 1e3)
    return wrong, surprise


@fused
def move(mean, variance, tier, size, share, sharp, gain, bend):
    """One step on the agents of a vote, from their means before it."""
    for i in range(size):
        gain[i] = 0.0
        bend[i] = 0.0
    for i in range(size):
        own = 1.0 / math.sqrt(1.0 + SPREAD * variance[i])
        for j in range(i + 1, size):
            g = 1.0 / math.sqrt(1.0 + SPREAD * variance[j])
            tied, lead = tier[i] == tier[j], mean[i] - mean[j]
            p, q = both(g * lead)
            low, high = both(own * lead)
            up = 0.5 * (q - p) if tied else q
            down = 0.5 * (high - low) if tied else high
            if sharp:  # 2 p (1 - p), whose mean square is 4 p^2 (1 - p)^2
                up = 0.0 if tied else 2.0 * p * q
                down = 0.0 if tied else 2.0 * low * high
            curve, turn = p * q, low * high
            if sharp:
                curve, turn = 4.0 * curve * curve, 4.0 * turn * turn
            gain[i] += share * g * up
            gain[j] -= share * own * down
            bend[i] += share * g * g * curve
            bend[j] += share * own * own * turn
    for i in range(size):
        variance[i] = 1.0 / (1.0 / variance[i] + bend[i])
        mean[i] += variance[i] * gain[i]


@fused
def run_filter(mu, var, last, start, agent, tier, weight, when, law, sharp, scale, rate, limit, wrong, surprise, z):
    """One pass over the votes, in place. `law` is (most, per_second, per_vote, overlap); means stay within `limit`.

    What each vote was predicted to be goes into `wrong` and `surprise`, unless these are empty. `z` is scratch, four
    rows as long as the longest vote.
    """
    mean, variance, gain, bend = z[0], z[1], z[2], z[3]
    for v in range(len(weight)):
        first, size = start[v], start[v + 1] - start[v]
        if size < 2 or weight[v] <= 0.0:
            continue
        who, place = agent[first : first + size], tier[first : first + size]
        for i in range(size):
            a = who[i]
            mean[i] = mu[a]
            variance[i] = grow(var[a], last[a], when[v], law[0], law[1], law[2])
            if not (when[v] <= last[a]) and when[v] == when[v]:
                last[a] = when[v]
        if rate > 0.0 or len(wrong) > 0:
            off, surprised = look(mean, variance, place, size, scale, rate)
            if len(wrong) > 0:
                wrong[v] = off
                surprise[v] = surprised
        steps = np.int64(min(math.ceil(weight[v]), MOST_STEPS))
        share = weight[v] / steps / (1.0 + law[3] * (size - 2))
        for _ in range(steps):
            move(mean, variance, place, size, share, sharp, gain, bend)
        for i in range(size):
            mu[who[i]] = min(max(mean[i], -limit), limit)
            var[who[i]] = variance[i]
