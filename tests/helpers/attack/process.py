"""Attacks on the process: killed, told to stop twice, without its children, and with a clock that jumps."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path

import killing

from helpers.attack.clients import family
from helpers.attack.database import locked
from helpers.attack.harness import Setup, Target

# The server reads its clock with an offset in seconds that stands in a file.
CLOCK = Setup(
    prepared="""
import time
_real, _offset = time.time, "{folder}/offset"
def _time():
    try:
        return _real() + float(open(_offset).read())
    except (OSError, ValueError):
        return _real()
time.time = _time
"""
)
YEAR = 365 * 86400.0


def nothing(target: Target) -> None:
    """No attack at all: what another client sees of a server at peace."""
    time.sleep(1 if target.short else 5)
    target.fits_go_on()


def kills(target: Target) -> None:
    """Killed with -9 again and again, while 16 clients write."""
    folder = target.folder / "kills"
    folder.mkdir()
    found = killing.run(str(folder), killing.by_command, kills=2 if target.short else 20, seed=1, longest=0.5)
    target.expect(not found.faults, f"of {found.acknowledged:,} acknowledged votes: {found.faults}")
    target.expect(found.acknowledged > 0, "no vote was acknowledged: no attack")


def second_sigterm(target: Target) -> None:
    """Told to stop twice, while the database is locked and a commit hangs."""
    server = target.site.server

    def vote() -> None:
        with suppress(OSError, HTTPException):
            target.client().battle()

    with locked(target.site.address):
        voters = [threading.Thread(target=vote) for _ in range(4)]
        for voter in voters:
            voter.start()
        time.sleep(0.3)
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        began = time.monotonic()
        if server.process.poll() is None:
            server.process.send_signal(signal.SIGTERM)
        try:
            server.process.wait(2)
        except subprocess.TimeoutExpired:
            target.broken.append("the process is still there 2 s after the second SIGTERM")
            with suppress(subprocess.TimeoutExpired):
                server.process.wait(10)
                target.broken.append(f"it ended after {time.monotonic() - began:.1f} s")
        server.process.kill()
        for voter in voters:
            voter.join()


def killed_fits(target: Target) -> None:
    """Every child of the server is killed for some seconds; votes that wait for a fit get one afterwards, unasked."""
    board = target.new_board()
    target.done(target.admin(board).battle(), "a vote")
    end, number = time.monotonic() + (4 if target.short else 10), 0
    while time.monotonic() < end:
        for child in family(target.site.server.pid)[1:]:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
                number += 1
        time.sleep(0.2)
    target.expect(number > 0, "no fit was begun: no attack")
    target.fitted(board)


def jumping_clock(target: Target) -> None:
    """A clock that jumps a year ahead and back: no time is in the future afterwards, and the history goes on."""
    board, offset = target.new_board(), target.folder / "offset"
    admin = target.admin(board)
    made = []
    for jump in (0.0, YEAR, 700.0, 1400.0, 2100.0):
        _set(offset, jump)
        target.done(admin.battle(voter=f"at {jump:.0f}"), f"a vote at {jump:+,.0f} s")
        if not target.fitted(board):
            return
        made.append(admin.get("/leaderboard.json")["fit"]["made"])
    now = time.time() + 2100.0 + 1
    told = admin.get("/leaderboard.json")
    target.expect(told["changed"] <= now, f"the last change is {(told['changed'] - now) / 86400:.0f} days ahead")
    target.expect(told["fit"]["made"] <= now, "the last fit is of the future")
    kept = [fit["made"] for fit in admin.get("/history.json")["fits"]]
    missing = [k for k in (0, 2, 3, 4) if not any(abs(made[k] - one) < 1 for one in kept)]
    target.expect(not missing, f"fits {missing} of 0 to 4 are not in the history, 1 being that of the future")


def _set(file: Path, offset: float) -> None:
    part = file.with_suffix(".part")
    part.write_text(str(offset))
    part.replace(file)
