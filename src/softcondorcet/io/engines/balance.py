"""Weights by which each group counts the same, for votes that an engine holds, by the rule of ``io.balance``."""

from __future__ import annotations

from typing import Any

import numpy as np

from softcondorcet.checks import near
from softcondorcet.errors import DataError, OptionError
from softcondorcet.formatting import some
from softcondorcet.io.balance import GROUPS, balanced_note
from softcondorcet.io.cells import Table
from softcondorcet.io.column_names import GROUP

# The column of the weights that the engine multiplies, beside those of the table.
WEIGHT = "sco_balanced_weight"


def balanced_rows(table: Any, head: Table, form: str, used: list[str], weight: Any, by: str) -> tuple[Any, str, str]:
    """The rows with balanced weights in the column ``WEIGHT``; the column of the groups, and what was done.

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
    rows = table.mutate(**{WEIGHT: weight, "sco_group": cell})
    votes = rows
    if form == "contests":
        contest = used[0]
        votes = rows.group_by(contest).agg(
            **{WEIGHT: rows[WEIGHT].max(), "sco_group": rows["sco_group"].max()}, other=rows["sco_group"].min()
        )
        for row in votes.filter(votes["sco_group"] != votes["other"]).limit(1).to_pyarrow().to_pylist():
            raise DataError(
                f"{head.name}: {name} differs inside {contest} {row[contest]!r}; expected one value for each vote"
            )
    sizes = votes.group_by("sco_group").agg(size=votes[WEIGHT].sum()).to_pyarrow()
    size = sizes["size"].to_numpy().astype(float)
    held = size > 0
    share = np.divide(size.sum() / max(int(held.sum()), 1), size, out=np.zeros(len(size)), where=held)
    key = ibis.memtable(pa.table({"sco_group": sizes["sco_group"], "sco_share": share}))
    joined = rows.join(key, "sco_group")
    found = joined.mutate(**{WEIGHT: joined[WEIGHT] * joined["sco_share"]})
    return found, name, balanced_note(name, size[held])
