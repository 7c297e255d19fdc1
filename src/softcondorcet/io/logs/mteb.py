"""mteb: one ``.json`` per task in a folder per model, ``results/MODEL/REVISION/TASK.json``.

The model is named by ``model_meta.json`` beside it, else by its folder. A task may have several subsets (languages):
each is an item of the task. Of several splits the test split counts, and ``main_score`` is the score; files written
before version 1.12 have none, and the main metric of their kind of task is taken.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Any

from softcondorcet.errors import DataError
from softcondorcet.io.input_files import InputFile, brief
from softcondorcet.io.logs.common import agent_of, get, optional
from softcondorcet.io.records import Format, Options, Scores, name_of, number

# Main metrics of files without main_score, by a part of the task's name; then by what is there.
_BY_NAME = (
    ("BitextMining", ("f1",)),
    ("PairClassification", ("cos_sim.ap", "max.ap", "ap")),
    ("Clustering", ("v_measure",)),
    ("Reranking", ("map",)),
    ("Retrieval", ("ndcg_at_10",)),
    ("STS", ("cos_sim.spearman",)),
    ("SICK-R", ("cos_sim.spearman",)),
    ("BIOSSES", ("cos_sim.spearman",)),
    ("SummEval", ("cos_sim.spearman",)),
    ("Classification", ("accuracy",)),
)
_ANY = ("ndcg_at_10", "cos_sim.spearman", "v_measure", "cos_sim.ap", "max.ap", "accuracy", "map", "f1")
_NO_SPLITS = (
    "task_name",
    "mteb_dataset_name",
    "dataset_revision",
    "mteb_version",
    "evaluation_time",
    "kg_co2_emissions",
)
_META = ("name", "revision", "languages")


def recognise(source: InputFile) -> bool:
    first = source.first or {}
    if _all_in_one(first):
        return True
    if "task_name" in first or "mteb_dataset_name" in first or "mteb_version" in first:
        return "scores" in first or "dataset_revision" in first or "mteb_version" in first
    return all(key in first for key in _META) and ("n_parameters" in first or "framework" in first)


def read(files: list[InputFile], options: Options) -> Scores:
    scores = Scores("mteb")
    model: dict[str, str] = {}
    for file in files:
        if _all_in_one(file.first or {}):
            _benchmark(file, options, scores)
            continue
        if posixpath.basename(file.path) == "model_meta.json" or all(key in (file.first or {}) for key in _META):
            continue
        if file.folder not in model or options.agent_from:
            model[file.folder] = agent_of(
                file, _model(file), options, "model_meta.json and a folder named after the model"
            )
        _task(file.document(), file, model[file.folder], options, scores)
    if not len(scores) and not scores.left_out and files:
        raise DataError(f"{files[0].name}: describes a model; expected files of tasks beside it")
    return scores


def _all_in_one(first: dict[str, Any]) -> bool:
    """Whether a file holds the results of several models, as mteb writes those that it has loaded."""
    listed = first.get("model_results")
    return isinstance(listed, list) and (not listed or "task_results" in listed[0] or "model_name" in listed[0])


def _benchmark(file: InputFile, options: Options, scores: Scores) -> None:
    for k, model in enumerate(get(file.document(), file.name, "model_results", list, "a list of models"), 1):
        place = f"{file.name}: model {k}"
        agent = name_of(optional(model, "model_name"), place, "model_name")
        for task in get(model, place, "task_results", list, "a list of results"):
            if not isinstance(task, dict):
                raise DataError(f"{place}: {brief(task)}; expected an object of a task's scores")
            _task(task, file, agent, options, scores)


def _model(file: InputFile) -> str | None:
    meta = file.beside("model_meta.json")
    name = meta.document().get("name") if meta is not None and meta.first else None
    if isinstance(name, str) and name.strip():
        return name
    parts = [part for part in file.folder.split("/") if part]
    for part in (*reversed(parts[-2:]),):
        if "__" in part:
            return part.replace("__", "/")
    revision = bool(parts) and re.fullmatch(r"[0-9a-f]{6,40}|no_revision_available|external", parts[-1]) is not None
    return parts[-2] if revision and len(parts) > 1 else None


def _task(found: dict[str, Any], file: InputFile, agent: str, options: Options, scores: Scores) -> None:
    task = name_of(found.get("task_name") or found.get("mteb_dataset_name") or file.stem, file.name, "task_name")
    splits = found.get("scores")
    if splits is None:
        splits = {key: value for key, value in found.items() if key not in _NO_SPLITS and isinstance(value, dict)}
    if not isinstance(splits, dict) or not splits:
        raise DataError(f"{file.name}: scores is {brief(splits)}; expected an object of splits such as test")
    split = "test" if "test" in splits else next(iter(splits))
    if len(splits) > 1:
        scores.left_out[f"splits other than {split}"] += len(splits) - 1
    for subset, values in _subsets(splits[split], f"{file.name}: scores: {split}"):
        metric, score = _main(values, task, options, f"{file.name}: {split}: {subset}")
        if score is None:
            scores.left_out["subsets without a score"] += 1
        else:
            scores.add(agent, task, score, item=f"{split}: {subset}", subset=subset)
            scores.higher.setdefault((task, ""), True)
            if (
                metric != "main_score"
                and (note := f"no main_score in older files: {metric} of {task}") not in scores.notes
            ):
                scores.notes.append(note)


def _subsets(split: Any, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each subset with its metrics: a list of objects since version 1.12, before that an object, of subsets or not."""
    if isinstance(split, list):
        for k, row in enumerate(split, 1):
            if not isinstance(row, dict):
                raise DataError(f"{place}: entry {k} is {brief(row)}; expected an object")
            yield str(row.get("hf_subset") or "default"), row
    elif isinstance(split, dict):
        nested = {key: value for key, value in split.items() if isinstance(value, dict)}
        metrics = any(isinstance(value, int | float) for key, value in split.items() if key != "evaluation_time")
        if metrics or any(key in nested for key in ("cos_sim", "max", "dot", "euclidean")):
            yield "default", split
        else:
            yield from nested.items()
    else:
        raise DataError(f"{place}: {brief(split)}; expected a list of subsets")


def _main(values: dict[str, Any], task: str, options: Options, place: str) -> tuple[str, float | None]:
    if options.metric:
        names = options.metrics_for(task)
    elif "main_score" in values or "hf_subset" in values:
        names = ("main_score",)
    else:
        names = (*next((metrics for part, metrics in _BY_NAME if part in task), ()), *_ANY)
    for name in names:
        value = values.get(name) if name in values else optional(values, *name.split("."))
        if value is not None:
            score = number(value)
            if score is None and not isinstance(value, float):
                raise DataError(f"{place}: {name} is {brief(value)}; expected a number")
            return name, score
        if name in values:
            return name, None
    raise DataError(f"{place}: none of {', '.join(names[:6])}; expected main_score, or --metric NAME")


FORMAT = Format(
    name="mteb",
    title="mteb: results/MODEL/REVISION/TASK.json",
    recognise=recognise,
    read=read,
    vote="a subset of a task, by its main score",
    leaves_out="splits other than test where there is a test split",
    example="sco rank results/",
)
