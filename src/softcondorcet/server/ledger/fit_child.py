"""A fit in a process that gives way from its first moment: loading what it needs takes longer than a vote may wait."""

from __future__ import annotations

import os


def give_way() -> None:
    """A low priority, and one core: the others are for votes. Threads that begin later are bound by it too."""
    os.nice(10)
    if hasattr(os, "sched_setaffinity"):  # not on macOS, where the priority has to do
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


if __name__ == "__main__":
    give_way()
    from softcondorcet.server.ledger.fit_process import main

    main()
