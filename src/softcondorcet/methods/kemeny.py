"""Kemeny-Young: the order with the smallest sum of Kendall-tau distances to the votes, with a proof or a bound.

The strict majority graph is split into strongly connected components, whose optima one below the other are an optimum
(``optimal``). Up to 20 agents in a component: dynamic programming over subsets, O(2^c c). Above, the search for a good
order (``local_search``) and a bound from cycles of the majority (``cycles``); where they do not meet, for up to 1,000
agents, a linear program with 3-cycle cuts (``linear_ordering``), in whole numbers where its solution is not whole. It
begins with the cuts of the cycles that the bound is made of, which are most of those it needs.

When it misleads: it says nothing about distances between agents, and where several orders are optimal it shows one.
Cost: milliseconds where the majority is nearly transitive; minutes where votes are pure noise over 60 agents or more:
`time_limit` then ends the search with a proven gap.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from softcondorcet.arrays import Floats, Ints
from softcondorcet.majority import condorcet_winner, smith_set, strong_labels
from softcondorcet.methods import optimal
from softcondorcet.methods.cycles import MOST, packed, weigh
from softcondorcet.methods.linear_ordering import solve_program
from softcondorcet.methods.local_search import by_margins, contradicted_by, evenly, search
from softcondorcet.methods.optimal import (
    Solve,
    Solved,
    best_order,
    in_sequence,
    loss_as_listed,
    margin_matrix,
    only_margins,
    smallest_step,
    unavoidable,
)
from softcondorcet.methods.outcome import Data, rated
from softcondorcet.methods.sco import sco
from softcondorcet.options import box, check, not_negative
from softcondorcet.pairs import Pairs, as_pairs
from softcondorcet.ratings import Ratings

# A linear program of 1,000 agents has 500,000 variables.
_PROGRAM = 1000
# More pairs than this take sco longer than the search for a better order that follows.
_SMOOTH = 5_000_000
# The most a search for a good order may take: rounds, and share of the time.
_ROUNDS, _SEARCH = 5, 0.3


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
    first = _first_order(pairs, time.monotonic() + _SEARCH * time_limit)
    best = best_order(pairs, first, _until(ends, pairs), in_sequence(pairs, first))
    return rated(
        data,
        evenly(pairs, best.order, (low, high)),
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
    check(isinstance(board, Ratings), "board", "Ratings", board)
    values = board.values_of(pairs.agents)
    best = best_order(pairs, values, _until(time.monotonic() + time_limit, pairs))
    always, loss = unavoidable(pairs), pairs.discrete_loss(values)
    better = always + best.loss
    note = f"an order that contradicts {better:,g} comparisons exists; this one contradicts {loss:,g}"
    return replace(
        board,
        discrete_loss=loss,
        lower_bound=min(always + best.bound, loss),
        condorcet_winner=condorcet_winner(pairs),
        smith_set=smith_set(pairs),
        warnings=(*board.warnings, note) if better < loss * (1 - 1e-12) else board.warnings,
    )


class _Enough(Exception):  # noqa: N818
    """Time is over."""


def _first_order(pairs: Pairs, ends: float) -> Floats:
    """The ratings of ``sco``, or where it was when time was over: a good order to start from."""
    if len(pairs) > _SMOOTH:
        return pairs.by_agent.sums(pairs.by_agent.margin)
    latest = np.zeros(pairs.n_agents)

    def watch(_step: int, _steps: int, ratings: Floats) -> None:
        nonlocal latest
        latest = ratings
        if time.monotonic() > ends:
            raise _Enough

    try:
        return sco(pairs, watch=watch).values
    except _Enough:
        return latest


def _until(ends: float, pairs: Pairs) -> Solve:
    """How to solve components too large for subsets, by a time of the monotonic clock, each with its share of it."""
    unit = smallest_step(pairs.margin)
    size = np.bincount(strong_labels(pairs, by="majority"))
    left = float((size[size > optimal.SUBSETS] ** 2.0).sum())

    def solve(part: Pairs) -> Solved:
        nonlocal left
        now, own = time.monotonic(), part.n_agents**2.0
        share, left = own / left, left - own
        return solve_large(part, unit, now + share * max(ends - now, 0.0))

    return solve


def solve_large(part: Pairs, unit: float, ends: float) -> Solved:
    """The order as it came, if a quick bound proves it; else a better one, and the best bound there is time for."""
    listed: Ints = np.arange(part.n_agents)
    if len(part) > MOST:
        order = search(part, [listed], rounds=_ROUNDS, ends=_soon(ends))
        return Solved(order, contradicted_by(part, order), packed(part, order))
    if loss_as_listed(part) - packed(part, listed) < unit:
        return Solved(listed, loss_as_listed(part), loss_as_listed(part))
    order = search(part, [listed, by_margins(part)], rounds=_ROUNDS, ends=_soon(ends))
    solved = prove(relisted(part, order), unit, ends)
    return Solved(order[solved.order], solved.loss, solved.bound)


def prove(part: Pairs, unit: float, ends: float) -> Solved:
    """Bounds on a component listed in a good order, each dearer than the last, until one proves an order."""
    order: Ints = np.arange(part.n_agents)
    loss, bound = loss_as_listed(part), packed(part, order)
    if loss - bound >= unit:
        weighing = weigh(part, loss - unit, ends)
        bound = max(bound, weighing.best)
        if loss - bound >= unit:  # it may be the order that is not the best
            order = search(part, [order], rounds=_ROUNDS, ends=_soon(ends), seed=1)
            loss = contradicted_by(part, order)
        if loss - bound >= unit and part.n_agents <= _PROGRAM:
            cuts = weighing.triples()
            order, proven = solve_program(margin_matrix(part), unit, ends, start=order, cuts=cuts)
            loss, bound = contradicted_by(part, order), max(bound, proven)
    if unit > 0.5:  # losses of whole margins are whole, and so is a bound, once what may be rounding is off
        bound = float(np.ceil(bound - 1e-6))
    return Solved(order, loss, loss if loss - bound < unit else bound)


def _soon(ends: float) -> float:
    """When a search for a good order must end, to leave time for bounds."""
    now = time.monotonic()
    return now + _SEARCH * max(ends - now, 0.0)


def relisted(part: Pairs, order: Ints) -> Pairs:
    """The same pairs with the agents numbered along an order."""
    place = np.argsort(order)
    a, b = place[part.left], place[part.right]
    above, below, won = np.minimum(a, b), np.maximum(a, b), np.where(a < b, part.margin, -part.margin)
    turn = np.argsort(above * len(order) + below)
    return only_margins(tuple(part.agents[k] for k in order), above[turn], below[turn], won[turn])
