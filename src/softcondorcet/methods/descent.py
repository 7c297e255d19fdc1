"""The one descent loop: accelerated projected gradient on a pairwise loss, walked from easy to sharp.

The sigmoid loss is not convex: started cold at a low temperature, descent stops in the first valley. So the loop walks
through stages (sharpness, temperature), from a wide and nearly convex loss to the one asked for, carrying the ratings
along (graduated non-convexity). Each step is a projected gradient step with Nesterov's extrapolation, restarted when it
points uphill (O'Donoghue and Candes, 2015). The step of each agent is the inverse of a bound on its own curvature, so
there is no learning rate to choose. Cost: one pass over the pairs per step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from softcondorcet import threads
from softcondorcet.arrays import Floats
from softcondorcet.kernels import pairwise
from softcondorcet.kernels.compile import Kernel
from softcondorcet.options import Box, Precision, Watch
from softcondorcet.pairs import ByAgent, Pairs
from softcondorcet.scale.ray_workers import Workers, cores, is_cluster

if TYPE_CHECKING:
    from softcondorcet.scale.cuda import GpuRows

# Pairs per piece of work in numpy: a few MB at a time.
_CHUNK = 2**18
# Below this many entries of rows a worker on a cluster takes longer to be asked, a few ms, than to answer.
_WORTH_A_WORKER = 1_000_000
# The largest |second derivative| of the logistic function, at d = log(2 + sqrt 3).
SIGMOID_CURVE = 1 / (6 * np.sqrt(3))


@dataclass(frozen=True)
class Stage:
    """One loss of the walk."""

    sharpness: float
    temperature: float


class Loss(Protocol):
    """What the loop needs of a loss: its value, its gradient, and a bound on its curvature along each rating."""

    def gradient(self, ratings: Floats, stage: Stage) -> Floats: ...

    def curvature(self, stage: Stage) -> Floats: ...

    def value(self, ratings: Floats, stage: Stage) -> float: ...


@dataclass
class Descent:
    """Where the loop ended. `error` is the size of the step it would still take, in temperatures; `errors` its history.

    `bound`, where known, is proven: no order contradicts margins that add up to less.
    """

    ratings: Floats
    steps: int
    error: float
    converged: bool
    errors: list[float] = field(default_factory=list)
    bound: float | None = None


def longest(step: Floats) -> float:
    """The size of a step: as far as any agent moves."""
    return float(np.abs(step).max(initial=0.0))


def descend(
    loss: Loss,
    start: Floats,
    walk: Sequence[Stage],
    *,
    bounds: Box,
    steps: int,
    tol: float,
    watch: Watch | None = None,
    size: Callable[[Floats], float] = longest,
) -> Descent:
    """Take one step in each stage of `walk`, then go on in the last one until `tol` is met or `steps` are taken."""
    ratings, ahead, momentum = start, start, 0
    errors: list[float] = []
    for step in range(1, steps + 1):
        stage = walk[min(step, len(walk)) - 1]
        new = np.clip(ahead - loss.gradient(ahead, stage) / loss.curvature(stage), *bounds)
        errors.append(size(new - ahead) / stage.temperature)
        momentum = momentum + 1 if (ahead - new) @ (new - ratings) <= 0 else 0
        # An extrapolated point outside the box could overflow the kernel, hence the second clip.
        ratings, ahead = new, np.clip(new + momentum / (momentum + 3) * (new - ratings), *bounds)
        if watch is not None:
            watch(step, steps, ratings)
        if step >= len(walk) and errors[-1] <= tol:
            return Descent(ratings, step, errors[-1], True, errors)
    return Descent(ratings, steps, errors[-1], False, errors)


def won_pair_loss(d: Floats, q: float) -> Floats:
    """(1 - p^q) / q of a pair won with a lead of d temperatures; -log p for q = 0."""
    log_p = -np.logaddexp(0.0, -d)
    loss: Floats = -np.expm1(q * log_p) / q if q else -log_p
    return loss


class PairwiseLoss:
    """The pairwise family on pairs, plus a Gaussian prior: prior/2 sum ((rating - middle) / temperature)^2.

    Rows are cut between threads where there are enough of them; the threads end with the object.
    """

    def __init__(
        self,
        pairs: Pairs | ByAgent,
        bounds: Box,
        *,
        prior: float = 0.0,
        prior_temperature: float = 1.0,
        attract: bool = False,
        ranges: list[tuple[int, int]] | None = None,
        device: str = "cpu",
        precision: Precision = "double",
    ) -> None:
        low, high = bounds
        self.rows = pairs if isinstance(pairs, ByAgent) else _rows_of(pairs, device, precision)
        self.bounds, self.device = bounds, device
        self.middle, self.width = (low + high) / 2, high - low
        self.stiffness = prior / prior_temperature**2
        self.tied = self.rows.tied if attract else None
        self.ranges = ranges or self.rows.ranges()
        self.pool = ThreadPoolExecutor(len(self.ranges)) if len(self.ranges) > 1 else None
        self._strength: dict[bool, Floats] = {}
        self._gpu = self._on_gpu(precision) if device == "cuda" else None
        self._workers: dict[bool, Workers] = {}

    def _on_gpu(self, precision: Precision) -> GpuRows:
        from softcondorcet.scale.cuda import GpuRows

        rows = self.rows
        return GpuRows(rows.row, rows.column, rows.margin, rows.played, precision)

    def _on_cluster(self, played: bool) -> Workers:
        """Rows cut between workers, with comparisons where the kernel needs more than margins."""
        if played not in self._workers:
            ranges = threads.cut(self.rows.row, _WORTH_A_WORKER, cores(self.device))
            parts = [(_cut(self.rows, *part, played), self.bounds, *part) for part in ranges]
            self._workers[played] = Workers(self.device, _Part, parts)
        return self._workers[played]

    def gradient(self, ratings: Floats, stage: Stage) -> Floats:
        rows, away, q = self.rows, ratings - self.middle, stage.sharpness
        narrow = self.tied is None and self.width <= pairwise.WIDE * stage.temperature
        if is_cluster(self.device):
            parts = self._on_cluster(not narrow or q != 1.0).ask("gradient", ratings, stage)
            return np.concatenate(parts) + self.stiffness * away
        gradient = np.zeros(len(ratings))
        x = away / stage.temperature
        if self._gpu is not None:
            gradient = self._gpu.gradient(x, q)
        elif narrow and q == 1.0:
            self._share(pairwise.sigmoid_gradient, rows.margin, np.exp(x), gradient)
        elif narrow and q == 0.0:
            self._share(pairwise.logistic_gradient, rows.margin, rows.played, np.exp(x), gradient)
        else:
            self._share(pairwise.family_gradient, rows.margin, rows.played, self._ties(), x, q, gradient)
        return gradient / stage.temperature + self.stiffness * away

    def curvature(self, stage: Stage) -> Floats:
        """Twice the diagonal: the Hessian is a signed Laplacian, which its diagonal bounds twice over."""
        sharp = stage.sharpness == 1.0 and self.tied is None
        if sharp not in self._strength:
            compared = np.abs(self.rows.margin) if sharp else self.rows.played
            # An agent without pairs has no curvature; any positive number leaves it where it is.
            self._strength[sharp] = np.maximum(self.rows.sums(compared), np.finfo(float).tiny)
        steepest = SIGMOID_CURVE if sharp else 0.25 if self.tied is None else 1.0
        return 2 * steepest / stage.temperature**2 * self._strength[sharp] + self.stiffness

    def value(self, ratings: Floats, stage: Stage) -> float:
        """The loss at these ratings, prior included. Over pairs, some at a time: it is asked for once per fit."""
        away, pairs = ratings - self.middle, self.rows.pairs
        total = self.stiffness / 2 * float(away @ away)
        for first in range(0, len(pairs), _CHUNK):
            part = slice(first, first + _CHUNK)
            d = (ratings[pairs.left[part]] - ratings[pairs.right[part]]) / stage.temperature
            wins, losses, ties = pairs.wins[part], pairs.losses[part], pairs.ties[part]
            won, lost = won_pair_loss(d, stage.sharpness), won_pair_loss(-d, stage.sharpness)
            level = (won + lost) / 2 if self.tied is None else 0.5 * np.tanh(d / 2) ** 2
            # A sum of products, not a dot product: BLAS would start threads for it.
            total += float((wins * won + losses * lost + ties * level).sum())
        return total

    def _ties(self) -> Floats:
        return np.zeros(0) if self.tied is None else self.tied

    def _share(self, kernel: Kernel, *arrays: Any) -> list[Any]:
        """Run a kernel on all rows, cut between the threads."""
        rows = self.rows
        return threads.run(lambda *part: kernel(rows.row, rows.column, *arrays, *part), self.ranges, self.pool)


def _rows_of(pairs: Pairs, device: str, precision: Precision) -> ByAgent:
    """Margins in single precision here; a GPU makes its own."""
    return pairs.by_agent_single if precision == "single" and device != "cuda" else pairs.by_agent


class _Part:
    """What a worker on a cluster holds: some rows, and so the gradient of their agents, bit by bit as found here."""

    def __init__(self, rows: ByAgent, bounds: Box, first: int, last: int) -> None:
        self.loss, self.own = PairwiseLoss(rows, bounds, ranges=[(first, last)]), slice(first, last)

    def gradient(self, ratings: Floats, stage: Stage) -> Floats:
        return self.loss.gradient(ratings, stage)[self.own]


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
