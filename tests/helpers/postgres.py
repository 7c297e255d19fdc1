"""A real PostgreSQL for tests: a cluster of its own on a socket in a temporary folder, gone when the tests end."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

START = 30.0  # seconds to wait on a busy machine


def programs() -> Path | None:
    """The folder of initdb and postgres, where they are installed."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return next((folder for folder in reversed(folders) if (folder / "postgres").exists()), None)


def account() -> dict[str, Any]:
    """PostgreSQL refuses to run as root: then it runs as somebody without rights."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            found = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": found.pw_uid, "group": found.pw_gid, "extra_groups": []}
    return {}


class Cluster:
    """Makes databases. Durability is off: what is tested here is SQL, not the disk."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._made = folder, 0

    def database(self) -> str:
        """The address of a new, empty database."""
        import psycopg

        self._made += 1
        name = f"board_{self._made}"
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self.address(name)

    def address(self, name: str) -> str:
        return f"postgresql://tester@/{name}?host={self._folder}"


@contextmanager
def cluster() -> Iterator[Cluster]:
    """A running PostgreSQL."""
    bin, who = programs(), account()
    assert bin is not None
    folder = Path(tempfile.mkdtemp(prefix="pg"))  # short: the path of a socket has at most 107 letters
    if who:
        os.chown(folder, who["user"], who["group"])
    data, log = folder / "data", folder / "log"
    server = None
    try:
        made = [bin / "initdb", "-D", data, "-U", "tester", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"]
        subprocess.run([*map(str, made)], check=True, capture_output=True, cwd=folder, timeout=120, **who)
        options = ["-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=50"]
        with log.open("wb") as output:
            server = subprocess.Popen(
                [bin / "postgres", "-D", data, "-k", folder, *options], stdout=output, stderr=output, cwd=folder, **who
            )
        _wait(bin, folder, log)
        yield Cluster(folder)
    finally:
        if server is not None:
            server.terminate()
            server.wait(START)
        shutil.rmtree(folder, ignore_errors=True)


def _wait(bin: Path, folder: Path, log: Path) -> None:
    end = time.monotonic() + START
    while subprocess.run([bin / "pg_isready", "-q", "-h", folder], check=False).returncode:
        assert time.monotonic() < end, log.read_text()
        time.sleep(0.05)
