"""Connections: limits on their number, on how long each keeps the server waiting, and on bytes that are no body.

A server that waits for ever can be stopped by anybody who opens connections and says nothing, or a byte now and then.
So a request is whole within half a minute of its first byte, or of the connection where none comes; what is sent is
taken within as long; and what is neither a request nor a body (headers, trailers, extensions of chunks) has a length
that no client of ours needs. Where there are as many connections as there may be, a new one takes the place of the one
that has been idle for longest.
"""

from __future__ import annotations

import asyncio
import heapq
import resource
import time
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

# Bytes of a request that are no body.
LONGEST_HEAD = 2**16
# Connections at most; and files that the server needs beside them: databases, fits, files on their way in and out.
MOST, OTHER_FILES = 2000, 100
# Bytes around a chunk of one byte.
_AROUND = 8
# How many idle connections make room at once.
_CUT_TOGETHER = 8


class Connection(HttpToolsProtocol):
    """A connection of uvicorn, with limits. `since`: when the other end's turn came; None outside of it."""

    since: float | None = None
    active = 0.0  # when something last came
    overhead = 0  # bytes of a request that are no body

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self.since = self.active = time.monotonic()
        make_room(self.connections, self.limit_concurrency or MOST)
        super().connection_made(transport)

    def data_received(self, data: bytes) -> None:
        self.active = time.monotonic()
        if self.since is None and self.idle:
            self.since = self.active
        self.overhead += len(data)
        super().data_received(data)
        if self.overhead > LONGEST_HEAD:
            self.transport.abort()

    def on_message_begin(self) -> None:
        self.overhead = 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        self.headers = []  # where trailers go: they come after the decisions that are made by headers

    def on_body(self, body: bytes) -> None:
        # Each byte pays for itself and for what stands around a chunk of one byte.
        self.overhead = max(self.overhead - (1 + _AROUND) * len(body), 0)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self.since, self.overhead = None, 0
        super().on_message_complete()

    def pause_writing(self) -> None:
        self.since = time.monotonic()
        super().pause_writing()

    def resume_writing(self) -> None:
        self.since = None
        super().resume_writing()

    @property
    def idle(self) -> bool:
        """Whether no request is under way."""
        return self.cycle is None or self.cycle.response_complete


def cut_late(connections: set[Any], patience: float) -> None:
    """Cut all connections whose other end has kept the server waiting for so many seconds."""
    now = time.monotonic()
    for one in list(connections):
        if one.since is not None and now - one.since > patience:
            _cut(connections, one)


def make_room(connections: set[Any], most: int) -> None:
    """Cut connections that wait for their other end, longest first, where a new one would be one too many."""
    if len(connections) + 1 < most:
        return
    waiting = [one for one in connections if (one.idle or one.since is not None) and not one.transport.is_closing()]
    for one in heapq.nsmallest(_CUT_TOGETHER, waiting, key=lambda one: one.active):
        _cut(connections, one)


def _cut(connections: set[Any], one: Any) -> None:
    """Cut a connection, which counts no longer: it is gone only later, and others would be refused until then."""
    connections.discard(one)
    one.transport.abort()


def most_connections() -> int:
    """How many connections the limit on open files leaves room for; the limit is raised as far as that is of use."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST + OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return MOST if soft == resource.RLIM_INFINITY else max(min(MOST, soft - OTHER_FILES), 8)
