"""Run the service until a signal stops it; or answer one request without a server."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import socket
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

import click
import uvicorn
from starlette.types import ASGIApp, Message

from softcondorcet.checks import check
from softcondorcet.errors import OptionError
from softcondorcet.server.ledger.service import Service, Settings
from softcondorcet.server.web.admin_pages import link
from softcondorcet.server.web.app import make_app
from softcondorcet.server.web.connections import Connection, cut_late, most_connections
from softcondorcet.server.web.sessions import Sessions

# How long a server that was asked to stop goes on answering what is under way.
STOP_SECONDS = 10


class Server(uvicorn.Server):
    """Cuts connections that keep it waiting; lets pages that listen go first, or they would hold up the stop."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service = service

    async def on_tick(self, counter: int) -> bool:
        """Called ten times a second. Once a second, cut connections that keep the server waiting."""
        if counter % 10 == 0:
            cut_late(self.server_state.connections, self._service.settings.patience)
        return await super().on_tick(counter)

    def handle_exit(self, sig: int, frame: Any) -> None:
        """The first signal stops when all is done; the second at once, as a kill would, whatever a thread waits for."""
        if self.should_exit:
            os._exit(128 + sig)
        self._service.stopping.set()
        self.should_exit = True


def is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text)
    except ValueError:
        return False
    return True


def run(
    address: str,
    settings: Settings,
    host: str,
    port: int,
    names: Sequence[str] = (),
    proxies: Sequence[str] = (),
    *,
    owner_link: bool = False,
) -> None:
    """Serve until SIGTERM or Ctrl-C; then finish what was begun.

    `names` are those that visitors use for this server, `proxies` the addresses of proxies in front of it. With an
    `owner_link` it prints an address that makes who opens it first the owner of all boards.
    """
    local = is_local(host)
    for proxy in proxies:
        check(_is_network(proxy), "--proxy", "an IP address or a network, as 127.0.0.1 or 10.0.0.0/8", proxy)
    listening = bind(host, port)
    try:
        service = Service(address, settings)
        if not (local and not names) and not any(token.revoked is None for token in service.tokens):
            service.database.close()
            problem = f"--host must be 127.0.0.1 as long as there is no token, got {host}"
            problem = problem if not local else f"--name needs a token first, got {names[0]}"
            raise OptionError(f"{problem}; make one with: sco token new BOARD LABEL --scope admin")
        shown = f"[{host}]" if ":" in host else host
        click.echo(f"{service.database.about}: {sum(len(b.votes) for b in service.boards.values()):,} votes")
        url, sessions = f"http://{shown}:{listening.getsockname()[1]}/", Sessions()
        click.echo(f"the leaderboard is at {url} until Ctrl-C")
        if owner_link:
            click.echo(link(url, sessions.new_link()))
        config = uvicorn.Config(
            make_app(service, names=names if local or names else None, proxies=proxies, sessions=sessions),
            http=Connection,
            ws="none",
            lifespan="on",
            log_level="error",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=STOP_SECONDS,
            timeout_keep_alive=30,
            limit_concurrency=most_connections(),
        )
        Server(config, service).run(sockets=[listening])
    finally:
        listening.close()


def get(address: str, path: str) -> tuple[int, bytes]:
    """Status and body of one GET, answered without a server from what is on disk; a server may run beside."""
    service = Service(address, write=False)
    service.stopping.set()  # nothing will happen that one could listen for
    try:
        return asyncio.run(_answered(make_app(service), path))
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
