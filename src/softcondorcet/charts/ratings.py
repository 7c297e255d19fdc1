"""Charts of ratings: with their intervals, over time, and as ranks by several methods.

``whiskers`` has one row per agent, best on top; agents that cannot be told apart share a band. ``Axis`` draws the same
inside the rows of a table, one row at a time. ``timeline`` is one
line, with a dot where the number was taken. ``bump`` has a column for each method and a line for each agent.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise

from softcondorcet.charts.svg import box, curve, dot, drawing, group, line, plain_drawing, room, short, text, ticks
from softcondorcet.formatting import number, shortened

_WHISKER_ROW, _WHISKER_TYPE, _WHISKER_PAD = 22, 13, 10


def whiskers(
    names: Sequence[str],
    values: Sequence[float],
    low: Sequence[float] | None = None,
    high: Sequence[float] | None = None,
    *,
    bands: Sequence[tuple[int, int]] = (),
    width: float = 720,
    axis: str = "rating",
    whole: bool = False,
) -> str:
    """A dot for each value on its interval `low` to `high`, where those are known.

    `whole`: only whole numbers have a mark on the axis, as for ranks. `bands` are the first and last row of agents to
    show as a group. Rows stand as they are given.
    """
    low, high = low or values, high or values
    columns, gutter = room(names, _WHISKER_TYPE, 0.4 * width)
    short_names = shortened(names, columns)
    left, right = gutter + 2 * _WHISKER_PAD, width - 2 * _WHISKER_PAD
    bottom = _WHISKER_ROW * len(names) + 6
    least, most = min([*low, *values], default=0.0), max([*high, *values], default=0.0)
    scale = (right - left) / ((most - least) or 1.0)

    def x(value: float) -> float:
        return left + (value - least) * scale

    parts = [
        box(0, first * _WHISKER_ROW + 4, width, (last - first + 1) * _WHISKER_ROW - 2, f"band band{k % 2}")
        for k, (first, last) in enumerate(bands)
    ]
    for tick in ticks(least, most, int((right - left) / 70)):
        if whole and tick != round(tick):
            continue
        parts.append(line(x(tick), 0, x(tick), bottom, "grid"))
        parts.append(text(x(tick), bottom + 16, number(round(tick, 9)), "tick middle"))
    parts.append(text((left + right) / 2, bottom + 34, axis, "tick middle"))
    for k, name in enumerate(names):
        y = _WHISKER_ROW * k + 15
        interval = f", {number(low[k])} to {number(high[k])}" if high[k] > low[k] else ""
        marks = [
            text(left - _WHISKER_PAD, y + 4.5, short_names[k], "name end"),
            line(x(low[k]), y, x(high[k]), y, "whisker"),
            dot(x(values[k]), y, 4, "point"),
        ]
        parts.append(group(marks, "row", f"{name}: {number(values[k])}{interval}"))
    words = f"{axis} of {len(names)} agents with their intervals, best on top"
    return drawing(width, bottom + 42, parts, words, "whiskers")


_BAR_WIDTH, _BAR_HEIGHT, _BAR_PAD = 200.0, 16.0, 5.0


class Axis:
    """The axis that small drawings in the rows of a table share, from `least` to `most`."""

    def __init__(self, least: float, most: float) -> None:
        self._least, self._scale = least, (_BAR_WIDTH - 2 * _BAR_PAD) / ((most - least) or 1.0)
        self._ticks = ticks(least, most, 4)
        self._grid = curve("".join(f"M{short(self._x(tick))} 0v{short(_BAR_HEIGHT)}" for tick in self._ticks), "grid")

    def _x(self, value: float) -> float:
        return _BAR_PAD + (value - self._least) * self._scale

    def head(self) -> str:
        """The numbers of the axis."""
        marks = [text(self._x(tick), 11, number(round(tick, 9)), "tick middle") for tick in self._ticks]
        ends = f"from {number(round(self._ticks[0], 9))} to {number(round(self._ticks[-1], 9))}"
        return drawing(_BAR_WIDTH, _BAR_HEIGHT, marks, f"Axis of ratings, {ends}", "bar")

    def bar(self, low: float, value: float, high: float) -> str:
        """A dot for a value on its interval; what it says stands in words beside it."""
        middle = _BAR_HEIGHT / 2
        parts = [self._grid]
        if low < high:
            parts.append(line(self._x(low), middle, self._x(high), middle, "whisker"))
        parts.append(dot(self._x(value), middle, 3.5, "point"))
        return plain_drawing(_BAR_WIDTH, _BAR_HEIGHT, parts, "bar")


_LINE_HEIGHT, _LINE_LEFT, _LINE_RIGHT, _LINE_BOTTOM = 190.0, 52.0, 16.0, 44.0
# Dots further apart than this can be pointed at.
_LINE_APART = 8.0
# Seconds between round times to choose from, from a second to ten years.
_LINE_STEPS = (1, 10, 60, 600, 3600, 21600, 86400, 604800, 2592000, 31536000, 315360000)


def timeline(
    times: Sequence[float], values: Sequence[float], hovers: Sequence[str], *, width: float = 720, axis: str = "rating"
) -> str:
    """`values` at `times` (seconds since 1970, rising), each with what is shown when the pointer rests on it."""
    first, last = (times[0], times[-1]) if times else (0.0, 0.0)
    least, most = min(values, default=0.0), max(values, default=0.0)
    if most == least:
        least, most = least - 1, most + 1
    right, bottom = width - _LINE_RIGHT, _LINE_HEIGHT - _LINE_BOTTOM

    def x(time: float) -> float:
        return _LINE_LEFT + (time - first) / ((last - first) or 1.0) * (right - _LINE_LEFT)

    def y(value: float) -> float:
        return 10 + (most - value) / (most - least) * (bottom - 10)

    parts = []
    for tick in ticks(least, most, 4):
        parts.append(line(_LINE_LEFT, y(tick), right, y(tick), "grid"))
        parts.append(text(_LINE_LEFT - 8, y(tick) + 4, number(round(tick, 9)), "tick end"))
    for time, words in _moments(first, last, int((right - _LINE_LEFT) / 110)):
        parts.append(text(x(time), bottom + 20, words, "tick middle"))
    parts.append(text((_LINE_LEFT + right) / 2, bottom + 38, f"{axis}, by time (UTC)", "tick middle"))
    places = [(x(time), y(value)) for time, value in zip(times, values, strict=True)]
    if len(places) > 1:
        parts.append(curve("M" + "L".join(f"{short(a)} {short(b)}" for a, b in places), "track"))
    for k in _apart(places):
        parts.append(group([dot(*places[k], 4, "point")], "moment", hovers[k]))
    return drawing(width, _LINE_HEIGHT, parts, f"{axis} over time, {len(values)} values", "timeline")


def _apart(places: Sequence[tuple[float, float]]) -> list[int]:
    """The last place, and those before it that leave room between dots."""
    shown: list[int] = []
    for k in range(len(places) - 1, -1, -1):
        if not shown or places[shown[-1]][0] - places[k][0] >= _LINE_APART:
            shown.append(k)
    return shown


def _moments(first: float, last: float, most: int) -> list[tuple[float, str]]:
    """Round times inside an interval, not too many, as words."""
    step = next((s for s in _LINE_STEPS if (last - first) / s <= max(most, 1)), _LINE_STEPS[-1])
    shape = "%Y-%m-%d" if step >= 86400 else "%m-%d %H:%M" if step >= 60 else "%H:%M:%S"
    begin = -(-first // step)
    times = [float(k * step) for k in range(int(begin), int(last // step) + 1)] or [first]
    return [(time, datetime.fromtimestamp(time, UTC).strftime(shape)) for time in times]


_BUMP_ROW, _BUMP_TYPE, _BUMP_PAD, _BUMP_LINE = 26, 13, 10, 14
# As many colours as can be told apart, with or without seeing all of them.
COLOURS = 6


def bump(methods: Sequence[str], names: Sequence[str], ranks: Sequence[Sequence[int]], *, width: float = 720) -> str:
    """``ranks[k][j]`` is the rank that method j gives to agent k.

    In each column the agents shown stand in the order of their ranks, so no place is left empty; the number is
    the rank among all agents. Agents that are first by some method, and those that move most, have a colour.
    """
    places = _places(ranks, len(methods))
    columns, gutter = room(names, _BUMP_TYPE, 0.34 * width)
    short_names = shortened(names, columns)
    left, right = gutter + 2 * _BUMP_PAD + 8, width - 26
    step = (right - left) / max(len(methods) - 1, 1)
    heads, top = _heads(methods, step)

    def x(j: int) -> float:
        return left + j * step

    def y(place: int) -> float:
        return top + _BUMP_ROW * place + 8

    parts = [text(x(j), line, word, "tick middle") for j, line, word in heads]
    colour = _colours(ranks, places)
    # Lines in colour on top of the others.
    for k in sorted(range(len(names)), key=lambda k: k in colour):
        track = "M" + "".join(
            f"{short(x(j))} {short(y(p))}" if j == 0 else _bend(x(j - 1), y(places[k][j - 1]), x(j), y(p))
            for j, p in enumerate(places[k])
        )
        marks = [curve(track, "track")]
        for j, p in enumerate(places[k]):
            half = max(10.0, 3.6 * len(str(ranks[k][j])) + 4)
            marks.append(box(x(j) - half, y(p) - 10, 2 * half, 20, "stop", 10))
            marks.append(text(x(j), y(p) + 3.8, str(ranks[k][j]), "place middle"))
        marks.append(text(left - 18, y(places[k][0]) + 4.5, short_names[k], "name end"))
        by = ", ".join(f"{rank} by {method}" for method, rank in zip(methods, ranks[k], strict=True))
        parts.append(group(marks, f"agent c{colour[k]}" if k in colour else "agent", f"{names[k]}: {by}"))
    words = f"Ranks of {len(names)} agents by {', '.join(methods)}"
    return drawing(width, y(len(names)) - 6, parts, words, "bump")


def _places(ranks: Sequence[Sequence[int]], methods: int) -> list[list[int]]:
    """The place of each agent in each column: by rank there, and among equals as they are given."""
    places = [[0] * methods for _ in ranks]
    for j in range(methods):
        for place, k in enumerate(sorted(range(len(ranks)), key=lambda k: ranks[k][j])):
            places[k][j] = place
    return places


def _colours(ranks: Sequence[Sequence[int]], places: Sequence[Sequence[int]]) -> dict[int, int]:
    """The colour of each agent that gets one, numbered from 1."""
    first = [k for k, row in enumerate(ranks) if 1 in row]
    moved = [k for k, row in enumerate(places) if len(set(row)) > 1 and k not in first]
    moved.sort(key=lambda k: -sum(abs(a - b) for a, b in pairwise(places[k])))
    return {k: number for number, k in enumerate([*first, *moved][:COLOURS], 1)}


def _bend(x1: float, y1: float, x2: float, y2: float) -> str:
    """From one place to the next, level at both ends."""
    half = (x1 + x2) / 2
    return f"C{short(half)} {short(y1)} {short(half)} {short(y2)} {short(x2)} {short(y2)}"


def _heads(methods: Sequence[str], step: float) -> tuple[list[tuple[int, float, str]], float]:
    """Words above the columns, each with its column and height, and how high they are together.

    A title has a line for each word; where columns are too narrow for that, every other title stands higher.
    """
    words = [method.replace("-", "- ").split() or [""] for method in methods]
    tall = max((len(lines) for lines in words), default=1)
    crowded = any(room(lines, 11, step * 9)[1] > step - 4 for lines in words)
    top = _BUMP_LINE * tall * (2 if crowded else 1) + 14.0
    heads = []
    for j, lines in enumerate(words):
        bottom = top - 8 - (_BUMP_LINE * tall if crowded and j % 2 else 0)
        heads += [(j, bottom - _BUMP_LINE * (len(lines) - 1 - row), word) for row, word in enumerate(lines)]
    return heads, top
