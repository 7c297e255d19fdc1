"""A million items of evaluation logs in 200 files, from the folder to a profile: CPU seconds and the most memory used.

    python benchmarks/logs.py [--items 1000000] [--csv benchmarks/results/logs.csv]

Three folders of 200 files are made in a temporary folder: logs of inspect_ai (.json, and .eval, which are zips) and
samples of lm-evaluation-harness, each item with a prompt and an answer of some hundred letters, as they have. Each is
read in a process of its own, whose largest resident set is what `GB` says. Exits with 1 if a target is missed.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rows import arguments, show

CPU_SECONDS, GIGABYTES = 30.0, 1.0
FILES, MODELS = 200, 20
RUN = """
import json, resource, sys, time
import softcondorcet as sc
began = time.process_time()
profile = sc.read(sys.argv[1])
print(json.dumps({
    "votes": profile.n_votes, "agents": profile.n_agents, "tasks": len(profile.groups),
    "cpu_s": round(time.process_time() - began, 1),
    "GB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
}))
"""
TEXT = "Which of these is the longest river that flows through more than one country of the continent? " * 3


def runs(items: int) -> Iterator[tuple[str, str, random.Random, int]]:
    """Model, task, random numbers and number of items of each file: every model on ten tasks."""
    for k in range(FILES):
        yield f"org/model-{k % MODELS}", f"task-{k // MODELS}", random.Random(k), items // FILES


def inspect_samples(rng: random.Random, items: int, text: str) -> list[dict[str, Any]]:
    return [
        {
            "id": item,
            "epoch": 1,
            "input": text,
            "target": "A",
            "scores": {"choice": {"value": rng.choice("CI"), "answer": "A", "explanation": text}},
        }
        for item in range(items)
    ]


def header(model: str, task: str) -> dict[str, Any]:
    return {"version": 2, "status": "success", "eval": {"task": task, "model": model}, "results": {"scores": []}}


def inspect_json(folder: Path, items: int) -> None:
    for model, task, rng, n in runs(items):
        log = {**header(model, task), "samples": inspect_samples(rng, n, TEXT)}
        (folder / f"{model.replace('/', '_')}_{task}.json").write_text(json.dumps(log))


def inspect_eval(folder: Path, items: int) -> None:
    """Samples with their texts, and the summaries beside them, which hold less."""
    for model, task, rng, n in runs(items):
        path = folder / f"{model.replace('/', '_')}_{task}.eval"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.writestr("header.json", json.dumps(header(model, task)))
            samples = inspect_samples(rng, n, TEXT[:90])
            archive.writestr("summaries.json", json.dumps(samples))
            for sample in samples[:100]:
                archive.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))


def lm_eval_samples(folder: Path, items: int) -> None:
    stamp = "2026-01-02T03-04-05.678901"
    for model, task, rng, n in runs(items):
        run = folder / model.replace("/", "__")
        run.mkdir(exist_ok=True)
        names = {"results": {task: {"acc,none": 0.5}}, "versions": {}, "model_name": model, "lm_eval_version": "0.4.9"}
        (run / f"results_{stamp}.json").write_text(json.dumps(names))
        with (run / f"samples_{task}_{stamp}.jsonl").open("w") as file:
            for item in range(n):
                row = {
                    "doc_id": item,
                    "doc": {"question": TEXT, "answer": "A"},
                    "target": "A",
                    "arguments": [[TEXT, " A"], [TEXT, " B"]],
                    "resps": [[[-1.5, False]], [[-2.5, False]]],
                    "filtered_resps": [[-1.5, False], [-2.5, False]],
                    "filter": "none",
                    "metrics": ["acc", "acc_norm"],
                    "acc": float(rng.random() < 0.5),
                    "acc_norm": float(rng.random() < 0.5),
                }
                file.write(json.dumps(row) + "\n")


MAKERS = {"inspect .json": inspect_json, "inspect .eval": inspect_eval, "lm_eval samples": lm_eval_samples}


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--items", type=int, default=1_000_000)
    options = parser.parse_args()
    found: list[dict[str, Any]] = []
    for what, make in MAKERS.items():
        with tempfile.TemporaryDirectory(prefix="sco-") as name:
            make(Path(name), options.items)
            size = sum(os.path.getsize(file) for file in Path(name).rglob("*.*"))
            row = {"what": what, "files": FILES, "items": options.items, "file_GB": round(size / 1e9, 2)}
            done = subprocess.run([sys.executable, "-c", RUN, name], stdout=subprocess.PIPE, text=True, check=True)
            found.append({**row, **json.loads(done.stdout)})
    show(found, options.csv)
    return int(any(row["cpu_s"] > CPU_SECONDS or row["GB"] > GIGABYTES for row in found))


if __name__ == "__main__":
    sys.exit(main())
