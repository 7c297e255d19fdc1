"""SGD as approximate Bayesian inference: a histogram of rankings (the paper's appendix on the posterior).

Ten agents with the true skills that the paper prints, contests of four, matched by skill. Each seed draws contests
anew. Agents are numbered from 0, as in the paper's figure. The paper calls 2 and 6 (114.68 and 114.25) the closest; of
the skills it prints, 1 and 9 (106.00 and 106.16) are closer still.

The paper does not say how many contests there are, nor its temperature and batch. At temperature 1 the loss is flat
where ten agents fill the box: the rate that matches the posterior is then many times the one at which steps overshoot,
and samples at the latter drift for as long as one looks. So the temperature here is 5, with the rate of the paper's SGD
scaled by its square, and batches of one vote, which ask for the smallest rate: larger ones give the same samples where
their rate can be kept. (The authors' code moves each direction by the inverse of its own noise instead of by one
rate.) `capped` says where it could not, `drift` how far the mean of the first half of the samples is
from that of the second, in standard deviations: a tenth or so is chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import mean
from typing import TYPE_CHECKING

import numpy as np

from experiments.figures import COLOURS, figure
from experiments.intervals import below, difference, shown
from experiments.study import Claim, Files, Job, Row, Scale, Study
from softcondorcet import synthetic
from softcondorcet.arrays import Floats
from softcondorcet.metrics import kendall_tau_distance
from softcondorcet.uncertainty.posterior import posterior

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SKILLS = (126.46, 106.00, 114.68, 133.61, 128.01, 85.34, 114.25, 97.73, 98.45, 106.16)
CLOSEST = (2, 6)
CLOSER = "1 9"
CONTESTS = (50, 200, 500)
_HEAT, _BATCH, _BURN, _SHOWN = 5.0, 1, 20_000, 10
_SEEDS: dict[Scale, int] = {"tiny": 2, "quick": 20, "paper": 100}
_SAMPLES: dict[Scale, int] = {"tiny": 200, "quick": 1000, "paper": 5000}
# So many draws of contests tell one share of draws from another.
_ENOUGH = 20


def jobs(scale: Scale, files: Files) -> list[Job]:
    return [
        {"contests": contests, "seed": seed, "samples": _SAMPLES[scale]}
        for contests in reversed(CONTESTS)
        for seed in range(_SEEDS[scale])
    ]


def work(job: Job, files: Files) -> list[Row]:
    votes, truth = synthetic.tournament(job["contests"], matching="skill", skills=SKILLS, seed=job["seed"])
    found = posterior(
        votes, n=job["samples"], temperature=_HEAT, lr=0.01 * _HEAT**2, batch=_BATCH, burn=_BURN, seed=job["seed"]
    )
    names = list(truth)
    first, second = (names[k] for k in CLOSEST)
    true = sorted(truth, key=truth.__getitem__, reverse=True)

    def digits(order: Sequence[str]) -> str:
        return " ".join(str(names.index(name)) for name in order)

    facts = {"contests": job["contests"], "seed": job["seed"], "true": digits(true), "final": digits(found.board.order),
             "final_distance": kendall_tau_distance(found.board.order, true), "above": found.above(first, second),
             "least_sure": _least_sure(found.above_matrix, [names.index(name) for name in true]),
             "capped": bool(found.warnings), "drift": round(_drift(found.samples), 3)}  # fmt: skip
    return [
        {**facts, "place": place, "order": digits(order), "share": share, "distance": kendall_tau_distance(order, true)}
        for place, (order, share) in enumerate(found.orders(_SHOWN), 1)
    ]


def _least_sure(above: np.ndarray, order: list[int]) -> str:
    """The neighbours in the true order that the samples are least sure about."""
    unsure = [abs(float(above[a, b]) - 0.5) for a, b in pairwise(order)]
    at = int(np.argmin(unsure))
    return f"{min(order[at : at + 2])} {max(order[at : at + 2])}"


def _drift(samples: Floats) -> float:
    """How far the mean moves from the first half to the second, in standard deviations, of the agent it moves most."""
    half = len(samples) // 2
    moved = np.abs(samples[:half].mean(axis=0) - samples[half:].mean(axis=0))
    return float((moved / np.maximum(samples.std(axis=0), 1e-9)).max())


def table(rows: Sequence[Row]) -> list[Row]:
    return list(rows)


def claims(rows: Sequence[Row]) -> list[Claim]:
    return [claim for contests in CONTESTS for claim in _claims([row for row in rows if row["contests"] == contests])]


def _claims(rows: Sequence[Row]) -> list[Claim]:
    """Of the draws of so many contests. Few draws agree and disagree with nothing."""
    modes = [row for row in rows if row["place"] == 1]
    where, enough = f"{modes[0]['contests']} contests", len(modes) >= _ENOUGH
    few = "" if enough else f"{len(modes)} draws are too few; "
    hit = mean(row["order"] == row["true"] for row in modes)
    final = mean(row["final"] == row["true"] for row in modes)
    unsure = mean(row["least_sure"] == f"{CLOSEST[0]} {CLOSEST[1]}" for row in modes)
    closer = mean(row["least_sure"] == CLOSER for row in modes)
    nearer = difference("over", [row["distance"] for row in modes], [row["final_distance"] for row in modes])
    capped, drift = mean(row["capped"] for row in modes), mean(row["drift"] for row in modes)
    sampled = (f"the matching rate overshoots in {capped:.0%} of draws; from one half of the samples to the other "
               f"ratings move by {drift:.2f} standard deviations")  # fmt: skip
    return [
        Claim(f"{where}: the most frequent ranking is the true one", "yes", f"in {hit:.0%} of {len(modes)} draws", None,
              f"the paper shows one draw of contests; the last iterate is the true one in {final:.0%}; {sampled}"),
        Claim(f"{where}: wrong pairs in it less those in the last iterate", "below 0", shown(nearer, "over"),
              below(nearer, "over") if enough else None, few or "mean over the draws with its 95 % interval"),
        Claim(f"{where}: the neighbours it is least sure about", "2 6", f"2 6 in {unsure:.0%} of draws", None,
              f"the paper shows one draw; 1 and 9, which are closer in skill than 2 and 6, in {closer:.0%}"),
    ]  # fmt: skip


def draw(rows: Sequence[Row]) -> dict[str, Figure]:
    """The rankings of the first draw of most contests; the true one in bold, the last iterate with an asterisk."""
    drawn = [row for row in rows if row["contests"] == max(CONTESTS) and row["seed"] == rows[0]["seed"]]
    if all(row["order"] != row["true"] for row in drawn):
        drawn = [*drawn, {**drawn[0], "order": drawn[0]["true"], "share": 0.0}]  # not among the most frequent
    made, axis = figure(8, 4.8)
    labels = [row["order"] + ("  *" if row["order"] == row["final"] else "   ") for row in drawn]
    bars = axis.barh(range(len(drawn)), [row["share"] for row in drawn], color=COLOURS[0])
    axis.bar_label(bars, [f"{row['share']:.3f}" for row in drawn], padding=3, fontsize="small")
    axis.set_yticks(range(len(drawn)), labels, family="monospace")
    for text, row in zip(axis.get_yticklabels(), drawn, strict=True):
        text.set_fontweight("bold" if row["order"] == row["true"] else "normal")
    axis.invert_yaxis()
    axis.grid(axis="y", visible=False)
    axis.set(xlabel="share of samples", ylabel="ranking, best agent first")
    axis.set_title(
        f"Rankings sampled by SGD, one draw of {max(CONTESTS)} contests\nbold: the true one;  *: the last iterate"
    )
    axis.margins(x=0.12)
    return {"": made}


STUDY = Study(
    "posterior", "SGD as approximate Bayesian inference: rankings of ten agents", jobs, work, table, claims, draw
)
