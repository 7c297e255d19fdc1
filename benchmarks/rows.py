"""The end of every benchmark: rows as a table on the screen and, where asked for, as a csv file."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def arguments(doc: str) -> argparse.ArgumentParser:
    """A parser that says the first line of the script's docstring and knows where to write."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--csv", metavar="FILE", help="write the rows to FILE")
    return parser


def show(rows: Sequence[dict[str, Any]], path: str | None = None) -> None:
    """Print the rows in columns, and write them to `path`."""
    lines = [list(rows[0]), *(list(row.values()) for row in rows)]
    width = [max(len(str(line[c])) for line in lines) for c in range(len(lines[0]))]
    for line in lines:
        print("  ".join(str(cell).rjust(w) for cell, w in zip(line, width, strict=True)))
    if path:
        with Path(path).open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(lines)
