"""Ratings of the members of teams."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, strategies as st

import softcondorcet as sc
from softcondorcet.cli import main

NAMES = [f"p{k}" for k in range(6)]


def games(n: int, m: int, size: int, seed: int, unequal: bool = False) -> tuple[dict[str, Any], Any]:
    """Games between sides of agents of known strength, and the strengths."""
    rng = np.random.default_rng(seed)
    strength = rng.normal(0, 0.6, m)
    rows: dict[str, Any] = {"team_a": [], "team_b": [], "winner": []}
    for _ in range(n):
        a, b = rng.integers(1, size + 1, 2) if unequal else (size, size)
        who = rng.choice(m, a + b, replace=False)
        lead = strength[who[:a]].sum() - strength[who[a:]].sum()
        rows["team_a"].append([f"p{k}" for k in who[:a]])
        rows["team_b"].append([f"p{k}" for k in who[a:]])
        rows["winner"].append("team_a" if rng.random() < 1 / (1 + np.exp(-lead)) else "team_b")
    return rows, strength


@st.composite
def team_games(draw: st.DrawFn) -> list[tuple[list[str], list[str], str]]:
    found = []
    for _ in range(draw(st.integers(1, 12))):
        who = draw(st.permutations(NAMES))
        a, b = draw(st.integers(1, 3)), draw(st.integers(1, 3))
        found.append((who[:a], who[a : a + b], draw(st.sampled_from(["team_a", "team_b", "tie"]))))
    return found


def as_votes(rows: list[tuple[list[str], list[str], str]]) -> sc.Profile:
    a, b, winner = zip(*rows, strict=True)
    return sc.read({"team_a": [list(x) for x in a], "team_b": [list(x) for x in b], "winner": list(winner)})


@given(team_games(), st.sampled_from(["sum", "mean"]))
def test_the_slopes_of_the_likelihood_vanish(rows: list[tuple[list[str], list[str], str]], combine: Any) -> None:
    """Game by game, in plain Python."""
    found = sc.teams(as_votes(rows), combine=combine, prior=0.3)
    rating = dict(zip(found.board.agents, found.board.values.tolist(), strict=True))
    slope = {name: -0.3 * rating[name] for name in rating}
    for a, b, winner in rows:
        share = {"team_a": 1.0, "team_b": 0.0, "tie": 0.5}[winner]
        for side, sign in ((a, 1), (b, -1)):
            for name in side:
                worth = sign / (len(side) if combine == "mean" else 1)
                slope[name] += worth * (share - found.probability(a, b))
    assert list(slope.values()) == pytest.approx([0.0] * len(slope), abs=1e-6)
    assert (found.low <= found.board.values).all() and (found.board.values <= found.high).all()


@given(team_games(), st.randoms())
def test_order_of_games_and_inside_a_side_does_not_matter(rows: list[Any], random: Any) -> None:
    turned = [(random.sample(a, len(a)), random.sample(b, len(b)), winner) for a, b, winner in rows]
    random.shuffle(turned)
    one, other = sc.teams(as_votes(rows)), sc.teams(as_votes(turned))
    assert {name: other.board[name] for name in one.board.agents} == pytest.approx(
        dict(zip(one.board.agents, one.board.values.tolist(), strict=True)), abs=1e-6
    )


def test_teams_of_one_are_bradley_terry() -> None:
    rows, _ = games(80, 6, 1, 0)
    names = {side: [members[0] for members in rows[side]] for side in ("team_a", "team_b")}
    plain = sc.bradley_terry(sc.read({**rows, **names}), prior=0.2)
    found = sc.teams(sc.read(rows), prior=0.2)
    assert [found.board[name] for name in plain.agents] == pytest.approx(plain.values.tolist(), abs=1e-7)


@pytest.mark.parametrize("unequal", [False, True])
def test_planted_strengths_lie_inside_their_intervals(unequal: bool) -> None:
    inside = total = 0
    for seed in range(25):
        rows, strength = games(300, 12, 3, seed, unequal)
        found = sc.teams(sc.read(rows))
        truth = np.array([strength[int(name[1:])] for name in found.board.agents])
        truth = truth if unequal else truth - truth.mean()
        inside += int(((found.low <= truth) & (truth <= found.high)).sum())
        total += len(truth)
    # 285 of 300 expected; a binomial stays above 271 but once in 1,000, and agents of one data set hang together.
    assert inside >= 0.89 * total


def test_many_agents_have_intervals_from_draws_as_wide_as_exact_ones() -> None:
    rows, strength = games(6_000, 2_100, 2, 0)
    found = sc.teams(sc.read(rows), prior=3.0)
    truth = np.array([strength[int(name[1:])] for name in found.board.agents])
    inside = (found.low <= truth - truth.mean()) & (truth - truth.mean() <= found.high)
    assert 0.91 <= inside.mean() <= 0.98


def test_agents_that_always_play_together_are_named_and_are_not_told_apart() -> None:
    rows, _ = games(60, 6, 1, 1)
    pairs = {"p0": ["p0", "twin"]}
    both = {side: [pairs.get(members[0], members) for members in rows[side]] for side in ("team_a", "team_b")}
    found = sc.teams(sc.read({**rows, **both}))
    assert found.together == [("p0", "twin")] and set(found.unplaced) == {"p0", "twin"}
    assert found.board["p0"] == pytest.approx(found.board["twin"])
    assert any("p0, twin always play together" in line for line in found.summary())
    row = next(row for row in found.rows() if row["agent"] == "twin")
    assert row["facts"]["always_with"] == "p0"
    data = json.loads(found.to_json())["teams"]
    assert data["together"] == [["p0", "twin"]] and data["combine"] == "sum"


def test_one_game_is_no_certainty() -> None:
    found = sc.teams(sc.read({"team_a": [["a", "b"]], "team_b": [["c"]], "winner": ["team_a"]}))
    assert (found.low < 0).all() and (found.high > 0).all() and set(found.unplaced) == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([["x", "y"]], [["y", "z"]], "'y' plays on both"),
        ([["x", "x"]], [["z"]], "row 0: team_a is .*each once"),
        ([["x+y"]], [["z"]], "names without '\\+'"),
        ([[]], [["z"]], "row 0: team_a is .*one or more names"),
        ([[None]], [["z"]], "row 0: team_a is .*a list of names"),
        (["x+ "], ["z"], "side 'x\\+': expected names"),
        (["x+x"], ["z"], "'x' appears twice"),
    ],
)
def test_sides_that_are_none_are_named(a: Any, b: Any, message: str) -> None:
    with pytest.raises(sc.DataError, match=message):
        sc.teams(sc.read({"team_a": a, "team_b": b, "winner": ["team_a"]}))


def test_the_command_rates_members_of_lists_and_of_text(tmp_path: Path) -> None:
    rows, _ = games(40, 5, 2, 2)
    lists, text = tmp_path / "games.jsonl", tmp_path / "games.csv"
    lists.write_text(
        "\n".join(json.dumps(dict(zip(rows, row, strict=True))) for row in zip(*rows.values(), strict=True))
    )
    cells = (",".join(["+".join(a), "+".join(reversed(b)), w]) for a, b, w in zip(*rows.values(), strict=True))
    text.write_text("\n".join(["team_a,team_b,winner", *cells]))
    boards = []
    for words in ([str(lists)], [str(text), "--teams", "+"], [str(lists), "--teams", "+", "--method", "bradley_terry"]):
        run = CliRunner().invoke(main, ["rank", *words, "--format", "json"])
        assert run.exit_code == 0, run.stderr
        boards.append(json.loads(run.stdout))
    assert {row["agent"] for row in boards[0]["agents"]} == {f"p{k}" for k in range(5)}
    for other in boards[1:]:
        assert {r["agent"]: r["rating"] for r in other["agents"]} == pytest.approx(
            {r["agent"]: r["rating"] for r in boards[0]["agents"]}, abs=1e-6
        )
    sides = CliRunner().invoke(main, ["rank", str(lists), "--method", "sco", "--format", "json"])
    assert any("+" in row["agent"] for row in json.loads(sides.stdout)["agents"])
    for more, message in (
        (["--method", "elo"], "--method must be bradley_terry"), (["--control", "first"], "left out with"),
        (["--set", "k=3"], "--set must be among combine"), (["--fixed", "a=1"], "--fixed must be left out"),
    ):  # fmt: skip
        run = CliRunner().invoke(main, ["rank", str(text), "--teams", "+", *more])
        assert run.exit_code == 2 and message in run.stderr
