"""Votes counted into pairs by the engine that holds them: Ibis expressions for DuckDB, Spark, or a warehouse.

The engine does what needs every row: it tells distinct cells apart, groups battles, joins rankings with themselves
contest by contest, and adds up. Names are read here, once per distinct cell, and go back as integers. What comes back
is as large as the pairs, not as the votes: one row for each two agents of rankings, up to six of battles (either way
round, three outcomes). Counts are sums of doubles: exact for whole weights, whoever adds them up.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from softcondorcet.checks import near
from softcondorcet.errors import DataError, OptionError
from softcondorcet.formatting import some
from softcondorcet.installation import needs
from softcondorcet.io.assemble import battles
from softcondorcet.io.balance import GROUPS, balanced_note
from softcondorcet.io.cells import Cells, Table, encode, shown
from softcondorcet.io.column_names import GROUP, WEIGHT, kind_of, roles_of
from softcondorcet.io.conditions import Condition
from softcondorcet.io.engines.where import select_rows
from softcondorcet.pairs import Pairs, check_total, count_pairs
from softcondorcet.profile import Profile
from softcondorcet.source import Source

# The column of weights by which each group counts the same, beside those of the table.
_BALANCED = "sco_balanced_weight"


def count(
    table: Any,
    *,
    kind: str | None = None,
    columns: Mapping[str, str] | None = None,
    name: str = "table",
    where: Collection[Condition] = (),
    balance: str | None = None,
) -> Pairs:
    """The pairs of an Ibis table of battles (model_a, model_b, winner) or rankings (contest_id, rank, agent).

    `kind` and `columns` as in ``read``; `name` is what errors begin with. Groups and times are left where they are.
    Only votes that meet the conditions `where` are counted; `balance` weighs them so that each group counts the same.
    """
    needs("ibis", "cluster")
    head = _heading(table, name, (columns or {}).get("weight"))
    form, roles = roles_of(head, kind, columns)
    *used, weight = roles.values()
    table, source = select_rows(table, head, form, used, where)
    column = None
    if balance is not None:
        table, column, note = _balanced_rows(table, head, form, used, _weight(table, weight or None), balance)
        known = source or Source(name, "")
        source, weight = replace(known, notes=(*known.notes, note)), _BALANCED
    pairs = (_count_battles if form == "battles" else _count_rankings)(table, name, used, weight or None)
    return replace(pairs, source=source, balance=column) if source else pairs


def _heading(table: Any, name: str, weight: str | None) -> Table:
    """The columns, without their rows: to find those that are meant. A weight that is blank in all rows is none."""

    def cell(column: str) -> str | None:
        asked = weight is None and column.strip().casefold() in (*WEIGHT, "n")
        return None if asked and not _value(table[column].count()) else "some cell"

    return Table(name, {column: [cell(column)] for column in table.columns})


def _count_battles(table: Any, name: str, used: list[str], weight: str | None) -> Pairs:
    """Cells made integers, then equal rows made one; what is left is read as any other table."""
    a, b, winner = used
    votes = table.select(a=a, b=b, winner=winner, weight=_weight(table, weight))
    _refuse(name, votes, votes.weight.isnull(), weight, "a number that is not negative")
    cells = {}
    for role, column in zip(("a", "b", "winner"), used, strict=True):
        cells[role] = _distinct(name, table[column])
        votes = _coded(votes, role, cells[role], range(len(cells[role])))
    found = votes.group_by("a", "b", "winner").agg(weight=votes.weight.sum()).to_pyarrow()
    if not len(found):
        raise DataError(f"{name}: no rows; expected at least one")
    read = {
        column: Cells(found[role].to_numpy().astype(np.int32), cells[role])
        for role, column in zip(cells, used, strict=True)
    }

    def place(row: int) -> str:
        return f"{name}: row " + ", ".join(shown(column.values[column.codes[row]]) for column in read.values())

    fields = battles(Table(name, read, place), a=a, b=b, winner=winner, weight="", group="", when="")
    pairs = count_pairs(Profile(**{**fields, "weight": found["weight"].to_numpy().astype(float)}))
    check_total(pairs, float(_value(votes.weight.sum())))
    return pairs


def _count_rankings(table: Any, name: str, used: list[str], weight: str | None) -> Pairs:
    """Names made integers; then every row meets those of its contest whose number is larger."""
    contest, rank, agent = used
    votes = table.select(
        contest=_text(table[contest]), place=_number(table[rank]), agent=agent, weight=_weight(table, weight)
    )
    _refuse(name, votes, votes.contest.isnull(), contest, "a name")
    _refuse(name, votes, votes.place.isnull(), rank, "a finite number")
    _refuse(name, votes, votes.weight.isnull(), weight, "a number that is not negative")
    cells = _distinct(name, table[agent])
    listed = Table(name, {agent: Cells(np.arange(len(cells), dtype=np.int32), cells)}, lambda _: name)
    (codes,), agents = encode(listed, agent)
    votes = _coded(votes, "agent", cells, codes)
    expected = _compared(name, votes, contest)
    votes = votes.filter(votes.weight > 0)
    other = votes.view()
    met = votes.join(other, [votes.contest == other.contest, votes.agent < other.agent], rname="other_{name}")
    counts = met.group_by("agent", "other_agent").agg(
        wins=_where(met.place < met.other_place, met.weight),
        losses=_where(met.place > met.other_place, met.weight),
        ties=_where(met.place == met.other_place, met.weight),
    )
    found = counts.order_by("agent", "other_agent").to_pyarrow()
    left, right, *sums = (found.column(k).to_numpy() for k in range(5))
    pairs = Pairs(
        agents,
        left.astype(np.int32),
        right.astype(np.int32),
        *(each.astype(float) for each in sums),
        kind=kind_of(contest),
    )
    if pairs.total < expected:
        _check_once_each(name, votes, contest, agents)
    check_total(pairs, expected)
    return pairs


def _compared(name: str, votes: Any, contest: str) -> float:
    """How many comparisons the contests hold, each of which has one weight."""
    sizes = votes.group_by("contest").agg(
        k=votes.count().cast("float64"), low=votes.weight.min(), high=votes.weight.max()
    )
    for row in sizes.filter(sizes.low != sizes.high).limit(1).to_pyarrow().to_pylist():
        raise DataError(
            f"{name}: {contest} {row['contest']!r} has weights {row['low']:g} and {row['high']:g}; expected one"
        )
    total = _value((sizes.low * sizes.k * (sizes.k - 1) / 2).sum())
    if total is None:
        raise DataError(f"{name}: no rows; expected at least one")
    return float(total)


def _check_once_each(name: str, votes: Any, contest: str, agents: tuple[str, ...]) -> None:
    seen = votes.group_by("contest", "agent").agg(k=votes.count())
    for row in seen.filter(seen.k > 1).limit(1).to_pyarrow().to_pylist():
        raise DataError(
            f"{name}: agent {agents[row['agent']]!r} appears twice in {contest} {row['contest']!r}; expected once"
        )


def _balanced_rows(table: Any, head: Table, form: str, used: list[str], weight: Any, by: str) -> tuple[Any, str, str]:
    """The rows with balanced weights in the column ``_BALANCED``; the column of the groups, and what was done.

    `weight` is that of each row, and `used` are the columns of the votes.
    """
    import ibis
    import pyarrow as pa

    name = head.find(*GROUP, by) if by in (GROUPS, "group") else head.find(by)
    if name is None:
        words = [GROUPS, *head.columns]
        raise OptionError(
            f"balance must be a column of the votes: {some(map(repr, words), 12)}, got {by!r}{near(by, words)}"
        )
    cell = table[name].cast("string").strip().fill_null("")
    rows = table.mutate(**{_BALANCED: weight, "sco_group": cell})
    votes = rows
    if form == "contests":
        contest = used[0]
        votes = rows.group_by(contest).agg(
            **{_BALANCED: rows[_BALANCED].max(), "sco_group": rows["sco_group"].max()}, other=rows["sco_group"].min()
        )
        for row in votes.filter(votes["sco_group"] != votes["other"]).limit(1).to_pyarrow().to_pylist():
            raise DataError(
                f"{head.name}: {name} differs inside {contest} {row[contest]!r}; expected one value for each vote"
            )
    sizes = votes.group_by("sco_group").agg(size=votes[_BALANCED].sum()).to_pyarrow()
    size = sizes["size"].to_numpy().astype(float)
    held = size > 0
    share = np.divide(size.sum() / max(int(held.sum()), 1), size, out=np.zeros(len(size)), where=held)
    key = ibis.memtable(pa.table({"sco_group": sizes["sco_group"], "sco_share": share}))
    joined = rows.join(key, "sco_group")
    found = joined.mutate(**{_BALANCED: joined[_BALANCED] * joined["sco_share"]})
    return found, name, balanced_note(name, size[held])


def _refuse(name: str, votes: Any, wrong: Any, column: str | None, expected: str) -> None:
    """The first row that cannot be used is an error, if there is one."""
    if column is None:
        return
    for row in votes.filter(wrong).limit(1).to_pyarrow().to_pylist():
        rest = ", ".join(f"{role} {shown(cell)}" for role, cell in row.items() if cell is not None)
        raise DataError(f"{name}: {column} is not {expected} in the row with {rest}")


def _distinct(name: str, column: Any) -> list[Any]:
    """The distinct cells of a column in the order of the alphabet: engines know no first appearance."""
    cells = column.name("cell").as_table().distinct().to_pyarrow()["cell"]
    if cells.null_count:
        raise DataError(f"{name}: {column.get_name()} is blank in some row; expected a name")
    values: list[Any] = sorted(cells.to_pylist())
    return values


def _coded(rows: Any, role: str, cells: list[Any], codes: Any) -> Any:
    """The cells of a column as integers."""
    import ibis
    import pyarrow as pa

    key = ibis.memtable(pa.table({role: pa.array(cells), "code": pa.array(codes, type=pa.int32())}))
    joined = rows.join(key, role)
    return joined.select(**{column: "code" if column == role else column for column in rows.columns})


def _weight(table: Any, column: str | None) -> Any:
    """One for each row where there are no weights; null where one cannot be used."""
    import ibis

    if column is None:
        return ibis.literal(1.0)
    number = _number(table[column])
    return ibis.ifelse(number >= 0, number, ibis.null("float64"))


def _number(column: Any) -> Any:
    """A finite number, else null."""
    import ibis

    number = column.try_cast("float64") if column.type().is_string() else column.cast("float64")
    return ibis.ifelse(number.isnan() | number.isinf(), ibis.null("float64"), number)


def _text(column: Any) -> Any:
    """Text without its outer spaces, null where nothing is left; other cells as they are."""
    return column.strip().nullif("") if column.type().is_string() else column


def _where(condition: Any, weight: Any) -> Any:
    import ibis

    return ibis.ifelse(condition, weight, 0.0).sum()


def _value(expression: Any) -> Any:
    return expression.to_pyarrow().as_py()
