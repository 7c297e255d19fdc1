"""Conditions on votes: ``language=en``, ``judge!=anna``, ``when>=2026-01-01``, ``agent!=gpt-4``.

A condition names a column of the votes, or what else is known of each: ``group``, ``voter``, ``weight``, ``when`` (also
by the usual names of times). Values between commas are alternatives, several conditions must all be met, and an empty
value means a blank. Names are compared as they stand, else whatever their case; a date is a period, so ``when=2026-01``
is any time of that month. A blank is unequal to every value, and neither above nor below one.

``agent`` is about agents, not votes: votes lose the agents that are not wanted.
"""

from __future__ import annotations

import csv
import operator
import re
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import MAXYEAR, UTC, date, datetime
from typing import Any

import numpy as np

from softcondorcet.arrays import Flags, Floats
from softcondorcet.checks import near
from softcondorcet.columns import Column
from softcondorcet.errors import DataError, OptionError
from softcondorcet.formatting import number, plural, some
from softcondorcet.io.cells import read_number, read_time
from softcondorcet.io.column_names import PAIRS, TIME, WEIGHT
from softcondorcet.profile import Profile
from softcondorcet.source import Selection

Where = str | Collection[str] | Mapping[str, Any]

_FORM = re.compile(r'\s*("(?:[^"]|"")+"|.+?)\s*(==|!=|>=|<=|=|>|<)(.*)', re.DOTALL)
COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq, "!=": operator.ne, ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt,
}  # fmt: skip
_EXAMPLE = "COLUMN=VALUE, or with !=, <, <=, > or >= in place of =, as in 'language=en' or 'when>=2026-01-01'"
_AGENT = ("agent", "agents")
_PERIOD = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?", re.ASCII)
# Columns that play these roles stand elsewhere in a profile: read for a condition, they are not kept beside it.
_ROLES = {*TIME, *WEIGHT, "n", *(name for pair in PAIRS for name in pair), "winner", "rank", "score"}
# Numbers from here on are seconds since 1970, in a column that is called as times are: this is in 1973.
_FIRST_SECOND = 1e8
# How many values of a column an error lists.
_LISTED = 8


@dataclass(frozen=True)
class Condition:
    """One condition: a column, an operator, and the values of which one is enough; the empty text is a blank."""

    column: str
    operator: str
    values: tuple[str, ...]

    def __str__(self) -> str:
        return f"{_quoted(self.column)}{self.operator}{','.join(map(_quoted, self.values))}"

    @property
    def of_agents(self) -> bool:
        return self.column.casefold() in _AGENT


def conditions(where: Where) -> tuple[Condition, ...]:
    """Conditions from text, several texts, or values by column: ``{"language": ["en", "de"]}``."""
    if isinstance(where, Mapping):
        return tuple(_of_values(str(column), values) for column, values in where.items())
    return tuple(map(_parsed, [where] if isinstance(where, str) else where))


def _parsed(text: object) -> Condition:
    found = _FORM.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise OptionError(f"where must be {_EXAMPLE}, got {text!r}")
    column, sign, rest = found[1], found[2].replace("==", "="), found[3].strip()
    try:
        cells = next(csv.reader([rest], skipinitialspace=True, strict=True), []) or [""]
    except csv.Error:
        raise OptionError(f"where must be {_EXAMPLE} with quotes that end, got {text!r}") from None
    values = tuple(cell.strip() for cell in cells)
    if sign not in ("=", "!=") and (len(values) != 1 or not values[0]):
        raise OptionError(f"where must have one value after {sign}, got {text!r}")
    return Condition(column[1:-1].replace('""', '"') if column[0] == '"' else column, sign, values)


def _of_values(column: str, values: Any) -> Condition:
    listed = values if isinstance(values, list | tuple | set | frozenset) else [values]
    return Condition(column, "=", tuple(map(_as_text, listed)) or ("",))


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
    return f"{value:.0f}" if isinstance(value, float) and value.is_integer() else str(value).strip()


def _quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"' if not word.isprintable() or any(c in word for c in ',"<>=!') else word


def columns_of(where: Collection[Condition]) -> tuple[str, ...]:
    """The columns that a reader must keep for these conditions."""
    return tuple(one.column for one in where if not one.of_agents)


def select(profile: Profile, where: Collection[Condition], keep: Collection[str] = ()) -> Profile:
    """The votes that meet all conditions. Agents that lose all their votes go with them.

    What was chosen is in the notes of the profile's source, if it has one, and in its ``selection``. Columns that only
    repeat a role, such as the time, go unless `keep` lists them.
    """
    if not where:
        return profile
    name = profile.source.name if profile.source else "votes"
    met = {one: _met(profile, one, name) for one in where if not one.of_agents}
    both = np.ones(profile.n_votes, dtype=bool)
    for flags in met.values():
        both &= flags
    if not both.any():
        counts = some([f"{plural(int(flags.sum()), 'vote')} {one}" for one, flags in met.items()], _LISTED)
        raise DataError(f"{name}: no vote meets all of these: {counts}; expected at least one, so leave one out")
    chosen = profile if both.all() else profile.take(both)
    for one in where:
        if one.of_agents:
            chosen = _among(chosen, one, name)
    chosen = without_idle(profile, chosen)
    if chosen.balance is not None:
        chosen = chosen.balanced(chosen.balance)
    extra = {column for column in columns_of(where) if column.casefold() in _ROLES} - set(keep)
    for column in extra & set(chosen.columns):
        chosen = replace(chosen, columns=chosen.columns.without(column))
    return _noted(chosen, profile, where, name)


def _noted(chosen: Profile, before: Profile, where: Collection[Condition], name: str) -> Profile:
    if chosen.source is None:
        return chosen
    earlier = chosen.source.selection
    said = tuple(map(str, where))
    note = selected(said, chosen.n_votes, before.n_votes)
    if chosen.n_agents < before.n_agents:
        note += f", {chosen.n_agents:,} of {plural(before.n_agents, 'agent')}"
    absent = [f"no vote has {text}" for one in where if not one.of_agents for text in _absent(before, one, name)]
    selection = Selection(said, chosen.n_votes, before.n_votes)
    if earlier:
        selection = Selection((*earlier.conditions, *said), chosen.n_votes, earlier.of)
    return replace(
        chosen, source=replace(chosen.source, notes=(*chosen.source.notes, note, *absent), selection=selection)
    )


def _absent(profile: Profile, one: Condition, name: str) -> list[str]:
    """The values of a condition that no vote has; they may be misspelt."""
    column, _ = column_named(profile, one.column, name)
    known = {name.casefold(): name for name in column.names}
    if column.numeric or one.operator not in ("=", "!="):
        return []
    missing = [value for value in one.values if value and value.casefold() not in known]
    return [f"{one.column} {value!r}{near(value, known.values())}" for value in missing]


def selected(said: Collection[str], votes: int, of: int) -> str:
    """How many votes were chosen, in words."""
    return f"where {' and '.join(said)}: {votes:,} of {plural(of, 'vote')}"


def _met(profile: Profile, one: Condition, name: str) -> Flags:
    """Which votes meet a condition; an error where none does, with the values that there are."""
    column, is_time = column_named(profile, one.column, name)
    met = meets(one, column, is_time, name)
    if not met.any():
        raise DataError(
            f"{name}: no vote has {one}; {one.column} is {values_of(column, is_time)}; expected one of these"
        )
    return met


def column_named(profile: Profile, name: str, place: str) -> tuple[Column, bool]:
    """The column of a profile that a user means, or a role in place of one; and whether it holds times."""
    folded = name.casefold()
    same = [name] if name in profile.columns else [other for other in profile.columns if other.casefold() == folded]
    if len(same) == 1:
        return profile.columns[same[0]], folded in TIME
    if len(same) > 1:
        raise DataError(f"{place}: columns {some(map(repr, same))} have the same name but for case; expected one")
    if folded == "group" and profile.group_by is not None:
        return profile.columns[profile.group_by], False
    if folded in TIME and profile.when is not None:
        return Column(values=profile.when), True
    if folded in (*WEIGHT, "n"):
        return Column(values=profile.weight), False
    known = [*profile.columns, *(["when"] if profile.when is not None else []), "weight", "agent"]
    there = some(map(repr, known), 12)
    raise DataError(f"{place}: no column {name!r}; there is {there}{near(name, known)}")


def values_of(column: Column, is_time: bool, counted: bool = True) -> str:
    """Some values of a column, the most frequent first, or the span of its numbers."""
    if column.codes is not None:
        counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.names))
        order = np.argsort(-counts, kind="stable")
        often = [f" ({count:,})" if counted else "" for count in counts.tolist()]
        listed = [f"{column.names[k]!r}{often[k]}" for k in order.tolist() if counts[k]]
        return some(listed, _LISTED) if listed else "blank in every vote"
    known = _numbers(column)[~np.isnan(_numbers(column))]
    if not len(known):
        return "blank in every vote"
    low, high = float(known.min()), float(known.max())
    return f"from {day(low)} to {day(high)}" if is_time else f"from {number(low)} to {number(high)}"


def day(seconds: float) -> str:
    """A time for people, UTC."""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    except (ValueError, OverflowError, OSError):
        return f"{seconds:g}"


def _numbers(column: Column) -> Floats:
    assert column.values is not None
    return column.values


# What meets a condition: names, numbers, times.


def meets(one: Condition, column: Column, is_time: bool = False, place: str = "votes") -> Flags:
    """Which cells of a column meet a condition."""
    if column.numeric:
        return _numbers_meet(one, _numbers(column), is_time and _are_times(_numbers(column)), place)
    assert column.codes is not None
    names = _names_meet(one, column.names, place)
    blank = "" in one.values if one.operator == "=" else one.operator == "!=" and "" not in one.values
    return np.append(names, blank)[column.codes]  # -1 is the last


def _are_times(numbers: Floats) -> bool:
    """Whether numbers in a column that is called as times are, are seconds since 1970: not durations, or days."""
    return bool((numbers >= _FIRST_SECOND).any())


def _names_meet(one: Condition, names: tuple[str, ...], place: str) -> Flags:
    equal = one.operator in ("=", "!=")
    if not equal or one.column.casefold() in TIME:
        for reader in (read_time,) if equal else (read_number, read_time):
            if (numbers := _all_read(names, reader)) is not None:
                return _numbers_meet(one, numbers, reader is read_time, place)
    if not equal:
        raise OptionError(
            f"{place}: where {one}: {one.column} holds names such as {names[0]!r}, not numbers or times; "
            "expected = or !="
        )
    known, wanted = set(names), {value for value in one.values if value}
    folded = {value.casefold() for value in wanted - known}
    found = np.array([name in wanted or name.casefold() in folded for name in names], dtype=bool)
    return found if one.operator == "=" else ~found


def _all_read(names: tuple[str, ...], reader: Callable[[Any], float]) -> Floats | None:
    """The names as numbers or times; None if one cannot be read as such."""
    try:
        return np.array([reader(name) for name in names], dtype=float)
    except ValueError:
        return None


def _numbers_meet(one: Condition, numbers: Floats, is_time: bool, place: str) -> Flags:
    equal, compare = one.operator in ("=", "!="), COMPARE[one.operator]
    if not equal:
        low, high = ends(one, one.values[0], is_time, place)
        return np.asarray(compare(numbers, high if one.operator in (">", "<=") else low))
    found = np.zeros(len(numbers), dtype=bool)
    for value in one.values:
        if value:
            low, high = ends(one, value, is_time, place)
            found |= (numbers >= low) & (numbers <= high)
        else:
            found |= np.isnan(numbers)
    return found if one.operator == "=" else ~found


def ends(one: Condition, value: str, is_time: bool, place: str) -> tuple[float, float]:
    """The first and the last number that a value stands for: the same, unless it is a year, month or day."""
    if (span := period(value)) and (is_time or "-" in value):
        return span
    with suppress(ValueError):
        return (read_number(value),) * 2
    with suppress(ValueError):
        return (read_time(value),) * 2
    what = "times; expected one such as 2026-01-31" if is_time else "numbers; expected one"
    raise OptionError(f"{place}: where {one}: {one.column} holds {what}, got {value!r}")


def period(text: str) -> tuple[float, float] | None:
    """The first and the last moment of a year, month or day such as 2026, 2026-01 or 2026-01-31."""
    found = _PERIOD.fullmatch(text)
    with suppress(ValueError, OverflowError):
        if found is not None:
            year, month, of_month = (int(part or 0) for part in found.groups())
            low = datetime(year, month or 1, of_month or 1, tzinfo=UTC).timestamp()
            if of_month:
                return low, float(np.nextafter(low + 86400, low))
            months = year * 12 + (month or 12)
            if months // 12 > MAXYEAR:
                return low, float("inf")
            high = datetime(months // 12, months % 12 + 1, 1, tzinfo=UTC).timestamp()
            return low, float(np.nextafter(high, low))
    return None


# Which agents stay.


def _among(profile: Profile, one: Condition, place: str) -> Profile:
    """The votes without the agents that are not wanted."""
    kept = wanted_agents(profile.agents, one, place)
    rest = among(profile, kept)
    if not rest.n_votes:
        raise DataError(f"{place}: no vote holds two of the agents of {one}; expected others")
    return rest


def among(profile: Profile, kept: Flags) -> Profile:
    """The votes over some agents only, without those that then hold nobody, or no game."""
    return _numbered(restricted(profile, kept), kept)


def restricted(profile: Profile, kept: Flags) -> Profile:
    """The same, but all agents keep their numbers."""
    entry = kept[profile.agent]
    vote = np.repeat(np.arange(profile.n_votes), profile.length)
    length = np.bincount(vote[entry], minlength=profile.n_votes)
    smaller = length < profile.length
    gone = smaller & (length < (2 if profile.kind == "games" else 1))
    entry &= ~gone[vote]
    # Of a vote that held more, nobody said who of the two that are left was shown first.
    turned = None if profile.turned is None or (smaller & ~gone).any() else profile.turned[~gone]
    return replace(
        profile,
        start=np.concatenate([[0], np.cumsum(length[~gone])]),
        agent=profile.agent[entry],
        tier=profile.tier[entry],
        weight=profile.weight[~gone],
        when=None if profile.when is None else profile.when[~gone],
        turned=turned,
        score=None if profile.score is None else profile.score[entry],
        higher_is_better=None if profile.higher_is_better is None else profile.higher_is_better[~gone],
        columns=profile.columns.take(np.flatnonzero(~gone)),
        entry_columns=profile.entry_columns.take(np.flatnonzero(entry)),
        unbalanced=None if profile.unbalanced is None else profile.unbalanced[~gone],
    )


def wanted_agents(agents: tuple[str, ...], one: Condition, place: str) -> Flags:
    """Which agents a condition keeps; an error for one that is not there, and where fewer than two are left."""
    if one.operator not in ("=", "!="):
        raise OptionError(f"{place}: where {one}: expected = or != for agents")
    known = {name.casefold(): name for name in agents} | {name: name for name in agents}
    for value in one.values:
        if value not in known and value.casefold() not in known:
            hint = near(value, agents) or f": {some(agents)}"
            raise DataError(f"{place}: where {one}: no agent {value!r} among {len(agents):,} agents{hint}")
    kept = _names_meet(one, agents, place)
    if kept.sum() < 2:
        left = some([name for name, wanted in zip(agents, kept, strict=True) if wanted])
        raise DataError(f"{place}: where {one} leaves {left} of {len(agents):,} agents; expected two or more")
    return kept


def without_idle(before: Profile, after: Profile) -> Profile:
    """The profile without agents that stood in votes before and stand in none now."""
    had, has = set(np.unique(before.agent).tolist()), set(np.unique(after.agent).tolist())
    if before.agents != after.agents:
        number_of = {name: k for k, name in enumerate(after.agents)}
        had = {number_of[name] for k in had if (name := before.agents[k]) in number_of}
    if had == has:
        return after
    kept = np.ones(after.n_agents, dtype=bool)
    kept[list(had - has)] = False
    return _numbered(after, kept)


def _numbered(profile: Profile, kept: Flags) -> Profile:
    """The profile of some agents, who are in all its entries."""
    place = np.cumsum(kept) - 1
    agents = tuple(name for name, wanted in zip(profile.agents, kept, strict=True) if wanted)
    return replace(profile, agents=agents, agent=place[profile.agent])
