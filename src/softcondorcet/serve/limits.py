"""How much of something one caller may have in a second: a bucket that fills at a steady rate."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable


class Buckets:
    """A bucket for each key, the least used forgotten first: a forgotten one is a full one."""

    def __init__(
        self, rate: float, burst: float, *, most: int = 100_000, now: Callable[[], float] = time.monotonic
    ) -> None:
        self.rate, self.burst = rate, burst
        self._most, self._now = most, now
        self._left: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def take(self, key: Hashable, amount: float = 1.0) -> float:
        """0 if there was enough, which is then taken; else the seconds until there will be."""
        now = self._now()
        left, since = self._left.pop(key, (self.burst, now))
        left = min(self.burst, left + (now - since) * self.rate)
        short = min(amount, self.burst) - left  # more than a bucket holds is given when it is full
        self._left[key] = (left if short > 0 else left - amount), now
        if len(self._left) > self._most:
            self._left.popitem(last=False)
        return max(short, 0.0) / self.rate
