"""Ratings with their intervals, one row per agent, best on top; agents that cannot be told apart share a band."""

from __future__ import annotations

from collections.abc import Sequence

from softcondorcet.drawing.svg import box, dot, drawing, group, line, number, room, text, ticks
from softcondorcet.tables import clipped

_ROW, _TYPE, _PAD = 22, 13, 10


def whiskers(
    names: Sequence[str],
    values: Sequence[float],
    low: Sequence[float] | None = None,
    high: Sequence[float] | None = None,
    *,
    bands: Sequence[tuple[int, int]] = (),
    width: float = 720,
    axis: str = "rating",
) -> str:
    """A dot for each value on its interval `low` to `high`, where those are known.

    `bands` are the first and last row of agents to show as a group. Rows stand as they are given.
    """
    low, high = low or values, high or values
    columns, gutter = room(names, _TYPE, 0.4 * width)
    left, right = gutter + 2 * _PAD, width - 2 * _PAD
    bottom = _ROW * len(names) + 6
    least, most = min([*low, *values], default=0.0), max([*high, *values], default=0.0)
    scale = (right - left) / ((most - least) or 1.0)

    def x(value: float) -> float:
        return left + (value - least) * scale

    parts = [
        box(0, first * _ROW + 4, width, (last - first + 1) * _ROW - 2, f"band band{k % 2}")
        for k, (first, last) in enumerate(bands)
    ]
    for tick in ticks(least, most, int((right - left) / 70)):
        parts.append(line(x(tick), 0, x(tick), bottom, "grid"))
        parts.append(text(x(tick), bottom + 16, number(round(tick, 9)), "tick middle"))
    parts.append(text((left + right) / 2, bottom + 34, axis, "tick middle"))
    for k, name in enumerate(names):
        y = _ROW * k + 15
        interval = f", {number(low[k])} to {number(high[k])}" if high[k] > low[k] else ""
        marks = [
            text(left - _PAD, y + 4.5, clipped(name, columns), "name end"),
            line(x(low[k]), y, x(high[k]), y, "whisker"),
            dot(x(values[k]), y, 4, "point"),
        ]
        parts.append(group(marks, "row", f"{name}: {number(values[k])}{interval}"))
    words = f"Ratings of {len(names)} agents with their intervals, best on top"
    return drawing(width, bottom + 42, parts, words, "whiskers")
