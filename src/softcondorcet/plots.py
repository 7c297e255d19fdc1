"""Pictures with matplotlib, for notebooks and papers. Needs the `plot` extra.

Each function returns a figure that a notebook shows and ``savefig`` writes; with ``ax`` it draws into axes of your own.
Figures are not registered with pyplot: nothing outside them changes, and none has to be closed.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from softcondorcet.checks import check, whole
from softcondorcet.formatting import number, printable, shortened
from softcondorcet.installation import needs
from softcondorcet.leaderboard import placed
from softcondorcet.pairs import as_pairs
from softcondorcet.ratings import Ratings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from softcondorcet.evaluation.calibration import Calibration
    from softcondorcet.evaluation.compare import Comparison
    from softcondorcet.evaluation.history import History
    from softcondorcet.leaderboard import Row
    from softcondorcet.pairs import Pairs
    from softcondorcet.profile import Profile
    from softcondorcet.uncertainty.by_group import ByGroup
    from softcondorcet.uncertainty.intervals import Uncertainty

_BLUE, _ORANGE, _SOFT = "#2a78b8", "#d9822b", "0.55"
_COLOURS = ("#0b6aa8", "#c2550a", "#16795a", "#97467f", "#7d6400", "#4f5b9e")
# Letters of a name, and in a figure of fewer inches than that.
_NAME, _SHORT_NAME, _NARROW = 32, 18, 5.0
# Points of the smallest numbers that can be read in print.
_LEGIBLE = 3.5


def whiskers(data: Ratings | Uncertainty, *, top: int = 30, ax: Axes | None = None) -> Figure:
    """Ratings of the best agents, best on top, with their intervals where `data` has them.

    >>> from softcondorcet import Profile, sco
    >>> figure = whiskers(sco(Profile.from_rankings([["a", "b", "c"]])))
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['a', 'b', 'c']
    """
    whole("top", top)
    board = data if isinstance(data, Ratings) else data.board
    rows = placed(board)[:top]
    figure, ax = _axes(ax, 7.0, 1.0 + 0.24 * len(rows))
    places = range(len(rows))
    if not isinstance(data, Ratings):
        ax.hlines(places, data.rating_low[rows], data.rating_high[rows], color=_BLUE, alpha=0.5, linewidth=2)
    ax.plot(board.values[rows], places, "o", color=_BLUE, markersize=5)
    _named(ax, [board.agents[k] for k in rows])
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlabel(f"rating by {board.method}")
    ax.grid(axis="x", color="0.9")
    _bare(ax)
    return figure


def history(data: History, *, agents: Sequence[str] | None = None, top: int = 6, ax: Axes | None = None) -> Figure:
    """Ratings over time of some agents, the best at the end by default, with their intervals."""
    import numpy as np

    whole("top", top)
    names = data.at().order[:top] if agents is None else list(agents)
    figure, ax = _axes(ax, 9.0, 4.5)
    place = {name: k for k, name in enumerate(data.labels)}
    for k, (name, label) in enumerate(zip(names, shortened(names, _NAME), strict=True)):
        rows = data.of(name)
        when = data.starts[[place[row["period"]] for row in rows]].astype("datetime64[s]")
        low, high = (np.array([row[end] for row in rows]) for end in ("rating_low", "rating_high"))
        colour = _COLOURS[k % len(_COLOURS)]
        style = ("-", "--", ":")[k // len(_COLOURS) % 3]
        ax.fill_between(when, low, high, color=colour, alpha=0.12, linewidth=0)
        marker = "o" if len(rows) == 1 else None
        ax.plot(when, [row["rating"] for row in rows], style, marker=marker, color=colour, label=label)
    ax.set_ylabel("rating (natural log-odds)")
    ax.grid(axis="y", color="0.9")
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize="small")
    _bare(ax)
    ax.spines["bottom"].set_visible(True)
    return figure


def head_to_head(
    data: Profile | Pairs, board: Ratings | None = None, *, top: int = 30, ax: Axes | None = None
) -> Figure:
    """The share of decided comparisons that the agent of a row won against that of a column, in order of rank.

    `board` gives the order, ``sco`` by default. Blank where two agents never met, or never but tied.
    """
    needs("matplotlib", "plot")
    import numpy as np
    from matplotlib.colors import LinearSegmentedColormap

    from softcondorcet.methods.registry import rank

    whole("top", top)
    pairs = as_pairs(data)
    board = rank(data) if board is None else board
    check(board.agents == pairs.agents, "board", "ratings of the agents of these votes, as they are listed", board)
    rows = placed(board)[:top]
    wins, _ = pairs.dense(rows)
    decided = wins + wins.T
    share = np.divide(wins, decided, out=np.full(wins.shape, np.nan), where=decided > 0)
    figure, ax = _axes(ax, 2.6 + 0.26 * len(rows), 1.0 + 0.26 * len(rows))
    colours = LinearSegmentedColormap.from_list("head to head", [_ORANGE, "white", _BLUE])
    image = ax.imshow(share, cmap=colours, vmin=0, vmax=1, aspect="equal")
    if len(rows) <= 15:
        for a, b in np.argwhere(np.isfinite(share)):
            ax.text(b, a, f"{100 * share[a, b]:.0f}", ha="center", va="center", fontsize=7)
    _named(ax, [board.agents[k] for k in rows])
    ax.set_xticks(range(len(rows)), [str(k + 1) for k in range(len(rows))], fontsize=7)
    ax.xaxis.tick_top()
    scale = ax.figure.colorbar(image, ax=ax, location="bottom", shrink=0.6, pad=0.02, label="% won by the row")
    scale.set_ticks([0, 0.5, 1], labels=["0", "50", "100"])
    _bare(ax)
    return figure


def bump(comparison: Comparison, *, top: int = 12, ax: Axes | None = None) -> Figure:
    """How the ranks of the agents that the first method puts on top change from method to method."""
    whole("top", top)
    boards = list(comparison.boards.values())
    first = comparison.first
    names = [first.agents[k] for k in first.listing[:top] if first.places[k]]
    figure, ax = _axes(ax, 1.6 + 1.2 * len(boards), 1.2 + 0.28 * len(names))
    moved = [name for name in names if len({board.place_of(name) for board in boards}) > 1]
    for name in names:
        ranks = [board.place_of(name) or 0 for board in boards]
        colour = _COLOURS[moved.index(name) % len(_COLOURS)] if name in moved else _SOFT
        ax.plot(range(len(boards)), ranks, "o-", color=colour, markersize=5, linewidth=1.8)
    ax.set_xticks(range(len(boards)), [name.replace("_", "\n") for name in comparison.boards], parse_math=False)
    _named(ax, names, [first.place_of(name) or 0 for name in names])
    ax.invert_yaxis()
    ax.set_xlim(-0.2, len(boards) - 0.8)
    _bare(ax)
    return figure


def cycle(names: Sequence[str], arrows: Sequence[tuple[int, int, float]], *, ax: Axes | None = None) -> Figure:
    """Agents on a circle; an arrow ``(winner, loser, margin)`` leads from the winner of a pair to its loser.

    >>> len(cycle(["a", "b", "c"], [(0, 1, 2.0), (1, 2, 4.0), (2, 0, 1.0)]).axes[0].texts)
    9
    """
    import math

    figure, ax = _axes(ax, 3.35, 3.0)
    angle = [math.pi / 2 - 2 * math.pi * k / max(len(names), 1) for k in range(len(names))]
    spot = [(math.cos(a), math.sin(a)) for a in angle]
    bend = {"arrowstyle": "-|>", "color": _ORANGE, "shrinkA": 6, "shrinkB": 6}
    for a, b, margin in arrows:
        ax.annotate("", spot[b], spot[a], arrowprops=bend)
        x, y = (0.6 * spot[a][k] + 0.4 * spot[b][k] for k in (0, 1))
        label = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none"}
        ax.text(x, y, f"+{number(margin)}", fontsize=7, ha="center", va="center", bbox=label)
    for name, (x, y) in zip(shortened(names, _NAME), spot, strict=True):
        ax.plot([x], [y], "o", color=_BLUE, markersize=7)
        side = "center" if abs(x) < 0.1 else "left" if x > 0 else "right"
        high = y + (0.14 if y > 0 else -0.14) if side == "center" else y
        ax.text(x + 0.1 * (abs(x) >= 0.1) * (1 if x > 0 else -1), high, name, fontsize=8, ha=side,
                va="center", parse_math=False)  # fmt: skip
    ax.set_aspect("equal")
    ax.margins(0.2)
    ax.set_axis_off()
    return figure


def groups(boards: ByGroup, *, top: int = 15, most: int = 8, ax: Axes | None = None) -> Figure:
    """The ranks of the best agents by all votes, and by those of the `most` largest groups: darker is better."""
    import numpy as np

    whole("top", top)
    names = [boards.overall.agents[k] for k in boards.overall.listing[:top]]
    chosen = sorted(boards.groups.values(), key=lambda group: -group.votes)[:most]
    columns = [boards.overall, *(group.board for group in chosen)]
    places = [[_place(board, name) for board in columns] for name in names]
    figure, ax = _axes(ax, 1.8 + 0.5 * len(columns), 1.2 + 0.22 * len(names))
    known = np.array([[np.nan if place is None else float(place) for place in row] for row in places])
    ax.imshow(known, cmap="Blues_r", vmin=1, vmax=1.6 * max(len(names), 2), aspect="auto")
    for a, row in enumerate(places):
        for b, place in enumerate(row):
            dark = place is not None and place < 0.5 * len(names)
            ax.text(b, a, "-" if place is None else f"{place:,}", ha="center", va="center", fontsize=7,
                    color="white" if dark else "black")  # fmt: skip
    titles = ["all", *shortened([group.name for group in chosen], 12)]
    ax.set_xticks(range(len(titles)), titles, fontsize=7, rotation=45, ha="left", parse_math=False)
    ax.xaxis.tick_top()
    _named(ax, names)
    _bare(ax)
    return figure


def _place(board: Ratings, name: str) -> int | None:
    return board.place_of(name) if name in board else None


def calibration(data: Calibration, *, ax: Axes | None = None) -> Figure:
    """What chances said against what came out on held-out votes, with intervals of 95 %; on the line they are right."""
    figure, ax = _axes(ax, 4.2, 4.0)
    ax.plot([50, 100], [50, 100], color=_SOFT, linewidth=1)
    for k, curve in enumerate(data.curves.values()):
        said, came = ([100 * getattr(one, name) for one in curve.bins] for name in ("chance", "came_out"))
        ends = [[y - 100 * one.low for y, one in zip(came, curve.bins, strict=True)],
                [100 * one.high - y for y, one in zip(came, curve.bins, strict=True)]]  # fmt: skip
        colour = _COLOURS[k % len(_COLOURS)]
        ax.errorbar(said, came, yerr=ends, fmt="o-", color=colour, markersize=4, linewidth=1, label=curve.method)
    ax.set_xlabel("chance of the favourite, %")
    ax.set_ylabel("came out above, %")
    ax.grid(color="0.9")
    ax.legend(loc="upper left", frameon=False, fontsize="small")
    _bare(ax)
    return figure


def card(rows: Sequence[Row], answer: str, flip: str) -> Figure:
    """A picture of 1200 x 630 for posts, at 100 dots to the inch: the answer, the best ten, what would change it."""
    figure, ax = _axes(None, 12.0, 6.3)
    ax.set_axis_off()
    ax.set_xlim(0, 1200)
    ax.set_ylim(630, 0)
    figure.set_layout_engine("none")
    ax.set_position((0, 0, 1, 1))
    large = textwrap.wrap(printable(answer), 56)
    lines = large if len(large) <= 3 else textwrap.wrap(printable(answer), 76, max_lines=4, placeholder=" …")
    for k, line in enumerate(lines):
        step, size = (44, 24) if lines is large else (34, 18)
        ax.text(50, 70 + step * k, line, fontsize=size, weight="bold", parse_math=False)
    shown = [row for row in rows if row.rank is not None][:10]
    ends = [end for row in shown for end in (row.rating_low, row.rating, row.rating_high) if end is not None]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    scale = 440 / ((high - low) or 1.0)
    names = shortened([row.agent for row in shown], 44)
    for k, (name, row) in enumerate(zip(names, shown, strict=True)):
        y, rating = 228 + 33 * k, row.rating or 0.0
        left, right = (rating if end is None else end for end in (row.rating_low, row.rating_high))
        ax.text(90, y, f"{row.rank}", fontsize=15, ha="right", va="center", color=_SOFT)
        ax.text(108, y, name, fontsize=15, va="center", parse_math=False)
        ax.plot([700 + (left - low) * scale, 700 + (right - low) * scale], [y, y], color=_BLUE, alpha=0.4, linewidth=4)
        ax.plot([700 + (rating - low) * scale], [y], "o", color=_BLUE, markersize=9)
    for k, line in enumerate(textwrap.wrap(printable(flip), 96, max_lines=2, placeholder=" …")):
        ax.text(50, 584 + 26 * k, line, fontsize=15, color=_COLOURS[1], parse_math=False)
    return figure


def sized(figure: Figure, width: float) -> Figure:
    """A figure made so many inches wide: its names, letters and numbers in cells become small enough for that."""
    wide, high = figure.get_size_inches()
    letters = 6.5 if width < _NARROW else 9.0
    for ax in figure.axes:
        names = [label.get_text() for label in ax.get_yticklabels()]
        if width < _NARROW and any(len(name) > _SHORT_NAME for name in names):
            ax.set_yticks(ax.get_yticks(), shortened(names, _SHORT_NAME), parse_math=False)
        small = (*ax.get_xticklabels(), *ax.get_yticklabels(), ax.xaxis.label, ax.yaxis.label, *ax.texts)
        for label in small:
            label.set_fontsize(min(float(label.get_fontsize()), letters))
    figure.set_size_inches(width, max(high * min(width / wide, 1.0) ** 0.25, 1.2))
    figure.draw_without_rendering()  # lays it out, so that the size of a cell is known
    for ax in figure.axes:
        for image in ax.images:
            cell = ax.get_window_extent().width / figure.dpi * 72 / image.get_array().shape[1]  # type: ignore[union-attr]
            for text in list(ax.texts):
                text.set_fontsize(min(float(text.get_fontsize()), 0.45 * cell))
                text.set_visible(0.45 * cell > _LEGIBLE)
    return figure


def _axes(ax: Axes | None, width: float, height: float) -> tuple[Figure, Axes]:
    if ax is not None:
        figure: Any = ax.figure
        return figure, ax
    needs("matplotlib", "plot")
    from matplotlib.figure import Figure

    class Shown(Figure):
        """A figure that a notebook shows by itself, without pyplot."""

        def _repr_png_(self) -> bytes:
            buffer = io.BytesIO()
            self.savefig(buffer, format="png", dpi=110)
            return buffer.getvalue()

    figure = Shown(figsize=(width, height), layout="constrained")
    return figure, figure.subplots()


def _named(ax: Axes, names: Sequence[str], places: Sequence[float] | None = None) -> None:
    """Names as labels; a dollar sign in one must not begin a formula."""
    shown = shortened(names, _NAME)
    ax.set_yticks(range(len(names)) if places is None else places, shown, fontsize=8, parse_math=False)


def _bare(ax: Axes) -> None:
    """No frame, no tick marks."""
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
