"""From one snapshot to the words, numbers and drawings that the templates put on pages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from softcondorcet import drawing
from softcondorcet.arrays import Floats
from softcondorcet.drawing.svg import number
from softcondorcet.reporting import pictures
from softcondorcet.reporting.leaderboard import decimals, signed
from softcondorcet.reporting.pictures import NARROW, WIDE, Picture
from softcondorcet.reporting.titles import title_of
from softcondorcet.serve import content
from softcondorcet.serve.asked import Asked
from softcondorcet.serve.board import Snapshot
from softcondorcet.serve.past import Rated
from softcondorcet.serve.tabled import Block, View, blocks, caption, chosen, in_words, pair_address, spans

# Columns of the picture of past fits, and rows of their table.
_COLUMNS, _FITS = 8, 100


def board(seen: Snapshot, overall: Snapshot | None, groups: Sequence[str], asked: Asked) -> View:
    """The leaderboard of a snapshot; of some votes only where there is an `overall` one to hold it against."""
    found = _found(seen)
    says = seen.verdict
    rows = content.leaderboard(seen, overall)["rows"]
    wanted = chosen(rows, asked)
    first = wanted[: asked.top]
    shown = in_words(first, seen)
    plain = asked.sort == "rank" and not asked.find
    flip = (found.get("robust") or {}).get("flip")
    return {
        "verdict": says,
        "badge": pictures.BADGES[says.kind],
        "sure": found.get("sure", ""),
        "sure_word": found.get("sure_word", ""),
        "facts": [
            ("agents", f"{len(rows):,}"),
            ("votes", f"{seen.n_votes:,}"),
            *([("votes that would change the top", _flipping(flip))] if flip else []),
        ],
        "since": _since(seen),
        "wanted": asked.words() if overall is not None else "",
        "groups": sorted(groups),
        "asked": asked,
        "sorted": asked.sort.removeprefix("-"),
        "falling": asked.sort.startswith("-"),
        "n_agents": len(rows),
        "n_found": len(wanted),
        "n_shown": len(shown),
        "caption": caption(len(rows), len(wanted), len(shown), asked),
        "blocks": list(blocks(first, shown)) if plain else [Block(shown, "")],
        "any_provisional": any(row["provisional"] for row in first),
        "method": title_of(seen.ratings.method),
        "summary": "" if _since(seen) else found.get("summary", ""),
        "level": _level(found),
        "unsure": found.get("unsure", ""),
        "whiskers": pictures.whiskers(
            seen.ratings,
            _column(seen, "rating_low"),
            _column(seen, "rating_high"),
            list(spans(rows[: pictures.WHISKERS])),
            pictures.WHISKERS,
        ),
        "n_whiskers": min(pictures.WHISKERS, len(rows)),
        **pictures.head_to_head(seen.pairs, seen.ratings, pair_address),
        "cycle": pictures.cycle(says),
        **_methods(seen, found),
        **doctor(seen),
    }


def doctor(seen: Snapshot) -> View:
    """What is doubtful, as of the last fit."""
    told = content.doctor(seen)
    findings = told["findings"]
    return {
        "answer": f"{len(findings)} thing{'s' * (len(findings) != 1)} to know about these votes"
        if findings
        else "Nothing doubtful was found in these votes",
        "findings": findings,
        "unchecked": [(name.replace("-", " "), why) for name, why in told["unchecked"].items()],
        "warnings": told["warnings"],
        "robust": told["robust"] or {"lines": [], "why_not": "", "flip": None},
    }


def agent(seen: Snapshot, name: str, past: Sequence[Rated]) -> View | None:
    told = content.agent(seen, name, past)
    if told is None:
        return None
    (row,) = in_words([told["row"]], seen)
    digits = decimals(seen.ratings)
    met = [
        {
            **other,
            "won": number(other["wins"]),
            "lost": number(other["losses"]),
            "tied": number(other["ties"]),
            "share": _share(other["wins"], other["losses"]),
            "address": pair_address(name, other["agent"]),
        }
        for other in told["met"]
    ]
    ranges = [("rank range", row["rank_range"]), ("rating range", row["rating_range"])]
    return {
        "agent": name,
        "facts": [
            ("rank", f"{row['rank']:,} of {len(seen.ratings):,}"),
            ("rating", row["rating"]),
            *((f"{words} at {_level(_found(seen))}", value) for words, value in ranges if value),
            ("votes", row["votes"]),
        ],
        "marks": row["marks"],
        "met": met,
        "history": [{**one, "shown": signed(one["rating"], digits)} for one in told["history"][: -_FITS - 1 : -1]],
        "chart": _chart(told["history"], digits),
    }


def _chart(history: Sequence[View], digits: int) -> Picture | None:
    if len(history) < 2:
        return None
    times, values = [one["made"] for one in history], [one["rating"] for one in history]
    hovers = [f"{said(one['made'])}: {signed(one['rating'], digits)}, rank {one['rank']}" for one in history]
    return Picture(*(drawing.timeline(times, values, hovers, width=width) for width in (WIDE, NARROW)))


def pair(seen: Snapshot, a: str, b: str) -> View | None:
    told = content.pair(seen, a, b)
    if told is None:
        return None
    won, lost, tied = told["wins"], told["losses"], told["ties"]
    if won == lost:
        words = f"{a} and {b} are level" if won + tied else f"{a} and {b} never met"
    else:
        words = f"{a if won > lost else b} beats {b if won > lost else a} by {number(abs(won - lost))}"
    ranks = {row["agent"]: row["rank"] for row in told["rows"]}
    upside = (won - lost) * (ranks[b] - ranks[a]) < 0
    return {
        "a": a,
        "b": b,
        "answer": f"{words}.",
        "detail": "Still the one that is beaten stands higher on the board: others count too." if upside else "",
        "won": number(won),
        "lost": number(lost),
        "tied": number(tied),
        "bar": Picture(*(drawing.shares((a, b), won, tied, lost, width=w) for w in (WIDE, NARROW)))
        if won + lost + tied
        else None,
        "rows": in_words(told["rows"], seen),
    }


def history(seen: Snapshot, past: Sequence[Rated]) -> View:
    fits = content.history(seen, past)["fits"]
    columns = [past[k] for k in np.unique(np.linspace(0, len(past) - 1, min(_COLUMNS, len(past))).astype(int))]
    names, ranks = _ranks_over_time(seen, columns)
    # A hyphen would break the title of a column.
    titles = [said(fit.made)[5:].replace("-", "\u2011") for fit in columns]
    several = len(columns) > 1 and len(names) > 1
    return {
        "bump": Picture(*(drawing.bump(titles, names, ranks, width=width) for width in (WIDE, NARROW)))
        if several
        else None,
        "n_bump": len(names),
        "n_columns": len(columns),
        "n_fits": len(fits),
        "fits": [{**fit, "first": fit["order"][:3]} for fit in fits[: -_FITS - 1 : -1]],
    }


def _ranks_over_time(seen: Snapshot, fits: Sequence[Rated]) -> tuple[list[str], list[list[int]]]:
    """The agents that the newest fit ranks best of those that all fits know, and their rank at each."""
    if not fits:
        return [], []
    known = min(len(fit.values) for fit in fits)
    best = np.argsort(-fits[-1].values[:known], kind="stable")[: pictures.BUMP]
    places = [np.searchsorted(np.sort(-fit.values), -fit.values[best], side="left") + 1 for fit in fits]
    return [seen.ratings.agents[k] for k in best], np.array(places).T.tolist()


def _found(seen: Snapshot) -> View:
    return seen.fit.found if seen.fit else {}


def _since(seen: Snapshot) -> int:
    """Votes that the last fit has not seen."""
    return max(seen.n_votes - seen.fit.found["n_votes"], 0) if seen.fit else 0


def _level(found: View) -> str:
    return f"{100 * found['level']:g} %" if found.get("level") else ""


def _flipping(flip: View) -> str:
    return f"{flip['votes']:,}" if flip.get("votes") is not None else f"at least {flip['bound']:,}"


def _column(seen: Snapshot, name: str) -> Floats | None:
    """Numbers of the last fit by agent; nan for agents that it does not know."""
    given = _found(seen).get(name)
    if given is None:
        return None
    values = np.full(len(seen.ratings), np.nan)
    values[: len(given)] = np.array(given, dtype=float)
    return values


def _methods(seen: Snapshot, found: View) -> View:
    names = seen.ratings.agents
    given = found.get("methods", {})
    picture, shown = pictures.bump(
        {title: {names[int(k)]: rank for k, rank in ranks.items()} for title, ranks in given.items()}
    )
    moves = found.get("moves", [])
    return {
        "bump": picture,
        "n_bump": shown,
        "n_linked": min((len(ranks) for ranks in given.values()), default=0),
        "violations": found.get("violations", []),
        "moves": moves,
        "agree": picture is not None and not moves,
        "method_notes": found.get("method_notes", []),
    }


def _share(won: float, lost: float) -> str:
    return f"{100 * won / (won + lost):.0f} %" if won + lost else ""


def said(time: float) -> str:
    """A time for people."""
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M")
