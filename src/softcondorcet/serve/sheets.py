"""Cells for spreadsheets, which take a cell that begins with one of a few signs for a formula and run it."""

from __future__ import annotations

_SIGNS = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")  # the last four: wide forms of the first


def neutral(cell: str) -> str:
    """The cell with a quote in front where it would be a formula; and where it would look like one that has it.

    >>> neutral("=1+1"), neutral("gpt-4")
    ("'=1+1", 'gpt-4')
    """
    return "'" + cell if cell.lstrip("'").startswith(_SIGNS) else cell


def plain(cell: str) -> str:
    """What ``neutral`` was given.

    >>> plain(neutral("'=1+1"))
    "'=1+1"
    """
    return cell[1:] if cell.startswith("'") and cell.lstrip("'").startswith(_SIGNS) else cell
