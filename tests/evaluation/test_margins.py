"""Ratings that know by how much a battle was won."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import profiles
from hypothesis import assume, given, settings, strategies as st

import softcondorcet as sc
from softcondorcet.cli import main
from softcondorcet.columns import as_columns

M = 12


def games(n: int, seed: int, telling: bool = True) -> tuple[dict[str, Any], Any]:
    """Games whose goals follow the strengths of both, and the strengths; or goals that say nothing."""
    rng = np.random.default_rng(seed)
    strength = rng.normal(0, 0.5, M)
    a = rng.integers(0, M, n)
    b = (a + rng.integers(1, M, n)) % M
    ahead = np.round(2 * (strength[a] - strength[b]) + rng.normal(0, 2.5, n)).astype(int)
    goals = np.abs(ahead) if telling else np.where(ahead == 0, 0, rng.poisson(3, n) + 1)
    table = {
        "model_a": [f"p{k}" for k in a], "model_b": [f"p{k}" for k in b], "goals": goals.tolist(),
        "winner": np.where(ahead > 0, "model_a", np.where(ahead < 0, "model_b", "tie")).tolist(),
    }  # fmt: skip
    return table, strength


def likeness(board: sc.Ratings, strength: Any) -> float:
    return float(np.corrcoef(board.values, [strength[int(name[1:])] for name in board.agents])[0, 1])


def test_telling_margins_bring_ratings_closer_to_the_truth() -> None:
    gains = []
    for seed in range(30):
        table, strength = games(150, seed)
        found = sc.margins(sc.read(table), "goals", "bradley_terry", scale=3.0)
        gains.append(likeness(found.board, strength) - likeness(found.plain, strength))
    assert np.mean(gains) > 2 * np.std(gains) / np.sqrt(len(gains)) > 0


def test_margins_that_say_nothing_are_mostly_left_out() -> None:
    left_out = 0
    for seed in range(8):
        found = sc.margins(sc.read(games(300, seed, telling=False)[0]), "goals", "bradley_terry")
        if found.scale is None:
            left_out += 1
            assert found.board is found.plain and not found.moved and "left out" in found.summary()[0]
    assert left_out >= 4


pairs_only = profiles(max_votes=15).map(lambda p: p.take((p.length == 2) & (p.weight > 0)))


@settings(max_examples=25)
@given(pairs_only, st.integers(0, 10**6))
def test_overwhelming_wins_are_whole_wins_and_blank_ones_too(profile: sc.Profile, seed: int) -> None:
    assume(profile.n_votes)
    tied = profile.tier[1::2] == 0
    blank = np.random.default_rng(seed).random(profile.n_votes) < 0.5
    cells = np.where(blank & ~tied, np.nan, np.where(tied, 0.0, 1e6))
    assume(not np.isnan(cells).all())
    votes = replace(profile, columns=as_columns({"goals": [None if x != x else x for x in cells.tolist()]}))
    found = sc.margins(votes, "goals", "bradley_terry", scale=1.0, prior=0.5)
    plain = sc.bradley_terry(profile, prior=0.5)
    assert found.plain.values == pytest.approx(plain.values)
    # What is left of the share of a win is none, so all that is added to the wins is what the stretch expects.
    lead = plain.values[found.pairs.left] - plain.values[found.pairs.right]
    counted = profile.pairs()
    games = counted.wins + counted.losses + counted.ties
    added = games * (1 / (1 + np.exp(-found.stretch * lead)) - 1 / (1 + np.exp(-lead)))
    assert found.pairs.margin == pytest.approx(counted.margin + 2 * added, abs=1e-4 * max(1.0, games.sum()))


def test_the_chances_are_those_of_wins() -> None:
    """Shares alone would halve the spread of the ratings; the stretch gives it back."""
    table, _ = games(4_000, 3)
    found = sc.margins(sc.read(table), "goals", "bradley_terry", scale=10.0)
    assert found.stretch > 3
    assert np.std(found.board.values) == pytest.approx(np.std(found.plain.values), rel=0.1)


def test_points_of_both_sides_are_a_margin(tmp_path: Path) -> None:
    table, _ = games(200, 5)
    rng = np.random.default_rng(0)
    other = rng.integers(0, 4, 200)
    goals = np.array(table["goals"])
    first = np.array([winner != "model_b" for winner in table["winner"]])
    points = {"home_score": other + np.where(first, goals, 0), "away_score": other + np.where(first, 0, goals)}
    teams = {"home_team": table["model_a"], "away_team": table["model_b"]}
    lines = [",".join(map(str, row)) for row in zip(*teams.values(), *points.values(), strict=True)]
    file = tmp_path / "games.csv"
    file.write_text("\n".join([",".join([*teams, *points]), *lines]))
    run = CliRunner().invoke(main, ["rank", str(file), "--margin", "home_score,away_score", "--format", "json"])
    assert run.exit_code == 0, run.stderr
    data = json.loads(run.stdout)
    known = sc.margins(sc.read(table), "goals")
    assert data["margin"]["scale"] == known.scale and data["margin"]["battles"] == 200
    assert {row["agent"]: row["rating"] for row in data["agents"]} == pytest.approx(
        dict(zip(known.board.agents, known.board.values.tolist(), strict=True))
    )
    shown = CliRunner().invoke(main, ["rank", str(file), "--margin", "home_score,away_score"])
    assert "margins of 'home_score,away_score'" in shown.stderr and "rank without" in shown.stdout


def test_margins_that_are_none_are_named() -> None:
    table, _ = games(30, 0)
    battles = sc.read(table)
    for column, message in (
        ("goal", "no column 'goal'.*did you mean 'goals'"), ("a,b,c", "a column, or two"), (" ", "a column, or two"),
    ):  # fmt: skip
        with pytest.raises((sc.DataError, sc.OptionError), match=message):
            sc.margins(battles, column)
    with pytest.raises(sc.DataError, match="too few to choose a scale"):
        sc.margins(sc.read(games(10, 0)[0]), "goals")
    with pytest.raises(sc.DataError, match=r"vote 1: the winner is 2 behind"):
        sc.margins(
            sc.read({"a": ["x", "y"], "b": ["y", "x"], "winner": ["a", "b"], "goals": [-2, -1]}), "goals", scale=1.0
        )
    with pytest.raises(sc.DataError, match="expected numbers"):
        sc.margins(sc.read({"a": ["x"], "b": ["y"], "winner": ["a"], "goals": ["many"]}), "goals")
    with pytest.raises(sc.DataError, match="expected battles"):
        sc.margins(sc.Profile.from_rankings([["a", "b", "c"]]), "goals")
    with pytest.raises(sc.OptionError, match="scale"):
        sc.margins(battles, "goals", scale=0.0)
