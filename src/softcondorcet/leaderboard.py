"""Rows of a leaderboard: one type for tables, JSON, CSV, the report and the pages of a live board.

A column is a field of ``Row``. A field that is added there, with a title, appears in all of them: ``as_dicts`` gives
rows as plain data, ``columns`` and ``in_words`` what a table for people has.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from softcondorcet.arrays import Floats, Ints
from softcondorcet.formatting import number, percent, signed, span

if TYPE_CHECKING:
    from softcondorcet.ratings import Ratings

# Of JSON with such rows; it grows when the meaning of a key changes.
SCHEMA = 3


def column(title: str = "", kind: str = "text", *, default: Any = None, optional: bool = False) -> Any:
    """A field of ``Row``. It has a column of its own in tables for people if it has a title.

    `kind` says how it is put in words, see ``in_words``; `optional` fields are left out of data where no row has them.
    """
    return field(default=default, metadata={"title": title, "kind": kind, "optional": optional})


@dataclass(frozen=True, kw_only=True)
class Row:
    """One agent on a leaderboard; None for what is not known.

    ``rank_low`` to ``rank_high`` and ``rating_low`` to ``rating_high`` are intervals. ``win_chance`` is the mean chance
    to come out above another agent, where ratings are log-odds. ``facts`` are notes about the agent, by name.
    ``unplaced`` is the reason why an agent has no place among the others; ``provisional`` marks one with few votes.
    Agents of one ``tie_group`` cannot be told apart from the first of it. ``rank_overall`` is the rank by all votes of
    a board, where these are some of them.
    """

    rank: int | None = column("Rank", "rank")
    rank_low: int | None = column()
    rank_high: int | None = column()
    agent: str = column("Agent", "agent", default="")
    rating: float | None = column("Rating", "rating")
    rating_low: float | None = column()
    rating_high: float | None = column()
    win_chance: float | None = column("Win chance", "percent")
    votes: float | None = column("Votes", "votes")
    mean_score: float | None = column("Mean score", "mean", optional=True)
    facts: Mapping[str, str | float] | None = column(optional=True)
    unplaced: str | None = column("Unplaced", optional=True)
    tie_group: int | None = column(optional=True)
    provisional: bool | None = column(optional=True)
    rank_overall: int | None = column("Overall", "overall", optional=True)


class Unplaced(NamedTuple):
    """Why an agent has no rank, and what would give it one; `group` is 0 for one of the main group of agents."""

    reason: str
    group: int = 0


class Intervals(Protocol):
    """Ends of the intervals of each agent, by number: of a bootstrap, a posterior or a stored fit."""

    @property
    def rank_low(self) -> Any: ...
    @property
    def rank_high(self) -> Any: ...
    @property
    def rating_low(self) -> Any: ...
    @property
    def rating_high(self) -> Any: ...


def leaderboard(
    ratings: Ratings,
    intervals: Intervals | None = None,
    *,
    top: int | None = None,
    more: Mapping[str, Sequence[Any]] | None = None,
) -> list[Row]:
    """Rows of the best `top` agents, best first, those without a place below; `more` has further fields by agent."""
    given: dict[str, Any] = {"rank": ratings.places, "agent": ratings.agents, "rating": ratings.values}
    if ratings.placement:
        given |= {"rank": [place or None for place in ratings.places.tolist()], "unplaced": ratings.unplaced}
    given |= {"votes": ratings.votes, "win_chance": ratings.win_chances}
    if intervals is not None:
        given |= {name: getattr(intervals, name) for name in ("rank_low", "rank_high", "rating_low", "rating_high")}
    if ratings.facts:
        given["facts"] = [dict(ratings.facts.get(name, {})) or None for name in ratings.agents]
    given |= more or {}
    chosen = ratings.listing[:top].tolist()
    columns = [
        repeat(f.default, len(chosen)) if given.get(f.name) is None else _of(given[f.name], chosen) for f in fields(Row)
    ]
    names = [f.name for f in fields(Row)]
    rows = []
    for values in zip(*columns, strict=True):
        row = object.__new__(Row)  # the constructor of a frozen class takes three times as long
        vars(row).update(zip(names, values, strict=True))
        rows.append(row)
    return rows


def placed(ratings: Ratings) -> Ints:
    """Numbers of the agents with a rank, best first; of all agents where fewer than two have one."""
    ranked = int((ratings.places > 0).sum())
    return ratings.listing[:ranked] if ranked > 1 else ratings.listing


def _of(values: Any, chosen: Sequence[int]) -> list[Any]:
    """The values of some agents; None for nan."""
    if not isinstance(values, np.ndarray):
        return [values[k] for k in chosen]
    picked = values[chosen]
    return (
        [None if value != value else value for value in picked.tolist()] if np.isnan(picked).any() else picked.tolist()
    )


def as_dicts(rows: Sequence[Row], always: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Rows as plain data: all fields but the optional ones that no row has and that are not named in `always`."""
    kept = [f.name for f in fields(rows[0]) if _wanted(f, rows, always)] if rows else []
    return [{name: values[name] for name in kept} for values in map(vars, rows)]


def _wanted(field: Any, rows: Sequence[Row], always: Iterable[str]) -> bool:
    if not field.metadata["optional"] or field.name in always:
        return True
    return any(vars(row)[field.name] is not None for row in rows)


def flat(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The same with a column for each fact."""
    names = dict.fromkeys(name for row in rows for name in row.get("facts") or ())
    return [
        {key: value for key, value in row.items() if key != "facts"}
        | {name: (row.get("facts") or {}).get(name) for name in names}
        for row in rows
    ]


class Column(NamedTuple):
    """A column of a table for people: the field or fact it shows, its title, and how its cells are put in words."""

    name: str
    title: str
    kind: str


# Facts that are no columns for people: they are about the name of an agent.
LINK, COLOUR = "link", "colour"


class Cell(NamedTuple):
    """What a table says in one cell, the interval beside it, and "up" or "down" where it says that something moved."""

    text: str
    range: str = ""
    moved: str = ""


def columns(rows: Sequence[Row]) -> list[Column]:
    """The columns that a table of these rows has: none that is empty, but always rank, agent, rating and votes."""
    usual = ("rank", "agent", "rating", "votes")
    shown = [
        Column(f.name, f.metadata["title"], f.metadata["kind"])
        for f in fields(rows[0] if rows else Row)
        if f.metadata["title"] and (f.name in usual or any(getattr(row, f.name) is not None for row in rows))
    ]
    facts = dict.fromkeys(name for row in rows for name in row.facts or ())
    return [*shown, *(Column(name, name, "fact") for name in facts if name not in (LINK, COLOUR))]


def decimals(values: Floats) -> int:
    """Digits after the point that show about a thousandth of the span of the ratings."""
    spread = float(np.ptp(values)) if len(values) else 0.0
    return min(max(3 - math.ceil(math.log10(spread)), 0), 6) if spread > 0 else 1


def rounded(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows as a terminal shows them: ratings to a thousandth of their span, chances to one in a thousand.

    Of why an agent has no rank, the reason without what would give it one. Rows of anything else stay as they are.
    """
    ratings = [row["rating"] for row in rows if isinstance(row.get("rating"), float) and math.isfinite(row["rating"])]
    digits = decimals(np.array(ratings))
    return [{name: _rounded(name, value, digits) for name, value in row.items()} for row in rows]


def _rounded(name: str, value: Any, digits: int) -> Any:
    if name == "unplaced" and value is not None:
        return str(value).partition(":")[0]
    if not isinstance(value, float) or not math.isfinite(value):
        return value
    if name in ("rating", "rating_low", "rating_high"):
        return round(value, digits)
    return round(value, 3) if name == "win_chance" else value


def in_words(row: Row, shown: Iterable[Column], digits: int) -> dict[str, Cell]:
    """The cells of a row; ratings have so many `digits` after the point."""
    return {column.name: _cell(row, column, digits) for column in shown}


def _cell(row: Row, column: Column, digits: int) -> Cell:
    value: Any = (row.facts or {}).get(column.name) if column.kind == "fact" else getattr(row, column.name)
    if value is None:
        return Cell("")
    match column.kind:
        case "rank":
            low, high = row.rank_low, row.rank_high
            return Cell(f"{value:,}", "" if low is None or high is None else span(low, high))
        case "rating":
            ends = [signed(end, digits) for end in (row.rating_low, row.rating_high) if end is not None]
            return Cell(signed(value, digits), " to ".join(ends))
        case "percent":
            return Cell(percent(value, 1))
        case "mean":
            return Cell(signed(value, decimals(np.array([0.0, value]))))
        case "overall":
            up = 0 if row.rank is None else value - row.rank
            if not up:
                return Cell(f"{value:,}")
            return Cell(f"{value:,} {'▲' if up > 0 else '▼'}{abs(up):,}", moved="up" if up > 0 else "down")
    return Cell(number(value) if isinstance(value, int | float) and not isinstance(value, bool) else str(value))


def mean_chances(strength: Floats) -> Floats:
    """For each strength in log-odds, the mean of 1 / (1 + exp(other - own)) over the others.

    The mean over all is a smooth function of the own strength. Where agents are many it is computed at places an eighth
    apart and interpolated by cubics through its values and slopes, which is off by less than 1e-7.
    """
    m = len(strength)
    low, high = float(strength.min()), float(strength.max())
    places = min(m, 2 + math.ceil(8 * (high - low)))
    at = strength if places == m else np.linspace(low, high, places)
    value, slope = np.empty(places), np.empty(places)
    for j, place in enumerate(at.tolist()):
        chance = 0.5 + 0.5 * np.tanh(0.5 * (place - strength))
        value[j], slope[j] = chance.mean(), (chance * (1 - chance)).mean()
    if places < m:
        step = at[1] - at[0] or 1.0  # or 1: where all are equal
        k = np.clip(((strength - low) / step).astype(np.int64), 0, places - 2)
        t = (strength - at[k]) / step
        left = (1 + 2 * t) * value[k] + t * step * slope[k]
        right = (3 - 2 * t) * value[k + 1] - (1 - t) * step * slope[k + 1]
        value = (1 - t) ** 2 * left + t**2 * right
    chances: Floats = (m * value - 0.5) / (m - 1)
    return chances
