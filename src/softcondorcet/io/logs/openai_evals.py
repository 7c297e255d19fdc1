"""OpenAI evals: output items of runs, and logs of the open-source framework ``evals`` (both jsonl).

An output item has a number for each grader, in ``grades`` or in ``results``; each grader is a task. The agent is the
model that gave the sample where it is named, else the run. A log begins with the ``spec`` of its run: the completion
function is the agent and the evaluation the task; of its events, matches and metrics are scores, and the final report
counts where there are none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from softcondorcet.errors import DataError
from softcondorcet.io.input_files import InputFile, brief
from softcondorcet.io.logs.common import agent_of, get, optional
from softcondorcet.io.records import Format, Options, Scores, name_of, number

ORDER = ("correct", "accuracy", "score")
_ITEM = "eval.run.output_item"


def recognise(source: InputFile) -> bool:
    first = source.first or {}
    if first.get("object") == _ITEM or ("grades" in first and "run_id" in first):
        return True
    return isinstance(first.get("spec"), dict) and "eval_name" in first["spec"]


def read(files: list[InputFile], options: Options) -> Scores:
    scores = Scores("OpenAI evals")
    scores.order = ORDER
    by_run = False
    for file in files:
        if "spec" in (file.first or {}):
            _log(file, options, scores)
            continue
        for line, row in file.rows():
            place = file.place(line)
            model = optional(row, "sample", "model")
            by_run |= not isinstance(model, str) and options.agent_from is None
            agent = agent_of(file, model if isinstance(model, str) else row.get("run_id"), options, "run_id")
            _item(row, place, agent, scores)
    if by_run:
        scores.notes.append("agents are runs (run_id); --agent-from file, folder or a regular expression names them")
    return scores


def _item(row: dict[str, Any], place: str, agent: str, scores: Scores) -> None:
    key = "datasource_item_id" if "datasource_item_id" in row else "data_source_idx"
    item = row.get(key)
    if not isinstance(item, int | str):
        raise DataError(f"{place}: {key} is {brief(item)}; expected a number")
    graded = False
    for grader, grade in _grades(row, place):
        graded = True
        score = number(grade)
        if score is None and grade is not None and not isinstance(grade, float):
            raise DataError(f"{place}: grade {grader!r} is {brief(grade)}; expected a number")
        if score is None:
            scores.left_out["grades that are null"] += 1
        else:
            scores.add(agent, grader, score, item=str(item))
    if not graded:
        scores.left_out["items without a grade"] += 1


def _grades(row: dict[str, Any], place: str) -> Iterator[tuple[str, Any]]:
    if "grades" in row or "results" not in row:
        yield from get(row, place, "grades", dict, "an object with a number for each grader").items()
        return
    for result in get(row, place, "results", list, "a list with a score of each grader"):
        name = name_of(optional(result, "name"), place, "the name of a grader")
        yield name, result["score"] if result.get("score") is not None else result.get("passed")


def _log(file: InputFile, options: Options, scores: Scores) -> None:
    agent, task, counted = "", "", len(scores)
    report: dict[str, Any] = {}
    for line, row in file.rows():
        place = file.place(line)
        if "spec" in row:
            spec = get(row, place, "spec", dict, "an object with completion_fns and eval_name")
            functions = spec.get("completion_fns")
            named = ", ".join(map(str, functions)) if isinstance(functions, list) else spec.get("model_name")
            agent = agent_of(file, named, options, "spec.completion_fns")
            task = get(spec, f"{place}: spec", "eval_name", str, "the name of an evaluation")
        elif "final_report" in row:
            report = get(row, place, "final_report", dict, "an object of metrics")
        elif row.get("type") in ("match", "metrics"):
            data = get(row, place, "data", dict, "an object")
            item = name_of(row.get("sample_id"), place, "sample_id")
            found = {key: score for key, value in data.items() if (score := number(value)) is not None}
            if row["type"] == "match" and "correct" not in found:
                raise DataError(f"{place}: correct is {brief(data.get('correct'))}; expected true or false")
            for metric, score in found.items():
                scores.add(agent, task, score, item=item, metric=metric)
    if len(scores) > counted:
        return
    for metric, value in report.items():
        score = number(value)
        if "std" not in metric and not metric.startswith("counts/") and score is not None:
            scores.add(agent, task, score, metric=metric)
    if len(scores) == counted:
        scores.left_out[f"logs without a score, such as {file.name}"] += 1


FORMAT = Format(
    name="openai_evals",
    title="OpenAI evals: output items and logs (.jsonl)",
    recognise=recognise,
    read=read,
    vote="an item and grader; each grader is a task",
    leaves_out="grades that are null, logs without a score",
    example="sco rank items.jsonl",
)
