"""CPU time of ``sc.sco`` with its defaults against the paper's SGD, as its authors wrote it: in Python, and in C++.

    python benchmarks/default.py preflib-paper.zip [--sample 20] [--csv benchmarks/results/default.csv]

On a sample of each group of the paper's Table 2: ours from votes to ratings, theirs one run of SGD with the
settings of the paper's appendix, after the votes are loaded. The paper's results come from their Python, as it says
itself; `pyspiel.sco` is the C++ they wrote later. A run of either takes hours on long votes, so its steps are timed
until they fill `SECONDS`, and the time is scaled up to all of them; `measured` says which part was run. The Python is
left out above 500 agents, where a single step can take minutes. The last line adds the groups up to all 12,680
instances. Exits with 1 if ours is not 20 times faster than the Python in each group, and than the C++ in all.
"""

from __future__ import annotations

import random
import sys
import time
import warnings
import zipfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from statistics import mean, median
from typing import Any

import pyspiel
from open_spiel.python.voting import base, soft_condorcet_optimization
from rows import arguments, show

import softcondorcet as sc
from experiments.preflib import sizes_of
from experiments.preflib_table import GROUPS, Group

SECONDS = 0.5  # CPU time to measure SGD for, at most one step more
TARGET = 20
KEYS = ("cpu_s", "measured", "ratio", "least", "most")


def cpu(run: Callable[[], object]) -> float:
    """CPU seconds of a call."""
    began = time.process_time()
    run()
    return time.process_time() - began


def ours(profile: sc.Profile) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sc.NotConverged)
        return cpu(lambda: sc.sco(profile))


def in_cpp(profile: sc.Profile, settings: dict[str, Any]) -> Any:
    """A solver of theirs, the votes loaded."""
    low, high = settings["bounds"]
    return pyspiel.sco.SoftCondorcetOptimizer(
        votes_of(profile), rating_lower_bound=low, rating_upper_bound=high, batch_size=settings["batch"],
        temperature=settings["temperature"], rng_seed=0, alternative_names=names_of(profile),
    )  # fmt: skip


def in_python(profile: sc.Profile, settings: dict[str, Any]) -> Any:
    """The same in the Python that made the paper's results."""
    low, high = settings["bounds"]
    votes = base.PreferenceProfile(alternatives=names_of(profile))
    for weight, vote in votes_of(profile):
        votes.add_vote(vote, weight)
    return soft_condorcet_optimization.SoftCondorcetOptimizer(
        votes, batch_size=settings["batch"], rating_lower_bound=low, rating_upper_bound=high,
        temperature=settings["temperature"],
    )  # fmt: skip


def names_of(profile: sc.Profile) -> list[str]:
    return [str(k) for k in range(profile.n_agents)]


def votes_of(profile: sc.Profile) -> list[tuple[int, list[str]]]:
    """Weight and order of each vote; some files list orders that nobody gave, which their Python refuses."""
    names, ends = names_of(profile), zip(profile.start[:-1], profile.start[1:], strict=True)
    orders = [[names[a] for a in profile.agent[first:last]] for first, last in ends]
    return [(weight, vote) for weight, vote in zip(profile.weight.astype(int).tolist(), orders, strict=True) if weight]


def run_of(solver: Any, settings: dict[str, Any]) -> tuple[float, float]:
    """CPU seconds of a run, and the part of its steps that was measured."""
    done, spent, more = 0, 0.0, 1
    while done < settings["steps"] and spent < SECONDS:
        more = min(more, settings["steps"] - done)
        spent += cpu(lambda more=more: solver.run_solver(more, settings["lr"]))  # type: ignore[misc]
        done, more = done + more, 2 * more
    return spent * settings["steps"] / done, done / settings["steps"]


SOLVERS = {"python": in_python, "cpp": in_cpp}


def measure(group: Group, profiles: list[sc.Profile]) -> dict[str, Any]:
    """One row of the table: means, and the median ratios with their range."""
    settings, short = group.sgd(), [ours(profile) for profile in profiles]
    row: dict[str, Any] = {
        "m_from": group.low, "m_to": group.high if group.high < 10**9 else "", "instances": len(profiles),
        "sco_cpu_s": round(mean(short), 5),
    }  # fmt: skip
    for name, made in SOLVERS.items():
        if made is in_python and group.low > 500:
            row |= dict.fromkeys((f"{name}_{key}" for key in KEYS), "")
            continue
        long, parts = zip(*(run_of(made(profile, settings), settings) for profile in profiles), strict=True)
        ratios = [there / here for here, there in zip(short, long, strict=True)]
        found = (round(mean(long), 3), round(median(parts), 5), *(round(f(ratios)) for f in (median, min, max)))
        row |= {f"{name}_{key}": value for key, value in zip(KEYS, found, strict=True)}
    return row


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("archive")
    parser.add_argument("--sample", type=int, default=20, help="instances of each group")
    options = parser.parse_args()
    print(f"open_spiel {version('open_spiel')}; CPU seconds of an instance, and how many times ours theirs is")
    sizes, table = sizes_of(Path(options.archive)), []
    ours(sc.synthetic.mallows(30, agents=5))  # so that no instance is charged for compiling
    with zipfile.ZipFile(options.archive) as archive:
        for group in GROUPS:
            own = sorted(name for name, (m, _) in sizes.items() if group.low <= m <= group.high)
            drawn = random.Random(0).sample(own, min(options.sample, len(own)))
            table.append(measure(group, [sc.read(archive.open(name)) for name in drawn]))
    show(table, options.csv)
    here, there = (
        sum(group.size * row[key] for group, row in zip(GROUPS, table, strict=True))
        for key in ("sco_cpu_s", "cpp_cpu_s")
    )
    print(f"all 12,680: ours {here / 60:,.0f} minutes, SGD in C++ {there / 3600:,.0f} hours: {there / here:,.0f} times")
    missed = [row["m_from"] for row in table if row["python_ratio"] != "" and row["python_ratio"] < TARGET]
    return 1 if missed or there < TARGET * here else 0


if __name__ == "__main__":
    sys.exit(main())
