"""inspect_ai: ``.json`` and ``.eval`` logs. Each sample and scorer is a score; epochs of a sample are averaged.

Values are numbers, truth values, the letters C, I, P, N (1, 0, a half, 0), or objects with one number per key. Of an
``.eval`` only the header and the summaries are read, or the samples where a run did not write summaries. A log without
samples counts by its totals; a log without any score is left out and counted. Logs of version 1 have one scorer, whose
score stands in ``score`` and whose totals in ``results.metrics``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from softcondorcet.errors import DataError
from softcondorcet.io.archives import BROKEN
from softcondorcet.io.input_files import InputFile, brief, load
from softcondorcet.io.logs.common import agent_of, get, optional
from softcondorcet.io.records import Format, Options, Scores, number

LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_SPREAD = re.compile(r"^(stderr|std|var|bootstrap_stderr|bootstrap_std|ci_.*|.*_stderr)$")
ORDER = ("accuracy", "mean", "pass_at_1", "f1", "exact_match")
_LIMIT = 1 << 30


def recognise(source: InputFile) -> bool:
    if source.members is not None:
        return "header.json" in source.members or "_journal/start.json" in source.members
    first = source.first or {}
    about = first.get("eval")
    named = isinstance(about, dict) and ("task" in about or "model" in about)
    return named and any(key in first for key in ("status", "version", "samples", "results"))


def read(files: list[InputFile], options: Options) -> Scores:
    scores = Scores("inspect_ai")
    scores.order = ORDER
    for file in files:
        log = _unzipped(file) if file.members is not None else file.document()
        _log(file, log, options, scores)
    return scores


def _log(file: InputFile, log: Any, options: Options, scores: Scores) -> None:
    about = get(log, file.name, "eval", dict, "an object with model and task")
    agent = agent_of(file, about.get("model"), options, "eval.model")
    task = get(about, f"{file.name}: eval", "task", str, "the name of a task")
    status = log.get("status")
    samples = log.get("samples")
    if samples is not None and not isinstance(samples, list):
        raise DataError(f"{file.name}: samples is {brief(samples)}; expected a list")
    before = len(scores)
    if samples:
        _samples(file, samples, agent, task, scores)
    elif log.get("reductions"):
        _reductions(file, log["reductions"], agent, task, scores)
    else:
        _totals(log.get("results"), agent, task, scores)
    if len(scores) == before:
        scores.left_out[f"logs without scores (status {status or 'not said'}), such as {file.name}"] += 1
    elif status not in ("success", None):
        scores.notes.append(f"{file.name}: status is {status}; its {len(scores) - before:,} scores count")


def _samples(file: InputFile, samples: list[Any], agent: str, task: str, scores: Scores) -> None:
    scorers = {name for one in samples if isinstance(found := _scores_of(one), dict) for name in found}
    for number_, sample in enumerate(samples, 1):
        place = f"{file.name}: sample {number_}"
        item = sample.get("id") if isinstance(sample, dict) else None
        if not isinstance(item, str | int):
            raise DataError(f"{place}: id is {brief(item)}; expected a number or a text")
        found = _scores_of(sample)
        if not found:
            why = "that ended in an error" if sample.get("error") else "without a score"
            scores.left_out[f"samples {why}"] += 1
            continue
        if not isinstance(found, dict):
            raise DataError(f"{place}: scores is {brief(found)}; expected an object of scorers")
        for scorer, score in found.items():
            value = score.get("value") if isinstance(score, dict) else score
            _value(value, agent, task if len(scorers) < 2 else f"{task}/{scorer}", str(item), scores)


def _scores_of(sample: Any) -> Any:
    """A sample's scores by scorer; in logs of version 1 it has one score."""
    found, single = optional(sample, "scores"), optional(sample, "score")
    return {"score": single} if found is None and single is not None else found


def _reductions(file: InputFile, reductions: Any, agent: str, task: str, scores: Scores) -> None:
    if not isinstance(reductions, list):
        raise DataError(f"{file.name}: reductions is {brief(reductions)}; expected a list")
    place = f"{file.name}: reductions"
    names = [get(one, place, "scorer", str, "the name of a scorer") for one in reductions]
    for k, (name, reduction) in enumerate(zip(names, reductions, strict=True)):
        samples = get(reduction, place, "samples", list, "a list")
        if name in names[:k]:  # the same samples, summed up in another way
            scores.left_out["samples of another reducer than a scorer's first"] += len(samples)
            continue
        for sample in samples:
            item = optional(sample, "sample_id")
            where = task if len(set(names)) < 2 else f"{task}/{name}"
            _value(optional(sample, "value"), agent, where, None if item is None else str(item), scores)


def _totals(results: Any, agent: str, task: str, scores: Scores) -> None:
    listed = optional(results, "scores")
    if listed is None and isinstance(optional(results, "metrics"), dict):
        listed = [results]
    found = [score for score in listed if isinstance(score, dict)] if isinstance(listed, list) else []
    for score in found:
        where = task if len(found) < 2 else f"{task}/{score.get('name')}"
        metrics = score.get("metrics")
        for name, metric in metrics.items() if isinstance(metrics, dict) else ():
            value = number(optional(metric, "value"))
            if _SPREAD.match(name):
                continue
            if value is None:
                scores.left_out["metrics without a number"] += 1
            else:
                scores.add(agent, where, value, metric=name)


def _value(value: Any, agent: str, task: str, item: str | None, scores: Scores) -> None:
    """A score's value: one number, or one for each key of an object, which then are tasks of their own."""
    if isinstance(value, dict):
        for key, part in value.items():
            _value(part if not isinstance(part, dict) else None, agent, f"{task}/{key}", item, scores)
        return
    score = number(value)
    if score is None and isinstance(value, str):
        score = LETTERS.get(value.strip(), _as_number(value))
    if score is None:
        none = value is None or (isinstance(value, float) and value != value)
        scores.left_out[
            "scores that are NaN or null" if none else f"scores that are no number, such as {brief(value)}"
        ] += 1
    else:
        scores.add(agent, task, score, item=item)


def _as_number(text: str) -> float | None:
    word = text.strip().casefold()
    if word in ("yes", "true", "no", "false"):
        return float(word in ("yes", "true"))
    try:
        return number(float(word))
    except ValueError:
        return None


def _unzipped(file: InputFile) -> dict[str, Any]:
    """The log in an ``.eval``: its header, and its samples by their summaries."""
    with file.unzip() as archive:
        members = set(archive.namelist())

        def part(name: str) -> Any:
            try:
                info = archive.getinfo(name)
                if info.file_size > _LIMIT:
                    raise DataError(f"{file.name}::{name}: {info.file_size:,} bytes; expected at most {_LIMIT:,}")
                return load(archive.read(name), f"{file.name}::{name}")
            except BROKEN as error:
                if isinstance(error, DataError):
                    raise
                raise DataError(f"{file.name}::{name}: cannot be unpacked ({error})") from None

        log = part("header.json" if "header.json" in members else "_journal/start.json")
        if not isinstance(log, dict):
            raise DataError(f"{file.name}: header is {brief(log)}; expected an object")
        if "header.json" not in members:
            log = {"status": "started", **log}
        log["samples"] = list(_members(file, members, part))
        return log


def _members(file: InputFile, members: set[str], part: Any) -> Iterator[Any]:
    journal = sorted(name for name in members if name.startswith("_journal/summaries/"))
    singles = sorted(name for name in members if name.startswith("samples/") and name.endswith(".json"))
    for name in ["summaries.json"] if "summaries.json" in members else journal:
        rows = part(name)
        if not isinstance(rows, list):
            raise DataError(f"{file.name}::{name}: {brief(rows)}; expected a list of samples")
        yield from rows
    if "summaries.json" not in members and not journal:
        yield from map(part, singles)


FORMAT = Format(
    name="inspect",
    title="inspect_ai: .json and .eval logs",
    recognise=recognise,
    read=read,
    vote="a sample and scorer, epochs averaged",
    leaves_out="samples without a score or that ended in an error, NaN, logs without scores",
    example="sco rank logs/",
)
