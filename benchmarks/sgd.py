"""Stochastic gradient steps per CPU second: our kernels against OpenSpiel's C++ (`pyspiel.sco`), in turns.

    python benchmarks/sgd.py [--csv FILE]

Prints a row per shape, loss and batch size, and exits with 1 if the median ratio misses its target.
"""

import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

CACHE = tempfile.TemporaryDirectory()  # an empty cache, so that "compile" is the cold start
os.environ["NUMBA_CACHE_DIR"] = CACHE.name

import numpy as np  # noqa: E402
import pyspiel  # noqa: E402
from rows import arguments, show  # noqa: E402

from softcondorcet.kernels.fenchel_young import GUMBEL, plan_perturbed, run_perturbed  # noqa: E402
from softcondorcet.kernels.sgd import SigmoidPlan, plan_sigmoid, run_sigmoid, seed_state  # noqa: E402

Steps = Callable[[int], object]  # performs so many steps

SEED = 0
REPEATS = 7
SECONDS = 0.4  # CPU time of one repeat, for each tool
BOUNDS = (0.0, 100.0)
TEMPERATURE = 1.0  # pyspiel's defaults
SIGMA = 100.0
LR = 0.01
SHAPES = {  # name: agents, votes, length of a vote
    "m=10 n=1,000 complete": (10, 1_000, 10),
    "m=100 n=1,000 complete": (100, 1_000, 100),
    "m=1,000 n=100 complete": (1_000, 100, 1_000),
    "m=52,958 n=31,049 of 7": (52_958, 31_049, 7),
}
TARGETS = [  # loss, batch, ratio to reach on each shape (None: not run)
    ("sigmoid", 32, (50, 120, 100, 40)),
    ("fenchel-young", 32, (8, 2, 2, 25)),
    ("sigmoid", 1, (None, None, None, 100)),
    ("fenchel-young", 1, (None, None, None, 100)),
]


def make_votes(m: int, n: int, k: int) -> np.ndarray:
    """Orders of k random agents out of m by a hidden skill with noise."""
    rng = np.random.default_rng(SEED)
    skill = rng.normal(size=m)
    votes = np.array([rng.choice(m, k, replace=False) for _ in range(n)])
    noisy = skill[votes] + rng.normal(size=(n, k))
    return np.take_along_axis(votes, np.argsort(-noisy, axis=1), axis=1).astype(np.int32)


def pyspiel_solver(loss: str, votes: np.ndarray, m: int, batch: int) -> Steps:
    """A function that performs so many steps."""
    named = [(1, [str(a) for a in vote]) for vote in votes]
    common = dict[str, Any](rating_lower_bound=BOUNDS[0], rating_upper_bound=BOUNDS[1], batch_size=batch, rng_seed=SEED)
    common["alternative_names"] = [str(a) for a in range(m)]
    if loss == "sigmoid":
        solver = pyspiel.sco.SoftCondorcetOptimizer(named, temperature=TEMPERATURE, **common)
    else:
        solver = pyspiel.sco.FenchelYoungOptimizer(named, sigma=SIGMA, **common)
    return lambda steps: solver.run_solver(steps, LR)


def our_solver(loss: str, votes: np.ndarray, m: int, batch: int) -> tuple[Steps, float]:
    """The same, and the CPU time of the plan."""
    n, k = votes.shape
    profile = np.arange(n + 1) * k, votes.ravel(), np.tile(np.arange(k, dtype=np.int32), n), np.ones(n), m, batch
    r = np.full(m, sum(BOUNDS) / 2)
    state = seed_state(np.random.default_rng(SEED))
    begin = time.process_time()
    plan = plan_sigmoid(*profile) if loss == "sigmoid" else plan_perturbed(*profile)
    planned = time.process_time() - begin

    def run(steps: int) -> None:
        rates = np.full(steps, LR)
        if isinstance(plan, SigmoidPlan):
            run_sigmoid(plan, r, rates, TEMPERATURE, *BOUNDS, state)
        else:
            run_perturbed(plan, r, rates, SIGMA, 1, GUMBEL, *BOUNDS, state)

    return run, planned


def cpu(run: Steps, steps: int) -> float:
    """CPU seconds of so many steps."""
    begin = time.process_time()
    run(steps)
    return time.process_time() - begin


def steps_for(run: Steps) -> int:
    """How many steps fill one repeat."""
    steps = 1
    while (spent := cpu(run, steps)) < SECONDS / 10:
        steps *= 4
    return max(1, round(steps * SECONDS / spent))


def measure(shape: str, loss: str, batch: int, target: int) -> dict[str, Any]:
    """One row of the table."""
    m, n, k = SHAPES[shape]
    votes = make_votes(m, n, k)
    theirs = pyspiel_solver(loss, votes, m, batch)
    ours, planned = our_solver(loss, votes, m, batch)
    begin = time.perf_counter()
    ours(1)
    first_call = time.perf_counter() - begin
    their_steps, our_steps = steps_for(theirs), steps_for(ours)
    pairs = [(their_steps / cpu(theirs, their_steps), our_steps / cpu(ours, our_steps)) for _ in range(REPEATS)]
    ratios = [our / their for their, our in pairs]
    return {
        "shape": shape,
        "loss": loss,
        "batch": batch,
        "pyspiel": statistics.median(their for their, _ in pairs),
        "ours": statistics.median(our for _, our in pairs),
        "ratio": statistics.median(ratios),
        "lowest": min(ratios),
        "highest": max(ratios),
        "target": target,
        "plan_ms": 1e3 * planned,
        "first_call_s": first_call,
    }


def main() -> int:
    """Measure all rows, print, say whether the targets are met."""
    options = arguments(__doc__).parse_args()
    versions = {name: version(name) for name in ("open-spiel", "numba", "numpy")}
    versions["python"] = platform.python_version()
    print(", ".join(f"{name} {number}" for name, number in versions.items()))
    print(f"steps per CPU second; ratio: median [lowest, highest] of {REPEATS}; first call: compiles if above 0.5\n")
    print(f"{'shape':24}{'loss':15}{'batch':>5}{'pyspiel':>11}{'ours':>12}  ratio {'':15}target  plan ms  first call s")
    rows = []
    for loss, batch, targets in TARGETS:
        for shape, target in zip(SHAPES, targets, strict=True):
            if target is None:
                continue
            row = measure(shape, loss, batch, target)
            rows.append(row)
            ratio = f"{row['ratio']:6.1f} [{row['lowest']:.1f}, {row['highest']:.1f}]"
            speeds = f"{row['pyspiel']:11,.1f}{row['ours']:12,.0f}"
            missed = "  MISSED" if row["ratio"] < target else ""
            print(f"{shape:24}{loss:15}{batch:5}{speeds}  {ratio:22}{target:5}{row['plan_ms']:9.2f}", end="")
            print(f"{row['first_call_s']:14.2f}{missed}", flush=True)
    rounded = [{k: round(v, 2) if isinstance(v, float) else v for k, v in row.items()} for row in rows]
    print()
    show([row | versions for row in rounded], options.csv)
    return int(any(row["ratio"] < row["target"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
