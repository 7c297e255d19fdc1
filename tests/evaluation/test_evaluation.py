"""Several methods on the same votes: comparison, held-out votes, tuning."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import reference
from conftest import paper_example, profiles, three_cycle
from hypothesis import assume, given, settings, strategies as st

import softcondorcet as sc
from softcondorcet import Profile
from softcondorcet.evaluation import holdout
from softcondorcet.evaluation.compare import USUAL


def test_what_contradicts_a_condorcet_winner_is_named() -> None:
    found = sc.compare(paper_example(), ["sco", "bradley_terry", "borda"])
    assert found.violations() == [
        "bradley_terry ranks A above C although C beats every agent",
        "borda ranks A above C although C beats every agent",
    ]
    assert found.summary()[0] == found.violations()[0]
    assert found["sco"].order == ["C", "A", "B"]
    assert [row["discrete_loss"] for row in found.losses()] == [4, 5, 5]
    assert found.rows()[0] == {"agent": "C", "sco": 1, "bradley_terry": 2, "borda": 2}
    assert found.moves() == ["C: 1 by sco, 2 by bradley_terry, borda", "A: 1 by bradley_terry, borda, 2 by sco"]


def test_a_loser_ranked_too_high_and_a_first_outside_the_smith_set_are_named() -> None:
    """Plurality likes an agent that all others beat."""
    turns = [["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]]
    votes = Profile.from_rankings([*(["d", *t] for t in turns), *([*t, "d"] for t in turns)], weights=[2] * 3 + [3] * 3)
    found = sc.compare(votes, ["sco", "plurality"])
    assert found.smith_set == ("a", "b", "c") and found.condorcet_loser == "d"
    assert found.violations() == [
        "plurality ranks d first although every agent of the Smith set (a, b, c) beats it",
        "plurality ranks d above c although every agent beats d",
    ]


def test_a_tie_with_the_winner_is_said_to_be_one() -> None:
    level = {"level": ("approval", {"k": 2})}
    found = sc.compare(Profile.from_rankings([["a", "b", "c"]]), level)
    assert found.violations() == ["level ranks b level with a although a beats every agent"]


@settings(max_examples=15)
@given(profiles(max_agents=5))
def test_distances_are_symmetric_and_agree_with_the_metric(profile: Profile) -> None:
    found = sc.compare(profile, ["sco", "borda", "copeland"])
    table = found.distances()
    for a, b in itertools.product(found, repeat=2):
        assert table[a][b] == table[b][a]
        assert table[a][b] == sc.normalized_kendall_tau_distance(found[a], found[b])
    assert json.loads(found.to_json())["methods"] == ["sco", "borda", "copeland"]


def test_a_method_that_cannot_work_is_left_out_with_its_reason() -> None:
    undefeated = Profile.from_rankings([["a", "b"]])
    no_prior = {"sco": ("sco", {}), "no prior": ("bradley_terry", {"prior": 0.0})}
    found = sc.compare(undefeated, no_prior)
    assert list(found) == ["sco"] and "a" in found.skipped["no prior"]
    assert any(line.startswith("left out no prior") for line in found.summary())
    with pytest.raises(sc.DataError, match="no prior"):
        sc.compare(undefeated, {"no prior": no_prior["no prior"]})


def test_wrong_methods_are_named() -> None:
    for run in (sc.compare, sc.holdout):
        with pytest.raises(sc.OptionError, match="got 'elo9'"):
            run(three_cycle(), ["sco", "elo9"])
        with pytest.raises(sc.OptionError, match="methods must be a list"):
            run(three_cycle(), "sco")


@given(profiles(max_votes=20), st.integers(0, 5), st.integers(1, 4))
def test_a_split_shares_no_vote_and_leaves_no_agent_unseen(profile: Profile, seed: int, test: int) -> None:
    try:
        train, held = holdout.split_at_random(profile, test, seed=seed)
    except sc.DataError as error:
        assert f"expected {test}" in str(error)
        return
    whole = (profile.weight == np.round(profile.weight)).all()  # then a row of weight 5 is five votes
    assert (held.weight.sum() if whole else held.n_votes) == test
    assert set(held.agent.tolist()) <= set(train.agent.tolist())
    assert (held.length > 1).all()
    together = totals(train)
    together.update(totals(held))
    assert together == totals(profile)


def totals(profile: Profile) -> Counter[str]:
    """The weight of each different vote."""
    found: Counter[str] = Counter()
    for vote, weight in zip(profile.rankings(), profile.weight.tolist(), strict=True):
        found[str(vote)] += weight
    return found


def test_counts_of_battles_are_split_battle_by_battle() -> None:
    """All wins of a over b in one row: as one vote, hidden or not, they would turn training against the test."""
    counts = Profile.from_rankings([["a", "b"], ["b", "a"]], weights=[900, 100])
    train, held = holdout.split_at_random(counts, 200, seed=0)
    assert held.weight.sum() == 200 and train.weight.sum() == 800
    assert 150 < held.weight[0] < 200  # 180 expected, with a standard deviation of 4
    parts = holdout.folds(counts, 5, seed=0)
    assert [late.weight.sum() for _, late in parts] == [200] * 5
    assert all(train.weight.sum() == 800 for train, _ in parts)
    found = sc.holdout(counts, ["sco"], splits=5)
    assert found["sco"].accuracy == pytest.approx(0.9, abs=0.05) and found.test == 100


def test_a_split_by_time_scores_what_is_known_of_the_last_votes() -> None:
    votes = Profile.from_rankings(
        [["a", "b"], ["b", "a"], ["a", "new"], ["b", "a"], ["b", "other", "a"], ["new", "other"]], kind="games"
    )
    train, late = holdout.split_by_time(votes, 4)
    assert list(train.rankings()) == [[["a"], ["b"]], [["b"], ["a"]]]
    assert list(holdout.known_agents(train, late).rankings()) == [[["b"], ["a"]], [["b"], ["a"]]]
    found = sc.holdout(votes, ["borda"], test=4, by="time")
    assert (found.asked, found.test, found.shortened) == (4, 2, 1)
    assert found.summary()[1:] == [
        "2 votes of the last 4 left out: fewer than two agents of earlier votes",
        "1 vote scored without agents that no earlier vote holds",
    ]


def test_folds_by_time_predict_later_votes_from_all_before() -> None:
    votes = Profile.from_rankings([["a", "b"]] * 10, columns={"place": list(range(10))})
    votes = replace(votes, when=np.arange(10.0)[::-1])  # listed last to first
    for (train, late), (before, after) in zip(holdout.folds_by_time(votes, 2), ((5, 7), (7, 10)), strict=True):
        assert train.when is not None and late.when is not None
        assert sorted(train.when) == list(range(before)) and sorted(late.when) == list(range(before, after))
    assert sc.tune(votes, priors=[0.1], sharpnesses=[], temperatures=[], folds=2, by="time").trials[0].distance == 0
    with pytest.raises(sc.OptionError, match="folds must be from 2 to 5 for 10 votes"):
        sc.tune(votes, folds=6, by="time")


@settings(max_examples=30)
@given(profiles(max_agents=5))
def test_votes_are_judged_as_the_metric_and_the_likelihood_say(profile: Profile) -> None:
    assume((profile.length > 1).any())
    board = sc.bradley_terry(profile)
    judged = holdout.judge_votes(board, profile)
    weights = profile.weight.tolist()
    mistakes = reference.discrete_loss(profile, {name: board[name] for name in board})
    assert judged.distance == pytest.approx(mistakes / sum(weights))
    surprise = pairs = 0.0
    for vote, weight in zip(profile.rankings(), weights, strict=True):
        tier = {name: t for t, names in enumerate(vote) for name in names}
        for a, b in itertools.combinations(tier, 2):
            p, q = board.probability(a, b), board.probability(b, a)
            share = 0.5 if tier[a] == tier[b] else float(tier[a] < tier[b])
            surprise -= weight * (share * math.log(p) + (1 - share) * math.log(q))
            pairs += weight
    assert judged.log_loss == pytest.approx(surprise / pairs)


def test_a_method_that_knows_predicts_better_than_one_that_does_not() -> None:
    votes, _ = sc.synthetic.tournament(600, agents=20, seed=3)
    methods = {"plurality": ("plurality", {}), "sco": ("sco", {}), "box": ("sco", {"scale": "box"})}
    found = sc.holdout(votes, methods, test=100, splits=3)
    assert found.scores[-1].method == "plurality"
    best = found.scores[0]
    assert best.low < best.distance < best.high and best.distance < found["plurality"].low
    assert best.accuracy > 0.5 and found["sco"].log_loss is not None and found["box"].log_loss is None
    assert found.test == 100 and "3 splits" in found.summary()[0]
    again = sc.holdout(votes, methods, test=100, splits=3)
    assert [s.distance for s in again.scores] == [s.distance for s in found.scores]


def test_too_few_votes_to_hold_out_are_an_error() -> None:
    with pytest.raises(sc.DataError, match="0 of 3 votes can be held out"):
        sc.holdout(Profile.from_rankings([["a", "b"], ["c", "d"], ["e", "f"]]), ["sco"], test=1)
    with pytest.raises(sc.OptionError, match="test must be less than the number of votes, 3"):
        sc.holdout(three_cycle(), ["sco"], test=3)


def test_tuning_finds_that_sparse_votes_need_a_prior(tmp_path: Path) -> None:
    """Two votes per agent: the sharp loss overfits, a soft one with a prior does not."""
    games, _ = sc.synthetic.tournament(150, agents=150, size=4, seed=5)
    votes = replace(games, kind="election")  # of games the default shrinks margins, with nothing to tune
    tuned = sc.tune(votes, priors=[0.03, 0.3], sharpnesses=[0.3], temperatures=[], folds=3)
    assert tuned.best["prior"] > 0
    shrunk = sc.tune(games, priors=[0.03, 0.3], sharpnesses=[0.3], temperatures=[], folds=3)
    assert shrunk.trials[0].distance < tuned.trials[0].distance and shrunk.trials[0].log_loss is not None
    best = min(tuned.trials, key=lambda trial: trial.distance)
    assert best.setting == tuned.best
    assert best.distance < tuned.trials[0].distance
    again = sc.tune(votes, priors=[0.03, 0.3], sharpnesses=[0.3], temperatures=[], folds=3)
    assert again.rows() == tuned.rows()  # threads do not change a bit
    np.testing.assert_array_equal(tuned.board.values, sc.sco(votes, **tuned.best).values)
    tuned.plot(tmp_path / "tuned.png")
    assert (tmp_path / "tuned.png").stat().st_size > 1000
    assert json.loads(tuned.to_json())["best"] == tuned.best


def test_wrong_options_of_tuning_are_named() -> None:
    with pytest.raises(sc.OptionError, match="folds must be from 2 to 3 for 3 votes"):
        sc.tune(three_cycle(), folds=4)


def test_the_usual_methods_are_methods() -> None:
    assert set(USUAL) <= set(sc.METHODS)


def test_a_method_of_equal_ratings_does_not_win_by_ties_in_votes() -> None:
    """Half of the votes are ties: no order is better at those than another."""
    rng = np.random.default_rng(0)
    votes = [["a", "b"] if won < 0.4 else [["a", "b"]] if won < 0.9 else ["b", "a"] for won in rng.random(400)]
    profile = Profile.from_rankings(votes)
    level = sc.Ratings(profile.agents, np.zeros(2), "level")
    assert holdout.judge_votes(sc.sco(profile), profile).distance < holdout.judge_votes(level, profile).distance


def test_the_error_of_a_mean_knows_what_a_weight_is() -> None:
    """Whole weights are that many votes; others make one vote heavier."""
    board = sc.Ratings(("a", "b"), np.array([1.0, 0.0]), "mine")
    counts = Profile.from_rankings([["a", "b"], ["b", "a"]], weights=[90, 10])
    single = Profile.from_rankings([["a", "b"]] * 90 + [["b", "a"]] * 10)
    assert holdout.judge_votes(board, counts).error == pytest.approx(holdout.judge_votes(board, single).error)
    heavy = Profile.from_rankings([["a", "b"]] * 90 + [["b", "a"]] * 10, weights=[0.5] * 99 + [50.5])
    assert holdout.judge_votes(board, heavy).error > 3 * holdout.judge_votes(board, single).error


def test_comparisons_say_what_limits_them_and_who_shares_the_top() -> None:
    apart = Profile.from_rankings([["a", "b"], ["b", "c"], ["c", "a"], ["x", "y"]])
    found = sc.compare(apart, ["sco", "copeland"])
    assert any("never compared with each other" in line for line in found.summary())
    assert any("never compared with each other" in note for note in json.loads(found.to_json())["warnings"])
    cycle = sc.compare(three_cycle(), {"level": ("copeland", {})})
    assert cycle.losses()[0]["first"].endswith(" and 2 more")
    with pytest.raises(sc.OptionError, match="a method and its options for 'x'"):
        sc.compare(three_cycle(), {"x": "elo"})  # type: ignore[dict-item]
    with pytest.raises(sc.DataError, match="at least one agent"):
        sc.compare(Profile.from_rankings([]))


def test_any_agent_on_top_outside_the_smith_set_is_named() -> None:
    votes = [["a", "b", "c", "d"], ["b", "c", "a", "d"], ["c", "a", "b", "d"], ["d", "a", "b", "c"]]
    for listed in (votes, votes[::-1]):  # agents are listed as they first appear: a first, or d
        profile = Profile.from_rankings(listed)
        top = sc.Ratings(profile.agents, np.zeros(4), "plurality")
        found = replace(sc.compare(profile, ["sco"]), boards={"plurality": top})
        assert any("ranks d first although" in line for line in found.violations())
