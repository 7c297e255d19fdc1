"""Circumstances: what is about a vote or an entry of it, and not about the agent: home ground, lane, length.

A circumstance says of every comparison what the first agent has over the second. It is one number, whose effect is a
slope; or a level on each side (lane 1, lane 6), where each level has an effect of its own.

When it misleads: a column that follows from the result (points, time, status) is no circumstance, and controlling for
it leaves nothing to rate by. Whole numbers of few values are taken as levels, which know no order: `load:number` says
that they are one number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from softcondorcet.arrays import Flags, Floats, Ints
from softcondorcet.checks import near
from softcondorcet.columns import Column
from softcondorcet.errors import DataError
from softcondorcet.formatting import plural, some
from softcondorcet.io.cells import read_flag
from softcondorcet.pairs import couples
from softcondorcet.profile import Profile

# How the columns of the two sides may be called; and, for some names, what else they are called in files of arenas.
_SIDES = (("{}_a", "{}_b"), ("{}_model_a", "{}_model_b"), ("model_a_{}", "model_b_{}"), ("{}_1", "{}_2"))
_OTHER_SIDES = {"length": (("sum_assistant_a_tokens", "sum_assistant_b_tokens"), ("token_count_a", "token_count_b"))}
# Names that stand for several circumstances.
_SEVERAL = {"markdown": ("header_count", "list_count", "bold_count")}
_NEUTRAL = ("neutral", "neutral_ground", "neutral_venue")
# Whole numbers of no more values than this are levels; and so many levels one circumstance may have.
_FEW, _MOST = 20, 500
# Comparisons that fit into memory, with their circumstances.
_COMPARISONS = 20_000_000
_NUMBER, _LEVELS = "number", "levels"
STANDARD = "a standard deviation of the relative difference"


@dataclass(frozen=True)
class Comparisons:
    """Every two entries of every vote, the higher one first, with the vote and its weight."""

    profile: Profile
    vote: Ints
    upper: Ints
    lower: Ints
    weight: Floats

    @classmethod
    def of(cls, profile: Profile) -> Comparisons:
        count = float((profile.length * (profile.length - 1.0) / 2).sum())
        if count > _COMPARISONS:
            raise DataError(f"control: the votes make {count:,.0f} comparisons; expected at most {_COMPARISONS:,}")
        upper, lower = couples(profile.start[:-1], profile.length)
        vote = np.repeat(np.arange(profile.n_votes), profile.length)[upper]
        return cls(profile, vote, upper, lower, profile.weight[vote])

    def standardised(self, apart: Floats) -> Floats:
        """Differences in standard deviations around 0; none where nothing is known."""
        apart = np.where(np.isnan(apart), 0.0, apart)
        total = float(self.weight.sum())
        spread = math.sqrt(float((self.weight * apart**2).sum()) / total) if total else 0.0
        found: Floats = apart / (spread or 1.0)
        return found

    def flipped(self, ahead: Floats) -> Floats:
        """What side a has over side b, seen from the winner of each battle."""
        assert self.profile.turned is not None
        found: Floats = np.where(self.profile.turned[self.vote], -ahead[self.vote], ahead[self.vote])
        return found


@dataclass(frozen=True)
class Circumstance:
    """What the higher entry of each comparison has over the lower one.

    A number: `value`, and `unit` says what one of it is. Levels: the level of either entry as its place in `levels`, -1
    where nothing is known.
    """

    name: str
    unit: str
    value: Floats | None = None
    levels: tuple[str, ...] = ()
    upper: Ints | None = None
    lower: Ints | None = None


def sides_of(profile: Profile) -> list[str]:
    """Names of which both sides of battles have a column of numbers, such as length_a and length_b."""
    found = []
    for pattern in (a for a, _ in _SIDES):
        before, _, after = pattern.partition("{}")
        for column in profile.columns:
            name = column[len(before) : len(column) - len(after)]
            if name and pattern.format(name) == column and (pair := _sides_of(profile, name)):
                found += [name] if all(profile.columns[side].numeric for side in pair) else []
    known = [name for name, pairs in _OTHER_SIDES.items() for pair in pairs if all(x in profile.columns for x in pair)]
    return list(dict.fromkeys([*known, *found]))


def circumstances(each: Comparisons, names: list[str]) -> list[Circumstance]:
    """The circumstances of these names."""
    return [_circumstance(each, name) for name in _spelled_out(each.profile, names)]


def _spelled_out(profile: Profile, names: list[str]) -> list[str]:
    """The names, with ``markdown`` as the columns that it stands for."""
    found = []
    for name in names:
        known = name in profile.entry_columns or _sides_of(profile, name)
        parts = [part for part in _SEVERAL.get(name, ()) if _sides_of(profile, part)]
        found += parts if parts and not known else [name]
    return list(dict.fromkeys(found))


def _circumstance(each: Comparisons, name: str) -> Circumstance:
    title, colon, form = name.rpartition(":")
    title, form = (title, form) if colon and form in (_NUMBER, _LEVELS) else (name, "")
    if title in each.profile.entry_columns:
        return _of_entries(each, title, form)
    sides = _sides_of(each.profile, title)
    if title in each.profile.columns and not sides and title not in ("first", "home"):
        return Circumstance(title, "the same for all agents of a vote, so it moves nobody", np.zeros(len(each.vote)))
    _refuse_long_votes(each.profile, name)
    if title in ("first", "home"):
        return _of_side(each, title)
    if sides:
        return Circumstance(title, STANDARD, _difference(each, *sides))
    known = [*each.profile.entry_columns, *each.profile.columns]
    raise DataError(
        f"control: no columns {title}_a and {title}_b, one for each side, and no column {title!r} with a value for "
        f"each agent of a vote; there is {some(map(repr, known), 12) or 'none'}{near(f'{title}_a', known)}; "
        "or 'first' or 'home'"
    )


def _refuse_long_votes(profile: Profile, name: str) -> None:
    longer = int((profile.length > 2).sum())
    if longer:
        known = some(map(repr, profile.entry_columns), 12)
        hint = f": {known}" if known else ", of which there is none"
        raise DataError(
            f"control: {name!r}: {plural(longer, 'vote')} of more than two agents; expected battles, or a column with "
            f"a value for each agent{hint}"
        )


def _sides_of(profile: Profile, name: str) -> tuple[str, str] | None:
    """The columns of the two sides of battles."""
    pairs = [(a.format(name), b.format(name)) for a, b in _SIDES] + list(_OTHER_SIDES.get(name, ()))
    return next((pair for pair in pairs if all(side in profile.columns for side in pair)), None)


# Circumstances of entries.


def _of_entries(each: Comparisons, name: str, form: str) -> Circumstance:
    column = each.profile.entry_columns[name]
    flags = None if form else _flags(column)
    if flags is not None:
        apart = flags[each.upper] - flags[each.lower]
        return Circumstance(name, "having it", np.where(np.isnan(apart), 0.0, apart))
    if column.values is not None and form != _LEVELS:
        values = column.values
        distinct = np.unique(values[~np.isnan(values)])
        if form == _NUMBER or len(distinct) > _FEW or (distinct % 1 != 0).any():
            return Circumstance(name, STANDARD, _relative(each, name, values[each.upper], values[each.lower]))
    named = column.named()
    if form == _NUMBER or len(named.names) > _MOST:
        what = "numbers" if form == _NUMBER else f"at most {_MOST} names, or numbers"
        raise DataError(f"control: {name!r}: {plural(len(named.names), 'name')}; expected {what}")
    assert named.codes is not None
    upper, lower = named.codes[each.upper], named.codes[each.lower]
    return Circumstance(name, "against the mean agent", None, named.names, upper, lower)


def _flags(column: Column) -> Floats | None:
    """1 for yes, 0 for no and nan for blank, of a column of yes and no in words or numbers."""
    named = column.named()
    try:
        meaning = [float(read_flag(name)) for name in named.names]
    except ValueError:
        return None
    if set(meaning) != {0.0, 1.0}:
        return None
    return np.array([*meaning, np.nan])[named.codes]


def _relative(each: Comparisons, name: str, one: Floats, other: Floats) -> Floats:
    """The relative difference (one - other) / (one + other), in standard deviations."""
    if (one < 0).any() or (other < 0).any():
        raise DataError(f"control: column {name!r}: expected numbers that are not negative")
    total = one + other
    apart = np.where(total > 0, (one - other) / np.where(total > 0, total, 1.0), 0.0)
    return each.standardised(np.where(np.isnan(total), np.nan, apart))


# Circumstances of the two sides of a battle.


def _of_side(each: Comparisons, name: str) -> Circumstance:
    """Being shown first, or at home: 1 where the higher agent has it, -1 where the other has."""
    profile = each.profile
    column = profile.columns.get("home") if name == "home" else None
    if column is not None and not column.numeric:
        return Circumstance(name, "at home", _at_home(each, column))
    if profile.turned is None:
        raise DataError(f"control: {name!r}: the battles do not say who was shown first")
    ahead = each.flipped(np.ones(profile.n_votes))
    if name == "first":
        return Circumstance(name, "shown first", ahead)
    away = np.where(_neutral(profile)[each.vote], 0.0, ahead)
    return Circumstance(name, "shown first, not on neutral ground", away)


def _at_home(each: Comparisons, column: Column) -> Floats:
    """1 where the column names the higher agent, -1 for the other, 0 for nobody."""
    number = {agent: k for k, agent in enumerate(each.profile.agents)}
    codes = np.array([number.get(name, -1) for name in column.names] + [-1])
    assert column.codes is not None
    who, agent = codes[column.codes][each.vote], each.profile.agent
    found: Floats = (who == agent[each.upper]).astype(float) - (who == agent[each.lower])
    if not found.any():
        raise DataError(
            f"control: 'home': the column names none of the two agents; found {some(map(repr, column.names))}"
        )
    return found


def _neutral(profile: Profile) -> Flags:
    """Battles that a column marks as on neutral ground."""
    name = next((name for name in profile.columns if name.strip().casefold() in _NEUTRAL), None)
    if name is None:
        return np.zeros(profile.n_votes, dtype=bool)
    try:
        return np.array([cell is not None and read_flag(cell) for cell in profile.columns[name].cells()], dtype=bool)
    except ValueError as error:
        raise DataError(f"control: 'home': column {name!r}: expected {error}") from None


def _difference(each: Comparisons, a: str, b: str) -> Floats:
    """The relative difference of two columns, of the higher agent to the other, in standard deviations."""
    profile = each.profile
    if profile.turned is None:
        raise DataError(f"control: {a!r} and {b!r}: the battles do not say which agent is a")
    sides = []
    for name in (a, b):
        values = profile.columns[name].values
        if values is None:
            raise DataError(f"control: column {name!r}: expected numbers that are not negative")
        sides.append(values)
    if np.isnan(sides[0] + sides[1]).all():
        raise DataError(f"control: columns {a!r} and {b!r} are blank")
    turned = profile.turned[each.vote]
    one, other = (values[each.vote] for values in sides)
    name = a if (sides[0] < 0).any() else b
    return _relative(each, name, np.where(turned, other, one), np.where(turned, one, other))
