"""SCO with the Fenchel-Young loss (Lanctot et al., section 3.3 and its appendix; Berthet et al., 2020).

Add noise to the ratings of the agents in a vote, sort, and compare places: the gradient of agent a is

    (mean place of a in the perturbed orders counted from the worst) - (its place in the vote counted from the worst),

the derivative of a convex loss, whose minimum is where perturbed orders look like the votes. (The paper's eq. (7)
counts places from the best, which flips its sign; the loss in its appendix fixes the direction used here.) With Gumbel
noise of scale sigma the perturbed order is a Plackett-Luce draw with log-strengths r / sigma. A step costs O(k log k)
per vote.

When it misleads: it weighs a mistake by how many places it is off, so like Elo it follows win rates and need not put a
Condorcet winner first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from softcondorcet.checks import Watch, box, one_of, scale, whole
from softcondorcet.kernels import fenchel_young as kernels
from softcondorcet.methods.result import rated, sampled
from softcondorcet.profile import Profile
from softcondorcet.ratings import Ratings
from softcondorcet.seeds import stream
from softcondorcet.solvers.descent import Run, SgdOptions, run_steps, starting_point

NOISES = ("gumbel", "normal")


def fenchel_young(
    data: Profile,
    *,
    sigma: float = 1.0,
    perturbation: Literal["gumbel", "normal"] = "gumbel",
    samples: int = 1,
    bounds: tuple[float, float] = (0.0, 100.0),
    steps: int = 10_000,
    lr: float = 0.01,
    batch: int | Literal["all"] = 32,
    schedule: str = "constant",
    noise: float = 0.0,
    start: Ratings | Mapping[str, float] | None = None,
    seed: int = 0,
    watch: Watch | None = None,
    every: int = 0,
    device: Literal["cpu", "cuda"] = "cpu",
) -> Ratings:
    """Ratings by stochastic gradient descent on the Fenchel-Young loss.

    sigma: scale of the perturbations, in rating units; perturbation: "gumbel" or "normal"; samples: perturbations per
    vote and step, averaged. Ties in a vote share their mean place. The rest as in ``sco`` with ``solver="sgd"``;
    ``batch="all"`` takes as many votes per step as there are. device: "cuda" takes the steps on an NVIDIA GPU, which
    pays for batches of thousands of votes; its random numbers are other ones.

    >>> p = Profile.from_rankings([["A", "B", "C"], ["C", "A", "B"]], weights=[2, 3])
    >>> fenchel_young(p, schedule="sqrt", lr=0.1).order[0]
    'A'
    """
    low, high = bounds = box("bounds", bounds)
    scale("sigma", sigma, bounds)
    one_of("perturbation", NOISES, perturbation)
    whole("samples", samples)
    one_of("device", ("cpu", "cuda"), device)
    how = SgdOptions(steps, lr, batch, schedule, noise, seed, every)
    profile = sampled(data)
    size = profile.n_votes if batch == "all" else int(batch)
    ratings = starting_point(profile.agents, bounds, start, noise, seed)
    drawn = sigma, samples, perturbation, low, high
    run = _on_gpu(profile, size, seed, *drawn) if device == "cuda" else _on_cpu(profile, size, seed, *drawn)
    run_steps(run, ratings, how, watch)
    options = {
        "sigma": sigma,
        "perturbation": perturbation,
        "samples": samples,
        "bounds": [low, high],
        "steps": steps,
        "lr": lr,
        "batch": batch,
        "schedule": schedule,
        "noise": noise,
        "device": device,
    }
    return rated(profile, ratings, "fenchel_young", options, steps=steps, seed=seed)


def _on_cpu(
    profile: Profile, batch: int, seed: int, sigma: float, samples: int, kind: str, low: float, high: float
) -> Run:
    plan = kernels.plan_perturbed(profile.start, profile.agent, profile.tier, profile.weight, profile.n_agents, batch)
    state = kernels.seed_state(stream(seed, "sgd"))
    number = NOISES.index(kind)
    return lambda r, rates: kernels.run_perturbed(plan, r, rates, sigma, samples, number, low, high, state)


def _on_gpu(
    profile: Profile, batch: int, seed: int, sigma: float, samples: int, kind: str, low: float, high: float
) -> Run:
    from softcondorcet.backends.gpu import GpuVotes

    votes = GpuVotes(profile, seed)
    return lambda r, rates: votes.run(r, rates, batch, sigma, samples, kind, low, high)
