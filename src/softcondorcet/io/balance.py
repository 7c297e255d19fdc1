"""Weights by which each group of votes counts the same: a task with 10 items as much as one with 10,000.

Let W be the weight of all votes, G the number of groups with votes, and w_g the weight of group g. Each vote of the
group is multiplied by W / (G w_g): all groups then weigh W / G, votes of one group keep their proportions, and the
weight of all votes stays what it was. That is the same as repeating the votes of small groups until all are as large.

What a vote does not compare stays missing: agents that a task lacks are neither above nor below others in it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from softcondorcet.arrays import Floats, sum_by
from softcondorcet.checks import near
from softcondorcet.columns import Column
from softcondorcet.errors import OptionError
from softcondorcet.formatting import number, plural, some
from softcondorcet.profile import Profile

GROUPS = "groups"


def balanced(profile: Profile, by: str = GROUPS) -> Profile:
    """The votes with such weights, by the groups or by a column; those of a balanced profile from its own anew."""
    name, column = _column(profile, by)
    assert column.codes is not None
    cast = profile.cast
    size = sum_by(column.codes, cast, len(column.names))
    held = size > 0
    share = np.divide(cast.sum() / max(int(held.sum()), 1), size, out=np.zeros(len(size)), where=held)
    result = replace(profile, weight=cast * share[column.codes], balance=name, unbalanced=cast)
    return _noted(result, name, size[held])


def _column(profile: Profile, by: str) -> tuple[str, Column]:
    """The column that says the group of each vote; every vote must have one."""
    if by in (GROUPS, "group") and profile.group_by is None and by not in profile.columns:
        there = f"a column such as {some(map(repr, profile.columns))}" if len(profile.columns) else "left out"
        raise OptionError(f"balance must be {there}: these votes have no groups, got {by!r}")
    if by in (GROUPS, "group") and profile.group_by is not None:
        return profile.group_by, profile.columns[profile.group_by].grouped()
    known = {name.casefold(): name for name in profile.columns} | {name: name for name in profile.columns}
    name = known.get(by) or known.get(by.casefold()) if isinstance(by, str) else None
    if name is None:
        words = ["groups", *profile.columns]
        raise OptionError(
            f"balance must be a column of the votes: {some(map(repr, words), 12)}, got {by!r}{near(by, words)}"
        )
    return name, profile.columns[name].grouped()


def _noted(profile: Profile, name: str, size: Floats) -> Profile:
    """The profile, whose source says what was done."""
    if profile.source is None or not len(size):
        return profile
    note = balanced_note(name, size)
    others = [earlier for earlier in profile.source.notes if not earlier.startswith(f"balanced by {name}: ")]
    return replace(profile, source=replace(profile.source, notes=(*others, note)))


def balanced_note(name: str, size: Floats) -> str:
    """What was done to votes of groups of these weights."""
    if not len(size):
        return f"balanced by {name}: no vote has a weight"
    low, high = number(float(size.min())), number(float(size.max()))
    spread = f"votes of weight {low} to {high}" if low != high else f"votes of weight {low} each"
    return f"balanced by {name}: {plural(len(size), 'group')} that count the same, with {spread}"
