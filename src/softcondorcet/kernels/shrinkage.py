"""Small loops of shrinkage: isotonic regression, the likelihood of wins whose chance varies from pair to pair, and the
mean rating of those whom each agent met.
"""

import math

from softcondorcet.kernels.compile import lean


@lean
def pool_adjacent_violators(value, weight, first, mean, total, start):
    """Replace `value` by the nearest values (weighted squares) that never rise inside a run; `first` begins each run.

    `mean`, `total` and `start` are scratch as long as `value`.
    """
    blocks = 0
    for k in range(len(value)):
        mean[blocks], total[blocks], start[blocks] = value[k], weight[k], k
        blocks += 1
        while blocks > 1 and not first[start[blocks - 1]] and mean[blocks - 2] < mean[blocks - 1]:
            both = total[blocks - 2] + total[blocks - 1]
            mean[blocks - 2] += (mean[blocks - 1] - mean[blocks - 2]) * total[blocks - 1] / both
            total[blocks - 2] = both
            blocks -= 1
    end = len(value)
    for b in range(blocks - 1, -1, -1):
        for k in range(start[b], end):
            value[k] = mean[b]
        end = start[b]


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
