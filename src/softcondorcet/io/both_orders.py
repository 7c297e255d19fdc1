"""Battles shown in both orders: a judge who sees x first and then y first says one thing about them, not two.

Two battles belong together if they have the same question, the same judge and the same two agents, and each showed
another agent first.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from softcondorcet.arrays import Ints
from softcondorcet.errors import DataError, OptionError
from softcondorcet.formatting import plural, some
from softcondorcet.profile import Profile

_QUESTION = ("question_id", "prompt_id", "item_id", "item", "question", "prompt", "instance_id", "doc_id", "id")
_JUDGE = ("judge", "judge_id", "annotator", "voter", "turn")


def joined(profile: Profile, how: str) -> Profile:
    """One vote for each two battles in both orders: ``"tie"`` where they disagree; or ``"half"`` a vote for each."""
    name = profile.source.name if profile.source else "votes"
    if profile.turned is None:
        raise OptionError(f"both_orders must be left out: {name} does not say who was shown first, got {how!r}")
    question = next((title for title in _QUESTION if title in profile.columns), None)
    if question is None:
        raise DataError(
            f"{name}: no column says which battles are of one question ({', '.join(_QUESTION)}); "
            f"there is {some(map(repr, profile.columns), 12) or 'none'}"
        )
    first, second = _couples(profile, [question, *(title for title in _JUDGE if title in profile.columns)])
    weight, tier, kept = profile.weight.copy(), profile.tier.copy(), np.ones(profile.n_votes, dtype=bool)
    if how == "half":
        weight[first] /= 2
        weight[second] /= 2
    else:
        won = np.where(tier[1::2] == 0, -1, profile.agent[::2])  # the winner, or nobody
        weight[first] = (weight[first] + weight[second]) / 2
        tier[2 * first[won[first] != won[second]] + 1] = 0
        kept[second] = False
    alone = profile.n_votes - 2 * len(first)
    said = "of half a vote each" if how == "half" else "joined, a tie where they disagree"
    notes = [f"{plural(len(first), 'pair')} of battles in both orders {said}"]
    notes += [f"{plural(alone, 'battle')} without the other order"] if alone else []
    source = profile.source and replace(profile.source, notes=(*profile.source.notes, *notes))
    return replace(profile, weight=weight, tier=tier, turned=None, source=source).take(kept)


def _couples(profile: Profile, titles: list[str]) -> tuple[Ints, Ints]:
    """Pairs of battles of one question that showed the same agents both ways round."""
    assert profile.turned is not None
    agent = profile.agent.reshape(-1, 2)
    shown = np.where(profile.turned, agent[:, 1], agent[:, 0])
    columns = [profile.columns[title].grouped().codes for title in titles]
    key = np.stack([*(column for column in columns if column is not None), agent.min(axis=1), agent.max(axis=1), shown])
    order = np.lexsort(key[::-1])
    key = key[:, order]
    same = (key[:-1, 1:] == key[:-1, :-1]).all(axis=0)  # as the battle before, but for who was shown first
    begins = np.flatnonzero(np.diff(np.concatenate([[True], ~same, [True]]).nonzero()[0]) == 2)
    starts = np.concatenate([[True], ~same]).nonzero()[0][begins]
    starts = starts[key[-1, starts] != key[-1, starts + 1]]
    return order[starts], order[starts + 1]
