"""Kemeny-Young: the order with the smallest sum of Kendall-tau distances to the votes, with a proof or a bound.

Only margins matter: the loss of an order is a constant plus the margins it contradicts. Let the strict majority graph
lead from a to b where a beats b, and let C1, C2, ... be its strongly connected components, from the top down. *An
optimum is the concatenation of optima of the components.* Proof: every edge between components leads downwards, so an
order that concatenates them contradicts no margin between components; its loss is the sum of the losses inside. Any
order at all, restricted to a component, contradicts at least the optimum of that component. So none can be better.

Per component: up to 20 agents, dynamic programming over subsets, O(2^c c). Above, a linear program with 3-cycle cuts
(``linear_ordering``), in whole numbers where its solution is not whole. Above 400 agents, the order of ``sco`` with a
bound from 3-cycles of the majority that share no margin.

When it misleads: it says nothing about distances between agents, and where several orders are optimal it shows one.
Cost: milliseconds where the majority is nearly transitive; minutes where votes are pure noise over 60 agents or more:
`time_limit` then ends the search with a proven gap.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from softcondorcet.arrays import Flags, Floats, Ints
from softcondorcet.kernels import orders
from softcondorcet.majority import strong_labels
from softcondorcet.methods.linear_ordering import contradicted, solve_program
from softcondorcet.methods.outcome import Data, rated
from softcondorcet.methods.sco import sco
from softcondorcet.options import box, check, not_negative
from softcondorcet.pairs import Pairs, as_pairs
from softcondorcet.ratings import Ratings

# Subsets of 20 agents take 8 MB and a fraction of a second; a linear program of 400 agents has 80,000 variables.
_SUBSETS, _PROGRAM = 20, 400


@dataclass(frozen=True)
class Solved:
    """An order, the margins it contradicts, and a proven lower bound on what any order contradicts."""

    order: Ints
    loss: float
    bound: float

    @property
    def proven(self) -> bool:
        return self.bound >= self.loss


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
    best = _best_order(pairs, sco(pairs).values, ends)
    values = np.empty(len(best.order))
    values[best.order] = np.linspace(high, low, len(values)) if len(values) > 1 else (low + high) / 2
    return rated(
        data,
        values,
        "kemeny",
        {"time_limit": time_limit, "bounds": [low, high]},
        converged=best.proven,
        error=best.loss - best.bound,
        lower_bound=_unavoidable(pairs) + best.bound,
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
    best = _best_order(pairs, board.values, time.monotonic() + time_limit)
    always, loss = _unavoidable(pairs), pairs.discrete_loss(board.values)
    better = always + best.loss
    note = f"an order that contradicts {better:,g} comparisons exists; this one contradicts {loss:,g}"
    return replace(
        board,
        discrete_loss=loss,
        # Agents that share a rating may spare half a mistake per tie in a vote, which no strict order can.
        lower_bound=min(always + best.bound, loss),
        warnings=(*board.warnings, note) if better < loss - 1e-9 * max(loss, 1.0) else board.warnings,
    )


def _best_order(pairs: Pairs, values: Floats, ends: float) -> Solved:
    """Component by component, each started from the order of `values`; ends about when the clock says `ends`."""
    unit = smallest_step(pairs.margin)
    parts = [_solve(pairs, members, values, unit, ends) for members in _components(pairs)]
    order = np.concatenate([part.order for part in parts]) if parts else np.zeros(0, dtype=np.int64)
    return Solved(order, sum(part.loss for part in parts), sum(part.bound for part in parts))


def _unavoidable(pairs: Pairs) -> float:
    """What every strict order costs: the smaller side of each pair, and half of each tie."""
    return float(np.minimum(pairs.wins, pairs.losses).sum() + pairs.ties.sum() / 2)


def smallest_step(margin: Floats) -> float:
    """By how much the losses of two orders differ at least: 1 for whole weights, else next to nothing."""
    whole = bool((margin == np.round(margin)).all())
    return 1 - 1e-6 if whole else 1e-9 * max(float(np.abs(margin).sum()), 1.0)


def _components(pairs: Pairs) -> list[Ints]:
    """Members of each strongly connected component of the majority graph, from the top down."""
    label = strong_labels(pairs, by="majority")
    turn = np.argsort(label, kind="stable")
    return np.split(turn, np.flatnonzero(np.diff(label[turn])) + 1) if len(turn) else []


def _solve(pairs: Pairs, members: Ints, values: Floats, unit: float, ends: float) -> Solved:
    """One component, by what fits its size. `values` (of all agents) give an order to start from."""
    if len(members) == 1:
        return Solved(members, 0.0, 0.0)
    start = members[np.argsort(-values[members], kind="stable")]
    if len(members) > _PROGRAM:
        return _by_cycles(pairs, start)
    margin = _matrix(pairs, start)
    if len(members) <= _SUBSETS:
        best = orders.subset_losses(margin)
        order = orders.trace_order(margin, best)
        loss = contradicted(margin, order)
        return Solved(start[order], loss, loss)
    order, bound = solve_program(margin, unit, ends)
    loss = contradicted(margin, order)
    return Solved(start[order], loss, loss if loss - bound < unit else bound)


def _by_cycles(pairs: Pairs, start: Ints) -> Solved:
    """A component too large for a linear program: the order it came with, and a bound from disjoint cycles."""
    place, inside = _within(pairs, start)
    part = Pairs(pairs.agents, *(getattr(pairs, name)[inside] for name in ("left", "right", "wins", "losses", "ties")))
    rows = part.by_agent
    bound = orders.packed_cycles(rows.row, rows.column, rows.margin, place, rows.margin.copy())
    ahead = place[part.left] < place[part.right]
    loss = np.where(ahead, np.maximum(-part.margin, 0), np.maximum(part.margin, 0)).sum()
    return Solved(start, float(loss), float(bound))


def _within(pairs: Pairs, members: Ints) -> tuple[Ints, Flags]:
    """Place of each agent among the members (-1 for others), and which pairs are among them."""
    place = np.full(pairs.n_agents, -1)
    place[members] = np.arange(len(members))
    return place, (place[pairs.left] >= 0) & (place[pairs.right] >= 0)


def _matrix(pairs: Pairs, members: Ints) -> Floats:
    """Margins among some agents, in their order."""
    place, inside = _within(pairs, members)
    a, b = place[pairs.left[inside]], place[pairs.right[inside]]
    margin = np.zeros((len(members), len(members)))
    margin[a, b], margin[b, a] = pairs.margin[inside], -pairs.margin[inside]
    return margin
