"""From the material of a report to the plain words, numbers and drawings that its template puts on the page."""

from __future__ import annotations

from typing import Any

from softcondorcet.ratings import Ratings
from softcondorcet.reporting.gather import Material
from softcondorcet.reporting.leaderboard import blocks, spans
from softcondorcet.reporting.pictures import BADGES, WHISKERS, Picture, bump, cycle, head_to_head, whiskers
from softcondorcet.reporting.sureness import sureness
from softcondorcet.reporting.titles import title_of


def view(found: Material, top: int) -> dict[str, Any]:
    """What the template needs, by name. Names of agents are raw in it: the template escapes them."""
    board, inspection = found.board, found.inspection
    word, sure = sureness(found)
    rows = blocks(found, top)
    return {
        "verdict": found.verdict,
        "badge": BADGES[found.verdict.kind],
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
        **head_to_head(found.profile.pairs(), board),
        "cycle": cycle(found.verdict),
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
    sure = found.uncertainty
    low, high = (None, None) if sure is None else (sure.rating_low, sure.rating_high)
    return whiskers(found.board, low, high, list(spans(found, min(top, len(found.board)))), top)


def _methods(found: Material) -> dict[str, Any]:
    race = found.comparison
    picture, shown = bump({title: {name: by.rank_of(name) for name in by.agents} for title, by in race.boards.items()})
    several = picture is not None
    moves = race.moves(6) if several else []
    return {
        "bump": picture,
        "n_bump": shown,
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
