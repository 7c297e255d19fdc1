"""Profiles, and their pairs: nothing lost, nothing made up, whichever way they are counted."""

from __future__ import annotations

import copy
import gc
import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import reference
from conftest import profiles
from hypothesis import given, strategies as st

import softcondorcet as sc
from softcondorcet import Profile, majority
from softcondorcet.columns import Column, Columns
from softcondorcet.pairs import Pairs, check_total, count_by_rows, count_dense
from softcondorcet.source import Source


def as_dict(pairs: Pairs) -> dict[tuple[str, str], list[float]]:
    rows = zip(pairs.left, pairs.right, pairs.wins, pairs.losses, pairs.ties, strict=True)
    return {(pairs.agents[i], pairs.agents[j]): [w, x, t] for i, j, w, x, t in rows}


@given(profiles())
def test_pairs_equal_the_plain_count(profile: Profile) -> None:
    assert as_dict(profile.pairs()) == reference.pair_counts(profile)


def test_rows_by_agent_do_not_keep_their_pairs_alive() -> None:
    """A bootstrap makes hundreds of large ones: none may wait for the interpreter to look for cycles."""
    pairs = sc.synthetic.demo().pairs()
    gone = weakref.ref(pairs)
    assert len(pairs.by_agent.played) == len(pairs.by_agent_single.played) == 2 * len(pairs)
    gc.disable()
    try:
        del pairs
        assert gone() is None
    finally:
        gc.enable()


@given(profiles())
def test_counting_by_rows_equals_the_plain_count(profile: Profile) -> None:
    left, right, counts = count_by_rows(profile, profile.weight)
    assert as_dict(Pairs(profile.agents, left, right, *counts)) == reference.pair_counts(profile)


def test_both_ways_of_counting_agree_on_long_and_short_votes() -> None:
    profile, _ = sc.synthetic.tournament(400, agents=300, size=7, seed=3)
    long = sc.synthetic.mallows(5, agents=300)
    for votes in (profile, long):
        dense = count_dense(votes, votes.weight)
        rows = count_by_rows(votes, votes.weight, smallest=500)  # in several threads
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


def test_more_pairs_than_memory_are_refused_with_the_numbers() -> None:
    profile, _ = sc.synthetic.tournament(50, agents=600, seed=1)
    with pytest.raises(sc.DataError, match="distinct pairs, which take"):
        count_by_rows(profile, profile.weight, memory=10_000)


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


def annotated() -> Profile:
    """Three votes with all that can be known about votes."""
    return Profile(
        ("a", "b", "c"),
        [0, 2, 4, 6],
        [0, 1, 1, 2, 2, 0],
        [0, 1] * 3,
        [1, 2, 3],
        group=[0, 1, 0],
        groups=("x", "y"),
        when=[1.0, 2.0, 3.0],
        turned=[True, False, False],
        voter=[1, -1, 0],
        voters=("ann", "ben"),
        score=[5, 4, 3, 2, 1, 0],
        higher_is_better=[True, True, False],
        columns={"language": ["en", None, "de"], "year": [2024, None, 2020.5]},
        kind="games",
        source=Source("x.csv", "0"),
    )


def about(profile: Profile) -> dict[str, Any]:
    """Everything about the votes, as plain values."""
    assert profile.group is not None and profile.voter is not None and profile.score is not None
    return {
        "group": [profile.groups[k] for k in profile.group],
        "voter": [profile.voters[k] if k >= 0 else None for k in profile.voter],
        "score": profile.score.tolist(),
        **{name: column.cells() for name, column in profile.columns.items()},
        **{name: getattr(profile, name).tolist() for name in ("weight", "when", "turned", "higher_is_better")},
        **{name: getattr(profile, name) for name in ("kind", "source", "group_by")},
    }


def test_take_replace_and_copies_keep_what_is_known_about_votes() -> None:
    profile = annotated()
    some = profile.take(np.array([2, 0]))
    assert list(some.rankings()) == [[["c"], ["a"]], [["a"], ["b"]]]
    assert about(some) == {
        "group": ["x", "x"], "voter": ["ann", "ben"], "score": [1, 0, 5, 4], "language": ["de", "en"],
        "year": [2020.5, 2024], "weight": [3, 1], "when": [3, 1], "turned": [False, True],
        "higher_is_better": [False, True], "kind": "games", "source": Source("x.csv", "0"), "group_by": "group",
    }  # fmt: skip
    heavier = replace(profile, weight=np.array([2.0, 4.0, 6.0]))
    assert about(heavier) == {**about(profile), "weight": [2, 4, 6]}
    assert heavier.columns is profile.columns
    assert about(copy.deepcopy(profile)) == about(profile)
    assert [p.kind for p in (profile.pairs(), profile.pairs().renumbered(np.array([2, 0, 1])))] == ["games", "games"]
    assert profile.pairs().plus(some.pairs()).kind == majority.largest_group(profile.pairs()).kind == "games"


def test_group_is_one_of_the_columns() -> None:
    profile = annotated()
    by_language = replace(profile, group_by="language")
    assert (np.asarray(by_language.group).tolist(), by_language.groups) == ([0, 2, 1], ("en", "de", "(none)"))
    assert replace(profile, group_by="year").groups == ("2020.5", "2024", "(none)")
    again = replace(by_language, groups=("English", "German", "none"))  # type: ignore[call-arg]
    assert again.columns["language"].cells() == ["English", "none", "German"]
    assert about(profile.with_groups([1, 1, 0], ("p", "q")))["group"] == ["q", "q", "p"]
    alone = replace(profile, group=None, groups=())  # type: ignore[call-arg]
    assert (alone.group, alone.groups, alone.columns["group"].cells()) == (None, (), ["x", "y", "x"])
    silent = replace(profile, voter=None)  # type: ignore[call-arg]
    assert (silent.voter, silent.voters) == (None, ())
    with pytest.raises(sc.DataError, match="group_by: no column 'day'; found 'language', 'year'"):
        replace(profile, group_by="day")
    for columns in ({"day": ["mon"]}, {"day": Column(values=np.ones(2))}):
        with pytest.raises(sc.DataError, match="day: expected one entry for each of 3 votes, got"):
            replace(profile, columns=columns, group_by=None)  # type: ignore[arg-type]
    for array in (profile.columns["language"].codes, profile.columns["year"].values, profile.score, profile.voter):
        with pytest.raises(ValueError, match="read-only"):
            np.asarray(array)[0] = 0


def test_votes_of_at_most_half_of_the_agents_are_games_unless_somebody_says_otherwise() -> None:
    four = [["a", "b"], ["c", "d"]]
    kinds = [Profile.from_rankings(votes).kind for votes in (four, [*four, ["a", "b", "c"]], [["a", "b", "c"]], [])]
    assert kinds == ["games", "election", "election", "election"]
    assert Profile.from_rankings(four).take(np.array([], dtype=int)).kind == "games"
    assert Profile.from_rankings(four, kind="election").pairs().kind == "election"
    with pytest.raises(sc.OptionError, match="kind must be 'election' or 'games', got 'battles'"):
        Profile.from_rankings(four, kind="battles")  # type: ignore[arg-type]


def test_columns_are_made_when_they_are_asked_for() -> None:
    made = []

    def maker(name: str, column: Column | None) -> Callable[[], Column | None]:
        return lambda: (made.append(name), column)[1]  # type: ignore[func-returns-value]

    columns = Columns({"x": maker("x", Column.of(["p", "q"])), "y": maker("y", None)})
    profile = Profile.from_rankings([["a", "b"], ["b", "a"]], columns=columns).take(np.array([1]))
    assert made == []
    assert profile.columns["x"].cells() == ["q"]
    assert made == ["x"]
    assert (list(profile.columns), "y" in profile.columns, made) == (["x"], False, ["x", "y"])


@pytest.mark.parametrize(
    ("rankings", "options", "message"),
    [
        ([["a", "b"], ["a", "c", "a"]], {}, "vote 2: agent 'a' appears twice"),
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
        ([["a", "b"]], {"agents": ["a", "b", "a"]}, "a name appears twice"),
    ],
)
def test_bad_rankings_are_refused_with_the_vote(rankings: list[Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(sc.DataError, match=message):
        Profile.from_rankings(rankings, **options)


@given(profile=profiles(), seed=st.integers(0, 99))
def test_renumbered_pairs_say_the_same(profile: Profile, seed: int) -> None:
    pairs = profile.pairs()
    order = np.random.default_rng(seed).permutation(pairs.n_agents)
    other = pairs.renumbered(order)
    assert other.agents == tuple(pairs.agents[k] for k in order)
    assert (other.left < other.right).all()
    assert (np.diff(other.left.astype(np.int64) * other.n_agents + other.right) > 0).all()
    wins, ties = pairs.dense(order)
    np.testing.assert_array_equal(other.dense()[0], wins)
    np.testing.assert_array_equal(other.dense()[1], ties)
