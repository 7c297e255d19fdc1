"""Every Eval Ever: aggregate ``.json`` files (one per model) and ``_samples.jsonl`` files (one line per sample).

Whether lower is better stands in each aggregate, which is required there. Where a set has both the total of an
evaluation and its samples, one of both counts. Scores of one evaluation on two scales (0 to 1 and 0 to 100) are each
brought to 0 to 1 by the scale that their files state.
"""

from __future__ import annotations

from typing import Any

from softcondorcet.errors import DataError
from softcondorcet.io.input_files import InputFile, brief
from softcondorcet.io.logs.common import agent_of, get, optional, text_or_none
from softcondorcet.io.records import Format, Options, Scores, name_of, number

ORDER = ("accuracy", "acc", "exact_match", "pass@1", "f1", "score", "mean", "win_rate")
Scale = tuple[float, float]


def recognise(source: InputFile) -> bool:
    first = source.first or {}
    if "evaluation_results" in first and ("model_info" in first or "schema_version" in first):
        return True
    return "sample_id" in first and "evaluation_name" in first


def read(files: list[InputFile], options: Options) -> Scores:
    scores = Scores("Every Eval Ever")
    scores.order = ORDER
    found: list[tuple[str, str, str, float, Scale | None]] = []
    for file in files:
        if "evaluation_results" in (file.first or {}):
            found += _aggregate(file, options, scores)
    scales: dict[tuple[str, str], set[Scale | None]] = {}
    for _, task, metric, _, scale in found:
        scales.setdefault((task, metric), set()).add(scale)
    mixed = {key for key, some in scales.items() if len(some) > 1 and None not in some}
    for agent, task, metric, score, scale in found:
        low, high = scale if scale and (task, metric) in mixed else (0.0, 1.0)
        scores.add(agent, task, (score - low) / (high - low), metric=metric)
    if mixed:
        scores.notes.append(
            f"{len(mixed)} evaluations come on several scales; each score is brought to 0 to 1 by its own"
        )
    for file in files:
        if "sample_id" in (file.first or {}):
            _samples(file, scores)
    return scores


def _aggregate(file: InputFile, options: Options, scores: Scores) -> list[tuple[str, str, str, float, Scale | None]]:
    found = file.document()
    model = optional(found, "model_info", "id") or optional(found, "model_info", "name")
    agent = agent_of(file, model, options, "model_info.id")
    rows = []
    for number_, result in enumerate(get(found, file.name, "evaluation_results", list, "a list of results"), 1):
        place = f"{file.name}: evaluation_results {number_}"
        task = name_of(result.get("evaluation_name") if isinstance(result, dict) else None, place, "evaluation_name")
        metric = get(result, place, "metric_config", dict, "an object with lower_is_better")
        name = next((metric[key] for key in ("metric_id", "metric_name") if isinstance(metric.get(key), str)), "")
        if "lower_is_better" in metric or options.direction(task, name) is None:
            words = f"true or false (or --higher-is-better {task!r}, or lower)"
            scores.told(task, name, not get(metric, place, "lower_is_better", bool, words), place)
        details = get(result, place, "score_details", dict, "an object with score")
        score = number(details.get("score"))
        if score is None:
            if details.get("score") is not None and not isinstance(details["score"], float):
                raise DataError(f"{place}: score is {brief(details['score'])}; expected a number")
            scores.left_out["results without a score"] += 1
            continue
        rows.append((agent, task, name, score, _scale(metric)))
    return rows


def _scale(metric: dict[str, Any]) -> Scale | None:
    low, high = number(metric.get("min_score")), number(metric.get("max_score"))
    return (low, high) if low is not None and high is not None and abs(low) < high < float("inf") else None


def _samples(file: InputFile, scores: Scores) -> None:
    metric_of = dict(iter(scores.higher))  # that of the totals, where there are some
    for line, row in file.rows():
        place = file.place(line)
        agent = name_of(row.get("model_id"), place, "model_id")
        task = name_of(row.get("evaluation_name"), place, "evaluation_name")
        item = name_of(row.get("sample_id"), place, "sample_id")
        evaluation = get(row, place, "evaluation", dict, "an object with score")
        score = number(evaluation.get("score"))
        score = number(evaluation.get("is_correct")) if score is None else score
        if score is None:
            if evaluation.get("score") is not None and not isinstance(evaluation["score"], float):
                raise DataError(f"{place}: score is {brief(evaluation['score'])}; expected a number")
            scores.left_out["samples without a score"] += 1
            continue
        metric = metric_of.setdefault(task, "")
        scores.higher.setdefault((task, metric), True)
        language = text_or_none(optional(row, "metadata", "language"))
        scores.add(agent, task, score, item=item, metric=metric, **({"language": language} if language else {}))


FORMAT = Format(
    name="every_eval_ever",
    title="Every Eval Ever: aggregates (.json) and samples (.jsonl)",
    recognise=recognise,
    read=read,
    vote="an evaluation (aggregates) or a sample (samples)",
    leaves_out="results without a score; totals of evaluations whose samples are there",
    example="sco rank data/",
)
