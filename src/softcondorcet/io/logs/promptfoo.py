"""promptfoo: exports (``promptfoo eval -o out.json`` or ``.jsonl``). An agent is a provider with a prompt.

Each test is an item, told apart by its number and variables. Results that ended in an error of the provider have no
score and are left out and counted. ``--metric NAME`` takes a named score, ``cost`` or ``latencyMs`` instead.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

from softcondorcet.errors import DataError
from softcondorcet.io.cells import Table
from softcondorcet.io.input_files import InputFile, brief
from softcondorcet.io.logs.common import get, optional
from softcondorcet.io.records import Format, Options, Scores, name_of, number

_ERROR = 2  # failureReason: 0 none, 1 an assertion failed, 2 the provider gave no answer
_TITLE = re.compile(r"\[([^\[\]]+)\]")
_CELL = re.compile(r"\s*\[(PASS|FAIL|ERROR)\]\s*(?:\((\d+(?:\.\d+)?)\))?")
_ROW = ("promptIdx", "testIdx", "provider")
_OTHER = ("cost", "latencyMs", "success")


def recognise(source: InputFile) -> bool:
    first = source.first or {}
    if all(key in first for key in _ROW):
        return True
    results = first.get("results")
    if isinstance(results, list) and "stats" in first and "table" in first:
        return True  # before version 0.40 without an envelope
    if not isinstance(results, dict) or not ("results" in results or "prompts" in results):
        return False
    return "evalId" in first or "config" in first or "stats" in results or "version" in results


def read(files: list[InputFile], options: Options) -> Scores:
    scores = Scores("promptfoo")
    found: list[tuple[str, Any, str, str, float, str]] = []
    asked = options.metric[-1] if options.metric else "score"
    for file in files:
        task = "promptfoo"
        for place, row, described in _results(file):
            task = described or task
            if optional(row, "failureReason") == _ERROR:
                scores.left_out["results in which the provider gave no answer"] += 1
                continue
            score = _score(row, asked, place)
            if score is None:
                scores.left_out[f"results without {asked}"] += 1
                continue
            provider, prompt, label = _agent(row, place)
            found.append((provider, prompt, label, task, score, _item(row, place)))
    prompts: dict[str, dict[Any, str]] = {}
    for provider, prompt, label, *_ in found:
        prompts.setdefault(provider, {}).setdefault(prompt, label)
    agents = {
        (provider, prompt): provider if len(of) == 1 else f"{provider} | {label}"
        for provider, of in prompts.items()
        for prompt, label in of.items()
    }
    if len(set(agents.values())) < len(agents):  # two prompts with one label
        agents = {(provider, prompt): f"{provider} | prompt {prompt}" for provider, prompt in agents}
    for provider, prompt, _, task, score, item in found:
        scores.add(agents[provider, prompt], task, score, item=item, metric="" if asked == "score" else asked)
    scores.asks = True
    return scores


def read_table(table: Table) -> Scores | None:
    """The scores in a csv export: a column ``[provider] prompt`` for each, cells that begin with [PASS] or [FAIL]."""
    titles = {title: found for title in table.columns if (found := _TITLE.match(title))}
    columns = {title: [_CELL.match(str(cell)) for cell in table.cells(title)] for title in titles}
    columns = {title: cells for title, cells in columns.items() if any(cells)}
    if not columns:
        return None
    providers = [titles[title][1] for title in columns]
    scores = Scores(table.name)
    for title, provider in zip(columns, providers, strict=True):
        agent = title if providers.count(provider) > 1 else provider
        for row, found in enumerate(columns[title]):
            if found is None or found[1] == "ERROR":
                scores.left_out["results in which the provider gave no answer"] += 1
            else:
                score = float(found[2]) if found[2] else float(found[1] == "PASS")
                scores.add(agent, "promptfoo", score, item=f"test {row + 1}")
    scores.notes.append("promptfoo: a column for each provider, a row for each test")
    return scores


def _results(file: InputFile) -> Iterator[tuple[str, Any, str | None]]:
    if "promptIdx" in (file.first or {}):
        for line, row in file.rows():
            yield file.place(line), row, None
        return
    found = file.document()
    description = optional(found, "config", "description")
    holder = found if isinstance(found.get("results"), list) else get(found, file.name, "results", dict, "an object")
    rows = get(holder, file.name, "results", list, "a list of results")
    for k, row in enumerate(rows, 1):
        yield f"{file.name}: result {k}", row, description if isinstance(description, str) and description else None


def _agent(row: dict[str, Any], place: str) -> tuple[str, Any, str]:
    """Provider, prompt and the prompt's label."""
    provider = row.get("provider")
    if isinstance(provider, dict):
        provider = provider.get("label") or provider.get("id")
    prompt = row.get("promptId")
    prompt = prompt if isinstance(prompt, str) else row.get("promptIdx")
    if prompt is None and "promptIdx" not in row:  # older exports number neither prompts nor tests
        prompt = (
            optional(row, "prompt", "label") or optional(row, "prompt", "display") or optional(row, "prompt", "raw")
        )
    if not isinstance(prompt, str | int):
        raise DataError(f"{place}: promptIdx is {brief(prompt)}; expected a number")
    label = optional(row, "prompt", "label")
    label = " ".join(label.split())[:60] if isinstance(label, str) and label.strip() else f"prompt {prompt}"
    return name_of(provider, place, "provider"), prompt, label


def _score(row: Any, asked: str, place: str) -> float | None:
    if not isinstance(row, dict):
        raise DataError(f"{place}: {brief(row)}; expected an object")
    if asked == "score" and "score" not in row:
        raise DataError(f"{place}: score is missing; expected a number")
    value = row.get(asked) if asked in ("score", *_OTHER) else optional(row, "namedScores", asked)
    score = number(value)
    if score is None and value is not None and not isinstance(value, float):
        raise DataError(f"{place}: {asked} is {brief(value)}; expected a number")
    return score


def _item(row: dict[str, Any], place: str) -> str:
    test = row.get("testIdx")
    variables = row.get("vars") or optional(row, "testCase", "vars")
    if test is None and "testIdx" not in row and variables:
        test = "of"
    if not isinstance(test, int | str):
        raise DataError(f"{place}: testIdx is {brief(test)}; expected a number")
    digest = hashlib.blake2b(json.dumps(variables, sort_keys=True).encode(), digest_size=4).hexdigest()
    return f"test {test} {digest}"


FORMAT = Format(
    name="promptfoo",
    title="promptfoo: exports (.json, .jsonl)",
    recognise=recognise,
    read=read,
    vote="a test; the agent is the provider, with its prompt where there are several",
    leaves_out="results in which the provider gave no answer",
    example="sco rank output.json",
)
