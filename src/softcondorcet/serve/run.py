"""Run the service until it is told to stop; or answer one request without a server."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from typing import Any
from urllib.parse import unquote, urlsplit

import click
import uvicorn
from starlette.types import ASGIApp, Message

from softcondorcet.errors import OptionError
from softcondorcet.serve.connections import Connection, cut_late
from softcondorcet.serve.door import Door
from softcondorcet.serve.service import Service, Settings


class Server(uvicorn.Server):
    """Cuts connections that keep it waiting; lets pages that listen go first, or they would hold up the stop."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service = service

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second."""
        if counter % 10 == 0:
            cut_late(self.server_state.connections)
        return await super().on_tick(counter)

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Asked once: stop when all is done. Asked twice: now."""
        self._service.stopping.set()
        self.force_exit = self.should_exit
        self.should_exit = True


def is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def run(address: str, settings: Settings, host: str, port: int) -> None:
    """Serve until SIGTERM or Ctrl-C; then finish what was begun."""
    listening = bind(host, port)
    try:
        service = Service(address, settings)
        if not is_local(host) and not any(token.revoked is None for token in service.tokens):
            service.database.close()
            raise OptionError(
                f"--host must be 127.0.0.1 as long as there is no token, got {host}; "
                "make one with --new-token LABEL --scope admin"
            )
        shown = f"[{host}]" if ":" in host else host
        click.echo(f"{service.database.about}: {sum(len(b.votes) for b in service.boards.values()):,} votes")
        click.echo(f"the leaderboard is at http://{shown}:{listening.getsockname()[1]}/ until Ctrl-C")
        config = uvicorn.Config(
            Door(service, local=is_local(host)),
            http=Connection,
            ws="none",
            lifespan="on",
            log_level="error",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=10,
            timeout_keep_alive=30,
            limit_concurrency=2000,
        )
        Server(config, service).run(sockets=[listening])
    finally:
        listening.close()


def get(address: str, path: str, settings: Settings) -> tuple[int, bytes]:
    """Status and body of one GET, answered without a server from what is on disk; a server may run beside."""
    service = Service(address, settings, write=False)
    service.stopping.set()  # nothing will happen that one could listen for
    try:
        return asyncio.run(_answered(Door(service), path))
    finally:
        service.database.close()


async def _answered(app: ASGIApp, path: str) -> tuple[int, bytes]:
    parts = urlsplit(path)
    scope = {
        "type": "http", "http_version": "1.1", "method": "GET", "scheme": "http", "path": unquote(parts.path),
        "raw_path": parts.path.encode(), "query_string": parts.query.encode(), "root_path": "",
        "headers": [(b"host", b"localhost")], "client": None, "server": None,
    }  # fmt: skip
    status, body = 500, b""
    ended = asyncio.Event()

    async def receive() -> Message:
        await ended.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        nonlocal status, body
        status, body = message.get("status", status), body + message.get("body", b"")
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            ended.set()

    await app(scope, receive, send)
    return status, body


def bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise OptionError(
            f"--host and --port must be free to listen on, got {host} and {port} ({error.strerror})"
        ) from None
    return listening
