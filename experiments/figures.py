"""One look for all figures: eight colours that people with any colour vision can tell apart, and a mark for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from softcondorcet.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito, "Color universal design", 2008.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C8C8C")
MARKS = "osD^vPX*"
LINES = ("-", "--", "-.", ":")
# Names of methods in tables that are not yet words.
_WORDS = {
    "sgd": "SCO by SGD", "sgd 0.01": "SCO by SGD, rate 0.01", "sco": "SCO, our default", "sco soft": "SCO, softened",
    "sco tuned": "SCO, tuned", "fenchel_young": "Fenchel-Young by SGD", "elo": "Elo in one pass",
    "elo_fit": "Elo, fitted to all votes", "elo_fit 1": "Elo, fitted, strong prior", "plackett_luce": "Plackett-Luce",
    "weng_lin": "Weng-Lin", "stv": "Single transferable vote", "bradley_terry": "Bradley-Terry", "kwiksort": "KwikSort",
}  # fmt: skip


def words(method: str) -> str:
    """A method's name in a table, as a reader knows it."""
    return _WORDS.get(method, method.replace("_", " ").capitalize())


def look(number: int) -> dict[str, Any]:
    """Colour, mark and line of the `number`-th series; no two of the first 32 look the same."""
    return {
        "color": COLOURS[number % len(COLOURS)],
        "marker": MARKS[number % len(MARKS)],
        "linestyle": LINES[number // len(COLOURS) % len(LINES)],
        "markersize": 4.5,
        "linewidth": 1.4,
    }


def figure(width: float = 8.0, height: float = 4.5, **grid: Any) -> tuple[Figure, Any]:
    """A figure and its axes, with a light grid and no box."""
    from matplotlib.figure import Figure

    made = Figure(figsize=(width, height), layout="constrained")
    axes = made.subplots(**grid)
    for axis in axes.ravel() if hasattr(axes, "ravel") else [axes]:
        axis.grid(color="0.9", linewidth=0.8)
        axis.set_axisbelow(True)
        axis.spines[["top", "right"]].set_visible(False)
    return made, axes


def wilson(share: Floats, of: Floats) -> Floats:
    """How far the 95 % interval of a share of `of` cases goes down and up; never past 0 or 1 (Wilson, 1927)."""
    z2 = 1.96**2 / of
    middle = (share + z2 / 2) / (1 + z2)
    half = np.sqrt(z2 * share * (1 - share) + z2**2 / 4) / (1 + z2)
    ends: Floats = np.maximum([share - middle + half, middle + half - share], 0.0)
    return ends


def band(axis: Any, x: Sequence[float], mean: Sequence[float], half: Sequence[float], number: int, label: str) -> None:
    """A line with its 95 % interval as a band; a long one has a mark on every so many points."""
    style = look(number)
    axis.plot(x, mean, label=label, markevery=max(1, len(x) // 16), **style)
    low, high = [m - h for m, h in zip(mean, half, strict=True)], [m + h for m, h in zip(mean, half, strict=True)]
    axis.fill_between(x, low, high, color=style["color"], alpha=0.15, linewidth=0)


def whiskers(
    axis: Any, x: Sequence[float], mean: Sequence[float], half: Sequence[float], style: Mapping[str, Any], label: str
) -> None:
    """A line with its 95 % interval as error bars."""
    axis.errorbar(x, mean, yerr=half, label=label, capsize=2, elinewidth=0.8, **style)


def shade(colour: str, toward: float) -> str:
    """A colour mixed with black (`toward` below 0, down to -1) or with white (above 0, up to 1).

    >>> shade("#0072B2", -0.5), shade("#0072B2", 0.5)
    ('#003959', '#80b8d8')
    """
    parts = [int(colour[k : k + 2], 16) for k in (1, 3, 5)]
    aim = 255 if toward > 0 else 0
    return "#" + "".join(f"{round(part + abs(toward) * (aim - part)):02x}" for part in parts)
