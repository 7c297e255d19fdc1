"""The files in deploy/ work: nginx in front of a real server under a path, the systemd unit, commands of containers."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import click
import pytest
from helpers.nursery import free_port
from helpers.serving import SCO, START, Server, ask, post, serving

from softcondorcet.cli import main

pytestmark = pytest.mark.service
DEPLOY = Path(__file__).parents[2] / "deploy"
VOTE = {"a": "x", "b": "y", "winner": "a"}
HOST = {"Host": "arena.example"}


@pytest.fixture(scope="module")
def token(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A board with a token of an admin."""
    board = str(tmp_path_factory.mktemp("deploy") / "board.db")
    made = subprocess.run([*SCO, "token", "new", board, "me", "--scope", "admin"], capture_output=True, check=True)
    return board, made.stdout.decode().strip()


@pytest.fixture(scope="module")
def proxied(token: tuple[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Server]]:
    """The address of a board behind nginx, as deploy/nginx.conf has it, and its server."""
    nginx = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
    if nginx is None:
        pytest.skip("needs nginx: apt-get install nginx-light")
    folder = tmp_path_factory.mktemp("nginx")
    options = ("--name", "arena.example", "--proxy", "127.0.0.1", "--open", "--token-rate", "5")
    with serving(token[0], *options) as server:
        port = free_port()
        site = (DEPLOY / "nginx.conf").read_text()
        site = site.replace("listen 80;", f"listen 127.0.0.1:{port};").replace(":8700/", f":{server.port}/")
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        temps = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
        config = folder / "nginx.conf"
        config.write_text(
            f"daemon off; user root; pid {folder}/pid; error_log {folder}/error.log;\n"
            f"events {{}}\nhttp {{ access_log off;\n{temps}{site}}}\n"
        )
        subprocess.run([nginx, "-t", "-p", str(folder), "-c", str(config)], check=True, capture_output=True)
        process = subprocess.Popen([nginx, "-p", str(folder), "-c", str(config)])
        try:
            wait_for(port, process)
            yield f"http://127.0.0.1:{port}/arena", server
        finally:
            process.terminate()
            process.wait(START)


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + START
    while time.monotonic() < end:
        assert process.poll() is None, "nginx ended"  # another process took the port, and would answer in its place
        with closing(socket.socket()) as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.01)
    raise AssertionError("nginx does not listen")


def test_pages_and_votes_under_a_path(proxied: tuple[str, Server]) -> None:
    url, _ = proxied
    page = ask(f"{url}/", headers=HOST).body.decode()
    style = re.search(r'rel="stylesheet" href="([^"]+)"', page)
    assert style is not None
    assert not style[1].startswith("/")  # or it would be asked of the site, beside the board
    assert ask(f"{url}/{style[1]}", headers=HOST).status == 200
    same_site = {**HOST, "Origin": "http://arena.example"}
    assert post(f"{url}/votes", VOTE, headers=same_site).status == 201
    assert post(f"{url}/votes", VOTE, headers={**HOST, "Origin": "http://evil.example"}).status == 403
    assert ask(f"{url}/leaderboard.json", headers=HOST).json["n_votes"] == 1


def test_a_name_that_is_not_given_is_refused(proxied: tuple[str, Server]) -> None:
    _, server = proxied
    assert server.ask("/", headers=HOST).status == 200
    assert server.ask("/", headers={"Host": "arena.example.evil"}).status == 403
    assert server.ask("/readyz").status == 200  # by its address, for the health check


def test_the_stream_is_not_held_back(proxied: tuple[str, Server]) -> None:
    url, _ = proxied
    port = int(url.split(":")[2].split("/")[0])
    with socket.create_connection(("127.0.0.1", port), timeout=START) as client:
        client.sendall(b"GET /arena/events HTTP/1.1\r\nHost: arena.example\r\n\r\n")
        got = b""
        while b"data:" not in got:
            part = client.recv(4096)
            assert part, got
            got += part
    assert b"text/event-stream" in got


def status_of(server: Server, address: str, votes: int) -> int:
    return server.ask("/votes", [VOTE] * votes, headers={"X-Forwarded-For": address}).status


def test_visitors_behind_a_proxy_have_a_rate_each(tmp_path: Path) -> None:
    board, options = str(tmp_path / "board.db"), ("--open", "--token-rate", "5")
    with serving(board, *options, "--proxy", "127.0.0.1") as server:
        assert status_of(server, "192.0.2.1", 10) == 201
        assert status_of(server, "192.0.2.1", 10) == 429
        assert status_of(server, "192.0.2.2", 10) == 201
        assert status_of(server, "192.0.2.3, 192.0.2.1", 10) == 429  # what the proxy saw, not what it was told
    with serving(board, *options) as server:  # nobody is believed who is not named
        assert status_of(server, "192.0.2.1", 10) == 201
        assert status_of(server, "192.0.2.2", 10) == 429


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--proxy", "nginx"], "--proxy must be an IP address or a network"),
        (["--name", "arena.example"], "--name needs a token first, got arena.example; make one with: sco token new"),
    ],
)
def test_what_a_public_server_needs(words: list[str], said: str, tmp_path: Path) -> None:
    command = [*SCO, "serve", str(tmp_path / "board.db"), "--port", "0", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, said in done.stderr, "Traceback" in done.stderr) == (2, True, False)


def test_the_unit_is_one_that_systemd_takes(tmp_path: Path) -> None:
    systemd = shutil.which("systemd-analyze")
    if systemd is None:
        pytest.skip("needs systemd-analyze")
    sco = tmp_path / "sco"
    sco.write_text("#!/bin/sh\n")
    sco.chmod(0o755)
    unit = tmp_path / "sco.service"
    unit.write_text((DEPLOY / "sco.service").read_text().replace("/opt/sco/bin/sco", str(sco)))
    done = subprocess.run([systemd, "verify", "--man=no", str(unit)], capture_output=True, text=True, check=False)
    about = [line for line in done.stderr.splitlines() if "sco.service" in line]
    assert (done.returncode, about) == (0, [])


def commands() -> dict[str, list[str]]:
    """The command line of each file in deploy/."""
    image = (DEPLOY / "Dockerfile").read_text()
    unit = (DEPLOY / "sco.service").read_text()
    compose = (DEPLOY / "compose.yaml").read_text()
    composed = re.search(r"command: \[(.+)\]", compose)
    started = re.search(r"^ExecStart=\S+/sco (.+)$", unit, re.M)
    ran = re.search(r"^CMD (\[\"serve.+\])$", image, re.M)
    made = next(line for line in compose.splitlines() if " token new " in line)
    assert composed is not None and started is not None and ran is not None
    return {
        "compose.yaml": [word.strip().strip('"') for word in composed[1].split(",")],
        "sco.service": shlex.split(started[1]),
        "Dockerfile": json.loads(ran[1]),
        "token": shlex.split(made.split("leaderboard ")[1]),
    }


@pytest.mark.parametrize("file", ["compose.yaml", "sco.service", "Dockerfile", "token"])
def test_commands_are_those_of_today(file: str) -> None:
    words = commands()[file]
    command: Any = main
    while isinstance(command, click.Group):
        command = command.commands[words.pop(0)]
    given = command.make_context("sco", words).params
    assert "board.db" in str(given["address"]) or str(given["address"]).startswith("postgresql://")


def test_pages_of_the_docs_show_these_files() -> None:
    page = (DEPLOY.parent / "docs" / "serve" / "operations.md").read_text()
    for name in ("Dockerfile", "compose.yaml", "sco.service", "nginx.conf"):
        assert f"(../../deploy/{name})" in page
