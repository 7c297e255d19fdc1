"""How much the gradients of single votes scatter: what sets the rate of SGD that samples a posterior."""

from softcondorcet.kernels.compile import lean
from softcondorcet.kernels.votes import add_vote_pairs, load_ratings


@lean
def squared_gradients(start, agent, tier, weight, r, scale, mid, touched, x, d, total):
    """Weighted sum over votes of the squared length of a vote's gradient; adds the gradients themselves to `total`.

    Gradients are by r in units of the temperature, 1 / `scale`. `touched`, `x` and `d` are room for the longest vote.
    """
    squares = 0.0
    for v in range(len(start) - 1):
        first, k = start[v], start[v + 1] - start[v]
        for i in range(k):
            touched[i] = agent[first + i]
        wide = load_ratings(r, touched, x, d, 0, k, scale, mid, True)
        add_vote_pairs(x, d, 0, tier, first, k, True, wide)
        for i in range(k):
            squares += weight[v] * d[i] * d[i]
            total[touched[i]] += weight[v] * d[i]
    return squares
