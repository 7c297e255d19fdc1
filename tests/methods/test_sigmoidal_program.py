"""The global minimum of the sigmoid loss: the answers, on any profile and in any box."""

from __future__ import annotations

import itertools
import math
import time
from functools import partial
from typing import Any

import numpy as np
import pytest
import reference
from conftest import paper_example, profiles, tennessee, three_cycle
from helpers.margins import CHAIN, Array, pairs_of
from hypothesis import given, settings, strategies as st

import softcondorcet as sc
from softcondorcet import Profile, Ratings
from softcondorcet.backends.cpu import PairwiseLoss, Stage
from softcondorcet.majority import strong_labels
from softcondorcet.methods.kemeny import Exact
from softcondorcet.methods.sigmoidal_program import solve_discrete
from softcondorcet.solvers.components import unavoidable

# The paper's ratings, whatever the kind of votes.
boxed = partial(sc.sco, scale="box")


@pytest.mark.parametrize("width", [15.0, 20.0, 30.0])
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
    like = boxed(profile, bounds=bounds, temperature=heat).loss
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
    loser = sc.majority.condorcet_loser(profile)
    if loser is not None:
        assert board[loser] == -3.0 and (board.values == -3.0).sum() == 1
    assert board.lower_bound is not None and board.gap is not None
    assert board.lower_bound == pytest.approx(min(best, board.discrete_loss or 0))


def test_certified_pairs_are_those_that_every_near_minimum_orders_so() -> None:
    """A cycle leaves its pairs open; who is below it is certain."""
    board = sc.sigmoidal_program(Profile.from_rankings([[*"abcd"], [*"bcad"], [*"cabd"]]))
    number = {name: k for k, name in enumerate(board.agents)}
    assert board.order_certified is not None
    certain = {(a, b) for a, b in itertools.permutations("abcd", 2) if board.order_certified[number[a], number[b]]}
    assert certain == {("a", "d"), ("b", "d"), ("c", "d")}
    assert "3 of 6 pairs of agents are proven to stand in this order in every minimum of the loss" in board.summary()
    assert np.asarray(sc.sigmoidal_program(tennessee()).order_certified).sum() == 6


def test_certified_pairs_survive_json() -> None:
    board = sc.sigmoidal_program(Profile.from_rankings([[*"abcd"], [*"bcad"], [*"cabd"]]))
    again = sc.Ratings.from_json(board.to_json())
    assert board.order_certified is not None and again.order_certified is not None
    assert again.summary() == board.summary()
    for a, b in itertools.permutations("abcd", 2):
        here, there = ((x.agents.index(a), x.agents.index(b)) for x in (board, again))
        assert board.order_certified[here] == again.order_certified[there]
    short = sc.Ratings.from_json(board.to_json(top=2))
    assert short.order_certified is not None and not short.order_certified.any()  # only pairs with d are certain


def test_famous_profiles(famous: Profile) -> None:
    board = sc.sigmoidal_program(famous)
    assert board.status == "kemeny_certificate" and board.steps == 0
    assert board.loss_gap is not None and board.loss_gap < 1e-9
    assert board.discrete_loss == reference.kemeny_loss(famous) == board.lower_bound


def test_each_way_to_end() -> None:
    hard = sc.synthetic.mallows(9, agents=8, phi=1.0, seed=2)
    ends = {width: sc.sigmoidal_program(hard, temperature=100 / width).status for width in (100.0, 33.0, 8.0)}
    assert ends == {100.0: "kemeny_certificate", 33.0: "root", 8.0: "optimal"}


def test_a_box_in_which_ratings_hardly_differ_needs_no_search_and_no_kemeny() -> None:
    board = sc.sigmoidal_program(three_cycle(), temperature=1e6)
    assert board.status == "narrow_box" and board.steps == 0 and board.converged
    assert board.loss_bound is not None and board.lower_bound is not None
    assert board.loss_bound > board.lower_bound  # more than the discrete loss could prove


def test_a_search_that_a_limit_ended_within_the_tolerance_has_converged() -> None:
    """The search aims at a little less than `tol`; what is between the two is not an error."""
    hard = sc.synthetic.mallows(9, agents=8, phi=1.0, seed=2)
    with pytest.warns(sc.NotConverged):
        first = sc.sigmoidal_program(hard, temperature=12.5, nodes=9)
    assert first.status == "node_limit" and first.loss_gap is not None and first.loss
    board = sc.sigmoidal_program(hard, temperature=12.5, nodes=9, tol=1.01 * first.loss_gap)
    assert board.status == "within_tolerance" and board.converged and board.steps == 9


@pytest.mark.parametrize(("limit", "status"), [({"nodes": 3}, "node_limit"), ({"time_limit": 0.0}, "time_limit")])
def test_a_limit_gives_the_best_so_far_with_a_bound(limit: dict[str, Any], status: str) -> None:
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


def test_a_component_too_large_for_subsets_gets_the_same_answer() -> None:
    pairs = sc.synthetic.mallows(11, agents=9, phi=1.0, seed=4).pairs()
    given = pairs, strong_labels(pairs, by="majority"), np.arange(9), math.inf
    exact, searched = solve_discrete(*given), solve_discrete(*given, Exact(subsets=2))
    assert searched.bound == exact.bound
    assert pairs.discrete_loss(-np.argsort(searched.order).astype(float)) == unavoidable(pairs) + exact.bound


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
        assert board.converged and "3 groups of agents were never compared" in board.warnings[0]


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
    assert [row[:2] for row in seen] == [(k, 100_000) for k in range(1, board.steps + 1)]
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
    """Over noise in a narrow box, sco may end in a local minimum: here 2 % above the global one."""
    profile = sc.synthetic.mallows(7, agents=8, phi=1.0, seed=19)
    ours, theirs = sc.sigmoidal_program(profile, temperature=20), boxed(profile, temperature=20)
    assert ours.loss is not None and theirs.loss is not None and ours.loss_bound is not None
    assert ours.loss_bound <= ours.loss < 0.98 * theirs.loss
