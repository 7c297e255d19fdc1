"""The bootstrap: rate resamples of the votes as the votes were rated, and see how much the ratings move (Efron, 1979).

Had other votes been cast, other ratings would have come out. Resamples of the votes there are stand in for the votes
there could have been: each draws as many votes as there are, with replacement, and is rated by the same method from
scratch. Votes of one judge or task may be alike; then whole groups are drawn (``by="groups"``), or the intervals come
out too narrow.

Percentile intervals run between the tails of the resampled ratings. BCa intervals (Efron, 1987) shift these tails by
two numbers: how far the median of the resamples is off the fit, and how fast the spread changes with the rating,

    z0 = quantile of the share of resamples below the fit,     a = sum d^3 / (6 (sum d^2)^1.5),
    tail -> Phi(z0 + (z0 + z) / (1 - a (z0 + z))),             z the normal quantile of the tail,

where d are the differences of the mean jackknife rating to each jackknife rating. The jackknife leaves out 50 random
blocks of votes, one at a time, rather than every single vote.

Cost: n fits; of ``sco`` less than that, since a resample needs no proof (``refit``). Resamples run on all cores, or on
the workers of a cluster (``device="ray"``). Each has its own random numbers, so the same seed gives the same bits on
any number of them.

When it misleads: few votes. A resample knows only outcomes that occurred, so an agent that won its three battles wins
all of them in every resample, and its interval says nothing about a fourth. Such agents are named in a warning.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from softcondorcet import arrays, majority
from softcondorcet.arrays import Floats
from softcondorcet.backends.ray import Workers, cores, is_cluster
from softcondorcet.checks import Watch, check, natural, one_of, whole, yes_or_no
from softcondorcet.errors import DataError, NotConverged
from softcondorcet.evaluation.compare import run
from softcondorcet.formatting import confidence, some
from softcondorcet.methods.registry import METHODS
from softcondorcet.pairs import Pairs, as_pairs
from softcondorcet.ratings import Ratings
from softcondorcet.seeds import stream
from softcondorcet.solvers.laplace import laplace
from softcondorcet.uncertainty.intervals import Uncertainty, check_level
from softcondorcet.uncertainty.majority_chances import majority_chances
from softcondorcet.uncertainty.refit import on_gpu, refit
from softcondorcet.uncertainty.resampling import Data, Resampling, present, resampling

# Parts of the votes that the jackknife of BCa leaves out in turn.
_BLOCKS = 50
# Steps of a fit over votes that leave ranks of resamples as far apart as ten times as many do, less an eighth (5,000
# agents on ten tasks).
_STEPS_OVER_VOTES = 40
# Resampling fewer groups than this understates their variety by more than a tenth.
_FEW_GROUPS = 10


def bootstrap(
    data: Data,
    method: str = "sco",
    *,
    n: int = 200,
    by: Literal["votes", "groups"] = "votes",
    interval: Literal["percentile", "bca"] = "percentile",
    level: float = 0.95,
    simultaneous: bool = False,
    top_k: int | None = None,
    seed: int = 0,
    watch: Watch | None = None,
    **options: Any,
) -> Uncertainty:
    """Rate resamples of the votes by any method: intervals of ratings and ranks, P(a above b), tie groups.

    Parameters
    ----------
    data: a Profile, or Pairs where the method needs no more.
    method: a name of ``METHODS``; `options` are those of the method.
    n: how many resamples.
    by: what is drawn: "votes", or "groups", all votes of a judge, task or prompt together.
    interval: of ratings: "percentile" or "bca".
    level: the share of cases in which an interval should hold the truth.
    simultaneous: rank intervals that hold the ranks of all agents at once at the level, not each by itself.
    top_k: also the chance of each agent to be among the first k, the Condorcet winner, and in the Smith set.
    seed: of the resamples, and of methods that draw at random.
    watch: called as ``watch(fit, fits, None)``.

    >>> from softcondorcet import synthetic
    >>> votes, truth = synthetic.tournament(100, agents=5, noise=20, seed=3)
    >>> found = bootstrap(votes)
    >>> found.board.order[0], found.above(*found.board.order[:2]) > 0.5
    ('agent-1', True)
    """
    one_of("method", METHODS, method)
    _check(n, interval, level, simultaneous, top_k, seed)
    for name in ("start", "watch", "every"):
        check(name not in options, name, "left out: every resample is rated from scratch", options.get(name))
    if options.get("device") == "cuda" and method == "sco":
        options = {"scale": "box", **options}  # resamples are counted on the GPU, where there are no odds
    board = run(data, method, options, seed)
    device = str(board.options.get("device"))
    cluster = is_cluster(device)
    # Workers of a cluster rate whole resamples, as this machine would.
    alone = {name: value for name, value in options.items() if name != "device"} if cluster else options
    resolved = {**alone, "over": board.options.get("over")}
    on_pairs = isinstance(data, Pairs) or METHODS[method].takes_pairs(resolved)
    how = by, on_pairs, method, alone, board
    fits = _Fits(data, *how)
    drawn = fits.drawn
    blocks = min(_BLOCKS, drawn.size) if interval == "bca" else 0
    *streams, apart = stream(seed, "resamples").spawn(n + 1)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)  # counted below, and said once
        if cluster:
            found = _on_cluster(device, (replace(data), *how), streams, watch, n + blocks)
        elif on_pairs and device == "cuda":
            check(by == "votes" and not blocks, "device", "'cpu' for groups and for BCa intervals", "cuda")
            found = _on_gpu(as_pairs(data), board, n, seed, watch)
        else:
            found = _all(fits.resample, streams, watch, n + blocks)
        parts = drawn.without_blocks(blocks, apart)
        jackknife = _all(lambda part: fits.rate(part, seed), parts, _after(watch, n), n + blocks)
    return Uncertainty(
        board,
        np.array([one.values for one in found]),
        f"{n:,} resamples of {drawn.words}",
        level,
        tuple(_limits(data, board, found, drawn, by, level)),
        skew=_acceleration(np.array([one.values for one in jackknife])) if blocks else None,
        pairs=as_pairs(data),
        evidence=laplace(data, cautious=True),
        ranges="all" if simultaneous else "each",
        majority=None if top_k is None else majority_chances(data, top_k, n, by, seed),
    )


def _check(n: int, interval: str, level: float, simultaneous: bool, top_k: int | None, seed: int) -> None:
    """The options of the bootstrap itself."""
    whole("n", n)
    check(n >= 2, "n", "at least 2 resamples", n)
    one_of("interval", ("percentile", "bca"), interval)
    check_level(level)
    yes_or_no("simultaneous", simultaneous)
    if top_k is not None:
        whole("top_k", top_k)
    natural("seed", seed)


@dataclass(frozen=True)
class Rated:
    """Ratings of a resample, nan for agents it lacks; all nan, with the reason, where it cannot be rated."""

    values: Floats
    converged: bool = True
    reason: str = ""


def _rater(method: str, options: dict[str, Any], board: Ratings) -> Callable[[Data, int], Rated]:
    """From a resample and a seed to ratings, by the same method as the fit, the `board`."""
    again = refit(board) if method == "sco" else None
    if board.options.get("over") == "votes":
        options = {**options, "over": "votes", "steps": min(_STEPS_OVER_VOTES, int(board.options["steps"]))}

    def rate(data: Data, seed: int) -> Rated:
        if again is not None and isinstance(data, Pairs):
            return Rated(np.where(present(data), again(data), np.nan))
        try:
            rated = run(data, method, options, seed)
        except DataError as error:
            return Rated(np.full(data.n_agents, np.nan), reason=str(error))
        return Rated(np.where(present(data), rated.values, np.nan), rated.converged is not False)

    return rate


class _Fits:
    """What is drawn from, and how it is rated: here, or on each worker of a cluster."""

    def __init__(
        self, data: Data, by: str, on_pairs: bool, method: str, options: dict[str, Any], board: Ratings
    ) -> None:
        self.drawn = resampling(data, by, on_pairs, "order" not in METHODS[method].properties)
        self.rate = _rater(method, options, board)

    def resample(self, rng: np.random.Generator) -> Rated:
        """Draw and rate: each resample has its own random numbers, wherever it is rated."""
        return self.rate(self.drawn.draw(rng), int(rng.integers(2**31)))


def _on_cluster(device: str, part: Any, streams: list[Any], watch: Watch | None, total: int) -> list[Rated]:
    """Resamples dealt out to the workers of a cluster."""
    workers = Workers(device, _Fits, [part] * min(cores(device), len(streams)))
    found: list[Rated] = []
    for rated in workers.share("resample", streams):
        found.append(rated)
        if watch is not None:
            watch(len(found), total, None)
    return found


def _on_gpu(pairs: Pairs, board: Ratings, n: int, seed: int, watch: Watch | None) -> list[Rated]:
    """Resamples rated on a GPU, many at a time."""
    found: list[Rated] = []
    for some_rated in on_gpu(pairs, board.options, n, seed):
        found += [Rated(values) for values in some_rated]
        if watch is not None:
            watch(len(found), n, None)
    return found


def _all(work: Callable[[Any], Rated], items: Iterable[Any], watch: Watch | None, total: int) -> list[Rated]:
    """The work on every item, in order, on all cores; a few items are taken at a time, since they may be large."""
    found: list[Rated] = []
    waiting: deque[Future[Rated]] = deque()

    def take(most: int) -> None:
        while len(waiting) > most:
            found.append(waiting.popleft().result())
            if watch is not None:
                watch(len(found), total, None)

    with ThreadPoolExecutor(arrays.cores()) as pool:
        for item in items:
            waiting.append(pool.submit(work, item))
            take(2 * arrays.cores())
        take(0)
    return found


def _after(watch: Watch | None, done: int) -> Watch | None:
    return None if watch is None else lambda step, steps, _: watch(done + step, steps, None)


def _acceleration(jackknife: Floats) -> Floats:
    """Of each agent, from the ratings without each block; 0 for one that blocks do not move."""
    known = np.where(np.isnan(jackknife), np.nanmean(jackknife, axis=0), jackknife)
    away = known.mean(axis=0) - known
    size = (away**2).sum(axis=0) ** 1.5
    skew: Floats = (away**3).sum(axis=0) / np.where(size > 0, 6 * size, np.inf)
    return skew


def _limits(data: Data, board: Ratings, found: list[Rated], drawn: Resampling, by: str, level: float) -> Iterator[str]:
    """What the resamples cannot tell, in words."""
    n, failed = len(found), [one.reason for one in found if one.reason]
    if len(failed) > n - 2:
        raise DataError(f"{len(failed)} of {n} resamples cannot be rated: {failed[0]}")
    if failed:
        yield f"{len(failed)} of {n} resamples could not be rated and are left out: {failed[0]}"
    unfinished = sum(not one.converged for one in found)
    if unfinished and board.options.get("over") != "votes":  # whose resamples are cut short on purpose
        yield f"{unfinished} of {n} resamples did not converge"
    if by == "groups" and drawn.size < _FEW_GROUPS:
        yield f"only {drawn.size} groups to draw from: intervals of so few come out too narrow"
    if n * (1 - level) / 2 < 1:
        least = round(2 / (1 - level))
        yield f"{n} resamples are too few for {confidence(level)} intervals: expected at least {least}"
    missing = sum(np.isnan(one.values) for one in found if not one.reason)
    somewhere = [board.agents[k] for k in np.flatnonzero(missing)]
    if somewhere:
        share = float(np.max(missing)) / (n - len(failed))
        yield (
            f"{len(somewhere)} agents are missing from some resamples (one from {share:.0%} of them) and judged by the "
            f"others: {some(somewhere)}"
        )
    for names, never in ((majority.undefeated(data), "lost"), (majority.winless(data), "won")):
        if names:
            whose = "agents" if len(names) > 1 else "agent"
            yield f"{len(names)} {whose} never {never}, so no resample shows it: intervals too narrow for {some(names)}"
