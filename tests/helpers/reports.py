"""A page as a reader of HTML sees it, names that attack it, and results made by hand."""

from __future__ import annotations

from collections import Counter
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any

import numpy as np

import softcondorcet as sc
from softcondorcet.reporting.analysis import Analysis
from softcondorcet.reporting.table import Table, table
from softcondorcet.reporting.verdict import Verdict

PANELS = ["leaderboard", "intervals", "head-to-head", "majority", "methods", "trust", "data", "provenance"]


HOSTILE = [
    "<script>alert(1)</script>",
    '=HYPERLINK("http://evil.example","x")',
    '"><img src=x onerror=alert(1)>',
    "'; DROP TABLE votes; --",
    "{{ 7 * 7 }} {% raw %}",
    "javascript:alert(1)",
    "a\u202egnp.exe\x07\x00",
    "مرحبا",
    "👩‍👩‍👧 family",
    "</style></title></svg>",
    "n" * 3000,
    "$x$ & <b>",
]


VOID = {"meta", "link", "br", "img", "input", "hr"}


class Page(HTMLParser):
    """Elements, attributes and words of a page; fails on an element that is not closed."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


class Sure(SimpleNamespace):
    """Intervals of 200 resamples, by hand."""

    def __len__(self) -> int:
        return 200


def intervals(groups: list[list[str]], agents: str, first: float = 0.99) -> Any:
    """Intervals with tie groups by hand; the first agent is first in this share of resamples."""
    m = len(agents)
    board = sc.Ratings(tuple(agents), np.arange(m, 0, -1.0), "sco", votes=np.full(m, 1234.0))
    return Sure(
        tie_groups=groups,
        rating_low=board.values - 0.5,
        rating_high=board.values + 0.5,
        rank_low=np.arange(1, m + 1),
        rank_high=np.minimum(np.arange(1, m + 1) + 1, m),
        top=lambda k: np.linspace(first, 0, m),
        level=0.95,
        board=board,
    )


def table_of(groups: list[list[str]], agents: str, top: int = 100) -> Table:
    """The table of a report with such intervals; the last agent is provisional."""
    sure = intervals(groups, agents)
    numbers = [[agents.index(name) for name in group] for group in groups if len(group) > 1]
    ends = {name: getattr(sure, name).tolist() for name in ("rating_low", "rating_high", "rank_low", "rank_high")}
    analysis = Analysis(
        sure.board,
        sc.Profile.from_rankings([list(agents)]).pairs(),
        **ends,
        tie_groups=numbers,
        provisional=[len(agents) - 1],
    )
    rows = analysis.rows()
    return table(rows[:top], sure.board, Verdict("winner", ""), whole=rows)
