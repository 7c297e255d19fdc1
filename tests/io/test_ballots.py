"""Truncated ballots: with unlisted="last", agents that a ballot leaves out stand below those that it lists."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import profiles
from hypothesis import given

import softcondorcet as sc
from softcondorcet.cli import main
from softcondorcet.io.ballots import with_unlisted_last

BALLOTS = "ranking,district\na > b,north\na = c,north\nd,south\n"


def test_agents_that_a_ballot_leaves_out_stand_last(tmp_path: Path) -> None:
    (tmp_path / "ballots.csv").write_text(BALLOTS)
    path = str(tmp_path / "ballots.csv")
    votes = sc.read(path, unlisted="last")
    assert [[sorted(tier) for tier in vote] for vote in votes.rankings()] == [
        [["a"], ["b"], ["c", "d"]],
        [["a", "c"], ["b", "d"]],
        [["d"], ["a", "b", "c"]],
    ]
    assert votes.kind == "election"
    assert votes.source is not None
    assert "3 of 3 votes leave agents out, who stand last there" in votes.source.notes
    # Agents that only other votes list are there to be left out.
    assert sc.read(path, unlisted="last", where="district=north").agents == ("a", "b", "c", "d")
    done = CliRunner().invoke(main, ["rank", path, "--unlisted", "last", "--method", "borda"])
    assert done.stdout.splitlines()[1].split()[1] == "a"


@given(profiles())
def test_what_was_listed_stays_and_the_rest_is_one_tier_below(profile: sc.Profile) -> None:
    full = with_unlisted_last(profile)
    for before, after in zip(profile.rankings(), full.rankings(), strict=True):
        listed = {name for tier in before for name in tier}
        rest = set(profile.agents) - listed
        assert [set(tier) for tier in after] == [set(tier) for tier in before] + ([rest] if rest else [])


def test_scores_that_are_there_stay() -> None:
    table = {"agent": ["x", "y", "x"], "task": ["p", "p", "q"], "score": [1.0, 2.0, 3.0]}
    votes = sc.read(table, unlisted="last")
    assert votes.score is not None
    assert [score if score == score else None for score in votes.score.tolist()] == [2.0, 1.0, 3.0, None]
    assert list(sc.read(table).rankings())[1] == [["x"]]  # missing stays missing where nobody says otherwise


def test_battles_and_sizes_beyond_memory_are_refused() -> None:
    with pytest.raises(sc.OptionError, match="unlisted must be 'absent': votes holds battles"):
        sc.read({"a": ["x"], "b": ["y"], "winner": ["a"]}, unlisted="last")
    with pytest.raises(sc.OptionError, match="unlisted must be 'absent' or 'last', got 'first'"):
        sc.read({"a": ["x"], "b": ["y"], "winner": ["a"]}, unlisted="first")
    many = sc.Profile.from_rankings([[f"agent {k}"] for k in range(15_000)], kind="election")
    with pytest.raises(sc.DataError, match="15,000 votes over all 15,000 agents hold 225,000,000 entries; expected at"):
        with_unlisted_last(many)
