"""Kemeny-Young: the order with the smallest sum of Kendall-tau distances to the votes, with a proof or a bound.

The strict majority graph is split into strongly connected components, whose optima one below the other are an optimum
(``solvers.components``). Up to 20 agents in a component: dynamic programming over subsets, O(2^c c). Above, the
search for a good order (``local_search``) and a bound from cycles of the majority (``solvers.components``); where
they do not meet, for up to 1,000 agents, a linear program with 3-cycle cuts (``linear_ordering``), in whole numbers
where its solution is not whole. It begins with the cuts of the cycles that the bound is made of, which are most of
those it needs.

When it misleads: it says nothing about distances between agents, and where several orders are optimal it shows one.
Cost: milliseconds where the majority is nearly transitive; minutes where votes are pure noise over 60 agents or more:
`time_limit` then ends the search with a proven gap.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from softcondorcet.arrays import Floats, Ints
from softcondorcet.backends.cpu import PairwiseLoss, Stage
from softcondorcet.checks import box, check, not_negative, yes_or_no
from softcondorcet.exact_sums import in_steps
from softcondorcet.formatting import number
from softcondorcet.majority import condorcet_winner, smith_set, strong_labels
from softcondorcet.methods.local_search import by_margins, contradicted_by, improve, search
from softcondorcet.methods.result import Data, limits, rated, votes_per_agent
from softcondorcet.methods.sco import sco
from softcondorcet.pairs import Pairs, as_pairs
from softcondorcet.ratings import Ratings
from softcondorcet.solvers import components
from softcondorcet.solvers.components import (
    MOST,
    Solve,
    Solved,
    best_order,
    in_sequence,
    loss_as_listed,
    margin_matrix,
    only_margins,
    packed,
    unavoidable,
    weigh,
)
from softcondorcet.solvers.linear_ordering import solve_program
from softcondorcet.solvers.order_tiers import EQUAL, small, tiers_along
from softcondorcet.solvers.subsets import SUBSETS


@dataclass(frozen=True)
class Exact:
    """Components of up to so many agents are ordered by subsets, and by a linear program: one of 1,000 agents has

    500,000 variables.
    """

    subsets: int = SUBSETS
    program: int = 1_000


EXACT = Exact()
# More pairs than this take sco longer than the search for a better order that follows.
_SMOOTH = 5_000_000
# The most a search for a good order may take: rounds, and share of the time.
_ROUNDS, _SEARCH = 5, 0.3
# Losses of margins that are not whole count as equal if they differ by less than this share of them.
_CLOSE = 1e-6


def kemeny(data: Data, *, time_limit: float = 60.0, bounds: tuple[float, float] = (0.0, 100.0)) -> Ratings:
    """The Kemeny-Young order: no order contradicts the votes less.

    Ratings are evenly spaced in `bounds` along the order; only the order has a meaning. When `time_limit` (seconds)
    ends the search, the best order found comes with a proven ``lower_bound`` and ``gap``; ``converged`` is then False.
    ``status`` says how it ended: "optimal", "time_limit", or "stalled" where more time would not raise the bound.

    >>> from softcondorcet import Profile
    >>> board = kemeny(Profile.from_rankings([["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]], weights=[3, 2, 2]))
    >>> board.order, board.discrete_loss, board.gap
    (['a', 'b', 'c'], 8.0, 0.0)
    """
    pairs = as_pairs(data)
    low, high = box("bounds", bounds)
    not_negative("time_limit", time_limit)
    first = _first_order(pairs, time.monotonic() + _SEARCH * time_limit)
    best = optimum(pairs, time_limit, first=first)
    loose = small(strong_labels(pairs, by="majority"))
    equal = EQUAL * float(np.ptp(first)) if len(first) else 0.0
    return rated(
        data,
        tiers_along(pairs, best.order, first, equal, loose).evenly(pairs.n_agents, (low, high)),
        "kemeny",
        {"time_limit": time_limit, "bounds": [low, high]},
        converged=best.proven,
        status="optimal" if best.proven else "time_limit" if best.late else "stalled",
        error=best.loss - best.bound,
        lower_bound=unavoidable(pairs) + best.bound,
        only_optimum=best.only if best.proven else None,
    )


def optimum(pairs: Pairs, time_limit: float = 60.0, exact: Exact = EXACT, first: Floats | None = None) -> Solved:
    """The best order that is found in so many seconds, and the best bound; both are for margins alone.

    It starts from the ratings `first`, those of ``sco`` where none are given.
    """
    now = time.monotonic()
    first = _first_order(pairs, now + _SEARCH * time_limit) if first is None else first
    large = solve_within(now + time_limit, _sizes(pairs), exact)
    return best_order(pairs, first, large, in_sequence(pairs, first), exact.subsets)


def certify(data: Data, board: Ratings, *, time_limit: float = 10.0, made_from_these: bool = False) -> Ratings:
    """The same ratings with a proven ``lower_bound`` on the discrete loss of any order, and so a ``gap``.

    Whatever method made them, and from whatever votes: what is said is about these, and what the ratings said of others
    is dropped, unless they were `made_from_these`: then it is kept. If the search for the bound meets a better order, a
    warning of the result says so. The sigmoid loss of ``sco`` is the mean discrete loss of random orders
    (``branch_and_bound``), so it has the same bound, ``loss_bound``.

    >>> from softcondorcet import Profile
    >>> votes = Profile.from_rankings([["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]])
    >>> certify(votes, sco(votes)).gap
    0.0
    """
    pairs = as_pairs(data)
    not_negative("time_limit", time_limit)
    check(isinstance(board, Ratings), "board", "Ratings", board)
    yes_or_no("made_from_these", made_from_these)
    values = board.values_of(pairs.agents)
    ends = time.monotonic() + time_limit
    best = best_order(pairs, values, solve_within(ends, _sizes(pairs)))
    loss, smooth = pairs.discrete_loss(values), _sigmoid_loss(board, pairs, values)
    better, bound = (unavoidable(pairs) + part for part in (best.loss, best.bound))
    bound, notes = min(bound, loss), []
    if better < loss * (1 - 1e-12):
        notes.append(f"{_exists(best.proven, better)}; this one contradicts {number(loss)}")
    if best.late:
        notes.append(f"the search for a bound ended after {time_limit:g} s; it may rise with more time")
    below = None if smooth is None else min(bound, smooth)
    if made_from_these:
        return replace(
            board,
            lower_bound=max(bound, board.lower_bound or 0.0),
            loss_bound=board.loss_bound if below is None else max(below, board.loss_bound or 0.0),
            only_optimum=best.only if board.only_optimum is None else board.only_optimum,
            warnings=(*board.warnings, *notes),
        )
    return replace(
        board,
        converged=None,
        status=None,
        error=None,
        discrete_loss=loss,
        lower_bound=bound,
        only_optimum=best.only,
        optimal_orders=None,
        may_swap=None,
        loss=smooth,
        loss_bound=below,
        order_certified=None,
        condorcet_winner=condorcet_winner(pairs),
        smith_set=smith_set(pairs),
        warnings=(*limits(pairs), *notes),
        votes=_votes_of(data, board),
    )


def _exists(proven: bool, loss: float) -> str:
    """That there is an order of this loss, and whether it is the best."""
    if proven:
        return f"the best order, which kemeny shows, contradicts {number(loss)} comparisons"
    return f"an order that contradicts {number(loss)} comparisons exists"


def _votes_of(data: Data, board: Ratings) -> Floats | None:
    """Weight of the votes that rank each agent of the board."""
    weight = votes_per_agent(data)
    if weight is None:
        return None
    known = dict(zip(data.agents, weight.tolist(), strict=True))
    return np.array([known.get(name, 0.0) for name in board.agents])


def _sigmoid_loss(board: Ratings, pairs: Pairs, values: Floats) -> float | None:
    """The plain sigmoid loss of ratings that were made to minimise it; None for those of another loss."""
    plain = {"loss": "kendall", "sharpness": 1.0, "prior": 0.0, "ties": "half"}
    others = any(board.options.get(key, value) != value for key, value in plain.items())
    known = {"bounds", "temperature"} <= board.options.keys()  # ratings made by hand may have no options
    boxed = board.scale_name == "box" or board.method == "sigmoidal_program"
    if others or not known or not boxed:
        return None
    low, high = board.options["bounds"]
    return PairwiseLoss(pairs, (low, high)).value(values, Stage(1.0, board.options["temperature"]))


def _sizes(pairs: Pairs) -> Ints:
    """Sizes of the components of the majority."""
    return np.bincount(strong_labels(pairs, by="majority"))


class _Enough(Exception):  # noqa: N818
    """Raised when the time limit is over."""


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
        return sco(pairs, watch=watch, scale="box").values
    except _Enough:
        return latest


def solve_within(ends: float, size: Ints, exact: Exact = EXACT) -> Solve:
    """How to solve components too large for subsets, by a time of the monotonic clock, each with its share of it.

    `size` is the number of agents of each component.
    """
    left = float((size[size > exact.subsets] ** 2.0).sum())

    def solve(part: Pairs) -> Solved:
        nonlocal left
        now, own = time.monotonic(), part.n_agents**2.0
        share, left = own / left, left - own
        return solve_large(part, now + share * max(ends - now, 0.0), exact)

    return solve


def solve_large(part: Pairs, ends: float, exact: Exact = EXACT) -> Solved:
    """A good order of a component and the best bound there is time for, by `ends`.

    The bound is the loss where it proves that no order is better. Margins without a common step are sums of rounded
    numbers: there the proof is up to a millionth of the loss, and the bound stays below.
    """
    margin, unit, whole = in_steps(part.margin)
    solved = _solve_scaled(only_margins(part.agents, part.left, part.right, margin), whole, ends, exact)
    loss = contradicted_by(part, solved.order)
    below = unit * solved.bound * (1.0 if whole else 1 - 1e-12)  # less what may be rounding
    bound = loss if whole and solved.proven else min(below, loss)
    return replace(solved, loss=loss, bound=bound, late=not solved.proven and time.monotonic() >= ends)


def _solve_scaled(part: Pairs, whole: bool, ends: float, exact: Exact) -> Solved:
    """The order as it came, improved, if a quick bound proves it; else a better one, and bounds as dear as it takes."""
    order: Ints = np.arange(part.n_agents)
    improve(part, order, _soon(ends))
    loss = contradicted_by(part, order)
    apart = components.WHOLE if whole else _CLOSE * loss
    if len(part) > MOST:
        order = search(part, [order], rounds=_ROUNDS, ends=_soon(ends))
        loss, bound = contradicted_by(part, order), packed(part, order, ends)
        return Solved(order, loss, bound, loss - bound <= apart)
    quick = packed(part, order, _soon(ends))
    if loss - quick <= apart:
        return Solved(order, loss, quick, True)
    order = search(part, [order, by_margins(part)], rounds=_ROUNDS, ends=_soon(ends))
    solved = prove(part.renumbered(order), quick, apart, ends, exact)
    return replace(solved, order=order[solved.order])


def prove(part: Pairs, bound: float, apart: float, ends: float, exact: Exact) -> Solved:
    """Better bounds on a component listed in a good order, each dearer than the last, until one proves an order.

    Losses of two orders count as equal if they differ by less than `apart`.
    """
    order: Ints = np.arange(part.n_agents)
    loss, bound = loss_as_listed(part), max(bound, packed(part, order, _soon(ends)))
    if loss - bound > apart:
        weighing = weigh(part, loss - apart, ends)
        bound = max(bound, weighing.best)
        if loss - bound > apart:  # it may be the order that is not the best
            order = search(part, [order], rounds=_ROUNDS, ends=_soon(ends), seed=1)
            loss = contradicted_by(part, order)
        if loss - bound > apart and part.n_agents <= exact.program:
            cuts = weighing.triples()
            order, proven = solve_program(margin_matrix(part), apart, ends, start=order, cuts=cuts)
            loss, bound = contradicted_by(part, order), max(bound, proven)
    bound = whole_bound(bound) if apart == components.WHOLE else bound
    return Solved(order, loss, bound, loss - bound <= apart)


def whole_bound(bound: float) -> float:
    """Losses of whole margins are whole, and so is a bound, once what may be rounding is off."""
    return float(np.ceil(bound - 1e-6))


def _soon(ends: float) -> float:
    """When a search for a good order must end, to leave time for bounds."""
    now = time.monotonic()
    return now + _SEARCH * max(ends - now, 0.0)
