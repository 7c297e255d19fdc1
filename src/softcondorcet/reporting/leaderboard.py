"""Rows of the leaderboard: agents best first, with those that cannot be told apart in one block."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from softcondorcet.ratings import Ratings
from softcondorcet.reporting.gather import Material

_DASH, _MINUS = "\u2013", "\u2212"


@dataclass(frozen=True)
class Row:
    """What the table says about one agent; empty where it is not known."""

    rank: int
    name: str
    rating: str
    rating_range: str
    rank_range: str
    votes: str
    marks: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Block:
    """Rows one after another; `told` says in words that these agents cannot be told apart, where that is so."""

    rows: tuple[Row, ...]
    told: str


def blocks(found: Material, top: int) -> list[Block]:
    """The best agents in blocks: a tie group each, or a single agent that belongs to none."""
    board = found.board
    digits = decimals(board)
    groups = tie_groups(found)
    made = []
    for first, last in spans(found, min(top, len(board))):
        rows = tuple(_row(found, int(k), digits) for k in board.index[first : last + 1])
        group = groups.get(board.order[first], ())
        made.append(Block(rows, f"{_ranks(board, group)} cannot be told apart" if len(group) > 1 else ""))
    return made


def spans(found: Material, top: int) -> Iterator[tuple[int, int]]:
    """First and last place of each block among the best `top` agents, counted from 0."""
    order, groups = found.board.order[:top], tie_groups(found)
    first = 0
    for place in range(1, len(order) + 1):
        own = groups.get(order[first])
        if place == len(order) or own is None or groups.get(order[place]) is not own:
            yield first, place - 1
            first = place


def tie_groups(found: Material) -> dict[str, Sequence[str]]:
    """The group of each agent that cannot be told apart from another one."""
    known = [] if found.uncertainty is None else found.uncertainty.tie_groups
    return {name: group for group in known for name in group if len(group) > 1}


def _ranks(board: Ratings, group: Sequence[str]) -> str:
    """Words for the ranks of a group, of which the table may show only the first."""
    first, last = board.rank_of(group[0]), board.rank_of(group[-1])
    return f"ranks {first:,} to {last:,}" if last > first else "these"


def _row(found: Material, k: int, digits: int) -> Row:
    board, sure = found.board, found.uncertainty
    name = board.agents[k]
    marks = []
    if name == board.condorcet_winner:
        marks.append(("good", "beats all"))
    if found.verdict.kind == "cycle" and name in found.verdict.names:
        marks.append(("caution", "in the circle"))
    if found.provisional[k]:
        marks.append(("note", "provisional"))
    return Row(
        rank=int(board.ranks[k]),
        name=name,
        rating=signed(board.values[k], digits),
        # An agent that stands in no resample has no interval.
        rating_range=""
        if sure is None or np.isnan(sure.rating_low[k])
        else f"{signed(sure.rating_low[k], digits)} to {signed(sure.rating_high[k], digits)}",
        rank_range="" if sure is None else ranged(int(sure.rank_low[k]), int(sure.rank_high[k])),
        votes="" if board.votes is None else f"{board.votes[k]:,.0f}",
        marks=tuple(marks),
    )


def ranged(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,}{_DASH}{high:,}"


def decimals(board: Ratings) -> int:
    """Digits after the point that show about a thousandth of the span of the ratings."""
    span = float(np.ptp(board.values)) if len(board) else 0.0
    return min(max(3 - math.ceil(math.log10(span)), 0), 6) if span > 0 else 1


def signed(value: float, digits: int) -> str:
    """A number with a minus as printers set it, and none before a zero."""
    shown = f"{abs(value):,.{digits}f}"
    return f"{_MINUS}{shown}" if value < 0 and shown.strip("0.,") else shown
