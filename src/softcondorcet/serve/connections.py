"""Connections that are cut when the other end keeps them waiting.

A server that waits for ever can be stopped by anybody who opens connections and says nothing, or a byte now and then.
So a request is whole within half a minute of its first byte, or of the connection where none comes; what is sent is
taken within as long; and the lines before a body have a length that no client of ours needs.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

# Seconds that a connection may wait for the other end; bytes before a body.
PATIENCE, LONGEST_HEAD = 30.0, 2**16


class Connection(HttpToolsProtocol):
    """As uvicorn's. `since` is when the other end's turn came; None while it is ours, or uvicorn's timer runs."""

    since: float | None = None
    in_head = False
    head = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self.since = time.monotonic()
        super().connection_made(transport)

    def data_received(self, data: bytes) -> None:
        if self.since is None and (self.cycle is None or self.cycle.response_complete):
            self.since = time.monotonic()
        if self.in_head:  # one that begins in these data counts from the next: whole requests may stand before it
            self.head += len(data)
        super().data_received(data)
        if self.in_head and self.head > LONGEST_HEAD:
            self.transport.abort()

    def on_message_begin(self) -> None:
        self.in_head, self.head = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self.in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self.since = None
        super().on_message_complete()

    def pause_writing(self) -> None:
        self.since = time.monotonic()
        super().pause_writing()

    def resume_writing(self) -> None:
        self.since = None
        super().resume_writing()

    def cut_if_late(self, now: float) -> None:
        """Called now and then for every connection."""
        if self.since is not None and now - self.since > PATIENCE:
            self.transport.abort()


def cut_late(connections: set[Any]) -> None:
    """Cut all connections that have waited too long."""
    now = time.monotonic()
    for connection in list(connections):
        connection.cut_if_late(now)
