"""Derivatives of Plackett-Luce on whole votes, in one pass over a vote and back.

A vote is read as choices: from the agents of a tier and all tiers below it, d agents of the tier are chosen one after
the other. With T and R the sums of exp(x) over the tier and over what is below it, Efron (1977) takes for choice
r = 0 .. d - 1 the mean of what is still there, whichever agents went first:

    the loss of a tier = sum over r of log(R + (1 - r/d) T) - sum of x over the tier.

The last tier needs no last choice, so it has d - 1 of them and (d - 1) / d of its sum of x: nothing for a single agent,
and half a win each for a tie of two.

Nothing here can overflow, whatever x: everything is in the shares p = T / (T + R) and q = 1 - p of each tier, and the
share of each agent in its tier. The chance that choice r goes to the tier is u = f p / (f p + q), f = 1 - r/d.
"""

import numpy as np

from softcondorcet.kernels.batch import GOLDEN, exp
from softcondorcet.kernels.bradley_terry import FAR, both
from softcondorcet.kernels.compile import fused


@fused
def fingerprints(start, agent, tier, code):
    """A number for each vote, the same for equal votes: each entry is mixed in by the steps of SplitMix64."""
    for v in range(len(code)):
        z = np.uint64(0)
        for e in range(start[v], start[v + 1]):
            z = z + GOLDEN * np.uint64((np.int64(agent[e]) << 32) + tier[e] + 1)
            z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            z = z ^ (z >> np.uint64(31))
        code[v] = z


@fused
def equal_votes(start, agent, tier, other):
    """Whether each vote v is entry by entry the vote other[v]."""
    for v in range(len(other)):
        first, second = start[v], start[other[v]]
        size = start[v + 1] - first
        if start[other[v] + 1] - second != size:
            return False
        for e in range(size):
            if agent[first + e] != agent[second + e] or tier[first + e] != tier[second + e]:
                return False
    return True


@fused
def choices(p, q, d, last):
    """Over the choices of a tier of d agents: sums of u, 1 - u, u^2, u (1 - u), (1 - u)^2 and log(f p + q)."""
    if d == 1:
        if last:
            return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        return p, q, p * p, p * q, q * q, 0.0
    n = d - 1 if last else d
    inside, outside, in_in, in_out, out_out, logs = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for r in range(n):
        f = 1.0 - r / d
        total = f * p + q
        u, w = f * p / total, q / total
        inside += u
        outside += w
        in_in += u * u
        in_out += u * w
        out_out += w * w
        logs += np.log(total)
    return inside, outside, in_in, in_out, out_out, logs


@fused
def split(start, agent, tier, x, share, p, q, level):
    """Shares at x: of each agent in its tier and, at the first entry of each tier, of the tier in all that is left.

    `level` is the logarithm of the sum of exp(x) over all that is left, also at the first entry.
    """
    for v in range(len(start) - 1):
        last, rest = start[v + 1], -np.inf
        while last > start[v]:
            first = last - 1
            top = x[agent[first]]
            while first > start[v] and tier[first - 1] == tier[first]:
                first -= 1
                top = max(top, x[agent[first]])
            if last - first == 1:
                share[first], own = 1.0, top
            else:
                total = 0.0
                for e in range(first, last):
                    share[e] = exp(max(x[agent[e]] - top, -FAR))
                    total += share[e]
                for e in range(first, last):
                    share[e] /= total
                own = top + np.log(total)
            p[first], q[first] = both(own - rest)
            if last == start[v + 1]:
                p[first], q[first] = 1.0, 0.0
                rest = own
            else:
                rest = max(own, rest) + np.log1p(exp(-min(abs(own - rest), FAR)))
            level[first] = rest
            last = first


@fused
def move(start, agent, tier, weight, x, share, p, q, level, mass, gradient, diagonal):
    """Add the derivatives at x, where `split` was; returns the loss. `mass` is kept for `bend`.

    A slope is a difference of chances and a curvature a product of them: written as 1 - p, they would lose the digits
    that count for an agent that never loses.
    """
    loss = 0.0
    for v in range(len(start) - 1):
        first, end, w = start[v], start[v + 1], weight[v]
        arrived, squares, cost = (
            0.0,
            0.0,
            0.0,
        )  # of choices above, the chances that they go to what is left from here on
        while first < end:
            last = first + 1
            while last < end and tier[last] == tier[first]:
                last += 1
            here, below, size = p[first], q[first], last - first
            n = size - 1 if last == end else size
            inside, outside, in_in, in_out, out_out, logs = choices(here, below, size, last == end)
            mass[first] = arrived
            cost += n * level[first] + logs
            for e in range(first, last):
                a, s = agent[e], share[e]
                gradient[a] += w * (s * here * arrived + inside * (s - 1.0 / size) - outside / size)
                diagonal[a] += w * s * (here * (arrived - s * here * squares) + in_out + (1.0 - s) * in_in)
                cost -= n / size * x[a]
            arrived, squares = arrived * below + outside, squares * below * below + out_out
            first = last
        loss += w * cost
    return loss


@fused
def bend(start, agent, tier, weight, v, share, p, q, mass, mean, under, product):
    """Add the Hessian times v: for each choice, the covariance of v with being chosen. `mean`, `under` are scratch."""
    for k in range(len(start) - 1):
        begin, end, w = start[k], start[k + 1], weight[k]
        last, rest = end, 0.0
        while last > begin:  # means of v over each tier, and over what is below it
            first, total = last - 1, share[last - 1] * v[agent[last - 1]]
            while first > begin and tier[first - 1] == tier[first]:
                first -= 1
                total += share[first] * v[agent[first]]
            mean[first - begin], under[first - begin] = total, rest
            rest = p[first] * total + q[first] * rest
            last = first
        first, above = begin, 0.0  # the same for choices above, times their means
        while first < end:
            last = first + 1
            while last < end and tier[last] == tier[first]:
                last += 1
            own, rest = mean[first - begin], under[first - begin]
            _, _, in_in, in_out, out_out, _ = choices(p[first], q[first], last - first, last == end)
            for e in range(first, last):
                a = agent[e]
                here = in_in * (v[a] - own) + in_out * (v[a] - rest)
                product[a] += w * share[e] * (here + p[first] * (mass[first] * v[a] - above))
            above = above * q[first] + in_out * own + out_out * rest
            first = last
