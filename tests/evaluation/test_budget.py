"""What is worth its time is decided by the size of the votes, and what is cut is said."""

from __future__ import annotations

import numpy as np
import pytest

import softcondorcet as sc
from softcondorcet.evaluation.budget import budget, distinct_pairs, over_votes
from softcondorcet.evaluation.compare import too_slow, usual_methods
from softcondorcet.reporting.analysis import analyse


def table(models: int, tasks: int) -> sc.Profile:
    """Full rankings of made-up models by made-up tasks."""
    rng = np.random.default_rng(1)
    strength = rng.normal(size=models)
    orders = np.argsort(-(strength + rng.normal(size=(tasks, models))), axis=1)
    return sc.Profile.from_rankings([[f"m{a}" for a in order] for order in orders.tolist()])


@pytest.fixture(scope="module")
def large() -> sc.Profile:
    return table(3000, 3)


def test_pairs_are_bounded_without_counting_them() -> None:
    for votes in (sc.synthetic.demo(), table(40, 3)):
        assert len(votes.pairs()) <= distinct_pairs(votes)
    assert distinct_pairs(table(40, 3)) == len(table(40, 3).pairs())


def test_few_pairs_get_all_that_was_asked_for(large: sc.Profile) -> None:
    plan = budget(sc.synthetic.demo(), "sco", {}, 200)
    assert (plan.resamples, plan.level, plan.cuts, dict(plan.options)) == (200, 0.95, (), {})
    assert over_votes(sc.synthetic.demo(), "sco", {}) == {}
    assert over_votes(large, "sco", {"prior": 0.1}) == {}, "options of one's own are kept"


@pytest.mark.parametrize(("most", "resamples", "level"), [(45, 45, 0.95), (25, 25, 0.9), (12, 12, 0.8), (9, 0, 0.95)])
def test_more_pairs_get_fewer_resamples_and_it_is_said(most: int, resamples: int, level: float) -> None:
    votes = sc.synthetic.demo()
    one = distinct_pairs(votes) + 20 * votes.n_agents
    plan = budget(votes, "sco", {}, 200, most * one)
    assert (plan.resamples, plan.level) == (resamples, level)
    assert len(plan.cuts) == 1
    assert ("no intervals" in plan.cuts[0]) == (not resamples)
    assert (f"intervals are at {100 * level:g} %" in plan.cuts[0]) == (level < 0.95 and resamples > 0)


def test_long_votes_are_rated_without_their_pairs(large: sc.Profile) -> None:
    assert over_votes(large, "sco", {})["over"] == "votes"
    plan = budget(large, "sco", {}, 200)
    assert plan.resamples >= 20
    assert "over whole votes" in plan.cuts[0]
    assert set(too_slow(large, usual_methods(large))) == {"bradley_terry"}
    assert too_slow(sc.synthetic.demo(), usual_methods(sc.synthetic.demo())) == {}


def test_a_report_on_many_pairs_says_what_was_cut(large: sc.Profile) -> None:
    analysis = analyse(large, resamples=0)
    assert analysis.ratings.options["over"] == "votes"
    assert analysis.cuts
    why = f"it takes too long on {distinct_pairs(large):,} pairs"
    assert analysis.method_notes == [f"Bradley-Terry is left out: {why}."]
    assert "would change first place" in analysis.flip


def test_the_fewest_votes_are_known_for_every_board() -> None:
    """Without all its votes an agent is first of nothing, so some number of votes always does."""
    for seed in range(6):
        votes, _ = sc.synthetic.tournament(60, agents=5, size=2, noise=40, seed=seed)
        flip = sc.robustness(votes, parts=["votes"]).flip
        assert flip is not None
        assert flip.votes is not None
        assert 1 <= flip.bound <= flip.votes


def test_a_set_found_among_the_best_agents_works_among_all() -> None:
    from softcondorcet.evaluation.fewest_votes import Units, fewest_votes

    votes = table(90, 9)
    board = sc.sco(votes)
    flip = fewest_votes(votes, board, sc.sco, condorcet=True, rivals=3, each=lambda f, x: [*map(f, x)], fits=5)
    assert flip.votes is not None
    gone = np.zeros(votes.n_votes, dtype=np.int64)
    gone[[removed.vote - 1 for removed in flip.removed]] = [removed.count for removed in flip.removed]
    left = sc.sco(Units(votes).left(gone))
    assert left.order[0] == flip.new_top != board.order[0]
    assert flip.fits <= 6
