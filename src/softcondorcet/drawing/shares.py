"""How often one agent came out above another, level, or below: one bar in three parts."""

from __future__ import annotations

from softcondorcet.drawing.svg import box, drawing, group, number, room, text
from softcondorcet.tables import clipped

_BAR, _TOP, _TYPE = 30.0, 24.0, 13


def shares(names: tuple[str, str], won: float, tied: float, lost: float, *, width: float = 720) -> str:
    """A bar for what the first of the two `names` won, what was tied, and what it lost, to scale."""
    total = (won + tied + lost) or 1.0
    columns, _ = room(names, _TYPE, 0.46 * width)
    parts = [
        text(0, 14, clipped(names[0], columns), "name"),
        text(width, 14, clipped(names[1], columns), "name end"),
    ]
    x = 0.0
    told = (f"{names[0]} won", won, "won"), ("tied", tied, "level"), (f"{names[1]} won", lost, "lost")
    for words, count, kind in told:
        side = width * count / total
        if count:
            marks = [box(x, _TOP, max(side - 1, 1), _BAR, kind)]
            share = f"{100 * count / total:.0f} %"
            if side > 8 * len(share) + 8:
                marks.append(text(x + side / 2, _TOP + _BAR / 2 + 4.5, share, "share middle"))
            parts.append(group(marks, "part", f"{words} {number(count)}"))
        x += side
    words = f"{names[0]} won {number(won)}, tied {number(tied)}, {names[1]} won {number(lost)}"
    return drawing(width, _TOP + _BAR + 4, parts, words, "shares")
