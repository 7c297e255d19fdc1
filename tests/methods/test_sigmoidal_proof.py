"""What the proof of a global minimum of the sigmoid loss rests on: each fact, the cuts, the bounds, the search."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pytest
import reference
from helpers.margins import CHAIN, Array, pairs_of
from hypothesis import given, settings, strategies as st

import softcondorcet as sc
from softcondorcet.kernels import sigmoidal
from softcondorcet.majority import strong_labels
from softcondorcet.methods import sigmoidal_program
from softcondorcet.solvers.branch_and_bound import (
    TRIPLE_ABOVE,
    TRIPLE_BELOW,
    Best,
    Proof,
    Relaxation,
    branch_and_bound,
    certain_order,
    close,
    exchangeable,
    first_differences,
    join,
    logistic,
    rows_of,
    tighten,
)

# The paper's ratings, whatever the kind of votes.
boxed = partial(sc.sco, scale="box")


NEVER = math.inf


def random_margin(rng: np.random.Generator, m: int, largest: int = 5, level: float = 0.2) -> Array:
    """Whole margins, some of them zero."""
    upper = np.triu(rng.integers(-largest, largest + 1, (m, m)) * (rng.random((m, m)) > level), 1).astype(float)
    return np.asarray(upper - upper.T)


def smooth_loss(margin: Array, x: Array) -> float:
    """L, straight from its definition."""
    return float((np.maximum(margin, 0) / (1 + np.exp(np.subtract.outer(x, x)))).sum())


def discrete(margin: Array) -> sigmoidal_program.Discrete:
    pairs = pairs_of(margin)
    return sigmoidal_program.solve_discrete(pairs, strong_labels(pairs, by="majority"), np.arange(len(margin)), NEVER)


def many_starts(margin: Array, width: float, rng: np.random.Generator, starts: int = 60) -> float:
    """The best of many local minima."""
    m = len(margin)
    ends = (sigmoidal.polish(margin, rng.choice([rng.random(m), np.argsort(rng.random(m)) / m]) * width, width)
            for _ in range(starts))  # fmt: skip
    return min(smooth_loss(margin, x) for x in ends)


def search(margin: Array, width: float, most: Array, allowed: Callable[[float], float]) -> tuple[Best, Proof]:
    """The tree alone: no ratings to start from, and no bound."""
    best = Best(margin, width)
    return best, branch_and_bound(best, most, 0.0, allowed, nodes=5000, ends=NEVER)


def test_the_loss_is_the_mean_of_what_a_random_order_contradicts() -> None:
    """Exactly, summed over all orders with the probabilities of Plackett and Luce."""
    rng = np.random.default_rng(1)
    for m in (2, 3, 4, 5):
        margin, x = random_margin(rng, m), 3 * rng.standard_normal(m)
        strength, mean = np.exp(x), 0.0
        for order, loss in reference.contradicted_margins(margin).items():
            left = np.cumsum(strength[list(order)][::-1])[::-1]
            mean += loss * float(np.prod(strength[list(order)] / left))
        assert sum(sigmoidal.loss_parts(margin, x)) == pytest.approx(mean, rel=1e-12)
        assert smooth_loss(margin, x) == pytest.approx(mean, rel=1e-12)


def test_no_ratings_are_below_the_discrete_loss() -> None:
    rng = np.random.default_rng(2)
    for _ in range(300):
        margin = random_margin(rng, int(rng.integers(2, 9)))
        least = discrete(margin).bound
        assert smooth_loss(margin, rng.random(len(margin)) * rng.choice([1, 5, 50])) >= least - 1e-9


def test_an_order_spread_evenly_is_near_its_discrete_loss() -> None:
    """The proof without a search: the wider the box, the nearer."""
    rng = np.random.default_rng(3)
    for _ in range(40):
        margin = random_margin(rng, int(rng.integers(2, 8)))
        width = float(rng.choice([5.0, 30.0, 100.0]))
        board = sc.sigmoidal_program(pairs_of(margin), temperature=100 / width)
        least, total = discrete(margin).bound, np.abs(margin).sum() / 2
        assert board.loss is not None
        assert (
            least - 1e-9 <= board.loss <= least + total * float(logistic(np.array(-width / (len(margin) - 1)))) + 1e-9
        )


def test_detours_by_trying_all_orders() -> None:
    """Exact inside a component, never too high between them."""
    rng = np.random.default_rng(4)
    between = 0
    for _ in range(60):
        margin = random_margin(rng, int(rng.integers(2, 7)))
        m, found, label = len(margin), discrete(margin), strong_labels(pairs_of(margin), by="majority")
        losses = reference.contradicted_margins(margin)
        least = min(losses.values())
        assert found.bound == losses[tuple(found.order.tolist())] == least
        for b, a in itertools.permutations(range(m), 2):
            detour = min(loss for order, loss in losses.items() if order.index(b) < order.index(a)) - least
            if label[a] == label[b]:
                assert found.detour[b, a] == detour
            else:
                assert found.detour[b, a] <= detour
                between += found.detour[b, a] > 0
    assert between > 50


def test_a_pair_the_wrong_way_round_costs_its_detour() -> None:
    """On any ratings: what bounds their differences, and certifies their order."""
    rng = np.random.default_rng(5)
    for _ in range(300):
        margin = random_margin(rng, int(rng.integers(2, 9)))
        found, x = discrete(margin), rng.random(len(margin)) * rng.choice([1, 5, 30])
        wrong = logistic(np.subtract.outer(x, x))  # [b, a]: the probability of b above a
        np.fill_diagonal(wrong, 0)
        assert (found.bound + wrong * found.detour).max() <= smooth_loss(margin, x) + 1e-9


def exchanges(margin: Array, x: Array) -> Iterator[Array]:
    """The ratings, and after each swap that puts an agent above one that it is exchangeable with."""
    yield x
    for _ in range(len(x) ** 2):
        wrong = np.argwhere(exchangeable(margin) & (x[:, None] < x[None, :]))
        if not len(wrong):
            return
        x = x.copy()
        x[wrong[0]] = x[wrong[0][::-1]]
        yield x
    raise AssertionError("exchanges must end")


def test_exchanging_ratings_of_a_better_agent_never_raises_the_loss() -> None:
    """Until all pairs are sorted at once."""
    rng = np.random.default_rng(6)
    swaps = 0
    for _ in range(300):
        margin = random_margin(rng, int(rng.integers(2, 6)), largest=2)
        losses = [smooth_loss(margin, x) for x in exchanges(margin, rng.random(len(margin)) * 6)]
        assert (np.diff(losses) <= 1e-12).all()
        swaps += len(losses) - 1
    assert swaps > 100


def test_twins_are_exchangeable_one_way() -> None:
    assert exchangeable(np.zeros((3, 3))).tolist() == np.triu(np.ones((3, 3), dtype=bool), 1).tolist()


def test_a_pair_is_certain_where_its_detour_costs_more_than_twice_the_slack() -> None:
    """s(x_b - x_a) <= slack / detour is below 1/2 only then; at twice the slack the two may be level."""
    detour = np.array([[0.0, 1.9], [2.1, 0.0]])
    assert certain_order(1.0, detour).tolist() == [[False, True], [False, False]]
    assert not certain_order(1.0, np.array([[0.0, 2.0], [2.0, 0.0]])).any()


def weak_link(m: int) -> Array:
    """A transitive majority by 501 each, but for one agent in the middle that hardly beats its neighbours."""
    margin, k = np.triu(np.full((m, m), 501.0), 1), m // 2 - 1
    margin[k, k + 1] = margin[k - 1, k + 1] = margin[k, k + 2] = 1
    return margin


@pytest.mark.parametrize(
    ("upper", "width", "inverted"),
    [
        *((CHAIN, width, width < 8) for width in (1.0, 3.0, 5.0, 6.0, 8.0, 20.0)),
        *((weak_link(m), 100.0, m > 13) for m in (10, 13, 15, 16)),
    ],
)
def test_the_order_of_the_minimum_may_contradict_a_transitive_majority(
    upper: Array, width: float, inverted: bool
) -> None:
    """Also in the paper's box. Proven: the bound with the majority's order of the pair is above the loss."""
    margin, k = upper - upper.T, len(upper) // 2 - 1
    board = sc.sigmoidal_program(pairs_of(margin), temperature=100 / width)
    assert board.converged and board.loss is not None
    assert (board.values[k] < board.values[k + 1]) == inverted
    assert board.order_certified is not None and not (board.order_certified[k, k + 1] and inverted)
    # What `sco` ends with by default is the majority's order, and so at a higher loss; without polish it is not.
    polished, soft = (boxed(pairs_of(margin), temperature=100 / width, polish=polish) for polish in (True, False))
    assert polished.values[k] > polished.values[k + 1] and polished.gap == 0
    if inverted:
        assert soft.values[k] < soft.values[k + 1]
        assert soft.loss is not None and polished.loss is not None and soft.loss < polished.loss
        unit = margin.max()
        plain = np.full(margin.shape, width) * (1 - np.eye(len(margin)))
        allowed = -0.02 * board.loss / unit  # search on until the bound is clearly above the loss
        best = Best(margin / unit, width)
        best.consider(board.values / 100 * width)
        proof = branch_and_bound(best, tighten(plain, k + 1, k, 0.0), 0.0, lambda _: allowed, nodes=5000, ends=NEVER)
        assert proof.bound * unit > 1.01 * board.loss


def test_lines_are_above_the_logistic_function_on_their_interval() -> None:
    """Thousands of intervals, at all scales, and those that rounding makes: a lower end of -1e-16."""
    rng = np.random.default_rng(7)
    n = 4000
    low = rng.choice([-1.0, 1.0], n) * 10 ** rng.uniform(-17, 2.5, n)
    low[:200] = np.repeat([-1e-16, -4e-16, -1e-14, 0.0], 50)
    high = low + 10 ** rng.uniform(-12, 2.5, n)
    line = np.empty((2, n))
    sigmoidal.lines_above(low, high, rng.uniform(-20, 20, n), line)
    for share in np.linspace(0, 1, 101):
        d = low + share * (high - low)
        assert (line[0] + line[1] * d >= logistic(d)).all()
    assert (line[1] >= 0).all()


def test_lines_touch_where_they_should() -> None:
    """Not only valid: tangents touch where they are asked to, chords at both ends."""
    line = np.empty((2, 3))
    low, high, point = np.array([1.0, -5.0, -3.0]), np.array([4.0, 8.0, -1.0]), np.array([2.0, 3.0, 0.0])
    sigmoidal.lines_above(low, high, point, line)
    at = line[0] + line[1] * np.array([2.0, 3.0, -1.0])
    np.testing.assert_allclose(at, logistic(np.array([2.0, 3.0, -1.0])), atol=1e-11)
    assert line[0, 2] + line[1, 2] * -3 == pytest.approx(float(logistic(np.array(-3.0))), abs=1e-11)
    # From -5 the envelope leaves s on a straight line, which touches it where slope and chord agree.
    p = sigmoidal.touching(-5.0)
    assert sigmoidal.slope_at(p) * (p + 5) == pytest.approx(sigmoidal.logistic(p) - sigmoidal.logistic(-5.0), abs=1e-12)


def some_bounds(rng: np.random.Generator, x: Array, width: float) -> Array:
    """Closed bounds on differences that x satisfies, loose and tight."""
    lead = np.subtract.outer(x, x)
    most = np.minimum(lead + 10 ** rng.uniform(-7, 2, lead.shape), width)
    np.fill_diagonal(most, 0)
    return close(most)


def test_every_row_holds_for_true_ratings_and_no_bound_is_above_their_loss() -> None:
    """Ratings within the bounds, with the true shares, satisfy every row and column, so no node is infeasible."""
    rng = np.random.default_rng(8)
    for _ in range(120):
        m, width = int(rng.integers(2, 8)), float(rng.choice([1.0, 5.0, 20.0, 100.0]))
        margin = random_margin(rng, m) / 5
        x = rng.random(m) * width
        x[rng.integers(m)] = x[rng.integers(m)]
        program = Relaxation(margin, width)
        found = program.solve(some_bounds(rng, x, width), program.first_rows(), None, NEVER, NEVER)
        assert found.x is not None
        assert found.bound <= smooth_loss(margin, x) + 1e-9
        y = np.concatenate([x / width, logistic(x[program.i] - x[program.j])])
        assert (y >= program.least - 1e-12).all() and (y <= program.largest + 1e-12).all()
        for column, value, least, largest in program.stated:
            row = (value * y[column]).sum(axis=1)
            assert (row >= least - 1e-12).all() and (row <= largest + 1e-12).all()


def test_a_bound_holds_for_any_dual_values() -> None:
    """Weak duality: near the best dual values or far from them, of either sign, none gives more than the best ones."""
    rng = np.random.default_rng(9)
    margin, width = random_margin(rng, 6) / 5, 8.0
    program = Relaxation(margin, width)
    found = program.solve(np.full((6, 6), width) * (1 - np.eye(6)), program.first_rows(), None, NEVER, NEVER)
    dual = np.array(program.highs.getSolution().row_dual)
    assert program._bound(dual) == found.bound
    for scale in (1e-4, 0.01, 0.1, 1.0, 10.0):
        for best in (dual, 0 * dual):
            assert program._bound(best + scale * rng.standard_normal(len(dual))) <= found.bound + 1e-9


def test_a_dual_value_of_the_wrong_sign_counts_for_nothing() -> None:
    """Equal ratings leave both rows of a triple slack; a dual that asks for that slack must not get it."""
    margin = np.array([[0.0, 1.0, 1.0], [-1.0, 0.0, 1.0], [-1.0, -1.0, 0.0]])
    program = Relaxation(margin, 5.0)
    triple = [np.array([k]) for k in range(3)]
    kinds = (TRIPLE_ABOVE, TRIPLE_BELOW)
    rows = join([rows_of(kind, *triple[:2], k=triple[2]) for kind in kinds])
    program._start(np.zeros((3, 3)), rows, None)
    for dual in ([1.0, -1.0], [1.0, 0.0], [0.0, -1.0]):
        assert program._bound(np.array(dual)) == pytest.approx(1.5, abs=1e-9)


def test_agents_without_a_margin_are_not_moved_by_the_search() -> None:
    margin = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    best = Best(margin, 8.0)
    best.consider(np.array([7.0, 1.0, 8.0]))
    assert best.x.tolist() == [8.0, 0.0, 4.0]


def test_tightened_bounds_are_closed() -> None:
    rng = np.random.default_rng(10)
    for _ in range(50):
        x = rng.random(6) * 10
        most = some_bounds(rng, x, 10.0)
        a, b = rng.choice(6, 2, replace=False)
        limit = rng.uniform(-most[b, a], most[a, b])
        plain = most.copy()
        plain[a, b] = limit
        np.testing.assert_allclose(tighten(most, a, b, limit), close(plain), atol=1e-12)


def test_the_first_bounds_hold_for_the_best_ratings_known() -> None:
    """Those by cost for whatever is as good as the best, those by exchange once it is sorted."""
    rng = np.random.default_rng(11)
    for _ in range(30):
        margin = random_margin(rng, 6, largest=3) / 4
        found, best = discrete(margin), Best(margin, 12.0)
        for _ in range(30):
            best.consider(rng.random(6) * 12)
        most = first_differences(margin, 12.0, best.loss - found.bound, found.detour)
        *_, x = exchanges(margin, best.x)
        assert (np.subtract.outer(x, x) <= most + 1e-9).all()
        assert (most < 12.0).any()


@pytest.mark.parametrize("width", [2.0, 5.0, 20.0, 100.0])
def test_the_search_alone_finds_what_many_starts_find(width: float) -> None:
    """No ratings to start from, no discrete loss, no known differences."""
    rng = np.random.default_rng(12)
    for _ in range(10):
        margin = random_margin(rng, int(rng.integers(3, 7))) / 5
        plain = np.full(margin.shape, width) * (1 - np.eye(len(margin)))
        least, total = many_starts(margin, width, rng), np.abs(margin).sum() / 2
        best, proof = search(margin, width, plain, lambda _: 1e-5 * total)  # noqa: B023  (called in this turn)
        assert proof.status in ("root", "optimal")
        assert best.loss == pytest.approx(smooth_loss(margin, best.x), rel=1e-12)
        assert best.loss == pytest.approx(least, abs=2e-5 * total)
        assert best.loss - 1e-5 * total <= proof.bound <= least + 1e-12


class Failing(Relaxation):
    """A program whose solver never answers."""

    def run(self, seconds: float) -> None:
        return None


def test_a_solver_that_fails_proves_nothing_and_loses_nothing() -> None:
    margin = random_margin(np.random.default_rng(1), 8)
    best, plain = Best(margin, 5.0), np.full(margin.shape, 5.0) * (1 - np.eye(len(margin)))
    before = best.loss
    proof = branch_and_bound(best, plain, 0.5, lambda _: 0.0, nodes=20, ends=NEVER, relaxation=Failing)
    assert (proof.status, proof.nodes, proof.bound) == ("node_limit", 20, 0.5)
    assert best.loss <= before


@settings(max_examples=30)
@given(st.integers(0, 10**6))
def test_newton_ends_where_no_step_helps(seed: int) -> None:
    """At a free agent the gradient is zero, at a bound it points outwards; the loss never rises."""
    rng = np.random.default_rng(seed)
    m, width = int(rng.integers(2, 9)), float(rng.choice([1.0, 8.0, 60.0]))
    margin, start = random_margin(rng, m), rng.random(m) * width
    given = start.copy()
    x = sigmoidal.polish(margin, start, width)
    assert (start == given).all() and (x >= 0).all() and (x <= width).all()
    assert smooth_loss(margin, x) <= smooth_loss(margin, start) + 1e-12
    gradient, strength, hessian = np.empty(m), np.empty(m), np.empty((m, m))
    sigmoidal.derivatives(margin, x, gradient, strength, hessian)
    pull = np.where(x <= 0, np.minimum(gradient, 0), np.where(x >= width, np.maximum(gradient, 0), gradient))
    assert (np.abs(pull) <= 1e-6 * np.maximum(strength, 1e-3)).all()


def test_derivatives_against_differences() -> None:
    rng = np.random.default_rng(13)
    margin, x, h = random_margin(rng, 5), 3 * rng.standard_normal(5), 1e-5
    gradient, strength, hessian = np.empty(5), np.empty(5), np.empty((5, 5))
    sigmoidal.derivatives(margin, x, gradient, strength, hessian)
    for a in range(5):
        step = h * np.eye(5)[a]
        slope = (smooth_loss(margin, x + step) - smooth_loss(margin, x - step)) / (2 * h)
        assert gradient[a] == pytest.approx(slope, abs=1e-8)
        ahead, behind = np.empty(5), np.empty(5)
        sigmoidal.derivatives(margin, x + step, ahead, np.empty(5), np.empty((5, 5)))
        sigmoidal.derivatives(margin, x - step, behind, np.empty(5), np.empty((5, 5)))
        np.testing.assert_allclose(hessian[a], (ahead - behind) / (2 * h), atol=1e-8)
