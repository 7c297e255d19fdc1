"""Distances against their definitions."""

from __future__ import annotations

import itertools

import hypothesis.strategies as st
import pytest
import reference
from conftest import paper_table, profiles, votes
from hypothesis import given

import softcondorcet as sc

NAMES = [f"n{k}" for k in range(9)]


def tiers(order: list[list[str]]) -> dict[str, float]:
    return {name: float(t) for t, names in enumerate(order) for name in names}


@given(votes(NAMES), st.permutations(NAMES), st.integers(1, 4))
def test_kendall_tau_counts_the_pairs_of_the_smaller_order(x: list[list[str]], names: list[str], width: int) -> None:
    y = [names[k : k + width] for k in range(0, len(names), width)]
    assert sc.kendall_tau_distance(x, y) == reference.kendall_tau_distance(tiers(x), tiers(y))


@given(st.permutations(NAMES), st.permutations(NAMES), st.permutations(NAMES))
def test_kendall_tau_is_a_metric(x: list[str], y: list[str], z: list[str]) -> None:
    d = sc.kendall_tau_distance
    assert d(x, y) == d(y, x)
    assert (d(x, y) == 0) == (x == y)
    assert d(x, z) <= d(x, y) + d(y, z)
    assert d(x, x[::-1]) == 36
    assert d(x, y) <= sc.footrule_distance(x, y) <= 2 * d(x, y)  # Diaconis and Graham, 1977


def test_distances_accept_ratings_and_mappings() -> None:
    assert sc.kendall_tau_distance(["a", "b", "c"], {"a": 1.0, "b": 1.0, "c": 2.0}) == 2.5
    board = sc.sco(sc.Profile.from_rankings([["a", "b", "c"]]))
    assert sc.normalized_kendall_tau_distance(["c", "b", "a"], board) == 1.0
    assert sc.normalized_kendall_tau_distance(["a"], board) == 0.0


def test_an_agent_the_second_order_lacks_is_an_error() -> None:
    with pytest.raises(sc.DataError, match="'d' of the first order"):
        sc.kendall_tau_distance(["a", "d"], ["a", "b"])
    with pytest.raises(sc.DataError, match="'a' appears twice"):
        sc.kendall_tau_distance(["a", "a"], ["a", "b"])
    with pytest.raises(sc.DataError, match="1 agents of the votes are missing"):
        sc.discrete_loss(paper_table(), ["A", "B"])


def test_the_papers_figure_one() -> None:
    """The sum of distances to C, A, B is 5, and more for any other order."""
    losses = {order: sc.discrete_loss(paper_table(), order) for order in itertools.permutations("ABC")}
    assert losses.pop(("C", "A", "B")) == 5
    assert min(losses.values()) > 5


@given(profiles())
def test_discrete_loss_sums_over_votes(profile: sc.Profile) -> None:
    order = profile.agents[::-1]
    ratings = {name: float(k) for k, name in enumerate(profile.agents)}
    assert sc.discrete_loss(profile, order) == pytest.approx(reference.discrete_loss(profile, ratings), abs=1e-9)


def test_mean_true_rating_distance_averages_over_wrong_pairs_only() -> None:
    truth = {"a": 10.0, "b": 7.0, "c": 1.0}
    assert sc.mean_true_rating_distance(["a", "b", "c"], truth) == 0.0
    assert sc.mean_true_rating_distance(["b", "a", "c"], truth) == 3.0
    assert sc.mean_true_rating_distance(["c", "b", "a"], truth) == (9 + 6 + 3) / 3
    assert sc.mean_true_rating_distance([["a", "c"], "b"], truth) == (9 / 2 + 6) / 1.5  # a tie is half a mistake
    assert sc.mean_true_rating_distance([["a", "b", "c"]], truth) == (9 + 6 + 3) / 3
    with pytest.raises(sc.DataError, match="truth: no rating of agent 'd'"):
        sc.mean_true_rating_distance(["a", "d"], truth)


def test_footrule_puts_ties_at_their_mean_place() -> None:
    assert sc.footrule_distance([["a", "b"], "c"], ["a", "b", "c"]) == 1.0
    assert sc.footrule_distance(["a", "b"], ["b", "x", "a"]) == 2.0  # places among the agents of the first order
