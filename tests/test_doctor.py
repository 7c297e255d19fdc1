"""The doctor finds what was planted, and nothing in clean data."""

from __future__ import annotations

import json

import numpy as np

import softcondorcet as sc
from softcondorcet import Profile


def names_of(profile: Profile) -> set[str]:
    return {finding.name for finding in sc.inspect(profile).findings}


def test_clean_data_has_no_findings() -> None:
    found = sc.inspect(sc.synthetic.mallows(200, agents=8, phi=0.7))
    assert {finding.name for finding in found.findings} <= {"duplicate-votes"}
    assert found.healthy
    assert found.condorcet_winner == "agent-1"
    assert found.pairs_seen == found.pairs_possible == 28


def test_planted_faults_are_found() -> None:
    assert names_of(Profile.from_rankings([["a", "b"], ["b", "a"], ["c", "d"], ["d", "c"]])) == {"disconnected"}
    assert "unlisted" in names_of(Profile.from_rankings([["a", "b"], ["b", "a"]], agents=["a", "b", "x"]))
    assert {"undefeated", "winless"} <= names_of(Profile.from_rankings([["a", "b"], ["a", "b", "c"]]))
    assert "cycles" in names_of(Profile.from_rankings([["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]]))
    assert "nothing-compared" in names_of(Profile.from_rankings([["a"], ["b"]]))


def test_duplicates_are_counted_and_told_from_battles() -> None:
    long = Profile.from_rankings([["a", "b", "c", "d", "e"], ["b", "a", "c", "d", "e"], ["a", "b", "c", "d", "e"]])
    assert sc.inspect(long).duplicate_votes == 1
    assert "duplicate-votes" in names_of(long)
    tied = Profile.from_rankings([[["a", "b"], "c"], [["b", "a"], "c"], ["a", "b", "c"]])
    assert sc.inspect(tied).duplicate_votes == 1  # the order inside a tie says nothing
    battles = Profile.from_rankings([["a", "b"]] * 3)
    assert sc.inspect(battles).duplicate_votes == 2
    assert "duplicate-votes" not in names_of(battles)


def test_the_first_agent_counts_in_a_duplicate() -> None:
    votes = Profile.from_rankings([["a", "x"], ["c", "b"], [["a", "c"], "b"]])
    assert sc.inspect(votes).duplicate_votes == 0


def test_claims_about_the_top_say_among_whom() -> None:
    found = sc.inspect(Profile.from_rankings([["t", ["b", "c", "d", "e"]], ["x", "y", "z"]]))
    assert found.condorcet_winner is None
    assert found.largest_group_winner == "t"
    assert any("t (among the 5 agents of the largest group)" in line for line in found.lines())


def test_duplicates_need_the_same_judge_and_time() -> None:
    arrays = (("a", "b"), np.array([0, 2, 4]), np.array([0, 1, 0, 1]), np.array([0, 1, 0, 1]), np.ones(2))
    assert sc.inspect(Profile(*arrays)).duplicate_votes == 1
    assert sc.inspect(Profile(*arrays, group=np.array([0, 1]), groups=("x", "y"))).duplicate_votes == 0
    assert sc.inspect(Profile(*arrays, when=np.array([1.0, 2.0]))).duplicate_votes == 0
    assert sc.inspect(Profile(*arrays, when=np.array([1.0, 1.0]))).duplicate_votes == 1


def test_json_and_lines_say_the_same() -> None:
    found = sc.inspect(sc.synthetic.demo())
    data = json.loads(found.to_json())
    assert data["largest_group_smith_set"] == ["aster", "birch", "cedar"]
    assert len(data["smith_set"]) == 13  # nothing beats agents that were never compared
    assert data["healthy"] is False
    assert data["findings"][0]["name"] == "disconnected"
    assert any(line.startswith("problem: 2 groups") for line in found.lines())
