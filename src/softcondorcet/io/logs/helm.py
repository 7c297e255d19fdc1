"""HELM: folders of runs, each with ``run_spec.json`` and ``per_instance_stats.json`` or ``stats.json``.

The model and the scenario stand in ``run_spec.json``, the scores beside it. The main metric is the one HELM's own
leaderboards show for the scenario's group, else the first of ``ORDER``; directions are not in the files and come from
the metric's name. Stats of perturbed inputs are left out, and of several splits all but the test split.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

from softcondorcet.errors import DataError
from softcondorcet.formatting import some
from softcondorcet.io.input_files import InputFile
from softcondorcet.io.logs.common import agent_of, get, optional
from softcondorcet.io.records import Format, Options, Scores, name_of, number

FILES = ("per_instance_stats.json", "stats.json")
MAIN = {
    **dict.fromkeys(
        ("narrative_qa", "natural_qa", "natural_qa_closedbook", "natural_qa_openbook_longans", "quac"), "f1_score"
    ),
    **dict.fromkeys(("boolq", "imdb", "raft", "civil_comments", "legalbench", "med_qa", "bbq"), "quasi_exact_match"),
    **dict.fromkeys(("summarization_cnndm", "summarization_xsum"), "rouge_2"),
    **dict.fromkeys(("the_pile", "twitter_aae", "ice"), "bits_per_byte"),
    **dict.fromkeys(("gpqa", "mmlu_pro"), "chain_of_thought_correctness"),
    "gsm": "final_number_exact_match",
    "math_chain_of_thought": "math_equiv_chain_of_thought",
    "math_regular": "math_equiv",
    "wmt_14": "bleu_4",
    "msmarco_regular": "RR@10",
    "msmarco_trec": "NDCG@10",
    "ifeval": "ifeval_strict_accuracy",
    "wildbench": "wildbench_score_rescaled",
    "omni_math": "omni_math_accuracy",
    "code_humaneval": "pass",
}
ORDER = (
    *dict.fromkeys(MAIN.values()),
    *("exact_match_indicator", "execution_accuracy", "exact_match", "quasi_exact_match", "prefix_exact_match"),
    *("quasi_prefix_exact_match", "f1_set_match", "classification_macro_f1", "rouge_l", "rouge_1", "bleu_1"),
)
# What HELM writes beside the folders of runs.
_LISTS = ("run_specs.json", "runs.json")
# Of the model, not of the question; the rest of a run's name says what was asked.
_OF_THE_MODEL = re.compile(r"^(model|model_deployment|tokenizer|stop)=")


def recognise(source: InputFile) -> bool:
    first = source.first or {}
    if "adapter_spec" in first and "name" in first and "instances" not in first and "request_states" not in first:
        return True
    if "instance_id" in first and "stats" in first:
        return True
    return isinstance(first.get("name"), dict) and "name" in first["name"] and "count" in first


def read(files: list[InputFile], options: Options) -> Scores:
    scores = Scores("HELM")
    scores.order, scores.asks = ORDER, True
    lists = [file for file in files if posixpath.basename(file.path) in _LISTS]
    if lists:
        scores.notes.append(f"lists of runs, which are read by themselves: {some([file.name for file in lists])}")
        files = [file for file in files if file not in lists]
    for folder in dict.fromkeys(file.folder for file in files):
        here = {posixpath.basename(file.path): file for file in files if file.folder == folder}
        any_file = next(iter(here.values()))
        run = here.get("run_spec.json") or any_file.beside("run_spec.json")
        if run is None:
            raise DataError(f"{any_file.name}: no run_spec.json beside it; expected the file that names the model")
        _run(run, options, scores)
    return scores


def _run(run: InputFile, options: Options, scores: Scores) -> None:
    spec = run.document()
    agent = agent_of(run, optional(spec, "adapter_spec", "model"), options, "adapter_spec.model")
    task = _task(get(spec, run.name, "name", str, "the name of a run"))
    groups = spec.get("groups")
    mains = (
        [MAIN[group] for group in groups if isinstance(group, str) and group in MAIN]
        if isinstance(groups, list)
        else []
    )
    scored = next((found for name in FILES if (found := run.beside(name)) is not None), None)
    if scored is None:
        raise DataError(f"{run.name}: no {' or '.join(FILES)} beside it; expected the scores of the run")
    wanted = {name.partition("=")[2] or name for name in options.metric}
    asked = wanted & set(options.metrics_for(task))
    order = (*mains, *ORDER)
    rows = list(_instances(scored, scores) if scored.path.endswith(FILES[0]) else _totals(scored, scores))
    splits = {row[1] for row in rows}
    main_split = "test" if "test" in splits else next(iter(sorted(splits)), "")
    kept = [row for row in rows if row[1] == main_split]
    if len(kept) < len(rows):
        scores.left_out[f"scores of splits other than {main_split}"] += len(rows) - len(kept)
    present = {metric for _, _, stats in kept for metric in stats}
    metrics = (asked & present) or {next((name for name in order if name in present), "")}
    if "" in metrics:
        raise DataError(
            f"{scored.name}: no metric that is known as a main one; found {some(sorted(present), 12)}; "
            "expected --metric NAME"
        )
    for item, _, stats in kept:
        for metric in metrics:
            if metric in stats:
                scores.add(agent, task, stats[metric], item=item, metric=metric)
            else:
                scores.left_out[f"instances without {metric}"] += 1


def _task(name: str) -> str:
    """A run's name without what belongs to the model: ``mmlu:subject=law,model=x`` is ``mmlu:subject=law``."""
    scenario, _, rest = name.partition(":")
    kept = [part for part in rest.split(",") if part and not _OF_THE_MODEL.match(part)]
    return f"{scenario}:{','.join(kept)}" if kept else scenario


def _instances(file: InputFile, scores: Scores) -> Any:
    for place, row in file.rows():
        where = file.place(place)
        if row.get("perturbation"):
            scores.left_out["perturbed instances"] += 1
            continue
        item = name_of(row.get("instance_id"), where, "instance_id")
        stats = get(row, where, "stats", list, "a list of stats")
        by_split: dict[str, dict[str, float]] = {}
        for stat in stats:
            _stat(stat, where, scores, by_split)
        for split, values in by_split.items():
            yield item, split, values


def _totals(file: InputFile, scores: Scores) -> Any:
    by_split: dict[str, dict[str, float]] = {}
    for place, stat in file.rows():
        _stat(stat, file.place(place), scores, by_split)
    for split, values in by_split.items():
        yield None, split, values


def _stat(stat: Any, where: str, scores: Scores, by_split: dict[str, dict[str, float]]) -> None:
    name = get(stat, where, "name", dict, "an object with the metric's name")
    metric = get(name, where, "name", str, "the metric's name")
    if name.get("perturbation"):
        scores.left_out["stats of perturbed inputs"] += 1
        return
    if "mean" not in stat and not stat.get("count"):
        return  # counted nothing: there is no such cost or no such token
    value = number(stat.get("mean"))
    if value is None:
        raise DataError(f"{where}: mean of {metric} is {str(stat.get('mean'))[:60]}; expected a number")
    by_split.setdefault(str(name.get("split") or ""), {})[metric] = value


FORMAT = Format(
    name="helm",
    title="HELM: folders with run_spec.json and per_instance_stats.json or stats.json",
    recognise=recognise,
    read=read,
    vote="an instance of a scenario, by the scenario's main metric",
    leaves_out="perturbed inputs, splits other than test where there is a test split",
    example="sco rank benchmark_output/runs/latest/",
)
