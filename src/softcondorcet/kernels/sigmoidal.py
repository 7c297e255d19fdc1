"""Kernels of the sigmoidal program: projected Newton on the sigmoid loss in a box, and cuts of its concave envelope.

Newton leads from good ratings to the minimum next to them. With x = ratings / temperature in [0, width], and
margin[a, b] = -margin[b, a] > 0 where a beats b,

    L(x) = sum over a beats b of margin[a, b] / (1 + exp(x_a - x_b)).

Far apart, agents leave terms of 1e-20 next to terms of 1. So L is kept in two parts, the margins that the order of x
contradicts, which do not change with x, and what is left, which is small without cancellation: a step is taken by the
sum of the two differences, and the minimum is found to the last digit of the small part.

The cuts are lines that lie on or above the logistic function s on an interval [low, high]. s is convex below 0 and
concave above. A tangent at p >= 0 lies above s wherever s is concave, and on [low, 0] too if it does so at low,
because there s lies below its chord. That is one comparison, and it holds for every p from some `touching` point on.
Where even that point is beyond high, the envelope is the chord. Lines *below* s are lines above it seen in the
mirror: 1 - s(d) = s(-d).

Every line is lifted by 1e-12, a thousand times what rounding can do to it.
"""

from __future__ import annotations

import math

import numpy as np

from softcondorcet.arrays import Floats
from softcondorcet.kernels.compile import kernel

# Steps at most: ratings may have to walk the box, some temperatures at a time; else a dozen are enough.
_ROUNDS, _LONGEST = 300, 8.0
# What is added to the Hessian, in shares of what would make any Hessian convex: at least this.
_LEAST = 1e-12


def polish(margin: Floats, x: Floats, width: float) -> Floats:
    """The minimum next to x, which is left as it is. Agents without a margin stay where they are."""
    m = len(x)
    new = np.clip(x, 0.0, width)
    if m:
        descend(margin, new, width, _ROUNDS, np.empty((4, m)), np.empty((2, m, m)), np.empty(m, np.int64))
    return new


@kernel
def loss_parts(margin, x):
    """The margins that the order of x contradicts, and what L(x) is above that (it may be negative)."""
    whole, rest = 0.0, 0.0
    for a in range(len(x)):
        for b in range(a):
            w = margin[a, b]
            if w != 0.0:
                lead = x[a] - x[b] if w > 0.0 else x[b] - x[a]
                t = math.exp(-abs(lead))
                tail = abs(w) * t / (1.0 + t)
                if lead >= 0.0:
                    rest += tail
                else:
                    whole += abs(w)
                    rest -= tail
    return whole, rest


@kernel
def derivatives(margin, x, gradient, strength, hessian):
    """Gradient, Hessian (a Laplacian with weights of both signs), and a bound on the sum of |weights| of each agent."""
    m = len(x)
    for a in range(m):
        gradient[a] = strength[a] = hessian[a, a] = 0.0
    for a in range(m):
        for b in range(a):
            w = margin[a, b]
            lead = x[a] - x[b]
            t = math.exp(-abs(lead))
            slope = w * t / (1.0 + t) ** 2
            bend = slope * (1.0 - t) / (1.0 + t)
            if lead < 0.0:
                bend = -bend
            gradient[a] -= slope
            gradient[b] += slope
            hessian[a, b] = hessian[b, a] = -bend
            hessian[a, a] += bend
            hessian[b, b] += bend
            strength[a] += abs(slope)
            strength[b] += abs(slope)


@kernel
def solve(hessian, strength, shift, gradient, free, count, factor, step):
    """Put -(H + shift * diag(strength))^-1 gradient of the free agents into `step`; returns the longest of them.

    Infinite if that matrix is not positive definite; with a shift above 2 it is, whatever the signs. Cholesky, by rows.
    """
    for p in range(count):
        a = free[p]
        for q in range(p + 1):
            total = hessian[a, free[q]]
            if p == q:
                total += shift * strength[a]
            for k in range(q):
                total -= factor[p, k] * factor[q, k]
            if p > q:
                factor[p, q] = total / factor[q, q]
            elif total > 1e-14 * strength[a]:
                factor[p, p] = math.sqrt(total)
            else:
                return np.inf
    for p in range(count):
        total = -gradient[free[p]]
        for k in range(p):
            total -= factor[p, k] * step[k]
        step[p] = total / factor[p, p]
    longest = 0.0
    for p in range(count - 1, -1, -1):
        total = step[p]
        for k in range(p + 1, count):
            total -= factor[k, p] * step[k]
        step[p] = total / factor[p, p]
        longest = max(longest, abs(step[p]))
    return longest


@kernel
def walk(margin, x, width, gradient, step, size, free, count, trial):
    """Put x + size * step, kept in the box, into `trial`; returns what the gradient promises, and the loss there."""
    for a in range(len(x)):
        trial[a] = x[a]
    promised = 0.0
    for p in range(count):
        a = free[p]
        trial[a] = min(max(x[a] + size * step[p], 0.0), width)
        promised += gradient[a] * (x[a] - trial[a])
    whole, rest = loss_parts(margin, trial)
    return promised, whole, rest


@kernel
def descend(margin, x, width, rounds, vectors, matrices, free):
    """Improve x in place. Agents that a bound holds are left out of the step; the others' steps end at the bounds."""
    gradient, strength, step, trial = vectors[0], vectors[1], vectors[2], vectors[3]
    hessian, factor = matrices[0], matrices[1]
    tiny = 1e-13 * width
    whole, rest = loss_parts(margin, x)
    shift = _LEAST
    for _ in range(rounds):
        derivatives(margin, x, gradient, strength, hessian)
        count = 0
        for a in range(len(x)):
            held = (x[a] <= 0.0 and gradient[a] >= 0.0) or (x[a] >= width and gradient[a] <= 0.0)
            if strength[a] > 0.0 and not held:
                free[count] = a
                count += 1
        better, last, new_whole, new_rest = False, False, whole, rest
        while count > 0 and not better and shift < 1e6:
            longest = solve(hessian, strength, shift, gradient, free, count, factor, step)
            while longest > _LONGEST:
                shift *= 10.0
                longest = solve(hessian, strength, shift, gradient, free, count, factor, step)
            # Where the loss bends down, the length of the step means nothing: try a long one first.
            size = 1.0 if shift < 1e-3 or longest <= tiny else _LONGEST / longest
            while size * longest > tiny and not better:
                promised, new_whole, new_rest = walk(margin, x, width, gradient, step, size, free, count, trial)
                gain = (whole - new_whole) + (rest - new_rest)
                last = size * longest < 1e-3 and abs(gain) <= 1e-15 * abs(rest)
                better = last or gain > max(1e-4 * promised, 0.0)
                size *= 0.25
            shift *= 100.0  # towards steps along the gradient, which the box cannot turn uphill
        if not better:
            return
        whole, rest = new_whole, new_rest
        shift = max(_LEAST, 1e-4 * shift)
        for a in range(len(x)):
            x[a] = trial[a]
        if last:  # a small step whose gain drowns in rounding: the ratings are better than the loss can tell
            return


LIFT = 1e-12


@kernel
def logistic(d):
    t = math.exp(-abs(d))
    return 1.0 / (1.0 + t) if d >= 0.0 else t / (1.0 + t)


@kernel
def slope_at(d):
    t = math.exp(-abs(d))
    return t / (1.0 + t) ** 2


@kernel
def touching(low):
    """The smallest p, up to rounding, whose tangent is not below s at `low`; 0 where s is concave.

    It is at most -low, because sinh(h) >= h. The bisection keeps an end that is valid.
    """
    if low >= 0.0:
        return 0.0
    invalid, valid = 0.0, -low
    for _ in range(60):
        p = 0.5 * (invalid + valid)
        if logistic(p) - logistic(low) >= slope_at(p) * (p - low):
            valid = p
        else:
            invalid = p
    return valid


@kernel
def line_above(low, high, point):
    """Intercept and slope of a line above s on [low, high] that touches it at `point`, or as near as it can."""
    first = touching(low)
    if first < high:
        p = min(max(point, first), high)
        slope = slope_at(p)
        return logistic(p) - slope * p + LIFT, slope
    # The chord. Here low is below 0: from 0 on every point has a tangent.
    slope = (logistic(high) - logistic(low)) / (high - low) if high - low > 1e-9 else 0.0
    return logistic(high) - slope * high + LIFT, slope


@kernel
def lines_above(low, high, point, line):
    """`line_above` for arrays; line[0] are the intercepts, line[1] the slopes."""
    for k in range(len(low)):
        line[0, k], line[1, k] = line_above(low[k], high[k], point[k])
