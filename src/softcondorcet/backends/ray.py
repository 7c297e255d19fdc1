"""Workers on a Ray cluster: each holds a part of the data, and computes the gradient of its agents.

Parts are put into the cluster's store once, and each is taken from there by one worker, a Ray actor. A question goes to
all workers at once; the answers come back in the order of the parts, so results do not depend on who answers first. A
worker that dies is started again by Ray and asked again, and takes its part from the store as the first one did.
"""

from __future__ import annotations

import os
import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from softcondorcet import arrays
from softcondorcet.arrays import Floats
from softcondorcet.backends.cpu import PairwiseLoss, Stage
from softcondorcet.checks import Box
from softcondorcet.errors import OptionError
from softcondorcet.installation import needs
from softcondorcet.pairs import ByAgent, Pairs

HERE, SCHEME = "ray", "ray://"
# How often a worker is started again: a part that kills it more often than that is too large for the machine.
_LOSSES = 3
# Bytes from which on a word of a question is put into the store, once for all workers: Ray sends smaller ones along.
_LARGE = 100_000
# Below this many entries of rows a worker takes longer to be asked, a few ms, than to answer.
_WORTH_A_WORKER = 1_000_000
# Seconds after which an address is taken to be one that nobody answers at.
_PATIENCE = 5.0
# Ray on this machine is for this process: it reports to nobody, and listens to this machine only (this is the word for
# that on every system, whatever its name says). It has no argument for either, and a process without the second does
# not find a cluster that listens so: these are set while Ray is imported and starts, and then as they were.
_ALONE = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}

# The address that this process has joined: Ray keeps one connection for a process, and does not tell where to.
_joined = ""


def is_cluster(device: str) -> bool:
    """Whether a device is one of Ray: ``ray``, or an address such as ``ray://head:10001``."""
    return device == HERE or device.startswith(SCHEME)


def connect(device: str) -> Any:
    """Ray, connected. ``ray`` is the cluster this process is connected to, else a new one on this machine."""
    global _joined
    needs("ray", "cluster")
    with _environment(_ALONE):
        import ray

        if not ray.is_initialized():
            _start(ray) if device == HERE else _join(ray, device)
            _joined = device
    if device not in (HERE, _joined):
        raise OptionError(
            f"device must be 'ray': this process is connected to a cluster already, got {device!r}; ray.shutdown() "
            "leaves that one"
        )
    return ray


def _start(ray: Any) -> None:
    ray.init(
        address="local",
        num_cpus=arrays.cores(),
        include_dashboard=False,
        log_to_driver=False,
        logging_level="error",
        _node_ip_address="127.0.0.1",
    )


def _join(ray: Any, device: str) -> None:
    needs("grpc", "cluster")
    host, _, port = device.removeprefix(SCHEME).rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=_PATIENCE).close()  # Ray itself would try for a minute
        ray.init(device, logging_level="error")
    except (OSError, ValueError, RuntimeError) as error:
        reason = str(error).partition("\n")[0]
        raise OptionError(
            f"device must be the address of a Ray cluster, as ray://HOST:PORT, got {device!r}: {reason}"
        ) from None


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """Set variables of the environment that Ray reads when it is imported and starts; afterwards they are as before."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def cores(device: str) -> int:
    """Cores of the cluster: as many workers can work at a time."""
    return max(1, int(connect(device).cluster_resources().get("CPU", 1)))


def fetch(ray: Any, answers: list[Any], losses: int = _LOSSES) -> list[Any]:
    """The answers; an error of a worker is raised here as it was raised there."""
    try:
        values: list[Any] = ray.get(answers)
        return values
    except ray.exceptions.RayTaskError as error:
        for answer in answers:  # Ray prints errors that nobody has asked for
            with suppress(Exception):
                ray.get(answer)
        cause: BaseException = error
        while isinstance(cause, ray.exceptions.RayTaskError):  # one that only passes on another's has it inside
            cause = cause.cause
        raise cause from None
    except ray.exceptions.RayError as error:
        reason = str(error).partition("\n")[0]
        raise OptionError(
            f"device: a worker was lost more than {losses} times; expected machines with memory for its part of the "
            f"data, got {reason}"
        ) from None


class Workers:
    """One worker for each part of the data, spread over the cluster: it holds ``make(*part)``.

    They end with the object.
    """

    def __init__(
        self, device: str, make: Callable[..., Any], parts: Sequence[tuple[Any, ...]], losses: int = _LOSSES
    ) -> None:
        self._ray = ray = connect(device)
        worker = ray.remote(max_restarts=losses, max_task_retries=losses, scheduling_strategy="SPREAD")(_Worker)
        # A part that several workers hold is kept once; in a list, which leaves it to the worker to take it.
        kept = {key: [ray.put(part)] for key, part in {id(part): part for part in parts}.items()}
        self._parts = [(make, kept[id(part)]) for part in parts]
        self.actors, self._losses = [worker.remote() for _ in parts], losses

    def ask(self, question: str, *words: Any) -> list[Any]:
        """The answers of all workers to one question, in the order of the parts."""
        sent = [self._ray.put(word) if getattr(word, "nbytes", 0) > _LARGE else word for word in words]
        return fetch(self._ray, [self._put(k, question, *sent) for k in range(len(self.actors))], self._losses)

    def share(self, question: str, items: Iterable[Any]) -> Iterator[Any]:
        """The answers to one question about each of the items, in their order; workers take items in turn."""
        waiting: deque[Any] = deque()
        for k, item in enumerate(items):
            waiting.append(self._put(k % len(self.actors), question, item))
            if len(waiting) > 2 * len(self.actors):
                yield from fetch(self._ray, [waiting.popleft()], self._losses)
        for answer in waiting:
            yield from fetch(self._ray, [answer], self._losses)

    def _put(self, k: int, question: str, *words: Any) -> Any:
        return self.actors[k].answer.remote(*self._parts[k], question, *words)


class _Worker:
    """The actor. Every question says where its part lies, for those that are started again know nothing."""

    def __init__(self) -> None:
        self._held: Any = None

    def answer(self, make: Callable[..., Any], part: list[Any], question: str, *words: Any) -> Any:
        import ray

        if self._held is None:
            self._held = make(*ray.get(part[0]))
        return getattr(self._held, question)(*words)


class ClusterLoss(PairwiseLoss):
    """The pairwise loss with its gradient cut between workers, `smallest` entries of rows to each or more."""

    def __init__(
        self, rows: ByAgent, bounds: Box, prior: float = 0.0, prior_temperature: float = 1.0, *, device: str = HERE,
        smallest: int = _WORTH_A_WORKER,
    ) -> None:  # fmt: skip
        super().__init__(rows, bounds, prior, prior_temperature)
        self._device, self._smallest = device, smallest
        self.workers: dict[bool, Workers] = {}  # with and without comparisons, which not every kernel needs

    def slopes(self, x: Floats, stage: Stage) -> Floats:
        played = stage.sharpness != 1.0 or not self.is_narrow(stage)
        if played not in self.workers:
            ranges = arrays.cut(self.rows.row, self._smallest, cores(self._device))
            parts = [(_cut(self.rows, *part, played), self.bounds, *part) for part in ranges]
            self.workers[played] = Workers(self._device, _Part, parts)
        return np.concatenate(self.workers[played].ask("slopes", x, stage))


class _Part:
    """What a worker holds: some rows, and so the gradient of their agents, bit by bit as found here."""

    def __init__(self, rows: ByAgent, bounds: Box, first: int, last: int) -> None:
        self.loss, self.own = PairwiseLoss(rows, bounds, ranges=[(first, last)]), slice(first, last)

    def slopes(self, x: Floats, stage: Stage) -> Floats:
        return self.loss.slopes(x, stage)[self.own]


def _cut(rows: ByAgent, first: int, last: int, played: bool) -> ByAgent:
    """Some of the rows, the others left empty, without the pairs they were made of."""
    begin, end = rows.row[[first, last]]
    none = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32), np.zeros(0), np.zeros(0), np.zeros(0)
    part = ByAgent(
        Pairs((), *none), np.clip(rows.row, begin, end) - begin, rows.column[begin:end], rows.margin[begin:end]
    )
    if played:
        vars(part)["played"] = rows.played[begin:end]  # where it is kept once made: here it cannot be made
    return part
