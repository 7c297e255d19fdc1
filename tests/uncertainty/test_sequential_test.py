"""Settled, however often one asks: e-values of pairs, confidence sequences, and the first places."""

from __future__ import annotations

import json
import math
import time
from itertools import combinations

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import profiles
from hypothesis import example, given, settings, strategies as st

import softcondorcet as sc
from softcondorcet import Profile
from softcondorcet.cli import main
from softcondorcet.pairs import Pairs
from softcondorcet.uncertainty.sequential_test import bound, log_e_values

counts = st.one_of(st.integers(0, 60).map(float), st.floats(0, 1e6), st.sampled_from([1e12, 1e17, 1e299]))
shares = st.floats(0.01, 0.99)


@given(counts, counts, counts, shares, st.floats(0.01, 1), st.floats(0, 1))
def test_a_vote_that_may_be_lost_gains_nothing_on_average(
    wins: float, losses: float, ties: float, chance: float, weight: float, tied: float
) -> None:
    """The definition of an e-process: a win chance of `chance`, ties as half, leaves the mean where it was."""
    before = float(log_e_values(wins, losses, ties, chance))
    p_tie = tied * 2 * min(chance, 1 - chance)
    outcomes = [
        (chance - p_tie / 2, log_e_values(wins + weight, losses, ties, chance)),
        (1 - chance - p_tie / 2, log_e_values(wins, losses + weight, ties, chance)),
        (p_tie, log_e_values(wins, losses, ties + weight, chance)),
    ]
    if max(wins, losses, ties) <= 1e6:  # above, a vote is lost in rounding
        assert sum(p * math.exp(after - before) for p, after in outcomes) <= 1 + 1e-7


@given(counts, counts, counts, shares)
def test_evidence_grows_with_wins_and_falls_with_losses(wins: float, losses: float, ties: float, chance: float) -> None:
    here = log_e_values(wins, losses, ties, chance)
    rounding = 1e-9 * (1 + abs(here))
    assert not np.isnan(here)
    assert log_e_values(wins * 1.5 + 1, losses, ties, chance) >= here - rounding
    assert log_e_values(wins, losses * 1.5 + 1, ties, chance) <= here + rounding
    assert log_e_values(wins, losses, ties, chance / 2) >= here - rounding
    assert log_e_values(wins, losses, ties) == pytest.approx(log_e_values(wins, losses), rel=1e-12, abs=1e-12)
    assert min(log_e_values(wins, losses), log_e_values(losses, wins)) <= 1e-9, "not both ways"


@settings(max_examples=25)
@given(counts, counts, counts)
@example(8.0, 0.0, 0.0)  # an e-value of 30, between 1 / alpha and that of both ends
def test_intervals_are_symmetric_and_say_what_e_values_say(wins: float, losses: float, ties: float) -> None:
    low, high = map(float, sc.confidence_sequence(wins, losses, ties))
    assert 0 <= low < high <= 1
    mirrored = [float(end) for end in sc.confidence_sequence(losses, wins, ties)]
    assert (1 - mirrored[1], 1 - mirrored[0]) == pytest.approx((low, high), abs=1e-9)
    told = log_e_values(wins, losses) >= math.log(2 / 0.05)
    assert (low > 0.5) == told or low == pytest.approx(0.5, abs=1e-9)
    if (met := wins + losses + ties) > 0:
        assert low - 1e-9 <= (wins + ties / 2) / met <= high + 1e-9


def ever_reached(p: float, level: float, votes: int) -> float:
    """The exact chance that E ever reaches 1 / alpha in so many votes, each won with chance p: a walk with an end."""
    wins = np.arange(votes + 1.0)
    alive, ended = np.zeros(votes + 1), 0.0
    alive[0] = 1
    for n in range(1, votes + 1):
        alive = (1 - p) * alive + p * np.concatenate([[0], alive[:-1]])
        over = (wins <= n) & (log_e_values(wins, np.maximum(n - wins, 0)) >= -math.log(1 - level))
        ended, alive = ended + alive[over].sum(), np.where(over, 0, alive)
    return float(ended)


@pytest.mark.parametrize(
    ("p", "level", "low", "high"), [(0.5, 0.95, 0.02, 0.05), (0.5, 0.8, 0.1, 0.2), (0.45, 0.95, 0, 0.03)]
)
def test_the_chance_of_a_wrong_word_is_exactly_below_the_level(p: float, level: float, low: float, high: float) -> None:
    assert low <= ever_reached(p, level, 600) <= high


def runs_called(p: np.ndarray, runs: int, votes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Battles of the leader and the open rival that it met least: who was ever called first, and when."""
    rng, m = np.random.default_rng(seed), len(p)
    wins, evidence = np.zeros((runs, m, m)), np.zeros((runs, m, m))
    evidence[:, np.arange(m), np.arange(m)] = np.inf
    run, called = np.arange(runs), np.full((runs, m), votes + 1)
    enough = math.log(bound(m, 1, 0.95, votes_of_two=True))
    for vote in range(votes):
        lead = ((wins - wins.swapaxes(1, 2)) / (wins + wins.swapaxes(1, 2) + 2)).sum(2)
        a = (lead + 1e-9 * rng.random(lead.shape)).argmax(1)
        met = wins[run, a] + wins[run, :, a]
        b = np.where(evidence[run, a] < enough, met, 1e9 + evidence[run, a]).argmin(1)
        won, tied = rng.random(runs) < p[a, b], rng.random(runs) < 0.3
        wins[run, np.where(won, a, b), np.where(won, b, a)] += ~tied
        evidence[run, a, b] = log_e_values(wins[run, a, b], wins[run, b, a])
        evidence[run, b, a] = log_e_values(wins[run, b, a], wins[run, a, b])
        called[run, a] = np.where(evidence[run, a].min(1) >= enough, np.minimum(called[run, a], vote), called[run, a])
    return called <= votes, called.min(1)


def test_asked_after_every_battle_it_is_seldom_wrong_and_does_settle() -> None:
    """A short form of benchmarks/settled.py: two equal agents above two others, and a leader; 30 % ties."""
    two_first = np.full((4, 4), 0.5)
    two_first[:2, 2:], two_first[2:, :2] = 0.9, 0.1
    wrong, _ = runs_called(two_first, 500, 400, seed=1)
    assert 0 < wrong.any(1).mean() <= 0.05
    leader = np.full((4, 4), 0.5)
    leader[0, 1:], leader[1:, 0] = 0.8, 0.2
    called, when = runs_called(leader, 200, 400, seed=2)
    assert called[:, 0].mean() > 0.98 and called[:, 1:].any(1).mean() <= 0.02
    assert np.median(when) < 200


@pytest.mark.parametrize(
    ("vote", "top", "needed"),
    [
        ("ab", 1, 60.05),
        ("ab", 2, 120.1),
        ("ab", 5, 2 * 60.05 + 60 + 40),
        ("abc", 1, 100),
        ("abc", 5, 100 + 80 + 60 + 40),
    ],
)
def test_what_each_question_needs(vote: str, top: int, needed: float) -> None:
    profile = Profile.from_rankings([list(vote)], agents=list("abcde"))
    assert sc.sequential_test(profile, top=top).bound == pytest.approx(needed)


def test_the_bound_holds_for_every_tournament() -> None:
    """Of up to 5 agents and all who may beat whom: chances of a wrong first place, as the docstring adds them."""
    for m in (2, 3, 4, 5):
        couples = list(combinations(range(m), 2))
        a, b = np.array(couples).T
        for code in range(2 ** len(couples)):
            left_wins = code >> np.arange(len(couples)) & 1 == 1
            unbeaten = np.bincount(np.where(left_wins, b, a), minlength=m)  # rivals that each does not beat
            for level in (0.5, 0.95):
                e = 1 / bound(m, 1, level, votes_of_two=True)
                assert sum(e**d for d in unbeaten.tolist() if d) <= (1 - level) * (1 + 1e-12)


def test_what_is_settled_and_what_is_open() -> None:
    votes = [["a", "b"], ["b", "a"], ["a", "c"], ["b", "c"], ["c", "d"], ["a", "d"]]
    profile = Profile.from_rankings(votes, weights=[60, 10, 30, 5, 30, 30], kind="games")
    first = sc.sequential_test(profile)
    assert first.settled and first.order == ("a",) and not first.matches and first.open == 0
    assert first.summary() == [
        "the first place is settled at 95 %, however often this is asked: a beats every other agent"
    ]
    two = sc.sequential_test(profile, 1, top=2)
    assert (two.settled, two.open, two.unmet) == (False, 2, 1)
    assert [(match.a, match.b, match.wins, match.expected) for match in two.matches] == [("b", "d", 0.0, None)]
    assert two.summary()[0].startswith("the top 2 is not settled at 95 %: 2 pairs of agents are open, 1 of them never")
    (unmet, few) = sc.sequential_test(profile, top=2).matches
    for match in (unmet, few):
        rest = [["b", match.b]] * (match.at_least or 0)
        more = Profile.from_rankings([*profile.rankings(), *rest], weights=[*profile.weight, *[1.0] * len(rest)])
        less = Profile.from_rankings(
            [*profile.rankings(), *rest[1:]], weights=[*profile.weight, *[1.0] * len(rest[1:])]
        )
        assert sc.sequential_test(more, top=2).open == 1 and sc.sequential_test(less, top=2).open == 2
    assert few.expected == few.at_least, "it has won them all"
    other = sc.sequential_test(profile, order=["b", "a", "c", "d"]).matches
    assert ("b", "a", 10.0, 60.0) in [(match.a, match.b, match.wins, match.losses) for match in other]


@settings(max_examples=40)
@given(profiles(), st.integers(1, 4), st.sampled_from([0.5, 0.95]))
def test_settled_first_places_beat_all_below(profile: Profile, top: int, level: float) -> None:
    many = Profile.from_rankings(profile.rankings(), weights=profile.weight * 40, agents=profile.agents)
    test = sc.sequential_test(many, 100, top=top, level=level)
    assert test.settled == (test.open == 0 and test.n_agents > 1)
    assert len(test.matches) == min(test.open, 100)
    met = [match.wins + match.losses + match.ties for match in test.matches]
    assert met == sorted(met)
    assert all(match.e_value < test.bound for match in test.matches)
    if test.settled:
        assert sc.condorcet_winner(many) == test.order[0]
        assert sc.sequential_test(many, top=1, level=level).settled, "more places need more"
    assert sc.sequential_test(many.pairs(), top=top, level=level).bound >= test.bound
    json.loads(test.to_json())


def test_weights() -> None:
    def settled(weights: list[float], **options: float) -> bool:
        profile = Profile.from_rankings([["a", "b"]] * len(weights), weights=weights)
        return sc.sequential_test(profile, **options).settled  # type: ignore[arg-type]

    assert settled([40]) and settled([1] * 40), "whole numbers are counts"
    assert not settled([40], max_weight=40) and settled([40] * 40, max_weight=40)
    assert settled([0.5] * 40) and settled([0.5e-300] * 80), "any unit will do, for some evidence more"
    assert not settled([0.5, *[1e-3] * 1000]) and not settled([1e200 * math.pi])
    with pytest.raises(sc.OptionError, match="max_weight must be at least the largest weight of a vote, got 2"):
        settled([3.0], max_weight=2)
    fractions = Pairs(("a", "b"), *np.array([[0], [1]]), *np.array([[1000.5], [0.0], [0.0]]))
    assert not sc.sequential_test(fractions).settled and sc.sequential_test(fractions, max_weight=1).settled


@pytest.mark.parametrize(
    ("profile", "unsettled"),
    [
        (Profile.from_rankings([]), "there are no two agents"),
        (Profile.from_rankings([["a"]]), "there are no two agents"),
        (Profile.from_rankings([["a", "b"]], weights=[3]), "1 pair of agents is open; each needs an e-value of 40"),
        (Profile.from_rankings([[["a", "b"]]], weights=[1e9]), "1 pair of agents is open"),
        (Profile.from_rankings([["a", "b"], ["b", "a"]], weights=[1e299, 1e299]), "1 pair of agents is open"),
    ],
)
def test_thin_data_settles_nothing(profile: Profile, unsettled: str) -> None:
    test = sc.sequential_test(profile)
    assert not test.settled and unsettled in test.summary()[0]


def test_options_are_checked() -> None:
    votes = Profile.from_rankings([["a", "b"]])
    for options, message in (
        ({"top": 0}, "top must be"),
        ({"level": 1.0}, "level must be"),
        ({"order": ["a"]}, "order must be all agents"),
        ({"max_weight": -1}, "max_weight must be"),
    ):
        with pytest.raises(sc.OptionError, match=message):
            sc.sequential_test(votes, **options)


def test_many_agents_take_no_time() -> None:
    rng, m = np.random.default_rng(0), 5000
    left, right = np.unique(np.sort(rng.integers(m, size=(300_000, 2))), axis=0).T
    met = left != right
    wins, losses = rng.integers(0, 5, size=(2, met.sum())).astype(float)
    pairs = Pairs(tuple(map(str, range(m))), left[met], right[met], wins, losses, np.zeros(met.sum()))
    began = time.process_time()
    test = sc.sequential_test(pairs, top=3, order=pairs.agents)
    assert test.open > 14_000 and len(test.matches) == 10
    assert time.process_time() - began < 3


def test_the_command_says_what_is_needed_until_settled(tmp_path: object) -> None:
    path = f"{tmp_path}/votes.csv"
    votes = Profile.from_rankings([["a", "b"], ["a", "c"]], weights=[20, 6], kind="games")
    sc.write(votes, path)
    said = CliRunner().invoke(main, ["next", path, "--until", "0.95", "--format", "json"])
    assert json.loads(said.stdout) == json.loads(sc.sequential_test(sc.read(path)).to_json())
    table = CliRunner().invoke(main, ["next", path, "--until", "0.95", "--method", "borda"])
    assert table.stdout.splitlines()[1].split()[:2] == ["a", "c"] and "is not settled at 95 %" in table.stderr
    settled = CliRunner().invoke(main, ["next", path, "--until", "0.5"])
    assert settled.exit_code == 0 and settled.stdout == "" and "the first place is settled at 50 %" in settled.stderr
    assert CliRunner().invoke(main, ["next", path, "--until", "95"]).exit_code != 0
