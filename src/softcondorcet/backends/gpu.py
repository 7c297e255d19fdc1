"""Gradients on an NVIDIA GPU: of the pairwise family, of many resamples at once, and of the Fenchel-Young loss.

The descent itself is the one of ``solvers.descent``: only m-vectors travel between the processor and the GPU. Steps
on the Fenchel-Young loss take thousands of votes at a time: the same steps as ``kernels.fenchel_young``, with random
numbers of the GPU: results agree in distribution, not in bits. The sums are of half places, which floats hold
exactly, so the same seed gives the same bits on the same GPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from softcondorcet.arrays import Floats, Ints
from softcondorcet.backends.cpu import PairwiseLoss, Stage
from softcondorcet.checks import Box, Precision
from softcondorcet.errors import DataError, OptionError
from softcondorcet.installation import needs
from softcondorcet.pairs import ByAgent
from softcondorcet.profile import Profile

# Resamples in one pass over the pairs: their ratings must stay in the GPU's cache, their margins in its memory.
TOGETHER = 64


def torch_on_gpu() -> Any:
    """PyTorch, if there is a GPU that it can use."""
    needs("torch", "gpu")
    import torch

    if not torch.cuda.is_available():
        raise OptionError("device must be 'cpu' on this machine: PyTorch sees no NVIDIA GPU, got 'cuda'")
    return torch


class GpuRows:
    """Rows of pairs (``Pairs.by_agent``) in the memory of the GPU."""

    def __init__(self, row: Ints, column: Ints, margin: Floats, played: Floats | None, precision: Precision) -> None:
        torch = self._torch = torch_on_gpu()
        self.real = torch.float64 if precision == "double" else torch.float32
        self._row = torch.as_tensor(np.ascontiguousarray(row, np.int64), device="cuda")
        self._column = torch.as_tensor(np.ascontiguousarray(column).view(np.int32), device="cuda")
        self._margin = self._kept(margin)
        self._played = self._margin if played is None else self._kept(played)
        mean = len(column) / max(len(row) - 1, 1)
        self._block = int(min(max(2 ** np.ceil(np.log2(max(mean, 1.0))), 32), 1024))

    def _kept(self, counts: Floats) -> Any:
        """Counts in 4 bytes each where that loses nothing, or where single precision is all that is asked for."""
        single = counts.astype(np.float32)
        exact = self.real == self._torch.float32 or bool((single == counts).all())
        return self._torch.as_tensor(single if exact else np.ascontiguousarray(counts), device="cuda")

    def gradient(self, x: Floats, q: float) -> Floats:
        """The gradient at x = ratings / temperature, around the middle."""
        ratings = self._torch.as_tensor(x, device="cuda", dtype=self.real)
        gradient = self._torch.empty_like(ratings)
        self.run(ratings, gradient, q)
        result: Floats = gradient.double().cpu().numpy()
        return result

    def run(self, x: Any, gradient: Any, q: float) -> None:
        """The same between vectors on the GPU."""
        from softcondorcet.backends.triton_kernels import pairwise_gradient

        arrays = self._row, self._column, self._margin, self._played, x, gradient
        sharpness = self._torch.full((1,), q, device="cuda", dtype=self.real)
        warps = max(self._block // 128, 1)
        pairwise_gradient[(len(x),)](
            *arrays, sharpness, SHARP=q == 1.0, FLAT=q == 0.0, BLOCK=self._block, num_warps=warps
        )


class GpuLoss(PairwiseLoss):
    """The pairwise loss with its gradient on the GPU."""

    def __init__(
        self, rows: ByAgent, bounds: Box, prior: float = 0.0, prior_temperature: float = 1.0, *,
        precision: Precision = "double",
    ) -> None:  # fmt: skip
        super().__init__(rows, bounds, prior, prior_temperature)
        self._on_gpu = GpuRows(rows.row, rows.column, rows.margin, rows.played, precision)

    def slopes(self, x: Floats, stage: Stage) -> Floats:
        return self._on_gpu.gradient(x, stage.sharpness)


class Resamples:
    """Ratings of resamples of pairs by the sigmoid loss, ``TOGETHER`` at a time.

    Each outcome of each pair counts a Poisson number of times with its count as the mean: what drawing as many
    comparisons as there are, with replacement, tends to. The same walk and final descent as ``bootstrap.refit``,
    without the insertion between them, which has no place on a GPU: the order is that of the walk.
    """

    def __init__(self, row: Ints, column: Ints, pair: Ints, wins: Floats, losses: Floats, heats: Floats) -> None:
        torch = self._torch = torch_on_gpu()
        self._row = torch.as_tensor(np.ascontiguousarray(row, np.int64), device="cuda")
        self._column = torch.as_tensor(np.ascontiguousarray(column).view(np.int32), device="cuda")
        self._pair = torch.as_tensor(np.ascontiguousarray(pair, np.int32), device="cuda")
        self._wins = torch.as_tensor(np.array(wins, np.float32), device="cuda")
        self._losses = torch.as_tensor(np.array(losses, np.float32), device="cuda")
        self._heats, self.m = heats, len(row) - 1

    def rate(self, n: int, final: int, bounds: tuple[float, float], seed: int) -> Iterator[Floats]:
        """Ratings of n resamples, some at a time: rows are resamples, columns agents."""
        torch = self._torch
        low, high = bounds
        generator = torch.Generator(device="cuda")
        for first in range(0, n, TOGETHER):
            generator.manual_seed(seed * 1_000_003 + first)
            margin = self._drawn(generator)
            strength = self._strength(margin)
            middle = torch.full((self.m, TOGETHER), (low + high) / 2, device="cuda")
            walked = self._descend(middle, margin, strength, self._heats, low, high)
            even = torch.linspace(low, high, self.m, device="cuda")[walked.argsort(dim=0).argsort(dim=0)]
            ended = self._descend(even, margin, strength, np.repeat(self._heats[-1:], final), low, high)
            yield ended.T[: n - first].double().cpu().numpy()

    def _drawn(self, generator: Any) -> Any:
        """Margins of the resamples: wins less losses, pair by pair."""
        torch, size = self._torch, (len(self._wins), TOGETHER)
        margin = torch.poisson(self._wins[:, None].expand(size), generator=generator)
        margin -= torch.poisson(self._losses[:, None].expand(size), generator=generator)
        return margin

    def _strength(self, margin: Any) -> Any:
        """The sum of absolute margins of each agent in each resample."""
        from softcondorcet.backends.triton_kernels import resampled_strength

        strength = self._torch.empty((self.m, TOGETHER), device="cuda")
        resampled_strength[(self.m,)](self._row, self._pair, margin, strength, R=TOGETHER, BLOCK=16, num_warps=4)
        return strength.clamp_(min=1e-30)

    def _descend(self, start: Any, margin: Any, strength: Any, heats: Floats, low: float, high: float) -> Any:
        """The steps of ``kernels.pairwise.walk``, one per temperature, for all resamples at once."""
        from softcondorcet.backends.triton_kernels import resampled_gradient

        torch = self._torch
        ratings = ahead = start
        momentum = torch.zeros(TOGETHER, device="cuda")
        gradient = torch.empty_like(start)
        curve = 1 / (3 * np.sqrt(3))
        for heat in heats.tolist():
            x = (ahead - (low + high) / 2) / heat
            arrays = self._row, self._column, self._pair, margin, x, gradient
            resampled_gradient[(self.m,)](*arrays, R=TOGETHER, BLOCK=16, num_warps=4)
            new = (ahead - gradient * heat / (curve * strength)).clamp_(low, high)
            uphill = ((ahead - new) * (new - ratings)).sum(0)
            momentum = torch.where(uphill <= 0, momentum + 1, torch.zeros_like(momentum))
            ratings, ahead = new, (new + momentum / (momentum + 3) * (new - ratings)).clamp_(low, high)
        return ratings


# Votes are laid out in rows as long as the longest of them: so many entries for each that is used, at most.
_WASTE = 16


class GpuVotes:
    """Votes as rows of agents and their places, shorter ones filled up with agents that are not there."""

    def __init__(self, profile: Profile, seed: int) -> None:
        torch = self._torch = torch_on_gpu()
        n, longest = profile.n_votes, int(profile.length.max(initial=1))
        if n * longest > _WASTE * len(profile.agent):
            raise DataError(f"votes: the longest has {longest:,} agents, the mean {len(profile.agent) / n:,.0f}; "
                            f"expected at most {_WASTE} times the mean on a GPU")  # fmt: skip
        vote = np.repeat(np.arange(n), profile.length)
        spot = np.arange(len(profile.agent)) - profile.start[vote]
        agent, place = np.full((n, longest), -1), np.zeros((n, longest))
        agent[vote, spot] = profile.agent
        place[vote, spot] = _places(profile)
        self._agent = torch.as_tensor(agent, device="cuda")
        self._place = torch.as_tensor(place, device="cuda")
        self._weight = torch.as_tensor(np.array(profile.weight), device="cuda")
        self._generator = torch.Generator(device="cuda")
        self._generator.manual_seed(seed)

    def run(
        self, r: Floats, rates: Floats, batch: int, sigma: float, samples: int, kind: str, low: float, high: float
    ) -> None:
        """One step on r, in place, per rate."""
        ratings = self._torch.tensor(r, device="cuda")
        for rate in rates.tolist():
            chosen = self._torch.multinomial(self._weight, batch, replacement=True, generator=self._generator)
            ratings += rate / batch * self._push(ratings, chosen, sigma, samples, kind)
            ratings.clamp_(low, high)
        r[:] = ratings.cpu().numpy()

    def _push(self, ratings: Any, chosen: Any, sigma: float, samples: int, kind: str) -> Any:
        """Noisy place less place in the vote, of each agent, over the chosen votes."""
        torch = self._torch
        agent, place = self._agent[chosen], self._place[chosen]
        there, known = agent >= 0, agent.clamp(min=0)
        push = torch.zeros_like(ratings)
        for _ in range(samples):
            noisy = torch.where(there, ratings[known] + sigma * self._noise(known.shape, kind), -torch.inf)
            found = noisy.argsort(dim=1, descending=True).argsort(dim=1)
            push.index_add_(0, known.ravel(), torch.where(there, found - place, 0.0).ravel())
        return push / samples

    def _noise(self, shape: Any, kind: str) -> Any:
        torch = self._torch
        if kind == "normal":
            return torch.randn(shape, generator=self._generator, device="cuda", dtype=torch.float64)
        drawn = torch.rand(shape, generator=self._generator, device="cuda", dtype=torch.float64)
        return -(-drawn.clamp_(min=1e-300).log()).log()


def _places(profile: Profile) -> Floats:
    """The place of each entry in its vote from 0, the middle one for those that are tied."""
    vote = np.repeat(np.arange(profile.n_votes), profile.length)
    spot = np.arange(len(profile.agent)) - profile.start[vote]
    _, tie, size = np.unique(
        vote * (int(profile.length.max(initial=1)) + 1) + profile.tier, return_inverse=True, return_counts=True
    )
    places: Floats = (np.bincount(tie, spot) / size)[tie]
    return places
