"""Voting rules against their definitions, textbook elections, and what each does with odd votes."""

from __future__ import annotations

import os
import time
from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
from conftest import data_folder, profiles, tennessee, three_cycle
from helpers import reference_voting
from hypothesis import assume, given, settings

import softcondorcet as sc
from softcondorcet import Profile, Ratings
from softcondorcet.methods.result import standing
from softcondorcet.methods.schulze import strongest_paths
from softcondorcet.methods.stv import droop_quota

RULES = [
    "approval", "plurality", "borda", "copeland", "ranked_pairs", "schulze", "maximal_lotteries",
    "iterated_maximal_lotteries", "stv",
]  # fmt: skip


def values(board: Ratings) -> dict[str, float]:
    return {name: board[name] for name in board.agents}


@settings(max_examples=30)
@given(profiles(), st.integers(1, 8))
def test_points(profile: Profile, k: int) -> None:
    for board, expected in (
        (sc.approval(profile, k=k), reference_voting.points_of_first(profile, k)),
        (sc.plurality(profile), reference_voting.points_of_first(profile, 1)),
        (sc.borda(profile), reference_voting.borda(profile)),
    ):
        # Thirds are rounded to 9 decimals.
        assert values(board) == pytest.approx({name: float(x) for name, x in expected.items()}, abs=1e-9)


@given(profiles())
def test_copeland(profile: Profile) -> None:
    assert values(sc.copeland(profile)) == reference_voting.copeland(profile)


@given(profiles(max_agents=8))
def test_ranked_pairs(profile: Profile) -> None:
    assert values(sc.ranked_pairs(profile)) == reference_voting.ranked_pairs(profile)


@settings(max_examples=75)
@given(profiles(max_agents=8), st.sampled_from(["margins", "wins"]), st.sampled_from([0, 100, 10**9]))
def test_schulze(profile: Profile, strength: str, edge: int) -> None:
    """By going through the strengths only (0), by matrices only, and by what is quicker."""
    ratings = standing(*strongest_paths(profile.pairs(), strength, edge))
    expected = reference_voting.schulze(profile, strength)
    assert (
        dict(zip(profile.agents, ratings.tolist(), strict=True))
        == expected
        == values(sc.schulze(profile, strength=strength))
    )


@pytest.mark.parametrize("votes", [2, 3, 4])
def test_noise(votes: int) -> None:
    """Few votes over many agents that agree on nothing: long cycles of equal margins."""
    for seed in range(8):
        profile = sc.synthetic.mallows(votes, agents=10, phi=1.0, seed=seed)
        assert values(sc.ranked_pairs(profile)) == reference_voting.ranked_pairs(profile)
        assert values(sc.schulze(profile)) == reference_voting.schulze(profile, "margins")


@given(profiles(), st.integers(1, 4))
def test_stv(profile: Profile, seats: int) -> None:
    assert values(sc.stv(profile, seats=seats)) == reference_voting.stv(profile, seats)[0]


def test_tennessee() -> None:
    """The textbook example, as on Wikipedia's page of each rule."""
    capital = tennessee()
    points = {"Memphis": 126, "Nashville": 194, "Chattanooga": 173, "Knoxville": 107}
    assert values(sc.borda(capital)) == points
    assert values(sc.plurality(capital)) == {"Memphis": 42, "Nashville": 26, "Chattanooga": 15, "Knoxville": 17}
    assert values(sc.approval(capital, k=2)) == {"Memphis": 42, "Nashville": 68, "Chattanooga": 58, "Knoxville": 32}
    order = ["Nashville", "Chattanooga", "Knoxville", "Memphis"]
    for method in (sc.copeland, sc.ranked_pairs, sc.schulze, sc.iterated_maximal_lotteries):
        assert method(capital).order == order
    assert sc.maximal_lotteries(capital)["Nashville"] == 1
    assert sc.stv(capital).order == ["Knoxville", "Memphis", "Nashville", "Chattanooga"]


@pytest.mark.parametrize("strength", ["margins", "wins"])
@pytest.mark.parametrize("votes", [(7, 6, 5), (3, 1, 2)])
def test_schulze_of_a_cycle_of_balanced_groups_is_level(votes: tuple[int, ...], strength: str) -> None:
    """Weights such as a third and 6/7 add up to victories of one size, whatever their last digits."""
    pairs = [["a", "b"], ["b", "c"], ["c", "a"]]
    rankings = [pair for pair, n in zip(pairs, votes, strict=True) for _ in range(n)]
    tasks = [f"t{k}" for k, n in enumerate(votes) for _ in range(n)]
    profile = Profile.from_rankings(rankings, columns={"task": tasks}).balanced("task")
    assert len(set(sc.schulze(profile, strength=strength).values.tolist())) == 1


def test_schulze_of_45_votes() -> None:
    """Wikipedia, Schulze method: E, A, C, B, D. Margins and votes won agree, as the votes are complete."""
    votes = {"ACBED": 5, "ADECB": 5, "BEDAC": 8, "CABED": 3, "CAEBD": 7, "CBADE": 2, "DCEBA": 7, "EBADC": 8}
    profile = Profile.from_rankings([list(vote) for vote in votes], weights=votes.values())
    for strength in ("margins", "wins"):
        board = sc.schulze(profile, strength=strength)
        assert board.order == ["E", "A", "C", "B", "D"]
        assert board["E"] == 4 and board["D"] == 0


def test_food_for_a_party() -> None:
    """Wikipedia, Single transferable vote: 23 guests elect pears, cake and hamburgers; the quota is 6."""
    votes = [
        (4, ["Orange", "Pear"]), (7, ["Pear", "Strawberry", "Cake"]), (1, ["Strawberry", "Cake", "Pear"]),
        (3, ["Cake", "Chocolate", "Strawberry"]), (1, ["Cake", "Chocolate", "Hamburger"]), (4, ["Hamburger"]),
        (3, ["Chicken", "Hamburger"]),
    ]  # fmt: skip
    party = Profile.from_rankings([vote for _, vote in votes], weights=[guests for guests, _ in votes])
    assert droop_quota(party.weight, 3) == 6
    order = ["Pear", "Cake", "Hamburger", "Orange", "Chicken", "Strawberry", "Chocolate"]
    assert sc.stv(party, seats=3).order == order


def test_condorcet_paradox() -> None:
    cycle = three_cycle()
    assert sc.maximal_lotteries(cycle).values == pytest.approx([1 / 3] * 3, abs=1e-10)
    for method in (sc.copeland, sc.schulze, sc.iterated_maximal_lotteries, sc.borda, sc.stv):
        assert (method(cycle).ranks == 1).all()


@pytest.mark.parametrize("rule", RULES)
def test_agents_that_stand_in_no_vote(rule: str) -> None:
    nobody = Profile.from_rankings([], agents=["a", "b"])
    assert (sc.rank(nobody, rule).ranks == 1).all()
    alone = Profile.from_rankings([["a"]], weights=[0.0])
    assert sc.rank(alone, rule).order == ["a"]
    assert sc.rank(Profile.from_rankings([]), rule).order == []


def test_votes_of_part_of_a_weight() -> None:
    """Halves of votes: the order does not change, and half of all votes is not a majority."""
    halves = Profile.from_rankings([["a", "b"], ["b", "a"]], weights=[0.5, 0.5])
    for rule in RULES:
        assert (sc.rank(halves, rule).ranks == 1).all(), rule
    for rule in RULES:
        split = replace(tennessee(), weight=np.array([4.2, 2.6, 1.5, 1.7]))
        assert sc.rank(split, rule).order == sc.rank(tennessee(), rule).order, rule


def test_half_of_all_votes_is_no_majority() -> None:
    """Agent a holds half and is not elected: c leaves, b catches up, and both have 4 Borda points."""
    profile = Profile.from_rankings([["a", "b", "c"], ["b", "a", "c"], ["c", "b", "a"]], weights=[1.5, 1.0, 0.5])
    assert sc.stv(profile).ranks.tolist() == [1, 1, 3]


@pytest.mark.parametrize(
    ("rule", "options", "message"),
    [
        ("approval", {"k": 0}, "k must be a positive whole number, got 0"),
        ("stv", {"seats": 1.5}, "seats must be a positive whole number, got 1.5"),
        ("schulze", {"strength": "votes"}, "strength must be 'margins' or 'wins', got 'votes'"),
        ("maximal_lotteries", {"strength": "wins"}, "strength must be 'margins' or 'signs', got 'wins'"),
        ("iterated_maximal_lotteries", {"tol": 0}, "tol must be a positive number, got 0"),
    ],
)
def test_options_are_checked(rule: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(sc.OptionError, match=message):
        sc.rank(tennessee(), rule, **options)


@pytest.mark.parametrize("rule", RULES)
def test_rules_on_pairs_say_what_they_need(rule: str) -> None:
    pairs = tennessee().pairs()
    if rule in ("approval", "plurality", "stv"):
        with pytest.raises(sc.OptionError, match="data must be a Profile; pairs do not say who stood where"):
            sc.rank(pairs, rule)
    else:
        np.testing.assert_array_equal(sc.rank(pairs, rule).values, sc.rank(tennessee(), rule).values)


def raised(profile: Profile, name: str) -> Profile:
    """The agent goes to the top, alone, of the first vote that holds it."""
    votes = list(profile.rankings())
    v = next(v for v, vote in enumerate(votes) if any(name in tier for tier in vote))
    rest = [[other for other in tier if other != name] for tier in votes[v]]
    votes[v] = [[name], *(tier for tier in rest if tier)]
    return Profile.from_rankings(votes, weights=profile.weight.tolist(), agents=profile.agents)


@pytest.mark.parametrize("rule", ["approval", "plurality", "borda", "copeland", "ranked_pairs", "schulze"])
def test_a_winner_that_is_raised_wins(rule: str) -> None:
    @settings(max_examples=25)
    @given(profiles(max_agents=5))
    def holds(profile: Profile) -> None:
        winner = sc.rank(profile, rule).order[0]
        assume(any(winner in tier for vote in profile.rankings() for tier in vote))
        assert sc.rank(raised(profile, winner), rule).rank_of(winner) == 1

    holds()


def test_a_winner_that_is_raised_can_lose_by_stv() -> None:
    """Wikipedia, Monotonicity criterion: ten of the second kind of voters turn to A, and A loses."""
    before = Profile.from_rankings([["A", "B", "C"], ["B", "C", "A"], ["C", "A", "B"]], weights=[39, 35, 26])
    after = Profile.from_rankings([["A", "B", "C"], ["B", "C", "A"], ["C", "A", "B"]], weights=[49, 25, 26])
    assert sc.stv(before).order[0] == "A"
    assert sc.stv(after).order[0] == "C"


@pytest.mark.parametrize("rule", ["ranked_pairs", "schulze", "maximal_lotteries", "stv"])
def test_a_copy_of_an_agent_changes_no_other_winner(rule: str) -> None:
    """Independence of clones, where margins are large and distinct enough for no tie to decide."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        votes = [[f"{x}" for x in rng.permutation(4)] for _ in range(9)]
        weights = rng.integers(1, 10**6, 9).tolist()
        cloned = [[name for x in vote for name in ([x, "copy"] if x == "0" else [x])] for vote in votes]
        first = sc.rank(Profile.from_rankings(votes, weights=weights), rule).order[0]
        assert sc.rank(Profile.from_rankings(cloned, weights=weights), rule).order[0] == first
    assert sc.borda(Profile.from_rankings([["a", "b"], ["b", "a"]], weights=[3, 2])).order[0] == "a"
    assert sc.borda(Profile.from_rankings([["a", "b", "c"], ["b", "c", "a"]], weights=[3, 2])).order[0] == "b"


@pytest.mark.data
def test_fifty_thousand_agents() -> None:
    """Every rule but one runs on 53,322 agents, of which 43,031 are on one cycle; points within a second."""
    profile = sc.read(os.path.join(data_folder(), "codeforces", "codeforces_groups7.csv.gz"))
    assert max(map(len, sc.strong_groups(profile, by="majority"))) == 43_031
    for rule in RULES:
        sc.rank(tennessee(), rule)  # compile
    for rule in set(RULES) - {"iterated_maximal_lotteries"}:
        began = time.process_time()
        board = sc.rank(profile, rule)
        assert time.process_time() - began < (1 if rule in ("approval", "plurality", "borda", "copeland") else 30)
        assert len(board) == 53_322 and np.ptp(board.values) > 0
    assert (sc.maximal_lotteries(profile).values > 0).sum() == len(sc.weak_condorcet_winners(profile))
