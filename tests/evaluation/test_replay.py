"""Votes predicted from those before them, by online models."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from conftest import profiles
from hypothesis import assume, given

import softcondorcet as sc
from softcondorcet.online.models import MODELS


@given(profiles(max_votes=15))
def test_each_vote_is_predicted_by_ratings_of_those_before(profile: sc.Profile) -> None:
    """Against the slow way: ask ``predict`` before every update."""
    late = profile.n_votes - max(1, profile.n_votes // 2)
    assume((profile.weight > 0).all() and (profile.length[late:] > 1).any())
    found = sc.replay(profile)
    for name in MODELS:
        online = sc.Online(name, profile.agents)  # type: ignore[arg-type]
        wrong = surprise = pairs = 0.0
        for v, vote in enumerate(profile.rankings()):
            weight = float(profile.weight[v])
            listed = [(agent, tier) for tier, level in enumerate(vote) for agent in level]
            for k, (upper, place) in enumerate(listed if v >= late else []):
                for lower, other in listed[k + 1 :]:
                    p = online.predict(upper, lower)
                    tied, pairs = place == other, pairs + weight
                    wrong += weight * (0.5 if tied or abs(p - 0.5) < 1e-12 else p < 0.5)
                    surprise -= weight * (np.log(p * (1 - p)) / 2 if tied else np.log(p))
            online.update(vote, weight=weight)
        assert found[name].log_loss == pytest.approx(surprise / pairs, rel=1e-6)
        assert found[name].discordant == pytest.approx(wrong / pairs, abs=1e-6)


def test_drift_is_found_where_agents_change() -> None:
    rng = np.random.default_rng(1)
    m, n = 10, 4000
    strength = np.cumsum(rng.normal(0, 0.08, (n, m)), axis=0)
    a = rng.integers(0, m, n)
    b = (a + rng.integers(1, m, n)) % m
    won = rng.random(n) < 1 / (1 + np.exp(strength[np.arange(n), b] - strength[np.arange(n), a]))
    names = [f"a{k}" for k in range(m)]
    votes = sc.Profile.from_rankings(
        [[names[x], names[y]] if w else [names[y], names[x]] for x, y, w in zip(a, b, won, strict=True)]
    )
    votes = replace(votes, when=np.arange(0, n * 86400.0, 86400.0))
    found = sc.replay(votes, {"still": ("kalman", {"drift": 0.0}), "moving": ("kalman", {})}, tune=True)
    # 0.08 a vote, so 0.08 sqrt(365) = 1.5 a year; the grid ends at 1.2.
    assert found["moving"].options["drift"] >= 0.8
    still = found["still"]
    assert found.models[0].model == "moving" and still.log_loss_difference > still.log_loss_half_width
    assert json.loads(found.to_json())["models"][0]["options"] == found["moving"].options
    assert "still" not in found.summary()[0] and found.summary()[1].startswith("moving: ")


def test_wrong_options_are_named() -> None:
    votes = sc.Profile.from_rankings([["a", "b"]] * 4)
    with pytest.raises(sc.OptionError, match="scored must be"):
        sc.replay(votes, scored=1)
    with pytest.raises(sc.OptionError, match="models must be"):
        sc.replay(votes, ["glicko"])
    with pytest.raises(sc.DataError, match="none of those to score compares two"):
        sc.replay(sc.Profile.from_rankings([["a", "b"], ["a"]]))
