"""How a number changed over time: one line, with a dot where it was taken."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from softcondorcet.drawing.svg import curve, dot, drawing, group, line, number, short, text, ticks

_HEIGHT, _LEFT, _RIGHT, _BOTTOM = 190.0, 52.0, 16.0, 44.0
# Dots further apart than this can be pointed at.
_APART = 8.0
# Seconds between round times to choose from, from a second to ten years.
_STEPS = (1, 10, 60, 600, 3600, 21600, 86400, 604800, 2592000, 31536000, 315360000)


def timeline(
    times: Sequence[float], values: Sequence[float], hovers: Sequence[str], *, width: float = 720, axis: str = "rating"
) -> str:
    """`values` at `times` (seconds since 1970, rising), each with what is shown when the pointer rests on it."""
    first, last = (times[0], times[-1]) if times else (0.0, 0.0)
    least, most = min(values, default=0.0), max(values, default=0.0)
    if most == least:
        least, most = least - 1, most + 1
    right, bottom = width - _RIGHT, _HEIGHT - _BOTTOM

    def x(time: float) -> float:
        return _LEFT + (time - first) / ((last - first) or 1.0) * (right - _LEFT)

    def y(value: float) -> float:
        return 10 + (most - value) / (most - least) * (bottom - 10)

    parts = []
    for tick in ticks(least, most, 4):
        parts.append(line(_LEFT, y(tick), right, y(tick), "grid"))
        parts.append(text(_LEFT - 8, y(tick) + 4, number(round(tick, 9)), "tick end"))
    for time, words in _moments(first, last, int((right - _LEFT) / 110)):
        parts.append(text(x(time), bottom + 20, words, "tick middle"))
    parts.append(text((_LEFT + right) / 2, bottom + 38, f"{axis}, by time (UTC)", "tick middle"))
    places = [(x(time), y(value)) for time, value in zip(times, values, strict=True)]
    if len(places) > 1:
        parts.append(curve("M" + "L".join(f"{short(a)} {short(b)}" for a, b in places), "track"))
    for k in _apart(places):
        parts.append(group([dot(*places[k], 4, "point")], "moment", hovers[k]))
    return drawing(width, _HEIGHT, parts, f"{axis} over time, {len(values)} values", "timeline")


def _apart(places: Sequence[tuple[float, float]]) -> list[int]:
    """The last place, and those before it that leave room between dots."""
    shown: list[int] = []
    for k in range(len(places) - 1, -1, -1):
        if not shown or places[shown[-1]][0] - places[k][0] >= _APART:
            shown.append(k)
    return shown


def _moments(first: float, last: float, most: int) -> list[tuple[float, str]]:
    """Round times inside an interval, not too many, as words."""
    step = next((s for s in _STEPS if (last - first) / s <= max(most, 1)), _STEPS[-1])
    shape = "%Y-%m-%d" if step >= 86400 else "%m-%d %H:%M" if step >= 60 else "%H:%M:%S"
    begin = -(-first // step)
    times = [float(k * step) for k in range(int(begin), int(last // step) + 1)] or [first]
    return [(time, datetime.fromtimestamp(time, UTC).strftime(shape)) for time in times]
