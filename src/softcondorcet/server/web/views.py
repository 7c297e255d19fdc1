"""From one snapshot to the words, numbers and drawings that the templates put on pages.

Among them is the table of agents: which rows are shown, in which order, and what each says in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import numpy as np

from softcondorcet import charts
from softcondorcet.formatting import confidence, number, percent, plural, signed
from softcondorcet.leaderboard import COLOUR, LINK, Row, decimals
from softcondorcet.reporting import page
from softcondorcet.reporting.page import NARROW, WIDE, Picture
from softcondorcet.reporting.table import table as board_table
from softcondorcet.server.ledger.snapshot import Rated, Snapshot
from softcondorcet.server.web import content
from softcondorcet.server.web.page_query import SORTS, PageQuery

View = dict[str, Any]
# Columns of the picture of past fits, and rows of their table.
_COLUMNS, _FITS = 8, 100


def agent_address(name: str) -> str:
    return f"agent?{urlencode({'name': name})}"


def pair_address(a: str, b: str) -> str:
    return f"pair?{urlencode({'a': a, 'b': b})}"


def chosen(rows: Sequence[Row], query: PageQuery) -> list[Row]:
    """The rows to show, in the order asked for."""
    part = query.find.casefold()
    shown = [row for row in rows if part in row.agent.casefold()]
    column, falling = query.sort.removeprefix("-"), query.sort.startswith("-")
    keys = {
        "rank": lambda row: row.rank or 0,
        "agent": lambda row: row.agent.casefold(),
        "rating": lambda row: row.rating or 0.0,
        "votes": lambda row: row.votes,
        "overall": lambda row: row.rank_overall or len(rows) + 1,
    }
    return sorted(shown, key=keys[column], reverse=falling) if query.sort != "rank" else shown


def heads(query: PageQuery) -> dict[str, tuple[str, str]]:
    """By column, where its head leads to sort by it, and the order of rows by it now."""
    column, falling = query.sort.removeprefix("-"), query.sort.startswith("-")
    order = "descending" if falling else "ascending"
    return {
        kind: (
            query.address(sort=f"-{kind}" if kind == column and not falling else kind),
            order if kind == column else "",
        )
        for kind in SORTS
    }


def caption(agents: int, matching: int, shown: int, query: PageQuery, *, pending: bool = False) -> str:
    order = "sorted" if query.sort not in ("rank", "-rating") else "by name" if pending else "best first"
    if query.find:
        return f"{matching:,} of {agents:,} agents have {query.find!r} in their name, {order}"
    return f"{'All' if shown == agents else f'{shown:,} of'} {agents:,} agents, {order}"


def board(snapshot: Snapshot, overall: Snapshot | None, groups: Sequence[str], query: PageQuery) -> View:
    """The leaderboard of a snapshot; of some votes only where there is an `overall` one to hold it against."""
    fit, says = content.analysis(snapshot), snapshot.verdict
    rows = content.rows(snapshot, overall)
    wanted = chosen(rows, query)
    shown = wanted[: query.top]
    in_order = query.sort == "rank" and not query.find and not snapshot.pending
    since, flip = _since(snapshot), (fit.robust or {}).get("flip")
    view: View = {
        **page.view(fit, rows, says, link=pair_address),
        "table": board_table(shown, snapshot.ratings, says, whole=rows if in_order else None, link=agent_address),
        "heads": heads(query),
        "caption": caption(len(rows), len(wanted), len(shown), query, pending=snapshot.pending),
        "facts": [
            ("agents", f"{len(rows):,}"),
            ("votes", f"{snapshot.n_votes:,}"),
            *([("weights", "each group the same")] if snapshot.fit and snapshot.fit.analysis.get("balanced") else []),
        ],
        "pending": f"A fit of {plural(snapshot.n_votes, 'vote')} is under way" if snapshot.pending else "",
        "since": since,
        "flip": (flip or {}).get("words", ""),
        "wanted": query.words() if overall is not None else "",
        "groups": sorted(groups),
        "asked": query,
        "n_found": len(wanted),
        "n_shown": len(shown),
        "robust": _robust(fit.robust),
    }
    if snapshot.pending:
        view |= {"sure": "", "flip": "", "level": "", "summary": "", "unsure": ""}
    elif since:
        view["summary"] = ""
    return view


def doctor(snapshot: Snapshot) -> View:
    """What is doubtful, as of the last fit."""
    fit = content.analysis(snapshot)
    view = page.support(fit)
    answer = "These votes have not been inspected yet"
    if view["inspected"]:
        things = plural(len(view["findings"]), "thing")
        answer = (
            f"{things} to know about these votes" if view["findings"] else "Nothing doubtful was found in these votes"
        )
    return {**view, "answer": answer, "robust": _robust(fit.robust)}


def _robust(robust: Any) -> View:
    return robust or {"lines": [], "why_not": "", "flip": None}


def agent(snapshot: Snapshot, name: str, past: Sequence[Rated]) -> View | None:
    known = content.agent(snapshot, name, past)
    if known is None:
        return None
    row = next(row for row in content.rows(snapshot) if row.agent == name)
    table = board_table([row], snapshot.ratings, snapshot.verdict)
    digits = decimals(snapshot.ratings.values)
    interval = confidence(fit.level) if (fit := content.analysis(snapshot)).level else ""
    met = [
        {
            **other,
            "won": number(other["wins"]),
            "lost": number(other["losses"]),
            "tied": number(other["ties"]),
            "share": _share(other["wins"], other["losses"]),
            "address": pair_address(name, other["agent"]),
        }
        for other in known["met"]
    ]
    (line,) = table.lines
    facts = []
    for column in table.columns:
        if column.kind == "bar":
            continue
        cell, of = line.cells[column.name], f" of {len(snapshot.ratings):,}" if column.kind == "rank" else ""
        if column.kind != "agent":
            facts.append((column.title.lower(), f"{cell.text}{of}" if cell.text else "not known yet"))
        if cell.range:
            facts.append((f"{column.title.lower()} range at {interval}", cell.range))
    about = row.facts or {}
    facts += [
        (str(title), number(fact) if isinstance(fact, int | float) else fact)
        for title, fact in about.items()
        if title not in (LINK, COLOUR)
    ]
    return {
        "agent": name,
        "facts": facts,
        "home": about.get(LINK, ""),
        "marks": line.marks,
        "met": met,
        "history": [{**one, "shown": signed(one["rating"], digits)} for one in known["history"][: -_FITS - 1 : -1]],
        "chart": _chart(known["history"], digits),
    }


def _chart(history: Sequence[View], digits: int) -> Picture | None:
    if len(history) < 2:
        return None
    times, values = [one["made"] for one in history], [one["rating"] for one in history]
    hovers = [f"{minute(one['made'])}: {signed(one['rating'], digits)}, rank {one['rank']}" for one in history]
    return Picture(*(charts.timeline(times, values, hovers, width=width) for width in (WIDE, NARROW)))


def pair(snapshot: Snapshot, a: str, b: str) -> View | None:
    known = content.pair(snapshot, a, b)
    if known is None:
        return None
    won, lost, tied = known["wins"], known["losses"], known["ties"]
    if won == lost:
        words = f"{a} and {b} are level" if won + tied else f"{a} and {b} never met"
    else:
        words = f"{a if won > lost else b} beats {b if won > lost else a} by {number(abs(won - lost))}"
    rows = [row for row in content.rows(snapshot) if row.agent in (a, b)]
    ranks = {row.agent: row.rank or 0 for row in rows}
    upside = (won - lost) * (ranks[b] - ranks[a]) < 0
    return {
        "a": a,
        "b": b,
        "answer": f"{words}.",
        "detail": "Still the one that is beaten stands higher on the board: others count too." if upside else "",
        "won": number(won),
        "lost": number(lost),
        "tied": number(tied),
        "bar": Picture(*(charts.shares((a, b), won, tied, lost, width=w) for w in (WIDE, NARROW)))
        if won + lost + tied
        else None,
        "table": board_table(rows, snapshot.ratings, snapshot.verdict, link=agent_address),
    }


def history(snapshot: Snapshot, past: Sequence[Rated]) -> View:
    fits = content.history(snapshot, past)["fits"]
    sample = [past[k] for k in np.unique(np.linspace(0, len(past) - 1, min(_COLUMNS, len(past))).astype(int))]
    names, ranks = ranks_over_time(snapshot, sample)
    # A hyphen would break the title of a column.
    titles = [minute(fit.made)[5:].replace("-", "\u2011") for fit in sample]
    several = len(sample) > 1 and len(names) > 1
    return {
        "bump": Picture(*(charts.bump(titles, names, ranks, width=width) for width in (WIDE, NARROW)))
        if several
        else None,
        "n_bump": len(names),
        "n_columns": len(sample),
        "n_fits": len(fits),
        "fits": [{**fit, "first": fit["order"][:3]} for fit in fits[: -_FITS - 1 : -1]],
    }


def ranks_over_time(snapshot: Snapshot, fits: Sequence[Rated]) -> tuple[list[str], list[list[int]]]:
    """The agents that the newest fit ranks best of those that all fits know, and their rank at each."""
    if not fits:
        return [], []
    known = min(len(fit.values) for fit in fits)
    best = np.argsort(-fits[-1].values[:known], kind="stable")[: page.BUMP]
    places = [np.searchsorted(np.sort(-fit.values), -fit.values[best], side="left") + 1 for fit in fits]
    return [snapshot.ratings.agents[k] for k in best], np.array(places).T.tolist()


def _since(snapshot: Snapshot) -> int:
    """Votes that the last fit does not know."""
    return max(snapshot.n_votes - snapshot.fit.analysis["n_votes"], 0) if snapshot.fit else 0


def _share(won: float, lost: float) -> str:
    return percent(won / (won + lost)) if won + lost else ""


def minute(time: float) -> str:
    """A time for people."""
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M")
