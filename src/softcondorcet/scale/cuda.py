"""Pairs on an NVIDIA GPU: the gradient of the pairwise family, and many resamples rated at once.

The descent itself is the one of ``methods.descent``: only m-vectors travel between the processor and the GPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from softcondorcet.arrays import Floats, Ints
from softcondorcet.errors import OptionError
from softcondorcet.options import Precision, needs

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
        found: Floats = gradient.double().cpu().numpy()
        return found

    def run(self, x: Any, gradient: Any, q: float) -> None:
        """The same between vectors on the GPU."""
        from softcondorcet.scale.triton_kernels import pairwise_gradient

        arrays = self._row, self._column, self._margin, self._played, x, gradient
        sharpness = self._torch.full((1,), q, device="cuda", dtype=self.real)
        warps = max(self._block // 128, 1)
        pairwise_gradient[(len(x),)](
            *arrays, sharpness, SHARP=q == 1.0, FLAT=q == 0.0, BLOCK=self._block, num_warps=warps
        )


class Resamples:
    """Ratings of resamples of pairs by the sigmoid loss, ``TOGETHER`` at a time.

    Each outcome of each pair counts a Poisson number of times with its count as the mean: what drawing as many
    comparisons as there are, with replacement, tends to. The same walk and final descent as ``methods.replicates``,
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
        from softcondorcet.scale.triton_kernels import resampled_strength

        strength = self._torch.empty((self.m, TOGETHER), device="cuda")
        resampled_strength[(self.m,)](self._row, self._pair, margin, strength, R=TOGETHER, BLOCK=16, num_warps=4)
        return strength.clamp_(min=1e-30)

    def _descend(self, start: Any, margin: Any, strength: Any, heats: Floats, low: float, high: float) -> Any:
        """The steps of ``kernels.walk``, one per temperature, for all resamples at once."""
        from softcondorcet.scale.triton_kernels import resampled_gradient

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
