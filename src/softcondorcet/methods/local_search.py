"""Orders that contradict few votes, without a proof: best insertion, and annealing that ends with it, round by round.

Both move one agent at a time (``kernels.insertion``) and share that step with the end of ``sco``.

Annealing (Kirkpatrick, Gelatt and Vecchi, 1983) draws the place of an agent with probability in proportion to
exp(-loss / heat), from a heat of one typical contradicted margin down to a tenth of it, then improves by best
insertion. Rounds start from the best order so far, and each takes twice as long as the one before: so half of the time
goes into the slowest cooling, however much time there is. Iterated local search with such restarts is among the best
known for this problem (Schiavinotto and Stuetzle, The Linear Ordering Problem: Instances, Search Space Analysis and
Algorithms, 2004); annealing in place of its random kicks leaves nothing to tune.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import numpy as np

from softcondorcet.arrays import Floats, Ints
from softcondorcet.checks import Box, box, natural, not_negative, whole
from softcondorcet.exact_sums import level
from softcondorcet.kernels import insertion
from softcondorcet.kernels.batch import seed_state
from softcondorcet.methods.result import Data, rated
from softcondorcet.pairs import Pairs, as_pairs
from softcondorcet.ratings import Ratings
from softcondorcet.seeds import stream
from softcondorcet.solvers.components import improve_order
from softcondorcet.solvers.order_tiers import tiers_along

# Sweeps over all agents in the first round, and the last heat as a share of the first.
_SWEEPS, _COOL = 10, 0.1


def insertion_search(data: Data, *, bounds: Box = (0.0, 100.0)) -> Ratings:
    """The Borda order, each agent then moved to its best place until no move helps.

    Ratings are evenly spaced in `bounds` along the order; only the order has a meaning.

    >>> from softcondorcet import Profile
    >>> insertion_search(Profile.from_rankings([["A", "B", "C"], ["C", "A", "B"]], weights=[2, 3])).order
    ['C', 'A', 'B']
    """
    pairs = as_pairs(data)
    low, high = box("bounds", bounds)
    order = by_margins(pairs)
    improve(pairs, order)
    return rated(data, evenly(pairs, order, (low, high)), "insertion_search", {"bounds": [low, high]})


def iterated_search(
    data: Data, *, rounds: int = 5, time_limit: float | None = None, bounds: Box = (0.0, 100.0), seed: int = 0
) -> Ratings:
    """The best order of several rounds of annealing, each from the best so far and twice as long as the last.

    Ratings are evenly spaced in `bounds` along the order; only the order has a meaning. The same seed gives the same
    order, unless `time_limit` (seconds) ends the search.

    >>> from softcondorcet import Profile
    >>> votes = Profile.from_rankings([["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]], weights=[3, 2, 2])
    >>> iterated_search(votes).order
    ['a', 'b', 'c']
    """
    pairs = as_pairs(data)
    low, high = box("bounds", bounds)
    whole("rounds", rounds)
    natural("seed", seed)
    if time_limit is not None:
        not_negative("time_limit", time_limit)
    ends = math.inf if time_limit is None else time.monotonic() + time_limit
    order = search(pairs, [by_margins(pairs)], rounds=rounds, ends=ends, seed=seed)
    improve(pairs, order)  # what time ended may have moves left; a Condorcet winner is first only when none is
    options = {"rounds": rounds, "time_limit": time_limit, "bounds": [low, high]}
    return rated(data, evenly(pairs, order, (low, high)), "iterated_search", options, seed=seed)


def search(pairs: Pairs, starts: Sequence[Ints], *, rounds: int, ends: float = math.inf, seed: int = 0) -> Ints:
    """The best order found by annealing from each start, then from the best so far; ends at a time of the clock."""
    state = seed_state(stream(seed, "annealing"))
    best, least = starts[0], math.inf
    for turn in range(rounds):
        for start in starts if turn == 0 else [best]:
            order = start.copy()
            improve(pairs, order, ends)
            for tried in (order, anneal(pairs, order, _SWEEPS << turn, ends, state)):
                loss = contradicted_by(pairs, tried)
                if loss < least:
                    best, least = tried, loss
            if least == 0 or time.monotonic() > ends:
                return best
    return best


def anneal(pairs: Pairs, start: Ints, sweeps: int, ends: float, state: Ints) -> Ints:
    """One cooling from an order, and best insertion; the order it came from is left alone."""
    rows, order, m = pairs.by_agent, start.copy(), len(start)
    place, spots = np.argsort(order), np.empty(m, dtype=np.int64)
    line, cost = np.zeros((2, m))
    for heat in typical_loss(pairs, order) * np.geomspace(1, _COOL, sweeps):
        if time.monotonic() > ends:
            break
        insertion.stir(rows.row, rows.column, rows.margin, order, place, spots, line, cost, heat, state)
    improve(pairs, order, ends)
    return order


def improve(pairs: Pairs, order: Ints, ends: float = math.inf) -> None:
    """Best insertion in place, pass by pass until no move helps or time is over."""
    rows, idle, stale = pairs.by_agent, False, np.ones(len(order), dtype=bool)
    while not idle:
        _, idle = improve_order(rows.row, rows.column, rows.margin, order, 1, stale)
        if time.monotonic() > ends:
            return


def by_margins(pairs: Pairs) -> Ints:
    """Agents by the sum of their margins, largest first: Borda's order, where votes hold all agents."""
    return np.argsort(-_sums(pairs), kind="stable")


def _sums(pairs: Pairs) -> Floats:
    """The sum of the margins of each agent; sums that differ by rounding are equal."""
    sums = pairs.by_agent.sums(pairs.by_agent.margin)
    return level(sums, 1e-12 * float(np.abs(sums).max(initial=0.0)))


def contradicted_by(pairs: Pairs, order: Ints) -> float:
    """The margins that an order contradicts."""
    return float(_contradicted(pairs, order).sum())


def typical_loss(pairs: Pairs, order: Ints) -> float:
    """The mean margin that an order contradicts; 1 when it contradicts none."""
    lost = _contradicted(pairs, order)
    return float(lost[lost > 0].mean()) if lost.any() else 1.0


def _contradicted(pairs: Pairs, order: Ints) -> Floats:
    place = np.argsort(order)
    kept = place[pairs.left] < place[pairs.right]
    return np.maximum(np.where(kept, -pairs.margin, pairs.margin), 0)


def evenly(pairs: Pairs, order: Ints, bounds: Box) -> Floats:
    """Ratings that fall evenly along an order, group by group; agents that no margin speaks about are at the middle.

    Neighbours with no margin between them and equal sums of margins are level.
    """
    return tiers_along(pairs, order, _sums(pairs), 0.0, loose=False).evenly(len(order), bounds)
