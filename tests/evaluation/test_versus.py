"""Two agents on the same votes: textbook cases, errors made and power had on data with a known truth, thin data."""

from __future__ import annotations

import json
import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import profiles
from helpers.two_agents import DESIGNS, paired
from hypothesis import given, strategies as st

import softcondorcet as sc
from softcondorcet import Profile
from softcondorcet.cli import main
from softcondorcet.evaluation.paired_tests import Units, coin, holm, interval, mcnemar, sign_flip, votes_needed
from softcondorcet.evaluation.versus_result import Part

# Cross- minus self-fertilised maize of 15 pots, in eighths of an inch (Darwin, 1876; Fisher, 1935, section 21).
MAIZE = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]


def units(total: Any, size: Any = 1.0, count: Any = 1.0) -> Units:
    return Units(*(np.broadcast_to(np.array(x, float), len(total)).copy() for x in (total, size, count)))


def counted(wins: int, losses: int, ties: int = 0) -> Profile:
    votes: list[Any] = [["a", "b"], ["b", "a"], [["a", "b"]]]
    return Profile.from_rankings(votes, weights=[wins, losses, ties])


# Tests, against textbooks.


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        # Fisher (1935, section 21): 1,726 of 32,768 sign flips are as far from 0.
        (lambda: sign_flip(units(MAIZE)), 1726 / 32768),
        # Fagerland, Lydersen and Laake (2013): 1 and 7 discordant pairs, exact .070; 6 and 16, .052, mid-p .035.
        (lambda: mcnemar(1, 7), 0.0703125),
        (lambda: mcnemar(6, 16), 0.0525),
        (lambda: sign_flip(units([1, -1], count=[16, 6])), 0.0347),
        # Agresti (1990, section 10.1): 86 and 150 people changed their mind, z = -4.17.
        (lambda: sign_flip(units([1, -1], count=[86, 150])), 3.1e-5),
        # The chance of 9 or more heads or tails in 10 tosses: 22 of 1,024.
        (lambda: coin(9, 10), 22 / 1024),
        # Edwards' correction: (|1010 - 1100| - 1)^2 / 2110 = 3.754 has p = 0.0527 by chi-squared of one degree.
        (lambda: mcnemar(1010, 1100), 0.0527),
        # Guenther (1981), and G*Power 3: 34 pairs for an effect of half a standard deviation, 90 for 0.3.
        (lambda: votes_needed(normal(0.5), 0.95, np.random.default_rng(0)), 34),
        (lambda: votes_needed(normal(0.3), 0.95, np.random.default_rng(0)), 90),
        # The same for an effect of 0.1, which needs more than are resampled: 787.
        (lambda: votes_needed(normal(0.1), 0.95, np.random.default_rng(0)), 787),
    ],
)
def test_textbook_cases(found: Any, expected: float) -> None:
    assert found() == pytest.approx(expected, rel=0.035 if expected >= 1 else 0.01 if expected > 1e-3 else 0.1)


def normal(mean: float) -> Units:
    """A large sample of mean 1 standard deviation times `mean`, made exact."""
    drawn = np.random.default_rng(1).normal(size=20_000)
    return units((drawn - drawn.mean()) / drawn.std() + mean)


def test_holm_is_as_in_the_textbook() -> None:
    """Holm (1979), for four p-values: 4 x .005, 3 x .01, 2 x .03, and .04, which may not fall below the one before."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == [] and holm([0.7, 0.9]) == [1.0, 1.0]


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=10))
def test_few_units_are_flipped_in_every_way(values: list[int]) -> None:
    signs = np.array(np.meshgrid(*[[-1, 1]] * len(values))).reshape(len(values), -1)
    sums = np.abs(np.array(values) @ signs)
    assert sign_flip(units(values)) == pytest.approx(float((sums >= abs(sum(values))).mean()))


@pytest.mark.parametrize("shape", ["normal", "one large", "whole numbers"])
def test_many_units_are_as_by_random_flips(shape: str) -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(0.3, 1, 40) if shape == "normal" else rng.integers(-3, 5, 60).astype(float)
    if shape == "one large":
        values = np.append(values, 20)
    flips = np.abs((rng.integers(0, 2, (100_000, len(values))) * 2 - 1) @ values)
    far = abs(values.sum())
    by_chance = float((flips > far + 1e-9).mean() + (np.abs(flips - far) <= 1e-9).mean() / 2)
    assert sign_flip(units(values)) == pytest.approx(by_chance, rel=0.05)


@pytest.mark.peer
def test_as_scipy_and_statsmodels() -> None:
    from scipy import stats
    from statsmodels.stats.contingency_tables import mcnemar as theirs
    from statsmodels.stats.multitest import multipletests
    from statsmodels.stats.power import TTestPower

    rng = np.random.default_rng(0)
    for _ in range(20):
        values = rng.normal(0.3, 1, 12).round(1)
        expected = stats.permutation_test((values,), np.sum, permutation_type="samples", n_resamples=np.inf)
        assert sign_flip(units(values)) == pytest.approx(expected.pvalue)
        won, lost = rng.integers(1, 60, 2).tolist()
        assert mcnemar(won, lost) == pytest.approx(theirs([[0, won], [lost, 0]], exact=True).pvalue)
        assert mcnemar(won + 900, lost + 900) == pytest.approx(
            theirs([[0, won + 900], [lost + 900, 0]], exact=False, correction=True).pvalue
        )
        assert coin(won, won + lost) == pytest.approx(stats.binomtest(won, won + lost).pvalue)
        p = rng.random(6).tolist()
        assert holm(p) == pytest.approx(multipletests(p, method="holm")[1].tolist())
        values = rng.normal(0.2, 1, 60)
        ours = interval(units(values), 0.95, 5000, rng, bounded=False)
        assert ours == pytest.approx(stats.ttest_1samp(values, 0).confidence_interval(), abs=0.06)
    for effect in (0.25, 0.4, 0.7):
        expected_n = TTestPower().solve_power(effect, alpha=0.05, power=0.8)
        assert votes_needed(normal(effect), 0.95, rng) == pytest.approx(expected_n, rel=0.04, abs=1)


# Known truths: the full table is made by benchmarks/versus.py.

RUNS = 300


@pytest.mark.parametrize("name", ["votes, 30 % ties", "scores, normal", "judges of about 9 votes", "tasks of 12 items"])
def test_false_alarms_and_power_are_as_promised(name: str) -> None:
    """300 runs: 5 % has a standard error of 1.3, 80 % of 2.3 points. By votes, judges give 25 % false alarms."""
    design, rng = DESIGNS[name], np.random.default_rng(5)

    def told_apart(count: int, effect: float) -> float:
        drawn = (design.draw(rng, count, effect) for _ in range(RUNS))
        return sum(sc.versus(profile, "a", "b", n=10).better is not None for profile in drawn) / RUNS

    assert 0.01 <= told_apart(design.units, 0.0) <= 0.09
    large = sc.versus(design.draw(rng, 30_000, design.effects[0]), "a", "b", n=10)
    assert large.needed is not None
    named = round(large.needed / large.votes * large.clusters)
    assert 0.73 <= told_apart(named, design.effects[0]) <= 0.87


def test_intervals_hold_the_truth_of_few_and_of_clustered_votes() -> None:
    for name, count, effect in (("votes, no ties", 8, 0.6), ("judges of about 9 votes", 12, 0.3)):
        rng, held = np.random.default_rng(6), 0
        for _ in range(300):
            found = sc.versus(DESIGNS[name].draw(rng, count, effect), "a", "b", n=300, by=None)
            assert found.low is not None and found.high is not None
            held += found.low <= (1 + effect) / 2 <= found.high
        assert held >= 0.91 * 300


# What is said.


@pytest.mark.parametrize(
    ("profile", "b", "headline", "after"),
    [
        (
            counted(61, 30, 9),
            "b",
            "a beats b on 61 of 100 votes (p = 0.0011): 30 lost, 9 tied; 65.5 % of the points, 95 % interval 56",
            "80 % power at the effect seen takes about 71 votes: there are enough",
        ),
        (
            counted(51, 49),
            "b",
            "a and b cannot be told apart on 100 votes (p = 0.84): 51 won by a, 49 by b; 51 % of the points, ",
            "next: 19,517 more votes: 80 % power at the effect seen takes about 19,617 votes",
        ),
        (counted(0, 0, 40), "b", "a and b are level: all 40 votes are ties", "next: more votes only if a smaller "),
        (counted(0, 0, 1), "b", "a and b are level: their only vote is a tie", "next: more votes: fewer than 6 votes "),
        (
            counted(1, 0),
            "b",
            "a and b cannot be told apart on 1 vote (p = 1): 1 won by a, 0 by b; 100 % of the points, 95 % interval 0 ",
            "next: more votes: fewer than 6 votes can tell no two agents apart",
        ),
        (
            Profile.from_rankings([["a", "b"], ["c", "b"]]),
            "c",
            "a and c never met: no vote has both",
            "next: let both take part in the same votes; 'sco rank' compares them through other agents",
        ),
        (
            paired(np.array([0.1] * 30 + [-0.05] * 40 + [0.0] * 2), scored=True),
            "b",
            "a and b cannot be told apart on 72 items (p = 0.11): 30 won by a, 40 by b, 2 tied; +0.0139 an item, ",
            "next: 149 more items: ",
        ),
        (
            paired(np.array([0.3] * 30 + [-0.05] * 40), scored=True),
            "b",
            "a beats b by score on 70 items (p < 0.0001): +0.1 an item, 95 % interval 0.06",
            "80 % power at the effect seen takes about 28 items: there are enough",
        ),
    ],
)  # fmt: skip
def test_the_answer_in_words(profile: Profile, b: str, headline: str, after: str) -> None:
    lines = sc.versus(profile, "a", b).summary()
    assert lines[0].startswith(headline)
    assert any(line.startswith(after) for line in lines), lines


def test_the_loser_may_be_named_first() -> None:
    one, other = (sc.versus(counted(61, 30, 9), *names) for names in (("a", "b"), ("b", "a")))
    assert one.summary()[0] == other.summary()[0] and one.better == other.better == "a"
    assert one.log_odds == pytest.approx(math.log(65.5 / 34.5))


@given(profiles(max_agents=3, max_votes=12))
def test_turned_round_reordered_and_repeated_votes_say_the_same(profile: Profile) -> None:
    a, b = profile.agents[:2]
    one, other = sc.versus(profile, a, b, n=50), sc.versus(profile, b, a, n=50)
    assert (one.wins, one.losses, one.ties, one.p, one.needed) == (
        other.losses, other.wins, other.ties, other.p, other.needed,
    )  # fmt: skip
    if one.points not in (None, 0.5) and one.low is not None and one.high is not None:
        assert (other.high, other.low) == pytest.approx((1 - one.low, 1 - one.high))
    backwards = profile.take(np.arange(profile.n_votes)[::-1])
    repeated = profile.take(np.repeat(np.arange(profile.n_votes), profile.weight.astype(int)))
    for same in (backwards, replace(repeated, weight=np.ones(repeated.n_votes))):
        assert sc.versus(same, a, b, n=50) == one
    counts = Part("", one.votes, one.wins, one.losses, one.ties, 0.5)
    assert counts.wins + counts.losses + counts.ties == counts.votes
    json.loads(one.to_json())


def test_several_against_a_baseline() -> None:
    votes: list[Any] = [["a", "b", "c"], ["b", ["a", "c"]], ["c", "b"], ["d"]]
    found = sc.versus(Profile.from_rankings(votes, weights=[30, 10, 5, 1]), "a", ["b", "c", "d"])
    assert isinstance(found, sc.Baseline) and found["b"].p_holm == found["b"].p
    assert found["c"].p_holm == pytest.approx(2 * (found["c"].p or 0))
    assert found["d"].p_holm is None and list(found.rows()[2]) == list(found.rows()[0])
    assert found.summary()[0] == "a beats b, c; never met d (Holm's correction for 2 comparisons)"
    assert json.loads(found.to_json())["against"][1]["headline"] == found.summary()[2]


# Groups.


def judged(judges: int, each: int) -> Profile:
    """Judges of one mind each, every third against a."""
    judge = np.repeat(np.arange(judges), each)
    return paired(np.where(judge % 3 == 2, -1.0, 1.0), judge)


def test_votes_of_a_judge_go_together() -> None:
    found = sc.versus(judged(12, 10), "a", "b")
    assert (found.by, found.clusters, found.mcnemar) == ("judge", 12, None)
    # Judges of one mind: ten votes of each say no more than one, but for the correction of 12 against 120 units.
    assert found.design_effect == pytest.approx(10 * (119 / 120) / (11 / 12))
    assert found.p == pytest.approx(coin(8, 12)) and found.better is None
    assert found.parts[0] == Part("judge-0", 10, 10, 0, 0, 1) and len(found.parts) == 12
    assert "the votes are in 12 groups of judge, which go together: they count as 11" in found.summary()
    assert "by judge: a is ahead in 8 of 12, b in 4" in found.summary()
    alone = sc.versus(judged(12, 10), "a", "b", by="votes")
    assert (alone.better, alone.by, alone.design_effect) == ("a", "votes", 1)
    assert alone.needed is not None and found.needed is not None and alone.needed < found.needed
    assert sc.versus(judged(12, 10), "a", "b", by="judge") == found == sc.versus(judged(12, 10), "a", "b", by="groups")


def test_few_groups_are_no_clusters_unless_asked_for() -> None:
    few = sc.versus(judged(5, 30), "a", "b")
    assert few.by == "votes" and "5 groups of judge are too few" in few.warnings[0]
    asked = sc.versus(judged(5, 30), "a", "b", by="groups")
    assert asked.better is None and asked.warnings == ()
    assert "next: more votes, from more groups of judge: fewer than 6 groups of judge" in asked.summary()[-1]


def test_wins_are_listed_by_any_column_and_votes_go_together_by_it() -> None:
    votes = Profile.from_rankings(
        [["a", "b"], ["b", "a"], ["a", "b"]] * 4,
        columns={"language": ["en", "de", None] * 4, "year": [1, 2] * 6},
    )
    found = sc.versus(votes, "a", "b", per="language")
    assert [(part.group, part.points) for part in found.parts] == [("en", 1.0), ("de", 0.0), ("(none)", 1.0)]
    assert sc.versus(votes, "a", "b", by="year").clusters == 2 and sc.versus(votes, "a", "b").parts == ()


# Scores.


def test_scores_are_compared_by_their_mean_difference() -> None:
    score = [cell for difference in MAIZE for cell in (difference, 0)]
    table: dict[str, Any] = {"agent": ["x", "y"] * 15, "task": np.repeat(np.arange(15), 2), "score": score}
    found = sc.versus(Profile.from_scores(table), "x", "y")
    assert (found.measure, found.unit, found.by) == ("scores", "item", "votes")
    assert found.points == pytest.approx(314 / 15) and found.p == pytest.approx(1726 / 32768)
    assert found.mcnemar is None and found.wins == 13
    wins = sc.versus(Profile.from_scores(table), "x", "y", measure="wins")
    assert (wins.measure, wins.p) == ("wins", coin(13, 15)) and wins.points == pytest.approx(13 / 15)
    lower = sc.versus(Profile.from_scores(table, higher_is_better=False), "x", "y")
    assert lower.points == pytest.approx(-314 / 15) and lower.wins == 2
    table["better"] = (np.repeat(np.arange(15), 2) % 2 == 0).astype(int)
    assert sc.versus(Profile.from_scores(table, higher_is_better="better"), "x", "y").measure == "wins"


def test_right_and_wrong_answers_have_mcnemar_and_a_bounded_interval() -> None:
    found = sc.versus(paired(np.array([1.0] * 7 + [-1.0] + [0.0] * 13), scored=True), "a", "b")
    assert found.mcnemar == 0.0703125 and found.measure == "scores" and found.points == pytest.approx(6 / 21)
    assert found.high is not None and found.high <= 1


def test_scores_beyond_reason_are_an_error_or_a_warning() -> None:
    huge = paired(np.array([1e308, -1e308, 1e308, 5.0]), scored=True)
    assert math.isfinite(sc.versus(huge, "a", "b").points or 0)
    lone = sc.versus(paired(np.array([1.0, 2.0, -1.0, 5000.0]), scored=True), "a", "b")
    assert "one item has more than half of the squared score differences" in lone.warnings[0]
    level = sc.versus(paired(np.full(8, 0.25), scored=True), "a", "b")
    assert (level.low, level.p) == (None, 2 / 2**8) and "too few for an interval" in level.summary()[0]
    tiny = sc.versus(paired(np.array([5e-324, -5e-324, 5e-324]), scored=True), "a", "b")
    assert tiny.wins == 2
    json.loads(tiny.to_json())


@pytest.mark.parametrize("weight", [1e-300, 0.25, 1e15, 1e290])
def test_any_weight_will_do(weight: float) -> None:
    votes = Profile.from_rankings([["a", "b"]] * 5 + [["b", "a"]], weights=[weight] * 6)
    found = sc.versus(votes, "a", "b", n=100)
    assert found.points == pytest.approx(5 / 6) and found.p is not None
    json.loads(found.to_json())
    if weight != 1e15:  # a row is a vote
        assert found.p == pytest.approx(coin(5, 6)) and found.clusters == 6


# Use.


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: sc.versus(p, "a", "judy"), r"b: no agent 'judy' among 2 agents: a, b"),
        (lambda p: sc.versus(p, "aa", "b"), r"a: no agent 'aa' among 2 agents; did you mean 'a'\?"),
        (lambda p: sc.versus(p, "a", "x" * 10_000), r"b: no agent 'x{100}'\.\.\. among"),
        (lambda p: sc.versus(p, "a", "a"), "b must be other agents than a, each once, got 'a'"),
        (lambda p: sc.versus(p, "a", ["b", "b"]), "each once, got 'b'"),
        (lambda p: sc.versus(p, "a", []), "b must be an agent, or a list of at least one"),
        (lambda p: sc.versus(p, "a", 3), "b must be the name of an agent, got 3"),  # type: ignore[call-overload]
        (lambda p: sc.versus(p.pairs(), "a", "b"), "data must be a Profile: two agents are compared vote by vote"),
        (lambda p: sc.versus(p, "a", "b", by="groups"), "by must be 'votes': these votes have no groups"),
        (lambda p: sc.versus(p, "a", "b", by="judge"), "by must be left out: there is no column, got 'judge'"),
        (lambda p: sc.versus(p, "a", "b", per="judge"), "per must be left out: there is no column, got 'judge'"),
        (lambda p: sc.versus(p, "a", "b", measure="scores"), "measure must be 'wins': not all votes"),
        (lambda p: sc.versus(p, "a", "b", measure="score"), "measure must be 'scores' or 'wins'"),  # type: ignore[call-overload]
        (lambda p: sc.versus(p, "a", "b", level=95), "level must be a number from 0.5 to below 1, got 95"),
        (lambda p: sc.versus(p, "a", "b", n=0), "n must be a positive whole number, got 0"),
        (lambda p: sc.versus(p, "a", "b", seed=-1), "seed must be"),
    ],
)
def test_wrong_use_is_named(call: Any, message: str) -> None:
    with pytest.raises(sc.OptionError, match=message):
        call(counted(3, 2))


def test_millions_of_votes_take_about_a_second() -> None:
    rng = np.random.default_rng(0)
    votes = paired(rng.choice([1.0, 0.0, -1.0], size=1_670_000), rng.integers(50_000, size=1_670_000))
    began = time.process_time()
    found = sc.versus(votes, "a", "b")
    assert time.process_time() - began < 3 and found.clusters == 50_000 and "1,670,000 votes" in found.summary()[0]


def test_the_command_answers_in_every_format(tmp_path: Path) -> None:
    path, bad = tmp_path / "battles.csv", "bad\x1b[31mname"
    rows = ["x,y,model_a,ann,en", "y,x,tie,ben,de", f"x,{bad},model_a,ben,en"]
    path.write_text("\n".join(["model_a,model_b,winner,judge,language", *rows]))

    def run(*words: str) -> Any:
        return CliRunner().invoke(main, ["versus", str(path), *words])

    table = run("x", "y")
    assert (
        table.exit_code == 0
        and "ann" in table.stdout
        and table.stderr.startswith("x and y cannot be told apart on 2 v")
    )
    assert "de" in run("x", "y", "--each", "language").stdout
    assert json.loads(run("x", "y", "--format", "json").stdout)["votes"] == 2
    many = run("x", "y", bad, "--format", "csv")
    assert many.stdout.splitlines()[0].startswith("a,b,votes") and "\x1b" not in many.stderr
    assert [one["b"] for one in json.loads(run("x", "y", bad, "--format", "json").stdout)["against"]] == ["y", bad]
    missed = run("x", "yy")
    assert missed.exit_code == 2 and "did you mean 'y'?" in missed.stderr
