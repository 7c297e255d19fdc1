"""Other ranges: of all agents at once, on a new task, and chances to be Condorcet winner, in the Smith set, on top."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from helpers.games import battles, games
from hypothesis import given, settings, strategies as st

import softcondorcet as sc
from softcondorcet import Profile
from softcondorcet.cli import main
from softcondorcet.seeds import stream
from softcondorcet.uncertainty.resampling import resampling


@settings(max_examples=4)
@given(st.integers(0, 2**20))
def test_ranges_of_all_at_once_are_never_narrower(seed: int) -> None:
    votes = games(battles(seed, [0.5 * k for k in range(6)], 240))
    one, joint = (sc.bootstrap(votes, n=60, simultaneous=both) for both in (False, True))
    assert (joint.rank_low <= one.rank_low).all() and (one.rank_high <= joint.rank_high).all()
    assert (joint.rank_low <= joint.board.places).all() and (joint.board.places <= joint.rank_high).all()
    assert joint.to_dict()["ranges"] == "all" and "all at once" in joint.summary()[0]


def test_ranges_of_all_at_once_hold_all_ranks() -> None:
    """Of 20 tournaments at 80 %, at most six may miss a rank; ranges of each agent alone miss one in more of them."""
    held = {False: 0, True: 0}
    for seed in range(20):
        skill = 0.6 * np.random.default_rng(seed).standard_normal(10)
        votes = games(battles(seed, skill.tolist(), 600))
        true = 1 + (skill[:, None] < skill).sum(axis=1)
        for joint in held:
            found = sc.bootstrap(votes, "bradley_terry", n=40, level=0.8, simultaneous=joint)
            place = np.array([int(name[1:]) for name in found.agents])
            held[joint] += int(((found.rank_low <= true[place]) & (true[place] <= found.rank_high)).all())
    assert held[True] >= 14 > held[False]


@settings(max_examples=6)
@given(st.integers(0, 2**20))
def test_majority_chances_are_a_plain_count_of_resamples(seed: int) -> None:
    votes = games(battles(seed, [0.0, 0.2, 0.4], 30))
    found = sc.bootstrap(votes, n=20, top_k=2, seed=seed)
    winners, smith = [], []
    drawn = resampling(votes, "votes", True, False)
    for rng in stream(seed, "resamples").spawn(20):
        sample = drawn.draw(rng)
        winners.append(sc.condorcet_winner(sample))
        smith.append(sc.smith_set(sample))
    pairs = votes.pairs()
    for row in found.rows():
        k = votes.agents.index(row["agent"])
        fewest = min(pairs.met(np.array([k]), np.array([j]))[0] for j in range(3) if j != k)
        share = np.mean([name == row["agent"] for name in winners])
        assert row["condorcet_chance"] == pytest.approx((fewest * share + 1 / 3) / (fewest + 1))
        share = np.mean([row["agent"] in names for names in smith])
        assert row["smith_chance"] == pytest.approx((fewest * share + 1) / (fewest + 1))
    assert sum(row["condorcet_chance"] for row in found.rows()) <= 1 + 1e-9


def test_few_votes_make_nobody_certain() -> None:
    first, last = sc.bootstrap(games([["a", "b"]] * 2), n=20, top_k=1).rows()
    assert (first["agent"], first["condorcet_chance"], last["condorcet_chance"]) == ("a", pytest.approx(5 / 6), 1 / 6)
    assert last["smith_chance"] == pytest.approx(1 / 3) and first["top_chance"] < 0.9
    many = sc.bootstrap(games([["a", "b"]] * 200), n=20, top_k=1).rows()
    assert many[0]["condorcet_chance"] > 0.99 and many[1]["smith_chance"] < 0.01


def test_agents_apart_have_no_chances() -> None:
    rows = {row["agent"]: row for row in sc.bootstrap(sc.synthetic.demo(), n=20, top_k=3).rows()}
    assert [rows["newcomer-1"][name] for name in ("top_chance", "condorcet_chance", "smith_error")] == [None] * 3
    assert rows["cedar"]["top_chance"] > 0.9 > 0.1 > rows["kelp"]["smith_chance"]
    assert "top_chance" not in sc.bootstrap(sc.synthetic.demo(), n=20).rows()[0]


def tasks(seed: int, spread: float, count: int) -> Profile:
    """Five agents on some tasks, whose skills vary from task to task."""
    rng = np.random.default_rng(seed)
    score = np.arange(5)[::-1] + spread * rng.standard_normal((count, 5))
    agent, task = np.tile([f"a{k}" for k in range(5)], count), np.repeat(np.arange(count), 5)
    return Profile.from_scores({"agent": agent.tolist(), "task": task.tolist(), "score": score.ravel().tolist()})


def test_ranges_on_a_new_task_hold_its_ranks() -> None:
    """50 tasks, and one more that nobody saw; the range of the order over all tasks is far too narrow for that."""
    held, order = [], []
    for seed in range(12):
        both = tasks(seed, 1.5, 51)
        known, new = both.take(np.arange(50)), both.take(np.array([50]))
        found, over_all = sc.new_group(known, "borda"), sc.bootstrap(known, "borda", n=40)
        true = sc.borda(new).ranks
        held += ((found.rank_low <= true) & (true <= found.rank_high)).tolist()
        order += ((over_all.rank_low <= true) & (true <= over_all.rank_high)).tolist()
    assert np.mean(held) > 0.9 > 0.7 > np.mean(order)


def test_tasks_that_agree_leave_one_rank_and_few_tasks_none() -> None:
    found = sc.new_group(tasks(1, 0.01, 40), "borda")
    assert found.rank_low.tolist() == found.rank_high.tolist() == [1, 2, 3, 4, 5]
    assert found.warnings == () and found.to_dict()["ranges"] == "new"
    few = sc.new_group(tasks(1, 0.01, 4))
    assert (set(few.rank_low.tolist()), set(few.rank_high.tolist())) == ({1}, {5})
    assert "five groups or fewer" in few.warnings[0] and "in 60 %, not 95 %" in few.warnings[1]


def test_groups_are_rated_alone_and_at_most_n_of_them() -> None:
    votes = sc.synthetic.demo()
    found = sc.new_group(votes, "bradley_terry", n=3, seed=4)
    assert len(found) == 3
    alone = [sc.bradley_terry(votes.take(np.flatnonzero(votes.group == k))).values for k in range(8)]
    compared = ~found.absent
    for sample, known in zip(found.samples, compared, strict=True):
        assert any(np.array_equal(sample[known], values[known]) for values in alone)


@pytest.mark.parametrize(
    ("votes", "given_", "message"),
    [
        (games([["a", "b"]] * 3), {}, "votes with groups"),
        (games([["a", "b"]] * 3).pairs(), {}, "pairs know no groups"),
        (tasks(1, 1.0, 1), {}, "expected at least 2 that can be rated alone"),
        (tasks(1, 1.0, 9), {"n": 0}, "n must be"),
        (tasks(1, 1.0, 9), {"method": "elo9"}, "method must be"),
    ],
)
def test_what_has_no_new_group_is_refused(votes: Any, given_: dict[str, Any], message: str) -> None:
    with pytest.raises((sc.OptionError, sc.DataError), match=message):
        sc.new_group(votes, **given_)


def test_on_the_command_line(tmp_path: Any) -> None:
    path = str(tmp_path / "votes.csv")
    sc.write(sc.synthetic.demo(), path)
    run = CliRunner().invoke
    words = ["bootstrap", path, "--resamples", "20", "--format", "json"]
    rows = json.loads(run(main, [*words, "--top-k", "2", "--simultaneous"]).stdout)
    assert rows == json.loads(sc.bootstrap(sc.read(path), n=20, top_k=2, simultaneous=True).to_json())
    assert rows["top_k"] == 2
    new = run(main, [*words, "--by", "new-group"])
    assert json.loads(new.stdout)["ranges"] == "new", new.stderr
    refused = run(main, [*words, "--by", "new-group", "--simultaneous"])
    assert refused.exit_code == 2 and "--simultaneous must be left out with --by new-group" in refused.stderr
