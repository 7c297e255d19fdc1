"""Numbers, names, lists and lines as text for people. Names are hostile input."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from itertools import chain, count
from unicodedata import combining, east_asian_width

DASH, _MINUS = "\u2013", "\u2212"
# What begins a line and stays alone there when the line is broken: blanks, or a short label and the blanks after it.
_LABEL = re.compile(r" *(?:\S+(?: \S+){0,3} {2,}|\S+: )?")
_LONGEST_LABEL = 24


def number(value: float) -> str:
    """A number for people: thousands apart, four digits where it is not whole.

    >>> number(1234567.0), number(8.5), number(0.123456)
    ('1,234,567', '8.5', '0.1235')
    """
    if not math.isfinite(value) or abs(value) >= 1e15:
        return f"{value:g}"
    return f"{value:,.0f}" if value == round(value) else f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.1f}"


def signed(value: float, digits: int) -> str:
    """A number with a minus as printers set it, and none before a zero."""
    shown = f"{abs(value):,.{digits}f}"
    return f"{_MINUS}{shown}" if value < 0 and shown.strip("0.,") else shown


def plural(count: float, noun: str, nouns: str = "") -> str:
    """A number of things.

    >>> plural(1, "vote"), plural(2000, "vote"), plural(2, "match", "matches")
    ('1 vote', '2,000 votes', '2 matches')
    """
    return f"{number(count)} {noun if count == 1 else nouns or noun + 's'}"


def percent(share: float, digits: int = 0) -> str:
    """A share of one in percent; 0 % and 100 % only where it is exactly that.

    >>> percent(0.5), percent(0.9999), percent(1), percent(0.12345, 1)
    ('50 %', '99 %', '100 %', '12.3 %')
    """
    step = 10.0**-digits
    shown = round(100 * share, digits)
    if 0 < share < 1:
        shown = min(max(shown, step), 100 - step)
    return f"{shown:.{digits}f} %"


def confidence(share: float) -> str:
    """The level of an interval, as 95 % or 99.9 %."""
    return f"{100 * share:.4g} %"


def span(low: int, high: int) -> str:
    """A range of ranks: 3, or 2 to 5 with a dash between them."""
    return f"{low:,}" if low == high else f"{low:,}{DASH}{high:,}"


def listing(names: Sequence[str], most: int = 4) -> str:
    """A, B and C; or the first few and how many more."""
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} and {len(names) - most + 1:,} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def some(names: Iterable[str], most: int = 3) -> str:
    """The first few names of a list, for a message, and how many more there are."""
    listed = list(names)
    rest = len(listed) - most
    return (", ".join(listed[:most]) + (f" and {rest} more" if rest > 0 else "")) or "none"


def printable(name: str) -> str:
    """A name that cannot move the cursor, ring the bell or break the line."""
    if name.isprintable():
        return name
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def clipped(name: str, columns: int) -> str:
    """A printable name of at most so many columns. The middle goes: versions and sizes stand at the end of names."""
    return _cut(printable(name), columns, columns // 3)


def shortened(names: Sequence[str], columns: int) -> list[str]:
    """Printable names of at most so many columns. Those that differ stay different: what they share goes.

    >>> shortened(["claude-4-thinking-high-effort", "claude-4-thinking-low-effort", "elm"], 15)
    ['claude…h-effort', 'claude…w-effort', 'elm']
    """
    shown = [printable(name) for name in names]
    distinct, best = len(set(shown)), shown
    if all(wide(name) <= columns for name in shown):
        return shown
    for k, tail in enumerate(sorted(range(columns - 1), key=lambda tail: abs(tail - columns // 3))):
        tried = [_cut(name, columns, tail) for name in shown]
        if len(set(tried)) == distinct:
            return tried
        best = max(best, tried, key=lambda short: len(set(short))) if k else tried
    return _numbered(shown, _without_shared(shown, best, columns), columns)


def _cut(name: str, columns: int, tail: int) -> str:
    """A name without its middle, so that its last letters stay."""
    if wide(name) <= columns and len(name) <= columns:
        return name
    return f"{_fitting(name, columns - 1 - tail)}…{_fitting(name[::-1], tail)[::-1]}"


def _fitting(text: str, columns: int) -> str:
    """The first letters that fit; here a combining letter takes a column too, or a pile of them would never end."""
    if text.isascii():
        return text[: max(columns, 0)]
    taken = 0
    for k, letter in enumerate(text):
        taken += max(wide(letter), 1)
        if taken > columns:
            return text[:k]
    return text


def _without_shared(names: Sequence[str], best: Sequence[str], columns: int) -> list[str]:
    """Where several names were shortened to the same, those names without what all of them begin with."""
    alike: dict[str, list[str]] = {}
    for name, short in zip(names, best, strict=True):
        alike.setdefault(short, []).append(name)
    shared = {short: _shared(min(group), max(group)) for short, group in alike.items()}
    return [
        clipped(f"{name[:3]}…{name[shared[short] :]}", columns) if shared[short] > 4 else short
        for name, short in zip(names, best, strict=True)
    ]


def _shared(one: str, other: str) -> int:
    """With how many letters both of two names begin; 0 where they are the same."""
    return next((k for k, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), 0)


def _numbered(names: Sequence[str], short: Sequence[str], columns: int) -> list[str]:
    """The short form of each name; those that still read the same are told apart by a number at their end."""
    given: dict[str, str] = {}
    used: set[str] = set()
    for name, text in zip(names, short, strict=True):
        if name not in given:
            marks = (f"…{k}" for k in count(2))
            forms = chain([text], (_fitting(text, columns - len(mark)) + mark for mark in marks))
            given[name] = next(form for form in forms if form not in used)
            used.add(given[name])
    return [given[name] for name in names]


def wrapped(line: str, columns: int | None) -> list[str]:
    """A printable line broken between words, so that each part fits; a word that is wider stays whole.

    What follows stands below the text, not below its label.

    >>> wrapped("votes  2,400 of two agents", 17)
    ['votes  2,400 of', '       two agents']
    """
    line = printable(line)
    if columns is None or wide(line) <= columns:
        return [line]
    found = _LABEL.match(line)
    label = found.group() if found and wide(found.group()) <= min(_LONGEST_LABEL, columns // 2) else ""
    lines, so_far = [], label
    for word in line[len(label) :].split(" "):
        if so_far.strip() and so_far != label and wide(so_far) + 1 + wide(word) > columns:
            lines.append(so_far)
            so_far = " " * wide(label) + word
        else:
            so_far += word if so_far in (label, " " * wide(label)) else f" {word}"
    return [*lines, so_far]


def wide(text: str) -> int:
    """How wide a terminal shows it: two columns for wide letters, none for combining ones."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 1 + (east_asian_width(c) in "WF") for c in text)


def rounded_up(value: float) -> str:
    """Two digits, and never less than the value, which is not negative."""
    if value == 0:
        return "0"
    digit = 10.0 ** (math.floor(math.log10(value)) - 1) or value  # or value: of the smallest numbers there are
    return f"{math.ceil(value / digit) * digit:,.10g}"


def padded(texts: Sequence[str], columns: int, *, right: bool = False) -> list[str]:
    """Texts filled up with blanks to so many columns, on their left to stand on the right.

    >>> padded(["7", "12"], 3, right=True)
    ['  7', ' 12']
    """
    blanks = [" " * (columns - wide(text)) for text in texts]
    return [space + text if right else text + space for text, space in zip(texts, blanks, strict=True)]


def widest(texts: Iterable[str]) -> int:
    """How wide the widest of these is on a terminal."""
    return max(map(wide, texts), default=0)
