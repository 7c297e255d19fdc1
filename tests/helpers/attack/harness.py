"""What an attack is, and how it is run: against a real server, beside a bystander, and judged by what came of it."""

from __future__ import annotations

import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPException
from itertools import count
from pathlib import Path

from helpers.attack.clients import Bystander, Client, Memory, Reply
from helpers.boards import Site, admin_token
from helpers.serving import SERVE, serving

LONGEST_ANSWER = 1.0  # seconds that another client may wait
MOST_MEMORY = 10**9  # bytes of the server and its children
# Seconds to wait for a fit: it gives way to all else that this machine does, and other boards may come first.
PATIENCE = 180.0
CEILING = 4 * MOST_MEMORY  # bytes at which they are killed: this machine is not what is attacked
# The server by its command, after some lines of Python that prepare its process.
PREPARED = "{}\nfrom softcondorcet.cli import main\nmain()\n"


class Skipped(Exception):  # noqa: N818
    """An attack that is not possible here, and why."""


@dataclass(frozen=True)
class Setup:
    """How a server is started: options of the command, and lines that prepare its process ({folder} is its folder)."""

    options: tuple[str, ...] = ("--open", "--every", "1")
    prepared: str = ""


SHARED = Setup()


@dataclass(frozen=True)
class Attack:
    """One attack.

    `fresh`: it has a server to itself. `watched`: another client looks on, whose votes (and `/readyz`) may be answered
    with one of the `refusals`. `short`: it is part of the short form. `loses`: what it does to the disk may cost votes.
    """

    run: Callable[[Target], None]
    setup: Setup = SHARED
    fresh: bool = False
    watched: bool = True
    short: bool = True
    refusals: frozenset[int] = frozenset()
    loses: bool = False

    @property
    def name(self) -> str:
        return self.run.__name__.replace("_", "-")


@dataclass
class Outcome:
    """What came of an attack: it broke something, it was skipped, or the server held. `memory` is in bytes."""

    name: str
    broken: list[str]
    skipped: str = ""
    worst: float | None = None
    memory: int = 0
    seconds: float = 0.0


@dataclass
class Target:
    """A server under attack, and what was found out about it so far."""

    site: Site
    folder: Path
    short: bool
    kept: set[int] = field(default_factory=set)
    broken: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._numbers = count(1)

    def expect(self, good: bool, why: str) -> None:
        """Note what should not be."""
        if not good and why not in self.broken:
            self.broken.append(why)

    def refused(self, reply: Reply, what: str, *statuses: int) -> None:
        """Expect a refusal with one of these statuses, and a sentence."""
        self.expect(reply.status in statuses, f"{what}: expected {' or '.join(map(str, statuses))}, got {reply.status}")
        if reply.status in statuses:
            self.expect(len(reply.detail) > 10, f"{what}: {reply.status} without a sentence")

    def done(self, reply: Reply, what: str, status: int = 201) -> None:
        """Expect that something was done."""
        self.expect(reply.status == status, f"{what}: expected {status}, got {reply.status} {reply.detail[:100]}")

    def client(self, board: str = "", *, token: str | None = None, host: str = "127.0.0.2") -> Client:
        return Client(self.site.server.port, self.kept, board, token, host)

    def admin(self, board: str = "") -> Client:
        return self.client(board, token=self.site.secret, host="127.0.0.1")

    def new_board(self) -> str:
        return self.site.new_board().board

    def reachable(self, what: str) -> None:
        """Expect that somebody from elsewhere is told that all is well."""
        try:
            self.done(self.client(host="127.0.0.4").ask("/readyz"), what, 200)
        except (OSError, HTTPException) as error:
            self.expect(False, f"{what}: {error}")

    def vote(self, client: Client, votes: list[dict[str, str]]) -> None:
        """Votes that are kept, as fast as the server takes them."""
        for first in range(0, len(votes), 1000):
            reply, tries = client.ask("/votes", votes[first : first + 1000]), 1
            while reply.status in (429, 503) and tries < 60:
                time.sleep(float(reply.headers.get("retry-after", 1)))
                reply, tries = client.ask("/votes", votes[first : first + 1000]), tries + 1
            self.done(reply, "votes")

    def until(self, found: Callable[[], object], seconds: float, what: str) -> bool:
        """Whether it comes true in time; it is noted if not."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if found():
                return True
            time.sleep(0.1)
        self.broken.append(f"{what}: not within {seconds:g} s")
        return False

    def fitted(self, board: str, seconds: float = PATIENCE) -> bool:
        """Wait until a fit has seen all votes of a board."""

        def seen() -> bool:
            fit = self.admin(board).get("/leaderboard.json")["fit"]
            return fit is not None and fit["behind"] == 0

        return self.until(seen, seconds, "a fit of all votes")

    def fits_go_on(self) -> None:
        """Expect that a vote on a new board is fitted."""
        board = self.new_board()
        self.done(self.admin(board).battle(), "a vote afterwards")
        self.fitted(board)

    @property
    def ledger(self) -> set[int]:
        """The rows that are on disk."""
        with closing(sqlite3.connect(f"file:{self.site.address}?mode=ro", uri=True, timeout=10)) as database:
            return {row for (row,) in database.execute("SELECT id FROM ledger")}


class Servers:
    """A server for each setup that attacks share, started when it is first needed."""

    def __init__(self) -> None:
        self._running: dict[Setup, tuple[ExitStack, Site, Path]] = {}

    def __enter__(self) -> Servers:
        return self

    def __exit__(self, *_: object) -> None:
        for setup in list(self._running):
            self.stop(setup)

    def stop(self, setup: Setup) -> None:
        if setup in self._running:
            self._running.pop(setup)[0].close()

    @contextmanager
    def server(self, attack: Attack) -> Iterator[tuple[Site, Path]]:
        if attack.fresh:
            with started(attack.setup) as own:
                yield own
            return
        if attack.setup not in self._running:
            stack = ExitStack()
            self._running[attack.setup] = (stack, *stack.enter_context(started(attack.setup)))
        yield self._running[attack.setup][1:]


@contextmanager
def started(setup: Setup) -> Iterator[tuple[Site, Path]]:
    """A server that has drawn its first page, and the folder that it has to itself."""
    with tempfile.TemporaryDirectory(prefix="sco-attack-") as name:
        folder = Path(name)
        address = str(folder / "board.db")
        secret = admin_token(address)
        code = PREPARED.format(setup.prepared.replace("{folder}", name))
        with serving(
            address, *setup.options, command=(sys.executable, "-c", code, "serve") if setup.prepared else SERVE
        ) as server:
            client = Client(server.port, set(), token=secret)
            assert client.battle("m0", "m5", voter="first").status == 201
            for path in ("/", "/leaderboard.json", "/doctor", "/openapi.json"):
                assert client.ask(path).status == 200, path
            yield Site(server, address, secret), folder


def run(attack: Attack, servers: Servers, *, short: bool = False) -> Outcome:
    """Run one attack. A server that broke is not attacked again."""
    began = time.monotonic()
    outcome = Outcome(attack.name, [])
    with servers.server(attack) as (site, folder):
        target = Target(site, folder, short, broken=outcome.broken)
        before = len(site.server.output)
        with ExitStack() as stack:
            memory = stack.enter_context(Memory(site.server.pid, CEILING))
            watching = Bystander(target.client(token=site.new_token("vote")[1], host="127.0.0.9"))
            if attack.watched:
                stack.enter_context(watching)
            try:
                attack.run(target)
            except Skipped as reason:
                outcome.skipped = str(reason)
            except Exception as error:
                outcome.broken.append(f"{type(error).__name__}: {str(error)[:300]}")
        if attack.watched:
            outcome.worst = watching.worst
            outcome.broken += watching.complaints(LONGEST_ANSWER, attack.refusals)
        outcome.memory = memory.most
        _judge(target, attack, outcome, site.server.output[before:])
    if outcome.broken:
        servers.stop(attack.setup)
    outcome.seconds = time.monotonic() - began
    return outcome


def _judge(target: Target, attack: Attack, outcome: Outcome, printed: str) -> None:
    """What holds after every attack."""
    target.expect(outcome.memory < MOST_MEMORY, f"{outcome.memory / 1e9:.2f} GB of memory")
    target.expect("Traceback" not in printed, "a traceback in the log")
    if target.site.server.process.poll() is None:
        target.reachable("/readyz afterwards")
        try:
            target.done(target.admin().battle("m0", "m5"), "a vote afterwards")
        except (OSError, HTTPException) as error:
            target.expect(False, f"a vote afterwards: {error}")
    elif attack.watched:
        target.expect(False, f"the server ended, exit code {target.site.server.process.poll()}")
    if not attack.loses:
        try:
            lost = target.kept - target.ledger
            target.expect(not lost, f"{len(lost)} of {len(target.kept)} acknowledged votes lost")
        except sqlite3.Error as error:
            target.broken.append(f"the ledger cannot be read: {error}")
