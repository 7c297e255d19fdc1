"""The doctor finds what was planted, and nothing in clean data."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import data_folder, profiles, three_cycle
from helpers.planted import (
    CLEAN,
    FAULTS,
    Rng,
    battles,
    circle,
    judge_that_ties,
    judge_that_votes_most,
    kin_judge,
    lanes,
    lengths,
    lost_cells,
    lower_is_better,
    newcomer,
    other_name,
    position,
    random_judge,
    read_twice,
    scores,
    ties_everywhere,
    two_groups,
    voted,
)
from hypothesis import given, settings, strategies as st

import softcondorcet as sc
from softcondorcet import Profile
from softcondorcet.cli import main
from softcondorcet.doctor import Finding, names
from softcondorcet.doctor.comparisons import Case
from softcondorcet.doctor.connectivity import FEW, inseparable, parts
from softcondorcet.doctor.finding import critical
from softcondorcet.doctor.inspection import CHECKS
from softcondorcet.doctor.voters import QUESTIONS


def names_of(profile: Profile) -> set[str]:
    return {finding.name for finding in sc.inspect(profile).findings}


def the(name: str, profile: Profile) -> Finding:
    return next(finding for finding in sc.inspect(profile).findings if finding.name == name)


# Clean data: agents of some skill, pairs, sides, judges and times at random.


@pytest.mark.parametrize("kind", CLEAN)
def test_clean_data_has_no_findings(kind: str) -> None:
    for seed in range(6):
        found = sc.inspect(CLEAN[kind](seed))
        assert found.findings == () and found.healthy and found.worst is None, f"seed {seed}"


# Planted faults. Each takes a seed and whether to plant; without the fault it is the same data, which must be clean.


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_found_and_their_clean_twins_have_none(fault: str) -> None:
    name, plant = FAULTS[fault]
    for seed in range(2):
        assert names_of(plant(seed, False)) == set(), f"seed {seed}"
        found = sc.inspect(plant(seed, True))
        assert {finding.name for finding in found.findings} == {name}, f"seed {seed}"
        assert all(finding.advice and finding.text for finding in found.findings)


def test_a_circumstance_says_what_it_would_move(tmp_path: Path) -> None:
    found = the("circumstance", lanes(1, True))
    assert found.text.startswith("lane=") and "change rank" in found.text and "--control lane" in found.advice
    assert "% of what would be even" in the("circumstance", lengths(0, True)).text
    file = tmp_path / "races.csv"
    sc.write(lanes(1, True), file)
    run = CliRunner().invoke(main, ["compare", str(file)])
    assert "--control lane' takes it out" in " ".join(run.stderr.split())
    assert "no columns such as" in sc.inspect(three_cycle()).unchecked["circumstance"]


def test_every_check_that_finds_faults_has_one_planted() -> None:
    assert len(FAULTS) >= 12
    planted = {name for name, _ in FAULTS.values()} | {"nothing-compared"} | QUESTIONS.keys()  # those in test_voters
    assert planted >= set(CHECKS) - {"compared", "one-sided", "near-duplicates", "judge-bias"}


def test_findings_name_who_is_concerned() -> None:
    assert set(the("disconnected", two_groups(0, True)).names) == {"agent-0", "agent-1"}
    weak = the("weakly-linked", two_groups(0, True, links=4))
    assert set(weak.names) == {"agent-0", "agent-1"} and "only 4 votes link agent-" in weak.text
    assert the("judge-dissent", random_judge(0, True)).names == ("judge-3",)
    assert the("judge-favour", kin_judge(0, True)).names[0] == "judge-3"
    assert the("judge-ties", judge_that_ties(0, True)).names == ("judge-3",)
    assert the("dominant-group", judge_that_votes_most(0, True)).names == ("judge-3",)
    assert the("missing-tasks", lost_cells(0, True)).names == ("model-3",)
    assert the("reversed-tasks", lower_is_better(0, True)).names == ("task-5",)
    assert set(the("cycles", circle(0, True)).names) == {"agent-0", "agent-1", "agent-2"}
    assert the("near-duplicate-names", other_name("LLaMA 2 chat")(0, True)).names == ("llama-2-chat", "LLaMA 2 chat")
    assert the("few-votes", newcomer(0, True)).names == ("agent-2",)
    assert "from vote 501 and from vote 2,001" in the("duplicate-votes", read_twice(0, True)).text


def test_a_file_read_twice_is_found_even_when_it_is_sorted() -> None:
    profile = voted(battles(0, plain=True))
    ordered = profile.take(np.lexsort((profile.agent[1::2], profile.agent[::2])))
    assert names_of(ordered) == set()  # neighbours repeat each other: that is what sorting does
    twice = ordered.take(np.concatenate([np.arange(2000), np.arange(2000)]))
    assert the("duplicate-votes", twice).number == 2000


def test_battles_of_a_fixed_schedule_are_no_copies() -> None:
    """Every pair in turn, again and again: the agents repeat, the results do not."""
    columns = battles(0, plain=True, votes=1960)
    a, b = np.triu_indices(8, 1)
    columns["a"], columns["b"] = np.tile(a, 70), np.tile(b, 70)
    columns["lead"] = (columns["b"] - columns["a"]) / 3
    assert "duplicate-votes" not in names_of(voted(columns))


def test_two_agents_of_which_one_always_wins_are_no_copies() -> None:
    assert "duplicate-votes" not in names_of(Profile.from_rankings([["a", "b"]] * 1000 + [["b", "a"]]))


def test_strength_and_sides_are_no_position_bias() -> None:
    """The strong agent always shown first wins most battles, whichever side it is on."""
    columns = battles(1)
    turned = columns["a"] > columns["b"]  # the agent with the smaller number first, nine times in ten
    turned &= columns["rng"].random(2000) < 0.8
    columns["a"], columns["b"] = (
        np.where(turned, columns["b"], columns["a"]),
        np.where(turned, columns["a"], columns["b"]),
    )
    columns["lead"] = (columns["b"] - columns["a"]) / 2
    found = sc.inspect(voted(columns))
    assert found.findings == () and "position-bias" not in found.unchecked


def test_position_bias_measures_the_shift() -> None:
    columns = battles(2, votes=20_000, tie_share=0.0)
    columns["lead"] = np.full(20_000, np.log(0.6 / 0.4))  # all even, shown first wins 60 %
    found = the("position-bias", voted(columns))
    assert abs(found.number - 0.1) < 3 * 0.5 / np.sqrt(20_000)  # three standard errors
    assert "shown first, an agent wins 60 %" in found.text


def test_positions_survive_sorting_by_time_and_taking() -> None:
    table = {"model_a": ["x", "y", "z"], "model_b": ["y", "z", "x"], "winner": ["model_b", "model_a", "tie"]}
    profile = Profile.from_matches({**table, "tstamp": [3.0, 1.0, 2.0]})
    assert profile.turned is not None
    assert profile.turned.tolist() == [False, False, True]
    assert profile.take(np.array([2, 0])).turned.tolist() == [True, False]  # type: ignore[union-attr]
    with pytest.raises(sc.DataError, match="turned: expected one entry for each of 3 votes, got 1"):
        replace(profile, turned=np.array([True]))


def test_what_cannot_be_checked_is_said() -> None:
    found = sc.inspect(Profile.from_rankings([["a", "b"], ["b", "a"]]))
    assert found.unchecked["position-bias"] == "votes do not say who was shown first"
    assert found.unchecked["time-drift"] == "votes have no time"
    assert found.unchecked["judge-bias"] == "votes have no judge, task or group"
    counted = Profile.from_matches({"model_a": ["a", "a"], "model_b": ["b", "b"], "winner": ["model_a", "model_b"]})
    assert "shown both ways" in sc.inspect(counted).unchecked["position-bias"]


def test_votes_over_too_many_agents_are_said_to_be_unchecked() -> None:
    found = sc.inspect(voted(battles(0)), most=100)
    assert found.unchecked["judge-bias"] == "the votes make more than 100 comparisons"


def test_counts_are_votes_and_other_weights_are_not() -> None:
    """Rows with counts are found as biased as the same votes one by one; weights of 0.01 are not a hundredth vote."""
    plain = position(0, True)
    rows = np.stack([plain.agent[::2], plain.agent[1::2], plain.tier[1::2], np.asarray(plain.turned)])
    _, first, times = np.unique(rows, axis=1, return_index=True, return_counts=True)
    counted = replace(plain.take(first), weight=times.astype(float), when=None, group_by=None)
    assert the("position-bias", counted).number == pytest.approx(the("position-bias", plain).number, abs=1e-6)
    light = replace(plain, weight=np.full(plain.n_votes, 0.01))
    assert the("position-bias", light).number == the("position-bias", plain).number


def test_an_agent_that_skips_strong_fields_is_named() -> None:
    """Model 0 lacks the twelve tasks that only strong models were run on."""

    def change(table: Any, rng: Rng) -> Any:
        order = np.argsort(-table.mean(axis=1))
        table[order[8:], :12] = np.nan
        return table

    found = the("missing-tasks", scores(0, change=change))
    assert "are those of the stronger fields, so win rates flatter" in found.text


# Names.


@pytest.mark.parametrize(
    ("x", "y", "same"),
    [
        ("GPT-4", "gpt 4", True),
        ("GPT-4", "gpt4", True),
        ("Caf\u00e9", "cafe", True),
        ("\uff27\uff30\uff34", "GPT", True),  # full width
        ("\u0410\u0412C", "ABC", True),  # Cyrillic A and Ve
        ("zero\u200bwidth", "zerowidth", True),
        ("model (v2)", "model_v2", True),
        ("gpt-3.5", "gpt-35", False),
        ("agent-1-11", "agent-11-1", False),
        ("c", "c++", False),
        ("a", "b", False),
    ],
)
def test_names_that_look_the_same(x: str, y: str, same: bool) -> None:
    assert bool(names.same_skeleton([x, y])) is same


@pytest.mark.parametrize(
    ("x", "y", "near"),
    [
        ("mistral-7b", "mistrall-7b", True),
        ("mistral-7b", "mitsral-7b", True),
        ("mistral-7b", "mixtral-7b", True),
        ("mistral-7b", "mistral-8b", False),  # a number is a size, not a slip
        ("team-red", "team-rad", False),  # too short to tell
        ("mistral-7b", "mistral", False),
        ("alpha beta", "alphb betb", False),
        ("abcdef", "bcdefg", False),  # two letters
    ],
)
def test_names_one_letter_apart(x: str, y: str, near: bool) -> None:
    assert bool(names.one_letter_apart([x, y])) is near


def test_names_of_agents_that_met_are_two_names() -> None:
    assert "near-duplicate-names" in names_of(Profile.from_rankings([["GPT 4", "b"], ["b", "gpt-4"]]))
    assert "near-duplicate-names" not in names_of(Profile.from_rankings([["GPT 4", "gpt-4", "b"]]))


def test_systematic_names_are_not_misspelt() -> None:
    letters = [f"agent{a}{b}" for a in "abcdefgh" for b in "abcdefgh"]
    profile = Profile.from_rankings([[name, "x"] for name in letters])
    assert "misspelt-names" not in names_of(profile)


@given(st.lists(st.text("abAB1-. ", min_size=1, max_size=6), unique=True, max_size=8))
def test_skeletons_are_found_whatever_the_names(texts: list[str]) -> None:
    found = names.same_skeleton(texts)
    by_bones: dict[str, list[str]] = {}
    for text in texts:
        by_bones.setdefault(names.skeleton(text), []).append(text)
    assert len(found) == sum(len(same) - 1 for bones, same in by_bones.items() if bones)


# Parts: what no ten votes can separate.


def smallest_cut(profile: Profile, a: str, b: str) -> float:
    """Fewest votes that hold agents of both sides, over all ways to part a from b."""
    best = np.inf
    others = [name for name in profile.agents if name not in (a, b)]
    for mask in range(2 ** len(others)):
        side = {a, *(name for k, name in enumerate(others) if mask >> k & 1)}
        cut = 0.0
        for vote, weight in zip(profile.rankings(), profile.weight, strict=True):
            inside = [name in side for tier in vote for name in tier]
            cut += weight * (any(inside) and not all(inside))
        best = min(best, cut)
    return best


@settings(max_examples=20)  # each tries all ways to part the agents
@given(profiles(max_agents=5, max_votes=8))
def test_agents_of_one_part_cannot_be_separated_by_ten_votes(profile: Profile) -> None:
    heavy = replace(profile, weight=profile.weight * 3)
    part, pairs = inseparable(Case(heavy)), heavy.pairs()
    for i, j, *met in zip(pairs.left, pairs.right, pairs.wins, pairs.losses, pairs.ties, strict=True):
        if part[i] == part[j]:
            assert smallest_cut(heavy, heavy.agents[i], heavy.agents[j]) > FEW
        assert part[i] == part[j] or sum(met) <= FEW


def test_single_agents_go_with_those_they_met() -> None:
    """Two groups of three with a guest each; the guests met once, and so the groups hang on one vote."""
    inside = [["a", "b"], ["b", "c"], ["c", "a"], ["x", "y"], ["y", "z"], ["z", "x"]] * 12
    guests = [["a", "guest"], ["guest", "b"], ["x", "other"], ["other", "y"], ["guest", "other"]]
    profile = Profile.from_rankings(inside + guests)
    groups = {frozenset(np.array(profile.agents)[parts(Case(profile)) == k]) for k in parts(Case(profile))}
    assert groups == {frozenset("abc") | {"guest"}, frozenset("xyz") | {"other"}}
    assert "only 1 vote links" in the("weakly-linked", profile).text


def test_links_of_many_agents_are_votes_not_comparisons() -> None:
    """One vote over two groups makes nine comparisons between them, but is one vote."""
    inside = [["a", "b", "c"], ["c", "b", "a"], ["x", "y", "z"], ["z", "y", "x"]] * 10
    profile = Profile.from_rankings([*inside, ["a", "x", "b", "y", "c", "z"]])
    assert "only 1 vote links" in the("weakly-linked", profile).text


# The rest of the surface.


def test_nothing_compared() -> None:
    found = sc.inspect(Profile.from_rankings([["a"], ["b"]]))
    assert [finding.name for finding in found.findings if finding.severity == "problem"] == ["nothing-compared"]
    assert not found.healthy and found.worst == "problem"


@given(profiles())
def test_any_profile_can_be_inspected(profile: Profile) -> None:
    found = sc.inspect(profile)
    data = json.loads(found.to_json())
    assert data["healthy"] == all(finding["severity"] != "problem" for finding in data["findings"])
    assert len(found.lines()) >= 9
    assert bool(found.majority_cycles) == (found.strongest_cycle is not None)


@given(profiles())
def test_the_strongest_cycle_is_one(profile: Profile) -> None:
    cycle = sc.inspect(profile).strongest_cycle
    if cycle is None:
        return
    pairs = profile.pairs()
    lead = {
        (pairs.agents[a], pairs.agents[b]): w for a, b, w in zip(pairs.left, pairs.right, pairs.margin, strict=True)
    }
    lead |= {(b, a): -w for (a, b), w in lead.items()}
    following = (*cycle.agents[1:], cycle.agents[0])
    assert all(lead[a, b] == w > 0 for a, b, w in zip(cycle.agents, following, cycle.margins, strict=True))
    assert len(set(cycle.agents)) == len(cycle.agents) >= 3


def test_a_cycle_is_named_with_its_margins() -> None:
    votes = Profile.from_rankings([["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]], weights=[300, 200, 250])
    found = the("cycles", votes)
    assert "a beats b by 350, b beats c by 250, c beats a by 150" in found.text
    assert found.severity == "caution"
    small = sc.inspect(three_cycle())
    assert "cycles" not in {finding.name for finding in small.findings}
    assert small.strongest_cycle is not None and not small.strongest_cycle.beyond_chance
    (line,) = [line for line in small.lines() if "the strongest, which chance can make: " in line]
    assert "A beats B by 1" in line and "B beats C by 1" in line and "C beats A by 1" in line
    below = Profile.from_rankings(
        [["t", "a", "b", "c"], ["t", "b", "c", "a"], ["c", "a", "b", "t"]], weights=[300, 200, 250]
    )
    assert the("cycles", below).severity == "note"


def test_longer_cycles_and_the_strongest_of_several() -> None:
    """Of two cycles the one with the stronger weakest link is named, though it is longer."""
    weak = [["x", "y"]] * 4 + [["y", "z"]] * 4 + [["z", "x"]] * 2
    strong = [["a", "b"]] * 9 + [["b", "c"]] * 9 + [["c", "d"]] * 9 + [["d", "a"]] * 8
    cycle = sc.inspect(Profile.from_rankings(weak + strong)).strongest_cycle
    assert cycle is not None
    assert set(cycle.agents) == {"a", "b", "c", "d"}
    assert cycle.strength == pytest.approx(np.sqrt(8))


def test_duplicates_are_counted_and_told_from_battles() -> None:
    long = Profile.from_rankings([["a", "b", "c", "d", "e"], ["b", "a", "c", "d", "e"], ["a", "b", "c", "d", "e"]])
    assert sc.inspect(long).duplicate_votes == 1
    tied = Profile.from_rankings([[["a", "b"], "c"], [["b", "a"], "c"], ["a", "b", "c"]])
    assert sc.inspect(tied).duplicate_votes == 1  # the order inside a tie says nothing
    battles = Profile.from_rankings([["a", "b"]] * 3)
    assert sc.inspect(battles).duplicate_votes == 2
    assert "duplicate-votes" not in names_of(battles)


def test_the_first_agent_counts_in_a_duplicate() -> None:
    votes = Profile.from_rankings([["a", "x"], ["c", "b"], [["a", "c"], "b"]])
    assert sc.inspect(votes).duplicate_votes == 0


def test_duplicates_need_the_same_judge_and_time() -> None:
    arrays = (("a", "b"), np.array([0, 2, 4]), np.array([0, 1, 0, 1]), np.array([0, 1, 0, 1]), np.ones(2))
    assert sc.inspect(Profile(*arrays)).duplicate_votes == 1
    assert sc.inspect(Profile(*arrays, group=np.array([0, 1]), groups=("x", "y"))).duplicate_votes == 0
    assert sc.inspect(Profile(*arrays, when=np.array([1.0, 2.0]))).duplicate_votes == 0
    assert sc.inspect(Profile(*arrays, when=np.array([1.0, 1.0]))).duplicate_votes == 1


def test_claims_about_the_top_say_among_whom() -> None:
    found = sc.inspect(Profile.from_rankings([["t", ["b", "c", "d", "e"]], ["x", "y", "z"]]))
    assert found.condorcet_winner is None
    assert found.largest_group_winner == "t"
    assert any("t (among the 5 agents of the largest group)" in line for line in found.lines())


def test_json_and_lines_say_the_same() -> None:
    found = sc.inspect(sc.synthetic.demo())
    data = json.loads(found.to_json())
    assert data["largest_group_smith_set"] == ["aster", "birch", "cedar"]
    assert len(data["smith_set"]) == 13  # nothing beats agents that were never compared
    assert data["healthy"] is False and data["worst"] == "problem"
    assert data["findings"][0]["name"] == "disconnected"
    assert data["findings"][0].keys() == {"severity", "name", "number", "text", "advice", "names"}
    assert any(line.startswith("problem: 2 groups") for line in found.lines())
    assert any(line.startswith("  Compare one of newcomer-1, newcomer-2") for line in found.lines())


def test_severe_findings_come_first() -> None:
    found = sc.inspect(Profile.from_rankings([["a", "b"], ["b", "a"], ["c", "d"], ["e", "f"]])).findings
    assert list(dict.fromkeys(finding.severity for finding in found)) == ["problem", "caution", "note"]


def test_strict_sets_the_exit_code(tmp_path: Any) -> None:
    from click.testing import CliRunner

    from softcondorcet.cli import main

    path = str(tmp_path / "votes.csv")
    sc.write(ties_everywhere(0, True), path)
    codes = {
        words: CliRunner().invoke(main, ["inspect", path, *words]).exit_code
        for words in ((), ("--strict",), ("--fail-on", "problem"), ("--fail-on", "caution"), ("--fail-on", "note"))
    }
    assert list(codes.values()) == [0, 0, 0, 1, 1]
    assert CliRunner().invoke(main, ["inspect", path, "--fail-on", "bad"]).exit_code == 2
    sc.write(ties_everywhere(0, False), path)
    assert CliRunner().invoke(main, ["inspect", path, "--fail-on", "note"]).exit_code == 0


def test_every_finding_is_on_the_page() -> None:
    from pathlib import Path

    text = (Path(__file__).parents[2] / "docs" / "doctor.md").read_text()
    for name in {name for name, _ in FAULTS.values()} | {"nothing-compared"} | QUESTIONS.keys():
        assert f"| `{name}` |" in text, name


def test_more_tests_need_stronger_signs() -> None:
    assert 3.7 < critical(1) < critical(1, sides=2) < critical(100) < 5


@pytest.mark.data
def test_on_real_data() -> None:
    """Judges of the same prompts: people, and two models of which one prefers what it reads first."""
    folder = f"{data_folder()}/"
    human, gpt3 = (sc.read(f"{folder}llmfao/llmfao_{name}_battles.csv") for name in ("human", "gpt3_judge"))
    assert "position-bias" not in names_of(human)
    assert the("position-bias", gpt3).number > 0.1
    assert {"judge-dissent", "judge-favour", "judge-ties"} <= names_of(human)
    assert names_of(sc.read(f"{folder}atari/atari_agent57_table.csv")) == set()
    began = time.process_time()
    large = sc.inspect(sc.read(f"{folder}codeforces/codeforces_groups7.csv.gz"))
    assert time.process_time() - began < 10  # two to four seconds, on a machine with other work
    assert large.groups == 5 and large.worst == "problem"
