"""From rows of a table to the arrays of a profile: what battles, rankings and scores have in common.

Names become integers here, each vote gets its weight, group and time, and entries are put in order. Rows that
contradict each other are an error that names both places.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from softcondorcet.cells import Ints, Table, read_name, read_time, read_weight, shown
from softcondorcet.errors import DataError

Fields = dict[str, Any]
Floats = NDArray[np.float64]

WEIGHT = ("weight", "count")
GROUP = ("judge", "judge_id", "prompt", "prompt_id", "question_id", "task", "group")
TIME = ("tstamp", "timestamp", "datetime", "date", "time", "when")


def encode(table: Table, *columns: str) -> tuple[list[Ints], tuple[str, ...]]:
    """Names of the columns as integers into one list of names, in order of first appearance, column by column."""
    code: dict[str, int] = {}
    coded = []
    for column in columns:
        translation = [code.setdefault(name, len(code)) for name in table.read(column, read_name)]
        codes = table.column(column).codes
        same = translation == list(range(len(translation)))  # as in the first column, unless two cells are one name
        coded.append(codes if same else np.array(translation, dtype=np.int32)[codes])
    return coded, tuple(code)


def option(table: Table, given: str | None, names: tuple[str, ...], used: list[str], role: str) -> str | None:
    """The column for an optional role: the one given, none for '', else the one found by name and not all blank."""
    if given is not None:
        return table.need(given) if given else None
    found = [
        column for name in names if (column := table.find(name)) and column not in used and not table.all_blank(column)
    ]
    if len(found) > 1 and role != "group":
        raise DataError(
            f"{table.name}: columns {found[0]!r} and {found[1]!r} could both be the {role}; "
            f"expected one; columns (--column {role}=NAME) can tell which"
        )
    return found[0] if found else None


def per_vote(
    table: Table,
    vote: NDArray[Any],
    weight: str | None,
    group: str | None,
    when: str | None,
    used: list[str],
    weights: tuple[str, ...],
) -> Fields:
    """Weight, group and time of each vote, from columns that must agree on all rows of a vote."""
    fields: Fields = {"weight": np.ones(int(vote.max(initial=-1)) + 1)}
    if column := option(table, weight, weights, used, "weight"):
        fields["weight"] = same_on_all_rows(table, column, vote, table.numbers(column, read_weight))
    if column := option(table, group, GROUP, used, "group"):
        (codes,), fields["groups"] = encode(table, column)
        fields["group"] = same_on_all_rows(table, column, vote, codes)
    if column := option(table, when, TIME, used, "when"):
        fields["when"] = same_on_all_rows(table, column, vote, table.numbers(column, read_time))
    return fields


def same_on_all_rows(table: Table, column: str, vote: NDArray[Any], value: NDArray[Any]) -> NDArray[Any]:
    """The value of each vote, which must be one on all its rows."""
    first = np.empty(int(vote.max(initial=-1)) + 1, dtype=np.int64)
    first[vote[::-1]] = np.arange(len(vote))[::-1]
    differs = value != value[first][vote]
    if differs.any():
        row = int(np.argmax(differs))
        cells = table.column(column)
        there, here = (cells.values[cells.codes[k]] for k in (first[vote[row]], row))
        raise DataError(
            f"{table.place(row)}: {column} is {shown(here)}; expected {shown(there)} as at "
            f"{table.place(int(first[vote[row]]))}, one value for each vote"
        )
    return value[first]


def once_each(
    table: Table, vote: Ints, who: Ints, labels: tuple[str, ...], names: tuple[str, ...], column: str
) -> None:
    key = vote.astype(np.int64) * len(names) + who
    ordered = np.sort(key)
    if (ordered[1:] == ordered[:-1]).any():
        order = np.argsort(key, kind="stable")
        second = order[1:][key[order[1:]] == key[order[:-1]]].min()
        first = np.argmax(key == key[second])
        raise DataError(
            f"{table.place(int(second))}: agent {names[who[second]]!r} stands twice in {column} "
            f"{labels[vote[second]]!r}; first at {table.place(int(first))}"
        )


def by_time(votes: Fields) -> tuple[NDArray[np.int64] | slice, Fields]:
    """The order of the votes by time, as an index, and their fields in that order."""
    if "when" not in votes:
        return slice(None), votes
    order = np.argsort(votes["when"], kind="stable")
    return order, {name: value if name == "groups" else value[order] for name, value in votes.items()}


def stack(vote: NDArray[Any], key: Floats, agent: Ints, votes: Fields) -> Fields:
    """Entries sorted by time of vote and key, low key first, as rows of one flat array."""
    order, votes = by_time(votes)
    n = len(votes["weight"])
    arrival = np.empty(n, dtype=np.int64)
    arrival[order] = np.arange(n)
    vote = arrival[vote]
    rise = np.diff(vote)
    if ((rise < 0) | ((rise == 0) & (np.diff(key) < 0))).any():
        turn = np.lexsort((key, vote))
        vote, key, agent = vote[turn], key[turn], agent[turn]
    tier = np.cumsum(np.diff(key, prepend=key[:1]) != 0)  # dense inside each vote once a Profile has it
    start = np.concatenate([[0], np.cumsum(np.bincount(vote, minlength=n))])
    return {"start": start, "agent": agent, "tier": tier, **votes}
