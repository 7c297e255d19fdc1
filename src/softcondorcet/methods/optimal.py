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
from heapq import heapify, heappop, heappush

import numpy as np

from softcondorcet.arrays import Floats, Ints
from softcondorcet.kernels import orders
from softcondorcet.majority import strong_labels
from softcondorcet.pairs import Pairs

# 2^20 subsets take 8 MB and less than a tenth of a second.
SUBSETS = 20
# By how much the losses of two orders of whole margins differ at least, less what may be rounding.
WHOLE = 1 - 1e-6


@dataclass(frozen=True)
class Solved:
    """An order, the margins it contradicts, a proven lower bound on what any order does, and whether they meet.

    Margins that are multiples of a step meet or do not; others count as met within a millionth of the loss, and the
    bound says by how much it is below. `late` is True where a time limit ended the search.
    """

    order: Ints
    loss: float
    bound: float
    proven: bool
    late: bool = False


# From the pairs of one component, its agents numbered in the order to start from, to its order and bound.
Solve = Callable[[Pairs], Solved]


def best_order(pairs: Pairs, values: Floats, large: Solve, label: Ints | None = None) -> Solved:
    """Component by component, each started from the order of `values`; those over 20 agents are solved by `large`.

    `label` numbers the component of each agent from the top down, where that is to follow more than the majority.
    """
    label = strong_labels(pairs, by="majority") if label is None else label
    order, loss, bound, proven, late = np.lexsort((-values, label)), 0.0, 0.0, True, False
    for first, part in components(pairs, label, order):
        solved = solve_by_subsets(part) if part.n_agents <= SUBSETS else large(part)
        order[first : first + part.n_agents] = order[first : first + part.n_agents][solved.order]
        loss, bound = loss + solved.loss, bound + solved.bound
        proven, late = proven and solved.proven, late or solved.late
    return Solved(order, loss, bound, proven, late)


def in_sequence(pairs: Pairs, values: Floats) -> Ints:
    """Number of the component of each agent, from the top down: of two that no majority orders, the better by `values`.

    Of all components that none left is above, the one with the best agent comes next, then the one with the first.
    O(pairs log pairs).
    """
    label = strong_labels(pairs, by="majority")
    count = int(label.max(initial=-1)) + 1
    won = pairs.margin > 0
    above = label[np.where(won, pairs.left, pairs.right)]
    below = label[np.where(won, pairs.right, pairs.left)]
    edges = np.unique((above * count + below)[(pairs.margin != 0) & (above != below)])
    first = np.searchsorted(edges, count * np.arange(count + 1)).tolist()
    waits, reached = np.bincount(edges % count, minlength=count).tolist(), (edges % count).tolist()
    best = np.full(count, -np.inf)
    np.maximum.at(best, label, values)
    _, listed = np.unique(label, return_index=True)
    ready = [(-best[k], listed[k], k) for k in range(count) if not waits[k]]
    heapify(ready)
    place = np.empty(count, dtype=np.int64)
    for number in range(count):
        *_, k = heappop(ready)
        place[k] = number
        for other in reached[first[k] : first[k + 1]]:
            waits[other] -= 1
            if not waits[other]:
                heappush(ready, (-best[other], listed[other], other))
    return place[label]


def solve_by_subsets(part: Pairs) -> Solved:
    """An optimum of a few agents: the order they came in, if it is one."""
    margin, listed = margin_matrix(part), np.arange(part.n_agents)
    order = orders.trace_order(margin, orders.subset_losses(margin))
    order = min(listed, order, key=lambda tried: contradicted(margin, tried))
    loss = contradicted(margin, order)
    return Solved(order, loss, loss, True)


def loss_as_listed(pairs: Pairs) -> float:
    """What the order of the agents' numbers contradicts."""
    return float(np.maximum(-pairs.margin, 0).sum())


def unavoidable(pairs: Pairs) -> float:
    """What every strict order costs: the smaller side of each pair, and half of each tie."""
    return float(np.minimum(pairs.wins, pairs.losses).sum() + pairs.ties.sum() / 2)


def in_steps(margin: Floats) -> tuple[Floats, float, bool]:
    """Margins as whole multiples of their common step, or at most 1 where they have none; the unit; whether whole.

    Tolerances and solvers mean numbers of that size, whatever the weights of the votes.
    """
    step = common_step(margin)
    if step:
        return np.round(margin / step), step, True
    # A power of two: nothing is rounded.
    unit = float(np.ldexp(1.0, int(np.frexp(np.abs(margin).max(initial=0.0))[1])))
    return margin / unit, unit, False


def common_step(margin: Floats) -> float:
    """The largest number of which all margins are whole multiples, up to rounding; 0 where there is none.

    Two orders then have the same loss, or losses at least that far apart. Weights mostly have few digits, up to a
    factor: so the digits of the largest margin are tried, twelve of them, and the smallest margin. Numbers of which
    sums would not be exact have no step.
    """
    size = np.abs(margin[margin != 0])
    if not len(size):
        return 0.0
    first = int(np.floor(np.log10(size.max())))
    for unit in (*(10.0**place for place in range(first, first - 12, -1)), float(size.min())):
        count = np.round(size / unit)
        off = np.abs(size - unit * count)
        # Rounding: far below the largest margin, and, all of it together, far below a step.
        whole = count.min() > 0 and off.max() <= 1e-13 * size.max() and off.sum() < 1e-3 * unit
        if whole and count.max() < 2.0**53:
            step = unit * int(np.gcd.reduce(count.astype(np.int64)))
            return step if size.sum() < 2.0**50 * step else 0.0
    return 0.0


def margin_matrix(pairs: Pairs) -> Floats:
    margin = np.zeros((pairs.n_agents, pairs.n_agents))
    margin[pairs.left, pairs.right], margin[pairs.right, pairs.left] = pairs.margin, -pairs.margin
    return margin


def only_margins(agents: tuple[str, ...], above: Ints, below: Ints, margin: Floats) -> Pairs:
    """Pairs that hold margins and nothing else: of `above` over `below`, sorted."""
    won, lost = np.maximum(margin, 0), np.maximum(-margin, 0)
    return Pairs(agents, above.astype(np.int32), below.astype(np.int32), won, lost, np.zeros(len(margin)))


def contradicted(margin: Floats, order: Ints) -> float:
    """The margins of a matrix that an order contradicts."""
    return float(np.maximum(-np.triu(margin[np.ix_(order, order)], 1), 0).sum())


def components(pairs: Pairs, label: Ints, order: Ints) -> Iterator[tuple[int, Pairs]]:
    """Each component of two agents or more: where it begins in `order`, and its pairs, its agents numbered from there.

    The small ones come first: what they leave of their share of the time is for the large ones. Only margins are kept
    of the pairs. Pairs are grouped once, so the cost does not grow with the number of components.
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
    several = np.flatnonzero(size > 1)
    for k in several[np.argsort(size[several], kind="stable")]:
        first, last = np.searchsorted(above, begin[k : k + 2])
        names = tuple(pairs.agents[agent] for agent in order[begin[k] : begin[k + 1]])
        yield (
            int(begin[k]),
            only_margins(names, above[first:last] - begin[k], below[first:last] - begin[k], margin[first:last]),
        )
