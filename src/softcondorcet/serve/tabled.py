"""The rows of the table of agents: which are shown, in which order, and what each says in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from softcondorcet.reporting.leaderboard import decimals, ranged, signed
from softcondorcet.reporting.verdict import Verdict
from softcondorcet.serve.asked import Asked
from softcondorcet.serve.board import Snapshot

View = dict[str, Any]


@dataclass(frozen=True)
class Block:
    """Rows one after another; `told` says in words that these agents cannot be told apart, where that is so."""

    rows: Sequence[View]
    told: str


def agent_address(name: str) -> str:
    return f"agent?{urlencode({'name': name})}"


def pair_address(a: str, b: str) -> str:
    return f"pair?{urlencode({'a': a, 'b': b})}"


def chosen(rows: Sequence[View], asked: Asked) -> list[View]:
    """The rows to show, in the order asked for."""
    part = asked.find.casefold()
    found = [row for row in rows if part in row["agent"].casefold()]
    column, falling = asked.sort.removeprefix("-"), asked.sort.startswith("-")
    keys = {
        "rank": lambda row: row["rank"],
        "agent": lambda row: row["agent"].casefold(),
        "rating": lambda row: row["rating"],
        "votes": lambda row: row["votes"],
        "overall": lambda row: row.get("rank_overall") or len(rows) + 1,
    }
    return sorted(found, key=keys[column], reverse=falling) if asked.sort != "rank" else found


def in_words(rows: Sequence[View], seen: Snapshot) -> list[View]:
    """Rows of ``content.rows`` in words."""
    digits = decimals(seen.ratings)
    return [_row(row, seen.ratings.condorcet_winner, seen.verdict, digits) for row in rows]


def _row(row: View, winner: str | None, says: Verdict, digits: int) -> View:
    marks = []
    if row["agent"] == winner:
        marks.append(("good", "beats all"))
    if says.kind == "cycle" and row["agent"] in says.names:
        marks.append(("caution", "in the circle"))
    if row["provisional"]:
        marks.append(("note", "provisional"))
    low, high = row["rating_low"], row["rating_high"]
    overall = row.get("rank_overall")
    up = overall - row["rank"] if overall else 0
    return {
        "rank": row["rank"],
        "name": row["agent"],
        "rating": signed(row["rating"], digits),
        "rating_range": "" if low is None or high is None else f"{signed(low, digits)} to {signed(high, digits)}",
        "rank_range": "" if row["rank_low"] is None else ranged(row["rank_low"], row["rank_high"]),
        "votes": f"{row['votes']:,.0f}",
        "marks": marks,
        "address": agent_address(row["agent"]),
        "overall": f"{overall} {'▲' if up > 0 else '▼'}{abs(up)}" if overall and up else f"{overall or ''}",
        "moved": "up" if up > 0 else "down" if up < 0 else "",
    }


def spans(rows: Sequence[View]) -> Iterator[tuple[int, int]]:
    """First and last place of rows one after another in the same tie group."""
    first = 0
    for place in range(1, len(rows) + 1):
        own = rows[first]["tie_group"]
        if place == len(rows) or own is None or rows[place]["tie_group"] != own:
            yield first, place - 1
            first = place


def blocks(rows: Sequence[View], shown: Sequence[View]) -> Iterator[Block]:
    for first, last in spans(rows):
        ranks = rows[first]["rank"], rows[last]["rank"]
        words = f"ranks {ranks[0]:,} to {ranks[1]:,}" if ranks[1] > ranks[0] else "these"
        yield Block(shown[first : last + 1], f"{words} cannot be told apart" if last > first else "")


def caption(agents: int, found: int, shown: int, asked: Asked) -> str:
    order = "best first" if asked.sort in ("rank", "-rating") else "sorted"
    if asked.find:
        return f"{found:,} of {agents:,} agents have {asked.find!r} in their name, {order}"
    return f"{'All' if shown == agents else f'{shown:,} of'} {agents:,} agents, {order}"
