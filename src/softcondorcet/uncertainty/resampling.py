"""What a resample draws: votes, whole groups of votes, or comparisons.

All that changes between resamples is how often each vote counts. So weights are drawn, not rows, and where each
comparison belongs is found once. Three kinds of things can be drawn:

- votes: where all weights are whole numbers a row of weight 5 is five votes, else every row is one vote; balanced votes
  (``Profile.balanced``) are drawn as they were cast, each with the weight it has: how much a group counts varies too;
- groups, with all their votes: whole judges, tasks or prompts;
- comparisons, where only pairs are known. Votes of two are comparisons, so they are drawn in the same way, at a cost
  that grows with the number of distinct pairs and not of votes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from softcondorcet.arrays import Flags, Floats, Ints
from softcondorcet.checks import check, one_of
from softcondorcet.errors import DataError, OptionError
from softcondorcet.kernels.counting import cells, recount
from softcondorcet.pairs import Pairs, count_pairs
from softcondorcet.profile import Profile, as_profile

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
