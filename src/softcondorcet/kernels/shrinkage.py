"""Small loops of shrinkage: the likelihood of wins whose chance varies, and the mean rating of those whom one met."""

import math

from softcondorcet.kernels.compile import lean


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


@lean
def mean_of_met(left, right, of_left, of_right, ratings, out):
    """Add the mean rating of those whom each agent met; shares are those of either end of a pair.

    With the two shares exchanged it is the transpose.
    """
    for k in range(len(left)):
        a, b = left[k], right[k]
        out[a] += of_left[k] * ratings[b]
        out[b] += of_right[k] * ratings[a]
