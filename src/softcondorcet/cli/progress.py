"""A bar on a terminal while a command works."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

from softcondorcet.checks import Watch

# Names the work at hand; gives what a method calls to report its steps.
Work = Callable[[str], Watch | None]


@contextmanager
def progress() -> Iterator[Work]:
    """A bar for work that takes more than two seconds, on a terminal; nothing elsewhere."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield lambda title: None
        return
    bar = _Bar()
    bar.start()
    try:
        yield bar.name
    finally:
        bar.ended.set()
        bar.join()


class _Bar(Thread):
    """Draws the work at hand on one line of standard error, ten times a second."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.ended = Event()
        self.name("")

    def name(self, title: str) -> Watch:  # type: ignore[override]
        self.title, self.step, self.steps, self.began = title, 0, 0, time.monotonic()
        return self.watch

    def watch(self, step: int, steps: int, _: Any) -> None:
        self.step, self.steps = step, steps

    def run(self) -> None:
        wait = 2.0
        while not self.ended.wait(wait):
            wait = 0.1
            sys.stderr.write(f"\r\x1b[K{self._line()}")
            sys.stderr.flush()
        if wait < 2.0:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def _line(self) -> str:
        passed, done = time.monotonic() - self.began, min(self.step / max(self.steps, 1), 1.0)
        return line(self.title, passed=passed, columns=shutil.get_terminal_size().columns, done=done)


def line(title: str, *, passed: float, columns: int, done: float = 0.0) -> str:
    """What is being done, and for how long; once a share of it is `done`, how far it is and how long it will take."""
    from softcondorcet.formatting import clipped

    if not done:
        return f"{clipped(title, columns - 12)} {_clock(passed)}"
    bar = "━" * round(20 * done) + "╌" * (20 - round(20 * done))
    return f"{clipped(title, columns - 40)} {bar} {_clock(passed / done - passed)} left"


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
