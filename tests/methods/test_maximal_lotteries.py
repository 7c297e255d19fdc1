"""Maximal lotteries: no agent beats them, which one it is, and level by level."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
import reference
from conftest import paper_table, profiles
from hypothesis import assume, given, settings

import softcondorcet as sc
from softcondorcet import Profile, Ratings
from softcondorcet.methods.maximal_lotteries import Game, central_lottery
from softcondorcet.pairs import Pairs


def values(board: Ratings) -> dict[str, float]:
    return {name: board[name] for name in board.agents}


def leads(profile: Profile, board: Ratings, strength: str = "margins") -> dict[str, float]:
    """Mean margin of an agent drawn from a lottery over each agent."""
    margin = reference.margins(profile)
    size: Callable[[float], float] = float if strength == "margins" else lambda x: math.copysign(min(abs(x), 1), x)
    return {b: sum(board[a] * size(margin[a, b]) for a in profile.agents) for b in profile.agents}


@given(profiles(), st.sampled_from(["margins", "signs"]))
def test_no_agent_beats_a_maximal_lottery(profile: Profile, strength: str) -> None:
    board = sc.maximal_lotteries(profile, strength=strength)
    assert board.values.min() >= 0
    assert board.values.sum() == pytest.approx(1.0, abs=1e-8)  # ten decimals each
    assert min(leads(profile, board, strength).values()) >= -1e-8 * max(profile.weight.sum(), 1)
    assert board.converged and board.error is not None and board.error < 1e-8


def range_of_chances(profile: Profile) -> np.ndarray:
    """Least and greatest probability of each agent in any maximal lottery, by linear programs."""
    import highspy

    margin = reference.margins(profile)
    m, agents = profile.n_agents, profile.agents
    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.setOptionValue("output_flag", False)
    solver.addVars(m, np.zeros(m), np.ones(m))
    numbers = np.arange(m, dtype=np.int32)
    solver.addRow(1.0, 1.0, m, numbers, np.ones(m))
    for b in agents:
        solver.addRow(0.0, np.inf, m, numbers, np.array([float(margin[a, b]) for a in agents]))
    found = np.empty((m, 2))
    for k, side in itertools.product(range(m), range(2)):
        solver.changeColsCost(m, numbers, np.eye(m)[k] * (1 - 2 * side))
        solver.run()
        found[k, side] = solver.getSolution().col_value[k]
    return found


@settings(max_examples=40)
@given(profiles(max_agents=6, max_votes=6))
def test_whether_a_maximal_lottery_is_the_only_one(profile: Profile) -> None:
    board, chances = sc.maximal_lotteries(profile), range_of_chances(profile)
    assert (board.values >= chances[:, 0] - 1e-6).all() and (board.values <= chances[:, 1] + 1e-6).all()
    several = any("several lotteries" in note for note in board.warnings)
    assert several == bool((chances[:, 1] - chances[:, 0] > 1e-6).any())


@given(profiles(complete=True, max_votes=7))
def test_odd_strict_complete_votes_have_one_maximal_lottery(profile: Profile) -> None:
    """Laffond, Laslier and Le Breton, 1997; its support is odd."""
    assume(profile.weight.sum() % 2 == 1)
    for method in (sc.maximal_lotteries, sc.iterated_maximal_lotteries):
        assert not any("maximal;" in note or "levels" in note for note in method(profile).warnings)
    assert (sc.maximal_lotteries(profile).values > 0).sum() % 2 == 1


def without(profile: Profile, agents: list[str]) -> Pairs:
    """The pairs that are left when some agents go."""
    pairs = profile.pairs()
    stay = np.array([name not in agents for name in pairs.agents])
    number = (np.cumsum(stay) - 1).astype(np.int32)
    kept = stay[pairs.left] & stay[pairs.right]
    counts = (column[kept] for column in (pairs.wins, pairs.losses, pairs.ties))
    names = tuple(name for name in pairs.agents if name not in agents)
    return Pairs(names, number[pairs.left[kept]], number[pairs.right[kept]], *counts)


def level_by_level(profile: Profile) -> dict[str, float]:
    """A lottery among all, one among those it leaves out, and so on: the level from below, and the chance in it."""
    gone: list[str] = []
    levels = []
    while len(gone) < profile.n_agents:
        board = sc.maximal_lotteries(without(profile, gone))
        levels.append({name: board[name] for name in board.agents if board[name] > 0})
        gone += levels[-1]
    return {name: k + chance for k, level in enumerate(levels[::-1]) for name, chance in level.items()}


@given(profiles(max_agents=9, max_votes=8))
def test_iterated_lotteries_are_lotteries_of_what_is_left(profile: Profile) -> None:
    found = values(sc.iterated_maximal_lotteries(profile))
    assert found == pytest.approx(level_by_level(profile), abs=1e-8)  # the tol of the game


@pytest.mark.parametrize("seed", range(3))
def test_lotteries_of_many_agents_and_levels(seed: int) -> None:
    """Sixty agents, noise: components break up again and again."""
    profile = sc.synthetic.mallows(7, agents=60, phi=0.98, seed=seed)
    found = values(sc.iterated_maximal_lotteries(profile))
    assert found == pytest.approx(level_by_level(profile), abs=1e-8)  # the tol of the game


def test_the_centre_of_many_optimal_lotteries() -> None:
    """The first and third may have any chances p <= q <= 5 p; the product of p, q, q - p and 5 p - q has one peak."""
    margin = np.array([[0, -5, 0, 5], [5, 0, -5, 5], [0, 5, 0, -1], [-5, -5, 1, 0]], dtype=float)
    p = np.linspace(1 / 6, 1 / 2, 2_000_001)
    best = p[np.argmax(p * (1 - p) * (1 - 2 * p) * (6 * p - 1))]
    assert central_lottery(margin, 100) == pytest.approx([best, 0, 1 - best, 0], abs=2e-7)  # the grid


@given(st.integers(1, 12), st.integers(0, 2**32 - 1), st.sampled_from([1.0, 0.3]), st.floats(1e-3, 1))
def test_the_centre_is_the_same_at_any_scale(c: int, seed: int, density: float, scale: float) -> None:
    """The scale changes the rounding, and with it the way to the centre."""
    rng = np.random.default_rng(seed)
    margin = np.triu(rng.integers(-3, 4, (c, c)) * (rng.random((c, c)) < density), 1).astype(float)
    margin -= margin.T
    order = rng.permutation(c)
    other = central_lottery(scale * margin[np.ix_(order, order)], 100)
    assert other == pytest.approx(central_lottery(margin, 100)[order], abs=1e-9)


@given(st.integers(1, 12), st.integers(0, 2**32 - 1), st.sampled_from([1.0, 0.3]))
def test_the_centre_draws_all_that_any_optimal_lottery_draws(c: int, seed: int, density: float) -> None:
    """Strict complementarity: an agent not drawn loses to the lottery."""
    rng = np.random.default_rng(seed)
    margin = np.triu(rng.integers(-3, 4, (c, c)) * (rng.random((c, c)) < density), 1).astype(float)
    margin -= margin.T
    chance = central_lottery(margin, 100)
    lead = chance @ margin
    assert lead.min() > -1e-9
    assert ((chance > 1e-9) != (lead > 1e-9)).all()


def test_lottery_of_the_papers_table() -> None:
    """C beats A by 1, A beats B by 3, B and C are level at 2:3, so C beats B: C is the Condorcet winner."""
    assert sc.maximal_lotteries(paper_table())["C"] == 1


def test_a_lottery_with_unequal_margins() -> None:
    """The chance of each is the margin it is not part of, over the sum of all three: a beats b by 1 and so on."""
    votes = [["a", "b"], ["b", "c"], ["c", "a"]]
    cycle = Profile.from_rankings(votes, weights=[1, 3, 5])
    assert values(sc.maximal_lotteries(cycle)) == pytest.approx({"a": 3 / 9, "b": 5 / 9, "c": 1 / 9}, abs=1e-10)
    assert sc.maximal_lotteries(cycle, strength="signs").values == pytest.approx([1 / 3] * 3, abs=1e-10)


def test_agents_below_the_top_may_be_in_other_lotteries() -> None:
    """Half a and half c is maximal too: a makes up for what c loses to b."""
    board = sc.maximal_lotteries(Profile.from_rankings([["a", "b"], ["b", "c"]]))
    assert board["a"] == 1
    assert any("several lotteries" in note for note in board.warnings)


def test_too_many_agents_for_a_lottery() -> None:
    votes = Profile.from_rankings([["a", "b"], ["b", "c"], ["c", "a"]], weights=[1, 3, 5])
    game = replace(Game.of(votes, "margins", 100, 1e-8), most=2)
    with pytest.raises(sc.DataError, match=r"a component of 3 agents: more than 2 of them .* leave out agents"):
        game.solve(np.arange(3))


def test_a_lottery_that_needs_more_steps_says_so() -> None:
    with pytest.warns(sc.NotConverged, match="raise steps"):
        board = sc.maximal_lotteries(
            Profile.from_rankings([["a", "b"], ["b", "c"], ["c", "a"]], weights=[1, 3, 5]), steps=1
        )
    assert board.converged is False and board.error is not None and board.error > 1e-8
