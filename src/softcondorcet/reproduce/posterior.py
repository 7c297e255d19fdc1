"""SGD as approximate Bayesian inference: a histogram of rankings (the paper's appendix on the posterior).

Ten agents with the true skills that the paper prints, contests of four, matched by skill; how many contests, the paper
does not say: 50 here. Each seed draws contests anew. Agents are numbered from 0, as in the paper's figure. The paper
calls 2 and 6 (114.68 and 114.25) the closest; of the skills it prints, 1 and 9 (106.00 and 106.16) are closer still.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import mean
from typing import TYPE_CHECKING

import numpy as np

from softcondorcet import synthetic
from softcondorcet.metrics import kendall_tau_distance
from softcondorcet.reproduce.figures import COLOURS, figure
from softcondorcet.reproduce.study import Claim, Files, Job, Row, Scale, Study
from softcondorcet.sgd_posterior import posterior

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SKILLS = (126.46, 106.00, 114.68, 133.61, 128.01, 85.34, 114.25, 97.73, 98.45, 106.16)
CLOSEST = (2, 6)
CLOSER = "1 9"
_CONTESTS, _SHOWN = 50, 10
_SEEDS: dict[Scale, int] = {"tiny": 2, "quick": 20, "paper": 100}
_SAMPLES: dict[Scale, int] = {"tiny": 200, "quick": 1000, "paper": 5000}


def jobs(scale: Scale, files: Files) -> list[Job]:
    return [{"seed": seed, "samples": _SAMPLES[scale]} for seed in range(_SEEDS[scale])]


def work(job: Job, files: Files) -> list[Row]:
    votes, truth = synthetic.tournament(_CONTESTS, matching="skill", skills=SKILLS, seed=job["seed"])
    found = posterior(votes, n=job["samples"], seed=job["seed"])
    names = list(truth)
    first, second = (names[k] for k in CLOSEST)
    true = sorted(truth, key=truth.__getitem__, reverse=True)

    def digits(order: Sequence[str]) -> str:
        return " ".join(str(names.index(name)) for name in order)

    facts = {"seed": job["seed"], "true": digits(true), "final": digits(found.board.order),
             "final_distance": kendall_tau_distance(found.board.order, true), "above": found.above(first, second),
             "least_sure": _least_sure(found.above_matrix, [names.index(name) for name in true])}  # fmt: skip
    return [
        {**facts, "place": place, "order": digits(order), "share": share, "distance": kendall_tau_distance(order, true)}
        for place, (order, share) in enumerate(found.orders(_SHOWN), 1)
    ]


def _least_sure(above: np.ndarray, order: list[int]) -> str:
    """The neighbours in the true order that the samples are least sure about."""
    unsure = [abs(float(above[a, b]) - 0.5) for a, b in pairwise(order)]
    at = int(np.argmin(unsure))
    return f"{min(order[at : at + 2])} {max(order[at : at + 2])}"


def table(rows: Sequence[Row]) -> list[Row]:
    return list(rows)


def claims(rows: Sequence[Row]) -> list[Claim]:
    modes = [row for row in rows if row["place"] == 1]
    hit = mean(row["order"] == row["true"] for row in modes)
    final = mean(row["final"] == row["true"] for row in modes)
    unsure = mean(row["least_sure"] == f"{CLOSEST[0]} {CLOSEST[1]}" for row in modes)
    closer = mean(row["least_sure"] == CLOSER for row in modes)
    mode_distance, final_distance = mean(r["distance"] for r in modes), mean(r["final_distance"] for r in modes)
    return [
        Claim("the most frequent ranking is the true one", "yes", f"in {hit:.0%} of {len(modes)} draws", None,
              "the paper shows one draw of contests; the order of 1 and 9 alone is close to a coin toss"),
        Claim("the most frequent ranking is nearer to the truth than the last one", "yes",
              f"{mode_distance:.2f} against {final_distance:.2f} pairs", mode_distance <= final_distance,
              f"the last one is the true one in {final:.0%}"),
        Claim("the neighbours it is least sure about", "2 6", f"2 6 or 1 9 in {unsure + closer:.0%} of draws",
              unsure + closer >= 0.5, f"1 and 9 are closer in skill than 2 and 6: least sure in {closer:.0%}"),
    ]  # fmt: skip


def draw(rows: Sequence[Row]) -> dict[str, Figure]:
    """The rankings of the first draw; the true one in bold, the last iterate with an asterisk."""
    shown = [row for row in rows if row["seed"] == rows[0]["seed"]]
    made, axis = figure(8, 4.6)
    labels = [row["order"] + ("  *" if row["order"] == row["final"] else "") for row in shown]
    bars = axis.barh(range(len(shown)), [row["share"] for row in shown], color=COLOURS[0])
    axis.bar_label(bars, [f"{row['share']:.3f}" for row in shown], padding=3, fontsize="small")
    axis.set_yticks(range(len(shown)), labels, family="monospace")
    for text, row in zip(axis.get_yticklabels(), shown, strict=True):
        text.set_fontweight("bold" if row["order"] == row["true"] else "normal")
    axis.invert_yaxis()
    axis.grid(axis="y", visible=False)
    true = next(row["true"] for row in rows)
    axis.set(xlabel="share of samples", title=f"Rankings sampled by SGD (*: the last iterate); the true one is {true}")
    axis.margins(x=0.12)
    return {"": made}


STUDY = Study(
    "posterior", "SGD as approximate Bayesian inference: rankings of ten agents", jobs, work, table, claims, draw
)
