"""Votes on an NVIDIA GPU: steps on the Fenchel-Young loss, thousands of votes at a time.

The same steps as ``kernels.perturbed``, with random numbers of the GPU: results agree in distribution, not in bits. The
sums are of half places, which floats hold exactly, so the same seed gives the same bits on the same GPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from softcondorcet.arrays import Floats
from softcondorcet.errors import DataError
from softcondorcet.profile import Profile
from softcondorcet.scale.cuda import torch_on_gpu

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
