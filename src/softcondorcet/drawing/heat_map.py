"""Head to head: how often the agent of a row came out above the agent of a column.

Colour is the share of decided comparisons, blue above one half and orange below; ties are left out of the share and
shown with the counts. Blank where two agents never met or were always tied, which a small ring tells apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from softcondorcet.drawing.svg import dot, drawing, leading, number, room, short, text, title
from softcondorcet.tables import clipped

Matrix = Sequence[Sequence[float]]

_TYPE, _PAD, _HEAD, _LEAST = 12, 8, 20, 14.0
# Cells hold their percentage from this width on; colours then stay pale enough to read it.
_ROOMY, _PALE, _FULL = 30, 0.55, 0.95
# Names inside a tooltip: two of them in each of m x m cells are most of the size of a page.
_HOVER = 40


def heat_map(
    names: Sequence[str],
    wins: Matrix,
    ties: Matrix,
    *,
    width: float = 720,
    link: Callable[[int, int], str] | None = None,
) -> str:
    """``wins[a][b]`` is how often a was above b, ``ties[a][b]`` how often level; rows and columns as names are given.

    Cells shrink to fit the width, down to a size that can still be pointed at; a picture of many agents is wider.
    ``link(a, b)`` is the address that a cell leads to, where cells lead somewhere: for pointers, since nobody wants to
    walk through m x m cells by keyboard.
    """
    m = len(names)
    numbered = [f"{k + 1}  {name}" for k, name in enumerate(names)]
    columns, gutter = room(numbered, _TYPE, max(0.22 * width, min(0.34 * width, width - m * _LEAST - 2 * _PAD)))
    left = gutter + 2 * _PAD
    side = min(max((width - left - 2) / max(m, 1), _LEAST), 46.0)
    height = min(side, 28.0)
    roomy = side >= _ROOMY
    parts = []
    for k, name in enumerate(numbered):
        middle = _HEAD + k * height + height / 2
        parts.append(text(left - _PAD, middle + 4, clipped(name, columns), "name end", names[k]))
        if side >= _ROOMY / 2 or k == 0 or k % 5 == 4:
            parts.append(text(left + k * side + side / 2, _HEAD - 6, str(k + 1), "tick middle"))
        parts.append(text(left + k * side + side / 2, middle + 3.5, str(k + 1), "tick middle"))
    labels = [clipped(name, _HOVER) for name in names]
    shape = f"h{short(side - 1)}v{short(height - 1)}h-{short(side - 1)}z"
    for a in range(m):
        for b in range(m):
            corner = left + b * side, _HEAD + a * height
            cell = _cell(corner, shape, (side, height), labels, a, b, wins, ties, roomy) if a != b else ""
            parts.append(cell if link is None or not cell else leading(link(a, b), cell))
    words = f"Head to head of {m} agents: share of comparisons that the row won, in order of rank"
    role = "img" if link is None else "group"
    return drawing(left + m * side + 2, _HEAD + m * height + 4, parts, words, "heat-map", role)


def _cell(
    corner: tuple[float, float],
    shape: str,
    size: tuple[float, float],
    labels: Sequence[str],
    a: int,
    b: int,
    wins: Matrix,
    ties: Matrix,
    roomy: bool,
) -> str:
    won, lost, level = float(wins[a][b]), float(wins[b][a]), float(ties[a][b])
    x, y = corner
    middle = x + (size[0] - 1) / 2
    if not won + lost + level:
        return ""
    hover = title(f"{labels[a]} against {labels[b]}: {record(won, lost, level)}")
    if not won + lost:
        return f"<g>{hover}{dot(middle, y + (size[1] - 1) / 2, 2.5, 'level')}</g>"
    share = won / (won + lost)
    strength = abs(2 * share - 1) * (_PALE if roomy else _FULL)
    kind = "won" if share > 0.5 else "lost" if share < 0.5 else "even"
    fill = f'<path class="{kind}" fill-opacity="{short(round(strength, 2)) if strength >= 1 else f"{strength:.2f}"}"'
    cell = f'{fill} d="M{short(x)} {short(y)}{shape}">'
    if not roomy:
        return f"{cell}{hover}</path>"
    return f"<g>{hover}{cell}</path>{text(middle, y + size[1] / 2 + 3.5, f'{100 * share:.0f}', 'share middle')}</g>"


def record(won: float, lost: float, level: float) -> str:
    """Counts in words: 12 won, 3 lost, 1 tied."""
    return f"{number(won)} won, {number(lost)} lost" + (f", {number(level)} tied" if level else "")
