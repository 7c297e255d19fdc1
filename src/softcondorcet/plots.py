"""Pictures with matplotlib, for notebooks and papers. Needs the `plot` extra.

Each function returns a figure that a notebook shows and ``savefig`` writes; with ``ax`` it draws into axes of your own.
Figures are not registered with pyplot: nothing outside them changes, and none has to be closed.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from softcondorcet.options import check, whole
from softcondorcet.pairs import as_pairs
from softcondorcet.ratings import Ratings
from softcondorcet.tables import clipped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from softcondorcet.comparison import Comparison
    from softcondorcet.pairs import Pairs
    from softcondorcet.profile import Profile
    from softcondorcet.uncertainty import Uncertainty

_BLUE, _ORANGE, _SOFT = "#2a78b8", "#d9822b", "0.55"
_COLOURS = ("#0b6aa8", "#c2550a", "#16795a", "#97467f", "#7d6400", "#4f5b9e")
_NAME = 32


def whiskers(data: Ratings | Uncertainty, *, top: int = 30, ax: Axes | None = None) -> Figure:
    """Ratings of the best agents, best on top, with their intervals where `data` has them.

    >>> from softcondorcet import Profile, sco
    >>> figure = whiskers(sco(Profile.from_rankings([["a", "b", "c"]])))
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['a', 'b', 'c']
    """
    whole("top", top)
    board = data if isinstance(data, Ratings) else data.board
    rows = board.index[:top]
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


def head_to_head(
    data: Profile | Pairs, board: Ratings | None = None, *, top: int = 30, ax: Axes | None = None
) -> Figure:
    """The share of decided comparisons that the agent of a row won against that of a column, in order of rank.

    `board` gives the order, ``sco`` by default. Blank where two agents never met, or never but tied.
    """
    import numpy as np
    from matplotlib.colors import LinearSegmentedColormap

    from softcondorcet.registry import rank

    whole("top", top)
    pairs = as_pairs(data)
    board = rank(data) if board is None else board
    check(board.agents == pairs.agents, "board", "ratings of the agents of these votes, as they are listed", board)
    rows = board.index[:top]
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
    ax.figure.colorbar(image, ax=ax, shrink=0.6, label="share won by the row")
    _bare(ax)
    return figure


def bump(comparison: Comparison, *, top: int = 12, ax: Axes | None = None) -> Figure:
    """How the ranks of the agents that the first method puts on top change from method to method."""
    whole("top", top)
    boards = list(comparison.boards.values())
    names = comparison.first.order[:top]
    figure, ax = _axes(ax, 1.6 + 1.2 * len(boards), 1.2 + 0.28 * len(names))
    moved = [name for name in names if len({board.rank_of(name) for board in boards}) > 1]
    for name in names:
        ranks = [board.rank_of(name) for board in boards]
        colour = _COLOURS[moved.index(name) % len(_COLOURS)] if name in moved else _SOFT
        ax.plot(range(len(boards)), ranks, "o-", color=colour, markersize=5, linewidth=1.8)
    ax.set_xticks(range(len(boards)), list(comparison.boards), parse_math=False)
    _named(ax, names, [comparison.first.rank_of(name) for name in names])
    ax.invert_yaxis()
    ax.set_xlim(-0.2, len(boards) - 0.8)
    _bare(ax)
    return figure


def _axes(ax: Axes | None, width: float, height: float) -> tuple[Figure, Axes]:
    if ax is not None:
        figure: Any = ax.figure
        return figure, ax
    from matplotlib.figure import Figure

    class Shown(Figure):
        """A figure that a notebook shows by itself, without pyplot."""

        def _repr_png_(self) -> bytes:
            buffer = io.BytesIO()
            self.savefig(buffer, format="png", dpi=110)
            return buffer.getvalue()

    made = Shown(figsize=(width, height), layout="constrained")
    return made, made.subplots()


def _named(ax: Axes, names: Sequence[str], places: Sequence[float] | None = None) -> None:
    """Names as labels; a dollar sign in one must not begin a formula."""
    shown = [clipped(name, _NAME) for name in names]
    ax.set_yticks(range(len(names)) if places is None else places, shown, fontsize=8, parse_math=False)


def _bare(ax: Axes) -> None:
    """No frame, no tick marks."""
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
