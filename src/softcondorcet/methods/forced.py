"""What it costs an order to put one agent above another: the discrete half of ``sigmoidal_program``.

K(order) is the sum of the margins that an order contradicts, K* the smallest. The majority splits into components,
whose optima one below the other are an optimum (``optimal``). An order that puts b above a contradicts at least

    K* + detour[b, a],

where the detour is exact for two agents of one component of at most 20 (dynamic programming over subsets; the other
components can stay at their optimum), at least margin[a, b] where a's component is the higher one, and 0 otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from softcondorcet.arrays import Floats, Ints
from softcondorcet.kernels import orders
from softcondorcet.methods import optimal
from softcondorcet.methods.kemeny import solve_within
from softcondorcet.methods.optimal import components, margin_matrix
from softcondorcet.pairs import Pairs


@dataclass(frozen=True)
class Discrete:
    """A good order; a proven lower bound on K*; and what each pair of agents costs above K*."""

    order: Ints
    bound: float
    detour: Floats


def solve_discrete(pairs: Pairs, label: Ints, start: Ints, ends: float) -> Discrete:
    """Component by component of the majority, numbered from the top by `label`; each starts in the order of `start`.

    Components too large for subsets are searched until `ends`, a time of the monotonic clock.
    """
    solve, margin = solve_within(ends, np.bincount(label)), margin_matrix(pairs)
    detour = np.where(label[:, None] > label[None, :], np.maximum(margin.T, 0), 0.0)
    order, bound = start[np.argsort(label[start], kind="stable")], 0.0
    for first, part in components(pairs, label, order):
        members = order[first : first + part.n_agents].copy()
        if part.n_agents > optimal.SUBSETS:
            solved = solve(part)
            turn, below = solved.order, solved.bound
        else:
            inside = margin_matrix(part)
            best = orders.subset_losses(inside)
            turn, below = orders.trace_order(inside, best), best[-1]
            detour[np.ix_(members, members)] = np.maximum(orders.forced_losses(inside, best) - below, 0)
        order[first : first + part.n_agents] = members[turn]
        bound += below
    return Discrete(order, float(bound), detour)
