"""Ratings with circumstances controlled."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import profiles
from hypothesis import assume, given, strategies as st

import softcondorcet as sc
from softcondorcet.cli import main
from softcondorcet.columns import Column, as_columns


def battles(n: int, m: int, seed: int, first: float = 0.0, length: float = 0.0) -> tuple[sc.Profile, Any]:
    """Battles between agents of known strength, in which being first and long answers help, and the strengths."""
    rng = np.random.default_rng(seed)
    strength = rng.normal(0, 0.7, m)
    a = rng.integers(0, m, n)
    b = (a + rng.integers(1, m, n)) % m
    long = rng.integers(50, 500, (2, n)).astype(float)
    apart = (long[0] - long[1]) / long.sum(axis=0)
    apart /= np.sqrt((apart**2).mean())
    won = rng.random(n) < 1 / (1 + np.exp(-(strength[a] - strength[b] + first + length * apart)))
    entries = np.stack([np.where(won, a, b), np.where(won, b, a)], axis=1).ravel()
    arrays = [f"a{k}" for k in range(m)], 2 * np.arange(n + 1), entries, np.tile([0, 1], n), np.ones(n)
    columns = {"length_a": Column(values=long[0]), "length_b": Column(values=long[1])}
    return sc.Profile(*arrays, turned=~won, columns=columns), strength


pairs_only = profiles(max_votes=15).map(lambda p: p.take((p.length == 2) & (p.weight > 0)))


@given(pairs_only, st.integers(0, 2**15 - 1))
def test_a_constant_circumstance_is_the_plain_fit(profile: sc.Profile, turns: int) -> None:
    assume(profile.n_votes)
    same = Column(values=np.full(profile.n_votes, 7.0))
    turned = np.array([turns >> k & 1 for k in range(profile.n_votes)], dtype=bool)
    votes = replace(profile, turned=turned, columns=as_columns({"length_a": same, "length_b": same}))
    found = sc.controlled(votes, "length", "bradley_terry", prior=0.1)
    plain = sc.bradley_terry(profile, prior=0.1).values
    assert found.board.values == pytest.approx(plain, abs=1e-6) and found["length"].effect == 0
    assert sc.controlled(votes, "length", "sco").board.order == sc.sco(profile.pairs()).order


@given(pairs_only, st.integers(0, 2**15 - 1))
def test_the_joint_fit_is_the_maximum_and_the_adjusted_evidence_has_its_margins(
    profile: sc.Profile, turns: int
) -> None:
    """The slopes of the likelihood, battle by battle; and Bradley-Terry's on the adjusted wins."""
    assume(profile.n_votes)
    turned = np.array([turns >> k & 1 for k in range(profile.n_votes)], dtype=bool)
    found = sc.controlled(replace(profile, turned=turned), ["first"], "bradley_terry", prior=0.2)
    effect, ratings = found["first"].effect, found.ratings.values
    slope, bare = np.zeros(profile.n_agents), np.zeros(profile.n_agents)
    along = 0.0
    for v, (a, b) in enumerate(profile.agent.reshape(-1, 2).tolist()):
        x, won = (-1.0 if turned[v] else 1.0), 0.5 if profile.tier[2 * v + 1] == 0 else 1.0
        more = profile.weight[v] * (won - 1 / (1 + np.exp(ratings[b] - ratings[a] - effect * x)))
        slope[a], slope[b], along = slope[a] + more, slope[b] - more, along + x * more
    scale = max(1.0, float(profile.weight.sum()))
    assert slope == pytest.approx(0.2 * ratings, abs=1e-7 * scale) and along == pytest.approx(
        0.2 * effect, abs=1e-7 * scale
    )
    pairs = found.pairs
    np.add.at(bare, pairs.left, pairs.margin / 2)
    np.add.at(bare, pairs.right, -pairs.margin / 2)
    plain = profile.pairs()
    expected = plain.wins + plain.losses + plain.ties
    tilt = expected * (1 / (1 + np.exp(ratings[plain.right] - ratings[plain.left])) - 0.5)
    np.add.at(bare, plain.left, -tilt)
    np.add.at(bare, plain.right, tilt)
    assert bare == pytest.approx(0.2 * ratings, abs=1e-6 * scale)
    assert (pairs.wins >= 0).all() and (pairs.losses >= 0).all()


def test_planted_effects_lie_inside_their_intervals() -> None:
    inside = {"first": 0, "length": 0}
    for seed in range(100):
        profile, _ = battles(600, 8, seed, first=0.4, length=0.3)
        found = sc.controlled(profile, "first,length", "bradley_terry")
        for name, truth in (("first", 0.4), ("length", 0.3)):
            inside[name] += found[name].low <= truth <= found[name].high
    # 95 expected; a binomial of 100 stays above 87 but once in 400.
    assert all(count >= 88 for count in inside.values()), inside


def test_effects_that_are_not_there_are_found_in_one_of_twenty() -> None:
    below = 0
    for seed in range(100):
        below += sc.controlled(battles(300, 6, seed)[0], "first", "bradley_terry")["first"].p < 0.05
    assert below <= 12


def test_an_agent_that_is_always_longer_is_rated_by_its_answers() -> None:
    """Two agents of one strength, one of which writes twice as much: plain ratings put it first."""
    rng = np.random.default_rng(1)
    n, m = 6000, 4
    a = rng.integers(0, m, n)
    b = (a + rng.integers(1, m, n)) % m
    usual = np.array([100.0, 100.0, 100.0, 200.0])
    long = np.stack([usual[a], usual[b]]) * rng.lognormal(0, 0.5, (2, n))
    strength, apart = np.array([0.4, 0.0, -0.4, 0.0]), (long[0] - long[1]) / long.sum(axis=0)
    won = rng.random(n) < 1 / (1 + np.exp(-(strength[a] - strength[b] + 2 * apart)))
    frame = {
        "model_a": [f"m{k}" for k in a], "model_b": [f"m{k}" for k in b],
        "winner": np.where(won, "model_a", "model_b").tolist(), "length_a": long[0], "length_b": long[1],
    }  # fmt: skip
    for method in ("sco", "bradley_terry"):
        found = sc.controlled(sc.Profile.from_matches(frame), "length", method)
        assert found.plain.order[0] == "m3" and found.board.order[0] == "m0"
        assert "m3" in found.moved and found.rows()[0]["facts"]["rank_without"] == 2


def test_home_is_a_column_or_the_first_where_the_ground_is_not_neutral() -> None:
    frame = {"home_team": ["x", "y"] * 30, "away_team": ["y", "x"] * 30, "winner": ["model_a"] * 40 + ["model_b"] * 20}
    named = sc.Profile.from_matches({**frame, "home": ["y", "x"] * 30}, a="home_team", b="away_team", winner="winner")
    marked = {**frame, "neutral": ["TRUE"] * 40 + ["FALSE"] * 20}
    away = sc.controlled(named, "home", "bradley_terry")["home"]
    plain = sc.controlled(named, "first", "bradley_terry")["first"]
    assert away.effect == pytest.approx(-plain.effect) and away.unit == "at home"
    ground = sc.controlled(
        sc.Profile.from_matches(marked, a="home_team", b="away_team", winner="winner"), "home", "bradley_terry"
    )
    assert ground["home"].effect < -2  # all that was won at home was won on neutral ground
    assert ground.probability("x", "y", home=1) < 0.2 < ground.probability("x", "y") == pytest.approx(0.5, abs=0.01)


def test_what_cannot_be_controlled_is_named() -> None:
    profile, _ = battles(50, 3, 0)
    for columns, message in (
        ("lengths", r"no columns lengths_a and lengths_b.*there is 'length_a', 'length_b'; did you mean 'length_a'"),
        (["first", "first"], "different names"), ("", "different names"), ([], "different names"),
    ):  # fmt: skip
        with pytest.raises((sc.DataError, sc.OptionError), match=message):
            sc.controlled(profile, columns)
    for votes, message in (
        (sc.Profile.from_rankings([["a", "b", "c"]]), "1 vote of more than two agents; expected battles"),
        (sc.Profile.from_rankings([["a"]]), "no vote of two agents"),
        (sc.Profile.from_rankings([["a", "b"]]), "do not say who was shown first"),
    ):
        with pytest.raises(sc.DataError, match=message):
            sc.controlled(votes, "first")
    with pytest.raises(sc.OptionError, match="method must be a method that takes pairs"):
        sc.controlled(profile, "first", "elo")
    wrong = replace(profile, columns=as_columns({"length_a": ["x"] * 50, "length_b": [-1.0] * 50}))
    with pytest.raises(sc.DataError, match="'length_a': expected numbers that are not negative"):
        sc.controlled(wrong, "length")


def test_the_command_says_what_each_circumstance_does(tmp_path: Path) -> None:
    file = tmp_path / "battles.csv"
    rows = [f"{'xy'[k % 2]},{'yx'[k % 2]},{'model_a' if k % 5 else 'model_b'}" for k in range(80)]
    file.write_text("\n".join(["model_a,model_b,winner", *rows]))
    run = CliRunner().invoke(main, ["rank", str(file), "--control", "first", "--format", "json"])
    assert run.exit_code == 0, run.stderr
    data = json.loads(run.stdout)
    assert data["control"]["effects"][0]["share"] > 0.6 and data["control"]["battles"] == 80
    run = CliRunner().invoke(main, ["rank", str(file), "--control", "first"])
    assert "first (shown first): wins 8" in run.stderr and "rank without" in run.stdout
    for more in (["--engine", "duckdb"], ["--certify"], ["--group-by", "group"]):
        run = CliRunner().invoke(main, ["rank", str(file), "--control", "first", *more])
        assert run.exit_code == 2 and "left out with --" in run.stderr
