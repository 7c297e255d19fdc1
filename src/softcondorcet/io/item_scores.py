"""Long score tables that say more than one score for each agent and task: model, task, metric, item, seed, score.

By default each item is one vote and its task the group; rows of one agent on the same item (seeds, trials, runs) are
averaged. Without a column for the task all items are of one task. The score may be called by its metric, as in
``model, task, accuracy``; then that name says whether higher is better.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from softcondorcet.columns import Column
from softcondorcet.errors import DataError
from softcondorcet.formatting import some
from softcondorcet.io import metric_names
from softcondorcet.io.cells import Table, fold, is_blank, read_flag, read_name, read_number, shown
from softcondorcet.io.column_names import AGENT, AGENTS, CONTEST, PAIRS, RANK, SCORE, TASK
from softcondorcet.io.number_text import comma_is_decimal, is_missing, read_flags, read_numbers
from softcondorcet.io.records import NONE, Codes, Options, Scores, as_codes
from softcondorcet.io.vote_columns import VoteRows, other_columns

ITEM = (
    *("item", "item_id", "question_id", "sample_id", "doc_id", "instance_id", "problem_id", "example_id", "prompt_id"),
    *("instance", "problem", "question", "example", "turn"),
)
REPEAT = ("seed", "trial", "epoch", "run", "run_id", "repeat", "replicate", "attempt", "fold")
METRIC = ("metric", "metric_name", "measure")
# What a score is called by what it measures.
MEASURED = (
    *("accuracy", "acc", "correct", "is_correct", "exact_match", "f1", "success", "passed", "pass", "reward", "points"),
    *(
        "return",
        "runtime",
        "latency",
        "loss",
        "perplexity",
        "error",
        "episode_return",
        "episodic_return",
        "mean_reward",
    ),
    *("mean_return", "solved", "cpu_time", "wall_time", "seconds"),
)
ORDER = ("accuracy", "acc", "exact_match", "f1", "score")
JUDGE = ("judge", "judge_id", "grader")


def read_item_scores(
    table: Table, columns: Mapping[str, str] | None = None, options: Options | None = None
) -> Scores | None:
    """The scores of a table with a column for items, repeats or metrics; None where the reader of plain scores does.

    ``columns`` may name those of agent, task, score, item, repeat and judge; the others are kept as in any table.
    """
    given, options = columns or {}, options or Options()
    roles = {"agent": AGENTS, "task": TASK, "score": (*SCORE, *MEASURED), "item": ITEM, "repeat": REPEAT}
    roles |= {"judge": JUDGE}
    found = {role: table.need(given[role]) if given.get(role) else table.find(*names) for role, names in roles.items()}
    agent, task, score, item, repeat, judge = found.values()
    metric = table.find(*METRIC)
    wanted = table.find(*(name for name in options.metric if "=" not in name)) if options.metric else None
    if metric is None and wanted is not None and wanted not in (agent, task, item) and not given.get("score"):
        score = found["score"] = wanted  # one of several columns of measures
        options = replace(options, metric=())
    if score is None and agent and (task or item) and not given:
        score = found["score"] = _only_measure(table, {*found.values(), metric})
        agent, task, score, item, repeat, judge = found.values()
    if task is None and metric is not None and item is None:
        task, metric = metric, None  # each metric is a task
    if agent is None or score is None or agent == score or (item is None and task is None):
        return None
    if table.find("weight", "winner", "ranking") or (table.find(*RANK) and table.find(*CONTEST)):
        return None
    if any(table.find(a) and table.find(b) for a, b in PAIRS):
        return None
    plain = agent.strip().casefold() in AGENT and score.strip().casefold() in SCORE and item is None
    if plain and task and not (repeat or metric or options.said or _needs_names(table, task, score)):
        return None
    scores = Scores(table.name)
    scores.order = ORDER
    _add_numbers(table, score, options, scores)
    rows = len(scores.score)
    scores.agent = _codes(table, agent)
    scores.task = _codes(table, task) if task else as_codes(np.zeros(rows, dtype=np.int32), ["all items"])
    measured = "" if score.strip().casefold() in SCORE else score.strip()
    scores.metric = _codes(table, metric) if metric else as_codes(np.zeros(rows, dtype=np.int32), [measured])
    scores.asks = bool(metric or measured)
    scores.item = _items(table, item, judge, scores.task.array) if item else Codes(rows)
    _add_directions(table, scores)
    _add_columns(table, {*found.values(), metric} - {judge}, options, scores)
    said = [f"items in {item!r}"] if item else []
    said += [f"repeats in {repeat!r} are averaged"] if repeat else []
    said += [f"scores in {score!r}"] if measured else []
    others = [title for title in table.columns if title not in found.values() and fold(title) in (*SCORE, *MEASURED)]
    said += [f"not in {some(map(repr, others))} (--metric NAME chooses)"] if others and metric is None else []
    scores.notes += ["; ".join(said)] if said else []
    return scores


def _only_measure(table: Table, used: set[str | None]) -> str | None:
    """The one column left that holds numbers and is called as a metric is, such as ``latency_ms``."""
    others = [title for title in table.columns if title not in used and not metric_names.is_spread(title)]
    named = [title for title in others if metric_names.metric_is_higher_better(title) is not None]
    numbers = [title for title in named if any(read_numbers([cell], False) for cell in table.column(title).values)]
    return numbers[0] if len(numbers) == 1 else None


def _add_directions(table: Table, scores: Scores) -> None:
    """What a column ``higher_is_better`` says of each task and metric."""
    flag = table.find("higher_is_better")
    if not flag:
        return
    better = table.numbers(flag, read_flag) > 0
    said = np.stack([scores.task.array, scores.metric.array, better])
    kinds, first = np.unique(said, axis=1, return_index=True)
    for task, metric, row in zip(kinds[0].tolist(), kinds[1].tolist(), first.tolist(), strict=True):
        scores.told(scores.task.names[task], scores.metric.names[metric], bool(better[row]), table.place(row))


def _add_columns(table: Table, used: set[str | None], options: Options, scores: Scores) -> None:
    """The columns that play no role, as any table has them."""
    others = [name for name in table.columns if name not in {*used, table.find("higher_is_better")}]
    for name, make in other_columns(VoteRows(table), others, options.keep).items():
        if column := make():
            scores.columns[name] = _as_codes(column)


def _as_codes(column: Column) -> Codes:
    if column.codes is not None:
        return as_codes(column.codes.astype(np.int32), column.names)
    assert column.values is not None
    known = ~np.isnan(column.values)
    codes = np.full(len(known), NONE, dtype=np.int32)
    distinct, codes[known] = np.unique(column.values[known], return_inverse=True)
    return as_codes(codes, distinct.tolist())


def _needs_names(table: Table, task: str, score: str) -> bool:
    """Whether the reader of plain scores cannot take them: cells as people write them, or names that say more."""
    cells = [value for value in table.column(score).values if isinstance(value, str)]
    if any(not is_missing(value) and not _is_plain(value) for value in cells):
        return True
    names = [value for value in table.column(task).values if isinstance(value, str)]
    if any(map(metric_names.is_summary, names)):
        return True
    if table.find("higher_is_better"):
        return False
    return any(metric_names.higher_is_better(name) is False for name in names)


def _is_plain(cell: str) -> bool:
    """Whether a number is written as the reader of plain scores takes it; other words are its errors."""
    try:
        read_number(cell)
    except ValueError:
        return read_numbers([cell], False) is None
    return True


def _add_numbers(table: Table, score: str, options: Options, scores: Scores) -> None:
    cells = table.cells(score)
    comma = comma_is_decimal(table.column(score).values)
    found = read_flags(cells) or read_numbers(cells, bool(comma))
    if found is None:
        for row, cell in enumerate(cells):
            if not is_missing(cell) and read_numbers([cell], bool(comma)) is None:
                raise DataError(
                    f"{table.place(row)}: {score} is {shown(cell)}; expected a number, or blank where there is none"
                )
        raise DataError(f"{table.name}: {score} is blank in every row; expected scores")
    if found.failed and options.failures is None:
        row = found.failed[0]
        raise DataError(
            f"{table.place(row)}: {score} is {shown(cells[row])}; expected a number, or --failures last "
            "(below all others) or --failures absent (left out) for runs that failed"
        )
    scores.score.extend(found.values)
    if options.failures == "last":
        scores.failed += found.failed


def _codes(table: Table, column: str) -> Codes:
    names = table.read(column, read_name)
    code: dict[str, int] = {}
    translation = np.array([code.setdefault(name, len(code)) for name in names], dtype=np.int32)
    return as_codes(translation[table.column(column).codes], list(code))


def _items(table: Table, item: str, judge: str | None, task: NDArray[np.int32]) -> Codes:
    """One code for each item, and for each judge of an item where some item has several; blank is a whole task."""
    cells = table.column(item)
    blank = np.isin(cells.codes, [k for k, value in enumerate(cells.values) if is_blank(value)])
    both = blank & np.isin(task, task[~blank])
    if both.any() or blank.all():
        row = int(np.argmax(both | blank))
        raise DataError(f"{table.place(row)}: {item} is blank; expected the item of the score")
    names = ["" if is_blank(value) else read_name(value) for value in cells.values]
    code: dict[str, int] = {"": NONE}
    translation = np.array([code.setdefault(name, len(code) - 1) for name in names], dtype=np.int32)
    items = as_codes(translation[cells.codes], [*code][1:])
    if judge is None or len(table.column(judge).values) < 2:
        return items
    judges = _codes(table, judge)
    pairs = np.where(blank, NONE, items.array.astype(np.int64) * len(judges.values) + judges.array)
    distinct, codes = np.unique(pairs[~blank], return_inverse=True)
    if len(distinct) == len(items.values):
        return items
    named = [
        f"{items.names[k // len(judges.values)]}, {judges.names[k % len(judges.values)]}" for k in distinct.tolist()
    ]
    pairs[~blank] = codes
    return as_codes(pairs.astype(np.int32), named)
