"""The leaderboard in words, for the report and for pages: lines with cells, marks, and facts about agents.

``table`` makes lines of rows. ``parts`` divides all rows of a report: the best, those to unfold, those without a rank,
and how many there is no room for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from softcondorcet.charts import Axis
from softcondorcet.leaderboard import COLOUR, LINK, Cell, Column, Row, columns, decimals, in_words
from softcondorcet.ratings import Ratings
from softcondorcet.reporting.verdict import Verdict

# Rows of the best, and of those to unfold that have bars and marks; more have numbers alone.
_BEST, _DRAWN = 25, 300
# Bytes of a page that further rows may take, a share of it for agents without a rank, and those of a row besides names.
_ROOM, _APART, _ROW = 620_000, 0.25, 130
# Letters of an anchor; names may be longer.
_ANCHOR = 40


@dataclass(frozen=True)
class Line:
    """A row of the table in words: cells by column, marks as (kind, words), and where the name leads.

    `anchor` is what an address within the page ends with. `about` are facts about the agent, `home` is its own page,
    somewhere else, and `colour` its colour. `bar` draws the rating and its interval.
    """

    agent: str
    cells: Mapping[str, Cell]
    marks: Sequence[tuple[str, str]]
    address: str = ""
    anchor: str = ""
    about: Sequence[str] = ()
    home: str = ""
    colour: str = ""
    bar: str = ""


@dataclass(frozen=True)
class Block:
    """Lines one after another; `note` says that these agents cannot be told apart, where that is so."""

    lines: Sequence[Line]
    note: str = ""


@dataclass(frozen=True)
class Table:
    """The leaderboard in words. `axis` draws the numbers above the bars, where ratings have intervals."""

    columns: Sequence[Column]
    blocks: Sequence[Block]
    axis: str = ""

    @property
    def lines(self) -> list[Line]:
        return [line for block in self.blocks for line in block.lines]

    @property
    def ranged(self) -> bool:
        """Whether any rating has an interval."""
        return any(line.cells["rating"].range for line in self.lines)

    @property
    def any_provisional(self) -> bool:
        return any(PROVISIONAL in line.marks for line in self.lines)


PROVISIONAL = ("note", "provisional")
# The column of drawings.
_BAR = Column("bar", "", "bar")


def table(
    rows: Sequence[Row],
    ratings: Ratings,
    says: Verdict,
    *,
    whole: Sequence[Row] | None = None,
    start: int = 0,
    link: Callable[[str], str] | None = None,
    anchors: Mapping[str, str] | None = None,
    noun: str = "vote",
) -> Table:
    """Rows in words. Those one after another in one tie group make a block.

    `whole` are all rows of the board, best first, of which `rows` are those from `start` on; None where `rows` stand in
    another order, in which groups mean nothing. `link(agent)` leads to a page about an agent, where there is one;
    `anchors` are the anchors of agents on this page. `noun` is what a vote is called.
    """
    known, digits = columns(rows if whole is None else whole), decimals(ratings.values)
    # The reason why an agent has no rank stands below its name, with its facts.
    shown = [column for column in known if column.kind != "fact" and column.name != "unplaced"]
    shown = [column._replace(title=f"{noun}s".capitalize()) if column.name == "votes" else column for column in shown]
    facts = [column for column in known if column.kind == "fact"]
    axis = _axis(rows if whole is None else whole)
    if axis:
        place = [column.name for column in shown].index("rating") + 1
        shown.insert(place, _BAR)

    def line(row: Row) -> Line:
        cells = in_words(row, [column for column in shown if column is not _BAR], digits)
        home, colour = (str((row.facts or {}).get(name, "")) for name in (LINK, COLOUR))
        return Line(
            row.agent,
            cells,
            _marks(row, ratings, says),
            link(row.agent) if link else "",
            (anchors or {}).get(row.agent, ""),
            _about(row, facts, digits),
            home,
            colour,
            _bar(row, axis) if axis else "",
        )

    head = axis.head() if axis else ""
    if whole is None:
        return Table(shown, [Block([line(row) for row in rows])], head)
    blocks = []
    for begin, end in spans(whole):
        part = rows[max(begin - start, 0) : max(end + 1 - start, 0)]
        if part:
            blocks.append(Block([line(row) for row in part], _note(whole[begin : end + 1])))
    return Table(shown, blocks, head)


def _axis(rows: Iterable[Row]) -> Axis | None:
    """The axis of all ratings with a rank; None where no rating has an interval."""
    ends = [end for row in rows if row.rank for end in (row.rating_low, row.rating, row.rating_high) if end is not None]
    ranged = any(row.rank and row.rating_low is not None for row in rows)
    return Axis(min(ends), max(ends)) if ranged else None


def _bar(row: Row, axis: Axis) -> str:
    if row.rank is None or row.rating is None:
        return ""
    low, high = (row.rating if end is None else end for end in (row.rating_low, row.rating_high))
    return axis.bar(low, row.rating, high)


@dataclass(frozen=True)
class Parts:
    """The leaderboard of a report: the `best`, the `rest` to unfold, and agents without a rank.

    `plain`: the rest are too many for bars and marks. `left_out` are the agents that there is no room for.
    """

    best: Table
    rest: Table
    unplaced: Table
    plain: bool
    left_out: int

    @property
    def n_shown(self) -> int:
        return sum(len(part.lines) for part in (self.best, self.rest, self.unplaced))


def parts(rows: Sequence[Row], ratings: Ratings, says: Verdict, *, top: int, noun: str = "vote") -> Parts:
    """All rows of a board, best first, divided; at most `top` of those with a rank, and what a page has room for."""
    ranked = [row for row in rows if row.unplaced is None]
    unplaced = [row for row in rows if row.unplaced is not None]
    rest = _fitting(ranked[_BEST:top], _ROOM * (1 - _APART))
    apart = _fitting(unplaced, _ROOM * _APART)
    shown = [*ranked[: min(_BEST, top)], *rest, *apart]
    known = anchors(row.agent for row in shown)

    def made(some: Sequence[Row], start: int) -> Table:
        return table(some, ratings, says, whole=ranked, start=start, anchors=known, noun=noun)

    return Parts(
        made(ranked[: min(_BEST, top)], 0),
        made(rest, _BEST),
        table(apart, ratings, says, anchors=known, noun=noun),
        len(rest) > _DRAWN,
        len(rows) - len(shown),
    )


def _fitting(rows: Sequence[Row], room: float) -> Sequence[Row]:
    """The first rows that fit into so many bytes of a page."""
    for k, row in enumerate(rows):
        room -= _ROW + len(row.agent.encode()) + _ANCHOR + len(row.unplaced or "")
        if room < 0:
            return rows[:k]
    return rows


def anchors(names: Iterable[str]) -> dict[str, str]:
    """Anchors by name: letters and digits of the name, so that an address can be read, no two the same.

    >>> anchors(["GPT 5.5", "gpt-5-5", "???"])
    {'GPT 5.5': 'agent-gpt-5-5', 'gpt-5-5': 'agent-gpt-5-5-2', '???': 'agent'}
    """
    given: dict[str, str] = {}
    used: set[str] = set()
    numbers: dict[str, Iterator[int]] = {}
    for name in names:
        word = words = "-".join(["agent", *re.findall(r"[a-z0-9]+", name.casefold())])[:_ANCHOR].rstrip("-")
        while word in used:
            word = f"{words}-{next(numbers.setdefault(words, count(2)))}"
        given[name] = word
        used.add(word)
    return given


def _about(row: Row, facts: Sequence[Column], digits: int) -> list[str]:
    """Why an agent has no rank, and the facts about it, with their titles where they do not speak for themselves."""
    said = [(column, in_words(row, [column], digits)[column.name].text) for column in facts]
    plain = ("organisation", "licence")
    words = [text if column.name in plain else f"{column.name} {text}" for column, text in said if text]
    return [*([row.unplaced] if row.unplaced else []), *words]


def _note(rows: Sequence[Row]) -> str:
    """What is said beside a block of rows."""
    first, last = rows[0].rank, rows[-1].rank
    if first is None or last is None:
        return "no rank among the others" if rows[0].unplaced else ""
    ranks = f"ranks {first:,} to {last:,}" if last > first else "these"
    return f"{ranks} cannot be told apart" if len(rows) > 1 else ""


def spans(rows: Sequence[Row]) -> list[tuple[int, int]]:
    """First and last place, from 0, of rows one after another in the same tie group, or without a rank.

    A row in no group is alone.
    """
    first, places = 0, []
    for place in range(1, len(rows) + 1):
        own = _block_of(rows[first])
        if place == len(rows) or own is None or _block_of(rows[place]) != own:
            places.append((first, place - 1))
            first = place
    return places


def _block_of(row: Row) -> int | str | None:
    """What the rows of a block share: their tie group, or that they have no rank."""
    return row.tie_group if row.unplaced is None else "no rank"


def _marks(row: Row, ratings: Ratings, says: Verdict) -> list[tuple[str, str]]:
    """Marks beside an agent, such as provisional: a kind, which gives the colour, and words."""
    if row.rank is None:
        return [PROVISIONAL] if row.unplaced else []
    marks = []
    if row.agent == ratings.condorcet_winner:
        marks.append(("good", "beats all"))
    if says.kind == "cycle" and row.agent in says.names and len(says.names) == says.circle:
        marks.append(("caution", "in the circle"))
    return [*marks, PROVISIONAL] if row.provisional else marks
