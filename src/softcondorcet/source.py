"""Where votes come from: the file, and which of its votes were chosen."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Selection:
    """The conditions by which votes were chosen, how many met them, and of how many."""

    conditions: tuple[str, ...]
    votes: int
    of: int


@dataclass(frozen=True)
class Source:
    """The file that votes were read from: its name, and the SHA-256 of its bytes (of the archive, for a member).

    Of several files it is the SHA-256 of the list of theirs. ``notes`` say in one line each what the reader did and
    what it left out; ``selection`` is there where only some of the votes were wanted. ``teams`` is what separates the
    members of a side, where the file has lists of them.
    """

    name: str
    sha256: str
    notes: tuple[str, ...] = ()
    selection: Selection | None = None
    teams: str | None = None
