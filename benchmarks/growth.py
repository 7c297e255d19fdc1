"""How time and memory grow with votes, agents and pairs, over four decades: a log-log plot with fitted slopes.

    python benchmarks/growth.py [--csv benchmarks/results/growth.csv] [--plot benchmarks/results/growth.png] [--most 7]

Series, by what `size` counts: `count`, battles over 1,000 agents into pairs; `gradient`, one full gradient over votes
of 7, pairs of a twentieth as many agents; `fit`, the default sco of the same; `agents`, one full gradient where each
has 20 partners; `long`, one gradient of a single vote, by pairs that it does not visit; and Bradley-Terry of battles by
us and, where it is installed, by `evalica`. CPU seconds, median of three; `MB` is the most that arrays took from votes
to answer, by tracemalloc, in a run of its own. `fit` is seconds per step: the number of steps is that of the data,
not of its size. Slopes are fitted to all points of a series. Exits with 1 if that of count, gradient, fit or agents is
above 1.1.
"""

from __future__ import annotations

import csv
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from statistics import median
from typing import Any

import numpy as np
from rows import arguments, show

import softcondorcet as sc
from softcondorcet import synthetic
from softcondorcet.backends.cpu import PairwiseLoss, Stage
from softcondorcet.pairs import count_pairs
from softcondorcet.solvers.long_votes import LongVotesLoss

BOX, STAGE = (0.0, 100.0), Stage(1.0, 100 / 640)
LIMITED = ("count", "gradient", "fit", "agents")
MOST_SLOPE = 1.1
# Shapes of a series are a decade apart; fits of the largest ones would take minutes.
SMALLER = {"fit": 1, "evalica": 1, "ours, Bradley-Terry": 1}
Case = tuple[int, int, Callable[[], object]]


def battles(n: int, m: int = 1000) -> sc.Profile:
    rng = np.random.default_rng(n)
    a = rng.integers(0, m, n)
    b = (a + rng.integers(1, m, n)) % m
    return sc.Profile(
        tuple(map(str, range(m))), start=2 * np.arange(n + 1), agent=np.stack([a, b], 1).ravel(),
        tier=np.tile([0, 1], n), weight=np.ones(n),
    )  # fmt: skip


def partners(m: int, each: int = 20) -> sc.Pairs:
    """Every agent with `each` others of like number, one battle won by either side."""
    left = np.repeat(np.arange(m), each // 2)
    step = np.tile(np.arange(1, each // 2 + 1), m)
    right = left + step
    inside = right < m
    left, right = left[inside].astype(np.int32), right[inside].astype(np.int32)
    won = (np.random.default_rng(m).random(len(left)) < 0.6).astype(float)
    return sc.Pairs(tuple(map(str, range(m))), left, right, won, 1 - won, np.zeros(len(left)))


def ratings(m: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(*BOX, m)


def gradient_of(pairs: sc.Pairs) -> Callable[[], object]:
    loss, at = PairwiseLoss(pairs, BOX, ranges=[(0, pairs.n_agents)]), ratings(pairs.n_agents)
    return lambda: loss.gradient(at, STAGE)


def long_vote(k: int) -> Callable[[], object]:
    order = np.random.default_rng(k).permutation(k)
    names = tuple(map(str, range(k)))
    vote = sc.Profile(names, start=np.array([0, k]), agent=order, tier=np.arange(k), weight=np.ones(1))
    loss, at = LongVotesLoss(vote, BOX, cores=1), ratings(k)
    return lambda: loss.gradient(at, STAGE)


def as_columns(profile: sc.Profile) -> dict[str, list[str]]:
    names = np.array(profile.agents)[profile.agent.reshape(-1, 2)]
    return {"model_a": names[:, 0].tolist(), "model_b": names[:, 1].tolist(), "winner": ["model_a"] * profile.n_votes}


def by_evalica(columns: dict[str, list[str]]) -> object:
    import evalica

    return evalica.bradley_terry(
        columns["model_a"], columns["model_b"], [evalica.Winner.X] * len(columns["winner"])
    ).scores


def cases(series: str, size: int) -> Case:
    """Number of pairs, the size on the x axis, and what is timed."""
    if series == "count":
        profile = battles(size)
        return len(profile.pairs()), size, lambda: count_pairs(profile)
    if series in ("gradient", "fit"):
        profile, _ = synthetic.plackett_luce(max(size // 21, 2), agents=max(size // 20, 10), size=7, seed=1)
        pairs = profile.pairs()
        return len(pairs), len(pairs), gradient_of(pairs) if series == "gradient" else lambda: sc.sco(pairs).steps
    if series == "agents":
        pairs = partners(size // 10)
        return len(pairs), size // 10, gradient_of(pairs)
    if series == "long":
        k = int((2 * size) ** 0.5)
        return k * (k - 1) // 2, k * (k - 1) // 2, long_vote(k)
    columns = as_columns(battles(size))
    if series == "evalica":
        return 0, size, lambda: by_evalica(columns)
    return 0, size, lambda: sc.bradley_terry(sc.read(columns))


def seconds(work: Callable[[], object]) -> float:
    """CPU seconds, the median of three; of a step, where the work says how many it took."""
    steps = work()
    spent = []
    for _ in range(3):
        began, calls = time.process_time(), 0
        while not calls or time.process_time() - began < 0.02:
            work()
            calls += 1
        spent.append((time.process_time() - began) / calls)
    return median(spent) / (steps if isinstance(steps, int) else 1)


def memory(series: str, size: int) -> float:
    """MB of arrays at most, from votes to answer."""
    tracemalloc.start()
    cases(series, size)[2]()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def sizes(series: str, most: int) -> Iterator[int]:
    last = most - SMALLER.get(series, 0)
    yield from (10**k for k in range(last - 4, last + 1))


def slope(rows: list[dict[str, Any]]) -> float:
    x, y = np.log10([(row["size"], row["cpu_s"]) for row in rows]).T
    return float(np.polyfit(x, y, 1)[0])


# What the size of a series counts: a column of panels each.
COUNTED = {
    "battles": ("count", "ours, Bradley-Terry", "evalica"),
    "pairs": ("gradient", "fit", "long"),
    "agents": ("agents",),
}


def plot(found: dict[str, list[dict[str, Any]]], path: str) -> None:
    """Time above memory, a column for each thing that sizes count."""
    from experiments.figures import figure, look

    made, axes = figure(11, 7, nrows=2, ncols=3, sharex="col", sharey="row")
    looks = {series: look(number) for number, series in enumerate(found)}
    for column, (unit, wanted) in zip(axes.T, COUNTED.items(), strict=True):
        for series in (name for name in wanted if name in found):
            rows = found[series]
            x = [row["size"] for row in rows]
            label = f"{series}: slope {rows[0]['slope']}"
            column[0].plot(x, [row["cpu_s"] for row in rows], label=label, **looks[series])
            column[1].plot(x, [max(row["MB"], 1e-3) for row in rows], **looks[series])
        for axis in column:
            axis.set(xscale="log", yscale="log")
        column[0].legend(fontsize="small", frameon=False)
        column[1].set_xlabel(unit)
    axes[0, 0].set_ylabel("CPU seconds")
    axes[1, 0].set_ylabel("most memory of arrays, MB")
    made.savefig(path, dpi=110)


def measured(path: str) -> dict[str, list[dict[str, Any]]]:
    """The rows of an earlier run, by series."""
    found: dict[str, list[dict[str, Any]]] = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            numbers = {name: float(value) for name, value in row.items() if name != "series"}
            found.setdefault(row["series"], []).append({"series": row["series"], **numbers})
    return found


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--plot", metavar="FILE", help="draw the rows into FILE")
    parser.add_argument("--most", type=int, default=7, help="the largest size is 10^MOST")
    parser.add_argument("--measured", metavar="CSV", help="draw the rows of an earlier run, and measure nothing")
    options = parser.parse_args()
    if options.measured:
        plot(measured(options.measured), options.plot)
        return 0
    every = ["count", "gradient", "fit", "agents", "long", "ours, Bradley-Terry"]
    found: dict[str, list[dict[str, Any]]] = {}
    for series in every + (["evalica"] if find_spec("evalica") else []):
        rows = found[series] = []
        for size in sizes(series, options.most):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", sc.NotConverged)
                pairs, x, work = cases(series, size)
                cpu = seconds(work)
                del work
                peak = memory(series, size)
            rows.append(
                {"series": series, "size": x, "pairs": pairs, "cpu_s": float(f"{cpu:.3g}"), "MB": round(peak, 2)}
            )
        for row in rows:
            row["slope"] = round(slope(rows), 2)
    show([row for rows in found.values() for row in rows], options.csv)
    if options.plot:
        plot(found, options.plot)
    missed = [series for series in LIMITED if not found[series][0]["slope"] <= MOST_SLOPE]
    print(f"missed: {', '.join(missed) or 'nothing'}")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
