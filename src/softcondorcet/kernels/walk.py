"""The loop of ``methods.descent.descend`` on the sigmoid loss in one call: for many small problems, one per resample.

The same steps in the same order; only the sums over partners may be grouped otherwise. In Python a step of a hundred
agents takes ten times as long as its arithmetic, and holds the interpreter's lock for most of it.
"""

import numpy as np

from softcondorcet.kernels.batch import exp
from softcondorcet.kernels.compile import kernel
from softcondorcet.kernels.pairwise import sigmoid_gradient

# Twice the largest second derivative of the logistic function: see ``descent.PairwiseLoss.curvature``.
CURVE = 1 / (3 * np.sqrt(3))


@kernel
def walk(row, column, margin, strength, heats, steps, tol, low, high, ratings, ahead, e, gradient):
    """One step per temperature of `heats`, then on at the last one until a step is shorter than `tol` temperatures.

    Ratings are moved in place. `strength` is the sum of absolute margins of each agent, `ahead`, `e` and `gradient` are
    room to work in. Returns the length of the last step, in temperatures. The caller keeps the box within 690 of them.
    """
    m, middle, momentum, error = len(ratings), 0.5 * (low + high), 0.0, np.inf
    for a in range(m):
        ahead[a] = ratings[a]
    for step in range(steps):
        heat = heats[min(step, len(heats) - 1)]
        scale = 1.0 / heat
        for a in range(m):
            e[a] = exp((ahead[a] - middle) * scale)
        sigmoid_gradient(row, column, margin, e, gradient, 0, m)
        uphill, far = 0.0, 0.0
        for a in range(m):
            new = min(max(ahead[a] - gradient[a] * heat / (CURVE * strength[a]), low), high)
            uphill += (ahead[a] - new) * (new - ratings[a])
            far = max(far, abs(new - ahead[a]))
            gradient[a] = new
        momentum = momentum + 1.0 if uphill <= 0.0 else 0.0
        push = momentum / (momentum + 3.0)
        for a in range(m):
            new = gradient[a]
            ahead[a] = min(max(new + push * (new - ratings[a]), low), high)
            ratings[a] = new
        error = far / heat
        if step + 1 >= len(heats) and error <= tol:
            break
    return error
