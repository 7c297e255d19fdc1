"""Attacks on the database under a running server: locked, full, not to be written, damaged, replaced, opened twice."""

from __future__ import annotations

import json
import os
import resource
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from http.client import HTTPException
from pathlib import Path

from helpers.attack.harness import Skipped, Target
from helpers.boards import admin_token
from helpers.serving import SCO

PAGE = 4096
# A process that has a database to itself until its input ends.
LOCKER = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=30)
database.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.read()
database.execute("ROLLBACK")
"""


@contextmanager
def locked(path: str) -> Iterator[None]:
    """Another process has the database locked."""
    command = [sys.executable, "-c", LOCKER, path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdin is not None and holder.stdout is not None
        try:
            assert holder.stdout.readline() == "locked\n"
            yield
        finally:
            holder.stdin.close()


def sco(*words: str, seconds: float = 30.0) -> tuple[int | None, str]:
    """Exit code and output of a command `sco`; None for one that serves, or does not end in time."""
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen([*SCO, *words], stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        end, said = time.monotonic() + seconds, ""
        try:
            while process.poll() is None and "leaderboard is at" not in said and time.monotonic() < end:
                time.sleep(0.05)
                output.seek(0)
                said = output.read()
        finally:
            ended = process.poll()
            process.kill()
            process.wait()
        output.seek(0)
        return ended, output.read()


def _trouble(target: Target, cause: str, seconds: float, *, statuses: tuple[int, ...] = (503,)) -> None:
    """While votes cannot be written: each is refused at once, in words and with Retry-After, and `/readyz` is 503."""
    client, end = target.client(host="127.0.0.3"), time.monotonic() + seconds
    client.battle(voter="the one who finds out")
    while time.monotonic() < end:
        reply = client.battle(voter="during")
        target.refused(reply, f"a vote, {cause}", *statuses)
        target.expect("retry-after" in reply.headers, f"a vote, {cause}: {reply.status} without Retry-After")
        ready = client.ask("/readyz")
        target.refused(ready, f"/readyz, {cause}", 503)
        page = client.ask("/healthz")
        target.done(page, f"/healthz, {cause}", 200)
        time.sleep(0.2)


def _recovers(target: Target, before: str, *, fits: bool = True) -> None:
    """Votes are taken again soon, fits go on, and the log told of the trouble in a few lines."""
    client = target.client(host="127.0.0.3")
    target.until(lambda: client.battle(voter="after").status == 201, 10, "votes are taken again")
    if fits:
        target.fits_go_on()
    target.until(lambda: client.ask("/readyz").status == 200, 5, "/readyz says so")
    lines = target.site.server.output.removeprefix(before).splitlines()
    target.expect(2 <= len(lines) <= 30, f"{len(lines)} lines in the log about trouble that came and went")


def locked_database(target: Target) -> None:
    """The database locked by another process for 16 s."""
    before = target.site.server.output
    with locked(target.site.address):
        _trouble(target, "locked", 5 if target.short else 16)
    _recovers(target, before)


def full_disk(target: Target) -> None:
    """No file may grow, neither the database nor what a fit writes for its child."""
    server, board = target.site.server, target.new_board()
    target.vote(target.admin(board), _battles(1000))
    before, (soft, hard) = server.output, resource.prlimit(server.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (PAGE, hard))
    try:
        _trouble(target, "no room", 2 if target.short else 8, statuses=(503, 507))
    finally:
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (soft, hard))
    _recovers(target, before, fits=not target.short)


def unwritable_files(target: Target) -> None:
    """Files of the database that cannot be written from one moment to the next, as after an error of the disk."""
    names = [name for name in (target.site.address, target.site.address + "-wal") if os.path.exists(name)]
    before = target.site.server.output
    try:
        for name in names:
            done = subprocess.run(["chattr", "+i", name], capture_output=True, text=True, check=False)
            if done.returncode:
                raise Skipped(f"files cannot be made immutable here: {done.stderr.strip()}")
        _trouble(target, "not to be written", 2 if target.short else 8, statuses=(503, 507))
    except FileNotFoundError:
        raise Skipped("there is no chattr here") from None
    finally:
        for name in names:
            with suppress(FileNotFoundError):
                subprocess.run(["chattr", "-i", name], capture_output=True, check=False)
    _recovers(target, before, fits=not target.short)


def bad_pages(target: Target) -> None:
    """Garbage in the place of all pages of the database but the first, and the old pages again."""
    path, before = Path(target.site.address), target.site.server.output
    target.vote(target.admin(), _battles(1000))
    rows = len(target.kept)
    with closing(sqlite3.connect(path, isolation_level=None, timeout=10)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.execute("PRAGMA user_version = 1")  # whoever has pages in memory will read them again
    good = path.read_bytes()
    with path.open("r+b") as file:
        file.seek(PAGE)
        file.write(os.urandom(len(good) - PAGE))
    try:
        _trouble(target, "damaged", 2 if target.short else 6)
        _no_short_export(target, rows)
    finally:
        with path.open("r+b") as file:
            file.seek(PAGE)
            file.write(good[PAGE:])
    _recovers(target, before, fits=not target.short)


def bad_log(target: Target) -> None:
    """Garbage in the middle of the write-ahead log: nothing is lost in silence."""
    target.vote(target.admin(), _battles(1000))
    rows = len(target.kept)
    log = Path(target.site.address + "-wal")
    size = log.stat().st_size
    with log.open("r+b") as file:
        file.seek(size // 4)
        file.write(os.urandom(size // 2))
    _no_short_export(target, rows)
    for path in ("/", "/history", "/history.json", "/agent.json?name=m0", "/leaderboard.json"):
        reply = target.client().ask(path)
        target.expect(reply.status in (200, 503), f"{path}: {reply.status}")
        if reply.status == 503:
            target.refused(reply, path, 503)
    for _ in range(10):
        reply = target.client(host="127.0.0.3").battle()
        target.expect(reply.status in (201, 503, 507), f"a vote: {reply.status}")


def _battles(number: int) -> list[dict[str, str]]:
    return [{"a": f"m{k % 5}", "b": f"m{k % 5 + 5}", "winner": "a", "voter": f"v{k}"} for k in range(number)]


def _no_short_export(target: Target, rows: int) -> None:
    """An export is whole, refused, or ends before its end: it does not look whole and lack votes."""
    try:
        reply = target.client().ask("/export.jsonl")
    except (OSError, HTTPException):  # it was cut
        return
    if reply.status == 200:
        lines = reply.body.count(b"\n")
        target.expect(lines >= rows, f"an export that looks whole has {lines:,} of {rows:,} votes")
    else:
        target.refused(reply, "an export", 503)


def forced_backups(target: Target) -> None:
    """A backup or a restore with --force over a live board, a pipe, a device or a folder; a file is replaced."""
    live, folder = target.site.address, target.folder
    source = str(folder / "source.db")
    admin_token(source)
    for _ in range(100):
        target.done(target.client(host="127.0.0.3").battle(voter="kept"), "a vote")
    node, link = os.stat(live).st_ino, str(folder / "live-link.db")
    os.symlink(live, link)
    tries = {
        "a backup over a live board": ("backup", source, live),
        "a backup over a link to a live board": ("backup", source, link),
        "a backup of a live board over itself": ("backup", live, live),
        "a restore of a live board": ("restore", live, source),
    }
    for what, words in tries.items():
        ended, said = sco("board", *words, "--force")
        target.expect(ended not in (0, None), f"{what} was done")
        target.expect("Traceback" not in said, f"{what}: a traceback")
        target.expect(os.stat(live).st_ino == node, f"{what}: it is another file now")
    target.done(target.client(host="127.0.0.3").battle(), "a vote after the backups")
    for what, path in _no_files(folder).items():
        kind = stat.S_IFMT(os.stat(path).st_mode)
        ended, said = sco("board", "backup", source, path, "--force")
        target.expect(ended not in (0, None), f"a backup over {what} was done")
        target.expect("Traceback" not in said, f"a backup over {what}: a traceback")
        target.expect(stat.S_IFMT(os.stat(path).st_mode) == kind, f"a backup over {what} replaced it")
    plain = folder / "plain.db"
    plain.write_text("mine")
    target.expect(
        sco("board", "backup", source, str(plain))[0] not in (0, None), "a backup over a file without --force"
    )
    ended, said = sco("board", "backup", source, str(plain), "--force")
    target.expect(ended == 0, f"a backup with --force over a file that nobody uses: {said[:100]!r}")


def _no_files(folder: Path) -> dict[str, str]:
    """Things in a folder that are no regular files; none of the machine's own."""
    found = {
        "a pipe": str(folder / "pipe"),
        "a link to a pipe": str(folder / "link"),
        "a folder": str(folder / "inner"),
    }
    os.mkfifo(found["a pipe"])
    os.symlink(found["a pipe"], found["a link to a pipe"])
    os.mkdir(found["a folder"])
    with suppress(PermissionError):
        os.mknod(folder / "device", stat.S_IFCHR | 0o600, os.makedev(1, 3))
        found["a device"] = str(folder / "device")
    return found


def second_server(target: Target) -> None:
    """A second server on the same board: by its name, a link, a hard link, and after its lock file was removed."""
    live, apart = target.site.address, target.folder / "apart"
    apart.mkdir()
    os.symlink(live, apart / "link.db")
    os.link(live, apart / "hard.db")
    Path(live + ".lock").unlink(missing_ok=True)
    for what, path in (("its name", live), ("a link", apart / "link.db"), ("a hard link", apart / "hard.db")):
        for words in (("serve", str(path), "--port", "0"), ("token", "new", str(path), "second")):
            ended, said = sco(*words)
            one_line = said.count("\n") == 1
            target.expect(ended == 1, f"{words[0]} by {what}: exit code {ended}: {said[:40]!r}")
            target.expect(one_line or ended != 1, f"{words[0]} by {what}: more than a line: {said[:200]!r}")
    ended, said = sco("board", "get", live, "/leaderboard.json")
    target.expect(ended == 0 and json.loads(said)["n_votes"] > 0, f"board get beside the server: {said[:100]!r}")


def a_file_that_is_no_board(target: Target) -> None:
    """`sco serve battles.csv`: refused in one line, the file as it was and nothing beside it; nor beside a board."""
    folder = target.folder / "files"
    folder.mkdir()
    file = folder / "battles.csv"
    file.write_bytes(b"a,b,winner\nx,y,a\n" * 100)
    before = file.read_bytes(), file.stat().st_mtime_ns
    ended, said = sco("serve", str(file), "--port", "0")
    target.expect(
        ended == 1 and said.count("\n") == 1, f"expected one line and exit code 1, got {ended} {said[:200]!r}"
    )
    target.expect((file.read_bytes(), file.stat().st_mtime_ns) == before, "the file was changed")
    for address in (folder / "board.db", folder / "other.db"):
        admin_token(str(address))
    left = {path.name for path in folder.iterdir()} - {"battles.csv", "board.db", "other.db"}
    target.expect(not left, f"files were left: {', '.join(sorted(left))}")
