"""Votes weighted by their age."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import profiles
from hypothesis import given, strategies as st

import softcondorcet as sc
from softcondorcet.cli import main
from softcondorcet.evaluation.decay import DAY, choose_half_life, read_days, spell


def dated(profile: sc.Profile, days: Any) -> sc.Profile:
    return replace(profile, when=1.7e9 + DAY * np.asarray(days, dtype=float))


@given(profiles(max_votes=10), st.lists(st.floats(0, 1000), min_size=10, max_size=10), st.floats(0.01, 1e4))
def test_weights_halve_with_age(profile: sc.Profile, days: list[float], half_life: float) -> None:
    votes = dated(profile, days[: profile.n_votes])
    assert votes.when is not None
    age = (votes.when.max() - votes.when) / DAY
    assert sc.decay(votes, half_life).weight == pytest.approx(votes.weight * 0.5 ** np.minimum(age / half_life, 500))
    assert sc.decay(votes).weight.tolist() == votes.weight.tolist()


@given(profiles(max_votes=10))
def test_an_endless_half_life_or_one_moment_is_the_plain_fit(profile: sc.Profile) -> None:
    spread, together = dated(profile, np.arange(profile.n_votes)), dated(profile, np.zeros(profile.n_votes))
    plain = sc.bradley_terry(profile).values
    for votes, half_life in ((spread, 1e12), (together, 0.1)):
        assert sc.bradley_terry(sc.decay(votes, half_life)).values == pytest.approx(plain, abs=1e-6)


def test_later_votes_and_their_agents_are_left_out() -> None:
    when = ["2024-05-31T23:59:59.5", "2024-06-01", "2025-01-01"]
    votes = sc.Profile.from_matches({"a": ["x", "x", "new"], "b": ["y"] * 3, "winner": ["x", "x", "y"], "date": when})
    cases: dict[str | date, int] = {
        "2024-05": 1,
        "2024-05-31": 1,
        "2024-06-01": 2,
        "2024": 2,
        "2025-01": 3,
        date(2024, 6, 1): 2,
    }
    for as_of, kept in cases.items():
        found = sc.decay(votes, as_of=as_of)
        assert found.n_votes == kept and ("new" in found.agents) == (kept == 3)
    with pytest.raises(sc.DataError, match=r"as of 2024-05-31 23:59:59: the first vote is of 2024-05-31"):
        sc.decay(votes, as_of=datetime(2024, 5, 31, 23, 59, 59))
    assert sc.decay(votes, "1d", as_of="2024-06-01").weight == pytest.approx([0.5, 0.5], rel=0.01)  # by the end of it


def test_times_are_read_as_people_write_them() -> None:
    assert [read_days(text) for text in ("180d", "2 w", "1y", "0.5D", 30)] == [180, 14, 365.25, 0.5, 30]
    assert read_days("6mo") == read_days("6m") == pytest.approx(182.6, abs=0.1)
    assert [spell(days) for days in (365.25, 400, 14, 0.25)] == ["1 year", "1.1 years", "14 days", "6 hours"]
    for wrong in ("", "d", "-1d", "0d", 0, "soon", True, float("inf"), "1e400d"):
        with pytest.raises(sc.OptionError, match="half_life must be a time such as 180d"):
            read_days(wrong)
    votes = dated(sc.Profile.from_rankings([["a", "b"]]), [0])
    for wrong in ("", "soon", 3):
        with pytest.raises(sc.OptionError, match="as_of must be a date"):
            sc.decay(votes, as_of=wrong)  # type: ignore[arg-type]
    with pytest.raises(sc.DataError, match="votes have no times"):
        sc.decay(replace(votes, when=None), "1d")
    with pytest.raises(sc.OptionError, match="with only 3 votes to choose"):
        choose_half_life(dated(sc.Profile.from_rankings([["a", "b"]] * 3), [0, 1, 2]))
    with pytest.raises(sc.DataError, match="no times, or all the same"):
        choose_half_life(votes)


def games(strength: Any, seed: int) -> sc.Profile:
    """One game a day; row k of `strength` is that day's."""
    rng = np.random.default_rng(seed)
    n, m = strength.shape
    a = rng.integers(0, m, n)
    b = (a + rng.integers(1, m, n)) % m
    day = np.arange(n)
    won = rng.random(n) < 1 / (1 + np.exp(strength[day, b] - strength[day, a]))
    first, second = np.where(won, a, b), np.where(won, b, a)
    return dated(sc.Profile.from_rankings([[f"a{x}", f"a{y}"] for x, y in zip(first, second, strict=True)]), day)


def test_auto_forgets_where_agents_change_and_only_there() -> None:
    rng = np.random.default_rng(3)
    still = games(np.tile(rng.normal(size=12), (3000, 1)), 1)
    assert choose_half_life(still).best is None
    moving = games(rng.normal(size=12) + np.cumsum(rng.normal(0, 0.05, (3000, 12)), axis=0), 2)
    found = choose_half_life(moving)
    # Strengths wander 0.05 a day: by their deviation of 1 in 400 days.
    assert found.best is not None and 50 < found.best < 800
    assert sc.decay(moving, "auto").weight == pytest.approx(sc.decay(moving, found.best).weight)


def test_commands_say_what_they_forgot(tmp_path: Path) -> None:
    file = tmp_path / "battles.csv"
    file.write_text("model_a,model_b,winner,date\nx,y,x,2024-01-01\ny,x,y,2026-01-01\ny,x,x,2026-03-01\n")
    run = CliRunner().invoke(main, ["rank", str(file), "--half-life", "30d", "--as-of", "2026-01", "--format", "json"])
    assert run.exit_code == 0, run.stderr
    found = json.loads(run.stdout)
    assert found["time"]["as_of"] == "2026-01" and found["time"]["votes"] == 2
    assert [row["agent"] for row in found["agents"]] == ["y", "x"]
    assert "2 votes of 3 up to that date" in run.stderr and "half-life 30 days" in run.stderr
    cases = {"--half-life x": "half_life must be", "--half-life 1d --engine duckdb": "--half-life must be left out"}
    for words, message in cases.items():
        run = CliRunner().invoke(main, ["rank", str(file), *words.split()])
        assert run.exit_code == 2 and message in run.stderr
