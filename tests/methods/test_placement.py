"""The one rule for which agents have no rank: groups that never met, and ranks that the votes leave open."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import profiles
from hypothesis import given, strategies as st

import softcondorcet as sc
from softcondorcet import Profile
from softcondorcet.methods.placement import Placement, groups, rank_range

Votes = list[list[str]]


def played(rng: np.random.Generator, names: list[str], votes: int, step: float = 0.7) -> Votes:
    """Battles among agents each `step` log-odds better than the next."""
    found = []
    for _ in range(votes):
        a, b = sorted(rng.choice(len(names), 2, replace=False).tolist())
        won = rng.random() < 1 / (1 + np.exp(step * (a - b)))
        found.append([names[a], names[b]] if won else [names[b], names[a]])
    return found


def names(prefix: str, count: int) -> list[str]:
    return [f"{prefix}{k}" for k in range(count)]


def games(votes: Votes) -> Profile:
    return Profile.from_rankings(votes, kind="games")


def test_the_newcomers_of_the_demo_are_unplaced() -> None:
    found = Placement(sc.synthetic.demo())
    assert set(found) == {"newcomer-1", "newcomer-2"}
    assert found["newcomer-1"].reason == (
        "never compared with the main group of 11 agents: votes between it, or newcomer-2, and them would place it"
    )
    assert {one.group for one in found.values()} == {1}


def test_two_votes_place_nobody_among_many() -> None:
    field = played(np.random.default_rng(1), names("a", 12), 4_000, step=0.2)
    found = Placement(games([*field, ["new", "a4"], ["a7", "new"]]))
    assert set(found) == {"new"}
    words = found["new"].reason.split()
    assert words[:6] == ["2", "votes", "leave", "its", "rank", "between"]
    assert words[9:11] == ["of", "13:"]
    more = int(words[12])
    assert words[13:] == ["more", "would", "place", "it"]
    # With so many more, spread over the field as the two were, it is placed; with a quarter of them it is not.
    for share, still in ((2.0, False), (0.25, True)):
        count = max(1, round(share * more / 4))
        more_votes = [["new", "a4"], ["a4", "new"], ["new", "a7"], ["a7", "new"]] * count
        again = Placement(games([*field, ["new", "a4"], ["a7", "new"], *more_votes]))
        assert ("new" in again) is still, (share, more)


def test_a_condorcet_winner_is_placed_however_few_votes_say_so() -> None:
    field = played(np.random.default_rng(2), names("a", 12), 3_000, step=0.2)
    assert "king" in Placement(games([*field, ["king", "a0"], ["king", "a1"]]))
    crowned = [*field, *(["king", name] for name in names("a", 12))]
    assert sc.condorcet_winner(games(crowned)) == "king"
    assert "king" not in Placement(games(crowned))


def test_a_close_field_with_many_votes_is_placed() -> None:
    """All ranks are open, but not for lack of votes."""
    rng = np.random.default_rng(3)
    assert not Placement(games(played(rng, names("a", 10), 4_000, step=0)))
    assert len(Placement(games(played(rng, names("a", 10), 40, step=0)))) >= 9


def test_fewer_than_eight_agents_are_placed_by_any_votes() -> None:
    assert not Placement(games([["a", "b"], ["b", "c"], ["c", "d"], ["e", "d"], ["e", "f"], ["g", "f"]]))
    assert Placement(games([["a", "b"], ["b", "c"], ["c", "d"], ["e", "d"], ["e", "f"], ["g", "f"], ["h", "g"]]))


def test_in_an_election_the_rank_is_what_the_ballots_say() -> None:
    rng = np.random.default_rng(4)
    ballots = [rng.permutation(names("c", 10)).tolist() for _ in range(6)]
    assert not Placement(Profile.from_rankings(ballots, kind="election"))
    assert Placement(Profile.from_rankings(ballots, kind="games"))
    late = [*(ballots * 5), ["late", "c0"]]
    assert set(Placement(Profile.from_rankings(late, kind="election"))) == {"late"}


def test_of_two_largest_groups_neither_is_the_main_one() -> None:
    votes = games([["a", "b"], ["b", "a"], ["x", "y"], ["lone"]])
    found = Placement(votes)
    assert list(found) == ["a", "b", "x", "y", "lone"]
    assert found["a"].reason.startswith("2 groups of 2 agents were never compared with each other")
    assert found["lone"].reason == "no vote compares it with another agent"
    assert groups(votes.pairs())[1] is None


def test_one_agent_alone_is_placed_and_none_is_no_error() -> None:
    assert not Placement(games([["a"]]))
    assert not Placement(Profile.from_rankings([]))


def test_a_bridge_makes_one_group_of_two() -> None:
    rng = np.random.default_rng(5)
    votes = [*played(rng, names("a", 9), 900), *played(rng, names("b", 4), 400)]
    apart = Placement(games(votes))
    assert set(apart) == set(names("b", 4))
    assert {one.group for one in apart.values()} == {1}
    joined = Placement(games([*votes, ["a0", "b0"]]))
    assert set(joined) == set(names("b", 4)), "one vote is no place"
    assert {one.group for one in joined.values()} == {0}
    placed = games([*votes, *([["a4", "b0"], ["b0", "a4"], ["a3", "b1"], ["b2", "a5"]] * 100)])
    assert not Placement(placed)


@given(st.integers(0, 2**32 - 1), st.integers(1, 60))
def test_votes_in_one_group_say_nothing_of_another(seed: int, more: int) -> None:
    rng = np.random.default_rng(seed)
    votes = [*played(rng, names("a", 10), 120), *played(rng, names("b", 4), 20)]
    added = played(rng, names("b", 4), more)
    assert dict(Placement(games(votes))) == dict(Placement(games([*votes, *added])))


@given(profiles())
def test_the_rule_does_not_depend_on_the_order_of_votes(profile: Profile) -> None:
    turned = profile.take(np.arange(profile.n_votes)[::-1])
    assert set(Placement(profile)) == set(Placement(turned))


def test_ranges_of_many_agents_are_counted_at_some_ratings() -> None:
    rng = np.random.default_rng(6)
    ratings, sd = rng.standard_normal(3_000), rng.uniform(0.05, 1, 3_000)
    low, high = rank_range(ratings, sd)
    for k in (0, 77, 2_999):
        ends = (ratings[k] + side * 1.959964 * sd[k] for side in (1, -1))
        others = np.delete(np.arange(3_000), k)
        normal = np.random.default_rng(7).standard_normal((400, 2_999))
        drawn = ratings[others] + sd[others] * normal
        expected = [1 + float((drawn > end).sum(axis=1).mean()) for end in ends]
        assert (low[k], high[k]) == pytest.approx(expected, abs=8)  # of 3,000; 400 draws are off by about 1.5


def test_weights_of_any_size_are_no_error() -> None:
    votes = [["a", "b"], ["b", "c"], ["c", "d"], ["e", "d"], ["e", "f"], ["g", "f"], ["h", "g"]]
    for weight in (1e-320, 1e-9, 1e12, 1e290):
        found = Placement(Profile.from_rankings(votes, weights=[weight] * len(votes), kind="games"))
        assert all(one.reason for one in found.values())


def test_tables_list_agents_without_a_rank_below_the_others() -> None:
    board = sc.sco(sc.synthetic.demo())
    rows = board.rows()
    assert [row["rank"] for row in rows] == [*range(1, 12), None, None]
    assert [row["agent"] for row in rows[11:]] == ["newcomer-2", "newcomer-1"]
    assert rows[11]["unplaced"].endswith("; 1 of 2 in its own group")
    assert rows[0]["unplaced"] is None and board.unplaced[board.agents.index("aster")] is None
    assert set(board.order) == set(board.agents) and board.place_of("newcomer-1") is None
    assert board.place_of("kelp") == 11 and board.smith_set == ("aster", "birch", "cedar")
    assert any(line == "2 agents have no rank: newcomer-2, newcomer-1" for line in board.summary())
    again = sc.Ratings.from_json(board.to_json()).rows()
    told = ("rank", "agent", "rating", "unplaced")
    assert [[row[name] for name in told] for row in again] == [[row[name] for name in told] for row in rows]


def test_every_method_and_comparison_has_the_same_agents_without_a_rank() -> None:
    found = sc.compare(sc.synthetic.demo(), ["sco", "bradley_terry", "borda"])
    assert [row["borda"] for row in found.rows()][-2:] == [None, None]
    assert all(board.place_of("newcomer-1") is None for board in found.boards.values())
    assert not any("newcomer" in line for line in [*found.moves(), *found.violations()])
    assert found.smith_set == ("aster", "birch", "cedar")
    for method in sc.METHODS:
        board = sc.rank(sc.synthetic.demo(), method)
        assert {name for name, why in zip(board.agents, board.unplaced, strict=True) if why} == {
            "newcomer-1",
            "newcomer-2",
        }, method
