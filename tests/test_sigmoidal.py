"""The global minimum of the sigmoid loss: each fact its proof rests on, the bounds, and the answers."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import reference
from conftest import paper_example, profiles, tennessee, three_cycle
from hypothesis import given, settings
from hypothesis import strategies as st

import softcondorcet as sc
from softcondorcet import Pairs, Profile, Ratings
from softcondorcet.kernels import envelope, newton
from softcondorcet.majority import strong_labels
from softcondorcet.methods import forced, optimal, relaxation
from softcondorcet.methods.descent import PairwiseLoss, Stage
from softcondorcet.methods.differences import close, exchangeable, first_differences, logistic, tighten
from softcondorcet.methods.sigmoidal_tree import Best, Proof, branch_and_bound

Array = np.ndarray
NEVER = math.inf


def random_margin(rng: np.random.Generator, m: int, largest: int = 5, level: float = 0.2) -> Array:
    """Whole margins, some of them zero."""
    upper = np.triu(rng.integers(-largest, largest + 1, (m, m)) * (rng.random((m, m)) > level), 1).astype(float)
    return upper - upper.T


def pairs_of(margin: Array) -> Pairs:
    """Pairs with these margins, won without a loss."""
    i, j = np.nonzero(np.triu(margin, 1))
    won = margin[i, j]
    names = tuple(f"agent-{k:02}" for k in range(len(margin)))
    return Pairs(names, i.astype(np.int32), j.astype(np.int32), np.maximum(won, 0), np.maximum(-won, 0), 0 * won)


def smooth_loss(margin: Array, x: Array) -> float:
    """L, straight from its definition."""
    return float((np.maximum(margin, 0) / (1 + np.exp(np.subtract.outer(x, x)))).sum())


def discrete(margin: Array) -> forced.Discrete:
    label = strong_labels(pairs_of(margin), by="majority")
    return forced.solve_discrete(margin, label, np.arange(len(margin)), 0.5, NEVER)


def many_starts(margin: Array, width: float, rng: np.random.Generator, starts: int = 60) -> float:
    """The best of many local minima."""
    m = len(margin)
    ends = (newton.polish(margin, rng.choice([rng.random(m), np.argsort(rng.random(m)) / m]) * width, width)
            for _ in range(starts))  # fmt: skip
    return min(smooth_loss(margin, x) for x in ends)


def search(margin: Array, width: float, most: Array, allowed: Callable[[float], float]) -> tuple[Best, Proof]:
    """The tree alone: no ratings to start from, and no bound."""
    best = Best(margin, width)
    return best, branch_and_bound(best, most, 0.0, allowed, nodes=5000, ends=NEVER)


# What the proof rests on.


def test_the_loss_is_the_mean_of_what_a_random_order_contradicts() -> None:
    """P1: exactly, summed over all orders with the probabilities of Plackett and Luce."""
    rng = np.random.default_rng(1)
    for m in (2, 3, 4, 5):
        margin, x = random_margin(rng, m), 3 * rng.standard_normal(m)
        strength, mean = np.exp(x), 0.0
        for order, loss in reference.contradicted_margins(margin).items():
            left = np.cumsum(strength[list(order)][::-1])[::-1]
            mean += loss * float(np.prod(strength[list(order)] / left))
        assert sum(newton.loss_parts(margin, x)) == pytest.approx(mean, rel=1e-12)
        assert smooth_loss(margin, x) == pytest.approx(mean, rel=1e-12)


def test_no_ratings_are_below_the_discrete_loss() -> None:
    rng = np.random.default_rng(2)
    for _ in range(300):
        margin = random_margin(rng, int(rng.integers(2, 9)))
        least = discrete(margin).bound
        assert smooth_loss(margin, rng.random(len(margin)) * rng.choice([1, 5, 50])) >= least - 1e-9


def test_an_order_spread_evenly_is_near_its_discrete_loss() -> None:
    """P2, and so the proof without a search."""
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
    """P3, its discrete half: exact inside a component, never too high between them."""
    rng = np.random.default_rng(4)
    between = 0
    for _ in range(60):
        margin = random_margin(rng, int(rng.integers(2, 7)))
        m, found, label = len(margin), discrete(margin), strong_labels(pairs_of(margin), by="majority")
        losses = reference.contradicted_margins(margin)
        least = min(losses.values())
        assert found.bound == found.loss == losses[tuple(found.order.tolist())] == least
        for b, a in itertools.permutations(range(m), 2):
            detour = min(loss for order, loss in losses.items() if order.index(b) < order.index(a)) - least
            if label[a] == label[b]:
                assert found.detour[b, a] == detour
            else:
                assert found.detour[b, a] <= detour
                between += found.detour[b, a] > 0
    assert between > 50


def test_a_pair_the_wrong_way_round_costs_its_detour() -> None:
    """P3, its smooth half: on any ratings."""
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
    """P4: with all pairs sorted at once."""
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


CHAIN = np.triu(np.ones((4, 4)), 1)
CHAIN[0, 1] = CHAIN[2, 3] = 10


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
    """P7: also in the paper's box. Proven: the bound with the majority's order of the pair is above the loss."""
    margin, k = upper - upper.T, len(upper) // 2 - 1
    board = sc.sigmoidal_program(pairs_of(margin), temperature=100 / width)
    assert board.converged and board.loss is not None
    assert (board.values[k] < board.values[k + 1]) == inverted
    assert not board.order_certified[k, k + 1] or not inverted
    if inverted:
        unit = margin.max()
        plain = np.full(margin.shape, width) * (1 - np.eye(len(margin)))
        allowed = -0.02 * board.loss / unit  # search on until the bound is clearly above the loss
        best = Best(margin / unit, width)
        best.consider(board.values / 100 * width)
        proof = branch_and_bound(best, tighten(plain, k + 1, k, 0.0), 0.0, lambda _: allowed, nodes=5000, ends=NEVER)
        assert proof.bound * unit > 1.01 * board.loss


# Cuts, bounds, search.


def test_lines_are_above_the_logistic_function_on_their_interval() -> None:
    """Thousands of intervals, at all scales, and those that rounding makes: a lower end of -1e-16."""
    rng = np.random.default_rng(7)
    n = 4000
    low = rng.choice([-1.0, 1.0], n) * 10 ** rng.uniform(-17, 2.5, n)
    low[:200] = np.repeat([-1e-16, -4e-16, -1e-14, 0.0], 50)
    high = low + 10 ** rng.uniform(-12, 2.5, n)
    line = np.empty((2, n))
    envelope.lines_above(low, high, rng.uniform(-20, 20, n), line)
    for share in np.linspace(0, 1, 101):
        d = low + share * (high - low)
        assert (line[0] + line[1] * d >= logistic(d)).all()
    assert (line[1] >= 0).all()


def test_lines_touch_where_they_should() -> None:
    """Not only valid: tangents touch where they are asked to, chords at both ends."""
    line = np.empty((2, 3))
    low, high, point = np.array([1.0, -5.0, -3.0]), np.array([4.0, 8.0, -1.0]), np.array([2.0, 3.0, 0.0])
    envelope.lines_above(low, high, point, line)
    at = line[0] + line[1] * np.array([2.0, 3.0, -1.0])
    np.testing.assert_allclose(at, logistic(np.array([2.0, 3.0, -1.0])), atol=1e-11)
    assert line[0, 2] + line[1, 2] * -3 == pytest.approx(float(logistic(np.array(-3.0))), abs=1e-11)
    # From -5 the envelope leaves s on a straight line, which touches it where slope and chord agree.
    p = envelope.touching(-5.0)
    assert envelope.slope_at(p) * (p + 5) == pytest.approx(envelope.logistic(p) - envelope.logistic(-5.0), abs=1e-12)


def some_bounds(rng: np.random.Generator, x: Array, width: float) -> Array:
    """Closed bounds on differences that x satisfies, loose and tight."""
    lead = np.subtract.outer(x, x)
    most = np.minimum(lead + 10 ** rng.uniform(-7, 2, lead.shape), width)
    np.fill_diagonal(most, 0)
    return close(most)


def test_every_row_holds_for_true_ratings_and_no_bound_is_above_their_loss() -> None:
    """P8: ratings within the bounds, with the true shares, satisfy every row and column, so no node is infeasible."""
    rng = np.random.default_rng(8)
    for _ in range(120):
        m, width = int(rng.integers(2, 8)), float(rng.choice([1.0, 5.0, 20.0, 100.0]))
        margin = random_margin(rng, m) / 5
        x = rng.random(m) * width
        x[rng.integers(m)] = x[rng.integers(m)]
        program = relaxation.Relaxation(margin, width)
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
    program = relaxation.Relaxation(margin, width)
    found = program.solve(np.full((6, 6), width) * (1 - np.eye(6)), program.first_rows(), None, NEVER, NEVER)
    dual = np.array(program.highs.getSolution().row_dual)
    assert program._bound(dual) == found.bound
    for scale in (1e-4, 0.01, 0.1, 1.0, 10.0):
        for best in (dual, 0 * dual):
            assert program._bound(best + scale * rng.standard_normal(len(dual))) <= found.bound + 1e-9


def test_a_dual_value_of_the_wrong_sign_counts_for_nothing() -> None:
    """Equal ratings leave both rows of a triple slack; a dual that asks for that slack must not get it."""
    margin = np.array([[0.0, 1.0, 1.0], [-1.0, 0.0, 1.0], [-1.0, -1.0, 0.0]])
    program = relaxation.Relaxation(margin, 5.0)
    triple = [np.array([k]) for k in range(3)]
    kinds = (relaxation.TRIPLE_ABOVE, relaxation.TRIPLE_BELOW)
    rows = relaxation.join([relaxation.rows_of(kind, *triple[:2], k=triple[2]) for kind in kinds])
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
    """Those of P3 for whatever is as good as the best, those of P4 once it is sorted."""
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
        best, proof = search(margin, width, plain, lambda _, total=total: 1e-5 * total)
        assert proof.status in ("root", "optimal")
        assert best.loss == pytest.approx(smooth_loss(margin, best.x), rel=1e-12)
        assert best.loss == pytest.approx(least, abs=2e-5 * total)
        assert best.loss - 1e-5 * total <= proof.bound <= least + 1e-12


def test_a_solver_that_fails_proves_nothing_and_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relaxation.Relaxation, "_run", lambda *_: None)
    with pytest.warns(sc.NotConverged, match="raise nodes"):
        board = sc.sigmoidal_program(sc.synthetic.mallows(7, agents=8, phi=1.0, seed=1), temperature=20, nodes=20)
    assert board.status == "node_limit" and board.steps == 20
    assert board.loss is not None and board.loss_bound is not None and board.lower_bound is not None
    assert board.lower_bound <= board.loss_bound < board.loss


@settings(max_examples=30)
@given(st.integers(0, 10**6))
def test_newton_ends_where_no_step_helps(seed: int) -> None:
    """At a free agent the gradient is zero, at a bound it points outwards; the loss never rises."""
    rng = np.random.default_rng(seed)
    m, width = int(rng.integers(2, 9)), float(rng.choice([1.0, 8.0, 60.0]))
    margin, start = random_margin(rng, m), rng.random(m) * width
    given = start.copy()
    x = newton.polish(margin, start, width)
    assert (start == given).all() and (x >= 0).all() and (x <= width).all()
    assert smooth_loss(margin, x) <= smooth_loss(margin, start) + 1e-12
    gradient, strength, hessian = np.empty(m), np.empty(m), np.empty((m, m))
    newton.derivatives(margin, x, gradient, strength, hessian)
    pull = np.where(x <= 0, np.minimum(gradient, 0), np.where(x >= width, np.maximum(gradient, 0), gradient))
    assert (np.abs(pull) <= 1e-6 * np.maximum(strength, 1e-3)).all()


def test_derivatives_against_differences() -> None:
    rng = np.random.default_rng(13)
    margin, x, h = random_margin(rng, 5), 3 * rng.standard_normal(5), 1e-5
    gradient, strength, hessian = np.empty(5), np.empty(5), np.empty((5, 5))
    newton.derivatives(margin, x, gradient, strength, hessian)
    for a in range(5):
        step = h * np.eye(5)[a]
        slope = (smooth_loss(margin, x + step) - smooth_loss(margin, x - step)) / (2 * h)
        assert gradient[a] == pytest.approx(slope, abs=1e-8)
        ahead, behind = np.empty(5), np.empty(5)
        newton.derivatives(margin, x + step, ahead, np.empty(5), np.empty((5, 5)))
        newton.derivatives(margin, x - step, behind, np.empty(5), np.empty((5, 5)))
        np.testing.assert_allclose(hessian[a], (ahead - behind) / (2 * h), atol=1e-8)


# Answers.


@pytest.mark.parametrize("width", [30.0, 100.0, 200.0])
@pytest.mark.parametrize("weights", [(3, 1), (1, 40)])
def test_the_middle_of_three(width: float, weights: tuple[int, int]) -> None:
    """Where a beats b beats c, far apart, b balances exp(-lead) on both sides: closed form, up to exp(-width / 2)."""
    first, second = weights
    margin = np.array([[0.0, first, 1], [-first, 0, second], [-1, -second, 0]])
    board = sc.sigmoidal_program(pairs_of(margin), temperature=1.0, bounds=(0.0, width))
    assert board.values[[0, 2]].tolist() == [width, 0.0]
    expected = width / 2 + math.log(second / first) / 2
    assert board.values[1] == pytest.approx(expected, abs=max(1e-9, 40 * math.exp(-width / 2)))


@settings(max_examples=40)
@given(profiles(), st.sampled_from([0.5, 5.0, 20.0, 100.0, 1000.0]))
def test_any_profile_in_any_box(profile: Profile, width: float) -> None:
    bounds, heat = (-3.0, 7.0), 10 / width
    board = sc.sigmoidal_program(profile, bounds=bounds, temperature=heat)
    pairs = profile.pairs()
    total = float(np.abs(pairs.margin).sum())
    assert board.converged and board.loss is not None and board.loss_bound is not None
    assert board.loss == PairwiseLoss(pairs, bounds).value(board.values, Stage(1.0, heat))
    assert board.loss_bound <= board.loss <= board.loss_bound + max(1e-3 * board.loss, 1e-6 * total)
    assert board.error == board.loss - board.loss_bound
    assert board.values.min() >= -3 and board.values.max() <= 7
    like = sc.sco(profile, bounds=bounds, temperature=heat).loss
    assert like is not None and board.loss <= like * (1 + 1e-12)
    rng = np.random.default_rng(0)
    for _ in range(20):
        other = PairwiseLoss(pairs, bounds).value(rng.uniform(-3, 7, profile.n_agents), Stage(1.0, heat))
        assert other >= board.loss_bound - 1e-9
    certified = board.order_certified
    assert certified is not None and not (certified & certified.T).any()
    assert (np.subtract.outer(board.values, board.values)[certified] > 0).all()
    winner, best = reference.condorcet_winner(profile), reference.kemeny_loss(profile)
    if winner is not None:
        assert board[winner] == 7.0 and (board.ranks == 1).sum() == 1
    assert board.lower_bound is not None and board.gap is not None
    assert board.lower_bound == pytest.approx(min(best, board.discrete_loss or 0))


def test_certified_pairs_are_those_that_every_near_minimum_orders_so() -> None:
    """A cycle leaves its pairs open; who is below it is certain."""
    board = sc.sigmoidal_program(Profile.from_rankings([[*"abcd"], [*"bcad"], [*"cabd"]]))
    number = {name: k for k, name in enumerate(board.agents)}
    assert board.order_certified is not None
    certain = {(a, b) for a, b in itertools.permutations("abcd", 2) if board.order_certified[number[a], number[b]]}
    assert certain == {("a", "d"), ("b", "d"), ("c", "d")}
    assert "3 of 6 pairs of agents stand in this order in every minimum of the loss" in board.summary()
    assert sc.sigmoidal_program(tennessee()).order_certified.sum() == 6


def test_famous_profiles(famous: Profile) -> None:
    board = sc.sigmoidal_program(famous)
    assert board.status == "kemeny_certificate" and board.steps == 0
    assert board.loss_gap is not None and board.loss_gap < 1e-9
    assert board.discrete_loss == reference.kemeny_loss(famous) == board.lower_bound


def test_each_way_to_end() -> None:
    hard = sc.synthetic.mallows(9, agents=8, phi=1.0, seed=2)
    ends = {width: sc.sigmoidal_program(hard, temperature=100 / width).status for width in (100.0, 33.0, 8.0)}
    assert ends == {100.0: "kemeny_certificate", 33.0: "root", 8.0: "optimal"}


@pytest.mark.parametrize(("limit", "status"), [({"nodes": 3}, "node_limit"), ({"time_limit": 0.0}, "time_limit")])
def test_a_limit_gives_the_best_so_far_with_a_bound(limit: dict[str, float], status: str) -> None:
    profile = sc.synthetic.mallows(9, agents=9, phi=1.0, seed=2)
    full = sc.sigmoidal_program(profile, temperature=12)
    with pytest.warns(sc.NotConverged, match="raise nodes" if status == "node_limit" else "raise time_limit"):
        board = sc.sigmoidal_program(profile, temperature=12, **limit)
    assert full.converged and board.converged is False
    assert (board.status, full.status) == (status, "optimal")
    assert board.steps == limit.get("nodes", 0)
    assert board.loss_bound is not None and board.loss is not None and full.loss is not None
    assert board.loss_bound <= full.loss * (1 + 1e-12) and full.loss * (1 - 1e-3) <= board.loss
    assert board.loss_bound < board.loss


def test_many_agents_get_a_bound_in_time() -> None:
    profile = sc.synthetic.mallows(11, agents=40, phi=1.0, seed=1)
    began = time.monotonic()
    with pytest.warns(sc.NotConverged):
        board = sc.sigmoidal_program(profile, tol=1e-6, time_limit=1.0)
    assert time.monotonic() - began < 10  # one second, and what a busy machine adds
    assert board.loss_gap is not None and 0 < board.loss_gap < 0.02
    with pytest.raises(sc.DataError, match="expected at most 400 agents, got 401"):
        sc.sigmoidal_program(Profile.from_rankings([[str(k) for k in range(401)]]))


def test_a_component_too_large_for_subsets_gets_the_same_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    profile = sc.synthetic.mallows(11, agents=9, phi=1.0, seed=4)
    exact = sc.sigmoidal_program(profile, temperature=4)
    monkeypatch.setattr(optimal, "SUBSETS", 2)
    searched = sc.sigmoidal_program(profile, temperature=4)
    assert exact.converged and searched.converged
    assert searched.loss == pytest.approx(exact.loss, rel=1e-3)


@pytest.mark.parametrize("factor", [2.0**-600, 0.37, 1e-200, 1e200])
@pytest.mark.parametrize("temperature", [1.0, 12.0])
def test_the_scale_of_weights_does_not_matter(factor: float, temperature: float) -> None:
    profile = sc.synthetic.mallows(9, agents=6, phi=0.95, seed=5)
    scaled = Profile.from_rankings(profile.rankings(), weights=[factor] * 9, agents=profile.agents)
    board, other = (sc.sigmoidal_program(p, temperature=temperature) for p in (profile, scaled))
    assert other.converged and board.status == other.status and board.loss is not None
    assert other.loss == pytest.approx(board.loss * factor, rel=1e-6)
    np.testing.assert_allclose(other.values, board.values, atol=1e-3)


def test_weights_need_not_be_whole() -> None:
    rng = np.random.default_rng(14)
    for width in (5.0, 100.0):
        profile = sc.synthetic.mallows(12, agents=6, phi=1.0, seed=6)
        weighted = Profile.from_rankings(
            profile.rankings(), weights=10 ** rng.uniform(-6, 3, 12), agents=profile.agents
        )
        board = sc.sigmoidal_program(weighted, temperature=100 / width)
        assert board.converged and board.discrete_loss is not None
        assert width == 5.0 or board.discrete_loss == pytest.approx(reference.kemeny_loss(weighted))


def test_agents_nobody_compared_stay_in_the_middle_and_groups_use_the_whole_box() -> None:
    profile = Profile.from_rankings([["a", "b"], ["c", "d"], [["f", "g"]]], agents=list("abcdefg"))
    for heat in (1.0, 40.0):
        board = sc.sigmoidal_program(profile, temperature=heat)
        assert board.values.tolist() == [100, 0, 100, 0, 50, 50, 50]
        assert board.converged and any("2 groups" not in note or "never compared" in note for note in board.warnings)


@pytest.mark.parametrize("votes", [[["a"]], [["a"], ["b"]], [[["a", "b", "c"]]], [["a", "b"], ["b", "a"]]])
def test_nothing_to_minimise(votes: list[list[str]]) -> None:
    board = sc.sigmoidal_program(Profile.from_rankings(votes))
    assert board.converged and board.status == "kemeny_certificate"
    assert (board.values == 50).all()
    assert board.loss == board.loss_bound


def test_a_winner_that_shares_the_bound_is_first_alone() -> None:
    """In a box of one temperature the best ratings of several agents are all at the top."""
    board = sc.sigmoidal_program(pairs_of(CHAIN - CHAIN.T), temperature=100.0)
    assert board.values[2] > 100 - 1e-5 and board.values[0] == 100
    assert board.order[0] == "agent-00" and (board.ranks == 1).sum() == 1


def test_watching() -> None:
    seen: list[tuple[int, int, float, float]] = []

    def watch(node: int, nodes: int, ratings: Array) -> None:
        seen.append((node, nodes, ratings.min(), ratings.max()))

    board = sc.sigmoidal_program(sc.synthetic.mallows(9, agents=8, phi=1.0, seed=2), temperature=12, watch=watch)
    assert [row[:2] for row in seen] == [(k, 10_000) for k in range(1, board.steps + 1)]
    assert len(seen) > 1 and min(row[2] for row in seen) >= 0 and max(row[3] for row in seen) <= 100


def test_the_status_survives_json() -> None:
    board = sc.sigmoidal_program(three_cycle())
    back = Ratings.from_json(board.to_json())
    assert back.status == board.status == "kemeny_certificate"
    assert back.loss_bound == board.loss_bound


def test_options_are_checked() -> None:
    for options, message in (
        ({"tol": 0}, "tol must be a positive number"),
        ({"nodes": -1}, "nodes must be a whole number that is not negative"),
        ({"time_limit": -1}, "time_limit must be a number that is not negative"),
        ({"temperature": "warm"}, "temperature must be a positive number"),
        ({"bounds": (1, 1)}, "bounds must be two numbers"),
    ):
        with pytest.raises(sc.OptionError, match=message):
            sc.sigmoidal_program(paper_example(), **options)


def test_it_improves_on_descent_where_descent_is_trapped() -> None:
    """Over noise in a narrow box, sco may end in a local minimum: here 4 % above the global one."""
    profile = sc.synthetic.mallows(7, agents=8, phi=1.0, seed=5)
    ours, theirs = sc.sigmoidal_program(profile, temperature=20), sc.sco(profile, temperature=20)
    assert ours.loss is not None and theirs.loss is not None and ours.loss_bound is not None
    assert ours.loss_bound <= ours.loss < 0.97 * theirs.loss
