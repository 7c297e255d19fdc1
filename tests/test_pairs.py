"""Profiles, and their pairs: nothing lost, nothing made up, whichever way they are counted."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from conftest import profiles
from hypothesis import given

import softcondorcet as sc
from softcondorcet import Profile
from softcondorcet import pairs as pairs_module
from softcondorcet.pairs import Pairs, check_total


def as_dict(pairs: Pairs) -> dict[tuple[str, str], list[float]]:
    rows = zip(pairs.left, pairs.right, pairs.wins, pairs.losses, pairs.ties, strict=True)
    return {(pairs.agents[i], pairs.agents[j]): [w, x, t] for i, j, w, x, t in rows}


@given(profiles())
def test_pairs_equal_the_plain_count(profile: Profile) -> None:
    assert as_dict(profile.pairs()) == reference.pair_counts(profile)


@given(profiles())
def test_counting_by_rows_equals_the_plain_count(profile: Profile) -> None:
    left, right, counts = pairs_module._count_by_rows(profile)
    assert as_dict(Pairs(profile.agents, left, right, *counts)) == reference.pair_counts(profile)


def test_both_ways_of_counting_agree_on_long_and_short_votes(monkeypatch: pytest.MonkeyPatch) -> None:
    profile, _ = sc.synthetic.tournament(400, agents=300, size=7, seed=3)
    long = sc.synthetic.mallows(5, agents=300)
    monkeypatch.setattr(pairs_module, "_WORTH_A_THREAD", 500)  # several threads, also on small data
    for votes in (profile, long):
        dense, rows = pairs_module._count_dense(votes), pairs_module._count_by_rows(votes)
        for a, b in zip(dense, rows, strict=True):
            np.testing.assert_array_equal(a, b)


@given(profiles())
def test_rows_by_agent_hold_each_pair_from_both_sides(profile: Profile) -> None:
    pairs = profile.pairs()
    rows = pairs.by_agent
    wins, ties = pairs.dense()
    for a in range(pairs.n_agents):
        partners = rows.column[rows.row[a] : rows.row[a + 1]]
        assert (np.diff(partners.astype(int)) > 0).all()
        np.testing.assert_array_equal(rows.margin[rows.row[a] : rows.row[a + 1]], (wins - wins.T)[a, partners])
        np.testing.assert_array_equal(rows.played[rows.row[a] : rows.row[a + 1]], (wins + wins.T + ties)[a, partners])
    assert len(rows.column) == 2 * len(pairs)


def test_rows_by_agent_are_sorted_when_tables_are_turned_in_tiles() -> None:
    rows = sc.synthetic.mallows(3, agents=200, phi=1.0).pairs().by_agent
    expected = np.concatenate([np.delete(np.arange(200), a) for a in range(200)])
    np.testing.assert_array_equal(rows.column, expected)


@given(profiles())
def test_discrete_loss_is_the_sum_of_distances(profile: Profile) -> None:
    ratings = {name: float(k % 3) for k, name in enumerate(profile.agents)}
    values = np.array([ratings[name] for name in profile.agents])
    assert profile.pairs().discrete_loss(values) == pytest.approx(reference.discrete_loss(profile, ratings), abs=1e-9)


def test_a_lost_comparison_is_noticed() -> None:
    pairs = Profile.from_rankings([["a", "b", "c"]]).pairs()
    with pytest.raises(sc.DataError, match=r"add up to 3\.0; expected 4\.0"):
        check_total(pairs, 4.0)


def test_long_votes_do_not_build_their_raw_pairs_in_memory() -> None:
    """The result takes 32 bytes a pair; a list of the raw pairs of two votes would double that."""
    import tracemalloc

    m = 3_000
    profile = sc.synthetic.mallows(2, agents=m, phi=1.0)
    tracemalloc.start()
    pairs = profile.pairs()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(pairs) == m * (m - 1) // 2
    assert peak < 1.5 * len(pairs) * 32


def test_more_pairs_than_memory_are_refused_with_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs_module, "BYTES", 10**9)
    profile, _ = sc.synthetic.tournament(50, agents=600, seed=1)
    with pytest.raises(sc.DataError, match="distinct pairs, which take"):
        profile.pairs()


def test_zero_weight_votes_count_nothing() -> None:
    pairs = Profile.from_rankings([["a", "b"], ["b", "c"]], weights=[1, 0]).pairs()
    assert as_dict(pairs) == {("a", "b"): [1, 0, 0]}


def test_profile_arrays_are_read_only_and_input_is_not_touched() -> None:
    agent = np.array([1, 0])
    profile = Profile(("a", "b"), np.array([0, 2]), agent, np.array([0, 7]), np.ones(1))
    assert profile.tier.tolist() == [0, 1]
    agent[0] = 0
    assert profile.agent.tolist() == [1, 0]
    with pytest.raises(ValueError, match="read-only"):
        profile.weight[0] = 2
    with pytest.raises(ValueError, match="read-only"):
        profile.pairs().wins[0] = 2


def test_pairs_cannot_be_changed_and_leave_the_callers_arrays_alone() -> None:
    pairs = Profile.from_rankings([["a", "b"]]).pairs()
    with pytest.raises(ValueError, match="read-only"):
        pairs.margin[:] = -1
    wins = np.ones(1)
    made = Pairs(("a", "b"), np.array([0]), np.array([1]), wins, np.zeros(1), np.zeros(1))
    wins[0] = 2
    assert not made.wins.flags.writeable


def test_groups_and_times_are_checked() -> None:
    arrays = (("a", "b"), [0, 2], [0, 1], [0, 1], [1.0])
    with pytest.raises(sc.DataError, match="vote 1: no group has number 1"):
        Profile(*arrays, group=[1], groups=("x",))
    with pytest.raises(sc.DataError, match="vote 1: its time is not a finite number"):
        Profile(*arrays, when=[np.nan])


def test_weights_may_come_from_a_generator() -> None:
    assert Profile.from_rankings([["a", "b"]] * 2, weights=(w for w in (1, 2))).weight.tolist() == [1, 2]


def test_take_keeps_agents_groups_and_times() -> None:
    profile = Profile(
        ("a", "b", "c"),
        [0, 2, 4, 6],
        [0, 1, 1, 2, 2, 0],
        [0, 1] * 3,
        [1, 2, 3],
        group=[0, 1, 0],
        groups=("x", "y"),
        when=[1.0, 2.0, 3.0],
    )
    some = profile.take(np.array([2, 0]))
    assert list(some.rankings()) == [[["c"], ["a"]], [["a"], ["b"]]]
    assert some.weight.tolist() == [3, 1]
    assert some.group is not None and some.group.tolist() == [0, 0]
    assert some.when is not None and some.when.tolist() == [3.0, 1.0]


@pytest.mark.parametrize(
    ("rankings", "options", "message"),
    [
        ([["a", "b"], ["a", "c", "a"]], {}, "vote 2: agent 'a' stands twice"),
        ([["a"], []], {}, "vote 2: expected at least one agent"),
        (["abc"], {}, "vote 1: expected a list of agents, got 'abc'"),
        ([["a", 3]], {}, "vote 1: expected agent names"),
        ([["a", ""]], {}, "vote 1: expected agent names"),
        ([["a", "b"]], {"weights": ["x"]}, "weights: expected numbers"),
        ([["a", "b"]], {"weights": [[1, 2]]}, "weights: expected a list of numbers"),
        ([["a", "b"]], {"weights": [1e305]}, "more than 1e300 comparisons"),
        ([["a", "b"]], {"agents": ["a", "b", 3]}, "agents: expected names"),
        ([[["a", 3]]], {}, "vote 1: expected agent names"),
        ([["a", "b"]], {"weights": [1, 2]}, "expected one for each of 1 votes, got 2"),
        ([["a", "b"]], {"weights": [-1]}, "vote 1: weight is -1.0"),
        ([["a", "b"]], {"weights": [float("nan")]}, "vote 1: weight is nan"),
        ([["a", "b"]], {"agents": ["a"]}, "vote 1: agent 'b' is not among"),
        ([["a", "b"]], {"agents": ["a", "b", "a"]}, "a name stands twice"),
    ],
)
def test_bad_rankings_are_refused_with_the_vote(rankings: list, options: dict, message: str) -> None:
    with pytest.raises(sc.DataError, match=message):
        Profile.from_rankings(rankings, **options)
