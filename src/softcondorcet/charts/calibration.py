"""A chart of calibration: what chances said against what came out, with intervals, beside the line where they agree."""

from __future__ import annotations

from collections.abc import Sequence

from softcondorcet.charts.svg import curve, dot, drawing, group, line, short, text
from softcondorcet.formatting import percent

_LEFT, _RIGHT, _TOP, _BOTTOM, _HIGH = 52.0, 16.0, 10.0, 44.0, 300.0
_TICKS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def calibration(
    chance: Sequence[float], came_out: Sequence[float], low: Sequence[float], high: Sequence[float], *,
    width: float = 720,
) -> str:  # fmt: skip
    """A dot for each bin: the chance of favourites, from one half on, and the share that came out, `low` to `high`."""
    width = min(width, 420.0)
    right, bottom = width - _RIGHT, _HIGH - _BOTTOM
    least = min([0.5, *low])

    def x(share: float) -> float:
        return _LEFT + (share - 0.5) / 0.5 * (right - _LEFT)

    def y(share: float) -> float:
        return _TOP + (1.0 - share) / (1.0 - least) * (bottom - _TOP)

    parts = [line(x(0.5), y(0.5), x(1.0), y(1.0), "grid right")]
    for tick in _TICKS:
        parts += [
            line(_LEFT, y(tick), right, y(tick), "grid"),
            text(_LEFT - 8, y(tick) + 4, percent(tick), "tick end"),
            text(x(tick), bottom + 20, percent(tick), "tick middle"),
        ]
    parts.append(text((_LEFT + right) / 2, bottom + 38, "chance of the favourite", "tick middle"))
    if len(chance) > 1:
        track = "L".join(f"{short(x(a))} {short(y(b))}" for a, b in zip(chance, came_out, strict=True))
        parts.append(curve(f"M{track}", "track"))
    for said, came, from_, to in zip(chance, came_out, low, high, strict=True):
        marks = [line(x(said), y(from_), x(said), y(to), "whisker"), dot(x(said), y(came), 4, "point")]
        hover = f"said {percent(said)}, came out {percent(came)} ({percent(from_)} to {percent(to)})"
        parts.append(group(marks, "moment", hover))
    words = f"How often favourites came out above, by the chance they were given, in {len(chance)} bins"
    return drawing(width, _HIGH, parts, words, "calibration")
