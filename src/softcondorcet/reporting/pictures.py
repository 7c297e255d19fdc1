"""The drawings of a report or a page, each at two widths, and how much of a long board they show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from softcondorcet import drawing
from softcondorcet.arrays import Floats, Ints
from softcondorcet.pairs import Pairs
from softcondorcet.ratings import Ratings
from softcondorcet.reporting.titles import title_of
from softcondorcet.reporting.verdict import Verdict

# How many of the best agents a drawing shows.
WHISKERS, HEAT, BUMP = 40, 40, 12
# So many of them a heat map has room for on a phone, and its table on a desk.
SMALL = 14
# As many agents as a drawing of a cycle has room for.
_CYCLE = 12
# Drawings come twice, for a desk and for a phone: letters must not shrink with the screen.
WIDE, NARROW = 780.0, 328.0

BADGES = {
    "winner": "A Condorcet winner: one agent beats all others",
    "overruled": "A Condorcet winner that the ratings do not put first",
    "cycle": "No Condorcet winner: a cycle at the top",
    "unbeaten": "No Condorcet winner, but nobody beats the first",
    "beaten": "No Condorcet winner",
    "nothing": "Nothing to compare",
}
Link = Callable[[str, str], str]


@dataclass(frozen=True)
class Picture:
    """One drawing at two widths."""

    wide: str
    narrow: str


def whiskers(
    board: Ratings, low: Floats | None, high: Floats | None, bands: Sequence[tuple[int, int]], top: int
) -> Picture:
    """The best agents with their intervals; nan where an end is not known. `bands` are first and last places."""
    rows = board.index[:top]
    names, values = [board.agents[k] for k in rows], board.values[rows].tolist()
    ends = [None if end is None else _known(end, rows, board) for end in (low, high)]
    wide = [(first, last) for first, last in bands if last > first]
    axis = f"rating by {title_of(board.method)}"
    return Picture(*(drawing.whiskers(names, values, *ends, bands=wide, width=w, axis=axis) for w in (WIDE, NARROW)))


def _known(ends: Floats, rows: Ints, board: Ratings) -> list[float]:
    """Ends of intervals; the rating itself for an agent that no resample has."""
    known: list[float] = np.where(np.isnan(ends), board.values, ends)[rows].tolist()
    return known


def head_to_head(pairs: Pairs, board: Ratings, link: Link | None = None) -> dict[str, Any]:
    """The best agents against each other, as a picture and as a table; `link(a, b)` is where a cell leads."""
    chosen = board.index[:HEAT]
    names = [board.agents[k] for k in chosen]
    wins, ties = pairs.dense(chosen)
    few = names[:SMALL]
    places = range(len(few))
    to = None if link is None else lambda a, b: link(names[a], names[b])
    return {
        "heat_map": Picture(
            drawing.heat_map(names, wins.tolist(), ties.tolist(), width=WIDE, link=to),
            drawing.heat_map(few, wins.tolist(), ties.tolist(), width=NARROW, link=to),
        ),
        "n_heat": len(names),
        "n_few": len(few),
        "scores": [(few[a], [_score(wins[a, b], wins[b, a], ties[a, b]) for b in places]) for a in places],
        "pair_link": link,
    }


def _score(won: float, lost: float, level: float) -> str:
    return f"{won:g} : {lost:g}" + (f" ({level:g})" if level else "") if won + lost + level else ""


def cycle(seen: Verdict) -> Picture | None:
    if seen.kind != "cycle" or len(seen.names) > _CYCLE:
        return None
    return Picture(*(drawing.cycle(seen.names, seen.arrows, loop=seen.loop, width=width) for width in (520.0, NARROW)))


def bump(ranks: Mapping[str, Mapping[str, int]]) -> tuple[Picture | None, int]:
    """Ranks by title of a method and name of an agent: the best by the first method, and the first three by each.

    The picture, if there is something to compare, and how many agents it shows.
    """
    titles = list(ranks)
    orders = [sorted(given, key=lambda name: given[name]) for given in ranks.values()]
    best = [name for order in orders[:1] for name in order[:BUMP]]
    names = list(dict.fromkeys([*best, *(name for order in orders for name in order[:3])]))
    if len(titles) < 2 or len(names) < 2:
        return None, len(names)
    places = [[given[name] for given in ranks.values()] for name in names]
    return Picture(*(drawing.bump(titles, names, places, width=width) for width in (WIDE, NARROW))), len(names)
