"""The warm-up: Elo against SCO where the agent that wins most is not the one that beats all others (section 4.1).

2 votes A > B > C and 3 votes C > A > B. C beats A and B three to two, but A has the higher win rate. T_conv, of the
appendix, is the number of steps after which the order is C > A > B for good: for plain gradient descent from equal
ratings, and for SGD with batches of two, where the paper's mean of three seeds is held against means of three of ours.
Beside it stands after how many steps SGD has that order for the first time, which may be lost again.

The paper's values of gradient descent are two or three steps below ours, and one is 20 above: at most 2 %, but for 28
steps, of which 2 % is half a step. The rows "gd, single" say why: computed as the authors' code does by default, in
single precision from 500, the middle of a box of 1000 (the paper speaks of 100), it takes two steps more than the
paper says in all six. So it counts two fewer, and its box was the wider one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from statistics import mean
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from experiments.figures import figure, look
from experiments.study import Claim, Files, Job, Row, Scale, Study
from softcondorcet.arrays import Floats
from softcondorcet.methods.registry import rank
from softcondorcet.profile import Profile

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BEST = ["C", "A", "B"]
# Rate and temperature -> T_conv of gradient descent, and of SGD (mean of three seeds): the paper's appendix.
PAPER = {
    (0.01, 0.5): (289, 17.0), (0.01, 1.0): (1158, 1003.33), (0.01, 2.0): (4661, 4778.33),
    (0.1, 0.5): (28, 25.0), (0.1, 1.0): (115, 60.66), (0.1, 2.0): (463, 401.66),
}  # fmt: skip
# What each method puts first, as the paper says; maximal lotteries and others are not in it.
FIRST = {"bradley_terry": "A", "elo": None, "sco": "C", "sigmoidal_program": "C", "fenchel_young": "A", "kemeny": "C",
         "borda": None, "copeland": None}  # fmt: skip
_SEEDS: dict[Scale, int] = {"tiny": 5, "quick": 100, "paper": 1000}
# Where the authors' code starts: the middle of its default box, in open_spiel's python/voting.
_AUTHORS_START = 500.0
# By as much its steps exceed the paper's in all six: a difference in counting, chosen after seeing it.
_UNCOUNTED = 2
_MISPRINT = "; 17 is a seventeenth of what gradient descent takes at that rate, and less than SGD at ten times the rate"


def example() -> Profile:
    return Profile.from_rankings([["A", "B", "C"], ["C", "A", "B"]], weights=[2, 3])


def jobs(scale: Scale, files: Files) -> list[Job]:
    kinds = [
        {"method": "sgd", "batch": 2, "seeds": _SEEDS[scale]},
        {"method": "gd", "batch": "all", "seeds": 1},
        {"method": "gd, single", "batch": "all", "seeds": 1},
    ]
    runs = [{**kind, "lr": rate, "temperature": heat} for kind in kinds for rate, heat in PAPER]
    return [*runs, *({"method": name} for name in FIRST)]


def work(job: Job, files: Files) -> list[Row]:
    profile = example()
    if "lr" not in job:
        board = rank(profile, job["method"])
        return [{"method": job["method"], "order": " > ".join(board.order)}]
    if job["method"] == "gd, single":
        return [{**job, "steps": [steps_in_single_precision(profile, job["lr"], job["temperature"])]}]
    options = {key: job[key] for key in ("lr", "temperature", "batch")}
    found = {"steps": [steps_to_best(profile, options, seed) for seed in range(job["seeds"])]}
    if job["method"] == "sgd":
        found["first"] = [first_hit(profile, options, seed) for seed in range(job["seeds"])]
    return [{**job, **found}]


def steps_to_best(profile: Profile, options: Mapping[str, Any], seed: int) -> int:
    """Steps after which the order is C > A > B, strictly, for good: one more than the last with another order."""
    other = 0

    def watch(step: int, _steps: int, ratings: Floats) -> None:
        nonlocal other
        if not is_best(profile, ratings):
            other = step

    enough = enough_steps(options["lr"], options["temperature"])
    every = 1 if options["batch"] == "all" else max(1, enough // 375)  # runs that differ by chance: some 300 looks
    steps = max(4 * enough, 2_000)
    # For good: for as long again. The same seed takes the same steps again, so a longer run begins with the shorter.
    while True:
        rank(profile, "sco", scale="box", solver="sgd", **options, seed=seed, steps=steps, watch=watch, every=every)
        if 2 * (other + every) <= steps:
            return other + every
        steps *= 2


class _Hit(Exception):  # noqa: N818
    """The order is there."""


def first_hit(profile: Profile, options: Mapping[str, Any], seed: int) -> int:
    """The step after which the order is C > A > B, strictly, for the first time: it may change again."""
    hit = steps = enough_steps(options["lr"], options["temperature"])

    def watch(step: int, _steps: int, ratings: Floats) -> None:
        nonlocal hit
        if is_best(profile, ratings):
            hit = step
            raise _Hit

    with suppress(_Hit):
        rank(profile, "sco", solver="sgd", **options, seed=seed, steps=steps, watch=watch, every=1)
    return hit


def is_best(profile: Profile, ratings: NDArray[np.floating[Any]]) -> bool:
    first, second, third = (ratings[profile.agents.index(name)] for name in BEST)
    return bool(first > second > third)


def enough_steps(lr: float, temperature: float) -> int:
    """Gradient descent takes about 12 temperature^2 / rate."""
    return round(15 * temperature**2 / lr)


def steps_in_single_precision(profile: Profile, lr: float, temperature: float) -> int:
    """Steps of gradient descent as the authors' code computes: in four bytes a number, from 500."""
    wins, votes = profile.pairs().dense()[0].astype(np.float32), float(profile.weight.sum())
    ratings = np.full(profile.n_agents, _AUTHORS_START, np.float32)
    other = 0
    for step in range(1, enough_steps(lr, temperature) + 1):
        p = 1 / (1 + np.exp((ratings[:, None] - ratings) / temperature))
        pull = wins * p * (1 - p) / temperature
        ratings += lr * (pull.sum(axis=1) - pull.sum(axis=0)) / votes
        if not is_best(profile, ratings):
            other = step
    return other + 1


def table(rows: Sequence[Row]) -> list[Row]:
    kept = []
    for row in rows:
        if "steps" not in row:
            kept.append({"method": row["method"], "order": row["order"]})
            continue
        low, high = _range_of_means(row["steps"], 3 if row["method"] == "sgd" else 1)
        paper = PAPER[row["lr"], row["temperature"]][row["method"] == "sgd"]
        line = {"method": row["method"], "lr": row["lr"], "temperature": row["temperature"], "seeds": row["seeds"],
                "steps": round(mean(row["steps"]), 2), "low": low, "high": high, "paper": paper}  # fmt: skip
        if "first" in row:
            first_low, first_high = _range_of_means(row["first"], 3)
            line |= {"first": round(mean(row["first"]), 2), "first_low": first_low, "first_high": first_high}
        kept.append(line)
    return kept


def _range_of_means(steps: list[int], size: int) -> tuple[float, float]:
    """Where 95 % of means of `size` runs lie."""
    drawn = np.random.default_rng(0).choice(steps, (4000, size)).mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return round(float(low), 2), round(float(high), 2)


def claims(rows: Sequence[Row]) -> list[Claim]:
    found = []
    for row in rows:
        where = f"rate {row.get('lr')}, temperature {row.get('temperature')}"
        if row["method"] == "gd":
            what, within = f"T_conv of gradient descent, {where}", 0.02 * row["paper"]
            found.append(Claim.near(what, row["paper"], row["steps"], within, "asked: 2 %"))
        elif row["method"] == "gd, single":
            what = f"the same in single precision from {_AUTHORS_START:g}, {_UNCOUNTED} steps not counted, {where}"
            why = "as the authors' code computes by default; the 2 was chosen after seeing all six"
            found.append(Claim.near(what, row["paper"], row["steps"] - _UNCOUNTED, 0.0, why))
        elif row["method"] == "sgd":
            inside = row["low"] <= row["paper"] <= row["high"] if row["seeds"] >= 100 else None
            why = f"95 % of means of 3 seeds: {row['low']:g} to {row['high']:g}"
            why += "; too few seeds to tell" if inside is None else ""
            why += f"; that order is there for the first time after {row['first']:g}"
            why += f" ({row['first_low']:g} to {row['first_high']:g})"
            why += _MISPRINT if row["paper"] == 17.0 else ""
            difference = f"{row['steps'] - row['paper']:+.2f}"
            found.append(
                Claim(f"T_conv of SGD, {where}", f"{row['paper']:g}", f"{row['steps']:g}", inside, why, difference)
            )
        elif FIRST.get(row["method"]):
            first = FIRST[row["method"]]
            found.append(Claim(f"{row['method']} puts first", str(first), row["order"][0], row["order"][0] == first))
    return found


def draw(rows: Sequence[Row]) -> dict[str, Figure]:
    """Steps of gradient descent and of SGD; the paper's a little to the right, where no whisker hides them."""
    made, axes = figure(8, 4.4, ncols=2, sharey=True)
    seeds = max(row["seeds"] for row in rows if row["method"] == "sgd")
    titles = (
        "gradient descent\n(the same in every run)",
        f"SGD, batches of 2: mean of {seeds:,} runs\n(whiskers: 95 % of means of 3; paper: mean of 3)",
    )
    for axis, method, title in zip(axes, ("gd", "sgd"), titles, strict=True):
        for number, rate in enumerate((0.01, 0.1)):
            picked = [row for row in rows if row["method"] == method and row["lr"] == rate]
            x = [row["temperature"] for row in picked]
            half = [[row["steps"] - row["low"] for row in picked], [row["high"] - row["steps"] for row in picked]]
            axis.errorbar(x, [row["steps"] for row in picked], yerr=half, label=f"ours, rate {rate}", capsize=3, **look(number))  # noqa: E501  # fmt: skip
            hollow = {**look(number), "linestyle": "none", "markerfacecolor": "none", "markersize": 9}
            axis.plot(
                [1.08 * heat for heat in x],
                [row["paper"] for row in picked],
                label=f"paper, rate {rate} (set aside)",
                **hollow,
            )
        axis.set_title(title, fontsize="medium")
        axis.set(xlabel="temperature", yscale="log", xscale="log")
        axis.set_xticks([0.5, 1, 2], ["0.5", "1", "2"])
        axis.yaxis.set_major_formatter("{x:,.0f}")
        axis.minorticks_off()
    axes[0].set_ylabel("T_conv: steps until the order is C > A > B")
    axes[0].legend(fontsize="small")
    return {"": made}


STUDY = Study("warmup", "Warm-up and table of T_conv: Elo against SCO on five votes", jobs, work, table, claims, draw)
