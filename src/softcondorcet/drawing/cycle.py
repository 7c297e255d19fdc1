"""Agents that beat each other in a circle: an arrow leads from the winner of a pair to its loser, with the margin."""

from __future__ import annotations

import math
from collections.abc import Sequence

from softcondorcet.drawing.svg import curve, dot, drawing, group, number, room, short, text
from softcondorcet.tables import clipped

Point = tuple[float, float]

_TYPE, _NODE, _HEAD = 13, 7.0, 9.0


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
    columns, gutter = room(names, _TYPE, 0.34 * width)
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
    for name, (x, y) in zip(names, places, strict=True):
        marks.append(dot(x, y, _NODE, "node"))
        marks.append(_label(name, clipped(name, columns), x, y, middle))
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
    gap = _NODE + 4
    tip = _between(b, a, gap / length)
    foot = _between(b, a, (gap + _HEAD) / length)
    begin = _between(a, b, gap / length)
    wings = [(foot[0] + s * 0.45 * _HEAD * across[0], foot[1] + s * 0.45 * _HEAD * across[1]) for s in (1, -1)]
    corners = "L".join(f"{short(x)} {short(y)}" for x, y in (tip, *wings))
    shaft = f"M{short(begin[0])} {short(begin[1])}L{short(foot[0])} {short(foot[1])}"
    return [curve(shaft, "shaft"), curve(f"M{corners}z", "head")]


def _label(name: str, shown: str, x: float, y: float, middle: Point) -> str:
    """The name outside the circle: above or below it, or to the side."""
    if abs(x - middle[0]) < 1:
        return text(x, y - 14 if y < middle[1] else y + 24, shown, "name middle", name)
    side = 1 if x > middle[0] else -1
    return text(x + side * 13, y + 4.5, shown, "name" if side > 0 else "name end", name)
