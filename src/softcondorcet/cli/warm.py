"""The command that compiles all kernels ahead of their first use: warm."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from softcondorcet.cli import options

if TYPE_CHECKING:
    from softcondorcet.profile import Profile


@click.command()
def warm() -> None:
    """Compile all kernels now, so that no later command has to.

    Small files never need it. Large ones compile what they use, once on a machine, which takes some seconds; this does
    it ahead, in a minute or two: when a container is built, say. What was compiled before is not compiled again.

    \b
    sco warm
    """
    from softcondorcet.formatting import plural
    from softcondorcet.kernels.compile import kernels

    loops = kernels()
    for kernel in loops:
        kernel.use("compiled")
    with options.progress() as work, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of made-up votes that settle little
        tasks, watch = jobs(), work("compiling")
        for number, job in enumerate(tasks.values(), 1):
            job()
            if watch is not None:
                watch(number, len(tasks), None)
    stats = [kernel.compiled.stats for kernel in loops]
    new = sum(sum(one.cache_misses.values()) > 0 for one in stats)
    click.echo(f"{plural(new, 'kernel')} compiled, {len(loops) - new:,} were there; they lie in {stats[0].cache_path}")


def jobs() -> dict[str, Callable[[], Any]]:
    """Small work of every kind, by name: together it calls every kernel."""
    import numpy as np

    import softcondorcet as sc
    from softcondorcet import synthetic
    from softcondorcet.methods.registry import METHODS
    from softcondorcet.solvers.components import packed
    from softcondorcet.solvers.laplace import laplace

    battles = synthetic.tournament(300, agents=12, size=2, seed=1)[0]
    races = synthetic.tournament(300, agents=12, size=4, seed=1)[0]
    election = synthetic.mallows(30, agents=9, phi=0.9, seed=1)
    some = synthetic.tournament(300, agents=80, size=4, seed=1)[0]
    crowd = synthetic.tournament(150, agents=1_500, size=4, seed=1)[0]
    circle = synthetic.mallows(5, agents=5, phi=1.0, seed=1)
    shown = sc.Profile.from_matches(
        {"a": ["x", "y"] * 20, "b": ["y", "x"] * 20, "winner": ["model_a", "model_b", "model_a", "tie"] * 10}
    )
    boxed = partial(sc.sco, election, scale="box")
    few_steps: dict[str, dict[str, Any]] = {"fenchel_young": {"steps": 50}}
    work: dict[str, Callable[[], Any]] = {
        f"rank {kind} by {name}": partial(sc.rank, profile, name, **few_steps.get(name, {}))
        for kind, profile in (("battles", battles), ("races", races), ("an election", election))
        for name in METHODS
    }
    work |= {
        "sco without shrinking": partial(boxed, shrink=False),
        "sco between the ends": partial(boxed, sharpness=0.5),
        "sco at the convex end": partial(boxed, sharpness=0.0),
        "sco with attracting ties": partial(boxed, ties="attract"),
        "sco by places": partial(boxed, loss="footrule"),
        "sco on whole votes": partial(boxed, over="votes"),
        "sco of some": partial(sc.sco, some),
        "sco of many": partial(sc.sco, crowd),
        **{f"sgd, {n} agents": partial(sc.sco, p, solver="sgd", steps=50) for n, p in ((9, election), (1_500, crowd))},
        "branch and bound": partial(sc.sigmoidal_program, circle, temperature=30.0),
        "a quick bound": lambda: packed(races.pairs(), np.arange(races.n_agents)),
        "a normal posterior of many": partial(laplace, battles, exact=0),
        "ties by davidson": partial(sc.bradley_terry, battles, ties="davidson"),
        "who is shown first": partial(sc.controlled, shown, "first"),
        "the best orders": partial(sc.optimal_orders, election),
        "ratings over time": lambda: sc.history(_dated(battles), period="day"),
    }
    for name in ("bootstrap", "posterior", "inspect", "holdout", "tune", "replay"):
        work[f"{name} of battles"] = partial(getattr(sc, name), battles)
        work[f"{name} of an election"] = partial(getattr(sc, name), election)
    return work


def _dated(profile: Profile) -> Profile:
    """The same votes, a hundred on each day."""
    from dataclasses import replace

    import numpy as np

    return replace(profile, when=86_400.0 * np.floor(np.arange(profile.n_votes) / 100))
