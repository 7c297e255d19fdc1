"""Limits on what callers send and hold: names, rates, open streams, and the pairs of a board.

A name has one form (NFC, single spaces) and no invisible characters. One caller may have so much in a second, and so
many streams at a time. What counting and fitting a board takes of memory grows with its pairs, so these are bounded.
"""

from __future__ import annotations

import asyncio
import re
import time
import unicodedata
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Sequence

from softcondorcet.server.ledger.board import Board
from softcondorcet.server.ledger.writer import Ask, Refused, n_compared

# As long as a page shows in full.
LONGEST = 120
# Code points before a name is normalised, which may join four into one. Looked at first: to normalise a run of
# combining marks takes time that grows with the square of its length.
_LONGEST_RAW = 4 * LONGEST
# Control, format (bidirectional and zero-width among them), surrogate, private and unassigned; lines and paragraphs.
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
# Default_Ignorable_Code_Point in other categories (fillers, joiners, variation selectors), and letters without ink.
_IGNORABLE = re.compile(
    r"[\u034F\u115F\u1160\u17B4\u17B5\u180B-\u180F\u3164\uFE00-\uFE0F\uFFA0\U000E0000-\U000E0FFF"
    r"\u2800\U00016FE4\U0001D159]"
)


class BadName(ValueError):  # noqa: N818
    """The error of a name that is refused; its text says why."""


def name(text: str, what: str) -> str:
    """Normalise and validate a name from a request: NFC, single spaces, no invisible characters."""
    if len(text) > _LONGEST_RAW:
        raise BadName(f"{what}: expected at most {LONGEST} letters, got {len(text):,}")
    if text.isascii() and text.isprintable() and text == text.strip() and "  " not in text:
        normal = text
    else:
        unseen = _IGNORABLE.search(text)
        letter = unseen[0] if unseen else next((c for c in text if unicodedata.category(c) in _INVISIBLE), None)
        if letter is not None:
            raise BadName(f"{what}: expected visible letters, got U+{ord(letter):04X}")
        normal = " ".join(unicodedata.normalize("NFC", text).split())
    if not normal:
        raise BadName(f"{what}: expected a name, got nothing")
    if len(normal) > LONGEST:
        raise BadName(f"{what}: expected at most {LONGEST} letters, got {len(normal):,}")
    return normal


class Busy(Exception):  # noqa: N818
    """The error of a request that came while too many others were under way. It may be sent again soon."""


class Buckets:
    """Rate limits by token buckets: one for each key, refilled at a steady rate. The least used is dropped first."""

    def __init__(
        self, rate: float, burst: float, *, most: int = 100_000, now: Callable[[], float] = time.monotonic
    ) -> None:
        self.rate, self.burst = rate, burst
        self._most, self._now = most, now
        self._left: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def take(self, key: Hashable, amount: float = 1.0, *, owe: bool = False) -> float:
        """Take from a bucket and return 0; or, if it holds too little, the seconds until it holds enough.

        With `owe` it is taken all the same.
        """
        now = self._now()
        left, since = self._left.pop(key, (self.burst, now))
        left = min(self.burst, left + (now - since) * self.rate)
        short = min(amount, self.burst) - left  # more than a bucket holds is given when it is full
        self._left[key] = left - amount if owe or short <= 0 else left, now
        if len(self._left) > self._most:
            self._left.popitem(last=False)
        return max(short, 0.0) / self.rate


class Listeners:
    """Open event streams, by host. Where there are too many, the host with most loses one."""

    def __init__(self, most: int = 200) -> None:
        self.most = most
        self._open: dict[str, OrderedDict[object, None]] = defaultdict(OrderedDict)

    def __len__(self) -> int:
        return sum(map(len, self._open.values()))

    def admits(self, host: str) -> bool:
        """Whether there is room for one more, or another host has more than one above what this one has."""
        return len(self) < self.most or len(self._open[self._largest()]) > len(self._open.get(host, ())) + 1

    def add(self, host: str) -> object:
        """A stream, which is open as long as ``is_open`` says so."""
        if len(self) >= self.most:
            self._open[self._largest()].popitem(last=False)
        stream = object()
        self._open[host][stream] = None
        return stream

    def _largest(self) -> str:
        return max(self._open, key=lambda host: len(self._open[host]))

    def is_open(self, host: str, stream: object) -> bool:
        return stream in self._open.get(host, ())

    def close(self, host: str, stream: object) -> None:
        if host in self._open:
            self._open[host].pop(stream, None)
            if not self._open[host]:
                del self._open[host]


# A ranking of more agents than this is long: together long ones may take half of the pairs, so that nobody can keep
# out battles by a few of them.
_LONG = 50


class PairLimit:
    """Room for the pairs of votes that are being written, board by board."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._promised = Counter[int]()

    async def reserve(self, board: Board, asks: Sequence[Ask]) -> int:
        """Room for these, to be given back when they are written or not; refused where there is none.

        Pairs are counted only where room may be short.
        """
        votes = [ask.body for ask in asks if ask.kind == "vote"]
        taken = sum(map(n_compared, votes))
        most = self.most // 2 if any(sum(map(len, tiers)) > _LONG for tiers in votes) else self.most
        if self._with(board, taken) > most and self._possible(board, votes) > self.most:
            taken = await asyncio.to_thread(self._needed, board, votes, most)
            if taken and self._with(board, taken) > most:
                raise Refused(
                    f"this board may have {self.most:,} pairs of agents that were compared, and these votes would "
                    f"bring it above {most:,}; shorter rankings, or agents that have met, may still be sent"
                )
        self._promised[board.id] += taken
        return taken

    def give_back(self, board: Board, taken: int) -> None:
        """End a reservation: the votes were written, or refused."""
        self._promised[board.id] -= taken

    def _needed(self, board: Board, votes: Sequence[Sequence[Sequence[str]]], most: int) -> int:
        """New pairs of these votes, or any number that is too many: how much room is left is known after counting."""
        board.recount()
        return board.new_pairs(votes, max(most - self._with(board, 0), 0))

    def _with(self, board: Board, more: int) -> int:
        return board.most_pairs() + self._promised[board.id] + more

    def _possible(self, board: Board, votes: Sequence[Sequence[Sequence[str]]]) -> int:
        """All pairs of the agents that there are, or would be."""
        agents = len({*board.agents, *(name for tiers in votes for tier in tiers for name in tier)})
        return agents * (agents - 1) // 2
