"""Numbers as people write them in tables: 85.3%, 1,234.5, 0,853, $3, 12.3 ± 0.4, **71.2**, -, n/a.

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
        "/",
    )
)
FAILED = frozenset(
    (
        *("inf", "infinity", "+inf", "timeout", "timed_out", "time_out", "to", "oom", "dnf"),
        *("dns", "dnq", "dsq", "failed", "fail", "crash", "crashed", "error", "err"),
    )
)
_NUMBER = re.compile(rf"[+\-{MINUS}]?\s*[\d.,'\s]*\d[\d.,]*(?:[eE][+\-]?\d+)?$")
_SPREAD = re.compile(r"\s*(?:±|\+/-|\+-)\s*[\d.,]+\s*%?$|\s*\(\s*(?:±\s*)?[\d.,]+\s*%?\)$")
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+$")
_MARKS = re.compile(r"^[*_`~†‡\s$€£]+|[*_`~†‡\s↑↓]+$")


@dataclass(frozen=True)
class Numbers:
    """A column read as numbers: nan for a missing cell, +inf for one that says that a run failed."""

    values: list[float]
    missing: int
    failed: list[int]  # rows


def bare(cell: Any) -> str:
    """A cell without marks of emphasis, currency and spread."""
    text = str(cell).strip().replace("\u00a0", " ")
    if len(text) > 80:  # no number, and long runs of blanks cost these patterns their square
        return text
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
    missing = 0
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
            values.append(nan if number is None else number)
    known = len(values) - missing - len(failed)
    if not known and not failed:
        return None
    if percents and len(percents) < known:  # percents beside plain numbers: fractions, unless they are beyond 1
        marked = set(percents)
        plain = [abs(value) for row, value in enumerate(values) if value == value and row not in marked]
        if max(plain) <= 1:
            for row in percents:
                values[row] /= 100
    return Numbers(values, missing, failed)


def _number(cell: Any, decimal_comma: bool) -> float | None:
    text = bare(cell).rstrip("%").strip()
    if len(text) > 60 or not _NUMBER.match(text):
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
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None
