"""Turns records into votes: chooses metric and direction, and makes one vote per item or task.

Of several metrics of a task the main one is chosen by its name, or the one that is asked for; totals of subtasks do not
count twice; scores of the same agent on the same item are averaged first.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from softcondorcet.checks import one_of
from softcondorcet.columns import Column, Columns
from softcondorcet.errors import DataError
from softcondorcet.formatting import plural, some
from softcondorcet.io import metric_names
from softcondorcet.io.assemble import battles as read_battles, stack
from softcondorcet.io.cells import Cells, Table
from softcondorcet.io.column_names import GROUP
from softcondorcet.io.vote_columns import Fields

if TYPE_CHECKING:
    pass

from softcondorcet.io.records import NONE, TASK, Battles, Codes, Options, Rows, Scores


def battle_table(battles: Battles) -> Table:
    """Columns ``model_a, model_b, winner, weight`` and the others; a share of a win becomes two rows."""
    share, weight = np.array(battles.share), np.array(battles.weight)
    split = (share > 0) & (share < 1) & (share != 0.5)
    row = np.repeat(np.arange(len(share)), np.where(split, 2, 1))
    second = np.r_[False, row[1:] == row[:-1]] if len(row) else np.zeros(0, dtype=bool)
    part = share[row]
    divided = split[row]
    outcome = np.where(divided, np.where(second, 1, 0), np.where(part == 0.5, 2, np.where(part > 0.5, 0, 1)))
    weights = weight[row] * np.where(divided, np.where(second, 1 - part, part), 1.0)
    columns: dict[str, Any] = {
        "model_a": Cells(battles.a.array[row], battles.a.names),
        "model_b": Cells(battles.b.array[row], battles.b.names),
        "winner": Cells(outcome.astype(np.int32), ["model_a", "model_b", "tie"]),
    }
    if (weights != 1).any():
        distinct, codes = np.unique(weights, return_inverse=True)
        columns["weight"] = Cells(codes.astype(np.int32), distinct.tolist())
    for name, column in battles.columns.items():
        columns[name] = _optional(column, row)
    return Table(battles.name, columns, lambda k: battles.place(int(row[k])), text=battles.text)


def battle_fields(battles: Battles, columns: Mapping[str, Any], keep: Collection[str]) -> Fields:
    """The fields of a profile; the group and the time are found by name, as in tables."""
    if not len(battles):
        raise nothing(battles)
    table = battle_table(battles)
    if "group" not in columns and any(table.find(name) and None in table.column(name).values for name in GROUP):
        columns = {**columns, "group": ""}  # a judge of some battles only is a column, not the group
    battles.notes.append(plural(len(battles), "battle"))
    return read_battles(table, keep=keep, **columns)


def _optional(column: Codes, row: NDArray[np.int64]) -> Cells:
    codes, values = column.array[row], column.names
    if (codes == NONE).any():
        codes, values = np.where(codes == NONE, len(values), codes).astype(np.int32), [*values, None]
    return Cells(codes, values)


# From scores to the fields of a profile.


def score_fields(scores: Scores, options: Options) -> Fields:
    """The fields of a profile: one vote per item, or per task; the group is the task."""
    one_of("per", ("item", "task"), options.per)
    if not len(scores):
        raise nothing(scores)
    keep = _without_doubled_totals(scores, _main_metrics(scores, options, _asked(scores, options)))
    agent, task, item = scores.agent.array[keep], scores.task.array[keep], scores.item.array[keep]
    value = np.frombuffer(scores.score, dtype=float)[keep]
    better = _directions(scores, options, keep)
    if scores.failed:
        failed = np.zeros(len(scores), dtype=bool)
        failed[scores.failed] = True
        value = np.where(failed[keep], np.where(better[task], -np.inf, np.inf), value)
    present = ~np.isnan(value)
    if not present.all():
        scores.left_out["scores that are blank: the agent is absent there"] += int((~present).sum())
        agent, task, item, value = agent[present], task[present], item[present], value[present]
    if not len(value):
        raise nothing(scores)
    vote, who, mean, first = _averaged(scores, agent, task, item, value)
    known = ~np.isnan(mean)
    if not known.all():
        scores.left_out["means of infinities of both signs"] += int((~known).sum())
        vote, who, mean, first = vote[known], who[known], mean[known], first[known]
        if not len(mean):
            raise nothing(scores)
    if options.per == "task":
        lead = task[first]
        vote, who, mean, first = _per_task(scores, vote, who, mean, lead, first)
    votes, vote = np.unique(vote, return_inverse=True)
    lead = np.empty(len(votes), dtype=np.int64)
    lead[vote[::-1]] = first[::-1]  # a row of each vote
    names, who = _used(scores.agents, who)
    by_item = options.per == "item" and bool((item >= 0).any())
    columns = {TASK: _column(task[lead], scores.task.names)}
    if by_item:
        columns["item"] = _column(item[lead], scores.item.names)
    for name, column in scores.columns.items():
        values = column.array[keep][present]
        if (values[first] == values[lead][vote]).all():  # one value for each vote
            columns[name] = _column(values[lead], column.names)
    tasks = len(columns[TASK].names)
    what = "item" if by_item else "task"
    scores.notes.append(
        f"one vote per {what}: {plural(len(votes), 'vote')} in {plural(tasks, 'task')}, {plural(len(names), 'agent')}"
    )
    alone = int((np.bincount(vote, minlength=len(votes)) == 1).sum())
    if alone and len(names) > 1:
        scores.notes.append(f"{alone:,} of {len(votes):,} votes hold one agent only and decide nothing")
    higher = better[task[lead]]
    about = {"weight": np.ones(len(votes)), "columns": Columns(columns), "group_by": TASK, "higher_is_better": higher}
    # Places rather than numbers: the difference of two infinities is none.
    key = np.unique(np.where(higher[vote], -mean, mean), return_inverse=True)[1].astype(float)
    raw = np.where(np.isfinite(mean), mean, np.nan)
    return {"agents": names, "kind": scores.kind, **stack(vote, key, who.astype(np.int32), about, raw)}


def _column(codes: NDArray[Any], names: list[Any]) -> Column:
    """A column of names, of those that occur; of numbers where all names are numbers."""
    used, place = np.unique(codes, return_inverse=True)
    known = [names[k] for k in used.tolist() if k >= 0]
    place = place - (len(used) - len(known))
    if known and all(isinstance(name, int | float) and not isinstance(name, bool) for name in known):
        return Column(values=np.array([*known, np.nan])[place])
    return Column(place, tuple(str(name) for name in known))


def nothing(rows: Rows) -> DataError:
    left = "; ".join(f"{what} ({count:,})" for what, count in rows.left_out.items())
    return DataError(f"{rows.name}: no scores; expected at least one" + (f"; left out: {left}" if left else ""))


def _asked(scores: Scores, options: Options) -> NDArray[np.bool_]:
    """Rows of the tasks that the user asked for; where none was named, of all that do not sum up others."""
    keep = np.ones(len(scores), dtype=bool)
    known = scores.task.names
    summaries = [name for name in known if metric_names.is_summary(name)]
    if not options.tasks and 0 < len(summaries) < len(known):
        scores.notes.append(f"no tasks, as they sum up others: {some(map(repr, summaries))}; --task NAME takes one")
        keep = ~np.isin(scores.task.array, [scores.task.values[name] for name in summaries])
    if options.tasks:
        for name in options.tasks:
            one_of("tasks", known, name, "among")
        chosen = np.array([name in options.tasks for name in known])
        keep = chosen[scores.task.array]
    return keep


def _main_metrics(scores: Scores, options: Options, keep: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Rows of one metric in each task: that asked for, else the main one that all agents of the task have."""
    metric, tasks, metrics = scores.metric.array, scores.task.names, scores.metric.names
    known = set(metrics)
    for asked in options.metric:
        name = asked.partition("=")[2] or asked
        if not any(_is(name, one) for one in known):
            one_of("metric", sorted(known), name, "among")
    if len(metrics) < 2:
        return keep
    triples = np.stack([scores.task.array[keep], scores.agent.array[keep], metric[keep]])
    task_of, agent_of, metric_of = _distinct(triples, scores)
    chosen = np.full(len(tasks), NONE)
    words: dict[str, list[str]] = {}
    several = without = 0
    for task in np.unique(task_of):
        here = task_of == task
        sets = [set(metric_of[here & (agent_of == agent)].tolist()) for agent in np.unique(agent_of[here])]
        present, shared = set.union(*sets), set.intersection(*sets)
        name = _one_metric(scores, options, tasks[task], {metrics[k] for k in present}, {metrics[k] for k in shared})
        chosen[task] = code = scores.metric.values[name]
        without += sum(code not in found for found in sets)
        if len(present) > 1:
            several += 1
            words.setdefault(name, []).append(tasks[task])
    if without:
        scores.left_out["agents without the metric of a task"] += without
    if several:
        said = "; ".join(f"{name} of {some(of)}" for name, of in list(words.items())[:4])
        have = "task has" if several == 1 else "tasks have"
        scores.notes.append(f"metric {said}; {several:,} {have} several: --metric NAME or TASK=NAME")
    chosen_here: NDArray[np.bool_] = metric == chosen[scores.task.array]
    return keep & chosen_here


def _distinct(triples: NDArray[np.int32], scores: Scores) -> Any:
    """The distinct columns of three rows, by one integer each."""
    n_agents, n_metrics = len(scores.agent.values), len(scores.metric.values)
    code = (triples[0].astype(np.int64) * n_agents + triples[1]) * n_metrics + triples[2]
    code = np.unique(code)
    return code // (n_agents * n_metrics), code // n_metrics % n_agents, code % n_metrics


def _is(asked: str, metric: str) -> bool:
    """A metric is asked for by its whole name, or without its filter."""
    return asked in (metric, metric.partition(",")[0])


def _one_metric(scores: Scores, options: Options, task: str, present: set[str], shared: set[str]) -> str:
    for asked in options.metrics_for(task):
        found = {name for name in present if _is(asked, name)}
        if found:
            return asked if asked in found else metric_names.choose(found, scores.order, f"{scores.name}: {task}")
    if not shared:
        raise DataError(
            f"{scores.name}: the agents of task {task!r} have no metric in common, of {some(sorted(present), 8)}; "
            "expected one that all have: --metric NAME takes the agents that have it"
        )
    return metric_names.choose(shared, scores.order, f"{scores.name}: task {task!r}")


def _without_doubled_totals(scores: Scores, keep: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Scores of whole tasks beside scores of their items: one of both. Items, where all agents have them."""
    task, agent, whole = scores.task.array, scores.agent.array, scores.item.array == NONE
    for code in np.intersect1d(task[keep & whole], task[keep & ~whole]):
        here = keep & (task == code)
        covered = np.isin(agent[here & whole], agent[here & ~whole]).all()
        drop = here & (whole if covered else ~whole)
        what = (
            "totals of tasks whose items are there"
            if covered
            else "items of tasks of which some agents have totals only"
        )
        scores.left_out[what] += int(drop.sum())
        keep = keep & ~drop
    return keep


def _directions(scores: Scores, options: Options, keep: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """For each task whether higher is better: said by the user, by the file, by the name of the metric or task."""
    tasks, metrics = scores.task.names, scores.metric.names
    known = {*tasks, *metrics, *(one.partition(",")[0] for one in metrics)} - {""}
    for option, names in (("lower_is_better", options.lower_is_better), ("higher_is_better", options.higher_is_better)):
        for name in names:
            one_of(option, sorted(known), name, "a task or metric, one of")
    better = np.ones(len(tasks), dtype=bool)
    rows = np.flatnonzero(keep)
    seen, first = np.unique(scores.task.array[rows], return_index=True)
    lower: list[str] = []
    for task, row in zip(seen.tolist(), rows[first].tolist(), strict=True):
        name, metric = tasks[task], metrics[scores.metric.array[row]]
        answer = options.direction(name, metric, metric.partition(",")[0])
        if answer is None:
            answer = scores.higher.get((name, metric))
        if answer is None:
            answer = metric_names.metric_is_higher_better(metric) if metric else metric_names.higher_is_better(name)
        if answer is None and scores.asks and metric:
            raise DataError(
                f"{scores.name}: nothing says whether a higher {metric!r} is better (task {name!r}); "
                f"expected --higher-is-better {metric} or --lower-is-better {metric}"
            )
        better[task] = answer is not False
        lower += [name] if answer is False else []
    if lower:
        scores.notes.append(f"lower is better in {some(lower)}")
    return better


def _averaged(
    scores: Scores, agent: NDArray[Any], task: NDArray[Any], item: NDArray[Any], value: NDArray[np.float64]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64], NDArray[Any]]:
    """One mean for each agent on each item: vote, agent, mean, and the first row of each."""
    n_agents, n_items = len(scores.agent.values), len(scores.item.values) + 1
    vote = task.astype(np.int64) * n_items + item + 1
    key = vote * n_agents + agent
    distinct, first, inverse, count = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    if len(distinct) < len(key):
        scores.notes.append(f"repeats of an agent on one item averaged: {len(key):,} scores into {len(distinct):,}")
    with np.errstate(invalid="ignore"):
        mean = np.bincount(inverse, weights=value) / count
    mean = np.where(count == 1, value[first], mean)  # exactly as it stands
    return distinct // n_agents, distinct % n_agents, mean, first


def _per_task(
    scores: Scores, vote: NDArray[Any], who: NDArray[Any], mean: NDArray[Any], task: NDArray[Any], first: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64], NDArray[Any]]:
    """The mean over the items of each task, for each agent."""
    n_agents = len(scores.agent.values)
    distinct, lead, inverse, count = np.unique(
        task.astype(np.int64) * n_agents + who, return_index=True, return_inverse=True, return_counts=True
    )
    _, some_row = np.unique(vote, return_index=True)
    items = np.bincount(task[some_row], minlength=int(task.max()) + 1)
    uneven = int((count < items[distinct // n_agents]).sum())
    if uneven:
        scores.notes.append(f"{uneven:,} means are over fewer items than other agents of the task have")
    return distinct // n_agents, distinct % n_agents, np.bincount(inverse, weights=mean) / count, first[lead]


def _used(names: Sequence[str], who: NDArray[Any]) -> tuple[tuple[str, ...], NDArray[Any]]:
    used, codes = np.unique(who, return_inverse=True)
    return tuple(names[k] for k in used), codes
