"""Tables for a terminal: they fit, names stay different, and nothing is lost without being named."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from softcondorcet.formatting import shortened, wide, wrapped
from softcondorcet.text_table import text_table

NAMES = st.lists(st.text(min_size=1, max_size=60), min_size=1, max_size=8, unique=True)
EFFORTS = [f"claude-opus-4-5-20251101-thinking-{effort}-effort" for effort in ("high", "medium", "low", "minimal")]


def board(names: list[str]) -> list[dict[str, Any]]:
    return [
        {"rank": k, "rank_low": k, "rank_high": k + 1, "agent": name, "rating": 1000.0 - k, "rating_low": 990.0 - k,
         "rating_high": 1010.5 - k, "win_chance": 1 / (k + 1), "votes": 10.0 * k}
        for k, name in enumerate(names, 1)
    ]  # fmt: skip


@given(NAMES, st.integers(12, 40))
def test_shortened_names_fit_and_stay_different(names: list[str], columns: int) -> None:
    short = shortened(names, columns)
    assert all(wide(name) <= columns for name in short)
    printed = shortened(names, 10_000)
    assert len(set(short)) == len(set(printed))
    assert all(one == whole for one, whole in zip(short, printed, strict=True) if "…" not in one)


def test_names_lose_what_they_share() -> None:
    assert shortened(EFFORTS, 16) == ["claude-…h-effort", "claude-…m-effort", "claude-…w-effort", "claude-…l-effort"]
    differ_in_the_middle = [f"{'a' * 30}{k}{'b' * 30}" for k in range(3)]
    assert [name.count(str(k)) for k, name in enumerate(shortened(differ_in_the_middle, 12))] == [1, 1, 1]


@given(st.text(alphabet="ab -:…日", max_size=80), st.integers(10, 60))
def test_wrapped_lines_keep_every_word_whole(line: str, columns: int) -> None:
    parts = wrapped(line, columns)
    assert " ".join(parts).split() == line.split()
    longest = max(map(wide, line.split()), default=0)
    assert all(wide(part) <= max(columns, longest + columns // 2) for part in parts)
    assert wrapped(line, None) == [line]


@given(NAMES, st.integers(40, 130), st.booleans())
def test_a_table_fits_or_names_what_it_left_out(names: list[str], width: int, with_bars: bool) -> None:
    rows = board(names)
    bars = [(row["rating_low"], row["rating"], row["rating_high"]) for row in rows] if with_bars else []
    table = text_table(rows, width, bars)
    assert all(wide(line) <= width for line in str(table).splitlines())
    shown = [title.strip() for title in table.head]
    every = ["rank", "rank range", "agent", "rating", "rating range", "win chance", "votes"]
    assert [title for title in every if title in shown or title in table.left_out] == every
    assert ("bar" in table.kinds) <= with_bars


def test_bars_are_drawn_on_one_axis() -> None:
    rows = [{"rank": k, "agent": name, "rating": value} for k, name, value in ((1, "a", 10.0), (2, "b", 5.0))]
    lines = str(text_table(rows, 40, [(8.0, 10.0, 10.0), (0.0, 5.0, 6.0)])).splitlines()
    assert lines == [
        "rank  agent  rating",
        "   1  a          10                ├───●",
        "   2  b           5  ├────────●─┤",
    ]


def test_numbers_of_a_column_have_the_same_digits() -> None:
    rows = [{"agent": "a", "loss": 0.765, "p": 0.00001}, {"agent": "b", "loss": 0.23, "p": 0.5}]
    lines = [line.split() for line in str(text_table(rows)).splitlines()[1:]]
    assert lines == [["a", "0.765", "<0.0001"], ["b", "0.230", "0.5000"]]


def test_shares_are_in_percent_and_never_certain_by_rounding() -> None:
    rows = [{"agent": "a", "win_chance": 0.99999}, {"agent": "b", "win_chance": 0.5}]
    assert [line[-6:] for line in str(text_table(rows)).splitlines()[1:]] == ["99.9 %", "50.0 %"]


@pytest.mark.parametrize("width", [40, 60, 80])
def test_sentences_in_a_table_are_wrapped_between_words(width: int) -> None:
    reason = "never compared with the main group of 11 agents: votes between them would place it"
    lines = str(text_table([{"agent": "x", "votes": 1.0, "why": reason}], width)).splitlines()[1:]
    assert all(wide(line) <= width for line in lines)
    assert " ".join(" ".join(lines).split()).removeprefix("x 1 ").removeprefix("x ") == reason


def test_names_of_groups_are_no_words() -> None:
    assert text_table([{"agent": "x", "us_east": 1}], names=True).head == ("agent", "us_east")
    assert text_table([{"agent": "x", "win_rate": 1}]).head == ("agent", "win rate")


def test_no_rows_are_a_head() -> None:
    assert str(text_table([])) == "rank  agent  rating"
