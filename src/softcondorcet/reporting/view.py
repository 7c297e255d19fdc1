"""From the material of a report to the plain words, numbers and drawings that its template puts on the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from softcondorcet import drawing
from softcondorcet.arrays import Floats, Ints
from softcondorcet.ratings import Ratings
from softcondorcet.reporting.gather import Material
from softcondorcet.reporting.leaderboard import blocks, spans
from softcondorcet.reporting.sureness import sureness
from softcondorcet.reporting.titles import title_of

# How many of the best agents a drawing shows.
WHISKERS, HEAT, BUMP = 40, 40, 12
# So many of them a heat map has room for on a phone, and its table on a desk.
SMALL = 14
# As many agents as a drawing of a cycle has room for.
_CYCLE = 12
# Drawings come twice, for a desk and for a phone: letters must not shrink with the screen.
_WIDE, _NARROW = 780.0, 328.0

_BADGES = {
    "winner": "A Condorcet winner: one agent beats all others",
    "overruled": "A Condorcet winner that the ratings do not put first",
    "cycle": "No Condorcet winner: a cycle at the top",
    "unbeaten": "No Condorcet winner, but nobody beats the first",
    "beaten": "No Condorcet winner",
    "nothing": "Nothing to compare",
}


@dataclass(frozen=True)
class Picture:
    """One drawing at two widths."""

    wide: str
    narrow: str


def view(found: Material, top: int) -> dict[str, Any]:
    """What the template needs, by name. Names of agents are raw in it: the template escapes them."""
    board, inspection = found.board, found.inspection
    word, sure = sureness(found)
    rows = blocks(found, top)
    return {
        "verdict": found.verdict,
        "badge": _BADGES[found.verdict.kind],
        "sure_word": word,
        "sure": sure,
        "facts": _facts(found),
        "blocks": rows,
        "n_agents": len(board),
        "n_shown": min(top, len(board)),
        "any_provisional": any("provisional" in mark for block in rows for row in block.rows for mark in row.marks),
        "method": title_of(board.method),
        "level": f"{100 * found.uncertainty.level:g} %" if found.uncertainty else "",
        "unsure": found.unsure,
        "summary": summary(board),
        "whiskers": _whiskers(found, min(top, WHISKERS)),
        "n_whiskers": min(top, WHISKERS, len(board)),
        **_head_to_head(found),
        "cycle": _cycle(found),
        **_methods(found),
        "findings": inspection.findings,
        "unchecked": [(name.replace("-", " "), why) for name, why in inspection.unchecked.items()],
        "warnings": [*board.warnings, *(found.uncertainty.warnings if found.uncertainty else ())],
    }


def _facts(found: Material) -> list[tuple[str, str]]:
    facts = found.inspection
    seen = 100 * facts.pairs_seen / facts.pairs_possible if facts.pairs_possible else 0.0
    return [
        ("agents", f"{facts.n_agents:,}"),
        ("votes", f"{facts.total_weight:,.0f}"),
        ("comparisons", f"{facts.comparisons:,.0f}"),
        ("of them ties", f"{100 * facts.tied_share:.1f} %"),
        ("pairs compared", f"{seen:.3g} %"),
    ]


def summary(board: Ratings) -> str:
    """How good the order is as an order, in one sentence."""
    if not board.discrete_loss:
        return "The order contradicts none of the comparisons." if board.discrete_loss == 0 else ""
    words = f"The order contradicts {board.discrete_loss:,g} of the comparisons"
    if board.gap is None:
        return f"{words}."
    return f"{words}; no order contradicts fewer{f' than {board.lower_bound:,g}' if board.gap > 0 else ''}."


def _whiskers(found: Material, top: int) -> Picture:
    board, sure = found.board, found.uncertainty
    rows = board.index[:top]
    names, values = [board.agents[k] for k in rows], board.values[rows].tolist()
    low, high = (
        (None, None) if sure is None else (_known(sure.rating_low, rows, board), _known(sure.rating_high, rows, board))
    )
    bands = [(first, last) for first, last in spans(found, len(rows)) if last > first]
    axis = f"rating by {title_of(board.method)}"
    return Picture(
        *(drawing.whiskers(names, values, low, high, bands=bands, width=width, axis=axis) for width in (_WIDE, _NARROW))
    )


def _known(ends: Floats, rows: Ints, board: Ratings) -> list[float]:
    """Ends of intervals; the rating itself for an agent that no resample has."""
    known: list[float] = np.where(np.isnan(ends), board.values, ends)[rows].tolist()
    return known


def _head_to_head(found: Material) -> dict[str, Any]:
    board = found.board
    chosen = board.index[:HEAT]
    names = [board.agents[k] for k in chosen]
    wins, ties = found.profile.pairs().dense(chosen)
    few = names[:SMALL]
    places = range(len(few))
    return {
        "heat_map": Picture(
            drawing.heat_map(names, wins.tolist(), ties.tolist(), width=_WIDE),
            drawing.heat_map(few, wins.tolist(), ties.tolist(), width=_NARROW),
        ),
        "n_heat": len(names),
        "n_few": len(few),
        "scores": [(few[a], [_score(wins[a, b], wins[b, a], ties[a, b]) for b in places]) for a in places],
    }


def _score(won: float, lost: float, level: float) -> str:
    return f"{won:g} : {lost:g}" + (f" ({level:g})" if level else "") if won + lost + level else ""


def _cycle(found: Material) -> Picture | None:
    seen = found.verdict
    if seen.kind != "cycle" or len(seen.names) > _CYCLE:
        return None
    return Picture(*(drawing.cycle(seen.names, seen.arrows, loop=seen.loop, width=width) for width in (520.0, _NARROW)))


def _methods(found: Material) -> dict[str, Any]:
    race = found.comparison
    tops = [*race.first.order[:BUMP], *(name for board in race.boards.values() for name in board.order[:3])]
    names, titles = list(dict.fromkeys(tops)), list(race.boards)
    ranks = [[board.rank_of(name) for board in race.boards.values()] for name in names]
    several = len(titles) > 1 and len(names) > 1
    moves = race.moves(6) if several else []
    return {
        "bump": Picture(*(drawing.bump(titles, names, ranks, width=width) for width in (_WIDE, _NARROW)))
        if several
        else None,
        "n_bump": len(names),
        "n_linked": len(race.first),
        "violations": race.violations() if several else [],
        "moves": moves,
        "agree": several and not moves,
        "method_notes": method_notes(found),
    }


def method_notes(found: Material) -> list[str]:
    """What to know before comparing methods."""
    race, notes = found.comparison, []
    if "Elo" in race.boards and bool((found.profile.weight != 1).any()):
        notes.append(
            "Elo depends on the order of votes, which counted votes do not have: its ranks are one draw of many."
        )
    return [*notes, *(f"{name} is left out: {why}." for name, why in race.skipped.items())]
