"""The three kinds of table people have, as the arrays of a profile.

Battles (two agents and who won), rankings (contest, rank, agent; or one whole ranking per row) and scores (agent,
task, score). Each function returns the fields of a ``Profile`` and accounts for every row: a row is used, or it is an
error that says where it stands. Columns that are not named by the caller are found by the names people give them.
Cost: linear in the rows, plus one sort for rankings and scores.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softcondorcet.assemble import WEIGHT, Fields, by_time, encode, once_each, per_vote, same_on_all_rows, stack
from softcondorcet.cells import (
    Column,
    Ints,
    Table,
    as_table,
    is_blank,
    read_flag,
    read_name,
    read_number,
    read_score,
    shown,
)
from softcondorcet.errors import DataError

__all__ = ["KINDS", "Column", "Table", "as_table", "battles", "contests", "encode", "orders", "pick", "scores"]


PAIRS = (("model_a", "model_b"), ("agent_a", "agent_b"), ("player_a", "player_b"), ("left", "right"), ("a", "b"))
AGENT = ("agent", "player", "model", "name")
CONTEST = tuple(
    f"{word}{end}" for word in ("contest", "vote", "voter", "match", "game", "race", "event") for end in ("_id", "")
)
RANK = ("rank", "place", "position")
TASK = ("task", "game", "benchmark", "scenario")
SCORE = ("score", "value")
TIES = ("tie", "draw", "tie (bothbad)", "tie (both_bad)", "both_bad", "bothbad", "both bad")


def battles(
    table: Table,
    *,
    a: str | None = None,
    b: str | None = None,
    winner: str | None = None,
    weight: str | None = None,
    group: str | None = None,
    when: str | None = None,
) -> Fields:
    """One vote per row.

    ``winner`` holds the name of the winner's column (``model_a``, ``left``, ``a``, ...), ``tie``, ``draw`` or
    ``both_bad`` (all ties), or the winner's own name; a word that could mean two things in its row, because an agent
    is called that, is an error. ``weight``, ``group`` and ``when`` are found by name when they are None, and left
    out when they are the empty string.
    """
    used = col_a, col_b, col_winner = battle_columns(table, a, b, winner)
    (agent_a, agent_b), names = encode(table, col_a, col_b)
    same = agent_a == agent_b
    if same.any():
        row = int(np.argmax(same))
        raise DataError(f"{table.place(row)}: {names[agent_a[row]]!r} against itself; expected two agents")
    outcome = _outcomes(table, col_a, col_b, col_winner, agent_a, agent_b, names)
    agent, tier = np.empty((len(outcome), 2), dtype=np.int32), np.zeros((len(outcome), 2), dtype=np.int32)
    lost = outcome == 1
    agent[:, 0], agent[:, 1] = np.where(lost, agent_b, agent_a), np.where(lost, agent_a, agent_b)
    tier[:, 1] = outcome != 2
    votes = per_vote(table, np.arange(table.n_rows), weight, group, when, used, (*WEIGHT, "n"))
    order, votes = by_time({**votes, "turned": lost})
    return {
        "agents": names,
        "start": 2 * np.arange(len(outcome) + 1),
        "agent": agent[order].ravel(),
        "tier": tier[order].ravel(),
        **votes,
    }


def battle_columns(table: Table, a: str | None = None, b: str | None = None, winner: str | None = None) -> list[str]:
    """The columns of both agents and the winner: those that are named, else by the names people give them."""
    if a is None and b is None:
        a, b = next(((x, y) for x, y in PAIRS if table.find(x) and table.find(y)), PAIRS[0])
    return [table.need(name or default) for name, default in ((a, "model_a"), (b, "model_b"), (winner, "winner"))]


def _outcomes(
    table: Table, a: str, b: str, winner: str, agent_a: Ints, agent_b: Ints, names: tuple[str, ...]
) -> NDArray[Any]:
    """0 where the first agent of a row won, 1 where the second did, 2 for a tie."""
    meaning = {
        **{x: 0 for x, _ in PAIRS},
        **{y: 1 for _, y in PAIRS},
        **dict.fromkeys(TIES, 2),
        a.strip().casefold(): 0,
        b.strip().casefold(): 1,
    }
    column = table.column(winner)
    words = [_word(value) for value in column.values]
    folded: dict[str, int] = {}
    fold = np.array([folded.setdefault(name.casefold(), len(folded)) for name in names])
    told = [meaning.get(word.casefold(), -1) for word in words]
    if -1 not in told and not any(word.casefold() in folded for word in words):
        return np.array(told, dtype=np.int8)[column.codes]  # no agent is called what a winner is: one look-up per row
    by_word = np.array(told)[column.codes]
    number = {name: k for k, name in enumerate(names)}
    named = np.array([number.get(word, -1) for word in words])[column.codes]
    outcome = np.where(by_word >= 0, by_word, np.where(named == agent_a, 0, np.where(named == agent_b, 1, -1)))
    called = np.array([folded.get(word.casefold(), -1) for word in words])[column.codes]
    other = ((called == fold[agent_a]) & (by_word != 0)) | ((called == fold[agent_b]) & (by_word != 1))
    unclear = (by_word >= 0) & other
    wrong = (outcome < 0) | unclear
    if wrong.any():
        row = int(np.argmax(wrong))
        got = f"{table.place(row)}: {winner} is {shown(column.values[column.codes[row]])}"
        if unclear[row]:
            raise DataError(f"{got}, which is also the name of an agent in this row; expected a word with one meaning")
        raise DataError(f"{got}; expected {a.strip()!r}, {b.strip()!r}, 'tie' or 'both_bad'")
    return outcome


def _word(value: Any) -> str:
    try:
        return read_name(value)
    except ValueError:
        return ""


def contests(
    table: Table,
    *,
    contest: str | None = None,
    rank: str | None = None,
    agent: str | None = None,
    weight: str | None = None,
    group: str | None = None,
    when: str | None = None,
) -> Fields:
    """One vote per contest, from one row per agent: lower rank is better, equal rank is a tie.

    Weight, group and time must be the same on all rows of a contest.
    """
    used = contest_columns(table, contest, rank, agent)
    (vote,), labels = encode(table, used[0])
    place = table.numbers(used[1], read_number)
    (who,), names = encode(table, used[2])
    once_each(table, vote, who, labels, names, used[0])
    votes = per_vote(table, vote, weight, group, when, used, WEIGHT)
    return {"agents": names, **stack(vote, place, who, votes)}


def contest_columns(
    table: Table, contest: str | None = None, rank: str | None = None, agent: str | None = None
) -> list[str]:
    """The columns of contest, rank and agent: those that are named, else by the names people give them."""
    return [_need(table, contest, CONTEST), _need(table, rank, RANK), _need(table, agent, AGENT)]


def scores(
    table: Table,
    *,
    agent: str | None = None,
    task: str | None = None,
    score: str | None = None,
    higher_is_better: str | bool | None = None,
    weight: str | None = None,
) -> Fields:
    """One vote per task: better score first, equal scores tie, a blank score means absent. The task is the group."""
    used = [_need(table, agent, AGENT), _need(table, task, TASK), _need(table, score, SCORE)]
    (who,), names = encode(table, used[0])
    (vote,), tasks = encode(table, used[1])
    once_each(table, vote, who, tasks, names, used[1])
    value = table.numbers(used[2], read_score)
    if isinstance(higher_is_better, bool):
        better = np.full(len(value), higher_is_better)
    else:
        column = table.need(higher_is_better) if higher_is_better else table.find("higher_is_better")
        better = table.numbers(column, read_flag) > 0 if column else np.full(len(value), True)
        if column:
            same_on_all_rows(table, column, vote, better)
    votes = per_vote(table, vote, weight, "", "", used, ("weight",))
    present = ~np.isnan(value)
    if not present.any():
        raise DataError(f"{table.name}: {used[2]} is blank in every row; expected scores")
    kept, which = np.unique(vote[present], return_inverse=True)
    votes = {"weight": votes["weight"][kept], "group": kept, "groups": tasks}
    return {"agents": names, **stack(which, np.where(better, -value, value)[present], who[present], votes)}


def orders(
    table: Table,
    *,
    ranking: str | None = None,
    weight: str | None = None,
    group: str | None = None,
    when: str | None = None,
) -> Fields:
    """One vote per row, from a list of names best first with ties as inner lists, or text such as ``a > b = c``."""
    column = table.need(ranking or "ranking")
    code: dict[str, int] = {}
    start, agent, tier = [0], list[int](), list[int]()
    cells = table.cells(column)
    for row, cell in enumerate(cells):
        seen = len(agent)
        try:
            for level, names in enumerate(_tiers(cell)):
                for name in names:
                    agent.append(code.setdefault(read_name(name), len(code)))
                    tier.append(level)
        except ValueError as error:
            raise DataError(f"{table.place(row)}: {column} is {shown(cell)}; expected {error}") from None
        if len(set(agent[seen:])) < len(agent) - seen:
            twice = next(k for i, k in enumerate(agent[seen:]) if k in agent[seen : seen + i])
            raise DataError(f"{table.place(row)}: agent {list(code)[twice]!r} stands twice; expected once")
        start.append(len(agent))
    if len(agent) == len(cells) and all(isinstance(cell, str) for cell in cells):  # places or agents, not rankings
        raise DataError(f'{table.name}: {column} names one agent in every row; expected rankings as in "a > b = c"')
    vote = np.repeat(np.arange(table.n_rows), np.diff(start))
    votes = per_vote(table, np.arange(table.n_rows), weight, group, when, [column], WEIGHT)
    return {"agents": tuple(code), **stack(vote, np.array(tier, dtype=float), np.array(agent, dtype=np.int32), votes)}


def _tiers(cell: Any) -> list[list[Any]]:
    if isinstance(cell, str):
        tiers: list[Any] = [level.split("=") for level in cell.split(">")]
    elif isinstance(cell, list | tuple | np.ndarray):
        tiers = [list(level) if isinstance(level, list | tuple | np.ndarray) else [level] for level in cell]
    else:
        tiers = []
    if not tiers or any(is_blank(name) for level in tiers for name in level or [None]):
        raise ValueError('names, best first, as in "a > b = c" or ["a", ["b", "c"]]')
    return tiers


KINDS: dict[str, tuple[Callable[..., Fields], ...]] = {
    "battles": (battles,),
    "rankings": (contests, orders),
    "scores": (scores,),
}


def pick(table: Table, kind: str | None, columns: Mapping[str, Any]) -> Callable[..., Fields]:
    """The one function whose columns the table has."""

    def has(role: str, names: tuple[str, ...]) -> bool:
        return role in columns or table.find(*names) is not None

    fits = {
        battles: has("winner", ("winner",)) and any(has("a", (x,)) and has("b", (y,)) for x, y in PAIRS),
        contests: has("contest", CONTEST) and has("rank", RANK) and has("agent", AGENT),
        orders: "ranking" in columns or (has("ranking", ("ranking",)) and not has("agent", AGENT + RANK)),
        scores: has("agent", AGENT) and has("task", TASK) and has("score", SCORE),
    }
    allowed = [function for name, functions in KINDS.items() if kind in (None, name) for function in functions]
    found = [function for function in allowed if fits[function]]
    if len(found) == 1:
        return found[0]
    raise DataError(
        f"{table.name}: columns {table.names} {'fit more than one kind' if found else 'are not known'}; "
        "expected battles (model_a, model_b, winner), rankings (contest_id, rank, agent, or ranking) "
        "or scores (agent, task, score); kind or columns (--kind, --column) can tell"
    )


def _need(table: Table, given: str | None, names: tuple[str, ...]) -> str:
    return table.need(given) if given else table.find(*names) or table.need(names[0])
