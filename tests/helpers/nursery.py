"""Servers forked off a process that has imported everything: real processes, ready in a fraction of a second.

They make no fits, which would take longer than they live.
"""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

from helpers.serving import STOP, Answer, ask, post


@dataclass
class Forked:
    """A server in a process that a nursery forked."""

    nursery: subprocess.Popen[str]
    port: int
    pid: int
    ready_after: float

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(self, path: str, body: object = None) -> Answer:
        return post(self.url + path, body)

    def kill(self) -> int:
        """SIGKILL, and the exit code."""
        return self.stop(signal.SIGKILL)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """The exit code; minus the signal if that is what ended it."""
        return int(_order(self.nursery, "stop", str(self.pid), str(int(how))))


Start = Callable[..., AbstractContextManager[Forked]]


def _order(nursery: subprocess.Popen[str], *words: str) -> str:
    assert nursery.stdin is not None and nursery.stdout is not None
    print(*words, file=nursery.stdin, flush=True)
    return nursery.stdout.readline().strip()


@contextmanager
def nursery() -> Iterator[Start]:
    """A process that forks servers: ``with start(path, port, fault=...) as server``."""
    command, home = [sys.executable, "-m", __name__], Path(__file__).parents[1]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(home), *sys.path])}
    waiting = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)

    @contextmanager
    def start(path: str, port: int | None = None, fault: str = "none") -> Iterator[Forked]:
        port, began = port or free_port(), time.monotonic()
        server = Forked(waiting, port, int(_order(waiting, "fork", path, str(port), fault)), 0.0)
        try:
            _wait_until_ready(server)
            server.ready_after = time.monotonic() - began
            yield server
        finally:
            server.kill()

    try:
        yield start
    finally:
        waiting.communicate()


def free_port() -> int:
    """A port below those that the system gives to clients and to port 0, so that nobody is given it meanwhile."""
    for port in random.sample(range(10_000, 30_000), 100):
        with suppress(OSError), socket.socket() as listening:
            listening.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port of a hundred is free")


def _wait_until_ready(server: Forked) -> None:
    late = time.monotonic() + STOP
    while time.monotonic() < late:
        with suppress(OSError, HTTPException):
            if ask(server.url + "/readyz").status == 200:
                return
        time.sleep(0.005)
    raise AssertionError(f"the server is not ready after {STOP:.0f} s")


def obey() -> None:
    """What the process of a nursery does: fork and stop as it is told."""
    import softcondorcet.server.run
    import softcondorcet.server.web.app
    import softcondorcet.server.web.views  # noqa: F401
    from softcondorcet.server.ledger.board import warm

    warm()
    ended: dict[int, int] = {}
    for line in sys.stdin:
        order, *words = line.split()
        if order == "fork":
            child = os.fork()
            if child == 0:
                serve(*words)
            print(child, flush=True)
        else:
            child, how = map(int, words)
            if child not in ended:
                os.kill(child, how)
                ended[child] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            print(ended[child], flush=True)


def serve(path: str, port: str, fault: str) -> None:
    """What a forked process does, to its end."""
    from softcondorcet.server.ledger.service import Settings
    from softcondorcet.server.run import run

    if fault == "hasty":
        plant_haste()
    sys.stdin.close()
    with open(os.devnull, "w") as nowhere:
        sys.stdout = sys.stderr = nowhere
        run(path, Settings(fitted=frozenset()), "127.0.0.1", int(port))
    os._exit(0)


def plant_haste() -> None:
    """A fault: answers go out, and the commit follows a few transactions later."""
    from softcondorcet.server.ledger import database

    class Hasty(database.Sqlite):
        @contextmanager
        def transaction(self) -> Iterator[None]:
            if not self._connection.in_transaction:
                self.run("BEGIN IMMEDIATE")
                self.open = 0
            yield
            self.open += 1
            if self.open == 5:
                self.run("COMMIT")

    database.Sqlite = Hasty  # type: ignore[misc]


if __name__ == "__main__":
    obey()
