"""What a report costs: CPU seconds, peak memory and size of the page of ``sco report``, in a process of its own.

    python benchmarks/report_size.py [FILE ...] [--csv benchmarks/results/report_size.csv]

Besides the files given: made-up tables of 130 models on 20 tasks and of 5,000 models on ten, and an arena of 1,000
agents with 40,000 votes each, as counts of every pair. Exits with 1 if a report takes more than 20 seconds of CPU or
1.5 GB, or its page is larger than a megabyte.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from rows import arguments, show

_SECONDS, _GB, _PAGE_KB = 20.0, 1.5, 1000.0


def table(path: Path, models: int, tasks: int) -> Path:
    """Scores of made-up models on made-up tasks."""
    rng = np.random.default_rng(0)
    strength = rng.normal(size=models)
    with path.open("w") as file:
        file.write(",".join(["model", *(f"task-{k}" for k in range(tasks))]) + "\n")
        for a in range(models):
            scores = 50 + 10 * strength[a] + 10 * rng.normal(size=tasks)
            file.write(",".join([f"lab-model-{a}", *(f"{score:.2f}" for score in scores)]) + "\n")
    return path


def arena(path: Path, agents: int, each: int) -> Path:
    """Votes on all pairs of made-up agents, so many for each agent, as counts."""
    rng = np.random.default_rng(0)
    strength = rng.normal(size=agents)
    left, right = np.triu_indices(agents, 1)
    met = round(each / (agents - 1))
    ties = rng.binomial(met, 0.1, size=len(left))
    wins = rng.binomial(met - ties, 1 / (1 + np.exp(strength[right] - strength[left])))
    with path.open("w") as file:
        file.write("model_a,model_b,winner,count\n")
        for winner, counts in (("model_a", wins), ("model_b", met - ties - wins), ("tie", ties)):
            for k in np.flatnonzero(counts).tolist():
                file.write(f"m{left[k]},m{right[k]},{winner},{counts[k]}\n")
    return path


def cost(file: Path, page: Path) -> dict[str, Any]:
    """Run ``sco report`` on a file and wait for its end."""
    words = [sys.executable, "-m", "softcondorcet", "report", str(file), "-o", str(page)]
    quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
    child = os.posix_spawn(sys.executable, words, os.environ, file_actions=quiet)
    _, status, used = os.wait4(child, 0)
    done = status == 0
    return {
        "data": file.name,
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
        "peak_gb": round(used.ru_maxrss / (1e6 if sys.platform != "darwin" else 1e9), 2),
        "page_kb": round(page.stat().st_size / 1000) if done else None,
        "done": done,
    }


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder)
        made = [table(at / "130-models-20-tasks.csv", 130, 20), table(at / "5000-models-10-tasks.csv", 5000, 10)]
        made.append(arena(at / "1000-agents-40000-votes-each.csv", 1000, 40_000))
        rows = []
        for file in [*made, *options.files]:
            rows.append(cost(file, at / "report.html"))
            print(rows[-1], file=sys.stderr)
    show(rows, options.csv)
    limits = (("cpu_seconds", _SECONDS), ("peak_gb", _GB), ("page_kb", _PAGE_KB))
    missed = [row["data"] for row in rows if not row["done"] or any(row[name] > most for name, most in limits)]
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
