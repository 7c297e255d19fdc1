"""Battles shown in both orders are one vote, or half a vote each."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.reading import votes_of
from hypothesis import given, strategies as st

import softcondorcet as sc

ROWS = {
    "question_id": [1, 1, 2, 2, 3, 3, 4, 5, 5],
    "model_a": ["x", "y", "x", "y", "x", "y", "x", "x", "x"],
    "model_b": ["y", "x", "y", "x", "y", "x", "y", "y", "y"],
    # agree on x; disagree; a win and a tie; alone; twice the same way round
    "winner": ["model_a", "model_b", "model_a", "model_a", "tie", "model_a", "model_b", "model_a", "model_b"],
}


def test_agreement_is_a_win_and_disagreement_a_tie() -> None:
    found = sc.read(ROWS, both_orders="tie")
    assert votes_of(found)[""] == sorted(["1 x > y", "1 x = y", "1 x = y", "1 y > x", "1 x > y", "1 y > x"])
    assert found.turned is None


def test_or_each_is_half_a_vote() -> None:
    found = sc.read(ROWS, both_orders="half")
    assert found.weight.tolist() == [0.5] * 6 + [1.0] * 3
    assert found.pairs().total == 6


@given(
    st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.sampled_from(["model_a", "model_b", "tie"])), min_size=1)
)
def test_no_vote_is_lost(rows: list[tuple[int, bool, str]]) -> None:
    table = {
        "question_id": [question for question, *_ in rows],
        "model_a": ["y" if swapped else "x" for _, swapped, _ in rows],
        "model_b": ["x" if swapped else "y" for _, swapped, _ in rows],
        "winner": [winner for *_, winner in rows],
    }
    ways: dict[int, list[bool]] = {}
    for question, swapped, _ in rows:
        ways.setdefault(question, []).append(swapped)
    couples = sum(sorted(shown) == [False, True] for shown in ways.values())
    one, halves = (sc.read(table, both_orders=how) for how in ("tie", "half"))
    assert one.n_votes == len(rows) - couples
    assert np.isclose(halves.weight.sum(), len(rows) - couples)
    assert np.isclose(one.weight.sum(), halves.weight.sum())


def test_what_cannot_be_joined_is_told() -> None:
    plain = {name: cells for name, cells in ROWS.items() if name != "question_id"}
    with pytest.raises(sc.DataError, match="no column says which battles are of one question"):
        sc.read(plain, both_orders="tie")
    with pytest.raises(sc.OptionError, match="both_orders must be left out: votes does not say who was shown first"):
        sc.read({"ranking": ["x > y > z"]}, both_orders="tie")
    with pytest.raises(sc.OptionError, match="both_orders must be 'tie' or 'half'"):
        sc.read(ROWS, both_orders="ties")
