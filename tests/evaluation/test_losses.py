"""The smooth losses of any ratings: against their definitions vote by vote, and gradients by finite differences."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
import reference
from conftest import paper_example, profiles, tennessee
from hypothesis import given

import softcondorcet as sc
from softcondorcet import Profile


def by_chance(profile: Profile, seed: int) -> dict[str, float]:
    return dict(zip(profile.agents, np.random.default_rng(seed).normal(0, 2, profile.n_agents).tolist(), strict=True))


@given(profiles(max_agents=5), st.integers(0, 1000), st.sampled_from([0.1, 1.0, 30.0]))
def test_sigmoid_loss_is_that_of_its_definition(profile: Profile, seed: int, temperature: float) -> None:
    ratings = by_chance(profile, seed)
    expected = reference.sigmoid_loss(profile, ratings, temperature)
    assert sc.sigmoid_loss(profile, ratings, temperature=temperature) == pytest.approx(expected, rel=1e-12)


@given(profiles(), st.sampled_from(["sco", "sigmoidal_program"]))
def test_it_is_the_loss_that_a_result_has(profile: Profile, method: str) -> None:
    board = sc.rank(profile, method, temperature=2.0, **({"scale": "box"} if method == "sco" else {}))
    assert sc.sigmoid_loss(profile, board, temperature=2.0) == pytest.approx(board.loss, rel=1e-9, abs=1e-12)


def test_a_low_temperature_leaves_the_discrete_loss() -> None:
    board = sc.kemeny(tennessee())
    assert sc.sigmoid_loss(tennessee(), board, temperature=0.1) == pytest.approx(board.discrete_loss)


@pytest.mark.parametrize("perturbation", ["gumbel", "normal"])
def test_fenchel_young_loss_is_that_of_its_definition(perturbation: str) -> None:
    """Of noisy places times noisy ratings, less places times ratings, a tie having the mean of its places."""
    profile = Profile.from_rankings([["a", ["b", "c"], "d"], ["d", "b"], ["c", "a", "b"]], weights=[2, 1, 3])
    ratings = {"a": 0.3, "b": -1.0, "c": 0.8, "d": 0.0}
    # A standard error of 0.01, so this is within four of them.
    found = sc.fenchel_young_loss(profile, ratings, sigma=0.7, perturbation=perturbation)  # type: ignore[arg-type]
    assert found == pytest.approx(reference.fenchel_young_loss(profile, ratings, 0.7, perturbation), abs=0.04)


@given(profiles(max_agents=4), st.integers(0, 1000))
def test_the_gradient_of_the_fenchel_young_loss_is_a_difference_of_places(profile: Profile, seed: int) -> None:
    """Eq. (7): the expected place by noisy ratings less the place in the vote; by Gumbel noise a sum of sigmoids."""
    ratings, sigma, step = by_chance(profile, seed), 1.5, 1e-5
    for name in profile.agents:
        up, down = (
            sc.fenchel_young_loss(profile, ratings | {name: ratings[name] + side}, sigma=sigma)
            for side in (step, -step)
        )
        expected = reference.fenchel_young_slope(profile, ratings, sigma, name)
        assert (up - down) / (2 * step) == pytest.approx(expected, abs=1e-6)  # what the difference leaves


def test_the_minimum_of_the_fenchel_young_loss_is_where_its_descent_ends() -> None:
    """Their gradients have mean 0 there, and Bradley-Terry's ratings are that point."""
    votes = paper_example()
    best = sc.bradley_terry(votes, prior=1e-9)
    least = sc.fenchel_young_loss(votes, best)
    for seed in range(5):
        other = {name: best[name] + shift for name, shift in by_chance(votes, seed).items()}
        assert least < sc.fenchel_young_loss(votes, other)


@pytest.mark.parametrize("loss", [sc.sigmoid_loss, sc.fenchel_young_loss])
def test_ratings_come_in_any_form(loss) -> None:  # type: ignore[no-untyped-def]
    votes = paper_example()
    board = sc.sco(votes)
    listed = [board[name] for name in votes.agents]
    by_name = {name: board[name] for name in board.order}
    assert loss(votes, board) == loss(votes, by_name) == loss(votes, listed) == loss(votes.pairs(), np.array(listed))
    for wrong, message in (
        ({"A": 1.0, "B": 2.0}, "ratings must be a rating of each agent of these votes, got \"none of agent 'C'\""),
        ([1.0, 2.0], r"ratings must be 3 numbers, a rating of each agent of these votes, got 'shape \(2,\)'"),
        ([1.0, 2.0, float("nan")], r"ratings must be finite numbers, got \[nan\]"),
        (["x", "y", "z"], "ratings must be a rating of each agent of these votes"),
    ):
        with pytest.raises(sc.OptionError, match=message):
            loss(votes, wrong)


@pytest.mark.parametrize("start", [{"A": 90.0, "C": 20.0}, "board"])
@pytest.mark.parametrize(
    "options", [{"solver": "sgd", "steps": 1, "lr": 1e-9}, {"steps": 1, "polish": False, "tol": 9}]
)
def test_start_takes_a_dict(start: object, options: dict[str, object]) -> None:
    """One tiny step leaves ratings near where they began; agents that are not named begin at the middle."""
    votes = paper_example()
    known = {"A": 90.0, "C": 20.0}
    begin = sc.Ratings(("A", "C"), np.array([90.0, 20.0]), "mine") if start == "board" else known
    near = sc.sco(votes, scale="box", temperature=0.5, start=begin, **options)  # type: ignore[arg-type]
    assert {name: near[name] for name in votes.agents} == pytest.approx(known | {"B": 50.0}, abs=1e-3)
    same = sc.fenchel_young(votes, start=begin, steps=1, lr=1e-9)
    assert same["A"] == pytest.approx(90.0)


@pytest.mark.parametrize("start", ["x", 3.0, {"A": "high"}, {"A": float("inf")}, {"A": True}])
def test_start_must_be_numbers(start: object) -> None:
    with pytest.raises(sc.OptionError, match="start must be"):
        sc.sco(paper_example(), scale="box", start=start)  # type: ignore[arg-type]
