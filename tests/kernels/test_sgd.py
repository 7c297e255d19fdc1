"""The stochastic gradient kernels against a plain step, their own statistics, and OpenSpiel on its own batches."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from softcondorcet.kernels.batch import alias_table, choose_votes, exp, log, seed_state
from softcondorcet.kernels.compile import lean
from softcondorcet.kernels.fenchel_young import GUMBEL, NORMAL, perturbed_step, plan_perturbed, run_perturbed
from softcondorcet.kernels.pairwise import WIDE
from softcondorcet.kernels.sgd import plan_sigmoid, run_sigmoid

LAYOUTS = ["votes", "signs", "tiers"]
BOX = (-5.0, 5.0)  # around 0, where rounding of the ratings stays below the tolerance
COMPLETE = 60  # votes longer than SHORT are not laid out in lanes

Vote = list[tuple[int, int]]  # (agent, tier), best first


class Votes(NamedTuple):
    start: np.ndarray
    agent: np.ndarray
    tier: np.ndarray
    weight: np.ndarray
    m: int

    def vote(self, v: int) -> Vote:
        entries = slice(int(self.start[v]), int(self.start[v + 1]))
        return list(zip(self.agent[entries].tolist(), self.tier[entries].tolist(), strict=True))


def some_votes(m: int, n: int, seed: int = 0, ties: bool = True, shortest: int = 2) -> Votes:
    """Mixed lengths, some ties: each entry shares the tier of the one before with probability 0, 0.3 or 1 by vote."""
    rng = np.random.default_rng(seed)
    length = rng.integers(min(shortest, m), m + 1, n)
    agent = np.concatenate([rng.permutation(m)[:k] for k in length])
    chance = rng.choice([0.0, 0.3, 1.0], n, p=[0.5, 0.4, 0.1]) if ties else np.zeros(n)
    tier = np.concatenate(
        [np.append(0, np.cumsum(rng.random(k - 1) >= p)) for k, p in zip(length, chance, strict=True)]
    )
    start = np.append(0, np.cumsum(length))
    return Votes(start, agent.astype(np.int32), tier.astype(np.int32), np.ones(n), m)


def some_ratings(m: int, seed: int = 1) -> np.ndarray:
    r = np.random.default_rng(seed).uniform(*BOX, m)
    r[: m // 5] = BOX[0]
    r[m // 5 : m // 4] = BOX[1]
    return r


def plain_sigmoid_step(r: list[float], votes: list[Vote], lr: float, tau: float, lo: float, hi: float) -> list[float]:
    """Algorithm 1, one step, as written."""
    gradient = [0.0] * len(r)
    for vote in votes:
        for i, (a, above) in enumerate(vote):
            for b, below in vote[i + 1 :]:
                if above < below:
                    s = 1 / (1 + math.exp(min((r[a] - r[b]) / tau, 700)))
                    gradient[a] -= s * (1 - s) / tau
                    gradient[b] += s * (1 - s) / tau
    return [min(max(x - lr * g / len(votes), lo), hi) for x, g in zip(r, gradient, strict=True)]


def plain_perturbed_step(r: list[float], votes: list[Vote], lr: float, lo: float, hi: float) -> list[float]:
    """The Fenchel-Young step without noise: position by rating minus (middle) position in the vote."""
    gradient = [0.0] * len(r)
    for vote in votes:
        tiers = [t for _, t in vote]
        for a, tier in vote:
            by_rating = sum(r[b] > r[a] for b, _ in vote)
            in_vote = sum(t < tier for t in tiers) + (tiers.count(tier) - 1) / 2
            gradient[a] += by_rating - in_vote
    return [min(max(x + lr * g / len(votes), lo), hi) for x, g in zip(r, gradient, strict=True)]


def state_of(seed: int) -> np.ndarray:
    return seed_state(np.random.default_rng(seed))


cases = given(
    st.integers(2, 45), st.integers(1, 12), st.sampled_from([1, 2, 5, 33, 70]), st.booleans(), st.integers(0, 10**6)
)


@cases
@settings(max_examples=60, deadline=None)
@pytest.mark.parametrize("tau", [0.01, 0.5, 3.0])  # the first needs the form for ratings far apart
@pytest.mark.parametrize("layout", LAYOUTS)
def test_sigmoid_step(layout: str, tau: float, m: int, n: int, batch: int, ties: bool, seed: int) -> None:
    votes = some_votes(m, n, seed, ties)
    picks = np.random.default_rng(seed).integers(0, n, (1, batch))
    r = some_ratings(m, seed)
    lr = 0.5 * tau / m
    plain = plain_sigmoid_step(r.tolist(), [votes.vote(v) for v in picks[0]], lr, tau, *BOX)
    plan = plan_sigmoid(*votes, batch, layout=layout)
    run_sigmoid(plan, r, np.array([lr]), tau, *BOX, state_of(0), picks)
    assert r == pytest.approx(plain, abs=1e-12)


@pytest.mark.parametrize("ratio", [0.999 * WIDE, 1.001 * WIDE, 1e6])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_both_forms_of_the_slope(layout: str, ratio: float) -> None:
    """Close pairs at the middle and at both bounds, where exponentials are largest and smallest."""
    tau = 10.0 / ratio
    r = np.array([-5.0, -5.0 + tau, -0.5 * tau, 0.0, 0.3 * tau, 5.0 - 2 * tau, 5.0])
    votes = some_votes(7, 9, shortest=7)
    picks = np.array([[*range(9)]])
    plain = plain_sigmoid_step(r.tolist(), [votes.vote(v) for v in range(9)], 0.1 * tau * tau, tau, *BOX)
    moved = r.copy()
    run_sigmoid(
        plan_sigmoid(*votes, 9, layout=layout), moved, np.array([0.1 * tau * tau]), tau, *BOX, state_of(0), picks
    )
    assert moved - r == pytest.approx(np.array(plain) - r, abs=1e-9 * tau)
    assert np.any(abs(moved - r) > 1e-3 * tau)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_form_goes_by_where_the_ratings_are(layout: str) -> None:
    """In a box too wide for exponentials, ratings near its middle move by the very bits that a narrow box gives."""
    votes, ends = some_votes(40, 9), []
    for far in (100.0, 1e6):
        ends.append(some_ratings(40))
        plan = plan_sigmoid(*votes, 9, layout=layout)
        run_sigmoid(plan, ends[-1], np.full(20, 0.1), 1.0, -far, far, state_of(0))
    assert np.array_equal(ends[0], ends[1]) and not np.array_equal(ends[0], some_ratings(40))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_batch_larger_than_a_byte_counts(layout: str) -> None:
    votes = some_votes(5, 2, seed=3)
    picks = np.zeros((1, 300), np.int64)  # 300 equal signs do not fit an int8
    r = some_ratings(5)
    plain = plain_sigmoid_step(r.tolist(), [votes.vote(0)] * 300, 0.1, 1.0, *BOX)
    run_sigmoid(plan_sigmoid(*votes, 300, layout=layout), r, np.array([0.1]), 1.0, *BOX, state_of(0), picks)
    assert r == pytest.approx(plain, abs=1e-12)


@cases
@settings(max_examples=100, deadline=None)
def test_perturbed_step_without_noise(m: int, n: int, batch: int, ties: bool, seed: int) -> None:
    votes = some_votes(m, n, seed, ties)
    rng = np.random.default_rng(seed)
    picks = rng.integers(0, n, (1, batch))
    r = rng.permutation(4 * np.linspace(-1, 1, m) ** 7)  # crowded in the middle, yet no two closer than the noise
    plain = plain_perturbed_step(r.tolist(), [votes.vote(v) for v in picks[0]], 0.3 / m, *BOX)
    run_perturbed(plan_perturbed(*votes, batch), r, np.array([0.3 / m]), 1e-14, 2, GUMBEL, *BOX, state_of(seed), picks)
    assert r == pytest.approx(plain, abs=1e-12)


@pytest.mark.parametrize("k", [2, 20, 50])
def test_online_step_moves_only_its_agents(k: int) -> None:
    votes = some_votes(COMPLETE, 1, seed=k, shortest=COMPLETE)
    agents, tiers = votes.agent[:k], votes.tier[:k]
    others = np.setdiff1d(np.arange(COMPLETE), agents)
    r = some_ratings(COMPLETE)
    r[others] = 99.0  # outside the box, and not this vote's business
    perturbed = r.copy()
    perturbed_step(perturbed, agents, tiers, 0.01, 1.0, 3, NORMAL, *BOX, state_of(0))
    assert np.all(perturbed[others] == 99.0)
    assert np.any(perturbed[agents] != r[agents]) and np.all(abs(perturbed[agents]) <= 5)


def run(loss: str, votes: Votes, r: np.ndarray, steps: int, state: np.ndarray, batch: int = 8, **box: float) -> None:
    """Steps of one loss by name: a layout, or a noise."""
    lo, hi, width = box.get("lo", 0.0), box.get("hi", 100.0), box.get("width", 1.0)
    rates = np.full(steps, box.get("lr", 0.5))
    if loss in LAYOUTS:
        run_sigmoid(plan_sigmoid(*votes, batch, layout=loss), r, rates, width, lo, hi, state)
    else:
        noise = {"gumbel": GUMBEL, "normal": NORMAL}[loss]
        run_perturbed(plan_perturbed(*votes, batch), r, rates, width, 2, noise, lo, hi, state)


LOSSES = [*LAYOUTS, "gumbel", "normal"]


@pytest.mark.parametrize("loss", LOSSES)
def test_seed_repeats_and_runs_can_be_split(loss: str) -> None:
    votes = some_votes(COMPLETE, 30)
    votes = votes._replace(weight=np.arange(1.0, 31.0))
    once, again, split, other = (np.full(COMPLETE, 50.0) for _ in range(4))
    run(loss, votes, once, 40, state_of(7))
    run(loss, votes, again, 40, state_of(7))
    state = state_of(7)
    run(loss, votes, split, 15, state)
    run(loss, votes, split, 25, state)
    run(loss, votes, other, 40, state_of(8))
    assert np.array_equal(once, again) and np.array_equal(once, split)
    assert not np.array_equal(once, other)
    assert state != state_of(7)


@pytest.mark.parametrize("width", [1e-300, 1e-9, 0.1, 1.0, 1e9, 1e300])
@pytest.mark.parametrize("bounds", [(0.0, 1.0), (0.0, 1000.0), (-1e9, 1e9), (-1e150, 1e150)])
@pytest.mark.parametrize("loss", LOSSES)
def test_ratings_stay_in_the_box(loss: str, bounds: tuple[float, float], width: float) -> None:
    """Whatever the bounds, the temperature or the noise: finite, inside, and the inputs are left alone."""
    lo, hi = bounds
    votes = some_votes(COMPLETE, 5)
    before = [np.copy(x) for x in votes[:4]]
    r = np.random.default_rng(0).uniform(lo, hi, COMPLETE)
    r[:20], r[20:30] = lo, hi
    run(loss, votes, r, 30, state_of(0), lo=lo, hi=hi, width=width, lr=0.1 * (hi - lo))
    assert np.all((r >= lo) & (r <= hi))
    assert all(np.array_equal(x, y) for x, y in zip(before, votes[:4], strict=True))


@pytest.mark.parametrize("loss", LOSSES)
def test_agents_without_votes_keep_their_ratings(loss: str) -> None:
    votes = some_votes(6, 20)._replace(m=9)
    votes = votes._replace(weight=np.where([any(a == 5 for a, _ in votes.vote(v)) for v in range(20)], 0.0, 1.0))
    r = np.linspace(10, 90, 9)
    run(loss, votes, r, 200, state_of(1))
    assert np.array_equal(r[5:], np.linspace(10, 90, 9)[5:])  # 5 stands in votes of weight 0 only
    assert np.all(r[:5] != np.linspace(10, 90, 9)[:5])


@pytest.mark.parametrize("equal", [True, False])
def test_votes_are_drawn_by_weight(equal: bool) -> None:
    n, draws = 40, 400_000
    weight = np.ones(n) if equal else np.r_[0.0, 0.0, np.random.default_rng(2).exponential(size=n - 2)]
    picks = np.empty(draws, np.int64)
    choose_votes(picks, np.empty((0, 0), np.int64), 0, n, *alias_table(weight), state_of(3))
    seen, expected = np.bincount(picks, minlength=n), draws * weight / weight.sum()
    assert np.all(seen[expected == 0] == 0)
    drawn = expected > 0
    chi_square = np.sum((seen[drawn] - expected[drawn]) ** 2 / expected[drawn])
    assert chi_square < 77  # 39 degrees of freedom: exceeded by chance once in 3,000 seeds


def chance_above(gap: float, noise: int) -> float:
    """P(a above b) for r_a - r_b = gap at sigma = 1: logistic for Gumbel noise, normal with variance 2 for normal."""
    return 1 / (1 + math.exp(-gap)) if noise == GUMBEL else 0.5 * (1 + math.erf(gap / 2))


@pytest.mark.parametrize("noise", [GUMBEL, NORMAL])
@pytest.mark.parametrize("k", [2, 50])
def test_noise_has_the_right_law(k: int, noise: int) -> None:
    """With a wide box and one vote, a step of rate 1 adds the mean noisy position minus the position in the vote."""
    samples, sigma = 400_000 // k, 2.5
    gaps = np.linspace(-1.5, 1.5, k)
    r = sigma * gaps
    perturbed_step(r, np.arange(k), np.arange(k), 1.0, sigma, samples, noise, -1e6, 1e6, state_of(4))
    position = r - sigma * gaps + np.arange(k)
    expected = [sum(chance_above(b - a, noise) for j, b in enumerate(gaps) if j != i) for i, a in enumerate(gaps)]
    assert position == pytest.approx(expected, abs=4 * 0.3 * k / math.sqrt(samples))


@pytest.mark.parametrize("sigma", [1e-300, 1e-7, 1e-3, 1.0, 1e307])
@pytest.mark.parametrize("k", [33, 1000])
def test_sort_of_clumped_values(k: int, sigma: float) -> None:
    """Half the ratings at each bound: whatever the noise, positions are a permutation, the upper half first."""
    r = np.where(np.arange(k) % 2, 100.0, 0.0)
    moved = r.copy()
    perturbed_step(moved, np.arange(k), np.arange(k), 1.0, sigma, 1, GUMBEL, -1e6, 1e6, state_of(5))
    position = np.rint(moved - r).astype(int) + np.arange(k)
    assert np.array_equal(np.sort(position), np.arange(k))
    if sigma <= 1.0:
        assert np.all(position[1::2] < k // 2)
    if 1e-7 <= sigma <= 1.0:
        assert not np.all(np.diff(position[1::2]) > 0)  # and the noise decides inside a clump


@pytest.mark.parametrize("k", [33, 400, 5000])
@pytest.mark.parametrize("power", [1, 3, 9, 31])
def test_sort_is_exact(k: int, power: int) -> None:
    """From evenly spread values to nearly all in one bucket."""
    r = np.random.default_rng(k).uniform(-1, 1, k) ** power
    moved = r.copy()
    perturbed_step(moved, np.arange(k), np.arange(k), 1.0, 1e-300, 1, GUMBEL, -1e6, 1e6, state_of(6))
    position = np.rint(moved - r).astype(int) + np.arange(k)
    assert np.array_equal(position[np.argsort(-r)], np.arange(k))


def test_exp_and_log_agree_with_libm() -> None:
    @lean
    def fill(x: Any, e: Any, y: Any) -> None:
        for i in range(len(x)):
            y[i] = exp(x[i]) if e else log(x[i])

    rng = np.random.default_rng(0)
    small, near_one = np.exp(rng.uniform(-40, 40, 1000)), 1 - 2.0 ** -rng.uniform(1, 52, 1000)
    for e, x, tolerance in [(True, rng.uniform(-700, 700, 2000), 1e-15), (False, np.r_[small, near_one], 3e-9)]:
        y = np.empty_like(x)
        fill(x, e, y)
        assert y == pytest.approx(np.exp(x) if e else np.log(x), rel=tolerance)


def test_plan_picks_a_layout() -> None:
    complete = some_votes(30, 50, ties=False, shortest=30)
    assert plan_sigmoid(*complete, 32).layout == "signs"
    assert plan_sigmoid(*complete, 32, memory=5_000).layout == "tiers"
    assert plan_sigmoid(*complete, 32, memory=0).layout == "votes"
    assert plan_sigmoid(*some_votes(3, 50)._replace(m=5_000), 32).layout == "votes"
    assert plan_sigmoid(*some_votes(300, 20, shortest=300), 32).layout == "tiers"


@pytest.mark.peer
@pytest.mark.parametrize("layout", LAYOUTS)
def test_agrees_with_open_spiel_on_its_own_batches(layout: str) -> None:
    """Its batches depend on the seed and the number of votes only, so a run on disjoint pairs gives them away.

    There each pick of a vote raises the vote's first agent by the same amount.
    """
    pyspiel = pytest.importorskip("pyspiel")
    n, m, batch, steps, seed = 25, 40, 32, 60, 11
    votes = some_votes(m, n, ties=False)

    unit, tau = 1e-3, 1e6
    pairs = [(1, [f"{v} up", f"{v} down"]) for v in range(n)]
    spy = pyspiel.sco.SoftCondorcetOptimizer(pairs, 0.0, 100.0, batch, temperature=tau, rng_seed=seed)
    heights = [np.full(n, 50.0)]
    for _ in range(steps):
        spy.run_solver(1, 4 * tau * batch * unit)
        ratings = spy.ratings()
        heights.append(np.array([ratings[f"{v} up"] for v in range(n)]))
    counts = np.rint(np.diff(heights, axis=0) / unit).astype(int)
    assert np.all(counts.sum(axis=1) == batch)
    picks = np.array([np.repeat(np.arange(n), row) for row in counts])

    names = [str(a) for a in range(m)]
    named = [(1, [str(a) for a, _ in votes.vote(v)]) for v in range(n)]
    peer = pyspiel.sco.SoftCondorcetOptimizer(
        named, 0.0, 100.0, batch, temperature=1.5, rng_seed=seed, alternative_names=names
    )
    peer.run_solver(steps, 0.7)
    theirs = peer.ratings()
    r = np.full(m, 50.0)
    run_sigmoid(plan_sigmoid(*votes, batch, layout=layout), r, np.full(steps, 0.7), 1.5, 0.0, 100.0, state_of(0), picks)
    assert r == pytest.approx([theirs[name] for name in names], abs=1e-11)
    assert np.ptp(r) > 1


def test_many_agents_are_not_kept_as_small_integers() -> None:
    """Tiers beyond 32,767 do not fit an int16: that layout must not be chosen."""
    m = 33_000
    start, order, weight = np.array([0, m]), np.arange(m), np.ones(1)
    assert plan_sigmoid(start, order, order, weight, m, 8).layout != "tiers"
