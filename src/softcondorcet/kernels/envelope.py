"""Lines that lie on or above the logistic function s on an interval [low, high]: the cuts of its concave envelope.

s is convex below 0 and concave above. A tangent at p >= 0 lies above s wherever s is concave, and on [low, 0] too if it
does so at low, because there s lies below its chord. That is one comparison, and it holds for every p from some
`touching` point on. Where even that point is beyond high, the envelope is the chord. Lines *below* s are lines above it
seen in the mirror: 1 - s(d) = s(-d).

Every line is lifted by 1e-12, a thousand times what rounding can do to it.
"""

import numpy as np

from softcondorcet.kernels.compile import kernel

LIFT = 1e-12


@kernel
def logistic(d):
    t = np.exp(-abs(d))
    return 1.0 / (1.0 + t) if d >= 0.0 else t / (1.0 + t)


@kernel
def slope_at(d):
    t = np.exp(-abs(d))
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
