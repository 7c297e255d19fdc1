"""The query of a leaderboard page, as its address says it: which votes, which rows, which order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from softcondorcet.server.ledger.board import Filter
from softcondorcet.server.ledger.limits import LONGEST, BadName

SORTS = ("rank", "agent", "rating", "votes", "overall")
TOP, MOST = 500, 100_000
_ADDED = ("fbclid", "gclid", "ref")


class BadAddress(BadName):
    """The error of a query that cannot be parsed; its text says why."""


@dataclass(frozen=True)
class PageQuery:
    """`sort` is a column, with a minus the other way round; `find` a part of names; `top` the most rows to show."""

    group: str | None = None
    since: float | None = None
    until: float | None = None
    find: str = ""
    sort: str = "rank"
    top: int = TOP

    @property
    def wanted(self) -> Filter:
        return Filter(self.group, self.since, self.until)

    @property
    def since_local(self) -> str:
        return _local(self.since)

    @property
    def until_local(self) -> str:
        return _local(self.until)

    def address(self, **changes: Any) -> str:
        """The address of this page with some parameters changed."""
        return f"./{_query(replace(self, **changes))}"

    def data(self, twin: str) -> str:
        """The address of the same votes as data."""
        return twin + _query(PageQuery(self.group, self.since, self.until))

    def words(self) -> str:
        """The filter in words for people."""
        parts = [
            f"group {self.group}" if self.group is not None else "",
            f"from {_local(self.since, ' ')} UTC on" if self.since is not None else "",
            f"before {_local(self.until, ' ')} UTC" if self.until is not None else "",
        ]
        return ", ".join(filter(None, parts))


def parse(query: Mapping[str, str]) -> PageQuery:
    """Parse the query of an address. Empty fields, as a form sends them, count as left out."""
    expect_only(query, [field.name for field in fields(PageQuery)])
    sort = query.get("sort") or "rank"
    if sort.removeprefix("-") not in SORTS:
        raise BadAddress(f"sort: expected one of {', '.join(SORTS)}, got {sort[:40]!r}")
    top = query.get("top") or str(TOP)
    if not (top.isascii() and top.isdigit() and len(top) < 10 and 1 <= int(top) <= MOST):
        raise BadAddress(f"top: expected a number from 1 to {MOST:,}, got {top[:40]!r}")
    times = _time(query.get("since", ""), "since"), _time(query.get("until", ""), "until")
    return PageQuery(query.get("group", "")[:LONGEST] or None, *times, query.get("find", "")[:LONGEST], sort, int(top))


def expect_only(query: Mapping[str, str], names: Sequence[str]) -> None:
    """Refuse unknown parameters: a misspelt filter must not pass for none. What other sites add to links is ignored."""
    for name in query:
        if name not in names and name not in _ADDED and not name.startswith("utm_"):
            raise BadAddress(f"{name[:LONGEST]!r} is not a parameter; expected {', '.join(names) or 'none here'}")


def _time(text: str, what: str) -> float | None:
    """Seconds since 1970 of a number, a date, or a date and time (UTC)."""
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        try:
            moment = datetime.fromisoformat(text)
            seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            seconds = math.nan
    # Up to the year 9999, which is as far as a form can say.
    if not 0 <= seconds < 253_402_300_800:
        raise BadAddress(f"{what}: expected a time such as 2026-01-31T12:00, got {text[:40]!r}")
    return seconds


def _local(time: float | None, between: str = "T") -> str:
    return "" if time is None else datetime.fromtimestamp(time, UTC).replace(tzinfo=None).isoformat(between, "minutes")


def _query(what: PageQuery) -> str:
    values = {field.name: getattr(what, field.name) for field in fields(what)}
    usual = PageQuery()
    given = {name: value for name, value in values.items() if value != getattr(usual, name)}
    return f"?{urlencode(given)}" if given else ""
