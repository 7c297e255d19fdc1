"""Wide tables the other way round: a row for each task, a column for each agent."""

from __future__ import annotations

import re
from typing import Any

from softcondorcet.errors import DataError
from softcondorcet.formatting import some
from softcondorcet.io import metric_names
from softcondorcet.io.cells import Table, fold, is_blank, shown
from softcondorcet.io.item_scores import METRIC
from softcondorcet.io.number_text import Numbers
from softcondorcet.io.records import Options, Scores, name_of

TITLES = (
    *("task", "tasks", "benchmark", "benchmarks", "dataset", "datasets", "scenario", "metric", "instance", "problem"),
    *("benchmark_name", "task_name", "dataset_name", "evaluation", "eval", "test"),
)
# Names by which the rows of a table without a title turn out to be tasks.
_KNOWN = frozenset(
    (
        *("mmlu", "arc", "hellaswag", "gsm8k", "math", "humaneval", "mbpp", "truthfulqa", "winogrande", "bbh", "gpqa"),
        *("ifeval", "musr", "drop", "boolq", "piqa", "siqa", "openbookqa", "triviaqa", "naturalquestions", "squad"),
        *(
            "glue",
            "superglue",
            "sst",
            "mnli",
            "qnli",
            "cola",
            "rte",
            "wikitext",
            "lambada",
            "agieval",
            "ceval",
            "cmmlu",
        ),
        *("livecodebench", "aime", "mgsm", "mmmu", "mathvista", "simpleqa", "swe", "mteb", "cifar", "imagenet"),
    )
)


def are_tasks(title: str, cells: list[Any], agents: list[str]) -> bool:
    """Whether the rows are tasks: by the title of their column, or, where it has none, by well-known names."""
    plain = fold(re.sub(r"\([^()]*\)", "", title))
    if plain:
        return plain in TITLES
    rows = [_is_known(str(cell)) for cell in cells if not is_blank(cell)]
    return 2 * sum(rows) > len(rows) and not any(map(_is_known, agents))


def _is_known(name: str) -> bool:
    return bool(words := re.findall(r"[a-z]+[0-9]*[a-z]*", name.casefold())) and words[0] in _KNOWN


def read_transposed(
    table: Table, first: str, cells: list[Any], columns: dict[str, Numbers], options: Options
) -> Scores:
    """The scores in a table whose column `first` names the task of each row; a column may name its metric."""
    scores = Scores(table.name)
    agents = [title for title in columns if not metric_names.is_summary(title)]
    metric = table.find(*METRIC)
    metrics = table.cells(metric) if metric and metric not in (first, *agents) else [None] * len(cells)
    for row, cell in enumerate(cells):
        if is_blank(cell) and all(columns[title].values[row] != columns[title].values[row] for title in agents):
            scores.left_out["rows without any cell"] += 1
            continue
        task = name_of(cell, table.place(row), first or "the first column")
        if metric_names.is_summary(task) and task not in options.tasks:
            scores.notes.append(f"no task, as it sums up others: {task!r}; --task NAME takes one")
            continue
        measured = "" if is_blank(metrics[row]) else str(metrics[row]).strip()
        for title in agents:
            value = columns[title].values[row]
            if row in columns[title].failed and options.failures is None:
                raise DataError(
                    f"{table.place(row)}: {title} is {shown(table.cells(title)[row])}; expected a number, "
                    "or --failures last or absent"
                )
            if row in columns[title].failed and options.failures == "last":
                scores.add_failed(title, task)
            elif value == value:
                scores.add(title, task, value, metric=measured)
            else:
                scores.left_out["blank cells: the agent is absent from the task"] += 1
    place = repr(first) if first else "the first column"
    scores.notes.insert(0, f"wide table: tasks in {place}, {len(agents):,} agents ({some(agents)})")
    return scores
