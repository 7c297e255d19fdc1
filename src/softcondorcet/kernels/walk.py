"""Gaussian walks: the precision matrix of ratings that move from one period to the next, and systems with it.

Parameter p is an agent in a period, numbered by period; `before[p]` is the same agent in its last period before, -1 in
its first, and `link[p]` the precision of the step between them. So the matrix is tridiagonal along each agent, and a
parameter comes after the one that it hangs on: one sweep up and one down solve for all agents at once (Thomas).
"""

from softcondorcet.kernels.compile import lean


@lean
def add_slopes(before, link, x, gradient, diagonal):
    """Add the derivatives of sum link / 2 (x[p] - x[before])^2."""
    for p in range(len(before)):
        b = before[p]
        if b >= 0:
            pull = link[p] * (x[p] - x[b])
            gradient[p] += pull
            gradient[b] -= pull
            diagonal[p] += link[p]
            diagonal[b] += link[p]


@lean
def add_product(before, link, v, product):
    """Add the matrix of the links times v."""
    for p in range(len(before)):
        b = before[p]
        if b >= 0:
            pull = link[p] * (v[p] - v[b])
            product[p] += pull
            product[b] -= pull


@lean
def factor(before, link, pivot):
    """From the diagonal in `pivot` to the pivots of the elimination, in place."""
    for p in range(len(before)):
        b = before[p]
        if b >= 0:
            pivot[p] -= link[p] * link[p] / pivot[b]


@lean
def solve(before, link, pivot, x):
    """From the right side in `x` to the solution, in place."""
    for p in range(len(before)):
        b = before[p]
        if b >= 0:
            x[p] += link[p] / pivot[b] * x[b]
    for p in range(len(before) - 1, -1, -1):
        x[p] /= pivot[p]
        b = before[p]
        if b >= 0:
            x[b] += link[p] * x[p]


@lean
def spread(before, link, pivot, variance, shared):
    """The diagonal of the inverse, and of each parameter the entry of the inverse that it shares with `before`."""
    for p in range(len(before)):
        variance[p] = 1.0 / pivot[p]
    for p in range(len(before) - 1, -1, -1):
        b = before[p]
        if b >= 0:
            shared[p] = link[p] / pivot[b] * variance[p]
            variance[b] += link[p] / pivot[b] * shared[p]
