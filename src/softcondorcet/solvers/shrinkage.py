"""Margins of games, shrunk toward Bradley-Terry as far as the votes themselves say.

In an election every vote ranks all agents, and each margin is known. In games most pairs met once or never, and the
order that contradicts *these* votes least predicts new ones worse than a line does. So two numbers are found by
likelihood, for each connected group of agents by itself, and none is tuned:

1. The precision of a Gaussian prior on Bradley-Terry ratings r, by the marginal likelihood (Laplace's approximation):
   log-likelihood - prior / 2 |r|^2 + m / 2 log prior - 1/2 log det(H + prior I), H the Hessian at r. A few votes say
   little of it, so it has a log-normal prior itself, around 1/2.
2. The precision kappa of the line. The chance of each pair is taken for a draw from Beta(kappa p, kappa (1 - p)), p
   the chance by the line, so its wins are beta-binomial. Where pairs stray from the line no more than chance makes
   them, kappa is infinite; cycles and counter-picks make it small. Pairs that met once say nothing of it.

The posterior mean of a pair's wins, y + kappa p, is what the votes say plus what the line says. Its margins decide the
order: the line's order is left only where margins gain. As votes grow, margins follow the votes.

Where agents meet their like, as in leagues and by matchmaking, the prior of step 1 is one around those whom each agent
met (``solvers.level_prior``): of the two the one under which the votes are more likely, for each group of eight agents
or more. A prior around 0 would pull all leagues to one level.

A group of agents each of which beats every outsider head to head stays above, whatever kappa is; so a Condorcet winner
comes first.

Cost: some five fits of Bradley-Terry, each started where the last one ended. The determinant is exact up to 1,000
agents of a group, O(m^3), and estimated above, by Lanczos' method from two random vectors, whose error falls with the
number of agents. Where many of many agents met, as in an election, a sample of them tells the prior as well as all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from softcondorcet.arrays import Flags, Floats, Ints, sum_by
from softcondorcet.kernels import bradley_terry as kernels, shrinkage
from softcondorcet.kernels.batch import frozen
from softcondorcet.majority import dominance_levels, linked_labels, pairs_among
from softcondorcet.pairs import Pairs
from softcondorcet.seeds import stream
from softcondorcet.solvers.components import best_order, improve_order, in_sequence
from softcondorcet.solvers.level_prior import LevelPosterior
from softcondorcet.solvers.likelihood import joined
from softcondorcet.solvers.order_odds import BradleyTerry, sample
from softcondorcet.solvers.order_tiers import packed_as_it_is, tier_starts

# Precisions of the prior that are looked at first, the least and the greatest; those of the line.
_PRIORS, _LEAST, _GREATEST = (0.15, 0.5, 1.7), 0.03, 10.0
_KAPPAS = np.geomspace(0.5, 1e5, 61)
# The kappa from which on pairs stray by less than a hundredth, too little to be seen in votes.
_STRAYING = 1e4
# A parabola through the best three finds the next, until one of these is as close to it (in logarithms), or so often;
# and which steps no further than this beyond the points that are there.
_CLOSE, _LOOKS, _STEP = 0.15, 9, 1.2
# Evidence of weights near the largest numbers there are would overflow where it is compared.
_MOST = 1e200
# How near Newton's method comes on the way.
_ROUGH = 1e-4
# Precisions of the prior that are tried for the largest one that the votes do not refute, and the log-likelihood by
# which it may fall short of the best: 95 % on one side.
_EQUAL_SKILLS, _NOT_REFUTED = np.geomspace(0.03, 1000.0, 14), 1.353
# Median and spread (of the logarithm) of what the prior's precision is before any vote.
USUAL, SPREAD = 0.5, 1.0
# Agents of a group up to which the determinant is exact; steps of Lanczos' method and random vectors above.
_EXACT, _LANCZOS, _VECTORS = 1_000, 24, 2
# Agents up to which numpy's determinant wakes no threads, and nothing has to be compiled for one.
_FEW = 64
# Agents of a group from which on it is asked whom they meet.
_SEVERAL = 8
# An infinite kappa as a number: margins then have the signs of the line.
_CERTAIN = 1e9


@dataclass(frozen=True)
class Shrunk:
    """An order, and what it rests on.

    `order` lists agents best first in each connected group, one group after the other; level agents share a `tier`,
    numbered along the order. `ratings` are Bradley-Terry's under the prior. `pairs` have the posterior wins and losses.
    `group` numbers the connected group of each agent; `prior` and `kappa` are those of each group, and `by_level` says
    whether its prior is one around those whom an agent met.
    """

    order: Ints
    tier: Ints
    ratings: Floats
    pairs: Pairs
    group: Ints
    prior: Floats
    kappa: Floats
    by_level: Flags

    @property
    def largest(self) -> int:
        """The number of the group with most agents, whose prior and kappa are reported."""
        return int(np.argmax(np.bincount(self.group, minlength=1)))


def shrink(pairs: Pairs, like: Shrunk | None = None) -> Shrunk:
    """The order by shrunk margins.

    For a resample of votes that were shrunk before, `like` that: the two numbers are kept, and components of the
    majority are improved but not solved.
    """
    group = np.unique(linked_labels(pairs), return_inverse=True)[1]
    if like is None:
        prior, start = fit_prior(pairs, group)
    else:
        prior, start = same_by_group(like.prior[like.group], group), like.ratings
    ratings = BradleyTerry(pairs, group, start).ratings(prior, 1e-9 if like is None else 1e-6)
    if like is None:
        by_level = meet_their_like(pairs, group, prior, ratings)
    else:
        by_level = same_by_group(like.by_level[like.group].astype(float), group) > 0
    if by_level.any():
        ratings = np.where(by_level[group], LevelPosterior(pairs, prior[group], group).most_likely(ratings), ratings)
    kappa = fit_kappa(pairs, ratings, group) if like is None else same_by_group(like.kappa[like.group], group)
    posterior = _posterior(pairs, ratings, np.minimum(kappa, _CERTAIN)[group])
    ratings = joined(ratings)
    order = _order(pairs, posterior, ratings, group, exact=like is None)
    decided = posterior.margin != 0
    starts = tier_starts(order, group, ratings, posterior.left[decided], posterior.right[decided], 0.0)
    tier = np.empty(len(order), dtype=np.int64)
    tier[order] = np.cumsum(starts) - 1
    return Shrunk(order, tier, ratings, posterior, group, prior, kappa, by_level)


def same_by_group(number: Floats, group: Ints) -> Floats:
    """The number of each group, from that of each agent, which is the same for all of a group."""
    kept = np.empty(int(group.max(initial=-1)) + 1)
    kept[group] = number
    return kept


def likely_counts(pairs: Pairs, shrunk: Shrunk) -> tuple[Pairs, Floats | None]:
    """What speaks for the gaps of an order: posterior wins and losses, or the votes alone where the line is certain.

    A certain line would drown the votes, from which it was made. And the `pull` of ``order_odds`` that keeps odds near
    the line where its prior is not one around 0.
    """
    finite = np.isfinite(shrunk.kappa)[shrunk.group[pairs.left]]
    wins, losses = pairs.wins + pairs.ties / 2, pairs.losses + pairs.ties / 2
    wins, losses = np.where(finite, shrunk.pairs.wins, wins), np.where(finite, shrunk.pairs.losses, losses)
    return replace(pairs, wins=wins, losses=losses, ties=np.zeros_like(pairs.ties)), _pull(pairs, shrunk)


def _pull(pairs: Pairs, shrunk: Shrunk) -> Floats | None:
    if not shrunk.by_level.any():
        return None
    m, excess = pairs.n_agents, (pairs.wins + pairs.losses + pairs.ties) * _chance(pairs, shrunk.ratings)
    excess -= pairs.wins + pairs.ties / 2
    slope = sum_by(pairs.left, excess, m) - sum_by(pairs.right, excess, m)
    return np.where(shrunk.by_level[shrunk.group], slope + shrunk.prior[shrunk.group] * shrunk.ratings, 0.0)


def meet_their_like(pairs: Pairs, group: Ints, prior: Floats, ratings: Floats) -> Flags:
    """Groups whose votes are more likely under a prior around those whom an agent met than under one around 0."""
    found = np.zeros(len(prior), dtype=bool)
    if np.bincount(group, minlength=1).max() < _SEVERAL:
        return found
    if (few := sample(pairs, group, pairs.win_margin)) is not None:
        pairs, group = few.pairs, group[few.kept]
        ratings = BradleyTerry(pairs, group, ratings[few.kept]).ratings(prior, _ROUGH)
    for g in np.flatnonzero(np.bincount(group) >= _SEVERAL):
        part, own, near = pairs_among(pairs, group == g), prior[g : g + 1], ratings[group == g]
        alone = np.zeros(len(near), dtype=np.int64)
        found[g] = _evidence_by_level(part, own, alone, near) > _evidence(part, own, alone, near)[0]
    return found


def _evidence_by_level(pairs: Pairs, prior: Floats, group: Ints, start: Floats) -> float:
    """The same as ``_evidence`` of one group, under a prior around those whom an agent met."""
    m, strength = pairs.n_agents, float(prior[0])
    posterior = LevelPosterior(pairs, prior[group], group)
    ratings = posterior.most_likely(start)
    diagonal, mean = posterior.move(ratings)[1], strength / m  # the mean of all has the prior that it has around 0
    if m <= _EXACT:
        before, after = (
            _log_determinant(matrix + mean, mean) for matrix in (posterior.prior_matrix(), posterior.matrix())
        )
    else:
        before = _lanczos(lambda v: posterior.prior_bend(v) + mean * v.sum(), diagonal - posterior.information)
        after = _lanczos(lambda v: posterior.bend(v) + mean * v.sum(), diagonal)
    likelihood = (
        -sum_by(group[pairs.left], _surprise(pairs, ratings), 1)[0]
        - (ratings * posterior.prior_bend(ratings)).sum() / 2
    )
    return float(likelihood + (before - after) / 2 - _usual(prior)[0])


def _curve(pairs: Pairs, ratings: Floats) -> Floats:
    """The curvature of the likelihood of each pair."""
    chance = _chance(pairs, ratings)
    curve: Floats = (pairs.wins + pairs.losses + pairs.ties) * chance * (1 - chance)
    return curve


def fit_prior(pairs: Pairs, group: Ints) -> tuple[Floats, Floats]:
    """The most likely precision of the prior, by group, and about the Bradley-Terry ratings under it: a start.

    By parabolas through the three best of those tried.
    """
    if (few := sample(pairs, group, pairs.win_margin)) is not None:
        prior, ratings = _fit_prior(few.pairs, group[few.kept])
        return prior, few.spread(ratings, pairs.win_margin, group)
    return _fit_prior(pairs, group)


def _fit_prior(pairs: Pairs, group: Ints) -> tuple[Floats, Floats]:
    count = int(group.max(initial=-1)) + 1
    at, found, line = np.empty((0, count)), np.empty((0, count)), BradleyTerry(pairs, group)
    settled, ahead = np.zeros(count, dtype=bool), np.zeros(count)
    for look in range(_LOOKS):
        if look < len(_PRIORS):
            ahead = np.full(count, np.log(_PRIORS[look]))
        else:
            ahead = np.where(settled, ahead, np.clip(_summit(at, found), np.log(_LEAST), np.log(_GREATEST)))
            settled |= np.abs(ahead - at).min(axis=0) < _CLOSE
            if settled.all():
                break
        prior = np.exp(ahead)
        ratings = line.ratings(prior, _ROUGH)
        evidence = _evidence(pairs, prior, group, ratings)
        at, found = np.concatenate([at, ahead[None]]), np.concatenate([found, evidence[None]])
    return np.exp(ahead), ratings


def _summit(at: Floats, height: Floats) -> Floats:
    """Where a parabola through the highest point of each column and its neighbours is highest; no more than a step off.

    `at` are the places of the points, at least three, in any order.
    """
    order = at.argsort(axis=0)
    at, height = np.take_along_axis(at, order, 0), np.take_along_axis(height, order, 0)
    middle = np.clip(height.argmax(axis=0), 1, len(at) - 2)[None]
    (a, b, c), (low, mid, high) = (
        [np.take_along_axis(part, middle + k, 0)[0] for k in (-1, 0, 1)] for part in (at, height)
    )
    back, forth = np.maximum(b - a, 1e-9), np.maximum(c - b, 1e-9)
    down, up = (mid - low) / back, (high - mid) / forth
    bend = 2 * (up - down) / (back + forth)
    slope = (down * forth + up * back) / (back + forth)
    step = np.where(bend < 0, -slope / np.where(bend < 0, bend, -1.0), np.sign(high - low) * _MOST)
    summit: Floats = np.clip(b + step, a - _STEP, c + _STEP)
    return summit


def largest_prior(pairs: Pairs, group: Ints) -> Floats:
    """The largest precision of the prior that the votes do not refute at 95 %, by group.

    Where skills may all be equal that is the largest one there is.
    """
    line, found = BradleyTerry(pairs, group), []
    for precision in _EQUAL_SKILLS.tolist():
        prior = np.full(int(group.max(initial=-1)) + 1, precision)
        # What is known before any vote says little of skills that are nearly equal.
        found.append(_evidence(pairs, prior, group, line.ratings(prior, _ROUGH)) + _usual(prior))
    evidence = np.array(found)
    plausible = evidence >= evidence.max(axis=0) - _NOT_REFUTED
    largest: Floats = _EQUAL_SKILLS[len(_EQUAL_SKILLS) - 1 - np.argmax(plausible[::-1], axis=0)]
    return largest


def _evidence(pairs: Pairs, prior: Floats, group: Ints, ratings: Floats) -> Floats:
    """The marginal log-likelihood of the votes of each group, less what does not depend on the prior.

    And what is known of the prior before any vote.
    """
    size, surprise, usual = np.bincount(group), _surprise(pairs, ratings), _usual(prior)
    spread = size * np.log(prior) - log_determinants(pairs, _curve(pairs, ratings), prior, group)
    likelihood = -sum_by(group[pairs.left], surprise, len(size)) - prior / 2 * sum_by(group, ratings**2, len(size))
    evidence: Floats = np.nan_to_num(likelihood + spread / 2 - usual, nan=-_MOST, neginf=-_MOST, posinf=_MOST)
    return np.clip(evidence, -_MOST, _MOST)


def _surprise(pairs: Pairs, ratings: Floats) -> Floats:
    """Minus the log-likelihood of each pair."""
    lead = ratings[pairs.left] - ratings[pairs.right]
    won, lost = pairs.wins + pairs.ties / 2, pairs.losses + pairs.ties / 2
    surprise: Floats = won * np.logaddexp(0, -lead) + lost * np.logaddexp(0, lead)
    return surprise


def _usual(prior: Floats) -> Floats:
    """Minus the logarithm of how likely a precision of the prior is before any vote."""
    usual: Floats = 0.5 * ((np.log(prior) - np.log(USUAL)) / SPREAD) ** 2
    return usual


def log_determinants(pairs: Pairs, curve: Floats, prior: Floats, group: Ints, exact: int = _EXACT) -> Floats:
    """Log det(H + prior I) of each group, H the Laplacian with weights `curve`."""
    size = np.bincount(group)
    by_agent, by_pair = np.argsort(group, kind="stable"), np.argsort(group[pairs.left], kind="stable")
    begin = np.concatenate([[0], np.cumsum(size)])
    first = np.concatenate([[0], np.cumsum(np.bincount(group[pairs.left], minlength=len(size)))])
    place = np.empty(len(group), dtype=np.int64)
    place[by_agent] = np.arange(len(group)) - np.repeat(begin[:-1], size)
    found: Floats = np.log(prior) * size
    for g in np.flatnonzero(size > 1):
        inside = by_pair[first[g] : first[g + 1]]
        ends = place[pairs.left[inside]], place[pairs.right[inside]]
        found[g] = (_exact if size[g] <= exact else _near)(*ends, curve[inside], float(prior[g]), int(size[g]))
    return found


def _exact(left: Ints, right: Ints, curve: Floats, prior: float, size: int) -> float:
    matrix = np.zeros((size, size))
    matrix[left, right] = matrix[right, left] = -curve
    np.fill_diagonal(matrix, prior - matrix.sum(axis=0))
    return _log_determinant(matrix, prior)


def _log_determinant(matrix: Floats, least: float) -> float:
    """Of a symmetric matrix with no eigenvalue below `least`; it is written over."""
    return float(np.linalg.slogdet(matrix)[1] if len(matrix) <= _FEW else shrinkage.log_determinant(matrix, least))


def _near(left: Ints, right: Ints, curve: Floats, prior: float, size: int) -> float:
    """The same, estimated."""
    ends, none = (frozen(left, np.int32), frozen(right, np.int32)), np.zeros(0)

    def times(v: Floats) -> Floats:
        product = np.zeros(size)
        kernels.bend(*ends, curve, none, v, product)
        return product + prior * v

    return _lanczos(times, prior + sum_by(left, curve, size) + sum_by(right, curve, size))


def _lanczos(times: Callable[[Floats], Floats], diagonal: Floats) -> float:
    """The determinant of a matrix that can only be multiplied by, and that has this diagonal.

    By stochastic Lanczos quadrature of the matrix scaled to a diagonal of 1, whose eigenvalues lie near it.
    """
    scale, size = 1 / np.sqrt(diagonal), len(diagonal)
    total, rng = 0.0, stream(0, "shrinkage")
    for _ in range(_VECTORS):
        v, before = rng.choice([-1.0, 1.0], size) / np.sqrt(size), np.zeros(size)
        alpha, beta = [], [0.0]
        for _ in range(_LANCZOS):
            w = scale * times(scale * v) - beta[-1] * before
            alpha.append(float((w * v).sum()))
            w -= alpha[-1] * v
            norm = float(np.sqrt((w * w).sum()))
            if norm < 1e-10:
                break
            beta.append(norm)
            before, v = v, w / norm
        side = beta[1 : len(alpha)]
        values, vectors = np.linalg.eigh(np.diag(alpha) + np.diag(side, 1) + np.diag(side, -1))
        total += size * float((vectors[0] ** 2 * np.log(np.maximum(values, np.finfo(float).tiny))).sum())
    return float(np.log(diagonal).sum()) + total / _VECTORS


def fit_kappa(pairs: Pairs, ratings: Floats, group: Ints) -> Floats:
    """The most likely precision of the line, by group; infinite where no finite one is more likely."""
    likelihood, count = kappa_likelihood(pairs, ratings, group), int(group.max(initial=-1)) + 1
    place = most_likely(lambda places: likelihood(_KAPPAS[places]), len(_KAPPAS), count)
    more = likelihood(_KAPPAS[place]) > likelihood(np.full(count, np.inf))
    found: Floats = np.where(more, _KAPPAS[place], np.inf)
    return found


def mean_stray(pairs: Pairs, ratings: Floats, group: Ints) -> Floats:
    """How far pairs stray from the line, by group: 1 / (kappa + 1), averaged over what the votes leave open of kappa.

    Before any vote all kappas up to ``_STRAYING`` are as likely, on a scale of logarithms.
    """
    straying = _KAPPAS[_KAPPAS <= _STRAYING]
    likelihood, count = kappa_likelihood(pairs, ratings, group), int(group.max(initial=-1)) + 1
    logarithm = np.array([likelihood(np.full(count, kappa)) for kappa in straying])
    weight = np.exp(logarithm - logarithm.max(axis=0))
    stray: Floats = (weight / (straying[:, None] + 1)).sum(axis=0) / weight.sum(axis=0)
    return stray


def kappa_likelihood(pairs: Pairs, ratings: Floats, group: Ints) -> Callable[[Floats], Floats]:
    """A function from a kappa for each group to the log-likelihood of its votes; all may be infinite."""
    count = int(group.max(initial=-1)) + 1
    played = pairs.wins + pairs.losses + pairs.ties
    several = played > 1
    won, played = (pairs.wins + pairs.ties / 2)[several], played[several]
    chance, of = _chance(pairs, ratings)[several], group[pairs.left][several]

    def likelihood(kappa: Floats) -> Floats:
        if np.isinf(kappa).all():
            return sum_by(of, won * np.log(chance) + (played - won) * np.log1p(-chance), count)
        found = np.zeros(count)
        shrinkage.beta_binomial(won, played, chance, of, kappa, found)
        return found

    return likelihood


def most_likely(height: Callable[[Ints], Floats], size: int, count: int) -> Ints:
    """The highest of `size` places in each of `count` columns, none of which has a second summit.

    `height` gives that of a place in each column. Places far apart are tried first, then those halfway between.
    """
    step = 16
    tried = np.arange(0, size + step - 1, step).clip(max=size - 1)
    heights = np.array([height(np.full(count, place)) for place in tried])
    best = heights.max(axis=0)
    place: Ints = tried[heights.argmax(axis=0)]
    while step > 1:
        step //= 2
        for side in (np.maximum(place - step, 0), np.minimum(place + step, size - 1)):
            found = height(side)
            best, place = np.maximum(best, found), np.where(found > best, side, place)
    return place


def _chance(pairs: Pairs, ratings: Floats) -> Floats:
    """The chance of the left agent of each pair to win, by Bradley-Terry ratings; never 0 or 1."""
    lead = np.clip(ratings[pairs.left] - ratings[pairs.right], -30, 30)
    chance: Floats = 1 / (1 + np.exp(-lead))
    return chance


def _posterior(pairs: Pairs, ratings: Floats, kappa: Floats) -> Pairs:
    """Posterior wins and losses of each pair: those of the votes plus kappa times what the line expects."""
    chance, weight = _chance(pairs, ratings), kappa[pairs.left]
    won = pairs.wins + pairs.ties / 2 + weight * chance
    lost = pairs.losses + pairs.ties / 2 + weight * (1 - chance)
    return replace(pairs, wins=won, losses=lost, ties=np.zeros_like(pairs.ties))


def _order(pairs: Pairs, posterior: Pairs, ratings: Floats, group: Ints, exact: bool) -> Ints:
    """The order by posterior margins near that of the ratings, inside groups that beat all others head to head."""
    level = dominance_levels(pairs, group)
    inside = level[pairs.left] == level[pairs.right]
    columns = ("left", "right", "wins", "losses", "ties")
    parts = posterior
    if not inside.all():
        parts = replace(posterior, **{name: getattr(posterior, name)[inside] for name in columns})
    rows, order = parts.by_agent, np.lexsort((-ratings, level))
    improve_order(rows.row, rows.column, rows.margin, order, len(order) + 100)
    if not exact:
        return order
    value = np.empty(len(order))
    value[order] = -np.arange(len(order))
    # Components in sequence inside each level; of those that no margin orders, the better by the line comes first.
    label = np.unique(level * (len(order) + 1) + in_sequence(parts, value), return_inverse=True)[1]
    best = best_order(parts, value, packed_as_it_is, label)
    lead = np.sign(value[parts.left] - value[parts.right]) * parts.margin
    better = best.loss < float(np.maximum(-lead, 0).sum()) - 1e-9 * float(np.abs(lead).sum())
    return best.order if better else order
