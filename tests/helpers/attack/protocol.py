"""Attacks below the level of requests: connections, headers and the framing of bodies."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from helpers.attack.harness import Setup, Skipped, Target

MEGABYTE = 2**20
IDLE = 1100
FEW_FILES = Setup(prepared="import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))")
SLOW_VOTES = Setup(("--open", "--every", "1", "--token-rate", "20", "--max-agents", "30"))
VOTE = b'{"a": "x", "b": "smuggled", "winner": "a"}'
HIDDEN = b"POST /votes HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (len(VOTE), VOTE)
# A process that opens connections, sends some bytes on each, says so, and holds them until its input ends.
HOLDER = """
import resource, socket, sys
port, number, first = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3].encode().decode("unicode_escape").encode()
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
held = []
for _ in range(number):
    try:
        held.append(socket.create_connection(("127.0.0.1", port), 5, source_address=("127.0.0.3", 0)))
        held[-1].sendall(first)
    except OSError:
        pass
print(len(held), flush=True)
sys.stdin.read()
"""


@contextmanager
def _held(target: Target, number: int, first: bytes = b"") -> Iterator[int]:
    """So many connections of one host, held by another process; how many could be opened."""
    sent = first.decode().replace("\r\n", "\\r\\n")
    command = [sys.executable, "-c", HOLDER, str(target.site.server.port), str(number), sent]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdin is not None and holder.stdout is not None
        try:
            yield int(holder.stdout.readline())
        finally:
            holder.stdin.close()


def idle_connections(target: Target) -> None:
    """1,100 connections that say nothing, to a server that may have 1,024 files open; fits go on afterwards."""
    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < IDLE + 200:
        raise Skipped(f"this machine allows a process fewer than {IDLE + 200:,} open files")
    kept_alive = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for first in (b"",) if target.short else (b"", kept_alive, b"GET / HTTP/1.1\r\nHost: "):
        with _held(target, IDLE, first) as opened:
            target.expect(opened > IDLE / 2, f"only {opened} connections could be opened: no attack")
            time.sleep(4 if target.short else 15)
            target.reachable("a new connection beside them")
    target.fits_go_on()


def slow_clients(target: Target) -> None:
    """300 clients that send a head or a body byte by byte; each is cut in time."""
    heads = [
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ",
        b"POST /votes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{",
        b"POST /votes HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n",
    ]
    client = target.client(host="127.0.0.3")
    held = [client.connect() for _ in range(300)]
    try:
        for k, connection in enumerate(held):
            connection.sendall(heads[k % len(heads)])
        end = time.monotonic() + (4 if target.short else 45)
        while held and time.monotonic() < end:
            for connection in list(held):
                try:
                    connection.setblocking(False)
                    with suppress(BlockingIOError):
                        if not connection.recv(65536):
                            raise ConnectionResetError
                    connection.send(b"1")
                except BlockingIOError:
                    pass
                except OSError:
                    connection.close()
                    held.remove(connection)
            time.sleep(0.5)
        if not target.short:
            target.expect(not held, f"{len(held)} of 300 slow connections are still open after 45 s")
    finally:
        for connection in held:
            connection.close()


def event_streams(target: Target) -> None:
    """All event streams from one host; another host still gets one."""
    one, other = target.client(host="127.0.0.3"), target.client(host="127.0.0.4")
    request = b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"
    held = []
    try:
        for _ in range(250):
            held.append(one.connect())
            held[-1].sendall(request)
        taken = 0
        for connection in held:
            connection.settimeout(10)
            taken += b" 200 " in connection.recv(200)
        target.expect(taken > 0, "no host gets a stream")
        said = other.exchange(request, 2)
        target.expect(
            b" 200 " in said[:20] and b"event: snapshot" in said,
            f"another host gets no stream beside {taken} of the first: {said[:15].decode()}",
        )
    finally:
        for connection in held:
            connection.close()


def chunked_trailers(target: Target) -> None:
    """60 MB of trailers after the last chunk, in four connections; small ones never become headers."""
    line = b"X-Trailer: " + b"x" * 1000 + b"\r\n"
    _flood(target, "trailers", b"0\r\n", line)
    _flood(target, "one trailer", b"0\r\nX: ", b"x" * 1000)
    secret = target.site.secret.encode()
    trailing = b"0\r\nAuthorization: Bearer %s\r\nIdempotency-Key: trailing\r\n\r\n" % secret
    body = b'{"name": "by-trailer"}'
    head = b"POST %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n"
    client = target.client()
    said = client.exchange(head % (b"/boards", len(body), body) + trailing)
    target.expect(b" 201 " not in said[:20], "a token in a trailer was taken for one in a header")
    battle = b'{"a": "m0", "b": "m5", "winner": "a"}'
    answers = [client.exchange(head % (b"/votes", len(battle), battle) + trailing) for _ in range(2)]
    target.expect(b"Replayed" not in answers[1] and b"replayed" not in answers[1], "a key in a trailer was taken")


def chunk_extensions(target: Target) -> None:
    """60 MB of extensions of chunks of one byte, and of a single one."""
    _flood(target, "extensions", b"", b"1;x=" + b"x" * 1000 + b"\r\n \r\n")
    _flood(target, "one extension", b"1;x=", b"x" * 1000)


def _flood(target: Target, what: str, first: bytes, part: bytes) -> None:
    """Send 60 MB of what is no body after the head of a vote; expect to be cut long before."""
    each = (15 if target.short else 60) * MEGABYTE // 4
    client = target.client(host="127.0.0.3")
    head = b"POST /votes HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" + first
    held = [client.connect() for _ in range(4)]
    sent, block = 0, part * (65536 // len(part))
    try:
        for connection in held:
            connection.settimeout(10)
            connection.sendall(head)
        for _ in range(each // len(block)):
            for connection in list(held):
                try:
                    connection.sendall(block)
                    sent += len(block)
                except OSError:
                    connection.close()
                    held.remove(connection)
    finally:
        for connection in held:
            connection.close()
    # What the kernel takes on both sides before anybody reads is some megabytes for each.
    target.expect(
        not held or sent < 4 * MEGABYTE, f"{sent / MEGABYTE:.0f} MB of {what} were taken on {len(held)} connections"
    )


def smuggled_requests(target: Target) -> None:
    """Requests whose length two servers would read differently, each with a vote hidden in it."""
    chunk = b"%x\r\n%s\r\n0\r\n\r\n"
    lines = {
        "length and chunks": b"Content-Length: 4\r\nTransfer-Encoding: chunked",
        "chunks and length": b"Transfer-Encoding: chunked\r\nContent-Length: 4",
        "two lengths": b"Content-Length: 0\r\nContent-Length: %d" % len(HIDDEN),
        "a list of lengths": b"Content-Length: 0, %d" % len(HIDDEN),
        "a signed length": b"Content-Length: +0",
        "a negative length": b"Content-Length: -1",
        "a folded header": b"X: y\r\n Content-Length: 0\r\nContent-Length: %d" % len(HIDDEN),
        "a folded length": b"Content-Length:\r\n 0",
        "a space before the colon": b"Content-Length : 0",
        "another coding": b"Transfer-Encoding: xchunked",
        "two codings": b"Transfer-Encoding: chunked, identity",
        "a coding twice": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "a null": b"X: a\0b\r\nContent-Length: 0",
        "a bare line feed": b"X: y\nContent-Length: 0",
    }
    board = target.new_board()
    hidden = HIDDEN.replace(b" /votes", f" /boards/{board}/votes".encode())
    for what, about in lines.items():
        head = b"POST /healthz HTTP/1.1\r\nHost: localhost\r\n" + about + b"\r\n\r\n"
        for body in (hidden, b"0\r\n\r\n" + hidden, chunk % (len(hidden), hidden)):
            said = target.client(host="127.0.0.3").exchange(head + body, 0.3)
            target.expect(b" 201 " not in said, f"{what}: a hidden vote was counted")
    agents = target.admin(board).get("/leaderboard.json")["n_agents"]
    target.expect(agents == 0, "a hidden vote is on the board")


def forged_headers(target: Target) -> None:
    """Names of other machines, pages of other sites, and hosts that a header makes up."""
    client = target.client(host="127.0.0.3")
    for host in ("evil.example", "127.0.0.1.evil.example", "localhost.evil", "[::1", "10.0.0.1:80"):
        target.refused(client.ask("/leaderboard.json", headers={"Host": host}), f"Host: {host}", 403, 400)
    for origin in ("https://evil.example", "null", "http://localhost:1", "file://"):
        reply = client.ask("/votes", VOTE, headers={"Origin": origin})
        target.refused(reply, f"Origin: {origin}", 403)
    absolute = b"GET http://evil.example/leaderboard.json HTTP/1.1\r\nHost: evil.example\r\n\r\n"
    target.expect(b" 200 " not in client.exchange(absolute, 1)[:20], "an address of another machine was answered")
    statuses = [
        client.ask("/votes", [{"a": "m0", "b": "m5", "winner": "a"}] * 30, headers=_from(k)).status for k in range(8)
    ]
    target.expect(429 in statuses, f"hosts that a header makes up get votes of their own: {statuses}")
    for secret in ("", "sco_", "sco_wrong", target.site.secret[:-1], target.site.secret + "\0"):
        with suppress(ValueError):  # what the client does not send
            reply = client.ask("/tokens.json", headers={"Authorization": f"Bearer {secret}"})
            target.refused(reply, f"the token {secret[:8]!r}", 401, 400)


def _from(k: int) -> dict[str, str]:
    host = f"10.0.0.{k}"
    return {"X-Forwarded-For": host, "X-Real-IP": host, "Forwarded": f"for={host}", "True-Client-IP": host}


def gzip_refused(target: Target) -> None:
    """Callers who say that they cannot take gzip, in each way to say it."""
    client = target.client()
    styles = client.ask("/").body.decode().partition('stylesheet" href="')[2].partition('"')[0]
    for path in ("/", "/" + styles.removeprefix("/")):
        for words in ("gzip;q=0", "gzip; q=0.0", "identity, gzip;q=0.000", "br", "identity"):
            reply = client.ask(path, headers={"Accept-Encoding": words})
            target.done(reply, f"{path} for {words!r}", 200)
            target.expect("content-encoding" not in reply.headers, f"{path.partition('?')[0]} is packed for {words!r}")
        for words in ("gzip", "gzip;q=0.5, identity;q=0.1", "br, gzip"):
            reply = client.ask(path, headers={"Accept-Encoding": words})
            target.expect(reply.headers.get("content-encoding") == "gzip", f"{path} is not packed for {words!r}")
