"""The chance that one agent comes out above another: chances, intervals, words, and fixtures from a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from conftest import profiles, tennessee
from helpers.games import battles, games
from hypothesis import given, settings, strategies as st

import softcondorcet as sc
from softcondorcet import Profile
from softcondorcet.cli import main
from softcondorcet.formatting import percent
from softcondorcet.uncertainty.predict import Chance


def one(votes: Profile, a: str, b: str, **options: Any) -> Chance:
    (found,) = sc.predict(votes, a, b, n=20, **options).chances
    return found


def ends(found: Chance) -> tuple[float, float, float]:
    assert found.chance is not None and found.chance_low is not None and found.chance_high is not None
    return found.chance_low, found.chance, found.chance_high


@settings(max_examples=12)
@given(profiles(max_agents=5), st.sampled_from(["sco", "bradley_terry", "kemeny", "borda"]))
def test_the_other_way_round_is_one_minus_the_chance(profile: Profile, method: str) -> None:
    a, b = profile.agents[:2]
    there, back = (one(profile, *names, method=method) for names in ((a, b), (b, a)))
    assert (there.met, there.verdict) == (back.met, back.verdict)
    if there.chance is None:
        assert back.chance is None and there.verdict == "never linked"
        return
    low, chance, high = ends(there)
    assert 0 <= low <= chance <= high <= 1
    np.testing.assert_allclose(ends(back), [1 - high, 1 - chance, 1 - low], atol=1e-9)


def test_the_chance_is_that_of_the_ratings() -> None:
    votes = sc.synthetic.demo()
    board = sc.sco(votes)
    for found in sc.predict(votes, "aster", n=20).chances:
        if found.chance is not None:
            assert found.chance == pytest.approx(board.probability("aster", found.b), abs=1e-12)
    odds = sc.odds(tennessee(), sc.kemeny(tennessee()))
    found = one(tennessee(), "Nashville", "Memphis", method="kemeny")
    assert found.chance == pytest.approx(odds.probability("Nashville", "Memphis"), abs=1e-12)


def test_more_of_the_same_votes_narrow_the_interval() -> None:
    votes = battles(4, [0.0, 0.3, 0.6, 0.9], 60)
    widths = []
    for times in (1, 4, 16):
        low, _, high = ends(one(games(votes * times), "a0", "a3"))
        widths.append(high - low)
    assert widths[0] > 1.5 * widths[1] > 2.2 * widths[2]


def test_thin_evidence_is_wide_and_none_is_unknown() -> None:
    votes = games([*battles(1, [0.0, 0.5, 1.0, 1.5], 400), ["new", "a0"], ["other", "another"]])
    (low, _, high), (near, _, far) = ends(one(votes, "new", "a1")), ends(one(votes, "a1", "a2"))
    assert high - low > 0.5 > 2 * (far - near)
    apart = one(votes, "a0", "other")
    assert (apart.chance, apart.chance_low, apart.chance_high, apart.verdict) == (None, None, None, "never linked")
    assert "unknown" in apart.words(0.95)
    alone = one(games([["x", "y"]]), "x", "y")
    assert alone.verdict == "not told apart" and ends(alone)[0] < 0.5
    assert one(Profile.from_rankings([], agents=["x", "y"]), "x", "y").chance is None


@settings(max_examples=6)
@given(st.integers(0, 2**20), st.integers(1, 40))
def test_votes_in_one_group_change_no_chance_in_another(seed: int, more: int) -> None:
    votes = [*battles(seed, [0.8 * k for k in range(9)], 150), *battles(seed + 1, [0.0, 1.0, 2.0], 30, "b")]
    added = [*votes, *battles(seed + 2, [0.0, 1.0, 2.0], more, "b")]
    before, after = (one(games(both), "a0", "a5") for both in (votes, added))
    np.testing.assert_allclose(ends(before), ends(after), rtol=0, atol=1e-6)  # Newton's last step


def test_a_higher_level_is_wider() -> None:
    votes = games(battles(2, [0.0, 0.5, 1.0], 90))
    (low, chance, high), (lower, same, higher) = (ends(one(votes, "a0", "a2", level=level)) for level in (0.8, 0.99))
    assert chance == same and lower < low < high < higher


def test_pairs_that_stray_from_a_line_have_wide_intervals() -> None:
    """Two agents of the same totals: as many votes, but in a cycle."""
    cycle = [["a", "b"]] * 90 + [["b", "a"]] * 10 + [["b", "c"]] * 90 + [["c", "b"]] * 10
    cycle += [["c", "a"]] * 90 + [["a", "c"]] * 10
    even = [[x, y] for x, y in ("ab", "ba", "bc", "cb", "ca", "ac") for _ in range(50)]
    (low, _, high), (near, _, far) = ends(one(games(cycle), "a", "b")), ends(one(games(even), "a", "b"))
    assert high - low > 0.6 > 2.5 * (far - near)


def test_groups_of_one_mind_make_intervals_wider() -> None:
    """Ten judges, each of whom casts the same vote 30 times: as much evidence as ten votes."""
    votes = games([["a", "b"]] * 180 + [["b", "a"]] * 120)
    judged = votes.with_groups(np.repeat(np.arange(10), 30), [f"judge {k}" for k in range(10)])
    (low, _, high), (near, _, far) = (ends(one(judged, "a", "b", by=by)) for by in ("groups", "votes"))
    assert high - low > 1.5 * (far - near)


def test_who_is_told_apart_is_decided_as_everywhere() -> None:
    votes = sc.synthetic.demo()
    found, predicted = sc.bootstrap(votes, n=60), sc.predict(votes, "dahlia", n=60)
    k = found.agents.index("dahlia")
    for chance in predicted.chances:
        sure = found.confidence(k, np.array([found.agents.index(chance.b)]))[0]
        told = max(sure, 1 - sure) >= found.sure
        assert chance.verdict == ("never linked" if np.isnan(sure) else "told apart" if told else "not told apart")


def test_one_agent_meets_all_and_several_each_other() -> None:
    votes = sc.synthetic.demo()
    assert [chance.b for chance in sc.predict(votes, "kelp", n=2).chances] == [a for a in votes.agents if a != "kelp"]
    several = sc.predict(votes, "kelp", "iris", "elm", n=40)
    assert [(chance.a, chance.b) for chance in several.chances] == [("kelp", "iris"), ("kelp", "elm"), ("iris", "elm")]
    assert several.summary()[0].startswith("3 of 3 pairs told apart")
    data = json.loads(several.to_json())
    assert list(data) == ["method", "level", "source", "warnings", "pairs"] and len(data["pairs"]) == 3


@pytest.mark.parametrize(
    ("agents", "pairs", "message"),
    [
        (("astr",), None, "no agent 'astr' among 13 agents; did you mean 'aster'"),
        (("aster", "aster"), None, "agents must be different agents"),
        ((), None, "agents must be one or more names"),
        (("aster",), [("aster", "elm")], "or pairs without them"),
        ((), [("aster", "nobody")], "no agent 'nobody' among 13 agents"),
        ((), [("elm", "elm")], "'elm' against itself"),
        ((), [("elm",)], "pairs must be pairs of names"),
        ((), {"when": ["elm"], "who": ["iris"], "whom": ["kelp"]}, "expected two, as model_a and model_b"),
    ],
)
def test_what_cannot_be_predicted_is_refused(agents: tuple[str, ...], pairs: Any, message: str) -> None:
    with pytest.raises((sc.OptionError, sc.DataError), match=message):
        sc.predict(sc.synthetic.demo(), *agents, pairs=pairs, n=2)


def run(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture(name="results")
def _results(tmp_path: Path) -> Path:
    path = tmp_path / "results.csv"
    path.write_text("model_a,model_b,winner\n" + "x,y,model_a\nz,x,model_b\ny,z,model_a\ny,x,model_a\n" * 8)
    return path


def test_the_command_says_it_in_words(results: Path) -> None:
    done = run("predict", results, "x", "z", "--resamples", 20)
    assert done.exit_code == 0, done.stderr
    (found,) = sc.predict(sc.read(results), "x", "z", n=20).chances
    low, chance, high = ends(found)
    words = f"x comes out above z in {percent(chance)} ({percent(low)} to {percent(high)} at 95 %)"
    assert done.stderr.splitlines()[0] == f"{words}; {found.verdict}; they met 8 times"
    assert json.loads(run("predict", results, "x", "z", "--resamples", 20, "--format", "json").stdout)["pairs"] == [
        vars(found)
    ]


def test_fixtures_come_from_a_file(results: Path, tmp_path: Path) -> None:
    fixtures = tmp_path / "fixtures.csv"
    fixtures.write_text("date,home,away\n2026-08-01,x,z\n2026-08-02,z,y\n")
    done = run("predict", results, "--pairs", fixtures, "--resamples", 20, "--format", "csv")
    assert [line.split(",")[:2] for line in done.stdout.splitlines()] == [["a", "b"], ["x", "z"], ["z", "y"]]
    fixtures.write_text("home,away\nx,z\nx,q\n")
    wrong = run("predict", results, "--pairs", fixtures)
    assert (wrong.exit_code, wrong.stdout) == (1, "")
    assert f"{fixtures}:3: no agent 'q' among 3 agents" in wrong.stderr
    fixtures.write_text("when,who,whom\n1,x,z\n")
    assert "expected two, as model_a and model_b" in run("predict", results, "--pairs", fixtures).stderr
    assert run("predict", results).exit_code == run("predict", results, "x", "--pairs", fixtures).exit_code == 2
