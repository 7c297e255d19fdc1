"""What is told apart, and what is not: groups that never met, thin agents, near ties, and the words for first place."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers.games import battles, games
from hypothesis import given, settings, strategies as st

import softcondorcet as sc
from softcondorcet.reporting.analysis import analyse
from softcondorcet.reporting.verdict import verdict
from softcondorcet.uncertainty.first_place import FirstPlace, simulation_error
from softcondorcet.uncertainty.intervals import less_sure


def test_agents_that_never_met_are_unknown_and_may_stand_anywhere() -> None:
    found = sc.bootstrap(sc.synthetic.demo(), n=40)
    assert math.isnan(found.above("aster", "newcomer-1")) and not math.isnan(found.above("aster", "kelp"))
    assert np.isnan(found.above_matrix[0, -1]) and found.above_matrix[0, 10] == 1
    rows = {row["agent"]: row for row in found.rows()}
    assert (rows["newcomer-1"]["rank"], rows["newcomer-1"]["rank_low"], rows["newcomer-1"]["rank_high"]) == (
        None,
        1,
        13,
    )
    assert max(row["rank_high"] for row in rows.values() if row["rank"]) == 11
    assert not any("newcomer-1" in group for group in found.tie_groups)
    assert np.isnan(found.top(1)[-1]) and json_is_plain(found)


def json_is_plain(found: sc.Uncertainty) -> bool:
    return "NaN" not in found.to_json()


@settings(max_examples=6)
@given(st.integers(0, 2**20), st.integers(1, 40))
def test_votes_in_one_group_change_no_range_in_another(seed: int, more: int) -> None:
    """What the likelihood says, to the bit; resamples draw other votes then, but tell nobody of the two apart."""
    skill = [0.8 * k for k in range(9)]
    votes = [*battles(seed, skill, 150), *battles(seed + 1, [0.0, 1.0, 2.0], 30, "b")]
    added = [*votes, *battles(seed + 2, [0.0, 1.0, 2.0], more, "b")]
    before, after = (sc.bootstrap(games(both), n=20) for both in (votes, added))
    first, second = before.evidence, after.evidence
    assert first is not None and second is not None
    own = [before.agents.index(f"a{k}") for k in range(9)]
    same = [after.agents.index(f"a{k}") for k in range(9)]
    np.testing.assert_allclose(first.ratings[own], second.ratings[same], rtol=0, atol=1e-6)  # Newton's last step
    np.testing.assert_allclose(first.variance[own], second.variance[same], rtol=1e-5)
    apart = before.confidence(own[0], np.array([before.agents.index("b0")]))
    assert np.isnan(apart).all()


def test_a_bridge_joins_two_groups_with_wide_ranges() -> None:
    votes = [*battles(1, [0.5 * k for k in range(9)], 900), *battles(2, [0.5 * k for k in range(4)], 400, "b")]
    apart, joined = (sc.bootstrap(games(both), n=60) for both in (votes, [*votes, ["a4", "b1"]]))
    assert math.isnan(apart.above("a0", "b0")) and not math.isnan(joined.above("a0", "b0"))
    for name in ("b0", "b1", "b2", "b3"):
        k = joined.agents.index(name)
        assert joined.rank_high[k] - joined.rank_low[k] >= 8, name
        assert joined.board.place_of(name) is None
    told = joined.confidence(joined.agents.index("b3"), np.arange(13)) >= joined.sure
    assert not any(told[joined.agents.index(f"a{k}")] for k in range(9)), "one vote tells nobody apart"


def test_near_ties_are_not_told_apart() -> None:
    """20 votes for each of 20 agents of equal skill: every pair told apart is chance."""
    told = 0
    for seed in range(4):
        found = sc.bootstrap(games(battles(seed, [0.0] * 20, 200)), n=60)
        told += sum(int((found.confidence(a, np.arange(20)) >= found.sure).sum()) for a in range(20))
    assert told <= 4, "of 760 pairs"


def test_clear_votes_are_told_apart() -> None:
    found = sc.bootstrap(games(battles(3, [1.5 * k for k in range(8)], 3_000)), n=60)
    assert len(found.tie_groups) == 8
    assert found.first_place == FirstPlace("a7", 1.0, simulation_error(1.0, 60))


def test_the_less_sure_of_two_answers() -> None:
    one, other = np.array([0.9, 0.2, 0.9, 0.5, np.nan]), np.array([0.7, 0.4, 0.3, 0.9, 0.9])
    assert np.array_equal(less_sure(one, other), [0.7, 0.4, 0.5, 0.5, np.nan], equal_nan=True)


@pytest.mark.parametrize(
    ("first", "words"),
    [
        (FirstPlace("a", 0.9, 0.02), "a leads, told apart from every other agent with a rank"),
        (FirstPlace("a", 0.7, 0.02, (), ("b", "c")), "a leads narrowly, but cannot be told from b, c"),
        (FirstPlace("a", 0.3, 0.02, (), ("b",)), "a comes first, but cannot be told from b"),
        (FirstPlace("a", 0.5, 0.02, ("b",)), "a shares first place with b"),
    ],
)
def test_words_for_the_first_place(first: FirstPlace, words: str) -> None:
    assert first.words() == words


def test_the_error_of_a_share_is_that_of_simulation() -> None:
    rng = np.random.default_rng(0)
    shares = rng.binomial(200, 0.3, 20_000) / 200
    assert simulation_error(0.3, 200) == pytest.approx(shares.std(), rel=0.02)
    assert simulation_error(1.0, 200) > 0


def test_nobody_is_best_while_the_first_place_is_open() -> None:
    """A Condorcet winner by next to nothing."""
    votes = [*[["x", "y"]] * 51, *[["y", "x"]] * 50, *[["x", "z"]] * 90, *[["y", "z"]] * 90]
    found = analyse(games(votes), methods=("sco",), resamples=60)
    says = found.headline(verdict(found.pairs, found.ratings))
    assert found.sure_word == "open" and "is best" not in says.answer
    assert says.answer == "x comes first: ahead of all 2 others, closest by 1 vote; first in 48 % ± 6 of resamples."
    clear = analyse(
        games([*[["x", "y"]] * 900, *[["x", "z"]] * 900, *[["y", "z"]] * 900]), methods=("sco",), resamples=60
    )
    assert clear.sure_word == "settled" and "is best" in clear.headline(verdict(clear.pairs, clear.ratings)).answer
