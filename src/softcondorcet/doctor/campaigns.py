"""Campaigns: voters, or groups of accounts, who push one agent up or down more than a taste can explain.

For a voter v and an agent x, let n be the votes of v that have a
sole first, k those among them that x stands in, and w those that x wins. An honest voter may meet x more often than
others do, and may like it: x is in a share theta of the votes, and wins each against its odds shifted by t,

    L(theta, t) = theta^k (1 - theta)^(n - k)  prod s(+-(log-odds of x + t)),

the odds of all votes by Bradley and Terry (in a vote of several, by Luce). How many voters have which (theta, t) is
not assumed but learnt from all voters and all agents, as weights G on a grid (Kiefer and Wolfowitz, 1956): a board on
which people choose what to compare, or are fans, sets its own standard of what is usual. No honest taste is stronger
than a grid's end, 12 to 1 against the odds. One who rigs for x has it in a share a of the votes, and it wins nearly
always.

A share pi_xa of the voters rigs for x in this way. It is learnt too, from all voters at once, so that a hundred
accounts of five votes each accuse each other where none could be accused alone; it has a floor that one voter can
only pass by evidence that is improbable among all voters, agents and shares together. The chance that v rigs is

    sum over x, a of pi_xa R_xa(v) / (1 + sum of pi_xa R_xa(v)),    R the ratio of likelihoods.

Odds and weights are then learnt again without those found. The same on reversed votes finds those who sink an agent.
Accounts that come in one burst count as more likely to belong together. Reported are voters with a chance of 0.6 or
more, as many as keep the expected share of honest ones among them at a tenth (Newton et al., 2004).

Cost: entries x grid. When it misleads: fans who vote rarely and only on their favourite look like small accounts that
rig; where such accounts are many, some fans are reported with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from softcondorcet.arrays import Flags, Floats, Ints, sum_by
from softcondorcet.methods.bradley_terry import bradley_terry
from softcondorcet.profile import Profile

# The grid of honest voters: shares of votes that have the agent, beside the usual share; and shifts of log-odds.
_SHARES = (0.15, 0.3, 0.5, 0.7, 0.97)
_TASTES = (-2.5, -1.25, -0.5, 0.0, 0.5, 1.25, 2.5)
# Those who rig: shares beside the usual one, and how many votes there are to one that the agent does not win.
_RIGGED, _WINS = (0.2, 0.35, 0.5, 0.65, 0.8, 0.97), 50
# How many voters one expects to find where there are none: what a single voter must overcome.
_FLOOR = 0.01
# A campaign is as large as what is found of it, less one voter: whoever is alone needs evidence of their own.
_ALONE = 1.0
# The least chance that is reported, and the share of honest voters expected among those reported.
_LIKELY, FALSE = 0.6, 0.1
# Parts of all voters by when they came: one voter in each is taken for granted.
_PARTS = 100
# Rounds of learning without those found, and steps of EM in each: what a second for 100,000 votes leaves time for.
_ROUNDS, _STEPS = 2, 25
# Of the couples that met once, one in so many is looked at.
_THIN = 8


@dataclass(frozen=True)
class Campaign:
    """A voter who rigs for (or against) an agent, and the chance of it.

    The agent stands in `met` of the voter's `votes`, a share of `usual` elsewhere, and is first (last) in `won`.
    """

    voter: int
    agent: int
    down: bool
    chance: float
    votes: int
    met: int
    won: int
    usual: float

    def sentence(self, agents: Sequence[str]) -> str:
        """What the voter does."""
        agent, place = agents[self.agent], "last" if self.down else "first"
        return (
            f"puts {agent} {place} in {self.won:,} of {self.met:,} votes that have it; {self.met:,} of {self.votes:,} "
            f"votes have it, where {100 * self.usual:.2g} % is usual"
        )


@dataclass(frozen=True)
class _Sides:
    """Couples of a voter and an agent, and the entries of votes with a sole first (or last) that make them.

    Of couples that met once, which cannot tell much, one in eight is kept and stands for all.
    """

    down: bool
    votes: Ints  # by voter: votes with a sole first
    share: Floats  # by agent: share of these votes that it stands in
    voter: Ints  # by couple, and so on
    whom: Ints
    n: Ints
    k: Ints
    w: Ints
    weight: Floats
    couple: Ints  # by entry, and so on
    entry: Ints
    vote: Ints
    won: Flags


def campaigns(profile: Profile, voters: Ints, size: int) -> list[Campaign]:
    """Voters who push an agent up or down, most certain first.

    `voters` has the number of each vote's voter, below `size`, or -1.
    """
    chance, came = np.zeros(size), _came(voters, size)
    sides = [_sides(profile, voters, size, down=down) for down in (False, True)]
    sides = [side for side in sides if len(side.voter)]
    if not sides:  # nobody is known, or all is tied
        return []
    for _ in range(_ROUNDS):
        honest = np.where(voters >= 0, 1 - chance[voters], 1.0)
        ratings = bradley_terry(replace(profile, weight=profile.weight * honest)).values
        odds = [_ratios(profile, side, ratings, 1 - chance) for side in sides]
        each, chance = _chances(sides, odds, came)
    sure = _sure(chance)
    certain = [
        Campaign(int(side.voter[c]), int(side.whom[c]), side.down, float(own[c]), *_facts(side, int(c)))
        for side, own in zip(sides, each, strict=True)
        for c in np.flatnonzero((chance[side.voter] >= sure) & (own > chance[side.voter] / 2))
    ]
    return sorted(certain, key=lambda one: (-one.chance, one.voter))


def _sure(chance: Floats) -> float:
    """The lowest chance to report, so that no more than a share `FALSE` of those reported is expected to be honest."""
    down = np.sort(chance[chance > _LIKELY])[::-1]
    enough = np.flatnonzero(np.cumsum(1 - down) <= FALSE * np.arange(1, len(down) + 1))
    return float(down[enough[-1]]) if len(enough) else np.inf


def _facts(side: _Sides, c: int) -> tuple[int, int, int, float]:
    return int(side.n[c]), int(side.k[c]), int(side.w[c]), float(side.share[side.whom[c]])


def _sides(profile: Profile, voters: Ints, size: int, *, down: bool) -> _Sides:
    """Who stands alone at the top (or the bottom) of which votes."""
    length, m = profile.length, profile.n_agents
    end = profile.start[:-1] + (length - 1 if down else 0)
    beside = np.where(length > 1, end + (-1 if down else 1), end)
    alone = (profile.tier[end] != profile.tier[beside]) & (voters >= 0)
    vote = np.repeat(np.arange(profile.n_votes), length)
    entry = np.flatnonzero(alone[vote])
    vote = vote[entry]
    key, of = np.unique(voters[vote].astype(np.int64) * m + profile.agent[entry], return_inverse=True)
    won = entry == end[vote]
    k, w = np.bincount(of, minlength=len(key)), np.bincount(of[won], minlength=len(key))
    votes = np.bincount(voters[alone], minlength=size)
    share = np.clip(sum_by(key % m, k.astype(float), m) / max(votes.sum(), 1), 1e-9, 0.999)
    once = k == 1
    kept = ~once | (np.cumsum(once) % _THIN == 0)
    place, stay = np.cumsum(kept) - 1, kept[of]
    voter, whom = key[kept] // m, key[kept] % m
    return _Sides(
        down, votes, share, voter, whom, votes[voter], k[kept], w[kept], np.where(once[kept], _THIN, 1.0),
        place[of[stay]], entry[stay], vote[stay], won[stay],
    )  # fmt: skip


def _ratios(profile: Profile, side: _Sides, ratings: Floats, honest: Floats) -> Floats:
    """Likelihood of each couple if the voter rigs, by each share, over that if the voter is honest; 0 if met once."""
    usual = side.share[side.whom]
    met = np.stack([_met(side, np.maximum(usual, theta)) for theta in (0.0, *_SHARES)], axis=1)
    grid = (met[:, :, None] + _results(profile, side, ratings)[:, None, :]).reshape(len(usual), -1)
    top = grid.max(axis=1)
    grid = np.exp(grid - top[:, None])
    likely = top + np.log((grid * _priors(side, grid, honest)[side.whom]).sum(axis=1))
    rigged = np.stack([_met(side, np.maximum(usual, a)) for a in (0.0, *_RIGGED)], axis=1)
    rigged += _wins(side)[:, None]
    ratio: Floats = np.exp(np.minimum(rigged - likely[:, None], 600.0)) * (side.k > 1)[:, None]
    return ratio


def _met(side: _Sides, theta: Floats) -> Floats:
    """Log of the chance to meet the agent in these k of n votes."""
    met: Floats = side.k * np.log(theta) + (side.n - side.k) * np.log1p(-theta)
    return met


def _wins(side: _Sides) -> Floats:
    """Log of the chance of the results if the voter rigs: the agent wins with a chance drawn from Beta(`_WINS`, 1)."""
    log = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, int(side.k.max()) + _WINS + 1)))])  # of factorials
    wins: Floats = np.log(_WINS) + log[side.w + _WINS - 1] + log[side.k - side.w] - log[side.k + _WINS]
    return wins


def _results(profile: Profile, side: _Sides, ratings: Floats) -> Floats:
    """Log of the chance of the results of each couple, for each taste."""
    strength = np.exp((-1 if side.down else 1) * (ratings - ratings.mean()))
    own = strength[profile.agent[side.entry]]
    others = np.add.reduceat(strength[profile.agent], profile.start[:-1])[side.vote] - own
    lead = np.log(own) - np.log(np.maximum(others, 1e-12 * own))
    sign = np.where(side.won, 1.0, -1.0)
    columns = [sum_by(side.couple, -np.log1p(np.exp(-sign * (lead + t))), len(side.voter)) for t in _TASTES]
    return np.stack(columns, axis=1)


def _priors(side: _Sides, grid: Floats, honest: Floats) -> Floats:
    """For each agent, the weights of the grid that make the couples of all other agents most likely (EM).

    Couples that never met are known by the votes of the voter alone: nothing is known of tastes there.
    """
    voters = np.flatnonzero(side.votes > 0)
    apart = sum_by(side.votes[voters], honest[voters] * len(side.share), int(side.votes.max()) + 1)
    apart -= sum_by(side.n, honest[side.voter] * side.weight, len(apart))
    n = np.flatnonzero(apart > 0.5)
    theta = np.maximum(float(side.share.mean()), np.array([0.0, *_SHARES]))
    missed = np.repeat((1 - theta)[None, :] ** n[:, None], len(_TASTES), axis=1)
    weight, cells = honest[side.voter] * side.weight, grid.shape[1]
    total = float(weight.sum() + apart[n].sum())
    # Most voters meet an agent as often as others do, and like it as well. EM is slow to see that: it starts there.
    rare = np.outer([1.0] + [0.001] * len(_SHARES), np.exp(-2 * np.square(_TASTES))).ravel()
    prior = rare / rare.sum()
    for _ in range(_STEPS):
        here, there = weight / (grid @ prior), apart[n] / (missed @ prior)
        before, prior = prior, prior * (grid.T @ here + missed.T @ there) / total
    own = np.stack([sum_by(side.whom, here * grid[:, c] * before[c], len(side.share)) for c in range(cells)], axis=1)
    own += before * (missed.T @ there) / len(side.share)
    # A cell that nobody is in still has the chance of one more couple.
    rest = np.maximum(total * prior - own, 0.0) + 1 / cells
    priors: Floats = rest / rest.sum(axis=1, keepdims=True)
    return priors


def _chances(sides: list[_Sides], odds: list[Floats], came: Ints) -> tuple[list[Floats], Floats]:
    """The chance of each couple, and of each voter, to be one who rigs; with the shares pi learnt from all.

    Where those who rig for an agent came at one time, others who came then are more likely to be among them: the
    chance to come in each hundredth part of all voters is learnt for each agent, from an even spread on.
    """
    size, voters = len(came), max(int((sides[0].votes > 0).sum()), 1)
    m, kinds = len(sides[0].share), odds[0].shape[1]
    of = np.concatenate([s * m + side.whom for s, side in enumerate(sides)])
    voter, ratio = np.concatenate([side.voter for side in sides]), np.concatenate(odds)
    kept = np.flatnonzero(ratio.max(axis=1) > 1)
    voter, of, ratio = voter[kept], of[kept], ratio[kept]
    floor = _FLOOR / (voters * len(sides) * m * kinds)
    share, arrival = np.full((len(sides) * m, kinds), 1 / voters), np.ones((len(sides) * m, _PARTS))
    for _ in range(_STEPS):
        part = share[of] * ratio * arrival[of, came[voter]][:, None]
        total = sum_by(voter, part.sum(axis=1), size)
        each = part / (1 + total[voter])[:, None]
        columns = [sum_by(of, each[:, a], len(share)) for a in range(kinds)]
        rigs = np.stack(columns, axis=1)
        whole = rigs.sum(axis=1, keepdims=True)
        share = np.maximum(rigs / voters * np.maximum(1 - _ALONE / np.maximum(whole, 1e-300), 0.0), floor)
        arrival = 1 + sum_by(of * _PARTS + came[voter], each.sum(axis=1), arrival.size).reshape(arrival.shape)
        arrival *= _PARTS / arrival.sum(axis=1, keepdims=True)
    chance = np.zeros(len(np.concatenate(odds)))
    chance[kept] = each.sum(axis=1)
    return np.split(chance, np.cumsum([len(side.voter) for side in sides])[:-1]), total / (1 + total)


def _came(voters: Ints, size: int) -> Ints:
    """Which part of all voters, in the order of their first votes, each belongs to."""
    known, first = np.unique(voters[voters >= 0], return_index=True)
    came = np.zeros(size, dtype=np.int64)
    came[known[np.argsort(first)]] = np.arange(len(known)) * _PARTS // max(len(known), 1)
    return came
