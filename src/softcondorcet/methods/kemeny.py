"""Kemeny-Young: the order with the smallest sum of Kendall-tau distances to the votes, with a proof or a bound.

The strict majority graph is split into strongly connected components, whose optima one below the other are an optimum
(``optimal``). Per component: up to 20 agents, dynamic programming over subsets, O(2^c c). Above, a linear program with
3-cycle cuts (``linear_ordering``), in whole numbers where its solution is not whole. Above 400 agents, the order of
``sco`` with a bound from 3-cycles of the majority that share no margin.

When it misleads: it says nothing about distances between agents, and where several orders are optimal it shows one.
Cost: milliseconds where the majority is nearly transitive; minutes where votes are pure noise over 60 agents or more:
`time_limit` then ends the search with a proven gap.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from softcondorcet.kernels import orders
from softcondorcet.methods.linear_ordering import solve_program
from softcondorcet.methods.optimal import (
    Solve,
    Solved,
    best_order,
    contradicted,
    loss_as_listed,
    margin_matrix,
    smallest_step,
    unavoidable,
)
from softcondorcet.methods.outcome import Data, rated
from softcondorcet.methods.sco import sco
from softcondorcet.options import box, check, not_negative
from softcondorcet.pairs import Pairs, as_pairs
from softcondorcet.ratings import Ratings

# A linear program of 400 agents has 80,000 variables.
_PROGRAM = 400


def kemeny(data: Data, *, time_limit: float = 60.0, bounds: tuple[float, float] = (0.0, 100.0)) -> Ratings:
    """The Kemeny-Young order: no order contradicts the votes less.

    Ratings are evenly spaced in `bounds` along the order; only the order has a meaning. When `time_limit` (seconds)
    ends the search, the best order found comes with a proven ``lower_bound`` and ``gap``; ``converged`` is then False.

    >>> from softcondorcet import Profile
    >>> board = kemeny(Profile.from_rankings([["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]], weights=[3, 2, 2]))
    >>> board.order, board.discrete_loss, board.gap
    (['a', 'b', 'c'], 8.0, 0.0)
    """
    pairs = as_pairs(data)
    low, high = box("bounds", bounds)
    not_negative("time_limit", time_limit)
    ends = time.monotonic() + time_limit
    best = best_order(pairs, sco(pairs).values, _until(ends, pairs))
    values = np.empty(len(best.order))
    values[best.order] = np.linspace(high, low, len(values)) if len(values) > 1 else (low + high) / 2
    return rated(
        data,
        values,
        "kemeny",
        {"time_limit": time_limit, "bounds": [low, high]},
        converged=best.proven,
        error=best.loss - best.bound,
        lower_bound=unavoidable(pairs) + best.bound,
    )


def certify(data: Data, board: Ratings, *, time_limit: float = 10.0) -> Ratings:
    """The same ratings with a proven ``lower_bound`` on the discrete loss of any order, and so a ``gap``.

    Whatever method made them. If the search for the bound meets a better order, a warning of the result says so.

    >>> from softcondorcet import Profile
    >>> votes = Profile.from_rankings([["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]])
    >>> certify(votes, sco(votes)).gap
    0.0
    """
    pairs = as_pairs(data)
    not_negative("time_limit", time_limit)
    check(
        board.agents == pairs.agents, "board", "ratings of the agents of these votes, as they are listed there", board
    )
    best = best_order(pairs, board.values, _until(time.monotonic() + time_limit, pairs))
    always, loss = unavoidable(pairs), pairs.discrete_loss(board.values)
    better = always + best.loss
    note = f"an order that contradicts {better:,g} comparisons exists; this one contradicts {loss:,g}"
    return replace(
        board,
        discrete_loss=loss,
        # Agents that share a rating may spare half a mistake per tie in a vote, which no strict order can.
        lower_bound=min(always + best.bound, loss),
        warnings=(*board.warnings, note) if better < loss - 1e-9 * max(loss, 1.0) else board.warnings,
    )


def _until(ends: float, pairs: Pairs) -> Solve:
    """How to solve a component too large for subsets, by a time of the monotonic clock."""
    unit = smallest_step(pairs.margin)
    return lambda part: solve_by_program(part, unit, ends) if part.n_agents <= _PROGRAM else bound_by_cycles(part)


def solve_by_program(part: Pairs, unit: float, ends: float) -> Solved:
    margin = margin_matrix(part)
    order, bound = solve_program(margin, unit, ends)
    loss = contradicted(margin, order)
    return Solved(order, loss, loss if loss - bound < unit else bound)


def bound_by_cycles(part: Pairs) -> Solved:
    """A component too large for a linear program: the order it came with, and a bound from disjoint cycles."""
    rows, listed = part.by_agent, np.arange(part.n_agents)
    bound = orders.packed_cycles(rows.row, rows.column, rows.margin, listed, rows.margin.copy())
    return Solved(listed, loss_as_listed(part), float(bound))
