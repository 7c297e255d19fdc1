"""The page on architecture names what runs, in the order in which it runs."""

from __future__ import annotations

import re
from pathlib import Path

import layout
import pytest

PAGE = Path(__file__).parent.parent / "docs" / "architecture.md"
FLOWS = {
    "`sco rank battles.csv`": layout.flow_of_rank,
    "`sco report battles.csv -o report.html`": layout.flow_of_report,
    "`POST /votes`": layout.flow_of_vote,
}
SECTIONS = dict(
    re.findall(r"^## (.*?)\n+```text\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
)


def test_the_page_has_the_three_flows() -> None:
    assert list(SECTIONS) == list(FLOWS)
    assert all(len(section.splitlines()) <= 24 for section in SECTIONS.values())  # a screen each


@pytest.mark.parametrize("title", FLOWS)
def test_each_step_is_a_function_that_runs_in_that_order(title: str) -> None:
    steps = [(line.split()[0], line.split()[1]) for line in SECTIONS[title].splitlines()]
    calls = FLOWS[title]().calls
    assert [step for step in steps if step not in calls] == []
    places = [calls.index(step) for step in steps]
    assert places == sorted(places)
