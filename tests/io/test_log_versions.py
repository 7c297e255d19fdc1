"""Other versions of what evaluation tools write than those in helpers/logs.py, and what stands beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers.logs import (
    document,
    encoded,
    episode,
    ever,
    helm_run,
    helm_stat,
    inspect_log,
    instance,
    lm_eval,
    mteb_task,
    prompt_result,
    sample,
    write_files,
    zipped,
)
from helpers.reading import notes, votes_of

import softcondorcet as sc
from softcondorcet.errors import DataError
from softcondorcet.io.formats import FORMATS
from softcondorcet.io.input_files import in_memory

Files = dict[str, Any]
STAMP = "2024-06-01T01-02-03.000001"


def harness_03(model: str, score: float) -> Files:
    results = {"hellaswag": {"acc": score, "acc_stderr": 0.1, "acc_norm": 1 - score, "acc_norm_stderr": 0.1}}
    return {"results": results, "versions": {"hellaswag": 0}, "config": {"model_args": f"pretrained={model},dtype=x"}}


def lighteval(model: str, score: float) -> Files:
    results = {"lb|arc|25": {"acc": score, "acc_stderr": 0.1}, "lb|mmlu:_average|5": {"acc": 0.5}, "all": {"acc": 0.5}}
    return {"config_general": {"model_name": model}, "results": results, "versions": {}}


def groups_in_groups(model: str, score: float) -> Files:
    results = {
        "mmlu": {"acc,none": 0.5},
        "mmlu_stem": {"acc,none": 0.5},
        "mmlu_algebra": {"acc,none": score, "acc_stderr,none": "N/A"},
        "leaderboard": {" ": " ", "alias": "leaderboard"},
        "bbh": {"acc_norm,none": score},
    }
    below = {"mmlu_stem": ["mmlu_algebra"], "mmlu": ["mmlu_stem"], "leaderboard": ["bbh"]}
    return lm_eval(model, results, group_subtasks=below, groups={"mmlu": {"acc,none": 0.5}})


def old_document(number: int, **more: Any) -> Files:
    """Before 0.4.3 a sample named neither its metrics nor its filter."""
    row = document(number, **more)
    return {key: value for key, value in row.items() if key not in ("metrics", "filter")}


def inspect_1(model: str, value: Any) -> Files:
    results = {"scorer": {"name": "fact"}, "metrics": {"accuracy": {"value": value}, "bootstrap_std": {"value": 0.1}}}
    return inspect_log(model, None, version=1, results=results)


def reductions(model: str, value: float) -> Files:
    listed = [
        {"scorer": "s", "reducer": r, "samples": [{"sample_id": 1, "value": v}]}
        for r, v in (("mean", value), ("max", 1))
    ]
    return inspect_log(model, None, reductions=listed)


def old_prompt_result(provider: str, question: str, score: float) -> Files:
    row = prompt_result(provider, 0, 0, score, vars={"q": question})
    return {key: value for key, value in row.items() if key not in ("promptIdx", "promptId", "testIdx")}


def output_item(run: str, model: str, score: float) -> Files:
    results = [{"name": "grader", "passed": score > 0, "score": score}, {"name": "check", "passed": score > 0}]
    item = {"object": "eval.run.output_item", "run_id": run, "datasource_item_id": 7, "datasource_item": {}}
    return {**item, "results": results, "sample": {"model": model}}


def evals_log(model: str, *right: bool, report: float = 0.5) -> list[Files]:
    spec = {"completion_fns": [model], "eval_name": "test-match.s1", "run_id": model}
    events: list[Files] = []
    for k, correct in enumerate(right):
        about = {"run_id": model, "sample_id": f"s.{k}"}
        events.append({**about, "event_id": 2 * k, "type": "sampling", "data": {"sampled": ["x"]}})
        events.append({**about, "event_id": 2 * k + 1, "type": "match", "data": {"correct": correct, "picked": "x"}})
    return [{"spec": spec}, *events, {"final_report": {"accuracy": report, "boostrap_std": 0.1}}]


def helm_beside() -> Files:
    """What HELM writes beside the two files that count."""
    files: Files = {}
    for name, score in (("a", 1.0), ("b", 0.0)):
        run = helm_run(
            f"org/{name}", [instance("id1", [helm_stat("exact_match", score)], train_trial_index=t) for t in (0, 1)]
        )
        run |= {
            "scenario.json": {"name": "mmlu", "tags": []},
            "scenario_state.json": {"adapter_spec": {}, "request_states": []},
            "instances.json": [{"id": "id1", "input": {}, "split": "test"}],
            "display_predictions.json": [{"instance_id": "id1", "predicted_text": "A", "stats": {"exact_match": 0.5}}],
        }
        files |= {f"runs/v1/{name}/{path}": content for path, content in run.items()}
    specs = [files[f"runs/v1/{name}/run_spec.json"] for name in "ab"]
    lists = {
        "run_specs.json": specs,
        "runs.json": [{"run_spec": specs[0], "run_path": "x"}],
        "groups.json": [{"title": "All"}],
    }
    return files | {f"runs/v1/{path}": content for path, content in lists.items()}


def alike(make: Any, **of: Any) -> Files:
    return {f"{name}/x.json": make(name, value) for name, value in of.items()}


ARC = f"samples_arc_{STAMP}.jsonl"
CASES: dict[str, tuple[Files, dict[str, list[str]]]] = {
    "lm_eval 0.3": (alike(harness_03, a=0.6, b=0.4), {"hellaswag": ["b > a"]}),
    "lighteval": (alike(lighteval, a=0.6, b=0.4), {"lb|arc|25": ["a > b"]}),
    "lm_eval groups in groups": (alike(groups_in_groups, a=0.6, b=0.4), {"mmlu_algebra": ["a > b"], "bbh": ["a > b"]}),
    "lm_eval samples of 0.4.0": (
        {
            **{f"{name}/{ARC}": [old_document(0, acc=acc, acc_norm=1.0)] for name, acc in (("a", 1.0), ("b", 0.0))},
            **{f"{name}/results_{STAMP}.json": lm_eval(name, {"arc": {"acc,none": 0.5}}) for name in "ab"},
        },
        {"arc": ["a = b"]},  # by acc_norm
    ),
    "lm_eval two runs of one model": (
        {
            **{f"a/results_{k}.json": lm_eval("a", {"t": {"acc,none": k}}) for k in (0, 1)},
            **alike(lambda m, v: lm_eval(m, {"t": {"acc,none": v}}), b=0.4),
        },
        {"t": ["a > b"]},  # the mean of 0 and 1
    ),
    "inspect version 1": (alike(inspect_1, a=1.0, b=0.5), {"arc": ["a > b"]}),
    "inspect samples of version 1": (
        alike(lambda m, v: inspect_log(m, [{"id": 1, "epoch": 1, "score": {"value": v}}]), a="C", b="I"),
        {"arc": ["a > b"]},
    ),
    "inspect two reducers": (alike(reductions, a=0.4, b=0.2), {"arc": ["a > b"]}),
    "inspect a set with its index": (
        {
            **alike(lambda m, v: inspect_log(m, [sample(1, v)]), a=1, b=0),
            "logs.json": {"a/x.json": inspect_log("a", None), "b/x.json": inspect_log("b", None)},
            "eval-set.json": {"eval_set_id": "x", "tasks": []},
        },
        {"arc": ["a > b"]},
    ),
    "inspect eval without summaries": (
        {
            f"{m}.eval": zipped({"header.json": inspect_log(m, None), "samples/1_epoch_1.json": sample(1, v)})
            for m, v in (("a", "C"), ("b", "I"))
        },
        {"arc": ["a > b"]},
    ),
    "helm a suite with its lists": (helm_beside(), {"mmlu:subject=law": ["org/a > org/b"]}),
    "mteb of several models": (
        {
            "x.json": {
                "model_results": [
                    {"model_name": m, "model_revision": "1", "task_results": [mteb_task({"de": v})]}
                    for m, v in (("a", 0.1), ("b", 0.2))
                ]
            }
        },
        {"Tatoeba": ["b > a"]},
    ),
    "mteb a score that is no number": (
        {f"org__{m}/1234567/T.json": mteb_task({"de": v, "fr": 0.5}) for m, v in (("a", float("nan")), ("b", 0.2))},
        {"Tatoeba": ["org/a = org/b", "org/b"]},
    ),
    "promptfoo without numbers": (
        {
            "o.json": {
                "config": {},
                "results": {
                    "version": 2,
                    "stats": {},
                    "table": {},
                    "results": [
                        old_prompt_result(p, q, s) for p, q, s in (("x", "1", 1), ("y", "1", 0), ("y", "2", 1))
                    ],
                },
            }
        },
        {"promptfoo": ["x > y", "y"]},
    ),
    "promptfoo without an envelope": (
        {
            "o.json": {
                "version": 1,
                "stats": {},
                "table": {},
                "results": [old_prompt_result(p, "1", s) for p, s in (("x", 1), ("y", 0))],
            }
        },
        {"promptfoo": ["x > y"]},
    ),
    "openai items of the interface": (
        {"i.jsonl": [output_item("r1", "gpt-a", 1.0), output_item("r2", "gpt-b", 0.0)]},
        {"grader": ["gpt-a > gpt-b"], "check": ["gpt-a > gpt-b"]},
    ),
    "openai logs of evals": (
        {"1_a.jsonl": evals_log("gpt-a", True, True), "1_b.jsonl": evals_log("gpt-b", True, False)},
        {"test-match.s1": ["gpt-a = gpt-b", "gpt-a > gpt-b"]},
    ),
    "openai reports of evals": (
        {"1_a.jsonl": evals_log("gpt-a", report=0.9), "1_b.jsonl": evals_log("gpt-b", report=0.8)},
        {"test-match.s1": ["gpt-a > gpt-b"]},
    ),
    "kaggle names of agents": (
        {"1.json": {**episode(1, [], [1, 0]), "info": {"EpisodeId": 1, "Agents": [{"Name": "a"}, {"Name": "b"}]}}},
        {"halite": ["a > b"]},
    ),
    "pgn with an escape, Latin-1 and an unknown player": (
        {
            "g.pgn": b'%x\n; y\n[White "M\xfcller"]\n[Black "B"]\n[Result "1-0"]\n\n'
            b'[White "?"]\n[Black "B"]\n[Result "1-0"]\n'
        },
        {"": ["1 M\u00fcller > B"]},
    ),
}
SAID = {
    "lm_eval groups in groups": "left out: groups, whose subtasks count (6)",
    "lm_eval two runs of one model": "repeats of an agent on one item averaged: 3 scores into 2",
    "inspect two reducers": "left out: samples of another reducer than a scorer's first (2)",
    "helm a suite with its lists": "lists of runs, which are read by themselves",
    "mteb a score that is no number": "left out: subsets without a score (1)",
    "pgn with an escape, Latin-1 and an unknown player": "left out: games of unknown players (?) (1)",
}


@pytest.mark.parametrize("name", CASES)
def test_other_versions(name: str, tmp_path: Path) -> None:
    files, votes = CASES[name]
    profile = sc.read(write_files(tmp_path, files))
    assert votes_of(profile) == votes
    assert SAID.get(name, "") in notes(profile)


@pytest.mark.parametrize("name", CASES)
def test_each_file_is_claimed_by_one_reader_at_most(name: str) -> None:
    """All that hold results by the one of their tool; what stands beside them by none."""
    tool = {"openai": "openai_evals", "harness": "lm_eval", "lighteval": "lm_eval"}.get(
        name.split()[0], name.split()[0]
    )
    claimed = 0
    for path, content in CASES[name][0].items():
        file = in_memory(path, encoded(path, content))
        found = [format.name for format in FORMATS.values() if format.recognise(file)]
        assert found in ([], [tool]), (path, found)
        claimed += len(found)
    assert claimed


def test_a_direction_that_the_file_lacks_may_be_given(tmp_path: Path) -> None:
    files = {f"{m}.json": ever(m, [("IFEval", score, False)]) for m, score in (("a", 0.4), ("b", 0.6))}
    for content in files.values():
        del content["evaluation_results"][0]["metric_config"]["lower_is_better"]
    folder = write_files(tmp_path, files)
    with pytest.raises(DataError, match=r"lower_is_better is missing; expected true or false \(or --higher-is-better"):
        sc.read(folder)
    assert votes_of(sc.read(folder, lower_is_better="IFEval")) == {"IFEval": ["a > b"]}
