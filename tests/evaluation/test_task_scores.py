"""Scores by agent and task: what the table says, against the obvious way to say it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

import softcondorcet as sc
from softcondorcet.evaluation.task_scores import TaskScores, task_scores


def profile_of(rows: list[tuple[str, str, float]], **options: object) -> sc.Profile:
    agents, tasks, scores = zip(*rows, strict=True)
    table = {"agent": list(agents), "task": list(tasks), "score": list(scores)}
    return sc.Profile.from_scores(table, **options)  # type: ignore[arg-type]


def test_the_table_is_that_of_the_file() -> None:
    found = task_scores(
        profile_of([("a", "x", 1.0), ("b", "x", 4.0), ("a", "y", 3.0), ("b", "y", 2.0), ("c", "y", 3.0)])
    )
    assert found is not None
    assert (found.agents, found.tasks) == (("a", "b", "c"), ("x", "y"))
    assert np.array_equal(found.scores, np.array([[1.0, 3.0], [4.0, 2.0], [np.nan, 3.0]]), equal_nan=True)
    assert found.first(0) == [1] and found.first(1) == [0, 2]
    assert found.means is not None and found.means.tolist() == [2.0, 3.0, 3.0]


def test_lower_can_be_better() -> None:
    found = task_scores(profile_of([("a", "x", 1.0), ("b", "x", 4.0)], higher_is_better=False))
    assert found is not None and found.mean_order is not None
    assert found.first(0) == [0]
    assert found.mean_order[0] > found.mean_order[1]


def test_tasks_of_two_directions_have_no_mean() -> None:
    found = TaskScores(("a", "b"), ("x", "y"), np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([True, False]))
    assert found.means is None and found.mean_order is None


def test_votes_without_scores_are_no_table() -> None:
    assert task_scores(sc.Profile.from_rankings([["a", "b"]])) is None


def test_a_vote_of_a_score_table_is_a_task() -> None:
    assert profile_of([("a", "x", 1.0), ("b", "x", 4.0)]).noun == "task"
    assert sc.synthetic.demo().noun == "vote"


tables = arrays(float, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=st.integers(0, 4).map(float))


@given(tables, st.data())
def test_the_standing_is_the_share_of_others_below(scores: np.ndarray, data: st.DataObject) -> None:
    higher = np.array(data.draw(st.lists(st.booleans(), min_size=scores.shape[1], max_size=scores.shape[1])))
    names = tuple(map(str, range(len(scores))))
    found = TaskScores(names, tuple(map(str, range(scores.shape[1]))), scores, higher)
    for t in range(scores.shape[1]):
        column = scores[:, t] if higher[t] else -scores[:, t]
        for a, value in enumerate(column):
            others = np.delete(column, a)
            expected = ((others < value) + (others == value) / 2).mean() if len(others) else 0.0
            assert found.standing[a, t] == pytest.approx(expected)
        assert found.first(t) == [a for a, value in enumerate(column) if value == column.max()]


@given(tables)
def test_a_task_agrees_with_its_own_order(scores: np.ndarray) -> None:
    column = scores[:, :1]
    found = TaskScores(tuple(map(str, range(len(scores)))), ("x",), column, np.array([True]))
    if len(set(column[:, 0].tolist())) == len(column) > 1:
        assert found.agreement(column[:, 0])[0] == pytest.approx(1.0)
        assert found.agreement(-column[:, 0])[0] == pytest.approx(-1.0)
