"""The sigmoid loss of ``sco`` minimised globally, with a proof: a sigmoidal program, by branch and bound.

Over all votes and all pairs a above b in a vote, ratings r in the box `bounds` minimise

    sum sigma((r_b - r_a) / temperature)        (Lanctot et al., AAMAS 2025, eq. 5; Udell and Boyd, 2013).

It is a constant plus the same sum over margins, L. Two facts make it tractable:

- L is the mean of what a random order contradicts (``branch_and_bound``), so K*, the least that any order
  contradicts, bounds it from below. The optimal order spread evenly over the box costs at most K* + (sum of margins)
  * sigma(-gap), where gap is the width of the box in temperatures / (m - 1). Where that is little, the optimal order
  and Newton's method give ratings that are proven to be a global minimum, without any search.
- For the same reason the shares sigma(...) satisfy the inequalities of orders. They make a linear program below L
  tight enough for a search of few nodes (``solvers.branch_and_bound``).

The discrete half is what it costs an order to put one agent above another. K(order) is the sum of the margins that an
order contradicts, K* the smallest. The majority splits into components, whose optima one below the other are an
optimum (``solvers.components``). An order that puts b above a contradicts at least

    K* + detour[b, a],

where the detour is exact for two agents of one component of at most 20 (dynamic programming over subsets; the other
components can stay at their optimum), at least margin[a, b] where a's component is the higher one, and 0 otherwise.

When it misleads: the proof is about the loss, not about the truth. In a box of few temperatures the order of the
minimum need not be the one that contradicts the votes least, nor follow the majority where that is transitive.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from softcondorcet import majority
from softcondorcet.arrays import Flags, Floats, Ints
from softcondorcet.backends.cpu import PairwiseLoss, Stage
from softcondorcet.checks import Box, Watch, box, natural, not_negative, positive, scale
from softcondorcet.errors import DataError
from softcondorcet.exact_sums import level
from softcondorcet.kernels import linear_ordering
from softcondorcet.methods.kemeny import EXACT, Exact, solve_within
from softcondorcet.methods.result import Data, rated
from softcondorcet.methods.sco import sco
from softcondorcet.pairs import Pairs, as_pairs
from softcondorcet.ratings import Ratings
from softcondorcet.solvers.branch_and_bound import FAR, Best, Proof, branch_and_bound, certain_order, first_differences
from softcondorcet.solvers.components import components, margin_matrix, only_margins, unavoidable
from softcondorcet.solvers.order_tiers import best_tiers
from softcondorcet.solvers.subsets import choose


@dataclass(frozen=True)
class Discrete:
    """A good order; a proven lower bound on K*; and what each pair of agents costs above K*."""

    order: Ints
    bound: float
    detour: Floats


def solve_discrete(pairs: Pairs, label: Ints, start: Ints, ends: float, exact: Exact = EXACT) -> Discrete:
    """Component by component of the majority, numbered from the top by `label`; each starts in the order of `start`.

    Components too large for subsets are searched until `ends`, a time of the monotonic clock.
    """
    solve, margin = solve_within(ends, np.bincount(label), exact), margin_matrix(pairs)
    detour = np.where(label[:, None] > label[None, :], np.maximum(margin.T, 0), 0.0)
    order, bound = start[np.argsort(label[start], kind="stable")], 0.0
    for first, part in components(pairs, label, order):
        members = order[first : first + part.n_agents].copy()
        if part.n_agents > exact.subsets:
            solved = solve(part)
            turn, below = solved.order, solved.bound
        else:
            inside = margin_matrix(part)
            best = linear_ordering.subset_losses(inside)
            turn = np.array(choose(inside, -np.arange(float(len(members))), part.agents)[0])
            below = best[-1]
            detour[np.ix_(members, members)] = np.maximum(linear_ordering.forced_losses(inside, best) - below, 0)
        order[first : first + part.n_agents] = members[turn]
        bound += below
    return Discrete(order, float(bound), detour)


# Of the sum of all margins: what a proof may always leave open, because the lines of the program end there.
_FLOOR = 1e-6
# Far apart, ratings move along valleys of the loss that are as good as flat, and end where rounding leads them. If
# those of ``sco`` cost no more than by this share of all margins, they are taken: they depend on no rounding.
_FLAT = 1e-8
# The search aims at a little less than what may be left open: keeping tied ratings apart costs a little afterwards.
_AIM = 0.9
# Above this many agents one linear program outlasts any patience.
_MOST = 400
# Share of the time for ordering components of more than 20 agents before the search begins.
_ORDERING = 0.1
# Ratings closer than this share of the box are equal up to rounding.
_EQUAL = 1e-9


def sigmoidal_program(
    data: Data,
    *,
    temperature: float | Literal["auto"] = "auto",
    bounds: Box = (0.0, 100.0),
    tol: float = 1e-3,
    nodes: int = 100_000,
    time_limit: float = 60.0,
    watch: Watch | None = None,
) -> Ratings:
    """Ratings with the smallest sigmoid loss of any in the box, and the proof of it: ``loss_bound``.

    Parameters
    ----------
    data: a Profile, or Pairs; at most 400 agents.
    temperature: of the logistic function, in rating units; "auto" is the paper's, the width of the box / 100.
    bounds: the box; the paper's is (0, 100).
    tol: converged when the loss is within this share of its bound, or within 1e-6 of the sum of all margins.
    nodes, time_limit: most nodes of the search, and seconds; then the best ratings so far come with their bound.
    watch: called as ``watch(node, nodes, ratings)`` after each node.

    ``status`` says how it ended: "kemeny_certificate" (proven by the discrete loss, no search), "narrow_box" (no
    search either: ratings can hardly differ in it), "root" (by one linear program), "optimal" (by search),
    "node_limit" or "time_limit", or "within_tolerance" where a limit ended a search that had met `tol` all the same.
    ``order_certified[a, b]`` is True where a stands above b in every global minimum.

    >>> from softcondorcet import Profile
    >>> board = sigmoidal_program(Profile.from_rankings([["A", "B", "C"], ["C", "A", "B"]], weights=[2, 3]))
    >>> board.order, board.status, board.loss_gap, int(board.order_certified.sum())
    (['C', 'A', 'B'], 'kemeny_certificate', 0.0, 3)
    """
    pairs = as_pairs(data)
    low, high = bounds = box("bounds", bounds)
    if temperature != "auto":
        scale("temperature", temperature, bounds)
    positive("tol", tol)
    natural("nodes", nodes)
    not_negative("time_limit", time_limit)
    if pairs.n_agents > _MOST:
        raise DataError(f"sigmoidal_program: expected at most {_MOST} agents, got {pairs.n_agents:,}; use sco")
    began = time.monotonic()
    heat = (high - low) / 100 if temperature == "auto" else float(temperature)

    start = sco(pairs, temperature=heat, bounds=bounds, scale="box")
    problem = Problem.of(pairs, (high - low) / heat, tol)
    patience = time_limit if problem.wide else _ORDERING * time_limit
    discrete = _discrete(pairs, problem, start, began + patience)
    best = Best(problem.margin, problem.width)
    best.consider((start.values - low) / heat)
    best.consider(_evenly(discrete, best))

    def as_ratings() -> Floats:
        return np.clip(low + heat * best.x, low, high)

    def tell(node: int) -> None:
        if watch is not None:
            watch(node, nodes, as_ratings())

    proof = problem.prove(discrete, best) or problem.search(discrete, best, nodes, began + time_limit, tell)
    ratings = _apart(pairs, level(as_ratings(), _EQUAL * (high - low)), bounds)
    loss = PairwiseLoss(pairs, bounds).value(ratings, Stage(1.0, heat))
    if start.loss is not None and start.loss <= loss + _FLAT * problem.unit * problem.total:
        ratings, loss = start.values, start.loss
    bound = min(problem.unit * (problem.always + proof.bound), loss)
    # The search aims lower than `tol`: what a limit ended may be within it all the same.
    met = loss - bound <= max(tol * loss, _FLOOR * problem.unit * problem.total)
    return rated(
        data,
        ratings,
        "sigmoidal_program",
        {"temperature": heat, "bounds": [low, high], "tol": tol, "nodes": nodes, "time_limit": time_limit},
        converged=met,
        status="within_tolerance" if met and proof.status.endswith("limit") else proof.status,
        steps=proof.nodes,
        error=loss - bound,
        loss=loss,
        loss_bound=bound,
        lower_bound=problem.unit * (problem.always + discrete.bound),
        only_optimum=start.only_optimum,
        order_certified=certain_order(problem.slack(discrete, best), discrete.detour),
    )


@dataclass(frozen=True)
class Problem:
    """Margins of at most 2 and the constant of the loss, in `unit`; the width of the box in temperatures; `tol`."""

    margin: Floats
    always: float
    unit: float
    width: float
    tol: float

    @classmethod
    def of(cls, pairs: Pairs, width: float, tol: float) -> Problem:
        largest = float(np.abs(pairs.margin).max(initial=0.0))
        # A power of two: whole margins add up as exactly as before.
        unit = float(np.ldexp(1.0, int(np.frexp(largest)[1]) - 1)) if largest else 1.0
        return cls(margin_matrix(pairs) / unit, unavoidable(pairs) / unit, unit, width, tol)

    @property
    def total(self) -> float:
        """The sum of all margins."""
        return float(np.abs(self.margin).sum()) / 2

    @property
    def wide(self) -> bool:
        """Whether an optimal order, spread over the box, is within the floor of a global minimum."""
        return self.width >= FAR * (len(self.margin) - 1)

    def allowed(self, loss: float) -> float:
        """By how much a proven loss may exceed its bound."""
        return _AIM * max(self.tol * (loss + self.always), _FLOOR * self.total)

    def bound(self, discrete: Discrete) -> float:
        """What is known without a search. No share is below sigma(-width), which settles boxes of hardly any width."""
        return max(discrete.bound, self.total / (1 + float(np.exp(min(self.width, 700.0)))))

    def slack(self, discrete: Discrete, best: Best) -> float:
        """How far the best loss can be above K*, rounding included."""
        return max(best.loss - discrete.bound, 0.0) + 1e-12 * self.total

    def prove(self, discrete: Discrete, best: Best) -> Proof | None:
        """The proof that needs no search, if there is one."""
        bound, enough = self.bound(discrete), best.loss - self.allowed(best.loss)
        status = "kemeny_certificate" if discrete.bound >= enough else "narrow_box"
        return Proof(bound, 0, status) if bound >= enough else None

    def search(self, discrete: Discrete, best: Best, nodes: int, ends: float, watch: Callable[[int], None]) -> Proof:
        """The proof by branch and bound, as far as it comes; `best` has the ratings."""
        first = first_differences(self.margin, self.width, self.slack(discrete, best), discrete.detour)
        bound, allowed = self.bound(discrete), self.allowed
        return branch_and_bound(best, first, bound, allowed, nodes=nodes, ends=ends, watch=watch)


def _discrete(pairs: Pairs, problem: Problem, start: Ratings, ends: float) -> Discrete:
    margins = only_margins(pairs.agents, pairs.left, pairs.right, pairs.margin / problem.unit)
    return solve_discrete(margins, majority.strong_labels(pairs, by="majority"), start.index, ends)


def _evenly(discrete: Discrete, best: Best) -> Floats:
    """The agents that a margin speaks about, spread over the box in the optimal order."""
    x = np.full(len(discrete.order), best.width / 2)
    spoken = discrete.order[~best.silent[discrete.order]]
    x[spoken] = np.linspace(best.width, 0.0, len(spoken))
    return x


def _apart(pairs: Pairs, ratings: Floats, bounds: Box) -> Floats:
    """The same ratings, but agents that share one, although a margin tells them apart, are put a little apart.

    In a narrow box others may reach the upper bound with a Condorcet winner. It is lifted there, which never raises
    the loss (the paper's theorem 1), and the others are kept a billionth of the box below.
    """
    low, high = bounds
    ratings = ratings.copy()
    for agent, value in ((majority.condorcet_winner(pairs), high), (majority.condorcet_loser(pairs), low)):
        if agent is not None:
            ratings[pairs.agents.index(agent)] = value
    equal = _EQUAL * (high - low)
    near: Flags = np.less_equal(np.abs(ratings[pairs.left] - ratings[pairs.right]), equal)
    level = Pairs(pairs.agents, *(getattr(pairs, name)[near] for name in ("left", "right", "wins", "losses", "ties")))
    tiers = best_tiers(level, ratings, equal)
    return tiers.put(ratings, tiers.follow(ratings, bounds)) if len(tiers.agents) else ratings
