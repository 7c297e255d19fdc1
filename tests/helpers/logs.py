"""Small result files of evaluation tools, made up for the tests: what each tool writes, and the votes in it.

``FILES`` holds for each format the files of a folder; ``VOTES`` the votes that a person reads off them, by task.
"""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

STAMP = "2026-01-02T03-04-05.678901"


def zipped(files: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            archive.writestr(path, encoded(path, content))
    return out.getvalue()


def encoded(path: str, content: Any) -> bytes:
    """Bytes and text as they are, lists of a ``.jsonl`` one per line, anything else as indented JSON."""
    if isinstance(content, bytes):
        return content
    if isinstance(content, str):
        return content.encode()
    if path.endswith(".jsonl") and isinstance(content, list):
        return "".join(json.dumps(row) + "\n" for row in content).encode()
    return json.dumps(content, indent=1).encode()


def write_files(folder: Path, files: dict[str, Any]) -> Path:
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(encoded(path, content))
    return folder


def lm_eval(model: str, results: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"results": results, "versions": {}, "model_name": model, "lm_eval_version": "0.4.9", **more}


def document(number: int, **more: Any) -> dict[str, Any]:
    return {"doc_id": number, "doc": {}, "resps": [["x"]], "filter": "none", "metrics": ["acc"], **more}


def inspect_log(model: str, samples: Any, **more: Any) -> dict[str, Any]:
    return {"version": 2, "status": "success", "eval": {"task": "arc", "model": model}, "samples": samples, **more}


def sample(number: int, value: Any, epoch: int = 1) -> dict[str, Any]:
    return {"id": number, "epoch": epoch, "scores": {"choice": {"value": value}}}


def helm_stat(name: str, mean: Any, split: str = "test", **more: Any) -> dict[str, Any]:
    return {"name": {"name": name, "split": split, **more}, "count": 1, "sum": mean, "mean": mean}


def helm_run(model: str, instances: list[dict[str, Any]]) -> dict[str, Any]:
    spec = {"name": f"mmlu:subject=law,model={model}", "adapter_spec": {"model": model}, "groups": ["mmlu"]}
    return {"run_spec.json": spec, "per_instance_stats.json": instances, "stats.json": [helm_stat("exact_match", 0.5)]}


def instance(name: str, stats: list[Any], **more: Any) -> dict[str, Any]:
    return {"instance_id": name, "train_trial_index": 0, "stats": stats, **more}


def ever(model: str, results: list[tuple[str, float, bool]]) -> dict[str, Any]:
    rows = [
        {"evaluation_name": name, "metric_config": {"lower_is_better": lower}, "score_details": {"score": score}}
        for name, score, lower in results
    ]
    return {"schema_version": "0.3.0", "model_info": {"id": model}, "evaluation_results": rows}


def mteb_task(subsets: dict[str, float]) -> dict[str, Any]:
    rows = [{"main_score": score, "hf_subset": name, "languages": [], "f1": 0.1} for name, score in subsets.items()]
    return {"task_name": "Tatoeba", "dataset_revision": "1", "mteb_version": "1.14", "scores": {"test": rows}}


def prompt_result(provider: str, prompt: int, test: int, score: Any, **more: Any) -> dict[str, Any]:
    row = {"provider": {"id": provider, "label": ""}, "promptIdx": prompt, "promptId": f"p{prompt}", "testIdx": test}
    return {**row, "prompt": {"label": f"say {prompt}"}, "vars": {"q": test}, "score": score, "success": True, **more}


def preference(value: Any, a: str = "ref", b: str = "new") -> dict[str, Any]:
    return {"instruction": "?", "generator_1": a, "generator_2": b, "annotator": "judge", "preference": value}


def judgment(model: str, *verdicts: str | None) -> dict[str, Any]:
    games = [{"score": verdict} for verdict in verdicts]
    return {"uid": "u", "category": "code", "judge": "j", "model": model, "baseline": "base", "games": games}


def grade(model: str, question: int, score: int, turn: int = 1) -> dict[str, Any]:
    row = {"question_id": question, "model": model, "judge": ["gpt-4", "single-v1"], "score": score}
    return {**row, "turn": turn, "tstamp": 1.5}


def two_games(first: str, second: str) -> dict[str, Any]:
    row = {"question_id": 1, "model_1": "x", "model_2": "y", "g1_winner": first, "g2_winner": second}
    return {**row, "judge": ["gpt-4", "pair-v2"], "turn": 1, "tstamp": 1.5}


def episode(number: int, teams: list[str], rewards: list[Any]) -> dict[str, Any]:
    info = {"EpisodeId": number, "TeamNames": teams}
    return {"name": "halite", "id": "x", "info": info, "rewards": rewards, "statuses": ["DONE"] * len(teams)}


GAMES = """\ufeff[Event "Cup, \\"A\\""]
[White "Ann"]
[Black "Bob"]
[Result "1-0"]
[Date "2026.01.02"]

1. e4 {a comment} e5 1-0

[White "Bob"]
[Black "Ann"]
[Date "2026.01.01"]
[Result "1/2-1/2"]

1/2-1/2

[White "Ann"]
[Black "Bob"]
[Result "*"]

*
"""

FILES: dict[str, dict[str, Any]] = {
    "lm_eval": {
        f"alpha/results_{STAMP}.json": lm_eval(
            "org/alpha",
            {
                "mmlu": {"acc,none": 0.1, "alias": "mmlu"},
                "mmlu_law": {"acc,none": 0.5, "acc_stderr,none": 0.9, "alias": " - law"},
                "empty_group": {" ": " ", "alias": "empty"},
                "hellaswag": {"acc,none": 0.4, "acc_norm,none": 0.7, "acc_stderr,none": 0.1},
                "wikitext": {"word_perplexity,none": 12.5, "bits_per_byte,none": 0.4},
                "gsm8k": {"exact_match,strict-match": 0.2, "exact_match,flexible-extract": 0.9},
                "oddity": {"score_of_ours,none": 3},
            },
            group_subtasks={"mmlu": ["mmlu_law"], "mmlu_law": [], "empty_group": ["hellaswag"]},
            higher_is_better={"oddity": {"score_of_ours": False}},
        ),
        f"alpha/samples_arc_{STAMP}.jsonl": [document(0, acc=1.0), document(1, acc=0.0), document(2, acc=1.0)],
        f"beta/results_{STAMP}.json": lm_eval(
            "org/beta",
            {
                "mmlu": {"acc,none": 0.9, "alias": "mmlu"},
                "mmlu_law": {"acc,none": 0.4, "acc_stderr,none": 0.1},
                "hellaswag": {"acc,none": 0.5, "acc_norm,none": 0.6},
                "wikitext": {"word_perplexity,none": 10, "bits_per_byte,none": 0.5},
                "gsm8k": {"exact_match,strict-match": 0.3, "exact_match,flexible-extract": 0.1},
                "oddity": {"score_of_ours,none": 4},
            },
            group_subtasks={"mmlu": ["mmlu_law"]},
            higher_is_better={"oddity": {"score_of_ours": False}},
        ),
        f"beta/samples_arc_{STAMP}.jsonl": [document(0, acc=0.0), document(1, acc=0.0), document(2)],
    },
    "inspect": {
        "a.json": inspect_log("a", [sample(1, "C"), sample(2, "P"), sample(3, float("nan")), sample(4, True)]),
        "b.eval": zipped(
            {
                "header.json": {"version": 2, "status": "success", "eval": {"task": "arc", "model": "b"}},
                "summaries.json": [sample(1, "I"), sample(2, 1, 1), sample(2, 0, 2), sample(4, "N")],
                "samples/1_epoch_1.json": "not read",
            }
        ),
        "c.json": inspect_log("c", None, status="error", results=None),
    },
    "helm": {
        **{
            f"runs/a/{name}": content
            for name, content in helm_run(
                "org/a",
                [
                    instance("id1", [helm_stat("exact_match", 1.0), helm_stat("logprob", -9.0)]),
                    instance("id1", [helm_stat("exact_match", 0.0)], perturbation={"name": "typos"}),
                    instance(
                        "id2", [helm_stat("exact_match", 0.0), helm_stat("f1", 1, perturbation={"name": "typos"})]
                    ),
                    instance("id3", [helm_stat("exact_match", 0.0, "valid")]),
                ],
            ).items()
        },
        **{
            f"runs/b/{name}": content
            for name, content in helm_run(
                "org/b",
                [instance("id1", [helm_stat("exact_match", 0)]), instance("id2", [helm_stat("exact_match", 0)])],
            ).items()
        },
    },
    "every_eval_ever": {
        "a.json": ever("a", [("IFEval", 0.4, False), ("WER", 7, True), ("demo", 0.5, False)]),
        "b.json": ever("b", [("IFEval", 0.5, False), ("WER", 5, True)]),
        "a_samples.jsonl": [
            {"model_id": "a", "evaluation_name": "demo", "sample_id": "s1", "evaluation": {"score": 1.0}},
            {"model_id": "b", "evaluation_name": "demo", "sample_id": "s1", "evaluation": {"is_correct": False}},
            {"model_id": "b", "evaluation_name": "demo", "sample_id": "s2", "evaluation": {"score": None}},
        ],
    },
    "mteb": {
        "org__a/123abc/Tatoeba.json": mteb_task({"de": 0.9, "fr": 0.4}),
        "org__a/123abc/STS12.json": {
            "mteb_version": "0.0.2",
            "mteb_dataset_name": "STS12",
            "test": {"cos_sim": {"spearman": 0.6, "pearson": 0.9}},
        },
        "org__a/123abc/model_meta.json": {"name": "org/a", "revision": "123abc", "languages": [], "n_parameters": 1},
        "org__b/no_revision_available/Tatoeba.json": mteb_task({"de": 0.8, "fr": 0.4}),
        "org__b/no_revision_available/STS12.json": {
            "mteb_version": "0.0.2",
            "mteb_dataset_name": "STS12",
            "test": {"cos_sim": {"spearman": 0.7, "pearson": 0.1}},
        },
    },
    "promptfoo": {
        "promptfoo.json": {
            "evalId": "eval-1",
            "config": {"description": "riddles"},
            "results": {
                "version": 3,
                "results": [
                    prompt_result("openai:x", 0, 0, 0.5),
                    prompt_result("openai:x", 1, 0, 1),
                    prompt_result("openai:y", 0, 0, 0.75),
                    prompt_result("openai:y", 0, 1, 0, failureReason=2),
                ],
            },
        }
    },
    "openai_evals": {
        "items.jsonl": [
            {"run_id": "r1", "data_source_idx": 0, "item": {}, "grades": {"tone": 6, "fact": 1}, "passes": {}},
            {"run_id": "r2", "data_source_idx": 0, "item": {}, "grades": {"tone": 3, "fact": None}, "passes": {}},
        ]
    },
    "alpaca_eval": {
        "annotations.json": [preference(p) for p in (1, 2.0, 1.5, 0.0, None, 1.25)],
    },
    "arena_hard": {
        "m.jsonl": [
            judgment("m", "B>>A", "A>B"),  # both for m: strong and plain, weight 2
            judgment("m", "[[A>B]]", "A>B"),  # once each: a tie
            judgment("m", "A<<B", None),  # strong, one game
            judgment("m", "A=B", "A>B"),  # three quarters of a win
        ],
    },
    "mt_bench": {
        "gpt-4_single.jsonl": [grade("x", 81, 9), grade("y", 81, 7), grade("x", 81, -1, 2), grade("y", 81, 4, 2)],
    },
    "kaggle": {
        "1.json": episode(1, ["x", "y", "z"], [3, 1, None]),
        "2.json": episode(2, ["x", "x"], [1, 0]),
        "3.json": episode(3, ["x", "y"], [None, None]),
    },
    "pgn": {"games.pgn": GAMES},
}

# The votes by task, best first; "=" is a tie. Of battles: with their weight, in one list.
VOTES: dict[str, dict[str, list[str]]] = {
    "lm_eval": {
        "mmlu_law": ["org/alpha > org/beta"],
        "hellaswag": ["org/alpha > org/beta"],
        "wikitext": ["org/beta > org/alpha"],
        "gsm8k": ["org/beta > org/alpha"],
        "oddity": ["org/alpha > org/beta"],
        "arc": ["org/alpha > org/beta", "org/alpha = org/beta", "org/alpha"],
    },
    "inspect": {"arc": ["a > b", "a = b", "a > b"]},
    "helm": {"mmlu:subject=law": ["org/a > org/b", "org/a = org/b"]},
    "every_eval_ever": {"IFEval": ["b > a"], "WER": ["b > a"], "demo": ["a > b"]},
    "mteb": {"Tatoeba": ["org/a > org/b", "org/a = org/b"], "STS12": ["org/b > org/a"]},
    "promptfoo": {"riddles": ["openai:x | say 1 > openai:y > openai:x | say 0"]},
    "openai_evals": {"tone": ["r1 > r2"], "fact": ["r1"]},
    "alpaca_eval": {
        "": ["1 ref > new", "1 new > ref", "1 new = ref", "1 new = ref", "0.75 ref > new", "0.25 new > ref"],
    },
    "arena_hard": {"": ["2 m > base", "1 base = m", "1.5 m > base", "0.75 m > base", "0.25 base > m"]},
    "mt_bench": {"mt_bench": ["x > y", "y"]},
    "kaggle": {"halite": ["x > y > z"]},
    "pgn": {"": ["1 Ann > Bob", "1 Ann = Bob"]},
}

# What is left out of them, by words of the reason.
LEFT_OUT: dict[str, dict[str, int]] = {
    "lm_eval": {"groups": 3, "without a number": 1},
    "inspect": {"NaN": 1, "logs without scores (status error)": 1},
    "helm": {"perturbed instances": 1, "perturbed inputs": 1, "splits other than test": 1},
    "every_eval_ever": {"samples without a score": 1, "totals": 1},
    "mteb": {},
    "promptfoo": {"gave no answer": 1},
    "openai_evals": {"null": 1},
    "alpaca_eval": {"without a preference": 1},
    "arena_hard": {"without a verdict": 1},
    "mt_bench": {"-1": 1},
    "kaggle": {"without a reward": 1, "plays itself": 1},
    "pgn": {"did not end": 1},
}
