"""SVG elements as text: the few that charts are made of.

A drawing has no colours, fonts, scripts or ids of its own: classes, which ``charts.css`` gives a meaning in light and
dark. Links are there where a caller gives them. Names are hostile input; every word on its way into a drawing passes
through ``escape``.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable

from softcondorcet.formatting import printable, wide

# Width of a letter as a share of the size of the type; system fonts differ, names are clipped with this to spare.
_LETTER = 0.6


def escape(words: str) -> str:
    """Text or the value of an attribute: what cannot be seen is spelt out, and nothing becomes markup."""
    return html.escape(printable(words))


def drawing(width: float, height: float, parts: Iterable[str], words: str, kind: str, role: str = "img") -> str:
    """The whole picture, as one image whose name for those who cannot see it is `words`; a group if parts lead on."""
    size = f'width="{short(width)}" height="{short(height)}" viewBox="0 0 {short(width)} {short(height)}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="drawing {kind}" {size} role="{role}"'
    return f'{head} aria-label="{escape(words)}">{"".join(parts)}</svg>'


def plain_drawing(width: float, height: float, parts: Iterable[str], kind: str) -> str:
    """A small picture that repeats the words beside it, and is hidden from those who hear the page."""
    size = f'viewBox="0 0 {short(width)} {short(height)}"'
    return f'<svg class="drawing {kind}" {size} aria-hidden="true">{"".join(parts)}</svg>'


def text(x: float, y: float, words: str, kind: str, hover: str = "") -> str:
    return f'<text x="{short(x)}" y="{short(y)}" class="{kind}">{escape(words)}{title(hover)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<path class="{kind}" d="M{short(x1)} {short(y1)}L{short(x2)} {short(y2)}"/>'


def curve(d: str, kind: str, hover: str = "") -> str:
    """A path; `d` is made of numbers by us."""
    return f'<path class="{kind}" d="{d}">{title(hover)}</path>' if hover else f'<path class="{kind}" d="{d}"/>'


def dot(x: float, y: float, radius: float, kind: str) -> str:
    return f'<circle class="{kind}" cx="{short(x)}" cy="{short(y)}" r="{short(radius)}"/>'


def box(x: float, y: float, width: float, height: float, kind: str, corner: float = 3) -> str:
    size = f'width="{short(width)}" height="{short(height)}"'
    return f'<rect class="{kind}" x="{short(x)}" y="{short(y)}" {size} rx="{short(corner)}"/>'


def group(parts: Iterable[str], kind: str, hover: str = "") -> str:
    """Parts that belong together; `hover` is shown when the pointer rests on any of them."""
    return f'<g class="{kind}">{title(hover)}{"".join(parts)}</g>'


def leading(address: str, part: str) -> str:
    """A part that leads somewhere when it is clicked; the Tab key passes it by."""
    return f'<a href="{escape(address)}" tabindex="-1">{part}</a>'


def title(hover: str) -> str:
    return f"<title>{escape(hover)}</title>" if hover else ""


def short(number: float) -> str:
    """A coordinate with one digit after the point, or none."""
    shown = f"{number:.1f}".removesuffix(".0")
    return "0" if shown == "-0" else shown


def room(names: Iterable[str], size: float, most: float) -> tuple[int, float]:
    """How many columns of type of this size to grant to names, and how wide that is, within `most`."""
    letter = _LETTER * size
    columns = max((wide(printable(name)) for name in names), default=0)
    columns = max(4, min(columns, int(most / letter)))
    return columns, columns * letter


def ticks(low: float, high: float, most: int) -> list[float]:
    """At most so many round numbers, evenly spaced, inside an interval."""
    if high - low <= 1e-9 * max(abs(low), abs(high), 1e-200):
        return [low]
    raw = (high - low) / max(most, 1)
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(m * size for m in (1, 2, 2.5, 5, 10, 20) if m * size >= raw)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)] or [low]
