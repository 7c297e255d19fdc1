"""Results print as tables, notebooks show the same, and frames have all rows; names stay text everywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from conftest import tennessee
from helpers.reports import HOSTILE

import softcondorcet as sc
from softcondorcet.tabular import Tabular

HALVES = sc.Profile.from_rankings(
    [["a", "b"], ["b", "c"], ["c", "a"], ["x", "y"]], columns={"topic": ["u_v", "u_v", "w", "w"]}
)
RESULTS: dict[str, Callable[[], Tabular]] = {
    "ratings": lambda: sc.sco(HALVES),
    "uncertainty": lambda: sc.bootstrap(tennessee(), n=20),
    "comparison": lambda: sc.compare(tennessee(), ["sco", "win_rate"]),
    "groups": lambda: sc.by_group(HALVES, "topic"),
    "holdout": lambda: sc.holdout(tennessee(), ["sco", "borda"], test=10),
    "robustness": lambda: sc.robustness(tennessee(), parts=("agents",)),
    "versus": lambda: sc.versus(tennessee(), "Memphis", "Nashville", n=50),
    "next": lambda: sc.next_matches(tennessee(), 3, n=20),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_prints_its_rows_and_what_they_rest_on(name: str) -> None:
    result = RESULTS[name]()
    text, html = str(result), result._repr_html_()
    table, _, notes = text.partition("\n\n")
    assert len(table.splitlines()) == 1 + len(result.rows())
    assert notes.splitlines() == result.summary()
    assert html.count("<tr>") == 1 + len(result.rows())
    assert html.count("<li>") == len(result.summary())
    assert len(result.to_pandas()) == len(result.rows())


def test_ranges_ranks_and_reasons_are_shown() -> None:
    board = str(RESULTS["ratings"]())
    assert [line.split()[0] for line in board.splitlines()[1:4]] == ["1", "2", "3"]
    assert board.splitlines()[4].split()[0] == "x"
    assert "never compared with the main group of 3 agents" in board
    head, first = str(RESULTS["uncertainty"]()).splitlines()[:2]
    assert "rank range" in head and "rating range" in head and " to " in first
    assert "rating lower" not in head


def test_names_of_methods_and_groups_stay_as_they_are() -> None:
    assert str(RESULTS["comparison"]()).splitlines()[0].split() == ["agent", "sco", "win_rate"]
    assert "u_v" in str(RESULTS["groups"]()).splitlines()[0]


def test_only_the_first_rows_are_printed_and_the_number_of_all_is_said() -> None:
    board: Any = sc.Ratings(tuple(f"agent-{k}" for k in range(1234)), range(1234), "made_up")  # type: ignore[arg-type]
    assert len(str(board).partition("\n\n")[0].splitlines()) == 22
    assert "the first 20 of 1,234" in str(board) and "the first 20 of 1,234" in board._repr_html_()
    assert len(board.to_pandas()) == 1234


def test_hostile_names_stay_text() -> None:
    board = sc.sco(sc.Profile.from_rankings([HOSTILE]))
    text, html = str(board), board._repr_html_()
    assert "\x1b" not in text and "<script" not in html and "\u202e" not in text + html
