"""Derivatives of a logistic regression whose rows have few entries.

Row k has the log-odds sum_c value[k, c] x[index[k, c]] and was won `won[k]` of `count[k]` times. Entries of value 0 are
padding. An index may occur twice in a row.
"""

from softcondorcet.kernels.bradley_terry import both
from softcondorcet.kernels.compile import lean


@lean
def move(index, value, count, won, x, gradient, diagonal, curve):
    """Add the derivatives at x. `curve` is kept for `bend`."""
    for k in range(len(count)):
        lead = 0.0
        for c in range(index.shape[1]):
            lead += value[k, c] * x[index[k, c]]
        p, q = both(lead)
        push, curve[k] = (count[k] - won[k]) * p - won[k] * q, count[k] * p * q
        for c in range(index.shape[1]):
            gradient[index[k, c]] += push * value[k, c]
            own = 0.0  # of all entries of this row with the same index, once
            for d in range(index.shape[1]):
                if index[k, d] == index[k, c]:
                    own += value[k, d]
            diagonal[index[k, c]] += curve[k] * value[k, c] * own


@lean
def bend(index, value, curve, v, product):
    """Add the Hessian times v."""
    for k in range(len(curve)):
        lead = 0.0
        for c in range(index.shape[1]):
            lead += value[k, c] * v[index[k, c]]
        push = curve[k] * lead
        for c in range(index.shape[1]):
            product[index[k, c]] += push * value[k, c]
