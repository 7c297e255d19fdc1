"""Online ratings: only the agents of a vote move, a restart loses nothing, and each model is what it is called."""

from __future__ import annotations

import inspect
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import profiles, votes as vote_strategy
from hypothesis import assume, given, strategies as st

import softcondorcet as sc
from softcondorcet.online.models import MODELS, YEAR

NAMES = ["a", "b", "c", "d", "e"]
# Every model, and what SCO is with the paper's step.
ALL: list[tuple[Any, dict[str, Any]]] = [
    *((name, {}) for name in MODELS), ("sco", {"lr": 2.0}), ("sco", {"lr": 2.0, "loss": "fenchel_young"}),
]  # fmt: skip
each_model = pytest.mark.parametrize(("model", "options"), ALL)


@each_model
@given(stream=st.lists(vote_strategy(NAMES), max_size=12), cut=st.integers(0, 12))
def test_a_restart_changes_nothing(model: Any, options: dict[str, Any], stream: list[Any], cut: int) -> None:
    through, before = (sc.Online(model, seed=4, **options) for _ in range(2))
    for k, vote in enumerate(stream):
        through.update(vote, when=k * 1e6)
    for k, vote in enumerate(stream[:cut]):
        before.update(vote, when=k * 1e6)
    after = sc.Online.restore(before.snapshot())
    for k, vote in enumerate(stream[cut:], cut):
        after.update(vote, when=k * 1e6)
    assert after.snapshot() == through.snapshot()


@each_model
@given(profile=profiles(max_votes=12))
def test_many_updates_at_once_are_the_same(model: Any, options: dict[str, Any], profile: sc.Profile) -> None:
    assume((profile.weight > 0).all())
    one, many = (sc.Online(model, profile.agents, seed=4, **options) for _ in range(2))
    for vote, weight in zip(profile.rankings(), profile.weight.tolist(), strict=True):
        one.update(vote, weight=weight)
    many.update_many(profile)
    assert many.snapshot() == one.snapshot()


def test_a_saved_file_is_read_again(tmp_path: Path) -> None:
    online = sc.Online("kalman")
    online.update("ann", "ben", "ann", when="2026-01-01")
    online.save(tmp_path / "online.json")
    assert sc.Online.load(tmp_path / "online.json").snapshot() == online.snapshot()


@each_model
def test_a_vote_moves_its_agents_only(model: Any, options: dict[str, Any]) -> None:
    online = sc.Online(model, NAMES, **options)
    first = online.ratings()["a"]
    for _ in range(20):
        online.update("b", "d", "b")
    board = online.ratings()
    assert board["b"] > first > board["d"]
    assert board["a"] == board["c"] == board["e"] == first
    assert board.votes is not None and board.votes.tolist() == [0, 20, 0, 20, 0]


@given(profiles(max_votes=20))
def test_elo_and_weng_lin_are_those_of_the_methods(profile: sc.Profile) -> None:
    cases: list[tuple[Any, Any, dict[str, Any]]] = [
        ("elo", sc.elo, {"k": 24.0}),
        ("weng_lin", sc.weng_lin, {"drift": 0.3}),
        ("weng_lin", sc.weng_lin, {"likelihood": "bradley_terry"}),
    ]
    for model, method, options in cases:
        online = sc.Online(model, profile.agents, **options)
        online.update_many(profile)
        named = {"model" if name == "likelihood" else name: value for name, value in options.items()}
        assert online.ratings().values_of(profile.agents).tolist() == method(profile, **named).values.tolist()


def test_the_defaults_are_those_of_the_methods() -> None:
    for model, method, other in (
        ("elo", sc.elo, {"start_rating": "start"}),
        ("weng_lin", sc.weng_lin, {"likelihood": "model"}),
    ):
        known = inspect.signature(method).parameters
        mine = inspect.signature(MODELS[model]).parameters
        for name, parameter in mine.items():
            assert parameter.default == known[other.get(name, name)].default, name


def glicko(rating: float, deviation: float, rival: float, rival_deviation: float, won: float) -> tuple[float, float]:
    """One game by the formulas of Glickman (1999), in Elo points, as his worked example has them."""
    q = math.log(10) / 400
    g = 1 / math.sqrt(1 + 3 * q**2 * rival_deviation**2 / math.pi**2)
    expected = 1 / (1 + 10 ** (-g * (rating - rival) / 400))
    precision = 1 / deviation**2 + q**2 * g**2 * expected * (1 - expected)
    return rating + q / precision * g * (won - expected), math.sqrt(1 / precision)


def test_the_filter_is_glicko_for_battles() -> None:
    """1500 (200) beats 1400 (30), as in the first game of the worked example, whose g is .9955 and E .639."""
    q = math.log(10) / 400
    assert 1 / math.sqrt(1 + 3 * (q * 30) ** 2 / math.pi**2) == pytest.approx(0.9955, abs=5e-5)
    online = sc.Online("kalman", ["me", "rival"], drift=0)
    data = json.loads(online.snapshot())
    data |= {"mean": [1500 * q, 1400 * q], "variance": [(200 * q) ** 2, (30 * q) ** 2]}
    online = sc.Online.restore(json.dumps(data))
    online.update("me", "rival", "me")
    deviations = online.deviations()
    assert deviations is not None
    mine, rivals = glicko(1500, 200, 1400, 30, 1), glicko(1400, 30, 1500, 200, 0)
    assert (online.ratings().values / q).tolist() == pytest.approx([mine[0], rivals[0]], abs=1e-9)
    assert (deviations / q).tolist() == pytest.approx([mine[1], rivals[1]], abs=1e-9)
    assert mine == pytest.approx((1563.5, 175.2), abs=0.1)  # by hand, from that g and E


def test_uncertainty_grows_with_absence_up_to_that_of_a_new_agent() -> None:
    online = sc.Online("kalman", deviation=1.0, drift=0.3)
    for _ in range(50):
        online.update("a", "b", "tie", when=0)
    fresh, year, old = (online.deviations(when=t * YEAR) for t in (0, 1, 1000))
    assert fresh is not None and year is not None and old is not None
    assert year[0] == pytest.approx(math.hypot(fresh[0], 0.3)) and old[0] == pytest.approx(1.0)
    before = online.ratings()["a"]
    later = sc.Online.restore(online.snapshot())
    online.update("a", "c", "c", when=1)
    later.update("a", "c", "c", when=4 * YEAR)
    assert later.ratings()["a"] < online.ratings()["a"] < before


def test_a_whole_weight_is_so_many_votes_in_a_row() -> None:
    for model, options in ALL[:1] + ALL[3:4]:
        heavy, often = (sc.Online(model, **options) for _ in range(2))
        for winner in ("a", "b"):
            heavy.update("a", "b", winner, weight=5)
            for _ in range(5):
                often.update("a", "b", winner)
        exact = {"sco": 0.35, "kalman": 1e-12}[model]  # the odds of SCO follow votes, not weights
        assert heavy.ratings().values.tolist() == pytest.approx(often.ratings().values.tolist(), abs=exact)


def test_2000_games_take_sco_from_the_middle_and_its_odds_are_right() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=20)
    live = sc.Live()
    for _ in range(2000):
        a, b = rng.choice(20, 2, replace=False).tolist()
        live.update(f"a{a}", f"a{b}", f"a{a if rng.random() < 1 / (1 + math.exp(truth[b] - truth[a])) else b}")
    board = live.ratings()
    values = board.values_of([f"a{k}" for k in range(20)])
    assert np.ptp(values) > 20
    assert np.corrcoef(values, truth)[0, 1] > 0.95
    errors = [
        live.predict(f"a{a}", f"a{b}") - 1 / (1 + math.exp(truth[b] - truth[a])) for a in range(20) for b in range(a)
    ]
    assert np.abs(errors).mean() < 0.07  # 190 games an agent leave a deviation of about .03 to .04 in a chance of 1/2
    assert board.probability("a0", "a1") == pytest.approx(live.predict("a0", "a1"), abs=0.02)


@pytest.mark.parametrize("model", ["elo", "weng_lin", "kalman"])
def test_chances_of_two_add_up_and_ties_pull_together(model: Any) -> None:
    online = sc.Online(model)
    for _ in range(5):
        online.update("a", "b", "a")
    ahead = online.predict("a", "b")
    assert ahead > 0.5 and ahead + online.predict("b", "a") == pytest.approx(1)
    online.update("a", "b", "Tie")
    assert 0.5 < online.predict("a", "b") < ahead


def test_one_vote_is_one_step_of_sgd_with_a_batch_of_one() -> None:
    profile = sc.Profile.from_rankings([["c", "a", "b"]])
    live = sc.Live(lr=0.5, temperature=2.0)
    for _ in range(7):
        live.update(["c", "a", "b"])
    batch = sc.sco(profile, solver="sgd", batch=1, lr=0.5, temperature=2.0, steps=7, scale="box")
    assert [live.ratings()[n] for n in "abc"] == pytest.approx([batch[n] for n in "abc"], abs=1e-12)


def test_new_agents_appear_at_the_middle_however_many() -> None:
    live = sc.Live(bounds=(-1.0, 3.0), lr=0.01)
    for k in range(100):
        live.update([f"n{k}", f"n{k + 1}"])
    board = live.ratings()
    assert len(board) == 101
    assert np.abs(board.values - 1.0).max() < 0.1


@pytest.mark.parametrize("lr", [1e6, "auto"])
def test_ratings_stay_in_the_box(lr: Any) -> None:
    live = sc.Live(lr=lr, deviation=1e3)
    for _ in range(3):
        live.update(["a", "b"])
    assert live.ratings()["a"] == 100.0 and live.ratings()["b"] == 0.0


def test_a_vote_that_cannot_be_used_changes_nothing() -> None:
    live = sc.Live(["a"])
    live.update(["a", "b"])
    kept = live.snapshot()
    for vote, message in (
        (["ab"], "expected a list of agents"), ([[]], "at least one agent"), ([["x", "x"]], "'x' appears twice"),
        ([["new", 3]], "expected agent names"), ([None], "expected a list"), (["a", "b", "c"], "winner is 'c'"),
        (["a", "b", None], "winner is None"),
    ):  # fmt: skip
        with pytest.raises(sc.DataError, match=message):
            live.update(*vote)
    for wrong, message in (({"weight": 0}, "weight must be"), ({"when": "soon"}, "when must be an ISO 8601")):
        with pytest.raises(sc.OptionError, match=message):
            live.update(["a", "new"], **wrong)
    with pytest.raises(sc.OptionError, match="two agents and the winner, got 2"):
        live.update("a", "b")  # type: ignore[call-overload]
    with pytest.raises(sc.OptionError, match="table of battles or a list of rankings, got str"):
        live.update_many("a")
    assert live.snapshot() == kept


def test_ratings_that_would_overflow_stay_as_they_are() -> None:
    online = sc.Online("elo", k=1e300)
    online.update("a", "b", "a")
    kept = online.snapshot()
    with pytest.raises(sc.DataError, match=r"weight: up to 1e\+300, so that ratings overflow"):
        online.update(["a", "new", "b"], weight=1e300)
    assert online.snapshot() == kept


def test_who_is_not_known_has_no_chance() -> None:
    online = sc.Online("kalman", ["anna"])
    with pytest.raises(KeyError, match=r"no agent 'ana' among 1 agents of earlier votes; did you mean 'anna'"):
        online.predict("anna", "ana")
    with pytest.raises(sc.OptionError, match="lr must be 'auto' for odds"):
        sc.Live(["a", "b"], lr=0.1).predict("a", "b")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 1}', "null", '{"format": 2, "options": {"lr": 1}}'])
def test_a_broken_snapshot_is_an_error(text: str) -> None:
    with pytest.raises(sc.DataError, match="snapshot"):
        sc.Online.restore(text)


def test_a_snapshot_with_wrong_numbers_is_an_error() -> None:
    data = json.loads(sc.Live(["a", "b"]).snapshot())
    for change in (
        {"mean": [50.0]}, {"mean": [0.0, 11.0]}, {"mean": [0.0, None]}, {"votes": [0, -1]}, {"noise": [-1]},
        {"agents": ["a", "a"]}, {"agents": ["a", 3]}, {"model": "other"}, {"variance": [-1, 0]}, {"odds": [1]},
        {"odds": [0, 0]}, {"odds": [1, None]},
    ):  # fmt: skip
        with pytest.raises(sc.DataError, match=r"snapshot|agents"):
            sc.Online.restore(json.dumps({**data, **change}))


def test_options_are_checked() -> None:
    for model, options, message in (
        ("sco", {"lr": 0}, "lr must be"), ("sco", {"loss": "log"}, "loss must be"), ("elo", {"base": 1}, "above 1"),
        ("sco", {"loss": "fenchel_young"}, "lr must be a number with"), ("kalman", {"overlap": 2}, "from 0 to 1"),
        ("weng_lin", {"model": "x"}, "multiple values"), ("kalman", {"drfit": 1}, "did you mean 'drift'"),
        ("glicko", {}, "model must be"), ("weng_lin", {"kappa": 2}, "at most 1"), ("weng_lin", {"drift": -1}, "drift"),
    ):  # fmt: skip
        with pytest.raises((sc.OptionError, TypeError), match=message):
            sc.Online(model, **options)  # type: ignore[arg-type]
