"""Connections whose other end says nothing, says it byte by byte, or does not listen: each is cut in time."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.serving import STOP, Server, serving

from softcondorcet.server.web.connections import OTHER_FILES, make_room

PATIENCE = 1.5
# A server of little patience with those who keep it waiting, and much with bodies.
HASTY = f"""
import sys
from softcondorcet.server.ledger.service import Settings
from softcondorcet.server.run import run
run(sys.argv[1], Settings(every=1000, patience={PATIENCE}), "127.0.0.1", 0)
"""
HEAD = b"POST /votes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n"


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    address = str(tmp_path_factory.mktemp("hasty") / "board.db")
    with serving(address, command=(sys.executable, "-c", HASTY)) as server:
        yield server


def cut_after(server: Server, first: bytes, then: bytes, *, pause: float = 0.05) -> float:
    """Seconds until the server cuts a connection that sends `first`, and `then` byte by byte over and over."""
    with socket.create_connection(("127.0.0.1", server.port), STOP) as connection:
        began = time.monotonic()
        connection.sendall(first)
        connection.settimeout(pause)
        k = 0
        while time.monotonic() - began < STOP:
            try:
                if then:
                    connection.sendall(then[k % len(then) :][:1])
                    k += 1
                if not connection.recv(65536):
                    return time.monotonic() - began
            except TimeoutError:
                pass
            except OSError:  # reset
                return time.monotonic() - began
    raise AssertionError(f"still open after {STOP:.0f} s")


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (b"", b""),
        (b"", b"\r\n"),
        (b"GET / HTTP/1.1\r\n", b"X-Header: value\r\n"),
        (HEAD, b"{"),
        (HEAD.replace(b"/votes", b"/nowhere"), b"{"),  # it has its answer, and goes on
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\r\n"),
    ],
    ids=["silent", "empty lines", "head", "body", "body after the answer", "empty lines after an answer"],
)
def test_who_keeps_the_server_waiting_is_cut(hasty: Server, first: bytes, then: bytes) -> None:
    took = cut_after(hasty, first, then)
    assert PATIENCE - 0.1 < took < STOP
    assert hasty.ask("/readyz").status == 200


def test_who_does_not_take_the_answer_is_cut(hasty: Server) -> None:
    request = b"GET /static/site.css HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # so that few answers are too many
        connection.settimeout(STOP)
        connection.connect(("127.0.0.1", hasty.port))
        began = time.monotonic()
        connection.sendall(1000 * request)
        with pytest.raises(OSError):
            while time.monotonic() < began + STOP:
                time.sleep(0.05)
                connection.sendall(b"\r\n")
        assert time.monotonic() - began > PATIENCE - 0.1
    assert hasty.ask("/readyz").status == 200


def test_a_head_without_end_is_cut_before_it_fills_the_memory(hasty: Server) -> None:
    with socket.create_connection(("127.0.0.1", hasty.port), STOP) as connection, pytest.raises(OSError):
        connection.sendall(b"GET / HTTP/1.1\r\nX: ")
        for _ in range(1000):
            connection.sendall(b"x" * 10_000)


def test_many_requests_sent_at_once_are_no_long_head(hasty: Server) -> None:
    request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + 200 * b"x" + b"\r\n\r\n"
    last = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    answers = b""
    with socket.create_connection(("127.0.0.1", hasty.port), STOP) as connection:
        connection.sendall(2000 * request + last)
        while data := connection.recv(2**16):
            answers += data
    assert answers.count(b"HTTP/1.1 200 OK") == 2001


def test_a_page_that_listens_is_not_cut(hasty: Server) -> None:
    with socket.create_connection(("127.0.0.1", hasty.port), STOP) as connection:
        connection.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"event: snapshot" in connection.recv(65536) + connection.recv(65536)
        time.sleep(PATIENCE + 1.5)
        hasty.ask("/votes", {"a": "x", "b": "y", "winner": "a"})
        assert b"event: snapshot" in connection.recv(65536)


CHUNKED = b"POST /votes HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("first", "then"),
    [(b"0\r\n", b"X-%d: " + b"x" * 1000 + b"\r\n"), (b"0\r\nX: ", b"x" * 1000), (b"1;x=", b"x" * 1000)],
    ids=["trailers", "one long trailer", "extension of a chunk"],
)
def test_what_is_no_body_is_cut_before_it_fills_the_memory(hasty: Server, first: bytes, then: bytes) -> None:
    sent = 0
    with socket.create_connection(("127.0.0.1", hasty.port), STOP) as connection, pytest.raises(OSError):
        connection.sendall(CHUNKED + first)
        for k in range(20_000):
            connection.sendall(then.replace(b"%d", b"%d" % k))
            sent += len(then)
    assert sent < 10 * 2**20  # what fits between a client and a server that no longer reads


def test_trailers_are_no_headers(hasty: Server) -> None:
    """Who may vote is decided by what comes before a body."""
    body = b'{"a": "x", "b": "y", "winner": "a"}'
    with socket.create_connection(("127.0.0.1", hasty.port), STOP) as connection:
        chunk = b"%x\r\n%s\r\n0\r\n" % (len(body), body)
        connection.sendall(CHUNKED.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n") + chunk)
        connection.sendall(b"Authorization: Bearer nonsense\r\n\r\n")
        answer = b""
        while data := connection.recv(65536):
            answer += data
    assert answer.startswith(b"HTTP/1.1 201 ")


def test_where_there_are_too_many_connections_the_longest_idle_makes_room(tmp_path: Path) -> None:
    few = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({OTHER_FILES + 30},) * 2); "
    command = (sys.executable, "-c", few + "from softcondorcet.cli import main; main()", "serve")
    with serving(str(tmp_path / "board.db"), "--every", "1000", command=command) as server:
        idle = [socket.create_connection(("127.0.0.1", server.port), STOP) for _ in range(200)]
        try:
            assert all(server.ask("/votes", {"a": "x", "b": "y", "winner": "a"}).status == 201 for _ in range(20))
            idle[0].settimeout(STOP)
            assert idle[0].recv(1) == b""  # cut, and not by its patience
        finally:
            for connection in idle:
                connection.close()
        assert server.ask("/readyz").status == 200


class Idle:
    """A connection without a request, whose end comes only after the event loop has turned."""

    idle, since = True, None

    def __init__(self, active: float) -> None:
        self.active, self.transport, self.aborted = active, self, False

    def abort(self) -> None:
        self.aborted = True

    def is_closing(self) -> bool:
        return self.aborted


def test_a_connection_that_is_cut_counts_no_longer() -> None:
    idle = [Idle(float(k)) for k in range(99)]
    connections = set(idle)
    for _ in range(50):  # fifty new ones before the loop turns: none of them is one too many
        make_room(connections, 100)
        assert len(connections) + 1 < 100
        connections.add(Idle(100.0))
    assert all(one.aborted for one in idle[:50])
