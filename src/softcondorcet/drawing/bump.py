"""How ranks change from method to method: a column for each method, a line for each agent."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from softcondorcet.drawing.svg import box, curve, drawing, group, room, short, text
from softcondorcet.tables import clipped

_ROW, _TYPE, _PAD, _LINE = 26, 13, 10, 14
# As many colours as can be told apart, with or without seeing all of them.
COLOURS = 6


def bump(methods: Sequence[str], names: Sequence[str], ranks: Sequence[Sequence[int]], *, width: float = 720) -> str:
    """``ranks[k][j]`` is the rank that method j gives to agent k.

    In each column the agents shown stand in the order of their ranks, so no place is left empty; the number is
    the rank among all agents. Agents that are first by some method, and those that move most, have a colour.
    """
    places = _places(ranks, len(methods))
    columns, gutter = room(names, _TYPE, 0.34 * width)
    left, right = gutter + 2 * _PAD + 8, width - 26
    step = (right - left) / max(len(methods) - 1, 1)
    heads, top = _heads(methods, step)

    def x(j: int) -> float:
        return left + j * step

    def y(place: int) -> float:
        return top + _ROW * place + 8

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
        marks.append(text(left - 18, y(places[k][0]) + 4.5, clipped(names[k], columns), "name end"))
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
    """A number from 1 for each agent worth a colour."""
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
    top = _LINE * tall * (2 if crowded else 1) + 14.0
    heads = []
    for j, lines in enumerate(words):
        bottom = top - 8 - (_LINE * tall if crowded and j % 2 else 0)
        heads += [(j, bottom - _LINE * (len(lines) - 1 - row), word) for row, word in enumerate(lines)]
    return heads, top
