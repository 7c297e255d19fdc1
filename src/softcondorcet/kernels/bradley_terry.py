"""Derivatives of Bradley-Terry on pairs, with three ways to see a tie.

A pair has the lead d = x_a - x_b and was won, lost and tied by a so many times. Each model gives the negative
log-likelihood of that as a function of d and of c, which says how common ties are:

    HALF        a tie is half a win for each; no c           P(a wins) = s(d),    s the logistic function
    DAVIDSON    (1970), c = log nu                           P(a wins) : P(b wins) : P(tie) = e^(d/2) : e^(-d/2) : e^c
    RAO_KUPPER  (1967), c = log(theta^2 - 1), t = log theta  P(a wins) = s(d - t), P(b wins) = s(-d - t)

All three are convex in d and c together. In the last, -log P(a wins) = log(1 + exp(t - d)) with t = log(1 + e^c) / 2 a
convex function of c, and -log P(tie) = log(1 + exp(d - t)) + log(1 + exp(-d - t)) + log(1 + e^-c).

What moves ratings vote by vote is here too. Online Elo moves them by what each agent of the vote won above expectation.
Weng and Lin's updates move the mean of agent i by s_i^2 times the slope of the vote's log-likelihood, and shrink its
variance s_i^2 by the share s_i^2 times its curvature, dampened by the paper's choice gamma = s_i / c.
"""

import math

import numpy as np

from softcondorcet.kernels.batch import exp
from softcondorcet.kernels.compile import fused, lean

FAR = 700.0  # exp is exact up to here; a lead of 700 units is certain to win in any case


@fused
def run_elo(r, start, agent, tier, weight, k, unit, lead, gain):
    """One pass over the votes, in place. `lead` and `gain` are scratch as long as the longest vote."""
    for v in range(len(weight)):
        first, size = start[v], start[v + 1] - start[v]
        who, place = agent[first : first + size], tier[first : first + size]
        for i in range(size):
            lead[i] = r[who[i]] / unit
            gain[i] = 0.0
        for i in range(size):
            own, total = lead[i], 0.0
            for j in range(i + 1, size):
                expected = 1.0 / (1.0 + exp(min(max(lead[j] - own, -FAR), FAR)))
                won = (0.5 if place[i] == place[j] else 1.0) - expected
                total += won
                gain[j] -= won
            gain[i] += total
        for i in range(size):
            r[who[i]] += k * weight[v] * gain[i]


HALF, DAVIDSON, RAO_KUPPER = 0, 1, 2


@lean
def both(d):
    """s(d) and s(-d), neither by subtraction."""
    t = math.exp(-min(abs(d), FAR))
    high, low = 1.0 / (1.0 + t), t / (1.0 + t)
    if d >= 0:
        return high, low
    return low, high


@lean
def half(d, won, lost, tied):
    """Derivatives along d: first, second."""
    p, q = both(d)
    return (lost + 0.5 * tied) * p - (won + 0.5 * tied) * q, (won + lost + tied) * p * q


@lean
def davidson(d, c, won, lost, tied):
    """Derivatives along d, c, dd, dc, cc: of a choice between three with log-odds d/2, -d/2 and c."""
    top = max(0.5 * abs(d), c)
    win, loss, tie = (
        math.exp(max(0.5 * d - top, -FAR)),
        math.exp(max(-0.5 * d - top, -FAR)),
        math.exp(max(c - top, -FAR)),
    )
    games, total = won + lost + tied, win + loss + tie
    edge, level = 0.5 * (win - loss) / total, tie / total
    return (
        games * edge - 0.5 * (won - lost),
        games * level - tied,
        games * (0.25 * (win + loss) / total - edge * edge),
        -games * level * edge,
        games * level * (1.0 - level),
    )


@lean
def rao_kupper(d, c, t, won, lost, tied):
    """Derivatives along d, c, dd, dc, cc; t = log theta is that of c."""
    p, not_p = both(d - t)
    q, not_q = both(-d - t)
    s, not_s = both(c)
    first, second = tied * p - won * not_p, tied * q - lost * not_q
    bend_first, bend_second = (won + tied) * p * not_p, (lost + tied) * q * not_q
    along, turn = 0.5 * s, 0.5 * s * not_s  # first and second derivative of t along c
    return (
        first - second,
        -(first + second) * along - tied * not_s,
        bend_first + bend_second,
        (bend_second - bend_first) * along,
        (bend_first + bend_second) * along * along - (first + second) * turn + tied * s * not_s,
    )


@lean
def move(model, left, right, won, lost, tied, x, gradient, diagonal, curve, cross):
    """Add the derivatives at x: its last entry is c, unless ties are half wins. `curve` and `cross` are kept."""
    last = len(x) - 1
    c = x[last]
    t = 0.5 * (max(c, 0.0) + math.log1p(math.exp(-min(abs(c), FAR)))) if model == RAO_KUPPER else 0.0
    for k in range(len(left)):
        a, b = left[k], right[k]
        d = x[a] - x[b]
        if model == HALF:
            slope, bend = half(d, won[k], lost[k], tied[k])
        else:
            if model == DAVIDSON:
                slope, slope_c, bend, mixed, bend_c = davidson(d, c, won[k], lost[k], tied[k])
            else:
                slope, slope_c, bend, mixed, bend_c = rao_kupper(d, c, t, won[k], lost[k], tied[k])
            gradient[last] += slope_c
            diagonal[last] += bend_c
            cross[k] = mixed
        gradient[a] += slope
        gradient[b] -= slope
        diagonal[a] += bend
        diagonal[b] += bend
        curve[k] = bend


@lean
def bend(left, right, curve, cross, v, product):
    """Add the Hessian times v, but for what the tie parameter does alone: a Laplacian, and `cross` if there is one."""
    last = len(v) - 1
    mixed = len(cross) > 0
    for k in range(len(left)):
        a, b = left[k], right[k]
        lead = v[a] - v[b]
        push = curve[k] * lead
        if mixed:
            push += cross[k] * v[last]
            product[last] += cross[k] * lead
        product[a] += push
        product[b] -= push


@fused
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


@fused
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


@fused
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
