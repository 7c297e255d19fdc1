"""The leaderboard in words, for the report and for pages: lines with cells, marks, and facts about agents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from softcondorcet.leaderboard import COLOUR, LINK, Cell, Column, Row, columns, decimals, in_words
from softcondorcet.ratings import Ratings
from softcondorcet.reporting.verdict import Verdict


@dataclass(frozen=True)
class Line:
    """A row of the table in words: cells by column, marks as (kind, words), and where the name leads.

    `about` are facts about the agent, `home` is its own page, somewhere else, and `colour` its colour.
    """

    agent: str
    cells: Mapping[str, Cell]
    marks: Sequence[tuple[str, str]]
    address: str = ""
    about: Sequence[str] = ()
    home: str = ""
    colour: str = ""


@dataclass(frozen=True)
class Block:
    """Lines one after another; `note` says that these agents cannot be told apart, where that is so."""

    lines: Sequence[Line]
    note: str = ""


@dataclass(frozen=True)
class Table:
    """The leaderboard in words."""

    columns: Sequence[Column]
    blocks: Sequence[Block]

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


def table(
    rows: Sequence[Row], ratings: Ratings, says: Verdict, *, whole: Any = None, link: Callable[[str], str] | None = None
) -> Table:
    """Rows in words. Those one after another in one tie group make a block.

    `whole` are all rows of the board, best first, of which `rows` are the first few; None where `rows` stand in another
    order, in which groups mean nothing. `link(agent)` leads to a page about an agent, where there is one.
    """
    known, digits = columns(rows), decimals(ratings.values)
    # The reason why an agent has no rank stands below its name, with its facts.
    shown = [column for column in known if column.kind != "fact" and column.name != "unplaced"]
    facts = [column for column in known if column.kind == "fact"]

    def line(row: Row) -> Line:
        cells = in_words(row, shown, digits)
        marks, address = _marks(row, ratings, says), link(row.agent) if link else ""
        home, colour = (str((row.facts or {}).get(name, "")) for name in (LINK, COLOUR))
        return Line(row.agent, cells, marks, address, _about(row, facts, digits), home, colour)

    if whole is None:
        return Table(shown, [Block([line(row) for row in rows])])
    blocks = []
    for begin, end in spans(whole):
        if begin < len(rows):
            note = _note(whole[begin : end + 1])
            blocks.append(Block([line(row) for row in rows[begin : end + 1]], note))
    return Table(shown, blocks)


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
    if says.kind == "cycle" and row.agent in says.names:
        marks.append(("caution", "in the circle"))
    return [*marks, PROVISIONAL] if row.provisional else marks
