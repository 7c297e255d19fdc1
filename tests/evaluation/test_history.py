"""Ratings over time, by all votes at once."""

from __future__ import annotations

import json
import math
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
from softcondorcet.evaluation.decay import DAY
from softcondorcet.evaluation.history import YEAR, begin_of, label
from softcondorcet.solvers.whole_history import Periods, fit, with_variances

# 2020-01-01, a Wednesday.
BEGIN = 1577836800.0


def dated(profile: sc.Profile, days: Any) -> sc.Profile:
    return replace(profile, when=BEGIN + DAY * np.asarray(days, dtype=float))


def games(truth: Any, n: int, seed: int) -> tuple[sc.Profile, Any]:
    """Battles in periods, one a year; row k of `truth` is that period's. And the period of each battle."""
    rng = np.random.default_rng(seed)
    periods, m = truth.shape
    period = np.sort(rng.integers(0, periods, n))
    a = rng.integers(0, m, n)
    b = (a + rng.integers(1, m, n)) % m
    won = rng.random(n) < 1 / (1 + np.exp(truth[period, b] - truth[period, a]))
    entries = np.stack([np.where(won, a, b), np.where(won, b, a)], axis=1).ravel()
    names = [f"a{k}" for k in range(m)]
    profile = sc.Profile(names, 2 * np.arange(n + 1), entries, np.tile([0, 1], n), np.ones(n))
    return dated(profile, (period + 0.5) * 365.25), period


def walks(rng: Any, periods: int, m: int, drift: float) -> Any:
    steps = np.concatenate([np.zeros((1, m)), rng.normal(0, drift, (periods - 1, m))])
    return rng.normal(size=m) + np.cumsum(steps, axis=0)


@settings(max_examples=20)
@given(profiles(max_votes=8), st.lists(st.integers(0, 3), min_size=8, max_size=8), st.floats(0.05, 2))
def test_the_fit_is_the_minimum_with_the_covariance_of_its_curvature(
    profile: sc.Profile, years: list[int], drift: float
) -> None:
    """Against the loss as it is defined, written out pair by pair, with a dense Hessian."""
    assume((profile.weight > 0).all() and (profile.length > 1).all())
    code, period = np.unique(years[: profile.n_votes], return_inverse=True)
    periods = Periods.of(profile, period, code.astype(float))
    size = len(periods)
    place = {(a, t): p for p, (a, t) in enumerate(zip(periods.agent.tolist(), periods.period.tolist(), strict=True))}
    loss, found = fit(periods, periods.pairs(profile), 0.8, drift)
    x = found.values
    gradient, hessian = np.zeros(size), np.zeros((size, size))

    def link(p: int, q: int, slope: float, curve: float) -> None:
        for one, sign in ((p, 1), (q, -1)):
            gradient[one] += sign * slope
            for other, turn in ((p, 1), (q, -1)):
                hessian[one, other] += sign * turn * curve

    for v in range(profile.n_votes):
        entries = range(profile.start[v], profile.start[v + 1])
        for i in entries:
            for j in range(i + 1, profile.start[v + 1]):
                p, q = (place[int(profile.agent[e]), int(period[v])] for e in (i, j))
                chance, won = 1 / (1 + math.exp(x[q] - x[p])), 0.5 if profile.tier[i] == profile.tier[j] else 1.0
                link(p, q, profile.weight[v] * (chance - won), profile.weight[v] * chance * (1 - chance))
    for agent in range(profile.n_agents):
        mine = [place[agent, t] for t in range(len(code)) if (agent, t) in place]
        for p, q in zip(mine[1:], mine, strict=False):
            step = drift**2 * (code[periods.period[p]] - code[periods.period[q]])
            link(p, q, (x[p] - x[q]) / step, 1 / step)
        if mine:
            gradient[mine[0]] += x[mine[0]] / 0.8**2
            hessian[mine[0], mine[0]] += 1 / 0.8**2
    assert np.abs(gradient).max() < 1e-6 * max(1, profile.weight.max())
    if size < 2:
        return
    level = np.eye(size) - 1 / size
    exact = level @ np.linalg.inv(hessian) @ level
    drawn = with_variances(loss, found, 0, draws=400)
    # The variance of 400 draws is known to 7 %, and most of it is not drawn at all.
    assert drawn.variance == pytest.approx(np.diag(exact), rel=0.35, abs=0.01)
    follows = np.flatnonzero(periods.before >= 0)
    along = exact[follows, periods.before[follows]]
    assert drawn.shared[follows] == pytest.approx(along, abs=0.2 * np.diag(exact).max())


@given(profiles(max_votes=10))
def test_one_period_or_no_drift_is_bradley_terry(profile: sc.Profile) -> None:
    kept = profile.take((profile.weight > 0) & (profile.length > 1))
    assume(kept.n_votes)
    # A ranking of k agents counts as k - 1 battles.
    plain = sc.bradley_terry(replace(kept, weight=kept.weight * 2 / kept.length), prior=1 / 1.5**2)
    one = sc.history(dated(kept, np.zeros(kept.n_votes)), deviation=1.5)
    still = sc.history(dated(kept, 400 * np.arange(kept.n_votes)), drift=0, deviation=1.5, period="year")
    for found, exact in ((one, 1e-6), (still, 1e-4)):  # without drift, links are only a billion times the prior's
        board = found.at()
        assert [board[name] for name in board.agents] == pytest.approx(
            [plain[name] for name in board.agents], abs=exact
        )


def test_planted_walks_lie_inside_their_intervals() -> None:
    inside, total, drifts = 0, 0, []
    for seed in range(12):
        rng = np.random.default_rng([7, seed])
        truth = walks(rng, 12, 20, 0.4)
        profile, _ = games(truth - truth.mean(), 3000, seed)
        found = sc.history(profile, period="year", drift=0.4, deviation=1.0, seed=seed)
        gap = np.array([[row["rating"] for row in found.of(name)] for name in found.agents]).T - truth
        half = np.array([[row["rating_high"] - row["rating"] for row in found.of(name)] for name in found.agents]).T
        inside += int((np.abs(gap - gap.mean()) < half).sum())
        total += gap.size
        if seed < 3:
            drifts.append(sc.history(profile, period="year").drift)
    assert 0.93 < inside / total < 0.97
    assert all(0.27 < drift < 0.53 for drift in drifts)


def test_drift_of_agents_that_do_not_change_is_small() -> None:
    rng = np.random.default_rng(0)
    profile, _ = games(walks(rng, 10, 20, 0.0), 5000, 1)
    found = sc.history(profile, period="year")
    assert found.drift < 0.1 and found.deviation == pytest.approx(1, abs=0.4)
    best = max(found.tried, key=lambda one: one[2])
    assert best[:2] == (found.drift, found.deviation) and len(found.tried) >= 10


def test_absence_widens_and_between_two_periods_the_rating_is_on_the_line() -> None:
    votes = sc.Profile.from_rankings([["a", "b"]] * 6 + [["b", "a"]] * 6 + [["c", "d"]] * 12 + [["a", "c"]] * 4)
    days = [0] * 6 + [1462] * 6 + [365 * k / 2 for k in range(12)] + [0] * 4
    found = sc.history(dated(votes, days), period="year", drift=0.5, deviation=1.0)

    def half(year: int, agent: str) -> float:
        row = next(row for row in found.board(str(year)) if row["agent"] == agent)
        return float(row["rating_high"] - row["rating_low"]) / 2 / 1.959964

    first, last = (found.at(str(year))["a"] for year in (2020, 2024))
    # 2020 and 2024 are leap years.
    share = 731 / (731 + 730)
    assert found.at("2022")["a"] == pytest.approx((1 - share) * first + share * last)
    assert half(2022, "b") > half(2021, "b") > half(2020, "b")
    later = math.sqrt(half(2024, "b") ** 2 + 0.25 * 731 / 365.25)
    assert half(2026, "b") == pytest.approx(later, rel=1e-3)
    assert found.at("2026")["b"] == found.at("2024")["b"]
    assert found.at("2020").agents == ("a", "b", "c", "d") and found.probability("a", "b", "2020") > 0.5
    votes_then = found.at("2020").votes
    assert votes_then is not None and votes_then.tolist()[:2] == [10, 6]


def test_agents_have_no_rating_before_their_first_vote() -> None:
    votes = sc.Profile.from_rankings([["a", "b"], ["a", "new"]])
    found = sc.history(dated(votes, [0, 800]), period="year", drift=1.0, deviation=1.0)
    assert found.at("2020").agents == ("a", "b") and set(found.at().agents) == {"a", "b", "new"}
    row = found.table()[-1] if found.table()[-1]["agent"] == "new" else found.table()[1]
    assert row["2020"] is None and row["last"] == "2022"


def test_periods_are_those_of_the_calendar() -> None:
    moments = np.array([BEGIN, BEGIN + 40 * DAY, BEGIN + 100.5 * DAY])
    for period, names in (
        ("day", ["2020-01-01", "2020-02-10", "2020-04-10"]),
        ("week", ["2019-12-30", "2020-02-10", "2020-04-06"]),
        ("month", ["2020-01", "2020-02", "2020-04"]),
        ("quarter", ["2020-Q1", "2020-Q1", "2020-Q2"]),
        ("year", ["2020", "2020", "2020"]),
        ("30d", ["2020-01-01", "2020-01-31", "2020-03-31"]),
    ):
        assert [label(start, period) for start in begin_of(moments, period, BEGIN).tolist()] == names
    assert label(-3600.0 * 24 * 365.25 * 100, "year") == "1869"
    assert begin_of(np.array([-1.0]), "year", 0.0)[0] == pytest.approx(-YEAR, abs=DAY)


def test_wrong_options_and_votes_are_named() -> None:
    votes = sc.Profile.from_rankings([["a", "b"]])
    with pytest.raises(sc.DataError, match="votes have no times"):
        sc.history(votes)
    with pytest.raises(sc.DataError, match="none compares two agents"):
        sc.history(dated(sc.Profile.from_rankings([["a"]]), [0]))
    for options, message in (
        ({"period": "fortnight"}, "period must be"), ({"drift": -1}, "drift must be"), ({"deviation": 0}, "deviation"),
        ({"level": 2}, "level must be"), ({"drift": "much"}, "drift must be"),
    ):  # fmt: skip
        with pytest.raises(sc.OptionError, match=message):
            sc.history(dated(votes, [0]), **options)
    with pytest.raises(KeyError, match="no agent 'c'"):
        sc.history(dated(votes, [0])).of("c")


def test_the_command_prints_tables_rows_json_and_a_picture(tmp_path: Path) -> None:
    file, picture = tmp_path / "battles.csv", tmp_path / "history.svg"
    lines = [f"x,y,{'xy'[k % 3 == 0]},202{k % 4}-01-{k + 10}" for k in range(12)]
    file.write_text("\n".join(["model_a,model_b,winner,date", *lines, "<b>z</b>,x,x,2023-05-01"]))
    words = ["history", str(file), "--period", "year", "--drift", "0.3"]
    run = CliRunner().invoke(main, [*words, "--plot", str(picture)])
    assert run.exit_code == 0, run.stderr
    assert run.stdout.splitlines()[0].split() == ["rank", "agent", "2020", "2021", "2022", "2023", "+-", "last"]
    assert "3 agents in 4 periods (year) from 2020 to 2023: 9 ratings" in run.stderr
    assert "<svg" in picture.read_text() and "<b>z" not in picture.read_text()
    rows = CliRunner().invoke(main, [*words, "--format", "csv"]).stdout.splitlines()
    assert rows[0] == "agent,period,rating,rating_low,rating_high,votes" and len(rows) == 10
    data = json.loads(CliRunner().invoke(main, [*words, "--format", "json", "--top", "2"]).stdout)
    assert data["periods"] == ["2020", "2021", "2022", "2023"] and len(data["agents"]) == 2
    assert {row["agent"] for row in data["ratings"]} == {row["agent"] for row in data["agents"]}
    run = CliRunner().invoke(main, [*words[:2], "--drift", "much"])
    assert run.exit_code == 2 and "drift must be" in run.stderr


def test_plackett_luce_on_battles_is_bradley_terry() -> None:
    profile, _ = games(walks(np.random.default_rng(0), 4, 5, 0.4), 300, 0)
    given: Any = {"period": "year", "drift": 0.4, "deviation": 1.0}
    one, other = (sc.history(profile, model=model, **given) for model in ("bradley_terry", "plackett_luce"))
    assert other.fitted.values == pytest.approx(one.fitted.values, abs=1e-6)
    # Both variances rest on 24 draws, in part.
    assert other.fitted.variance == pytest.approx(one.fitted.variance, rel=0.3)
    assert other.model == "plackett_luce" and json.loads(other.to_json())["model"] == "plackett_luce"


def test_rankings_as_they_are_have_planted_ratings_inside_their_intervals() -> None:
    inside = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        truth = walks(rng, 5, 15, 0.4)
        period = np.repeat(np.arange(5), 60)
        who = np.stack([rng.choice(15, 6, replace=False) for _ in period])
        order = np.argsort(-(truth[period[:, None], who] + rng.gumbel(size=who.shape)), axis=1)
        names, n = [f"a{k}" for k in range(15)], len(period)
        entries = np.take_along_axis(who, order, 1).ravel()
        races = sc.Profile(names, 6 * np.arange(n + 1), entries, np.tile(np.arange(6), n), np.ones(n))
        found = sc.history(
            dated(races, (period + 0.5) * 365.25), period="year", drift=0.4, deviation=1.0, model="plackett_luce"
        )
        periods = found.fitted.periods
        planted = truth[periods.period, periods.agent]
        # Only differences have a meaning.
        apart = found.fitted.values - planted - (found.fitted.values - planted).mean()
        inside += (np.abs(apart) < 1.96 * np.sqrt(found.fitted.variance)).tolist()
    assert 0.91 < np.mean(inside) < 0.99


def test_a_model_that_there_is_not() -> None:
    with pytest.raises(sc.OptionError, match="model must be"):
        sc.history(dated(sc.Profile.from_rankings([["a", "b"]]), [0]), model="elo")  # type: ignore[arg-type]
