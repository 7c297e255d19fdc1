"""All optimal orders, against trying all orders."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import reference
from conftest import profiles, three_cycle
from hypothesis import given

import softcondorcet as sc
from softcondorcet import Profile
from softcondorcet.methods.optimal_orders import counted


@given(profiles(max_agents=6))
def test_counted_and_listed_as_by_trying_all_orders(profile: Profile) -> None:
    expected = reference.kemeny_orders(profile)
    found = sc.optimal_orders(profile, most=1000)
    assert found.count == len(expected)
    assert sorted(found.orders) == sorted(expected)
    assert found.loss == pytest.approx(reference.kemeny_loss(profile), abs=1e-9)  # sums of halves and whole weights
    assert sc.optimal_orders(profile, most=2).orders == found.orders[:2]


@given(
    profiles(max_agents=5),
)
def test_the_nearest_optimum_is_the_nearest(profile: Profile) -> None:
    values = np.arange(profile.n_agents, dtype=float) % 3
    board = sc.Ratings(profile.agents, values, "by number")
    order, distance = sc.nearest_optimum(profile, board)
    distances = {tuple(o): sc.kendall_tau_distance(board, o) for o in reference.kemeny_orders(profile)}
    assert distance == distances[tuple(order)] == min(distances.values())


@given(profiles(max_agents=6))
def test_who_may_swap_and_whether_an_optimum_is_the_only_one(profile: Profile) -> None:
    orders = reference.kemeny_orders(profile)
    place = [{name: k for k, name in enumerate(order)} for order in orders]
    swaps = {(a, b) for a, b in itertools.combinations(profile.agents, 2) if len({at[a] < at[b] for at in place}) > 1}
    assert {tuple(sorted(pair)) for pair in sc.optimal_orders(profile).may_swap} == swaps
    for board in (sc.sco(profile, shrink=False), sc.kemeny(profile)):
        assert board.gap == 0 and board.only_optimum == (len(orders) == 1)
        told = counted(profile, board)
        if len(orders) > 1:
            assert (told.optimal_orders, told.only_optimum) == (len(orders), False)
        else:
            assert told is board


def test_too_many_agents_to_count_leave_it_at_that_there_are_others() -> None:
    votes = Profile.from_rankings([[f"{k:02}" for k in range(30)], [f"{k:02}" for k in reversed(range(30))]])
    board = counted(votes, sc.kemeny(votes))
    assert board.optimal_orders is None and "this one is optimal, and so are others" in " ".join(board.summary())


def test_proven_by_a_bound_an_optimum_may_have_others() -> None:
    """A cycle of 24 agents is too long for subsets: a program proves the order, and nothing says how many there are."""
    votes = sc.synthetic.mallows(5, agents=24, phi=1.0, seed=1)
    board = sc.kemeny(votes)
    assert board.gap == 0 and board.only_optimum is None
    assert "this one is optimal, and maybe others are too" in " ".join(board.summary())


def test_weights_that_are_not_whole_count_up_to_rounding() -> None:
    votes = [list(order) for order in itertools.permutations("abc")]
    assert sc.optimal_orders(Profile.from_rankings(votes, weights=[0.1] * 6)).count == 6


def test_many_blocks_multiply() -> None:
    """Ten cycles one below the other: 3^10 optima, of which a few are listed at once."""
    cycles = [[list(tier) for tier in vote] for vote in three_cycle().rankings()]
    votes = [[f"{k}{name}" for k in range(10) for tier in vote for name in tier] for vote in cycles]
    found = sc.optimal_orders(Profile.from_rankings(votes), most=5)
    assert found.count == 3**10
    assert len(found.orders) == 5


def test_too_many_agents_to_count_are_named() -> None:
    noise = sc.synthetic.mallows(5, agents=25, phi=1.0, seed=1)
    with pytest.raises(sc.DataError, match=r"25 agents are linked by cycles.*expected at most 20"):
        sc.optimal_orders(noise)


def test_a_board_of_other_agents_is_refused() -> None:
    with pytest.raises(sc.OptionError, match="board must be ratings of the agents of these votes"):
        sc.nearest_optimum(three_cycle(), sc.Ratings(("x",), np.zeros(1), "mine"))


def test_heavy_votes_about_others_do_not_blur_the_count() -> None:
    """Half a vote more, of ten billion, is no reason to call c above d as good as d above c."""
    for heavy in (1e10, 1e10 + 0.5):
        votes = sc.Profile.from_rankings([["a", "b"], ["c", "d"]], weights=[heavy, 1.0])
        assert sc.optimal_orders(votes).count == 6
        order, _ = sc.nearest_optimum(votes, sc.Ratings(("a", "b", "c", "d"), np.array([4.0, 3.0, 1.0, 2.0]), "mine"))
        assert order.index("c") < order.index("d")


@pytest.mark.parametrize(("weights", "count"), [([np.pi, np.sqrt(2), 1e10], 1), ([np.pi, np.pi, 1e10], 2)])
def test_optima_are_told_apart_by_their_own_loss_not_by_the_largest_margin(weights: list[float], count: int) -> None:
    """A cycle of margins without a common step: it is cut at the smallest of them, or at one of two."""
    votes = Profile.from_rankings([["a", "b"], ["b", "c"], ["c", "a"]], weights=weights)
    found = sc.optimal_orders(votes)
    assert found.count == len(found.orders) == count and found.loss == pytest.approx(min(weights))
    assert sc.nearest_optimum(votes, sc.kemeny(votes))[1] == 0
