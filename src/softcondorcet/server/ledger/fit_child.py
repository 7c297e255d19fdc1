"""Entry point of the process that fits a board: it lowers its priority before it loads anything."""

from __future__ import annotations

import os


def give_way() -> None:
    """Take a low priority and one core, so that votes have the others. Later threads inherit both."""
    os.nice(10)
    if hasattr(os, "sched_setaffinity"):  # not on macOS, where the priority has to do
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


if __name__ == "__main__":
    give_way()
    from softcondorcet.server.ledger.fit_process import main

    main()
