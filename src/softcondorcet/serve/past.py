"""The fits of before: of each, what pages say of it, read once."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Protocol

import msgspec
import numpy as np

from softcondorcet.arrays import Floats, read_only
from softcondorcet.serve.database import Database

# Ratings that are kept, in all: 32 MB. Where there are more, those of the oldest fits are read each time.
_MOST = 2**22


class Rated(Protocol):
    """What pages of the past need of a fit."""

    @property
    def id(self) -> int: ...
    @property
    def made(self) -> float: ...
    @property
    def n_votes(self) -> int: ...
    @property
    def values(self) -> Floats: ...


@dataclass(frozen=True)
class PastFit:
    """A fit without what else was found out."""

    id: int
    made: float
    n_votes: int
    values: Floats


class _Body(msgspec.Struct):
    """The part of a fit's JSON that is wanted; the rest is passed over."""

    values: list[float]
    n_votes: int


_decoder = msgspec.json.Decoder(_Body)


class Past:
    """The fits of all boards that were kept."""

    def __init__(self, database: Database) -> None:
        self._database, self._lock = database, Lock()
        self._known: dict[int, PastFit] = {}

    def of(self, board: int) -> list[PastFit]:
        """Oldest first."""
        reader = self._database.reader()
        try:
            rows = reader.run("SELECT id, made FROM fit WHERE board = ? ORDER BY id", (board,))
            known = self._known
            found = [known.get(number) or _read(reader, number, made) for number, made in rows]
        finally:
            reader.close()
        fits = [fit for fit in found if fit is not None]
        with self._lock:
            self._known = _newest({**self._known, **{fit.id: fit for fit in fits}})
        return fits


def _read(reader: Database, number: int, made: float) -> PastFit | None:
    """None for one that has gone since it was listed: another fit took its place."""
    rows = reader.run("SELECT body FROM fit WHERE id = ?", (number,))
    if not rows:
        return None
    found = _decoder.decode(rows[0][0])
    return PastFit(number, made, found.n_votes, read_only(np.array(found.values, dtype=float)))


def _newest(fits: dict[int, PastFit]) -> dict[int, PastFit]:
    """As many of the newest as may be kept."""
    kept, room = {}, _MOST
    for number in sorted(fits, reverse=True):
        room -= len(fits[number].values)
        if room < 0:
            break
        kept[number] = fits[number]
    return kept
