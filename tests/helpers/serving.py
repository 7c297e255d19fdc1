"""A real server for tests: a process of its own on a free port of 127.0.0.1, that is gone when the test ends."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import Message
from http.client import HTTPException
from typing import IO, Any

START, STOP = 30.0, 20.0  # seconds to wait for a server on a busy machine
SCO = (sys.executable, "-m", "softcondorcet")
SERVE = (*SCO, "serve")


@dataclass
class Answer:
    """What came back, whatever its status; names of headers in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Server:
    """A server that runs. `url` has no slash at its end; `ready_after` is in seconds from the start of the process."""

    process: subprocess.Popen[bytes]
    url: str
    ready_after: float
    log: IO[bytes]

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    @property
    def output(self) -> str:
        """All that it has printed so far."""
        return printed(self.log)

    def ask(
        self, path: str, body: Any = None, *, method: str | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """One request on a connection of its own. A body that is not bytes goes as JSON."""
        return post(self.url + path, body, method=method, headers=headers)

    def kill(self) -> None:
        """SIGKILL: no time to finish anything."""
        self.process.kill()
        self.process.wait(STOP)

    def stop(self) -> int:
        """SIGTERM, and the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(STOP)


def ask(
    url: str, body: bytes | None = None, *, method: str | None = None, headers: Mapping[str, str] | None = None
) -> Answer:
    """One request on a connection of its own, to any server."""
    request = urllib.request.Request(url, body, dict(headers or {}), method=method)
    if body is not None and not request.has_header("Content-type"):
        request.add_header("Content-type", "application/json")
    try:
        with urllib.request.urlopen(request, timeout=STOP) as answer:
            return Answer(answer.status, lowered(answer.headers), answer.read())
    except urllib.error.HTTPError as answer:
        with answer:
            return Answer(answer.code, lowered(answer.headers), answer.read())


def post(url: str, body: Any, *, method: str | None = None, headers: Mapping[str, str] | None = None) -> Answer:
    """One request whose body, if it is not bytes, goes as JSON."""
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body).encode()
    return ask(url, body, method=method, headers=headers)


def lowered(headers: Message) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def printed(log: IO[bytes]) -> str:
    log.seek(0)
    return log.read().decode()


@contextmanager
def serving(
    address: str, *options: str, command: Sequence[str] = SERVE, env: Mapping[str, str] | None = None
) -> Iterator[Server]:
    """`sco serve ADDRESS OPTIONS`, ready to answer; on a free port unless the options name one."""
    chosen = options if "--port" in options else ("--port", "0", *options)
    with tempfile.TemporaryFile() as log:
        began = time.monotonic()
        process = subprocess.Popen([*command, address, *chosen], stdout=log, stderr=log, env=env)
        try:
            url = _url(process, log)
            _wait_until_ready(process, url, log)
            yield Server(process, url, time.monotonic() - began, log)
        finally:
            process.kill()
            process.wait(STOP)


def _url(process: subprocess.Popen[bytes], log: IO[bytes]) -> str:
    """Where it says that it listens."""
    end = time.monotonic() + START
    while time.monotonic() < end and process.poll() is None:
        found = re.search(r"http://\S+:\d+(?=/ )", printed(log))
        if found is not None:
            return found[0]
        time.sleep(0.005)
    raise AssertionError(f"no server: exit code {process.poll()}, {printed(log)}")


def _wait_until_ready(process: subprocess.Popen[bytes], url: str, log: IO[bytes]) -> None:
    end = time.monotonic() + START
    while time.monotonic() < end and process.poll() is None:
        try:
            if ask(url + "/readyz").status == 200:
                return
        except (OSError, HTTPException):  # it does not listen yet
            time.sleep(0.005)
    raise AssertionError(f"not ready: exit code {process.poll()}, {printed(log)}")
