"""The two losses over a plane of ratings, with their minimisers in a box (the figure of the paper's section 5).

Three agents and the five votes of the warm-up. Both losses stay the same when a constant is added to all ratings, so
ratings that sum to 0 show all there is: a plane, drawn with the three agents at 120 degrees from each other. The
sigmoid loss of a comparison a over b is s(r_b - r_a). The Fenchel-Young loss is log(1 + exp(r_b - r_a)): the gradient
of an agent is its mean place in the perturbed order less that in the vote, the difference of two Gumbel variables is
logistic, so the mean place is a sum of s(r_a - r_b) over the others. That is the loss of Bradley-Terry.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from experiments.figures import figure
from experiments.study import Claim, Files, Job, Row, Scale, Study
from experiments.warmup import example
from softcondorcet.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BOX = 1.5
LOSSES = {"fenchel_young": "A", "sigmoid": "C"}
_GRID: dict[Scale, int] = {"tiny": 13, "quick": 61, "paper": 61}  # finer ones draw the same contours
# An orthonormal basis of the plane where ratings sum to 0.
_ACROSS, _UP = np.array([[-1.0, 1.0, 0.0], [-1.0, -1.0, 2.0]]) / np.sqrt([[2.0], [6.0]])


def loss_of(name: str, ratings: Floats) -> Floats:
    """Mean loss of a vote at each row of `ratings` (of A, B, C)."""
    pairs, total = example().pairs(), np.zeros(len(ratings))

    def kind(behind: Floats) -> Floats:
        return 1 / (1 + np.exp(-behind)) if name == "sigmoid" else np.logaddexp(0.0, behind)

    for a, b, wins, losses in zip(pairs.left, pairs.right, pairs.wins, pairs.losses, strict=True):
        behind = ratings[:, b] - ratings[:, a]
        total += wins * kind(behind) + losses * kind(-behind)
    mean: Floats = total / example().weight.sum()
    return mean


def minimiser(name: str) -> Floats:
    """The best ratings in the box, moved to sum 0: a grid of step 0.1 refined three times around its best point."""
    centre, width = np.zeros(3), BOX
    for _ in range(4):
        axes = [np.clip(np.linspace(c - width, c + width, 31), -BOX, BOX) for c in centre]
        points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
        centre, width = points[np.argmin(loss_of(name, points))], width / 8
    found: Floats = centre - centre.mean()
    return found


def jobs(scale: Scale, files: Files) -> list[Job]:
    return [{"loss": name, "grid": _GRID[scale]} for name in LOSSES]


def work(job: Job, files: Files) -> list[Row]:
    line = np.linspace(-2 * BOX, 2 * BOX, job["grid"])
    points = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
    height = loss_of(job["loss"], points @ np.stack([_ACROSS, _UP]))
    grid = [{"loss": job["loss"], "kind": "grid", "across": round(x, 4), "up": round(y, 4), "value": round(h, 6)}
            for (x, y), h in zip(points.tolist(), height.tolist(), strict=True)]  # fmt: skip
    best = minimiser(job["loss"])
    value = float(loss_of(job["loss"], best[None, :])[0])
    star = {"across": round(float(best @ _ACROSS), 4), "up": round(float(best @ _UP), 4), "value": round(value, 6)}
    return [*grid, {"loss": job["loss"], "kind": "minimiser", **star}]


def table(rows: Sequence[Row]) -> list[Row]:
    return list(rows)


def claims(rows: Sequence[Row]) -> list[Claim]:
    found = []
    for row in rows:
        if row["kind"] == "minimiser":
            ratings = row["across"] * _ACROSS + row["up"] * _UP
            first = "ABC"[int(np.argmax(ratings))]
            paper = LOSSES[row["loss"]]
            what = f"first at the minimum of the {row['loss']} loss in a box of {BOX}"
            shown = ", ".join(f"{name} {value:.2f}" for name, value in zip("ABC", ratings, strict=True))
            found.append(Claim(what, paper, first, first == paper, f"ratings, less their mean: {shown}"))
    return found


def draw(rows: Sequence[Row]) -> dict[str, Figure]:
    """Both losses; what is outside of the box is pale. The box is seen along its diagonal, where a loss is constant."""
    made, axes = figure(9, 4.5, ncols=2)
    plane = np.stack([_ACROSS, _UP]).T
    pale = {"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.5}
    corners = BOX * np.array([(1, -1, -1), (1, 1, -1), (-1, 1, -1), (-1, 1, 1), (-1, -1, 1), (1, -1, 1)]) @ plane
    for axis, name in zip(axes, LOSSES, strict=True):
        grid = [row for row in rows if row["loss"] == name and row["kind"] == "grid"]
        side = int(np.sqrt(len(grid)))
        across, up, value = (
            np.array([row[key] for row in grid]).reshape(side, side) for key in ("across", "up", "value")
        )
        (box,) = axis.fill(*corners.T, fill=False, linewidth=1.5, zorder=2.5, label=f"box: ratings from {-BOX:g} to {BOX:g}, seen along its diagonal")  # noqa: E501  # fmt: skip
        axis.contourf(across, up, value, levels=24, cmap="cividis", alpha=0.6)
        shade = axis.contourf(across, up, value, levels=24, cmap="cividis")
        shade.set_clip_path(box)
        lines = axis.contour(across, up, value, levels=8, colors="white", linewidths=0.6)
        for text in axis.clabel(lines, colors="black", fontsize="small"):
            text.set_bbox(pale)
        star = next(row for row in rows if row["loss"] == name and row["kind"] == "minimiser")
        axis.plot(star["across"], star["up"], "*", color="#D55E00", zorder=3, markersize=16, markeredgecolor="white", label="minimiser in the box")  # noqa: E501  # fmt: skip
        for agent, place in zip("ABC", plane, strict=True):
            axis.annotate(
                "", xy=2.2 * place, xytext=(0, 0), arrowprops={"arrowstyle": "->", "color": "white", "lw": 1.2}
            )
            axis.text(*(2.5 * place), agent, ha="center", va="center", fontweight="bold", bbox=pale)
        order = " > ".join("ABC"[k] for k in np.argsort(-plane @ [star["across"], star["up"]]))
        axis.set(title=f"{name.replace('_', '-').title()} loss, least at {order}", aspect="equal")
        axis.set(xlabel=r"$(r_B - r_A)\,/\,\sqrt{2}$", ylabel=r"$(2 r_C - r_A - r_B)\,/\,\sqrt{6}$")
        made.colorbar(shade, ax=axis, shrink=0.75, label="mean loss of a vote", ticks=lines.levels)
    made.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    made.suptitle("Ratings r of A, B and C, less their mean; 2 votes A > B > C and 3 votes C > A > B")
    return {"": made}


STUDY = Study("landscape", "Loss landscapes of the Fenchel-Young and the sigmoid loss", jobs, work, table, claims, draw)
