"""Which columns play which role in a table that an engine holds, told by their names alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from softcondorcet.assemble import WEIGHT, option
from softcondorcet.cells import Table
from softcondorcet.columns import battle_columns, battles, contest_columns, contests, pick
from softcondorcet.errors import DataError
from softcondorcet.options import check

_ROLES: dict[Any, tuple[str, ...]] = {
    battles: ("a", "b", "winner", "weight"),
    contests: ("contest", "rank", "agent", "weight"),
}


def roles_of(head: Table, kind: str | None, columns: Mapping[str, str] | None) -> tuple[Any, dict[str, str]]:
    """The function that reads such a table, ``battles`` or ``contests``, and the column of each of its roles.

    `head` is the table with one row, in which only columns that are blank in all rows are blank. The weight is the
    empty text where there is none.
    """
    given = dict(columns or {})
    function = pick(head, kind, given)
    if function not in _ROLES:
        raise DataError(
            f"{head.name}: columns {head.names} are of {function.__name__}; an engine counts battles (model_a, "
            "model_b, winner) or rankings of one row for each agent (contest_id, rank, agent)"
        )
    roles = _ROLES[function]
    check(given.keys() <= set(roles), "columns", f"a dict with keys among {', '.join(roles)}", given)
    weight = given.pop("weight", None)
    used = (battle_columns if function is battles else contest_columns)(head, **given)
    weights = (*WEIGHT, "n") if function is battles else WEIGHT
    return function, dict(zip(roles, [*used, option(head, weight, weights, used, "weight") or ""], strict=True))
