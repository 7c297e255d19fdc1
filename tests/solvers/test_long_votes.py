"""Descent on votes does what descent on their pairs does."""

from __future__ import annotations

import os
from functools import partial

import hypothesis.strategies as st
import numpy as np
import pytest
from conftest import profiles
from hypothesis import given, settings

import softcondorcet as sc
from softcondorcet import majority
from softcondorcet.arrays import sum_by
from softcondorcet.backends.cpu import PairwiseLoss, Stage
from softcondorcet.methods.result import limits
from softcondorcet.pairs import BYTES
from softcondorcet.solvers.long_votes import REACH, LongVotesLoss, deal, dealt_walk, neighbours

# The paper's ratings, whatever the kind of votes.
boxed = partial(sc.sco, scale="box")


BOX = (0.0, 100.0)
heats = st.sampled_from([0.2, 1.0, 10.0])


def ratings_of(profile: sc.Profile, seed: int, levels: int) -> np.ndarray:
    """Random ratings, equal ones among them."""
    return np.random.default_rng(seed).integers(0, levels, profile.n_agents) * 100.0 / levels


@settings(max_examples=40, deadline=None)
@given(
    profile=profiles(),
    seed=st.integers(0, 99),
    levels=st.sampled_from([3, 1000]),
    heat=heats,
    prior=st.sampled_from([0.0, 0.1]),
)
def test_gradient_and_loss_are_those_of_the_pairs(
    profile: sc.Profile, seed: int, levels: int, heat: float, prior: float
) -> None:
    ratings, stage = ratings_of(profile, seed, levels), Stage(1.0, heat)
    votes = LongVotesLoss(profile, BOX, prior=prior, prior_temperature=heat)
    pairs = PairwiseLoss(profile.pairs(), BOX, prior=prior, prior_temperature=heat)
    # What is left out: s' and s of pairs further apart than the reach, at most exp(-reach) each.
    left_out = profile.n_pairs_compared * np.exp(-REACH)
    np.testing.assert_allclose(
        votes.gradient(ratings, stage), pairs.gradient(ratings, stage), rtol=1e-12, atol=left_out / heat + 1e-12
    )
    assert votes.value(ratings, stage) == pytest.approx(pairs.value(ratings, stage), rel=1e-12, abs=left_out)
    assert votes.discrete(ratings) == pytest.approx(profile.pairs().discrete_loss(ratings), rel=1e-12)


@settings(max_examples=40, deadline=None)
@given(profile=profiles(), seed=st.integers(0, 99), heat=heats)
def test_a_step_never_raises_the_loss(profile: sc.Profile, seed: int, heat: float) -> None:
    """What the bound on the curvature is for; it holds near the ratings of the last gradient only."""
    ratings, stage = ratings_of(profile, seed, 1000), Stage(1.0, heat)
    loss = LongVotesLoss(profile, (-1e4, 1e4))  # no end of the box in the way
    step = loss.gradient(ratings, stage) / loss.curvature(stage)
    assert np.abs(step).max(initial=0.0) <= heat / 2 * (1 + 1e-12)
    before = loss.value(ratings, stage)
    assert loss.value(ratings - step, stage) <= before * (1 + 1e-12) + 1e-9


def test_any_number_of_threads_gives_the_same_bits() -> None:
    votes, _ = sc.synthetic.tournament(40, agents=700, size=500, noise=20, seed=3)
    ratings, stage = ratings_of(votes, 1, 1000), Stage(1.0, 1.0)
    losses = [LongVotesLoss(votes, BOX, cores=cores) for cores in (1, 2, 5)]
    assert [len(loss.votes) for loss in losses] == [1, 2, 5]
    found = {(loss.gradient(ratings, stage).tobytes(), loss.value(ratings, stage)) for loss in losses}
    assert len(found) == 1


def met(profile: sc.Profile) -> np.ndarray:
    """How many others each agent met, by weight."""
    return sum_by(profile.agent, np.repeat(profile.weight * (profile.length - 1), profile.length), profile.n_agents)


@settings(max_examples=40, deadline=None)
@given(profile=profiles(), size=st.sampled_from([2, 3, 100]), seed=st.integers(0, 99))
def test_hands_are_parts_of_the_votes_and_weigh_as_much(profile: sc.Profile, size: int, seed: int) -> None:
    hands = deal(profile, size, np.random.default_rng(seed))
    assert sorted(hands.agent) == sorted(profile.agent)
    np.testing.assert_allclose(met(hands), met(profile), rtol=1e-12)
    assert hands.length.max(initial=0) < 2 * size
    both, whole = hands.pairs(), profile.pairs()
    above = {(a, b) for a, b, won in zip(whole.left, whole.right, whole.wins, strict=True) if won}
    assert above >= {(a, b) for a, b, won in zip(both.left, both.right, both.wins, strict=True) if won}


def test_a_walk_covers_all_stages_and_its_hands_grow() -> None:
    votes, _ = sc.synthetic.tournament(3, agents=700, size=500, seed=1)
    walk = list(dealt_walk(votes, 12.5, 0.5, 50, np.random.default_rng(0)))
    heats = [stage.temperature for _, part in walk for stage in part]
    assert len(heats) == 50 and heats[0] == pytest.approx(12.5) and heats[-1] == pytest.approx(0.5)
    assert sorted(heats, reverse=True) == heats
    longest = [int(hands.length.max()) for hands, _ in walk]
    assert sorted(longest) == longest and longest[0] < 130 and longest[-1] == 500


@settings(max_examples=30, deadline=None)
@given(profile=profiles())
def test_the_result_knows_the_winner_and_the_limits(profile: sc.Profile) -> None:
    board = boxed(profile, over="votes", steps=300)
    assert board.condorcet_winner == majority.condorcet_winner(profile)
    if board.condorcet_winner is not None:
        assert board.order[0] == board.condorcet_winner
        assert (board.values == board.values.max()).sum() == 1
    assert board.discrete_loss == pytest.approx(profile.pairs().discrete_loss(board.values), rel=1e-12)
    cast = profile.take(profile.weight > 0)
    assert limits(neighbours(cast)) == limits(profile.pairs())


def test_it_ends_as_low_as_descent_on_pairs() -> None:
    votes, _ = sc.synthetic.tournament(60, agents=40, size=20, noise=20, seed=1)
    board, on_pairs = boxed(votes, over="votes"), boxed(votes, polish=False)
    assert board.converged and board.loss is not None and on_pairs.loss is not None
    assert board.loss <= on_pairs.loss * 1.001  # another path may end in another valley; this one is no worse
    assert boxed(votes, over="votes", prior=0.1).values.std() < board.values.std()


@pytest.mark.filterwarnings("ignore:sco did not converge")
def test_votes_are_taken_where_pairs_do_not_fit() -> None:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    few, many = 40, int((2 * memory / BYTES) ** 0.5) + 2  # a vote of so many has more pairs than this machine holds
    assert boxed(sc.synthetic.mallows(1, agents=few)).options["over"] == "pairs"
    board = boxed(sc.Profile.from_rankings([[f"agent-{k}" for k in range(many)]]), steps=2)
    assert board.options["over"] == "votes"
    assert "rated by votes, since their pairs are too many" in board.warnings[1]


def test_what_votes_cannot_do_is_said() -> None:
    votes, _ = sc.synthetic.tournament(20, agents=10, size=5, seed=1)
    with pytest.raises(sc.OptionError, match="over must be 'pairs' but for descent on the sigmoid loss"):
        boxed(votes, over="votes", sharpness=0.5)
    with pytest.raises(sc.OptionError, match="temperature must be at least 1/690 of the box by votes"):
        boxed(votes, over="votes", temperature=0.01)
    with pytest.raises(sc.OptionError, match="needs whole votes"):
        boxed(votes.pairs(), over="votes")
    with pytest.warns(sc.NotConverged, match="raise steps"):
        boxed(votes, over="votes", steps=3)
