"""Chances against what came out: bins, errors, words, the figure and the panel of the report."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import profiles
from helpers.games import battles, games
from hypothesis import given, settings, strategies as st

import softcondorcet as sc
from softcondorcet.cli import main
from softcondorcet.evaluation.calibration import wilson
from softcondorcet.evaluation.holdout import folds


def arena(seed: int = 1, votes: int = 600) -> sc.Profile:
    return sc.synthetic.plackett_luce(votes, agents=6, size=2, seed=seed)[0]


@settings(max_examples=8)
@given(st.integers(0, 2**20))
def test_bins_are_those_of_a_plain_count(seed: int) -> None:
    votes = games(battles(seed, [0.0, 0.4, 0.8, 1.2], 60))
    found = sc.calibration(votes, ["bradley_terry"], folds=2, bins=4)["bradley_terry"]
    said: dict[int, list[tuple[float, float]]] = defaultdict(list)
    loss = []
    for train, test in folds(votes, 2, seed=0):
        board = sc.bradley_terry(train)
        for winner, loser in test.agent.reshape(-1, 2).tolist():
            chance = board.probability(test.agents[winner], test.agents[loser])
            loss.append(-math.log(chance))
            won = 0.5 if math.isclose(chance, 0.5) else float(chance > 0.5)
            stated = max(chance, 1 - chance)
            said[min(int((stated - 0.5) * 8), 3)].append((stated, won))
    assert [round((one.start - 0.5) * 8) for one in found.bins] == sorted(said)
    for one in found.bins:
        stated, won = np.array(said[round((one.start - 0.5) * 8)]).T
        assert (one.comparisons, one.chance, one.came_out) == pytest.approx((len(won), stated.mean(), won.mean()))
    off = sum(len(x) * abs(np.mean([a - b for a, b in x])) for x in said.values())
    assert found.error == pytest.approx(off / len(loss))
    assert found.log_loss == pytest.approx(np.mean(loss))


def test_right_chances_are_called_right_and_sure_ones_too_sure() -> None:
    """A model that is true has the error of chance; one without shrinkage on few votes says too much."""
    right = sc.calibration(arena(votes=4000), ["bradley_terry"])["bradley_terry"]
    assert right.error < 2.5 * right.by_chance and right.lean() == ""
    few = games(battles(5, [0.05 * k for k in range(12)], 160))
    sure = sc.calibration(few, {"bold": ("bradley_terry", {"prior": 1e-4})}, folds=4)["bold"]
    assert sure.bias > 0.05 and sure.error > 2 * sure.by_chance and "; too sure by" in sure.words()


@settings(max_examples=6)
@given(profiles(max_agents=4, max_votes=10))
def test_names_change_nothing(profile: sc.Profile) -> None:
    """Level agents are nobody's favourite, so the curve cannot depend on who is listed first."""
    if profile.counts.sum() < 4 or not (profile.length > 1).any():
        return
    turned = replace(profile, agents=profile.agents[::-1])
    try:
        one, other = (sc.calibration(votes, ["borda"], folds=2)["borda"] for votes in (profile, turned))
    except sc.DataError:
        return
    assert one.error == pytest.approx(other.error, abs=1e-6)
    assert one.bias == pytest.approx(other.bias, abs=1e-6)


def test_long_votes_count_less_and_unlinked_pairs_not_at_all() -> None:
    whole = sc.synthetic.plackett_luce(30, agents=10, seed=2)[0]
    compared = sum(one.comparisons for one in sc.calibration(whole, ["borda"], folds=3)["borda"].bins)
    assert compared == pytest.approx(30 * 45 * 4 * (1 - sum(1 / k for k in range(1, 11)) / 10) / 9)
    apart = games([*battles(3, [0.0, 1.0], 40), *battles(3, [0.0, 1.0], 40, "b"), ["a0", "b0"]])
    found = sc.calibration(apart, ["bradley_terry"], folds=2)
    assert found.unknown == 1 and "1 comparison without a chance" in " ".join(found.summary())


@pytest.mark.parametrize(
    ("share", "count", "low", "high"), [(0.5, 10, 0.2366, 0.7634), (0, 10, 0, 0.2775), (1, 1, 0.2065, 1)]
)
def test_intervals_are_those_of_wilson(share: float, count: float, low: float, high: float) -> None:
    """Two of them from the textbook tables: 5 of 10, 0 of 10."""
    assert wilson(share, count) == pytest.approx((low, high), abs=1e-4)


@pytest.mark.parametrize(
    ("given_", "message"),
    [({"folds": 1}, "folds must be from 2"), ({"bins": 0}, "bins must be"), ({"by": "when"}, "by must be")],
)
def test_what_cannot_be_checked_is_refused(given_: dict[str, Any], message: str) -> None:
    with pytest.raises(sc.OptionError, match=message):
        sc.calibration(arena(votes=10), **given_)
    with pytest.raises(sc.DataError, match="held-out votes"):
        sc.calibration(games([["a", "b"], ["c", "d"]]), folds=2)


def test_the_command_and_json_say_the_same(tmp_path: Any) -> None:
    path = tmp_path / "arena.csv"
    sc.write(arena(), path)
    done = CliRunner().invoke(main, ["calibration", str(path), "--folds", "3", "--format", "json"])
    assert json.loads(done.stdout) == json.loads(sc.calibration(sc.read(path), folds=3).to_json())
    done = CliRunner().invoke(main, ["calibration", str(path), "--by", "time", "--methods", "borda"])
    assert done.exit_code == 0 and "each predicted from all before it" in done.stderr


def test_the_report_says_how_far_to_trust_the_chances() -> None:
    html = sc.report(arena(), resamples=0)
    found = sc.calibration(arena())
    assert 'id="trust"' in html and found["sco"].words() in html
    assert html.count("came out") >= 2 * len(found["sco"].bins)
    assert "too few to hold some out" in sc.report(sc.Profile.from_rankings([["a", "b"]]), resamples=0)
