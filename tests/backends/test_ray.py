"""A Ray cluster on this machine gives the bits of this process, whoever dies on the way."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from helpers.engines import battles, by_name, ragged, rows_of
from hypothesis import HealthCheck, given, settings

import softcondorcet as sc
from softcondorcet import arrays
from softcondorcet.backends import ray as ray_workers
from softcondorcet.backends.cpu import PairwiseLoss, Stage
from softcondorcet.backends.ray import ClusterLoss, Workers, connect
from softcondorcet.checks import Watch
from softcondorcet.io.engines.ray import read_pairs
from softcondorcet.solvers.descent import Descent, descend_and_polish, walk_to
from softcondorcet.uncertainty import bootstrap

pytestmark = [pytest.mark.cluster, pytest.mark.skipif(find_spec("ray") is None, reason="needs ray")]
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

VOTES = sc.synthetic.tournament(150, agents=40, size=6, noise=30.0, seed=1)[0]
few_examples = settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    """Ray with two workers, however many cores there are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, "cores", lambda: 2)
        started = connect("ray")
    yield started
    started.shutdown()


def spread(pairs: sc.Pairs, **options: Any) -> ClusterLoss:
    """A loss whose gradient comes from two workers, however small the data."""
    return ClusterLoss(pairs.by_agent, (0.0, 100.0), **options, smallest=1)


def descent(loss: PairwiseLoss, watch: Watch | None = None) -> Descent:
    """With the polish, as `sco` descends."""
    start, walk = np.full(VOTES.n_agents, 50.0), walk_to(Stage(1.0, 0.25), 100.0)
    given: dict[str, Any] = {"bounds": (0.0, 100.0), "steps": 1000, "tol": 0.01}
    return descend_and_polish(loss, VOTES.pairs(), start, walk, **given, watch=watch)


def process(ray: Any, workers: Workers, k: int) -> int:
    """The process of a worker."""
    pid: int = ray.get(workers.actors[k].__ray_call__.remote(lambda _: os.getpid()))
    return pid


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)  # as if it were not installed
    with pytest.raises(sc.OptionError, match=r"this needs ray: .*install .*\[cluster\]"):
        sc.sco(VOTES, device="ray")


@pytest.mark.parametrize("address", ["ray://127.0.0.1:1", "ray://127.0.0.1", "ray://"])
def test_an_address_that_does_not_answer(address: str) -> None:
    began = time.monotonic()
    with pytest.raises(sc.OptionError, match=f"device must be the address of a Ray cluster.*got '{address}'"):
        sc.sco(VOTES, device=address)
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("device", ["tpu", "ray:", 7])
def test_a_device_that_is_none(device: Any) -> None:
    with pytest.raises(sc.OptionError, match="device must be 'cpu', 'cuda', 'ray' or 'ray://HOST:PORT', got"):
        sc.sco(VOTES, device=device)


def test_it_listens_to_this_machine_only(ray: Any) -> None:
    assert ray.util.get_node_ip_address() == "127.0.0.1"
    assert not ray_workers._ALONE.keys() & os.environ.keys()


def test_a_process_has_one_cluster(ray: Any) -> None:
    with pytest.raises(sc.OptionError, match="connected to a cluster already, got 'ray://"):
        sc.sco(VOTES, device="ray://127.0.0.1:1")


def test_gradients_are_those_of_one_machine(ray: Any) -> None:
    """The same bits, by each of the kernels."""
    given: dict[str, Any] = {"prior": 0.1, "prior_temperature": 2.0}
    here, there = PairwiseLoss(VOTES.pairs(), (0.0, 100.0), **given), spread(VOTES.pairs(), **given)
    ratings = np.random.default_rng(0).uniform(0, 100, VOTES.n_agents)
    for stage in (Stage(1.0, 2.0), Stage(1.0, 0.1), Stage(0.3, 2.0), Stage(0.0, 2.0)):
        assert (here.gradient(ratings, stage) == there.gradient(ratings, stage)).all()
    assert [len(workers.actors) for workers in there.workers.values()] == [2, 2]  # with and without comparisons


def test_resamples_are_those_of_one_machine(ray: Any) -> None:
    """Rated by ``sco`` itself, where there is no shorter way for a resample."""
    votes = VOTES.with_groups(np.arange(150) % 15, tuple(map(str, range(15))))
    given: dict[str, Any] = {"n": 7, "seed": 3, "by": "groups", "sharpness": 0.5, "tol": 0.1}
    here, there = sc.bootstrap(votes, **given), sc.bootstrap(votes, device="ray", **given)
    assert (here.samples == there.samples).all() and (here.board.values == there.board.values).all()


def test_workers_that_die_between_two_questions(ray: Any) -> None:
    killed: list[int] = []
    loss = spread(VOTES.pairs())

    def kill(step: int, steps: int, ratings: Any) -> None:
        if step in (5, 9):
            killed.append(process(ray, loss.workers[False], 1))
            os.kill(killed[-1], signal.SIGKILL)

    calm, rough = descent(PairwiseLoss(VOTES.pairs(), (0.0, 100.0))), descent(loss, kill)
    assert len(set(killed)) == 2
    assert (calm.ratings == rough.ratings).all() and calm.errors == rough.errors and calm.bound == rough.bound


def test_a_worker_that_dies_over_a_question(ray: Any) -> None:
    """It is stopped before the question, so that it cannot have answered when it is killed."""
    killers: list[threading.Timer] = []
    seen: list[int] = []
    loss = spread(VOTES.pairs())

    def kill(step: int, steps: int, ratings: Any) -> None:
        seen.append(step)
        if step == 5:
            pid = process(ray, loss.workers[False], 0)
            os.kill(pid, signal.SIGSTOP)
            killers.append(threading.Timer(0.3, os.kill, (pid, signal.SIGKILL)))
            killers[0].start()
        elif step == 6:
            assert killers[0].finished.is_set()

    calm, rough = descent(PairwiseLoss(VOTES.pairs(), (0.0, 100.0))), descent(loss, kill)
    assert (calm.ratings == rough.ratings).all() and calm.errors == rough.errors
    assert seen == list(range(1, calm.steps + 1))


def test_a_worker_that_dies_over_resamples(ray: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Workers] = []
    seen: list[int] = []

    def listed(*given: Any) -> Workers:
        made.append(Workers(*given))
        return made[0]

    def kill(k: int, n: int, _: Any) -> None:
        seen.append(k)
        if k == 2:
            os.kill(process(ray, made[0], 1), signal.SIGKILL)

    monkeypatch.setattr(bootstrap, "Workers", listed)
    given: dict[str, Any] = {"n": 9, "seed": 3, "interval": "bca"}
    calm, rough = sc.bootstrap(VOTES, **given), sc.bootstrap(VOTES, device="ray", watch=kill, **given)
    assert (calm.samples == rough.samples).all() and (calm.rating_low == rough.rating_low).all()
    assert seen == list(range(1, 9 + 50 + 1))  # 50 blocks of the jackknife


def test_a_worker_that_is_lost_too_often(ray: Any) -> None:
    workers = Workers("ray", threading.Event, [()], losses=0)
    assert workers.ask("is_set") == [False]
    os.kill(process(ray, workers, 0), signal.SIGKILL)
    with pytest.raises(sc.OptionError, match="a worker was lost more than 0 times; expected machines with memory"):
        workers.ask("wait", 1.0)


def in_files(folder: Path, rows: dict[str, list[Any]], files: int, group: int) -> str:
    """Rows in several files, in groups of so many rows."""
    table = pa.table(rows)
    size = -(-len(table) // files)
    for k, first in enumerate(range(0, len(table), size)):
        pq.write_table(table.slice(first, size), folder / f"part {k}.parquet", row_group_size=group)
    return f"{folder}/*.parquet"


@few_examples
@given(profile=ragged(), files=st.integers(1, 3), group=st.integers(1, 9), shards=st.sampled_from([None, 1, 3, 13]))
def test_rankings_are_counted_as_here(
    ray: Any, tmp_path_factory: pytest.TempPathFactory, profile: sc.Profile, files: int, group: int, shards: int | None
) -> None:
    """Rows are shuffled, so contests straddle files and row groups."""
    source = in_files(tmp_path_factory.mktemp("votes"), rows_of(profile), files, group)
    found = read_pairs(source, shards=shards)
    assert by_name(found) == by_name(profile.pairs())
    assert found.agents == tuple(sorted({profile.agents[k] for k in profile.agent}))
    key = found.left.astype(int) * found.n_agents + found.right
    assert (found.left < found.right).all() and (np.diff(key) > 0).all()


@few_examples
@given(rows=battles(), files=st.integers(1, 3), group=st.integers(1, 9), shards=st.sampled_from([None, 1, 3]))
def test_battles_are_counted_as_here(
    ray: Any,
    tmp_path_factory: pytest.TempPathFactory,
    rows: dict[str, list[Any]],
    files: int,
    group: int,
    shards: int | None,
) -> None:
    source = in_files(tmp_path_factory.mktemp("votes"), rows, files, group)
    assert by_name(read_pairs(source, shards=shards)) == by_name(sc.read(rows).pairs())


def test_a_file_without_rows_among_others(ray: Any, tmp_path: Path) -> None:
    source = in_files(tmp_path, {"a": ["x", "y"], "b": ["y", "x"], "winner": ["a", "tie"]}, 1, 1)
    pq.write_table(pq.read_table(tmp_path / "part 0.parquet").slice(0, 0), tmp_path / "empty.parquet")
    assert by_name(read_pairs(source, shards=3)) == {("x", "y"): (1, 0, 1)}


def test_columns_by_name_and_a_weight_that_is_blank(ray: Any, tmp_path: Path) -> None:
    rows = {
        "first": ["x", "y"],
        "second": ["y", "z"],
        "who": ["first", "tie"],
        "n": pa.array([None, None], pa.float64()),
    }
    columns = {"a": "first", "b": "second", "winner": "who"}
    source = in_files(tmp_path, rows, 2, 1)
    assert by_name(read_pairs(source, columns=columns)) == {("x", "y"): (1, 0, 0), ("y", "z"): (0, 0, 1)}
    with pytest.raises(sc.OptionError, match="columns must be a dict with keys among a, b, winner, weight"):
        read_pairs(source, columns={**columns, "group": "n"})


RANKS = {"contest_id": [1, 1, 2, 2], "rank": [1, 2, 1, 2], "agent": ["a", "b", "a", "b"], "weight": [1, 1, 1, 1]}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"contest_id": [1, 2, 2, 1], "agent": ["a", "b", "a", "a"]}, "agent 'a' appears twice in contest_id '1'"),
        ({"contest_id": [1, 2, 2, 1], "weight": [1, 1, 1, 2]}, r"weight is 2.0; expected 1.0 as at .*\*.parquet"),
        ({"rank": [1, 2, 1, None]}, "part 1.parquet: row 1: rank is blank; expected a finite number"),
        ({"agent": ["a", "b", "a", " "]}, "part 1.parquet: row 1: agent is blank; expected a name"),
        ({"weight": [1, 1, 1, -1]}, "part 1.parquet: row 1: weight is -1; expected a number that is not negative"),
        ({"agent": None, "ranking": ["a>b"] * 4, "rank": None}, "are those of orders; expected battles"),
        ({name: pa.array([], pa.int64()) for name in RANKS}, "no rows; expected at least one"),
    ],
)
def test_votes_that_cannot_be_counted(ray: Any, tmp_path: Path, change: dict[str, Any], words: str) -> None:
    rows = {name: column for name, column in {**RANKS, **change}.items() if column is not None}
    if not len(rows["contest_id"]):
        pq.write_table(pa.table(rows), tmp_path / "empty.parquet")
    with pytest.raises(sc.DataError, match=words):
        read_pairs(in_files(tmp_path, rows, 2, 1) if len(rows["contest_id"]) else f"{tmp_path}/*", shards=3)


def test_files_that_cannot_be_read(ray: Any, tmp_path: Path) -> None:
    (tmp_path / "votes.parquet").write_text("contest_id,rank,agent")
    pq.write_table(pa.table(RANKS), tmp_path / "a.parquet")
    pq.write_table(pa.table(RANKS).drop(["weight"]), tmp_path / "b.parquet")
    assert by_name(read_pairs(f"file://{tmp_path}/a.parquet")) == {("a", "b"): (2, 0, 0)}
    for source, words in {
        "none-*.parquet": "no files found; expected at least one",
        "no/folder.parquet": "expected Parquet files that the workers can read",
        "vote?.parquet": "votes.parquet: .*expected Parquet files",
        "[ab].parquet": "b.parquet: no column 'weight'; expected the same columns in all files",
    }.items():
        with pytest.raises(sc.DataError, match=words):
            read_pairs(f"{tmp_path}/{source}")
    with pytest.raises(sc.OptionError, match="shards must be a positive whole number, got 0"):
        read_pairs(f"{tmp_path}/a.parquet", shards=0)
    with pytest.raises(sc.OptionError, match="kind must be one of battles"):
        read_pairs(f"{tmp_path}/a.parquet", kind="votes")


CLIENT = """
import sys
import softcondorcet as sc
source, address = sys.argv[1:]
board = sc.sco(sc.read(source, engine=address), device=address)
print(*board.values.tolist())
import ray; ray.shutdown()
"""


@pytest.mark.skipif(find_spec("grpc") is None, reason="needs grpcio")
def test_a_cluster_at_an_address(ray: Any, tmp_path: Path) -> None:
    """Ray's own server for clients, on the cluster of this test, and a client in a process of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    source = in_files(tmp_path, rows_of(VOTES), 3, 100)
    cluster = ray.get_runtime_context().gcs_address
    command = ["-m", "ray.util.client.server", "--mode", "legacy", "--address", cluster, "--host", "127.0.0.1"]
    server = subprocess.Popen(
        [sys.executable, *command, "--port", str(port)],
        env={**os.environ, **ray_workers._ALONE}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.1)
        done = subprocess.run(
            [sys.executable, "-c", CLIENT, source, f"ray://127.0.0.1:{port}"],
            capture_output=True, text=True, timeout=120, check=True,
        )  # fmt: skip
    finally:
        server.terminate()
        server.wait(20)
    assert np.array_equal(np.array(done.stdout.split(), dtype=float), sc.sco(read_pairs(source)).values)
