"""Numbers as people write them in tables: 85.3%, 1,234.5, 0,853, $3, 1.2k, 12/20, 12.3 ± 0.4, **71.2**, 2nd, -, n/a.

What a comma means is told by the whole column: ``0,853`` and ``1,2345`` can only be decimals, ``1,234.5`` only
thousands, and ``1,234`` alone is as the rest of the table.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import Any

MINUS = "\u2212"
MISSING = frozenset(
    (
        "",
        "-",
        "--",
        "\u2014",
        "\u2013",
        MINUS,
        "n/a",
        "na",
        "nan",
        "none",
        "null",
        "nil",
        "?",
        "tbd",
        "missing",
        "unknown",
        "not reported",
        "n.a.",
        "/",
    )
)
FAILED = frozenset(
    (
        *("inf", "infinity", "+inf", "timeout", "timed_out", "time_out", "to", "oom", "dnf"),
        *("dns", "dnq", "dsq", "failed", "fail", "crash", "crashed", "error", "err"),
    )
)
FLAGS = dict.fromkeys(("true", "yes", "pass", "passed", "correct", "\u2713", "\u2714", "\u2705"), 1.0)
FLAGS |= dict.fromkeys(("false", "no", "fail", "failed", "incorrect", "wrong", "\u2717", "\u2718", "\u274c"), 0.0)
_NUMBER = re.compile(rf"[+\-{MINUS}]?\s*[\d.,'\s]*\d[\d.,]*(?:[eE][+\-]?\d+)?$")
_END = rf"[+\-{MINUS}]?\s*[\d.,]+\s*%?"
_SPREAD = re.compile(
    rf"\s*(?:±|\+/-|\+-)\s*[\d.,]+\s*%?$|\s*\(\s*(?:±\s*)?[\d.,]+\s*%?\)$"
    rf"|\s*[\[(]\s*{_END}\s*(?:,|;|\u2013|-|to)\s*{_END}\s*[\])]$"
)
# Marks of HTML and LaTeX around a number: <b>, footnotes, \textbf{}, and a spread below it.
_TAGS = re.compile(r"<(su[pb])>[^<>]*</\1>|</?\w[^<>]*>", re.IGNORECASE)
_LATEX = re.compile(r"\\(?:textbf|textit|emph|underline|uline|mathbf|bm|boldsymbol|text|textsc)\s*\{([^{}]*)\}")
_BELOW = re.compile(
    r"[_^]\{[^{}]*\}|\\(?:bf|bfseries|it|itshape|scriptsize|tiny|small|cellcolor\{[^{}]*\})(?![a-z])|[{}]"
)
# What a number is times: of times, as seconds.
_UNITS = {"k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9, "bn": 1e9}
_SECONDS = {"ms": 1e-3, "s": 1.0, "sec": 1.0, "secs": 1.0, "min": 60.0, "mins": 60.0, "h": 3600.0, "hrs": 3600.0}
_UNIT = re.compile(rf"(?<=[\d.])\s*({'|'.join(sorted((*_UNITS, *_SECONDS), key=len, reverse=True))})$")
_FRACTION = re.compile(r"(\d+(?:\.\d+)?)\s*/\s*(\d+)$")
_PLACE = re.compile(r"#\s*(\d+)$|(\d+)\s*(?:[snr][td]|th)$", re.IGNORECASE)
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+$")
_MARKS = re.compile(r"^[*_`~†‡\s$€£]+|[*_`~†‡\s↑↓$€£]+$")


@dataclass(frozen=True)
class Numbers:
    """A column read as numbers: nan for a missing cell, +inf for one that says that a run failed."""

    values: list[float]
    missing: int
    failed: list[int]  # rows
    places: bool = False  # 1st, 2nd or #1, #2: better when low


def bare(cell: Any) -> str:
    """A cell without marks of emphasis, currency and spread."""
    text = str(cell).strip().replace("\u00a0", " ")
    if len(text) > 80:  # no number, and long runs of blanks cost these patterns their square
        return text
    if "<" in text:
        text = _TAGS.sub("", text)
    if "\\" in text or "{" in text:
        text = text.replace("\\%", "%").replace("\\,", "")
        text = _BELOW.sub("", _LATEX.sub(r"\1", _LATEX.sub(r"\1", text))).replace("$", "").replace("\\pm", "±")
    text = _MARKS.sub("", text)
    return _MARKS.sub("", _SPREAD.sub("", text))


def is_missing(cell: Any) -> bool:
    return cell is None or (isinstance(cell, float) and cell != cell) or str(cell).strip().casefold() in MISSING


def comma_is_decimal(cells: Sequence[Any]) -> bool | None:
    """Whether commas are decimal commas in these cells; None where they do not say."""
    decimal = thousands = False
    for cell in cells:
        if isinstance(cell, str) and (("," in cell) or ("." in cell)):
            text = bare(cell).rstrip("%").strip().lstrip("+-" + MINUS)
            comma, dot = text.rfind(","), text.rfind(".")
            if comma > dot >= 0 or (comma >= 0 and dot < 0 and not _THOUSANDS.match(text)):
                decimal = True
            elif dot > comma >= 0 or (dot >= 0 and not re.match(r"[1-9]\d{0,2}(\.\d{3})+$", text)):
                thousands = True
    if decimal and thousands:
        return None
    return True if decimal else False if thousands else None


def read_numbers(cells: Sequence[Any], decimal_comma: bool) -> Numbers | None:
    """The numbers of a column; None where a cell is text or where all are missing; failures alone are such numbers."""
    values: list[float] = []
    failed: list[int] = []
    missing = timed = places = 0
    percents: list[int] = []
    for row, cell in enumerate(cells):
        if isinstance(cell, bool) or (isinstance(cell, int | float) and isfinite(cell)):
            values.append(float(cell))
        elif is_missing(cell):
            values.append(nan)
            missing += 1
        else:
            number = _number(cell, decimal_comma)
            if number is None and str(cell).strip().casefold() not in FAILED:
                return None
            if number is None:
                failed.append(row)
            elif bare(cell).endswith("%") or str(cell).rstrip().endswith("%"):
                percents.append(row)
            elif isinstance(cell, str) and not cell[-1:].isdigit():
                timed += _unit_of(cell) in _SECONDS
                places += _place(cell) is not None
            elif isinstance(cell, str):
                places += _place(cell) is not None
            values.append(nan if number is None else number)
    known = len(values) - missing - len(failed)
    if (not known and not failed) or timed not in (0, known) or places not in (0, known):
        return None
    if percents and len(percents) < known:  # percents beside plain numbers: fractions, unless they are beyond 1
        marked = set(percents)
        plain = [abs(value) for row, value in enumerate(values) if value == value and row not in marked]
        if max(plain) <= 1:
            for row in percents:
                values[row] /= 100
    return Numbers(values, missing, failed, places > 0)


def read_flags(cells: Sequence[Any]) -> Numbers | None:
    """A column of words such as true and false, or pass and fail, as 1 and 0; None where it is none."""
    words = [None if is_missing(cell) else FLAGS.get(str(cell).strip().casefold(), -1.0) for cell in cells]
    known = [word for word in words if word is not None]
    if not known or min(known) < 0:
        return None
    return Numbers([nan if word is None else word for word in words], len(words) - len(known), [])


def _unit_of(cell: str) -> str:
    found = _UNIT.search(bare(cell))
    return found[1] if found else ""


def _place(cell: str) -> float | None:
    """The place in ``2nd`` or ``#2``."""
    found = _PLACE.fullmatch(bare(cell))
    return float(found[1] or found[2]) if found else None


def _number(cell: Any, decimal_comma: bool) -> float | None:
    text = bare(cell).rstrip("%").strip()
    if len(text) > 60:
        return None
    if (share := _FRACTION.fullmatch(text)) and 0 <= float(share[1]) <= float(share[2]) != 0:
        return float(share[1]) / float(share[2])
    if (place := _place(text)) is not None:
        return place
    factor = 1.0
    if unit := _UNIT.search(text):
        text, factor = text[: unit.start()], (_UNITS | _SECONDS)[unit[1]]
    if not _NUMBER.match(text):
        return None
    text = text.replace(MINUS, "-").replace(" ", "").replace("'", "")
    if decimal_comma:
        text = text.replace(".", "").replace(",", ".") if "," in text else text
    elif "," in text:
        whole, _, rest = text.lstrip("+-").partition(".")
        if not _THOUSANDS.match(whole) or "," in rest:
            return None
        text = text.replace(",", "")
    try:
        number = float(text) * factor
    except ValueError:
        return None
    return number if isfinite(number) else None
