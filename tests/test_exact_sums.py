"""Sums of weights in any order, and what is level: against exact fractions."""

from __future__ import annotations

from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import softcondorcet as sc
from softcondorcet import Pairs, Profile
from softcondorcet.exact_sums import difference, exact, in_units, level

weights = st.one_of(
    st.lists(st.integers(1, 10**6).map(float), min_size=1, max_size=40),
    st.lists(st.integers(1, 10**6).map(lambda n: n / 1000), min_size=1, max_size=40),
    st.lists(st.floats(0.01, 1000), min_size=1, max_size=40),
)


@given(weights, st.randoms(use_true_random=False))
def test_sums_do_not_depend_on_the_order_and_are_those_of_fractions(values: list[float], chance: object) -> None:
    steps, step = exact(np.array(values))
    shuffled = steps.copy()
    np.random.default_rng(len(values)).shuffle(shuffled)
    assert np.cumsum(steps)[-1] == np.cumsum(shuffled)[-1]
    total = float(sum(map(Fraction, values)))
    assert float(in_units(steps, step).sum()) == pytest.approx(total, rel=1e-12)  # 2^-52 for each of 40 weights


@pytest.mark.parametrize("unit", [1.0, 0.1, 0.25, 1e-9, 3.7])
def test_what_the_weights_mean_to_be_level_is_level(unit: float) -> None:
    """0.1 + 0.2 as floats is not 0.3."""
    votes = [["a", "b"], ["a", "b"], ["b", "a"]]
    assert Profile.from_rankings(votes, weights=[unit, 2 * unit, 3 * unit]).pairs().margin.tolist() == [0.0]
    pairs = Pairs(("a", "b"), np.array([0]), np.array([1]), *np.array([[unit + 2 * unit], [3 * unit], [0.0]]))
    assert pairs.margin.tolist() == [0.0]


def test_equal_margins_are_equal() -> None:
    """0.3 - 0.2 as floats is not 0.1."""
    assert difference(np.array([0.3, 0.1]), np.array([0.2, 0.0])).tolist() == [0.1, 0.1]


def test_weights_too_wide_for_one_step_are_kept() -> None:
    values = np.array([1e-20, 1.0, np.pi])
    steps, step = exact(values)
    np.testing.assert_array_equal(in_units(steps, step), values)
    smallest = np.array([5e-324, 1e-323])
    np.testing.assert_array_equal(in_units(*exact(smallest)), smallest)
    assert Profile.from_rankings([["a", "b"], ["c", "d"]], weights=[1.0, 1e-20]).pairs().margin.tolist() == [1, 1e-20]


def test_level_values_are_the_middle_one() -> None:
    assert level(np.array([3.0, 1.0, 3.0 + 1e-13, 1.1]), 1e-12).tolist() == [3.0, 1.0, 3.0, 1.1]
    assert level(np.zeros(0), 1.0).tolist() == []


@pytest.mark.parametrize("method", ["borda", "stv", "schulze", "ranked_pairs", "sco", "sigmoidal_program"])
def test_level_agents_share_a_rank(method: str) -> None:
    """Two agents that the votes treat alike, with weights that only add up as decimals."""
    votes = [["a", "b", "c"], ["b", "a", "c"], ["b", "a", "c"], ["c", "a", "b"], ["c", "b", "a"]]
    board = sc.rank(Profile.from_rankings(votes, weights=[0.3, 0.1, 0.2, 0.1, 0.1]), method)
    assert board["a"] == board["b"]


def test_stv_counts_votes_of_a_tenth_as_whole_ones() -> None:
    votes = [["a", "b", "c"], ["b", "c", "a"], ["c", "b", "a"], ["d", "a", "c"]]
    counts = np.array([7.0, 4.0, 2.0, 1.0])
    for seats in (1, 2, 3):
        whole, tenths = (
            sc.stv(Profile.from_rankings(votes, weights=list(part)), seats=seats) for part in (counts, counts / 10)
        )
        assert whole.order == tenths.order


def test_schulze_names_all_unbeaten_agents() -> None:
    """Nobody is above a, b or d: b met nobody but d, level, and a is above c."""
    board = sc.schulze(Profile.from_rankings([["a", "c"], ["b", "d"], ["d", "b"]], agents=list("abcd")))
    assert board.order[0] == "a" and board.rank_of("b") > 1
    assert any("3 agents are unbeaten" in note and "a, b, d" in note for note in board.warnings)


def test_weights_next_to_nothing_are_sampled() -> None:
    votes = Profile.from_rankings([["a", "b"], ["b", "a"]], weights=[1e-320, 3e-320])
    assert sc.fenchel_young(votes, steps=2000, lr=0.1).order == ["b", "a"]


@pytest.mark.parametrize("method", ["maximal_lotteries", "iterated_maximal_lotteries", "kemeny", "schulze", "stv"])
def test_no_votes_rate_nobody_above_another(method: str) -> None:
    assert len(sc.rank(Profile.from_rankings([]), method)) == 0
    board = sc.rank(Profile.from_rankings([], agents=["a", "b"]), method)
    assert board["a"] == board["b"]
