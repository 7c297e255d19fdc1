"""The GPU gives the numbers of the processor. Skipped where there is none, but for what must be said then."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import softcondorcet as sc
from softcondorcet.backends.cpu import PairwiseLoss, Stage
from softcondorcet.backends.gpu import GpuLoss

BOX = (0.0, 100.0)


def gpu() -> bool:
    if find_spec("torch") is None or find_spec("triton") is None:
        return False
    import torch

    return bool(torch.cuda.is_available())


needs_gpu = pytest.mark.skipif(not gpu(), reason="no NVIDIA GPU with PyTorch and Triton here")


@pytest.fixture(scope="module")
def votes() -> sc.Profile:
    return sc.synthetic.tournament(3000, agents=300, size=6, noise=30.0, seed=1)[0]


@pytest.mark.skipif(gpu(), reason="there is a GPU")
@pytest.mark.parametrize("method", ["sco", "fenchel_young"])
def test_without_a_gpu_it_says_so(method: str) -> None:
    votes = sc.Profile.from_rankings([["a", "b"]])
    with pytest.raises(sc.OptionError, match=r"\[gpu\]|device must be 'cpu' on this machine"):
        getattr(sc, method)(votes, device="cuda")


def test_what_the_gpu_does_not_do_is_refused() -> None:
    votes = sc.Profile.from_rankings([["a", "b"]])
    refused: list[dict[str, Any]] = [{"solver": "sgd"}, {"loss": "footrule"}, {"ties": "attract"}]
    for options in refused:
        with pytest.raises(sc.OptionError, match="device must be 'cpu' but for descent"):
            sc.sco(votes, device="cuda", **options)
    with pytest.raises(sc.OptionError, match="precision must be 'double' or 'single'"):
        sc.sco(votes, precision="half")  # type: ignore[arg-type]


@needs_gpu
@pytest.mark.parametrize("q", [0.0, 0.3, 1.0])
def test_gradients_are_those_of_the_processor(votes: sc.Profile, q: float) -> None:
    pairs, stage = votes.pairs(), Stage(q, 1.5)
    ratings = np.random.default_rng(0).uniform(*BOX, votes.n_agents)
    expected = PairwiseLoss(pairs, BOX).gradient(ratings, stage)
    size = np.abs(expected).max()
    double = GpuLoss(pairs.by_agent, BOX).gradient(ratings, stage)
    assert np.abs(double - expected).max() <= 1e-12 * size  # sums of doubles in another order
    assert (double == GpuLoss(pairs.by_agent, BOX).gradient(ratings, stage)).all()
    single = GpuLoss(pairs.by_agent, BOX, precision="single").gradient(ratings, stage)
    assert np.abs(single - expected).max() <= 1e-4 * size  # x up to 33 in floats is known to 4e-6, and so are terms


@needs_gpu
def test_ratings_are_those_of_the_processor(votes: sc.Profile) -> None:
    tried: list[dict[str, Any]] = [{}, {"sharpness": 0.0, "prior": 0.1}, {"sharpness": 0.5, "prior": 0.1}]
    for options in tried:
        here, there = sc.sco(votes, **options), sc.sco(votes, device="cuda", **options)
        assert there.order == here.order
        assert np.abs(there.values - here.values).max() <= 1e-6 * (BOX[1] - BOX[0])
    single, double = sc.sco(votes, device="cuda", precision="single"), sc.sco(votes)
    assert single.discrete_loss is not None and double.discrete_loss is not None
    assert single.discrete_loss <= 1.001 * double.discrete_loss  # another path to an order as good


@needs_gpu
def test_resamples_spread_as_those_of_the_processor() -> None:
    votes, _ = sc.synthetic.tournament(20_000, agents=40, size=2, noise=40.0, seed=2)
    here = sc.bootstrap(votes, n=400)
    there = sc.bootstrap(votes, n=400, device="cuda")
    again = sc.bootstrap(votes, n=400, device="cuda")
    assert (there.samples == again.samples).all()
    assert there.board.order == here.board.order
    spread = np.mean(there.rank_high - there.rank_low) / np.mean(here.rank_high - here.rank_low)
    assert 0.85 < spread < 1.15  # 400 resamples know a width to some percent
    assert np.abs(there.samples.mean(0) - here.samples.mean(0)).max() < 0.05 * (BOX[1] - BOX[0])


@needs_gpu
@pytest.mark.parametrize("perturbation", ["gumbel", "normal"])
def test_fenchel_young_finds_the_same_minimum(perturbation: str) -> None:
    votes, _ = sc.synthetic.tournament(2000, agents=20, size=5, noise=20.0, seed=3)
    options = dict[str, Any](perturbation=perturbation, batch=512, steps=3000, lr=0.05, schedule="sqrt")
    here, there = (sc.fenchel_young(votes, device=device, **options) for device in ("cpu", "cuda"))
    assert np.abs((here.values - here.values.mean()) - (there.values - there.values.mean())).max() < 0.3  # noise of SGD
    assert sc.kendall_tau_distance(here, there) <= 2
