"""Every Eval Ever aggregates: one JSON file for each agent, with its scores by task, or with its rating on a board.

What the schema asks for and votes do not say is 'unknown' there. Several scores of an agent in a task, of its items,
are one result: their mean, with its standard error and their number. A rating has the interval that its board has.
"""

from __future__ import annotations

import json
import os
import re
import time
import uuid
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

import numpy as np

from softcondorcet.errors import DataError
from softcondorcet.formatting import plural, some
from softcondorcet.io.archives import reason
from softcondorcet.io.profile_table import plain, table_of
from softcondorcet.profile import Profile

SCHEMA_VERSION = "0.3.0"
# Columns of a table of scores that an aggregate has a place for.
_KEPT = ("agent", "score", "higher_is_better")
Results = dict[str, list[dict[str, Any]]]


def score_results(profile: Profile) -> tuple[Results, list[str]]:
    """The results of each agent: the mean of its scores in each task; and what they do not keep, counted."""
    columns, lost = table_of(profile, "scores")
    group = profile.group_by if profile.group_by in columns else None
    tasks: list[Any] = plain(columns[group]) if group else ["all items"] * len(columns["score"])
    found: dict[tuple[str, str], list[float]] = {}
    higher: dict[str, bool] = {}
    cells = (columns["agent"], tasks, plain(columns["score"]), columns["higher_is_better"])
    for agent, task, score, better in zip(*cells, strict=True):
        found.setdefault((agent, task), []).append(score)
        higher[task] = bool(better)
    results: Results = {}
    for (agent, task), scores in found.items():
        results.setdefault(agent, []).append(_result(task, _mean_of(scores), higher[task]))
    if len(columns["score"]) > len(found):
        lost.append(f"{plural(len(columns['score']), 'score')} of items became {plural(len(found), 'mean')}")
    others = [name.rstrip("_") for name in columns if name not in (*_KEPT, group, "item")]
    return results, lost + ([f"columns {some(map(repr, others))}"] if others else [])


def rating_results(board: Mapping[str, Any]) -> tuple[Results, list[str]]:
    """The rating of each agent on a board, as ``Ratings.to_dict`` and ``Intervals.to_dict`` have it."""
    results: Results = {}
    metric = {"metric_name": f"{board['method']} rating", "metric_kind": "rating"}
    metric |= {"metric_kind": "elo", "metric_unit": "points"} if board.get("scale") == "elo" else {}
    unplaced = 0
    for row in board["agents"]:
        if row["rating"] is None or row.get("unplaced"):
            unplaced += 1
            continue
        details: dict[str, Any] = {"score": row["rating"], "details": {"rank": f"{row['rank']}"}}
        if row["rating_low"] is not None and row["rating_high"] is not None:
            ends = {"lower": row["rating_low"], "upper": row["rating_high"], "confidence_level": board["level"]}
            details["uncertainty"] = {"confidence_interval": {**ends, "method": board["source"]}}
        result = _result(f"softcondorcet {board['method']}", details, True)
        result["metric_config"] |= metric
        results[row["agent"]] = [result]
    return results, [f"{plural(unplaced, 'agent')} without a rank"] if unplaced else []


def _result(task: str, details: dict[str, Any], higher: bool) -> dict[str, Any]:
    source = {"dataset_name": task, "source_type": "other"}
    metric = {"lower_is_better": not higher}
    return {"evaluation_name": task, "source_data": source, "metric_config": metric, "score_details": details}


def _mean_of(scores: list[float]) -> dict[str, Any]:
    if len(scores) == 1:
        return {"score": scores[0]}
    deviation = float(np.std(scores, ddof=1))
    error = {"value": deviation / len(scores) ** 0.5, "method": "analytic"}
    spread = {"standard_deviation": deviation, "standard_error": error, "num_samples": len(scores)}
    return {"score": float(np.mean(scores)), "uncertainty": spread}


def write_aggregates(results: Results, folder: str, source: str, library: Mapping[str, str]) -> None:
    """One file for each agent, ``folder/DEVELOPER/MODEL/UUID.json``; an agent of the same source replaces its file."""
    if not results:
        raise DataError(f"{folder}: nothing to write; expected at least one agent with a score or a rank")
    try:
        for path, text in _files(results, source, library):
            os.makedirs(os.path.join(folder, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(folder, path), "w", encoding="utf-8") as file:
                file.write(text)
    except (OSError, ValueError) as error:
        raise DataError(f"{folder}: cannot be written ({reason(error)}); expected a folder") from error


def _files(results: Results, source: str, library: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    now = f"{int(time.time())}"
    for agent, found in results.items():
        developer, _, model = agent.rpartition("/")
        path = "/".join(map(_portable, (developer or "unknown", model)))
        about = {"deployment_type": "unknown", "model_availability": "unknown"}
        named = {"name": model, "id": agent, **({"developer": developer} if developer else {})}
        record = {
            "schema_version": SCHEMA_VERSION,
            "evaluation_id": f"{source}/{agent}/{now}",
            "retrieved_timestamp": now,
            "source_metadata": {
                "source_name": source,
                "source_type": "evaluation_run",
                "source_organization_name": "unknown",
                "evaluator_relationship": "other",
            },
            "eval_library": dict(library),
            "model_info": {**named, "additional_details": about},
            "evaluation_results": found,
        }
        digest = sha256(f"{source}\0{agent}".encode()).digest()
        name = uuid.UUID(bytes=digest[:16], version=4)  # by name, so that writing again leaves no second file
        yield f"{path}/{name}.json", json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _portable(name: str) -> str:
    """A name as that of a folder on any system."""
    return re.sub(r"[^\w.+-]+|^\.+|\.+$", "_", name)[:100] or "_"
