"""Small loops of shrinkage: the likelihood of wins whose chance varies, the determinant of a matrix, and the mean
rating of those whom one met.
"""

import math

from softcondorcet.kernels.compile import lean, lean_sum


@lean
def beta_binomial(won, played, chance, group, precision, out):
    """Add to `out` by group the log-likelihood of wins whose chance varies as Beta(precision p, precision (1 - p)).

    Less that of the binomial coefficients, which depend on nothing.
    """
    for k in range(len(won)):
        s = precision[group[k]]
        a, b = s * chance[k], s * (1.0 - chance[k])
        out[group[k]] += (
            math.lgamma(won[k] + a)
            - math.lgamma(a)
            + math.lgamma(played[k] - won[k] + b)
            - math.lgamma(b)
            + math.lgamma(s)
            - math.lgamma(played[k] + s)
        )


@lean_sum
def log_determinant(matrix, least):
    """The logarithm of the determinant by Cholesky's factors, in place of the lower half of a symmetric matrix.

    `least` bounds its eigenvalues from below, and so what a pivot can be but for rounding. On one thread: a library
    that wakes others, which spin, takes longer at these sizes, and much longer where other programs want the cores.
    """
    total = 0.0
    for i in range(len(matrix)):
        row = matrix[i]
        for j in range(i):
            other, known = matrix[j], 0.0
            for k in range(j):
                known += row[k] * other[k]
            row[j] = (row[j] - known) / other[j]
        known = 0.0
        for k in range(i):
            known += row[k] * row[k]
        pivot = max(row[i] - known, least)
        total += math.log(pivot)
        row[i] = math.sqrt(pivot)
    return total


@lean
def mean_of_met(left, right, of_left, of_right, ratings, out):
    """Add the mean rating of those whom each agent met; shares are those of either end of a pair.

    With the two shares exchanged it is the transpose.
    """
    for k in range(len(left)):
        a, b = left[k], right[k]
        out[a] += of_left[k] * ratings[b]
        out[b] += of_right[k] * ratings[a]


@lean
def add_squares(row, column, share, weight, matrix):
    """Add (I - P)' W (I - P), P with the shares of each row, W a diagonal."""
    for a in range(len(weight)):
        matrix[a, a] += weight[a]
        for k in range(row[a], row[a + 1]):
            b, part = column[k], weight[a] * share[k]
            matrix[a, b] -= part
            matrix[b, a] -= part
            for other in range(row[a], row[a + 1]):
                matrix[b, column[other]] += part * share[other]
