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

All that changes between resamples is how often each vote counts. So weights are drawn, not rows, and where each
comparison belongs is found once. Three kinds of things can be drawn:

- votes: where all weights are whole numbers a row of weight 5 is five votes, else every row is one vote; balanced votes
  (``Profile.balanced``) are drawn as they were cast, each with the weight it has: how much a group counts varies too;
- groups, with all their votes: whole judges, tasks or prompts;
- comparisons, where only pairs are known. Votes of two are comparisons, so they are drawn in the same way, at a cost
  that grows with the number of distinct pairs and not of votes.
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
from softcondorcet.arrays import Flags, Floats, Ints
from softcondorcet.backends.ray import Workers, cores, is_cluster
from softcondorcet.checks import Watch, check, natural, one_of, whole
from softcondorcet.errors import DataError, NotConverged, OptionError
from softcondorcet.evaluation.compare import run
from softcondorcet.formatting import confidence, some
from softcondorcet.kernels.counting import cells, recount
from softcondorcet.methods.registry import METHODS
from softcondorcet.pairs import Pairs, as_pairs, count_pairs
from softcondorcet.profile import Profile, as_profile
from softcondorcet.ratings import Ratings
from softcondorcet.seeds import stream
from softcondorcet.solvers.laplace import laplace
from softcondorcet.uncertainty.intervals import Uncertainty, check_level
from softcondorcet.uncertainty.refit import on_gpu, refit

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
    seed: of the resamples, and of methods that draw at random.
    watch: called as ``watch(fit, fits, None)``.

    >>> from softcondorcet import synthetic
    >>> votes, truth = synthetic.tournament(100, agents=5, noise=20, seed=3)
    >>> found = bootstrap(votes)
    >>> found.board.order[0], found.above(*found.board.order[:2]) > 0.5
    ('agent-1', True)
    """
    one_of("method", METHODS, method)
    whole("n", n)
    check(n >= 2, "n", "at least 2 resamples", n)
    one_of("interval", ("percentile", "bca"), interval)
    check_level(level)
    natural("seed", seed)
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
    )


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


# Comparisons whose place among the pairs is kept, at 4 bytes each; with more, each resample is counted from its votes.
_KEPT = 50_000_000

Data = Profile | Pairs


@dataclass(frozen=True, eq=False)
class Resampling:
    """Things to draw: ``units[k]`` alike of each kind k. `make` turns how often each kind was drawn into data."""

    units: Ints
    make: Callable[[Floats], Data]
    words: str

    @property
    def size(self) -> int:
        return int(self.units.sum())

    def draw(self, rng: np.random.Generator) -> Data:
        """As many as there are, with replacement."""
        if (self.units == 1).all():
            drawn = np.bincount(rng.integers(self.size, size=self.size), minlength=self.size)
        else:
            drawn = rng.multinomial(self.size, self.units / self.size)
        return self.make(drawn.astype(float))

    def without_blocks(self, blocks: int, rng: np.random.Generator) -> Iterator[Data]:
        """The data less one of `blocks` random parts of about equal size, for each of them."""
        left = self.units.astype(np.int64)
        for rest in range(blocks, 0, -1):
            taken = rng.binomial(left, 1 / rest)
            left = left - taken
            yield self.make((self.units - taken).astype(float))


def resampling(data: Data, by: str, on_pairs: bool, in_order: bool) -> Resampling:
    """What to draw from this data, given as pairs where the method needs no more (`on_pairs`).

    A method for which the order of votes matters (`in_order`) gets a vote drawn twice as two votes, one after another.
    """
    one_of("by", ("votes", "groups"), by)
    if isinstance(data, Pairs):
        check(by == "votes", "by", "'votes': pairs know no groups", by)
        return _comparisons(data, "comparisons")
    profile = as_profile(data)
    if not (profile.weight > 0).all():
        profile = profile.take(profile.weight > 0)
    counted = bool((profile.weight == profile.counts).all())
    if by == "votes" and on_pairs and counted and bool((profile.length == 2).all()):
        return _comparisons(profile.pairs(), f"{profile.noun}s")
    make = _maker(profile, on_pairs, repeat=in_order and bool((profile.weight == 1).all()))
    if by == "groups":
        if profile.group is None:
            raise OptionError(f"by must be 'votes': these votes have no groups, got {by!r}")
        codes, group = np.unique(profile.group, return_inverse=True)
        return _of(np.ones(len(codes)), lambda drawn: make(drawn[group] * profile.weight), "groups")
    if counted:
        return _of(profile.weight, make, f"{profile.noun}s")
    each = profile.weight / profile.counts
    return _of(profile.counts, lambda drawn: make(drawn * each), f"{profile.noun}s")


def present(data: Data) -> Flags:
    """Which agents are in a comparison at all."""
    seen = np.zeros(data.n_agents, dtype=bool)
    if isinstance(data, Pairs):
        seen[data.left] = seen[data.right] = True
    else:
        seen[data.agent[np.repeat((data.weight > 0) & (data.length > 1), data.length)]] = True
    return seen


def _comparisons(pairs: Pairs, words: str) -> Resampling:
    counts = np.stack([pairs.wins, pairs.losses, pairs.ties], axis=1).ravel()
    if not (counts == np.round(counts)).all():
        raise DataError("pairs: expected whole counts, to know how many votes there were; give the votes instead")
    return _of(counts, lambda drawn: _as_pairs(pairs, drawn), words)


def _maker(profile: Profile, on_pairs: bool, repeat: bool) -> Callable[[Floats], Data]:
    """From weights of the votes to data."""
    if not on_pairs:
        if repeat:
            rows = np.arange(profile.n_votes)
            return lambda weight: profile.take(np.repeat(rows, weight.astype(np.int64)))
        return lambda weight: replace(profile, weight=weight)
    first = np.concatenate([[0], np.cumsum(profile.length * (profile.length - 1) // 2)])
    if first[-1] > _KEPT:
        return lambda weight: count_pairs(replace(profile, weight=weight))
    pairs = profile.pairs()
    begin = np.searchsorted(pairs.left, np.arange(pairs.n_agents + 1))
    cell = np.empty(first[-1], dtype=np.int32)
    cells(profile.start, profile.agent, profile.tier, begin, pairs.right, cell)

    def count(weight: Floats) -> Pairs:
        counts = np.zeros(3 * len(pairs))
        recount(first, cell, weight, counts)
        return _as_pairs(pairs, counts)

    return count


def _as_pairs(pairs: Pairs, counts: Floats) -> Pairs:
    """The pairs that occur, of wins, losses and ties of each."""
    wins, losses, ties = counts.reshape(-1, 3).T
    kept = np.flatnonzero(wins + losses + ties)
    return Pairs(
        pairs.agents, pairs.left[kept], pairs.right[kept], wins[kept], losses[kept], ties[kept], kind=pairs.kind
    )


def _of(units: Floats, make: Callable[[Floats], Data], words: str) -> Resampling:
    size = int(units.sum())
    if size < 2:
        raise DataError(f"{words}: a resample needs at least 2 to draw from, got {size}")
    return Resampling(units.astype(np.int64), make, f"{size:,} {words}")
