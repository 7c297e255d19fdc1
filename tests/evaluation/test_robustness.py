"""Fewest votes, agents and judges left out, copies: against cases known by hand and against trying everything."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import paper_example, profiles, tennessee, three_cycle
from hypothesis import given, settings, strategies as st

import softcondorcet as sc
from softcondorcet import Profile, arrays
from softcondorcet.cli import main
from softcondorcet.evaluation.fewest_votes import Flip, with_copy, without_agent, without_votes
from softcondorcet.evaluation.robustness import PARTS, Change, _change


def flip_of(profile: Profile, method: str = "sco", **options: Any) -> Flip:
    found = sc.robustness(profile, method, parts=["votes"], rivals=3, options=options).flip
    assert found is not None
    return found


def still_first(profile: Profile, top: str, method: str) -> bool:
    return sc.rank(profile, method).rank_of(top) == 1


# The changed votes.


@given(profiles(), st.integers(0, 6))
def test_votes_without_an_agent_and_with_a_copy(profile: Profile, agent: int) -> None:
    agent %= profile.n_agents
    name = profile.agents[agent]
    fewer, more = [], []
    for vote in profile.rankings():
        kept = [[other for other in tier if other != name] for tier in vote]
        kept = [tier for tier in kept if tier]
        if sum(map(len, kept)) > 1 or (kept and sum(map(len, vote)) == 1):
            fewer.append(kept)
        more.append([[*tier, f"copy of {name}"] if name in tier else tier for tier in vote])
    assert list(without_agent(profile, agent).rankings()) == fewer
    copied = [[sorted(tier) for tier in vote] for vote in with_copy(profile, agent).rankings()]
    assert copied == [[sorted(tier) for tier in vote] for vote in more]


def test_changed_votes_keep_weight_group_and_time() -> None:
    votes = Profile.from_rankings([["a", "b"], ["b", "c"], ["c", "a", "b"]], weights=[2, 3, 4])
    votes = replace(
        votes.with_groups([0, 1, 1], ("x", "y")),
        when=np.array([1.0, 2.0, 3.0]),
        turned=np.array([True, False, False]),
    )
    fewer = without_agent(votes, 0)
    assert fewer.agents == ("b", "c") and fewer.weight.tolist() == [3, 4]
    assert fewer.group is not None and fewer.group.tolist() == [1, 1] and fewer.turned is None
    assert with_copy(replace(votes, agents=("a", "b", "copy of a")), 0).agents[-1] == "copy of copy of a"
    left = without_votes(votes, np.array([2.0, 1.0, 0.0]))
    assert left.weight.tolist() == [2, 4] and left.when is not None and left.when.tolist() == [2, 3]


# Fewest votes.


@pytest.mark.parametrize("method", ["sco", "kemeny", "borda", "bradley_terry", "schulze"])
@settings(max_examples=5)  # each tries all sets of votes
@given(profile=profiles(max_agents=4, max_votes=5))
def test_fewest_votes_against_trying_every_set(method: str, profile: Profile) -> None:
    single = replace(profile, weight=np.ones(profile.n_votes))
    if not single.pairs().total:
        return
    found = flip_of(single, method)
    sets = (list(s) for r in range(1, single.n_votes) for s in combinations(range(single.n_votes), r))
    kept = (np.delete(np.arange(single.n_votes), gone) for gone in sets)
    best = next((single.n_votes - len(k) for k in kept if not still_first(single.take(k), found.top, method)), None)
    if best is None:
        assert found.votes is None and found.removed == ()
    else:
        assert found.bound <= best
        if found.votes is not None:
            assert best <= found.votes == sum(removed.count for removed in found.removed)


def test_the_search_finds_the_smallest_sets_of_small_profiles() -> None:
    """How good is the search? On ten random profiles, no set is larger than the smallest."""
    rng = np.random.default_rng(5)
    for _ in range(10):
        votes = Profile.from_rankings([[f"a{k}" for k in rng.permutation(3)] for _ in range(7)])
        found = flip_of(votes, "copeland")
        for size in range(1, found.votes or 7):
            for gone in combinations(range(7), size):
                assert still_first(votes.take(np.delete(np.arange(7), gone)), found.top, "copeland")


@pytest.mark.parametrize("method", ["sco", "kemeny", "borda", "elo"])
def test_the_set_does_what_it_says(method: str) -> None:
    votes = sc.synthetic.mallows(60, agents=5, phi=0.9, seed=3)
    found = flip_of(votes, method)
    kept = np.delete(np.arange(60), [removed.vote - 1 for removed in found.removed])
    board = sc.rank(votes.take(kept), method)
    assert board.order[0] == found.new_top != found.top
    assert board.rank_of(found.top) > 1
    assert found.votes == len(found.removed) and found.votes >= found.bound
    assert found.removed[0].says.count(" > ") == 4


def test_a_condorcet_winner_has_a_bound() -> None:
    """5 votes to 3: two must go to make it level, and with sco a level pair leaves the first place where it was."""
    votes = Profile.from_rankings([["a", "b", "c"]] * 5 + [["b", "c", "a"]] * 3)
    found = flip_of(votes)
    assert (found.top, found.bound, found.margins) == ("a", 2, (("b", 2.0), ("c", 2.0)))
    assert found.votes in (2, 3) and found.new_top == "b"
    assert "a stays first while it beats every other agent" in found.reason


def test_rows_with_counts_are_many_votes() -> None:
    one_by_one = flip_of(Profile.from_rankings([["a", "b", "c"]] * 5 + [["b", "c", "a"]] * 3))
    counted = flip_of(Profile.from_rankings([["a", "b", "c"], ["b", "c", "a"]], weights=[5, 3]))
    assert (counted.bound, counted.votes, counted.new_top) == (one_by_one.bound, one_by_one.votes, one_by_one.new_top)
    assert [(removed.vote, removed.count) for removed in counted.removed] == [(1, counted.votes)]


def test_rows_with_other_weights_are_one_vote_each() -> None:
    votes = Profile.from_rankings([["a", "b"]] * 3 + [["b", "a"]], weights=[0.5, 0.5, 0.5, 0.4])
    assert flip_of(votes).bound == 3  # ahead by 1.1: two votes of 0.5 are not enough
    heavy = Profile.from_rankings([["a", "b"], ["a", "b"], ["b", "a"]], weights=[2.5, 0.5, 1.0])
    found = flip_of(heavy)
    assert (found.bound, found.votes, found.new_top) == (1, 1, "b") and found.exact
    assert found.removed[0].vote == 1


def test_without_a_promise_there_is_no_bound() -> None:
    assert flip_of(paper_example(), "borda").bound == 1
    assert "promises nothing" in flip_of(paper_example(), "borda").reason
    assert flip_of(three_cycle()).bound == 1
    clear = Profile.from_rankings([["a", "b"], ["b", "a"]], weights=[5, 2])
    assert flip_of(clear).bound == 3
    assert flip_of(clear, prior=0.1).bound == 1  # with a prior, sco promises nothing either


def test_tennessee() -> None:
    """Nashville beats Memphis 58 to 42, Chattanooga and Knoxville 68 to 32: 16 votes must go to make one level."""
    found = flip_of(tennessee(), "kemeny")
    assert found.top == "Nashville" and found.bound == 16
    assert found.votes in (16, 17) and found.new_top == "Memphis"


def test_a_unanimous_first_place_cannot_be_taken() -> None:
    found = flip_of(Profile.from_rankings([["a", "b", "c"], ["a", "c", "b"]]))
    assert found.votes is None and found.new_top is None and found.removed == ()
    assert "no set of votes was found" in found.lines()[0]


# Leaving out, copying.


def test_borda_depends_on_a_third_agent() -> None:
    """With c the points are 6 to 7, without it 3 to 2: c decides between the others."""
    votes = Profile.from_rankings([["a", "b", "c"]] * 3 + [["b", "c", "a"]] * 2)
    found = sc.robustness(votes, "borda", parts=["agents"])
    changes = {change.name: change for change in found.of("agent")}
    assert (changes["c"].top_before, changes["c"].top, changes["c"].swapped) == ("b", "a", 1)
    assert [(move.agent, move.before, move.after) for move in changes["c"].moves] == [("b", 1, 2), ("a", 2, 1)]
    assert not changes["a"].top_changed and not changes["b"].top_changed
    assert "without 1 of 3 agents the first of the others changes: c (a instead of b)" in found.summary()
    assert not any(change.top_changed for change in sc.robustness(votes, "kemeny", parts=["agents"]).changes)


def test_one_judge_decides() -> None:
    votes = Profile.from_rankings([["a", "b"]] * 3 + [["b", "a"]] * 2)
    judged = votes.with_groups([0, 0, 1, 2, 2], ("x", "y", "z"))
    found = sc.robustness(judged, "copeland", parts=["groups"])
    tops = {change.name: change.top for change in found.changes}
    assert tops == {"x": "b", "y": "a", "z": "a"}
    row = found.rows()[0]
    assert row == {
        "change": "without group", "name": "x", "top": "b", "top_changed": "yes", "swapped": 1.0, "share": 1.0
    }  # fmt: skip


def test_a_copy_next_to_the_winner_changes_nothing_for_a_condorcet_winner() -> None:
    for method in ("kemeny", "schulze", "copeland", "sco"):
        found = sc.robustness(tennessee(), method, parts=["clones"])
        assert len(found.changes) == 4 and not any(change.top_changed for change in found.changes), method


def test_a_copy_that_is_first_is_the_original() -> None:
    """A method may put the copy first and the original last, where both places are as good."""
    votes = Profile.from_rankings([["a", "b"]] * 2)
    before = sc.rank(votes, "borda")

    def fit(changed: Profile) -> sc.Ratings:
        return sc.Ratings(changed.agents, np.array([0.0, 1.0, 2.0]), "made up")

    change = _change(("clone", "a", lambda: with_copy(votes, 0)), before, fit)
    assert isinstance(change, Change) and change.top == "a" and change.swapped == 0


def test_copies_split_the_first_places() -> None:
    """Three first places of five, shared with a copy, are one and a half: fewer than the two of the other agent."""
    votes = Profile.from_rankings([["a", "b", "c"]] * 3 + [["b", "c", "a"]] * 2)
    changes = {change.name: change for change in sc.robustness(votes, "plurality", parts=["clones"]).changes}
    assert (changes["a"].top_before, changes["a"].top) == ("a", "b")
    assert not changes["b"].top_changed and not changes["c"].top_changed


# The whole.


def test_the_same_on_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    votes = sc.synthetic.demo().take(np.arange(400))
    first = sc.robustness(votes, "bradley_terry", rivals=2, agents=3)
    monkeypatch.setattr(arrays, "cores", lambda: 1)
    assert sc.robustness(votes, "bradley_terry", rivals=2, agents=3).to_json() == first.to_json()


def test_limits_and_failures_are_said() -> None:
    votes = sc.synthetic.demo().take(np.arange(300))
    seen: list[tuple[int, int]] = []
    found = sc.robustness(
        votes, "copeland", rivals=2, agents=3, groups=4, clones=2, watch=lambda done, all_, _: seen.append((done, all_))
    )
    assert [len(found.of(kind)) for kind in ("agent", "group", "clone")] == [3, 4, 2]
    assert found.skipped["agents"] == "only the best 3 of 13 are left out in turn"
    assert found.skipped["groups"] == "only the 4 of 8 with most votes are left out in turn"
    assert found.skipped["clones"] == "only the best 2 of 13 are copied in turn"
    assert seen == [(k, 14) for k in range(1, 15)]  # two orders for each of two rivals, one of all votes, nine changes
    few = Profile.from_rankings([["a", "b"], ["b", "a"], ["b", "c"], ["c", "b"], ["c", "a"]])
    refused = sc.robustness(few, "bradley_terry", options={"prior": 0}, parts=["agents"]).skipped
    assert "without agent b" in refused and "c" in refused["without agent b"]
    assert sc.robustness(few, parts=["groups"]).skipped == {"groups": "votes have no judge, task or group"}


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"method": "elo9"}, "method must be"),
        ({"parts": "votes"}, "parts must be among votes"),
        ({"parts": ["votes", "x"]}, "parts must be among votes"),
        ({"agents": 0}, "agents must be a positive whole number"),
        ({"options": {"tempo": 1}}, "sco has no option 'tempo'"),
    ],
)
def test_wrong_options_are_refused(given_: dict[str, Any], message: str) -> None:
    with pytest.raises(sc.OptionError, match=message):
        sc.robustness(three_cycle(), **given_)


def test_votes_are_needed() -> None:
    with pytest.raises(sc.DataError, match="no vote compares two agents"):
        sc.robustness(Profile.from_rankings([["a"], ["b"]]))
    with pytest.raises(sc.OptionError, match="robustness needs votes"):
        sc.robustness(three_cycle().pairs())  # type: ignore[arg-type]


def test_json_has_it_all() -> None:
    data = json.loads(sc.robustness(paper_example(), "borda").to_json())
    assert data.keys() == {"method", "options", "top", "flip", "changes", "skipped"}
    assert data["flip"]["top"] == data["top"] == "A"
    assert data["flip"]["exact"] == (data["flip"]["votes"] == data["flip"]["bound"])
    assert {change["kind"] for change in data["changes"]} == {"agent", "clone"}


def test_on_the_command_line(tmp_path: Path) -> None:
    path = str(tmp_path / "votes.soc")
    sc.write(Profile.from_rankings([["a", "b", "c"], ["b", "c", "a"]], weights=[3, 2]), path)
    shown = CliRunner().invoke(main, ["robustness", path, "--method", "borda"])
    assert shown.exit_code == 0
    assert "1 vote less, and a is first instead of b: no fewer will do" in shown.stdout
    assert "without 1 of 3 agents the first of the others changes: c (a instead of b)" in shown.stdout
    words = ["robustness", path, "--parts", "votes", "--format", "json", "--set", "polish=false"]
    data = json.loads(CliRunner().invoke(main, words).stdout)
    assert data["changes"] == [] and data["options"]["polish"] is False
    assert CliRunner().invoke(main, ["robustness", path, "--method", "elo9"]).exit_code == 2
    assert CliRunner().invoke(main, ["robustness", path, "--parts", "judges"]).exit_code == 2
    assert set(PARTS) == {"votes", "agents", "groups", "clones"}
