"""The majority's view on sparse pairs, against trying everything."""

from __future__ import annotations

import itertools

import reference
from conftest import profiles, tennessee, three_cycle
from hypothesis import given

import softcondorcet as sc
from softcondorcet import Profile, majority


@given(profiles(max_agents=6))
def test_condorcet_winner_and_smith_set(profile: Profile) -> None:
    assert sc.condorcet_winner(profile) == reference.condorcet_winner(profile)
    assert set(sc.smith_set(profile)) == set(reference.smith_set(profile))


@given(profiles(max_agents=6))
def test_losers_and_weak_winners(profile: Profile) -> None:
    lead = reference.margins(profile)
    agents = profile.agents
    weak = tuple(a for a in agents if all(lead[a, b] >= 0 for b in agents))
    losers = [a for a in agents if all(lead[a, b] < 0 for b in agents if b != a)]
    assert sc.weak_condorcet_winners(profile) == weak
    assert sc.condorcet_loser(profile) == (losers[0] if losers else None)


@given(profiles(max_agents=6))
def test_groups(profile: Profile) -> None:
    counts = reference.pair_counts(profile)
    wins = {(a, b) for (a, b), c in counts.items() if c[0]} | {(b, a) for (a, b), c in counts.items() if c[1]}
    linked = reference.reachable({e for a, b in counts for e in ((a, b), (b, a))}, profile.agents)
    won = reference.reachable(wins, profile.agents)
    assert {frozenset(g) for g in sc.connected_groups(profile)} == {
        frozenset(b for b in profile.agents if (a, b) in linked) for a in profile.agents
    }
    groups = sc.strong_groups(profile)
    assert {frozenset(g) for g in groups} == {
        frozenset(b for b in profile.agents if (a, b) in won and (b, a) in won) for a in profile.agents
    }
    place = {name: k for k, group in enumerate(groups) for name in group}
    assert all(place[a] <= place[b] for a, b in wins)


@given(profiles(max_agents=6))
def test_undefeated_winless_unlisted(profile: Profile) -> None:
    above, below, seen = set(), set(), set()
    for (a, b), (wins, losses, _) in reference.pair_counts(profile).items():
        seen |= {a, b}
        above |= ({a} if wins else set()) | ({b} if losses else set())
        below |= ({b} if wins else set()) | ({a} if losses else set())
    assert set(sc.undefeated(profile)) == above - below
    assert set(sc.winless(profile)) == below - above
    assert set(majority.unlisted(profile)) == set(profile.agents) - seen


def test_famous_profiles() -> None:
    assert sc.condorcet_winner(tennessee()) == "Nashville"
    assert sc.condorcet_loser(tennessee()) == "Memphis"
    assert sc.smith_set(tennessee()) == ("Nashville",)
    assert sc.condorcet_winner(three_cycle()) is None
    assert sc.strong_groups(three_cycle(), by="majority") == [("A", "B", "C")]


def test_the_largest_group_keeps_its_own_counts() -> None:
    profile = Profile.from_rankings([["x", "y"], ["a", "b", "c"], ["c", "b"]], weights=[1, 2, 3])
    group = majority.largest_group(profile)
    assert group.agents == ("a", "b", "c")
    assert group.total == 2 * 3 + 3
    assert majority.condorcet_winner(group) == "a"
    assert majority.condorcet_winner(profile) is None


def test_a_long_chain_needs_no_recursion() -> None:
    names = [f"{k:05}" for k in range(20_000)]
    chain = Profile.from_rankings(list(itertools.pairwise(names)))
    assert [g[0] for g in sc.strong_groups(chain)] == names
    assert len(sc.connected_groups(chain)) == 1
