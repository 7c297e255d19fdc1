"""The client of a live leaderboard against a real server, over a network that breaks off, and a server that dies."""

from __future__ import annotations

import io
import itertools
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
from helpers.serving import SCO, START, serving

import softcondorcet as sc

pytestmark = pytest.mark.service


@pytest.fixture
def connect() -> Iterator[Callable[..., sc.Client]]:
    """Makes clients that try once, and closes them."""
    with ExitStack() as stack:
        yield lambda url, **given: stack.enter_context(sc.Client(url, **{"patience": 0.0, "timeout": 5.0, **given}))


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(str(tmp_path_factory.mktemp("client") / "board.db")) as server:
        assert server.ask("/boards", {"name": "x"}).status in (401, 403)
        yield server.url


def battles(n: int) -> sc.Profile:
    """Battles in which the winner is shown second now and then, with ties, judges and voters."""
    rows = range(n)
    winner = ["model_a" if k % 3 else "tie" if k % 2 else "model_b" for k in rows]
    frame = {
        "model_a": [f"m{k % 5}" for k in rows],
        "model_b": [f"m{k % 5 + 1}" for k in rows],
        "winner": winner,
        "judge": [f"j{k % 2}" for k in rows],
        "voter": [f"v{k % 7}" for k in rows],
        "weight": [0.5 if k % 4 else 1.0 for k in rows],
    }
    return sc.Profile.from_matches(frame, a="model_a", b="model_b", winner="winner", weight="weight", group="judge")


@contextmanager
def breaking(port: int, *, after: int) -> Iterator[int]:
    """A way to the server that carries each request but loses the answer of every second one: its port."""
    listener = socket.create_server(("127.0.0.1", 0))
    number = itertools.count()

    def carry(client: socket.socket) -> None:
        with client, socket.create_connection(("127.0.0.1", port), timeout=START) as server, suppress(OSError):
            client.settimeout(START)
            while data := client.recv(2**20):
                server.sendall(data)
                server.settimeout(0.2)
                answer = b""
                with suppress(TimeoutError):
                    while part := server.recv(2**16):
                        answer += part
                        if answer.endswith(b"}"):
                            break
                if answer and next(number) % after == after - 1:
                    return  # the server has it, and nobody hears of it
                client.sendall(answer)

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=carry, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def test_a_vote_and_what_the_board_says(url: str) -> None:
    with sc.Client(url) as client:
        first = client.vote("gpt", "llama", winner="gpt", voter="ann", group="coding")
        assert client.vote(["gpt", ["llama", "qwen"]], key="mine") == first + 1
        assert client.vote(["gpt", ["llama", "qwen"]], key="mine") == first + 1  # sent twice, counted once
        assert client.vote("gpt", "llama", winner="tie") == first + 2
        assert client.pair("gpt", "llama")["a"] == "gpt"
        names = {row["agent"] for row in client.leaderboard()["rows"]}
        assert names == {"gpt", "llama", "qwen"}
        assert client.votes().n_votes == 3


def test_a_push_keeps_groups_weights_and_sides_and_counts_once(tmp_path: Path) -> None:
    profile = battles(2_300)
    with serving(str(tmp_path / "board.db"), "--max-weight", "5") as server, sc.Client(server.url) as client:
        done = client.push(profile)
        assert (done.votes, done.known, done.first, done.last, done.notes) == (2_300, 0, 1, 2_300, ())
        assert client.push(profile).known == 2_300  # the same votes are there already
        back = client.votes()
        assert back.n_votes == 2_300
        assert counts(back) == counts(profile)
        assert back.turned is not None
        assert profile.turned is not None
        assert back.turned.tolist() == profile.turned.tolist()
        assert client.push(battles(2_400), skip=2_300).votes == 100
        assert client.push(battles(100), again=True).known == 0
        assert client.votes().n_votes == 2_500


def counts(profile: sc.Profile) -> dict[tuple[str, ...], float]:
    """Weight of each ranking with its judge."""
    found: dict[tuple[str, ...], float] = {}
    judges = profile.columns[str(profile.group_by)].named().cells()
    for tiers, weight, judge in zip(profile.rankings(), profile.weight.tolist(), judges, strict=True):
        key = (str(judge), *("=".join(sorted(tier)) for tier in tiers))
        found[key] = found.get(key, 0.0) + weight
    return found


def test_answers_that_are_lost_are_asked_for_again(tmp_path: Path, connect: Callable[..., sc.Client]) -> None:
    with serving(str(tmp_path / "board.db")) as server, breaking(server.port, after=2) as port:
        client = connect(f"http://127.0.0.1:{port}", patience=30.0)
        numbers = [client.vote("x", "y", winner="x") for _ in range(8)]
        assert numbers == list(range(1, 9))
        assert connect(server.url).votes().n_votes == 8


def test_a_push_goes_on_when_the_server_is_back(tmp_path: Path, connect: Callable[..., sc.Client]) -> None:
    address = str(tmp_path / "board.db")
    profile = battles(1_500)
    with serving(address) as server:
        port = server.port
        assert connect(server.url).push(profile).votes == 1_500
        server.kill()
    client = connect(f"http://127.0.0.1:{port}", patience=60.0)
    done: list[sc.Pushed] = []
    thread = threading.Thread(target=lambda: done.append(client.push(profile)))
    thread.start()  # nobody listens: it waits
    with serving(address, "--port", str(port)) as server:
        thread.join(START)
        assert (done[0].votes, done[0].known) == (1_500, 1_500)
        assert connect(server.url).votes().n_votes == 1_500


def test_what_a_server_does_not_keep_is_said(url: str, connect: Callable[..., sc.Client]) -> None:
    profile = sc.read(
        io.BytesIO(b'{"ranking": ["a"], "when": 1}\n{"ranking": ["a", "b"], "when": 2}\n'), format="jsonl"
    )
    done = connect(url).push(profile)
    assert done.votes == 1
    assert [note.split(" ")[0] for note in done.notes] == ["1", "times"]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("arena.example", "url must be the address of a server"),
        ("ftp://arena.example", "url must be the address of a server"),
        ("http://ann:secret@arena.example", "give the secret as token, got 'one with it'"),
        ("http://127.0.0.1:1", r"no answer \(.*refused\); tried for 0 s"),
    ],
)
def test_addresses_that_are_none(wrong: str, words: str, connect: Callable[..., sc.Client]) -> None:
    with pytest.raises((sc.OptionError, sc.DataError), match=words):
        connect(wrong).leaderboard()


def test_refusals_are_the_servers_words(url: str, connect: Callable[..., sc.Client]) -> None:
    client = connect(url)
    with pytest.raises(sc.DataError, match="422 ranking: expected 2 to 1,000 agents, got 1"):
        client.vote(["x"])
    with pytest.raises(sc.OptionError, match="winner must be 'x', 'y', 'tie' or 'both_bad', got 'z'"):
        client.vote("x", "y", winner="z")
    with pytest.raises(sc.DataError, match=r"40[13] "):
        client.vote("x", "y", winner="x", weight=100.0)
    with pytest.raises(sc.DataError, match=r"401 "):
        connect(url, token="sco_nobody").vote("x", "y", winner="x")
    with pytest.raises(sc.DataError, match="404 "):
        connect(url, board="none").leaderboard()


def test_a_site_that_is_no_leaderboard_is_named(connect: Callable[..., sc.Client]) -> None:
    listener = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        with suppress(OSError), listener.accept()[0] as client:
            client.recv(2**16)
            client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")

    threading.Thread(target=answer, daemon=True).start()
    with listener, pytest.raises(sc.DataError, match="expected the JSON of a live leaderboard, got b'hello'"):
        connect(f"http://127.0.0.1:{listener.getsockname()[1]}").leaderboard()


def test_on_the_command_line(url: str, tmp_path: Path) -> None:
    def sco(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*SCO, *words], check=False, capture_output=True, text=True, timeout=120)

    done = sco("vote", url, "p", "q", "p", "--voter", "ann")
    assert done.stdout.strip().isdigit(), done.stderr
    file = tmp_path / "more.csv"
    file.write_text("model_a,model_b,winner\n" + "p,q,model_a\nq,r,tie\n" * 30)
    done = sco("push", str(file), url)
    assert done.stdout == f"60 votes sent to {url}\n"
    assert done.stderr.endswith("sco push --skip 60 sends the rest\n")
    assert sco("push", str(file), url, "--quiet").stdout == f"60 votes sent to {url}, of which the server had 60\n"
    wrong = sco("push", str(file), "nowhere")
    assert (wrong.returncode, "url must be" in wrong.stderr, "Traceback" in wrong.stderr) == (2, True, False)
