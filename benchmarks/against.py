"""What does the work of every day cost compared with another version of the package?

    git worktree add --detach FOLDER COMMIT
    python benchmarks/against.py FOLDER [--rounds 9] [--only JOB] [--csv FILE]

Each job runs in a process of its own with this tree and with FOLDER, in turns, after one run of each that compiles
kernels. Seconds of the processor. The ratio of each round, its median and its 95 % interval by signs; where the whole
interval is above 1.05 this tree is slower, and the exit status 1.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from rows import arguments, show

HERE = Path(__file__).resolve().parent.parent
MOST = 1.05
_VOTES = "import softcondorcet as sc; from softcondorcet import synthetic; "
_LARGE = _VOTES + "v, _ = synthetic.tournament(40000, agents=400, size=2, seed=1); p = v.pairs(); "
JOBS = {
    "import": "import softcondorcet",
    "sco rank, 3,000 battles": "from softcondorcet.cli import main; main(['rank', 'battles.csv', '-q', '--top', '1'])",
    "read, 300,000 battles": "import softcondorcet as sc; sc.read('many.csv')",
    "pairs, 1,000,000 battles": _VOTES + "synthetic.tournament(1000000, agents=100, size=2)[0].pairs()",
    "sco, 400 agents, 5 times": _LARGE + "[sc.sco(p) for _ in range(5)]",
    "sgd, 200,000 steps": _LARGE + "sc.sco(v, solver='sgd', steps=200000, scale='box')",
    "gradients, 2,000": _LARGE + "sc.sco(p, sharpness=0.5, steps=2000, tol=1e-30, scale='box')",
    "bootstrap, 100 resamples": _LARGE + "sc.bootstrap(v, n=100)",
    "frame, 1,000,000 battles": "import numpy as np, pandas as pd, softcondorcet as sc; g = np.random.default_rng(0); "
    "a, b = g.integers(0, 30, (2, 10**6)); b = b + (a == b); n = np.array([f'm{k}' for k in range(31)]); "
    "f = pd.DataFrame({'model_a': n[a], 'model_b': n[b], 'winner': np.where(a < b, 'model_a', 'model_b')}); "
    "sc.bradley_terry(sc.read(f), prior=1.0)",
    "kemeny, 60 agents": _VOTES + "sc.kemeny(synthetic.mallows(200, agents=60, phi=0.9))",
}


def seconds(tree: Path, job: str, folder: str) -> float:
    """Of the processor, in a process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    env = {**os.environ, "PYTHONPATH": str(tree / "src"), "PYTHONWARNINGS": "ignore"}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # the first run compiles: that is not what a job costs
    subprocess.run([sys.executable, "-c", job], env=env, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def interval(ratios: list[float]) -> tuple[float, float]:
    """The order statistics between which the median is in 95 % of samples: the sign test turned around."""
    ordered, cut = sorted(ratios), {5: 0, 6: 0, 7: 0, 8: 0, 9: 1, 11: 1, 13: 2, 15: 3}.get(len(ratios), 0)
    return ordered[cut], ordered[-1 - cut]


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("folder", type=Path, help="another version of this repository")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", action="append", choices=JOBS, help="a job; repeatable")
    options = parser.parse_args()
    rows, slower = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name, count in (("battles.csv", 3_000), ("many.csv", 300_000)):
            lines = (f"m{k % 7},m{7 + k % 11},{('model_a', 'model_b', 'tie')[k % 3]}\n" for k in range(count))
            (Path(folder) / name).write_text("model_a,model_b,winner\n" + "".join(lines))
        for job in options.only or JOBS:
            code = JOBS[job]
            trees = HERE, options.folder.resolve()
            for tree in trees:
                seconds(tree, code, folder)
            pairs = [tuple(seconds(tree, code, folder) for tree in trees) for _ in range(options.rounds)]
            ratios = [here / there for here, there in pairs]
            low, high = interval(ratios)
            here, there = (statistics.median(column) for column in zip(*pairs, strict=True))
            numbers = {"here_s": here, "there_s": there, "ratio": statistics.median(ratios), "low": low, "high": high}
            rows.append({"job": job, **{name: round(value, 3) for name, value in numbers.items()}})
            slower += [job] if low > MOST else []
    show(rows, options.csv)
    print(f"slower: {', '.join(slower)}" if slower else "nothing is slower")
    return int(bool(slower))


if __name__ == "__main__":
    sys.exit(main())
