"""What a visitor asks of a leaderboard, as the address of the page says it: which votes, which rows, which order."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from softcondorcet.serve.names import LONGEST
from softcondorcet.serve.votes import Filter

SORTS = ("rank", "agent", "rating", "votes", "overall")
TOP, MOST = 500, 100_000


class BadAddress(ValueError):  # noqa: N818
    """An address that cannot be understood, and why."""


@dataclass(frozen=True)
class Asked:
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
        """The page with something else asked for."""
        return f"./{_query(replace(self, **changes))}"

    def data(self, twin: str) -> str:
        """Where the same votes are given as data."""
        return twin + _query(Asked(self.group, self.since, self.until))

    def words(self) -> str:
        """Which votes, for people."""
        parts = [
            f"group {self.group}" if self.group is not None else "",
            f"from {_local(self.since, ' ')} UTC on" if self.since is not None else "",
            f"before {_local(self.until, ' ')} UTC" if self.until is not None else "",
        ]
        return ", ".join(filter(None, parts))


def asked(query: Mapping[str, str]) -> Asked:
    """What an address asks for. A form sends empty fields too: they ask for nothing."""
    sort = query.get("sort") or "rank"
    if sort.removeprefix("-") not in SORTS:
        raise BadAddress(f"sort: expected one of {', '.join(SORTS)}, got {sort[:40]!r}")
    top = query.get("top") or str(TOP)
    if not (top.isascii() and top.isdigit() and 1 <= int(top[:9]) <= MOST):
        raise BadAddress(f"top: expected a number from 1 to {MOST:,}, got {top[:40]!r}")
    times = _time(query.get("since", ""), "since"), _time(query.get("until", ""), "until")
    return Asked(query.get("group", "")[:LONGEST] or None, *times, query.get("find", "")[:LONGEST], sort, int(top))


def _time(text: str, what: str) -> float | None:
    """Seconds since 1970 of a number, a date, or a date and time (UTC)."""
    if not text:
        return None
    try:
        found = float(text)
    except ValueError:
        try:
            moment = datetime.fromisoformat(text)
            found = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            found = math.nan
    # Up to the year 9999, which is as far as a form can say.
    if not 0 <= found < 253_402_300_800:
        raise BadAddress(f"{what}: expected a time such as 2026-01-31T12:00, got {text[:40]!r}")
    return found


def _local(time: float | None, between: str = "T") -> str:
    return "" if time is None else datetime.fromtimestamp(time, UTC).replace(tzinfo=None).isoformat(between, "minutes")


def _query(what: Asked) -> str:
    told = {field.name: getattr(what, field.name) for field in fields(what)}
    usual = Asked()
    given = {name: value for name, value in told.items() if value != getattr(usual, name)}
    return f"?{urlencode(given)}" if given else ""
