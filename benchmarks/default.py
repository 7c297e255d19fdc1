"""CPU time of ``sc.sco`` with its defaults against the paper's SGD, as its authors wrote it (`pyspiel.sco`, C++).

    python benchmarks/default.py preflib-paper.zip [--sample 20] [--csv benchmarks/results/default.csv]

On a sample of each group of the paper's Table 2: ours from votes to ratings, theirs one run of SGD with the
settings of the paper's appendix, after the votes are loaded. A run of theirs takes hours on long votes, so its steps
are timed until they fill `SECONDS`, and the time is scaled up to all of them; `measured` says which part was run.
The last line adds the groups up to all 12,680 instances. Exits with 1 if ours is not 20 times faster there; up to ten
agents, where a run of either takes milliseconds, it is not asked to be.
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
from rows import arguments, show

import softcondorcet as sc
from softcondorcet.reproduce.preflib import sizes_of
from softcondorcet.reproduce.preflib_table import GROUPS, Group

SECONDS = 0.5  # CPU time to measure SGD for, at most one step more
TARGET = 20


def cpu(run: Callable[[], object]) -> float:
    """CPU seconds of a call."""
    began = time.process_time()
    run()
    return time.process_time() - began


def ours(profile: sc.Profile) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sc.NotConverged)
        return cpu(lambda: sc.sco(profile))


def theirs(profile: sc.Profile, group: Group) -> tuple[float, float]:
    """CPU seconds of a run, and the part of its steps that was measured."""
    settings = group.sgd()
    names = [str(k) for k in range(profile.n_agents)]
    votes = [
        (int(profile.weight[v]), [names[a] for a in profile.agent[profile.start[v] : profile.start[v + 1]]])
        for v in range(profile.n_votes)
    ]
    solver = pyspiel.sco.SoftCondorcetOptimizer(
        votes, rating_lower_bound=0.0, rating_upper_bound=100.0, batch_size=settings["batch"],
        temperature=settings["temperature"], rng_seed=0, alternative_names=names,
    )  # fmt: skip
    done, spent, more = 0, 0.0, 1
    while done < settings["steps"] and spent < SECONDS:
        more = min(more, settings["steps"] - done)
        spent += cpu(lambda more=more: solver.run_solver(more, settings["lr"]))  # type: ignore[misc]
        done, more = done + more, 2 * more
    return spent * settings["steps"] / done, done / settings["steps"]


def measure(group: Group, profiles: list[sc.Profile]) -> dict[str, Any]:
    """One row of the table: means, and the median ratio with its range."""
    short = [ours(profile) for profile in profiles]
    long, parts = zip(*(theirs(profile, group) for profile in profiles), strict=True)
    ratios = [there / here for here, there in zip(short, long, strict=True)]
    return {
        "m_from": group.low, "m_to": group.high if group.high < 10**9 else "", "instances": len(profiles),
        "sco_cpu_s": round(mean(short), 5), "sgd_cpu_s": round(mean(long), 3), "measured": round(median(parts), 5),
        "ratio": round(median(ratios)), "least": round(min(ratios)), "most": round(max(ratios)),
    }  # fmt: skip


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
        for key in ("sco_cpu_s", "sgd_cpu_s")
    )
    print(
        f"all 12,680: ours {here / 60:,.0f} minutes, SGD {there / 3600:,.0f} hours, {there / here:,.0f} times as long"
    )
    return 1 if there < TARGET * here else 0


if __name__ == "__main__":
    sys.exit(main())
