"""From the rows of a table to the arrays of a profile: battles, rankings and scores.

Each reader returns the fields of a ``Profile`` and accounts for every row: a row is used, or it is an error that says
where it is. Names become integers, each vote gets its weight, group and time, and entries are put in order.
Cost: linear in the rows, plus one sort for rankings and scores.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softcondorcet.arrays import Floats, Ints
from softcondorcet.columns import Column
from softcondorcet.errors import DataError
from softcondorcet.io.cells import (
    Table,
    as_table,
    encode,
    is_blank,
    read_flag,
    read_name,
    read_number,
    read_score,
    read_word,
    shown,
)
from softcondorcet.io.column_names import (
    PAIRS,
    TIES,
    WEIGHT,
    battle_columns,
    contest_columns,
    kind_of,
    score_columns,
    scores_of_rankings,
)
from softcondorcet.io.vote_columns import Fields, Roles, VoteRows, about_votes, entry_columns, with_metadata

__all__ = ["READERS", "as_table", "battles", "contests", "orders", "scores"]


def battles(
    table: Table,
    *,
    a: str | None = None,
    b: str | None = None,
    winner: str | None = None,
    weight: str | None = None,
    group: str | None = None,
    when: str | None = None,
    voter: str | None = None,
    keep: Collection[str] = (),
) -> Fields:
    """One vote per row.

    ``winner`` holds the name of the winner's column (``model_a``, ``left``, ``a``, ...), ``tie``, ``draw`` or
    ``both_bad`` (all ties), or the winner's own name; a word that could mean two things in its row, because an agent
    is called that, is an error. ``weight``, ``group`` and ``when`` are found by name when they are None, and left
    out when they are the empty string.
    """
    table = with_metadata(table)
    used = [col_a, col_b, col_winner] = battle_columns(table, a, b, winner)
    (agent_a, agent_b), names = encode(table, col_a, col_b)
    same = agent_a == agent_b
    if same.any():
        row = int(np.argmax(same))
        raise DataError(
            f"{table.place(row)}: agent {names[agent_a[row]]!r} meets itself; expected two different agents"
        )
    outcome = _outcomes(table, col_a, col_b, col_winner, agent_a, agent_b, names)
    n, lost = len(outcome), outcome == 1
    agent: Ints = np.empty(2 * n, dtype=np.int32)
    tier: Ints = np.zeros(2 * n, dtype=np.int32)
    agent[::2], agent[1::2] = np.where(lost, agent_b, agent_a), np.where(lost, agent_a, agent_b)
    tier[1::2] = outcome != 2
    roles = Roles(weight, group, when, voter, keep)
    order, votes = by_time({**about_votes(VoteRows(table), roles, used, (*WEIGHT, "n")), "turned": lost})
    if not isinstance(order, slice):
        agent, tier = _in_pairs(agent, order), _in_pairs(tier, order)
    start = np.arange(0, 2 * n + 1, 2)
    for array in (start, agent, tier, votes["weight"]):
        array.setflags(write=False)  # given away: a Profile does not copy them
    return {"agents": names, "kind": "games", "start": start, "agent": agent, "tier": tier, **votes}


def _in_pairs(values: Ints, order: Ints) -> Ints:
    """The values of both agents of each battle, for the battles in another order."""
    found = np.empty_like(values)
    np.take(values.reshape(-1, 2), order, axis=0, out=found.reshape(-1, 2), mode="clip")  # any other mode copies
    return found


# What to do with a table that has several scores of an agent in a task.
ONE_SCORE = "one score for each agent and task. If rows are items or runs, average them first"


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
    words = table.read(winner, read_word)
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


def contests(
    table: Table,
    *,
    contest: str | None = None,
    rank: str | None = None,
    agent: str | None = None,
    weight: str | None = None,
    group: str | None = None,
    when: str | None = None,
    voter: str | None = None,
    keep: Collection[str] = (),
) -> Fields:
    """One vote per contest, from one row per agent: lower rank is better, equal rank is a tie.

    Weight, group and time must be the same on all rows of a contest; what differs, such as a lane, is known about the
    entry. ``winner`` may say who of two was shown first.
    """
    used = contest_columns(table, contest, rank, agent)
    (vote,), labels = encode(table, used[0])
    place = table.numbers(used[1], read_number)
    (who,), names = encode(table, used[2])
    check_once_each(table, vote, who, labels, names, used[0], "one row for each agent")
    rows = VoteRows(table, vote)
    known = scores_of_rankings(table)
    votes = about_votes(rows, Roles(weight, group, when, voter, keep), [*used, *known], WEIGHT)
    votes |= {"higher_is_better": directions(rows, known[1])} if known else {}
    score = table.numbers(known[0], read_score) if known else None
    votes |= {"entry_columns": entry_columns(rows, [*used, *known])} | sides(rows)
    return {"agents": names, "kind": kind_of(used[0]), **replace_sides(stack(vote, place, who, votes, score))}


def scores(
    table: Table,
    *,
    agent: str | None = None,
    task: str | None = None,
    score: str | None = None,
    higher_is_better: str | bool | None = None,
    weight: str | None = None,
    voter: str | None = None,
    keep: Collection[str] = (),
) -> Fields:
    """One vote per task: better score first, equal scores tie, a blank score means absent. The task is the group."""
    used = score_columns(table, agent, task, score)
    (who,), names = encode(table, used[0])
    (vote,), tasks = encode(table, used[1])
    check_once_each(table, vote, who, tasks, names, used[1], ONE_SCORE)
    value = table.numbers(used[2], read_score)
    rows = VoteRows(table, vote)
    column = None
    if isinstance(higher_is_better, bool):
        better = np.full(rows.n_votes, higher_is_better)
    else:
        column = table.need(higher_is_better) if higher_is_better else table.find("higher_is_better")
        better = directions(rows, column) if column else np.full(rows.n_votes, True)
    roles = Roles(weight, "", "", voter, keep)
    votes = about_votes(rows, roles, [*used, column] if column else used, ("weight",))
    present = ~np.isnan(value)
    if not present.any():
        raise DataError(f"{table.name}: {used[2]} is blank in every row; expected scores")
    votes["columns"] = votes["columns"].plus({used[1]: Column(np.arange(rows.n_votes), tasks)})
    listed, which = np.unique(vote[present], return_inverse=True)
    votes = {**take_votes({**votes, "higher_is_better": better}, listed), "group_by": used[1]}
    key = np.where(better[vote], -value, value)[present]
    stacked = stack(which, key, who[present], votes, value[present])
    return {"agents": names, "kind": "election", **stacked}


def orders(
    table: Table,
    *,
    ranking: str | None = None,
    weight: str | None = None,
    group: str | None = None,
    when: str | None = None,
    voter: str | None = None,
    keep: Collection[str] = (),
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
            raise DataError(f"{table.place(row)}: agent {list(code)[twice]!r} appears twice; expected once")
        start.append(len(agent))
    if len(agent) == len(cells) and all(isinstance(cell, str) for cell in cells):  # places or agents, not rankings
        raise DataError(f'{table.name}: {column} names one agent in every row; expected rankings as in "a > b = c"')
    vote = np.repeat(np.arange(table.n_rows), np.diff(start))
    rows = VoteRows(table)
    known = scores_of_rankings(table)
    votes = about_votes(rows, Roles(weight, group, when, voter, keep), [column, *known], WEIGHT)
    votes |= sides(rows) | ({"higher_is_better": directions(rows, known[1])} if known else {})
    score = _listed_scores(table, known[0], start) if known else None
    stacked = stack(vote, np.array(tier, dtype=float), np.array(agent, dtype=np.int32), votes, score)
    # Rankings of two agents each may be battles.
    kind = None if max(np.diff(start), default=0) <= 2 else "election"
    return {"agents": tuple(code), "kind": kind, **replace_sides(stacked)}


def _listed_scores(table: Table, column: str, start: list[int]) -> Floats:
    """The scores of the agents of each ranking, in its order, from a list in each row."""
    scores: list[float] = []
    for row, cell in enumerate(table.cells(column)):
        try:
            scores += map(read_score, cell if isinstance(cell, list | tuple | np.ndarray) else [cell])
        except ValueError as error:
            raise DataError(f"{table.place(row)}: {column} is {shown(cell)}; expected {error}") from None
        if len(scores) != start[row + 1]:
            n = start[row + 1] - start[row]
            raise DataError(
                f"{table.place(row)}: {column} is {shown(cell)}; expected a list of {n}, one for each agent"
            )
    return np.array(scores)


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


def check_once_each(
    table: Table, vote: Ints, who: Ints, labels: tuple[str, ...], names: tuple[str, ...], column: str, expected: str
) -> None:
    """Each agent has one row in each vote; another one is an error that says where."""
    key = vote.astype(np.int64) * len(names) + who
    ordered = np.sort(key)
    if (ordered[1:] == ordered[:-1]).any():
        order = np.argsort(key, kind="stable")
        second = order[1:][key[order[1:]] == key[order[:-1]]].min()
        first = np.argmax(key == key[second])
        raise DataError(
            f"{table.place(int(second))}: agent {names[who[second]]!r} appears twice in {column} "
            f"{labels[vote[second]]!r}, first at {table.place(int(first))}; expected {expected}"
        )


def by_time(votes: Fields) -> tuple[NDArray[np.int64] | slice, Fields]:
    """The order of the votes by time, as an index, and their fields in that order."""
    if "when" not in votes or bool((votes["when"][1:] >= votes["when"][:-1]).all()):
        return slice(None), votes
    order = np.argsort(votes["when"], kind="stable")
    return order, take_votes(votes, order)


def take_votes(votes: Fields, index: NDArray[Any]) -> Fields:
    """The fields of some votes, in the order of the index."""
    others = ("columns", "entry_columns", "group_by")
    found = {name: value[index] for name, value in votes.items() if name not in others}
    return {**votes, **found, "columns": votes["columns"].take(index)}


def stack(vote: NDArray[Any], key: Floats, agent: Ints, votes: Fields, score: Floats | None = None) -> Fields:
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
        score = None if score is None else score[turn]
        if "entry_columns" in votes:
            votes = {**votes, "entry_columns": votes["entry_columns"].take(turn)}
    tier = np.cumsum(np.diff(key, prepend=key[:1]) != 0)  # dense inside each vote once a Profile has it
    start = np.concatenate([[0], np.cumsum(np.bincount(vote, minlength=n))])
    return {"start": start, "agent": agent, "tier": tier, "score": score, **votes}


def directions(rows: VoteRows, column: str) -> NDArray[np.bool_]:
    """Whether higher scores are better in each vote."""
    return rows.one_value(column, rows.table.numbers(column, read_flag) > 0)


# What a column ``winner`` of rankings may say of a vote over two agents: which side won. Side a was shown first, and of
# two that tie it stands first. Exports of a live board have this column.
_SIDES = {"a": 0, "b": 1, "tie": 2, "both_bad": 3}
_UNKNOWN = -1


def sides(rows: VoteRows) -> Fields:
    """Which side won each vote, if a column says so."""
    if "winner" not in rows.table.folded:
        return {}
    try:
        cells = rows.table.column(rows.table.need("winner"))
    except DataError:  # something else, that plays no role here
        return {}
    words = [_SIDES.get(value, _UNKNOWN) if isinstance(value, str) else _UNKNOWN for value in cells.values]
    said = np.array(words, dtype=np.int8)[cells.codes]
    if rows.vote is None:
        return {"side": said}
    side = said[rows.first]
    side[rows.vote[said != side[rows.vote]]] = _UNKNOWN  # its rows do not agree
    return {"side": side}


def replace_sides(fields: Fields) -> Fields:
    """``turned`` in place of ``side``, if every vote over two agents says who was shown first."""
    side = fields.pop("side", None)
    if side is None:
        return fields
    start, tier = fields["start"], fields["tier"]
    two = np.diff(start) == 2
    tied = tier[start[:-1][two]] == tier[start[:-1][two] + 1]
    if two.any() and ((side[two] != _UNKNOWN) & ((side[two] >= _SIDES["tie"]) == tied)).all():
        fields["turned"] = two & (side == _SIDES["b"])
        if not (side == _SIDES["both_bad"]).any():  # which says more of a tie
            fields["columns"] = fields["columns"].without("winner")
    return fields


# How each form of table is read.
READERS: dict[str, Callable[..., Fields]] = {
    "battles": battles,
    "contests": contests,
    "orders": orders,
    "scores": scores,
}
