"""The online form: only the agents of a vote move, and a restart loses nothing."""

from __future__ import annotations

import json

import numpy as np
import pytest
from conftest import votes as vote_strategy
from hypothesis import given
from hypothesis import strategies as st

import softcondorcet as sc

NAMES = ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize("loss", ["sigmoid", "fenchel_young"])
@given(stream=st.lists(vote_strategy(NAMES), max_size=12), cut=st.integers(0, 12))
def test_a_restart_changes_nothing(loss: str, stream: list, cut: int) -> None:
    through, before = sc.Live(loss=loss, lr=2.0, seed=4), sc.Live(loss=loss, lr=2.0, seed=4)
    for vote in stream:
        through.update(vote)
    for vote in stream[:cut]:
        before.update(vote)
    after = sc.Live.restore(before.snapshot())
    for vote in stream[cut:]:
        after.update(vote)
    assert after.snapshot() == through.snapshot()


@pytest.mark.parametrize("loss", ["sigmoid", "fenchel_young"])
def test_a_vote_moves_its_agents_only(loss: str) -> None:
    live = sc.Live(NAMES, loss=loss, lr=1.0)
    for _ in range(5):
        live.update(["b", "d"])
    board = live.ratings()
    assert board["b"] > 50 > board["d"]
    assert board["a"] == board["c"] == board["e"] == 50.0
    assert board.votes is not None and board.votes.tolist() == [0, 5, 0, 5, 0]


def test_one_vote_is_one_step_of_sgd_with_a_batch_of_one() -> None:
    profile = sc.Profile.from_rankings([["c", "a", "b"]])
    live = sc.Live(lr=0.5, temperature=2.0)
    for _ in range(7):
        live.update(["c", "a", "b"])
    batch = sc.sco(profile, solver="sgd", batch=1, lr=0.5, temperature=2.0, steps=7)
    assert [live.ratings()[n] for n in "abc"] == pytest.approx([batch[n] for n in "abc"], abs=1e-12)


def test_new_agents_appear_at_the_middle_however_many() -> None:
    live = sc.Live(bounds=(-1.0, 3.0), lr=0.01)
    for k in range(100):
        live.update([f"n{k}", f"n{k + 1}"])
    board = live.ratings()
    assert len(board) == 101
    assert np.abs(board.values - 1.0).max() < 0.1


def test_ratings_stay_in_the_box() -> None:
    live = sc.Live(lr=1e6)
    for _ in range(3):
        live.update(["a", "b"])
    assert live.ratings()["a"] == 100.0 and live.ratings()["b"] == 0.0


def test_a_vote_that_cannot_be_used_changes_nothing() -> None:
    live = sc.Live(["a"])
    live.update(["a", "b"])
    kept = live.snapshot()
    for vote, message in (
        ("ab", "expected a list of agents"), ([], "at least one agent"), (["x", "x"], "'x' stands twice"),
        (["new", 3], "expected agent names"), (None, "expected a list"),
    ):  # fmt: skip
        with pytest.raises(sc.DataError, match=message):
            live.update(vote)  # type: ignore[arg-type]
    assert live.snapshot() == kept


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 2}', "null", '{"format": 1, "options": {"lr": 1}}'])
def test_a_broken_snapshot_is_an_error(text: str) -> None:
    with pytest.raises(sc.DataError, match="snapshot"):
        sc.Live.restore(text)


def test_a_snapshot_with_a_wrong_number_of_ratings_is_an_error() -> None:
    data = json.loads(sc.Live(["a", "b"]).snapshot())
    for change in (
        {"ratings": [50.0]}, {"ratings": [50.0, 101.0]}, {"ratings": [50.0, None]}, {"votes": [0, -1]}, {"state": [-1]},
        {"agents": ["a", "a"]}, {"agents": ["a", 3]},
    ):  # fmt: skip
        with pytest.raises(sc.DataError, match=r"snapshot|agents"):
            sc.Live.restore(json.dumps({**data, **change}))


def test_options_are_checked() -> None:
    with pytest.raises(sc.OptionError, match="lr must be"):
        sc.Live(lr=0)
    with pytest.raises(sc.OptionError, match="loss must be"):
        sc.Live(loss="log")  # type: ignore[arg-type]
