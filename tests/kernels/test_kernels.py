"""Values against the plain formula, gradients against finite differences, at many scales."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import reference
from conftest import profiles
from hypothesis import given, strategies as st

from softcondorcet import Profile, arrays, synthetic
from softcondorcet.backends.cpu import FootruleLoss, PairwiseLoss, Stage
from softcondorcet.kernels import distances, insertion, pairwise
from softcondorcet.solvers.components import improve_order

BOX = (0.0, 100.0)
SCALES = (1, 2, 3, 5, 8, 20)


def some_ratings(m: int, scale: float) -> np.ndarray:
    return 50 + scale * np.random.default_rng(m).standard_normal(m)


def tied_profile() -> Profile:
    rng = np.random.default_rng(5)
    names = [f"n{k}" for k in range(9)]
    votes = []
    for _ in range(40):
        chosen = [str(n) for n in rng.permutation(names)[: rng.integers(2, 10)]]
        votes.append([chosen[:2], *chosen[2:]] if rng.random() < 0.5 else chosen)
    return Profile.from_rankings(votes, weights=rng.integers(1, 4, 40).tolist(), agents=names)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("q", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("attract", [False, True])
def test_pairwise_value_and_gradient(scale: float, q: float, attract: bool) -> None:
    profile = tied_profile()
    loss = PairwiseLoss(profile.pairs(), BOX, prior=0.1, prior_temperature=2.0, attract=attract)
    ratings, stage = some_ratings(9, scale), Stage(q, 1.5)
    named = dict(zip(profile.agents, ratings.tolist(), strict=True))
    prior = 0.1 / 2 * float((((ratings - 50) / 2.0) ** 2).sum())
    plain = reference.family_loss(profile, named, 1.5, q, attract)
    # Relative to the sum of a few hundred terms of size one.
    assert loss.value(ratings, stage) == pytest.approx(plain + prior, rel=1e-9)
    check_gradient(loss, ratings, stage)


@pytest.mark.parametrize("scale", SCALES)
def test_footrule_value_and_gradient(scale: float) -> None:
    profile = tied_profile()
    loss, ratings, stage = FootruleLoss(profile), some_ratings(9, scale), Stage(1.0, 1.5)
    named = dict(zip(profile.agents, ratings.tolist(), strict=True))
    assert loss.value(ratings, stage) == pytest.approx(reference.footrule_loss(profile, named, 1.5), rel=1e-9)
    check_gradient(loss, ratings, stage)


def check_gradient(loss: PairwiseLoss | FootruleLoss, ratings: np.ndarray, stage: Stage) -> None:
    gradient, h = loss.gradient(ratings, stage), 1e-5
    for a in range(len(ratings)):
        step = h * (np.arange(len(ratings)) == a)
        slope = (loss.value(ratings + step, stage) - loss.value(ratings - step, stage)) / (2 * h)
        # Central differences of a loss of size 1e3: rounding leaves 1e-13 * 1e3 / h, truncation h^2.
        assert gradient[a] == pytest.approx(slope, abs=1e-4)


@pytest.mark.parametrize("q", [0.0, 1.0])
@pytest.mark.parametrize("width", [680.0, 700.0, 5_000.0])
def test_both_forms_of_the_gradient_agree_around_the_switch(width: float, q: float) -> None:
    """Up to a width of 690 temperatures exponentials per agent are used, beyond it differences; both stay finite."""
    pairs = synthetic.mallows(20, agents=30).pairs()
    loss = PairwiseLoss(pairs, (0.0, width))
    ratings = np.linspace(0, width, 30)
    fast = loss.gradient(ratings, Stage(q, 1.0))
    safe = np.empty(30)
    rows = loss.rows
    safe_form = (rows.row, rows.column, rows.margin, rows.played, np.zeros(0), ratings - width / 2, q, safe, 0, 30)
    pairwise.family_gradient(*safe_form)
    assert np.isfinite(fast).all()
    np.testing.assert_allclose(fast, safe, rtol=1e-9, atol=1e-12)


def test_the_sigmoid_loss_becomes_the_discrete_loss_as_the_temperature_falls() -> None:
    profile = tied_profile()
    ratings = np.linspace(100, 0, 9)
    value = PairwiseLoss(profile.pairs(), BOX).value(ratings, Stage(1.0, 0.05))
    assert value == pytest.approx(profile.pairs().discrete_loss(ratings), abs=1e-9)


def test_the_family_becomes_bradley_terry_as_the_sharpness_falls() -> None:
    loss, ratings = PairwiseLoss(tied_profile().pairs(), BOX), some_ratings(9, 2)
    near, at = loss.value(ratings, Stage(1e-7, 1.0)), loss.value(ratings, Stage(0.0, 1.0))
    assert near == pytest.approx(at, rel=1e-5)


def test_threads_do_not_change_a_bit() -> None:
    pairs = synthetic.tournament(500, agents=60, seed=1)[0].pairs()
    ratings, stage = some_ratings(60, 20), Stage(1.0, 1.0)
    alone = PairwiseLoss(pairs, BOX).gradient(ratings, stage)
    shared = PairwiseLoss(pairs, BOX, ranges=arrays.cut(pairs.by_agent.row, 50, parts=3))
    assert len(shared.ranges) == 3
    np.testing.assert_array_equal(shared.gradient(ratings, stage), alone)


@given(profiles(max_agents=5, max_votes=8))
def test_no_single_move_improves_an_improved_order(profile: Profile) -> None:
    rows = profile.pairs().by_agent
    order = np.arange(profile.n_agents)
    before = loss_of(profile, order)
    removed, idle = improve_order(rows.row, rows.column, rows.margin, order, 1000)
    after = loss_of(profile, order)
    assert idle
    assert before - after == pytest.approx(removed, abs=1e-9)
    for a, spot in itertools.product(range(profile.n_agents), repeat=2):
        moved = np.insert(order[order != a], spot, a)
        assert loss_of(profile, moved) >= after - 1e-9


def test_short_and_full_rows_give_the_same_insertion() -> None:
    """An agent with few partners among many is handled by sorting them, one with many by walking the order."""
    profile = synthetic.tournament(300, agents=200, size=3, seed=2)[0]
    rows, order = profile.pairs().by_agent, np.arange(200)
    line, room = np.zeros(200), np.empty(200, np.int64)
    place = np.argsort(order)
    for a in range(200):
        spots = place[rows.column[rows.row[a] : rows.row[a + 1]]]
        margin = rows.margin[rows.row[a] : rows.row[a + 1]]
        gain, best = insertion.best_place(rows.row, rows.column, rows.margin, place, line, room, a, place[a])
        up = [margin[(spots >= k) & (spots < place[a])].sum() for k in range(place[a])]
        down = [-margin[(spots <= k) & (spots > place[a])].sum() for k in range(place[a] + 1, 200)]
        most = max([0.0, *up, *down])
        assert (gain if best != place[a] else 0.0) == pytest.approx(most, abs=1e-9)


def loss_of(profile: Profile, order: np.ndarray) -> float:
    values = np.empty(len(order))
    values[order] = -np.arange(len(order))
    return profile.pairs().discrete_loss(values)


@given(st.lists(st.integers(0, 20), max_size=40))
def test_inversions(values: list[int]) -> None:
    plain = sum(a > b for a, b in itertools.combinations(values, 2))
    assert distances.inversions(np.array(values, dtype=np.int64)) == plain


def test_the_logistic_function_is_safe_far_out() -> None:
    for d in (-1e4, -800.0, 0.0, 800.0, 1e4):
        p, rest, log_p, log_rest = pairwise.logistic(d)
        assert np.isfinite([p, rest, log_p, log_rest]).all()
        assert p + rest == 1.0
        assert log_p - log_rest == pytest.approx(d)
