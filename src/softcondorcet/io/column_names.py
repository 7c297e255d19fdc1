"""Column names: which column of a table plays which role, and what kind of table it is.

Columns that the caller does not name are found by the names people give them. For a table that an engine holds, roles
are told by the names of its columns alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from softcondorcet.checks import check
from softcondorcet.errors import DataError
from softcondorcet.io.cells import Table, fold
from softcondorcet.profile import Kind

PAIRS = (("model_a", "model_b"), ("agent_a", "agent_b"), ("player_a", "player_b"), ("left", "right"), ("a", "b"))
AGENT = ("agent", "player", "model", "name")
# What else names the agent of a table of scores.
AGENTS = (
    *(*AGENT, "system", "method", "submission", "team", "llm", "algorithm", "algo", "solver", "policy"),
    *("model_name", "model_id", "agent_name", "agent_id"),
)
CONTESTANTS = (*AGENTS, "driver", "athlete", "competitor", "participant", "candidate", "entrant", "horse", "runner")
CONTEST = tuple(
    f"{word}{end}" for word in ("contest", "vote", "voter", "match", "game", "race", "event") for end in ("_id", "")
)
BALLOTS = ("vote", "voter")  # a contest called so is a ballot
RANK = ("rank", "place", "position")
TASK = ("task", "game", "benchmark", "scenario", "dataset", "env", "environment", "task_name", "dataset_name")
SCORE = ("score", "value")
TIES = ("tie", "draw", "both_bad", "bothbad", "both bad", "tie (bothbad)", "tie (both_bad)", "tie (inconsistent)")
WEIGHT = ("weight", "count")
GROUP = ("judge", "judge_id", "prompt", "prompt_id", "question_id", "task", "group")
TIME = ("tstamp", "timestamp", "datetime", "date", "time", "when")
# The kinds of table that a caller may name, and the forms that each comes in.
KINDS = {"battles": ("battles",), "rankings": ("contests", "orders"), "scores": ("scores",)}


def battle_columns(table: Table, a: str | None = None, b: str | None = None, winner: str | None = None) -> list[str]:
    """The columns of both agents and the winner: those that are named, else by the names people give them."""
    if a is None and b is None:
        a, b = next(((x, y) for x, y in PAIRS if x in table.folded and y in table.folded), PAIRS[0])
    return [table.need(name or default) for name, default in ((a, "model_a"), (b, "model_b"), (winner, "winner"))]


def contest_columns(
    table: Table, contest: str | None = None, rank: str | None = None, agent: str | None = None
) -> list[str]:
    """The columns of contest, rank and agent: those that are named, else by the names people give them."""
    return [_need(table, contest, CONTEST), _need(table, rank, RANK), _need(table, agent, CONTESTANTS)]


def score_columns(
    table: Table, agent: str | None = None, task: str | None = None, score: str | None = None
) -> list[str]:
    """The columns of agent, task and score: those that are named, else by the names people give them."""
    return [_need(table, agent, AGENT), _need(table, task, TASK), _need(table, score, SCORE)]


def scores_of_rankings(table: Table) -> list[str]:
    """The columns of the scores that rankings were made from, and of their direction, where there are both."""
    names = ("score", "higher_is_better")
    return [table.need(name) for name in names] if all(name in table.folded for name in names) else []


def _need(table: Table, given: str | None, names: tuple[str, ...]) -> str:
    return table.need(given) if given else table.find(*names) or table.need(names[0])


def kind_of(contest: str) -> Kind:
    """The kind of rankings, told by the name of the column that numbers them: games, or the votes of an election."""
    return "election" if contest.strip().casefold().removesuffix("_id") in BALLOTS else "games"


def option(table: Table, given: str | None, names: tuple[str, ...], used: list[str], role: str) -> str | None:
    """The column for an optional role: the one given, none for '', else the one found by name and not all blank."""
    if given is not None:
        return table.need(given) if given else None
    known = [table.need(name) for name in names if name in table.folded]
    found = [column for column in known if column not in used and not table.all_blank(column)]
    if role == "when" and [fold(column) for column in found] == ["date", "time"]:
        return found[0]  # the time of day, beside its date
    if len(found) > 1 and role != "group":
        raise DataError(
            f"{table.name}: columns {found[0]!r} and {found[1]!r} could both be the {role}; "
            f"expected one; choose with columns={{{role!r}: {found[0]!r}}} (--column {role}={found[0]})"
        )
    return found[0] if found else None


def fitting(table: Table, kind: str | None, columns: Mapping[str, Any]) -> list[str]:
    """The forms of table whose columns this one has: battles, contests, orders, scores."""

    def has(role: str, names: tuple[str, ...]) -> bool:
        return role in columns or not table.folded.isdisjoint(names)

    fits = {
        "battles": has("winner", ("winner",)) and any(has("a", (x,)) and has("b", (y,)) for x, y in PAIRS),
        "contests": has("contest", CONTEST) and has("rank", RANK) and has("agent", CONTESTANTS),
        "orders": "ranking" in columns or (has("ranking", ("ranking",)) and not has("agent", AGENT + RANK)),
        "scores": has("agent", AGENT) and has("task", TASK) and has("score", SCORE),
    }
    found = [form for name, forms in KINDS.items() if kind in (None, name) for form in forms if fits[form]]
    if found == ["contests", "scores"] and table.find(*CONTEST) != table.find(*TASK):
        return ["contests"]  # of scores, in tasks
    return found


def pick(table: Table, kind: str | None, columns: Mapping[str, Any]) -> str:
    """The one form of table whose columns this one has."""
    found = fitting(table, kind, columns)
    if len(found) == 1:
        return found[0]
    what = "fit more than one kind" if found else "are not known"
    todo = "choose one with kind= (--kind)" if found else "name yours with columns= (--column winner=NAME)"
    raise DataError(
        f"{table.name}: columns {table.names} {what}; expected battles (model_a, model_b, winner), "
        f"rankings (contest_id, rank, agent, or ranking) or scores (agent, task, score); {todo}"
    )


# The roles that an engine needs to count a table.
_COUNTED = {"battles": ("a", "b", "winner", "weight"), "contests": ("contest", "rank", "agent", "weight")}


def roles_of(head: Table, kind: str | None, columns: Mapping[str, str] | None) -> tuple[str, dict[str, str]]:
    """The form of such a table, "battles" or "contests", and the column of each of its roles.

    `head` is the table with one row, in which only columns that are blank in all rows are blank. The weight is the
    empty text where there is none.
    """
    given = dict(columns or {})
    form = pick(head, kind, given)
    if form not in _COUNTED:
        raise DataError(
            f"{head.name}: columns {head.names} are those of {form}; expected battles (model_a, model_b, winner) "
            "or rankings with one row for each agent (contest_id, rank, agent), which an engine can count"
        )
    roles = _COUNTED[form]
    check(given.keys() <= set(roles), "columns", f"a dict with keys among {', '.join(roles)}", given)
    weight = given.pop("weight", None)
    used = (battle_columns if form == "battles" else contest_columns)(head, **given)
    weights = (*WEIGHT, "n") if form == "battles" else WEIGHT
    return form, dict(zip(roles, [*used, option(head, weight, weights, used, "weight") or ""], strict=True))
