"""Another numbering of the agents, and margins in fewer bytes: the same answer."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from conftest import profiles
from hypothesis import given

import softcondorcet as sc
from softcondorcet.methods import sco as module
from softcondorcet.methods.locality import as_they_are, by_rating


def matched(m: int = 400, each: int = 6, seed: int = 0) -> sc.Pairs:
    """Agents of shuffled numbers that meet their like only; the better one wins more often."""
    rng = np.random.default_rng(seed)
    number = rng.permutation(m)
    place = np.arange(m - each)
    one, two = np.repeat(place, each), (place[:, None] + np.arange(1, each + 1)).ravel()
    left, right = number[one], number[two]
    wins = rng.binomial(5, 0.7, len(one)).astype(float)  # a low place is good
    turned = left > right
    counts = np.where(turned, 5 - wins, wins), np.where(turned, wins, 5 - wins)
    left, right = np.minimum(left, right).astype(np.int32), np.maximum(left, right).astype(np.int32)
    order = np.lexsort((right, left))
    names = tuple(f"agent-{k}" for k in range(m))
    return sc.Pairs(names, left[order], right[order], counts[0][order], counts[1][order], np.zeros(len(one)))


@given(profile=profiles(), seed=st.integers(0, 99))
def test_renumbered_pairs_say_the_same(profile: sc.Profile, seed: int) -> None:
    pairs = profile.pairs()
    order = np.random.default_rng(seed).permutation(pairs.n_agents)
    other = pairs.renumbered(order)
    assert other.agents == tuple(pairs.agents[k] for k in order)
    assert (other.left < other.right).all()
    assert (np.diff(other.left.astype(np.int64) * other.n_agents + other.right) > 0).all()
    wins, ties = pairs.dense(order)
    np.testing.assert_array_equal(other.dense()[0], wins)
    np.testing.assert_array_equal(other.dense()[1], ties)


def test_agents_that_meet_their_like_are_brought_together() -> None:
    pairs = matched()
    rough = sc.bradley_terry(pairs, prior=0.01).values
    near = by_rating(pairs, rough)
    assert np.abs(near.pairs.right - near.pairs.left).mean() * 4 < np.abs(pairs.right - pairs.left).mean()
    np.testing.assert_array_equal(near.back(near.there(rough)), rough)
    everyone, _ = sc.synthetic.tournament(300, agents=30, size=10, noise=20, seed=4)
    assert by_rating(everyone.pairs(), np.arange(30.0)).pairs is everyone.pairs()  # nothing to gain


@pytest.mark.parametrize("options", [{}, {"prior": 0.1}, {"polish": False}])
def test_the_numbering_does_not_change_the_answer(monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]) -> None:
    pairs, seen = matched(), list[Any]()
    expected = sc.sco(pairs, **options)
    monkeypatch.setattr(module, "FAR", 1)
    found = sc.sco(pairs, **options, watch=lambda step, steps, ratings: seen.append(ratings))
    assert found.agents == pairs.agents
    assert found.loss == pytest.approx(expected.loss, rel=0.01)  # insertion meets agents in another order
    if options:
        np.testing.assert_allclose(found.values, expected.values, atol=0.5)  # sums in another order, then tol
        np.testing.assert_allclose(seen[-1], found.values, atol=1e-9)
    assert as_they_are(pairs).pairs is pairs


def test_margins_in_four_bytes_are_exact_for_whole_ones() -> None:
    pairs = matched()
    double, single = sc.sco(pairs), sc.sco(pairs, precision="single")
    np.testing.assert_array_equal(double.values, single.values)
    assert pairs.by_agent_single.margin.dtype == np.float32
