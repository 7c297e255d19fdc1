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
        (sc.Profile.from_rankings([["a", "b", "c"]]), "1 vote of more than two agents; expected battles, or a column"),
        (sc.Profile.from_rankings([["a"]]), "no vote compares two agents"),
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


LANES = np.array([0.7, 0.3, 0.0, -0.3, -0.7])


def races(n: int, m: int, seed: int, lanes: Any = LANES, load: float = 0.0) -> dict[str, Any]:
    """Rows of races by Plackett-Luce, where inner lanes and light loads help."""
    rng, k = np.random.default_rng(seed), len(lanes)
    strength = rng.normal(0, 0.7, m)
    rows: dict[str, Any] = {name: [] for name in ("race", "place", "horse", "lane", "load")}
    for race in range(n):
        who, lane, carried = rng.choice(m, k, replace=False), rng.permutation(k), rng.uniform(50, 60, k)
        order = np.argsort(-(strength[who] + lanes[lane] - load * (carried - 55) / 55 + rng.gumbel(size=k)))
        rows["race"] += [race] * k
        rows["place"] += range(1, k + 1)
        rows["horse"] += [f"h{a}" for a in who[order]]
        rows["lane"] += (lane[order] + 1).tolist()
        rows["load"] += carried[order].tolist()
    return rows


def test_lanes_of_races_have_an_effect_each() -> None:
    profile = sc.read(races(200, 12, 0, load=5.0))
    found = sc.controlled(profile, "lane,load", "bradley_terry")
    assert [one.name for one in found.effects] == [*(f"lane={k}" for k in range(1, 6)), "load"]
    for level, truth in zip(range(1, 6), LANES, strict=True):
        one = found[f"lane={level}"]
        assert one.low - 0.1 < truth < one.high + 0.1
    assert found["load"].high < 0
    assert found.probability("h0", "h1", lane=("1", "5")) > found.probability("h0", "h1") > 0
    as_number = sc.controlled(profile, ["lane:number"], "bradley_terry").effects
    assert len(as_number) == 1 and as_number[0].high < 0


def test_planted_lanes_lie_inside_their_intervals() -> None:
    inside = np.zeros(len(LANES))
    for seed in range(60):
        found = sc.controlled(sc.read(races(100, 8, seed)), "lane", "bradley_terry").effects
        inside += [one.low <= truth <= one.high for one, truth in zip(found, LANES, strict=True)]
    # 285 of 300 expected; five lanes of one fit hang together.
    assert inside.sum() >= 270, inside


def as_votes(rankings: sc.Profile, cells: list[Any]) -> sc.Profile:
    return replace(rankings, entry_columns=as_columns({"lane": cells}))


@given(profiles(max_votes=12), st.integers(0, 10**6), st.booleans())
def test_a_constant_lane_is_the_plain_fit_and_names_of_lanes_do_not_matter(
    profile: sc.Profile, seed: int, names: bool
) -> None:
    profile = profile.take((profile.weight > 0) & (profile.length > 1))
    assume(profile.n_votes)
    size = len(profile.agent)
    same = sc.controlled(as_votes(profile, (["x"] if names else [3.0]) * size), "lane", "bradley_terry", prior=0.1)
    assert same.board.values == pytest.approx(sc.bradley_terry(profile.pairs(), prior=0.1).values, abs=1e-6)
    assert [one.effect for one in same.effects] == pytest.approx([0.0], abs=1e-9)
    lanes = np.random.default_rng(seed).integers(1, 4, size)
    one = sc.controlled(as_votes(profile, lanes.tolist()), "lane:levels", "bradley_terry", prior=0.1)
    other = sc.controlled(as_votes(profile, [f"z{9 - lane}" for lane in lanes]), "lane", "bradley_terry", prior=0.1)
    assert one.board.values == pytest.approx(other.board.values, abs=1e-6)
    renamed = {f"lane={lane}": f"lane=z{9 - lane}" for lane in np.unique(lanes)}
    for effect in one.effects:
        assert effect.effect == pytest.approx(other[renamed[effect.name]].effect, abs=1e-6)


def test_lanes_stay_with_their_agents_when_votes_are_chosen_written_and_read(tmp_path: Path) -> None:
    rows = races(20, 7, 3) | {"day": ["2026-01-01"] * 100}
    shuffled = np.random.default_rng(0).permutation(100)
    mixed = {name: [cells[k] for k in shuffled] for name, cells in rows.items()}
    truth = dict(zip(zip(rows["race"], rows["horse"], strict=True), rows["lane"], strict=True))
    profile = sc.read(mixed)
    sc.write(profile, tmp_path / "races.csv")
    for votes in (
        profile,
        profile.take(np.arange(20) % 2 == 0),
        profile.where("agent!=h0"),
        sc.read(tmp_path / "races.csv"),
    ):
        lanes = votes.entry_columns["lane"].cells()
        assert len(lanes) == len(votes.agent)
        for v in range(votes.n_votes):
            entries = slice(votes.start[v], votes.start[v + 1])
            here = {votes.agents[a]: lane for a, lane in zip(votes.agent[entries], lanes[entries], strict=True)}
            assert any(all(truth.get((race, name)) == lane for name, lane in here.items()) for race in range(20))
    day = sc.controlled(profile, "day", "bradley_terry")
    assert not day.moved and day["day"].effect == 0 and day["day"].high > 10
    with pytest.raises(sc.DataError, match="lane: expected 100 entries"):
        replace(profile, entry_columns=as_columns({"lane": [1.0]}))


def test_conversations_of_an_arena_have_length_and_markdown(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = []
    for _ in range(300):
        a, b = rng.choice(4, 2, replace=False)
        tokens, bold = rng.integers(50, 500, 2), rng.integers(0, 9, (2, 2))
        won = rng.random() < 1 / (1 + np.exp(-2 * (tokens[0] - tokens[1]) / tokens.sum()))
        about = {
            "sum_assistant_a_tokens": int(tokens[0]), "sum_assistant_b_tokens": int(tokens[1]),
            "bold_count_a": {"**": int(bold[0, 0]), "__": int(bold[0, 1])},
            "bold_count_b": {"**": int(bold[1, 0]), "__": int(bold[1, 1])}, "list_count_a": {}, "list_count_b": None,
        }  # fmt: skip
        rows.append(
            {"model_a": f"m{a}", "model_b": f"m{b}", "winner": "model_a" if won else "model_b", "conv_metadata": about}
        )
    file, text = tmp_path / "arena.jsonl", tmp_path / "arena.csv"
    file.write_text("\n".join(map(json.dumps, rows)))
    cells = (f'{row["model_a"]},{row["model_b"]},{row["winner"]},"{row["conv_metadata"]}"' for row in rows)
    text.write_text("\n".join(["model_a,model_b,winner,conv_metadata", *cells]))
    found = sc.controlled(sc.read(file), "length,markdown", "bradley_terry")
    assert [one.name for one in found.effects] == ["length", "bold_count"]
    assert found["length"].low > 0.3
    assert sc.controlled(sc.read(text), "length,markdown", "bradley_terry")["length"].effect == found["length"].effect
    file.write_text(json.dumps({**rows[0], "conv_metadata": 7}))
    with pytest.raises(sc.DataError, match=r"arena.jsonl:1: conv_metadata is 7; expected an object"):
        sc.read(file)


def test_a_column_of_yes_and_no_is_one_effect_and_too_many_names_are_none() -> None:
    rows = races(60, 6, 1)
    started = {**rows, "start": ["yes" if lane > 2 else "no" for lane in rows["lane"]]}
    found = sc.controlled(sc.read(started), "start", "bradley_terry")
    assert [one.name for one in found.effects] == ["start"] and found["start"].high < 0
    named = {**rows, "jockey": [f"j{k}" for k in range(300)], "load": [-1.0, *rows["load"][1:]]}
    for wrong, message in (("jockey:number", "300 names; expected numbers"), ("load", "'load': expected numbers that"),
                           ("nothing", "'nothing': 60 votes of more than two agents.*'lane'")):  # fmt: skip
        with pytest.raises(sc.DataError, match=message):
            sc.controlled(sc.read(named), wrong)
