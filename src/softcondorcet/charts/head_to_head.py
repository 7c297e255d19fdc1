"""Charts of agents head to head: a heat map of all pairs, a cycle of the majority, one pair.

In the heat map a cell says how often the agent of its row came out above that of its column. Colour is the share of
decided comparisons, blue above one half and orange below; ties are left out of the share and shown with the counts.
Blank where two agents never met or were always tied, which a small ring tells apart.

In a cycle an arrow leads from the winner of a pair to its loser, with the margin. ``shares`` is how often one agent
came out above another, level, or below: one bar in three parts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from softcondorcet.charts.svg import box, curve, dot, drawing, group, leading, room, short, text, title
from softcondorcet.formatting import number, percent, shortened

Matrix = Sequence[Sequence[float]]

_MAP_TYPE, _MAP_PAD, _MAP_HEAD, _MAP_LEAST = 12, 8, 20, 14.0
# Cells hold their percentage from this width on; colours stay pale enough to read it, as the legend of a page has them.
_MAP_ROOMY, _MAP_PALE = 30, 0.55
# Names inside a tooltip: two of them in each of m x m cells are most of the size of a page.
_MAP_HOVER = 40


def heat_map(
    names: Sequence[str],
    wins: Matrix,
    ties: Matrix,
    *,
    marks: Sequence[str] = (),
    width: float = 720,
    link: Callable[[int, int], str] | None = None,
) -> str:
    """``wins[a][b]`` is how often a was above b, ``ties[a][b]`` how often level; rows and columns as names are given.

    `marks` stand before the names and above the columns: ranks, or 1, 2, 3 where none are given.

    Cells shrink to fit the width, down to a size that can still be pointed at; a picture of many agents is wider.
    ``link(a, b)`` is the address that a cell leads to, where cells lead somewhere: for pointers, since nobody wants to
    walk through m x m cells by keyboard.
    """
    m = len(names)
    marks = marks or [str(k + 1) for k in range(m)]
    numbered = [f"{mark}  {name}" for mark, name in zip(marks, names, strict=True)]
    before = max(map(len, marks), default=0) + 2
    columns, gutter = room(
        numbered, _MAP_TYPE, max(0.22 * width, min(0.34 * width, width - m * _MAP_LEAST - 2 * _MAP_PAD))
    )
    left = gutter + 2 * _MAP_PAD
    side = min(max((width - left - 2) / max(m, 1), _MAP_LEAST), 46.0)
    height = min(side, 28.0)
    roomy = side >= _MAP_ROOMY
    parts = []
    for k, name in enumerate(shortened(names, max(columns - before, 4))):
        middle = _MAP_HEAD + k * height + height / 2
        parts.append(text(left - _MAP_PAD, middle + 4, f"{marks[k]}  {name}", "name end", names[k]))
        if side >= _MAP_ROOMY / 2 or k == 0 or k % 5 == 4:
            parts.append(text(left + k * side + side / 2, _MAP_HEAD - 6, marks[k], "tick middle"))
    labels = shortened(names, _MAP_HOVER)
    shape = f"h{short(side - 1)}v{short(height - 1)}h-{short(side - 1)}z"
    for a in range(m):
        for b in range(m):
            corner = left + b * side, _MAP_HEAD + a * height
            cell = _cell(corner, shape, (side, height), labels, a, b, wins, ties, roomy) if a != b else ""
            parts.append(cell if link is None or not cell else leading(link(a, b), cell))
    words = f"Head to head of {m} agents: share of comparisons that the row won, in order of rank"
    role = "img" if link is None else "group"
    return drawing(left + m * side + 2, _MAP_HEAD + m * height + 4, parts, words, "heat-map", role)


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
    strength = abs(2 * share - 1) * _MAP_PALE
    kind = "won" if share > 0.5 else "lost" if share < 0.5 else "even"
    fill = f'<path class="{kind}" fill-opacity="{short(round(strength, 2)) if strength >= 1 else f"{strength:.2f}"}"'
    cell = f'{fill} d="M{short(x)} {short(y)}{shape}">'
    if not roomy:
        return f"{cell}{hover}</path>"
    return f"<g>{hover}{cell}</path>{text(middle, y + size[1] / 2 + 3.5, f'{100 * share:.0f}', 'share middle')}</g>"


def record(won: float, lost: float, level: float) -> str:
    """Counts in words: 12 won, 3 lost, 1 tied."""
    return f"{number(won)} won, {number(lost)} lost" + (f", {number(level)} tied" if level else "")


Point = tuple[float, float]

_CYCLE_TYPE, _CYCLE_NODE, _CYCLE_HEAD = 13, 7.0, 9.0


def cycle(
    names: Sequence[str],
    arrows: Sequence[tuple[int, int, float]],
    *,
    loop: Sequence[int] = (),
    width: float = 460,
) -> str:
    """Names on a circle, the first on top, and arrows ``(winner, loser, margin)`` between them.

    `loop` lists agents, each of which beats the next and the last the first: those arrows are drawn strongly.
    """
    strong = {(a, b) for a, b in zip(loop, [*loop[1:], *loop[:1]], strict=True)}
    columns, gutter = room(names, _CYCLE_TYPE, 0.34 * width)
    radius = min(width / 2 - gutter - 24, 120.0) if len(names) > 3 else min(width / 2 - gutter - 24, 105.0)
    radius = max(radius, 60.0)
    middle = (width / 2, radius + 34)
    places = [_on_circle(middle, radius, k / max(len(names), 1)) for k in range(len(names))]
    lines, margins = [], []
    for a, b, margin in sorted(arrows, key=lambda arrow: (arrow[0], arrow[1]) in strong):
        kind = "strong" if (a, b) in strong else "weak"
        hover = f"{names[a]} beats {names[b]} by {number(margin)}"
        lines.append(group(_arrow(places[a], places[b], kind), f"arrow {kind}", hover))
        # A little off the middle, so that the margins of two arrows that cross do not meet.
        x, y = _between(places[a], places[b], 0.5 if (a, b) in strong else 0.36)
        margins.append(text(x, y + 4, f"+{number(margin)}", f"margin {kind} middle"))
    marks = []
    for name, shown, (x, y) in zip(names, shortened(names, columns), places, strict=True):
        marks.append(dot(x, y, _CYCLE_NODE, "node"))
        marks.append(_label(name, shown, x, y, middle))
    words = f"{len(names)} agents; an arrow leads from the winner of a pair to its loser"
    bottom = max((y for _, y in places), default=0.0) + 32
    return drawing(width, bottom, [*lines, *margins, *marks], words, "cycle")


def _on_circle(middle: Point, radius: float, turn: float) -> Point:
    angle = 2 * math.pi * turn - math.pi / 2
    return middle[0] + radius * math.cos(angle), middle[1] + radius * math.sin(angle)


def _between(a: Point, b: Point, share: float) -> Point:
    return a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])


def _arrow(a: Point, b: Point, kind: str) -> list[str]:
    """A line from a to b that ends short of both, and its head."""
    length = math.dist(a, b)
    along = ((b[0] - a[0]) / length, (b[1] - a[1]) / length)
    across = (-along[1], along[0])
    gap = _CYCLE_NODE + 4
    tip = _between(b, a, gap / length)
    foot = _between(b, a, (gap + _CYCLE_HEAD) / length)
    begin = _between(a, b, gap / length)
    wings = [
        (foot[0] + s * 0.45 * _CYCLE_HEAD * across[0], foot[1] + s * 0.45 * _CYCLE_HEAD * across[1]) for s in (1, -1)
    ]
    corners = "L".join(f"{short(x)} {short(y)}" for x, y in (tip, *wings))
    shaft = f"M{short(begin[0])} {short(begin[1])}L{short(foot[0])} {short(foot[1])}"
    return [curve(shaft, "shaft"), curve(f"M{corners}z", "head")]


def _label(name: str, shown: str, x: float, y: float, middle: Point) -> str:
    """The name outside the circle: above or below it, or to the side."""
    if abs(x - middle[0]) < 1:
        return text(x, y - 14 if y < middle[1] else y + 24, shown, "name middle", name)
    side = 1 if x > middle[0] else -1
    return text(x + side * 13, y + 4.5, shown, "name" if side > 0 else "name end", name)


_SHARES_BAR, _SHARES_TOP, _SHARES_TYPE = 30.0, 24.0, 13


def shares(names: tuple[str, str], won: float, tied: float, lost: float, *, width: float = 720) -> str:
    """A bar for what the first of the two `names` won, what was tied, and what it lost, to scale."""
    total = (won + tied + lost) or 1.0
    columns, _ = room(names, _SHARES_TYPE, 0.46 * width)
    first, second = shortened(names, columns)
    parts = [text(0, 14, first, "name"), text(width, 14, second, "name end")]
    x = 0.0
    parties = (f"{names[0]} won", won, "won"), ("tied", tied, "level"), (f"{names[1]} won", lost, "lost")
    for words, count, kind in parties:
        side = width * count / total
        if count:
            marks = [box(x, _SHARES_TOP, max(side - 1, 1), _SHARES_BAR, kind)]
            share = f"{percent(count / total)}"
            if side > 8 * len(share) + 8:
                marks.append(text(x + side / 2, _SHARES_TOP + _SHARES_BAR / 2 + 4.5, share, "share middle"))
            parts.append(group(marks, "part", f"{words} {number(count)}"))
        x += side
    words = f"{names[0]} won {number(won)}, tied {number(tied)}, {names[1]} won {number(lost)}"
    return drawing(width, _SHARES_TOP + _SHARES_BAR + 4, parts, words, "shares")
