"""lm-evaluation-harness: ``results_*.json`` (one score per task) and ``samples_*.jsonl`` (one per document).

A group (``mmlu``) and its subtasks hold the same answers: only the subtasks count. A samples file names no model: the
results file beside it does, else ``--agent-from``. Metrics are named ``metric,filter``; the main one is the first of
``ORDER`` that all agents of a task have. Files of lighteval and of the harness before version 0.4 have no filters.
"""

from __future__ import annotations

import re
from typing import Any

from softcondorcet.errors import DataError
from softcondorcet.io.input_files import InputFile
from softcondorcet.io.logs.common import agent_of, get, optional
from softcondorcet.io.records import Format, Options, Scores, number

_METRICS = (
    *("acc_norm", "acc", "exact_match", "prompt_level_strict_acc", "pass@1", "pass_at_1", "f1", "mc2", "em", "score"),
    *("math_verify", "extractive_match", "qem", "bleu", "chrf", "rougeL", "rouge2", "rouge1", "mcc", "likelihood_diff"),
    *("word_perplexity", "perplexity", "bits_per_byte", "byte_perplexity", "mc1"),
)
_FILTERS = (
    "none",
    "strict-match",
    "flexible-extract",
    "custom-extract",
    "get-answer",
    "remove_whitespace",
    "create_test",
)
ORDER = (*_METRICS, *(f"{metric},{filter}" for metric in _METRICS for filter in _FILTERS))
_DATE = re.compile(r"_\d{4}-\d\d-\d\dT[\d\-:.]+$")
_BYPASS = "bypass"  # stands where answers were written down and not scored
_WORDS = ("alias", "sample_len", "samples", "sample_count", "name")


def recognise(source: InputFile) -> bool:
    first = source.first or {}
    if "doc_id" in first and ("resps" in first or "filtered_resps" in first or "arguments" in first or "doc" in first):
        return True
    results = first.get("results")
    known = (
        "versions",
        "configs",
        "config",
        "config_general",
        "group_subtasks",
        "n-shot",
        "model_name",
        "lm_eval_version",
    )
    tasks = isinstance(results, dict) and all(isinstance(row, dict) for row in results.values())
    return tasks and "evalId" not in first and any(key in first for key in known)


def read(files: list[InputFile], options: Options) -> Scores:
    scores = Scores("lm-evaluation-harness")
    scores.order, scores.asks = ORDER, True
    samples = [file for file in files if "doc_id" in (file.first or {})]
    model: dict[tuple[str, str], str] = {}  # folder and time of a results file -> its model
    for file in files:
        if file not in samples:
            model[file.folder, _time(file)] = _results(file, options, scores)
    for file in samples:
        _samples(file, options, scores, model)
    return scores


def _results(file: InputFile, options: Options, scores: Scores) -> str:
    found = file.document()
    results = get(found, file.name, "results", dict, "an object of tasks")
    agent = agent_of(file, _model(found), options, "model_name")
    subtasks = found.get("group_subtasks")
    below = subtasks if isinstance(subtasks, dict) else {}
    # A group counts by its subtasks where they are there, and by itself where only its own row was kept.
    parts = {name: names for name, names in below.items() if isinstance(names, list)}
    groups = {
        name for name in results if any(isinstance(part, str) and part in results for part in parts.get(name, ()))
    }
    groups |= {name for name in results if name == "all" or re.search(r":_average\b|\|_average\b", name)}
    tasks = [name for name in results if name not in groups]
    for task in tasks:
        row = results[task]
        place = f"{file.name}: results: {task}"
        if not isinstance(row, dict):
            raise DataError(f"{place}: expected an object of metrics, got {type(row).__name__}")
        for key, value in row.items():
            metric = key.removesuffix(",none")
            base = key.partition(",")[0]
            if key.strip() in ("", *_WORDS) or base.endswith(("_stderr", "_se")) or base in ("alias", _BYPASS):
                continue
            score = number(value)
            if score is None and not isinstance(value, int | float):
                if value in (None, "N/A", ""):
                    scores.left_out["metrics without a value"] += 1
                    continue
                raise DataError(f"{place}: {key} is {str(value)[:60]!r}; expected a number")
            scores.add(agent, task, float("nan") if score is None else score, metric=metric)
            higher = optional(found.get("higher_is_better"), task, base)
            if isinstance(higher, bool):
                scores.told(task, metric, higher, file.name)
    if len(tasks) < len(results):
        scores.left_out["groups, whose subtasks count"] += len(results) - len(tasks)
    return agent


def _model(found: dict[str, Any]) -> Any:
    """The model's name, by the places where versions of the harness and lighteval put it."""
    for path in (("model_name",), ("config_general", "model_name"), ("config_general", "model_config", "model_name")):
        if isinstance(name := optional(found, *path), str) and name.strip():
            return name
    args = optional(found, "config", "model_args")
    if isinstance(args, dict):
        args = ",".join(f"{key}={value}" for key, value in args.items())
    match = re.search(r"(?:^|,)(?:pretrained|model|engine|path)=([^,]+)", args) if isinstance(args, str) else None
    return match[1] if match else None


def _time(file: InputFile) -> str:
    found = _DATE.search(file.stem)
    return found[0] if found else ""


def _samples(file: InputFile, options: Options, scores: Scores, model: dict[tuple[str, str], str]) -> None:
    agent = agent_of(file, _beside(file, options, model), options, "a results file beside it")
    time = _time(file)
    task = (file.stem.removesuffix(time) if time else file.stem).removeprefix("samples_")
    add, missing = scores.add, 0
    for line, row in file.rows():
        if "doc_id" not in row:
            raise DataError(f"{file.place(line)}: doc_id is missing; expected it in every row of samples")
        item, filter = row["doc_id"], row.get("filter") or "none"
        names = row.get("metrics")
        if not isinstance(names, list):
            names = [key for key in row if key in _METRICS]
        if not isinstance(item, str | int) or not isinstance(filter, str):
            raise DataError(f"{file.place(line)}: doc_id is {str(item)[:60]!r}; expected a number or a text")
        if not names:
            raise DataError(f"{file.place(line)}: metrics is missing; expected the names of metrics")
        for name in names:
            score = number(row.get(name)) if isinstance(name, str) else None
            if score is None or name == _BYPASS:
                missing += 1
            else:
                add(agent, task, score, item=str(item), metric=name if filter == "none" else f"{name},{filter}")
    if missing:
        scores.left_out["metrics of documents without a number"] += missing


def _beside(file: InputFile, options: Options, model: dict[tuple[str, str], str]) -> str | None:
    """The model of the results file of the same run: same folder and time, else the only one of the folder."""
    time = _time(file)
    if (file.folder, time) in model:
        return model[file.folder, time]
    beside = file.beside(f"results{time}.json")
    if beside is not None and not options.agent_from:
        name = _model(beside.document()) if beside.first else None
        if isinstance(name, str):
            model[file.folder, time] = name
            return name
    here = {name for (folder, _), name in model.items() if folder == file.folder}
    return next(iter(here)) if len(here) == 1 else None


FORMAT = Format(
    name="lm_eval",
    title="lm-evaluation-harness: results_*.json and samples_*.jsonl",
    recognise=recognise,
    read=read,
    vote="a task (results) or a document of a task (samples)",
    leaves_out="groups whose subtasks are there, metrics without a number, answers that were not scored (bypass)",
    example="sco rank results/",
)
