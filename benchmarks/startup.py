"""What a user waits for before the first answer: help, import, and the first rank and report of a few thousand votes.

    python benchmarks/startup.py [--csv benchmarks/results/startup.csv]

CPU seconds of whole processes, median of several with the range. "Cold" is a first run ever, with no kernel cached;
"warm" is one after ``sco warm``.
Exits with 1 if a target is missed.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from rows import arguments, show

from softcondorcet import synthetic, write

REPEATS = 5
AGENTS, VOTES = 30, 3_000


def spent(words: list[str], cache: str | None = None) -> tuple[float, float]:
    """CPU and wall seconds of one process."""
    env = {**os.environ, **({"NUMBA_CACHE_DIR": cache} if cache else {})}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run([sys.executable, *words], check=True, capture_output=True, env=env)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - began


def main() -> int:
    options = arguments(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        battles, warm = Path(folder, "battles.csv"), str(Path(folder, "warm"))
        write(synthetic.tournament(VOTES, agents=AGENTS, size=2)[0], battles)
        rank = ["-m", "softcondorcet", "rank", str(battles)]
        demo = ["-m", "softcondorcet", "demo", "-o", str(Path(folder, "demo.html"))]
        spent(["-m", "softcondorcet", "warm"], warm)
        cases = {
            "python itself": (["-c", "pass"], None, None),
            "import softcondorcet": (["-c", "import softcondorcet"], None, 0.5),
            "sco --help": (["-m", "softcondorcet", "--help"], None, 0.3),
            "sco rank, cold": (rank, "cold", 1.2),
            "sco rank, warm": (rank, warm, 1.2),
            "sco demo, cold": (demo, "cold", 4.0),
            "sco demo, warm": (demo, warm, 4.0),
        }
        rows: list[dict[str, Any]] = []
        for name, (words, cache, target) in cases.items():
            runs = [spent(words, str(Path(folder, f"cold-{k}")) if cache == "cold" else cache) for k in range(REPEATS)]
            cpu, wall = [r[0] for r in runs], [r[1] for r in runs]
            rows.append({
                "case": name, "cpu_s": round(median(cpu), 2), "cpu_min": round(min(cpu), 2),
                "cpu_max": round(max(cpu), 2), "wall_s": round(median(wall), 2), "target_cpu_s": target or "",
            })  # fmt: skip
    show(rows, options.csv)
    return int(any(row["target_cpu_s"] and row["cpu_s"] > row["target_cpu_s"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
