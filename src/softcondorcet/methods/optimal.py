"""The order that contradicts the votes least, component by component of the majority: what `sco` and `kemeny` end with.

Only margins matter: the loss of an order is a constant plus the margins it contradicts. Let the strict majority graph
lead from a to b where a beats b, and let C1, C2, ... be its strongly connected components, from the top down. *An
optimum is the concatenation of optima of the components.* Proof: every edge between components leads downwards, so an
order that concatenates them contradicts no margin between components; its loss is the sum of the losses inside. Any
order at all, restricted to a component, contradicts at least the optimum of that component. So none can be better.

A component of up to 20 agents is solved here, by dynamic programming over subsets, O(2^c c). What is done with a larger
one, the caller says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from softcondorcet.arrays import Floats, Ints
from softcondorcet.kernels import orders
from softcondorcet.majority import strong_labels
from softcondorcet.pairs import Pairs

# 2^20 subsets take 8 MB and less than a tenth of a second.
SUBSETS = 20


@dataclass(frozen=True)
class Solved:
    """An order, the margins it contradicts, and a proven lower bound on what any order contradicts."""

    order: Ints
    loss: float
    bound: float

    @property
    def proven(self) -> bool:
        return bool(self.bound >= self.loss)


# From the pairs of one component, its agents numbered in the order to start from, to its order and bound.
Solve = Callable[[Pairs], Solved]


def best_order(pairs: Pairs, values: Floats, large: Solve) -> Solved:
    """Component by component, each started from the order of `values`; those over 20 agents are solved by `large`."""
    label = strong_labels(pairs, by="majority")
    order, loss, bound = np.lexsort((-values, label)), 0.0, 0.0
    # The small ones first, so that a large one cannot use up their time.
    for first, part in sorted(_components(pairs, label, order), key=lambda found: found[1].n_agents):
        solved = solve_by_subsets(part) if part.n_agents <= SUBSETS else large(part)
        order[first : first + part.n_agents] = order[first : first + part.n_agents][solved.order]
        loss, bound = loss + solved.loss, bound + solved.bound
    return Solved(order, loss, bound)


def solve_by_subsets(part: Pairs) -> Solved:
    """The optimum of a few agents."""
    margin = margin_matrix(part)
    order = orders.trace_order(margin, orders.subset_losses(margin))
    loss = contradicted(margin, order)
    return Solved(order, loss, loss)


def as_it_is(part: Pairs) -> Solved:
    """A component left in the order it came in, with no bound."""
    return Solved(np.arange(part.n_agents), loss_as_listed(part), 0.0)


def loss_as_listed(pairs: Pairs) -> float:
    """What the order of the agents' numbers contradicts."""
    return float(np.maximum(-pairs.margin, 0).sum())


def unavoidable(pairs: Pairs) -> float:
    """What every strict order costs: the smaller side of each pair, and half of each tie."""
    return float(np.minimum(pairs.wins, pairs.losses).sum() + pairs.ties.sum() / 2)


def smallest_step(margin: Floats) -> float:
    """By how much the losses of two orders differ at least: 1 for whole weights, else next to nothing."""
    whole = bool((margin == np.round(margin)).all())
    return 1 - 1e-6 if whole else 1e-9 * max(float(np.abs(margin).sum()), 1.0)


def margin_matrix(pairs: Pairs) -> Floats:
    margin = np.zeros((pairs.n_agents, pairs.n_agents))
    margin[pairs.left, pairs.right], margin[pairs.right, pairs.left] = pairs.margin, -pairs.margin
    return margin


def contradicted(margin: Floats, order: Ints) -> float:
    """The margins of a matrix that an order contradicts."""
    return float(np.maximum(-np.triu(margin[np.ix_(order, order)], 1), 0).sum())


def _components(pairs: Pairs, label: Ints, order: Ints) -> Iterator[tuple[int, Pairs]]:
    """Each component of two agents or more: where it begins in `order`, and its pairs, its agents numbered from there.

    Only margins are kept of the pairs. Pairs are grouped once, so the cost does not grow with the number of components.
    """
    size = np.bincount(label)
    begin = np.concatenate([[0], np.cumsum(size)])
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    inside = np.flatnonzero((label[pairs.left] == label[pairs.right]) & (pairs.margin != 0))
    a, b = place[pairs.left[inside]], place[pairs.right[inside]]
    above, below = np.minimum(a, b), np.maximum(a, b)
    turn = np.argsort(above * len(order) + below)  # by component too: a component holds a range of places
    above, below = above[turn], below[turn]
    margin = np.where(a < b, pairs.margin[inside], -pairs.margin[inside])[turn]
    for k in np.flatnonzero(size > 1):
        first, last = np.searchsorted(above, begin[k : k + 2])
        won = margin[first:last]
        yield (
            int(begin[k]),
            Pairs(
                tuple(pairs.agents[agent] for agent in order[begin[k] : begin[k + 1]]),
                (above[first:last] - begin[k]).astype(np.int32),
                (below[first:last] - begin[k]).astype(np.int32),
                np.maximum(won, 0),
                np.maximum(-won, 0),
                np.zeros(len(won)),
            ),
        )
