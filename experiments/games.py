"""The votes of ``diplomacy`` and ``online``, cut into training and held-out votes.

The paper's votes, games of seven on webDiplomacy.net, are not public. In their place stand contests of Codeforces, cut
into groups of seven: as many votes, and about as many agents, but other people and another game. Whoever has the
original votes gives their file instead, in any form that ``read`` knows, and is told how near the paper's numbers are.
Votes must be as theirs are: strict, and all of one size, 3 agents or more. A file of another name goes by its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from experiments.study import Files, Row
from softcondorcet.errors import DataError
from softcondorcet.evaluation.holdout import split_at_random
from softcondorcet.formatting import some
from softcondorcet.io.files import read
from softcondorcet.profile import Profile

FILE = "codeforces_groups7.csv.gz"
# Agents and votes of the original data.
_ORIGINAL = (52_958, 31_049)
_HELD_OUT = 3_000
# A tenth of fewer says nothing, and ``online`` looks at each twentieth of the others.
_LEAST = 30
_EXPECTED = f"expected {_LEAST} votes or more without ties, all of one size of 3 agents or more"
# Votes that are told apart by weight, as in ``evaluation.holdout``.
_MOST = 10_000_000


def split(files: Files, seed: int) -> tuple[Profile, Profile]:
    """Training votes and 3,000 held-out votes, or a tenth where that is fewer."""
    votes = _votes(files[FILE])
    try:
        return split_at_random(votes, min(_HELD_OUT, votes.n_votes // 10), seed=seed)
    except DataError as error:
        raise DataError(f"{files[FILE]}: {error}") from error


@lru_cache(maxsize=1)
def _votes(path: Path) -> Profile:
    """Read and checked once in each process. A row of whole weight 5, as PrefLib has them, is five votes."""
    votes = read(path)
    _refuse_other_forms(votes, path)
    if (votes.weight == np.round(votes.weight)).all() and votes.weight.sum() <= _MOST:
        votes = votes.take(np.repeat(np.arange(votes.n_votes), votes.weight.astype(int)))
        votes = replace(votes, weight=np.ones(votes.n_votes))
    if votes.n_votes < _LEAST:
        raise DataError(f"{path}: holds {votes.n_votes} votes; {_EXPECTED}")
    return votes


def _refuse_other_forms(votes: Profile, path: Path) -> None:
    first, tiers = votes.length[0], votes.tier[votes.start[1:] - 1] + 1
    wrong = (votes.length != max(first, 3)) | (tiers < votes.length)
    if wrong.any():
        v = int(np.argmax(wrong))
        agents = some(votes.agents[k] for k in votes.agent[votes.start[v] : votes.start[v + 1]])
        came = f"ranks {votes.length[v]} agents{' with ties' if tiers[v] < votes.length[v] else ''} ({agents})"
        other = f", vote 1 ranks {first}" if v else ""
        raise DataError(f"{path}: vote {v + 1} {came}{other}; {_EXPECTED}")


def describe(files: Files, train: Profile, test: Profile) -> Row:
    """What tells one set of votes from another."""
    return {"file": files[FILE].name, "agents": train.n_agents, "train": train.n_votes, "test": test.n_votes}


def is_original(rows: Sequence[Row]) -> bool:
    """Whether these may be the paper's votes."""
    return all((row["agents"], row["train"] + row["test"]) == _ORIGINAL for row in rows)


def name_of_votes(rows: Sequence[Row]) -> str:
    if is_original(rows):
        return "webDiplomacy"
    file = str(rows[0].get("file") or FILE)  # tables of earlier versions are all of the stand-in
    return "stand-in for webDiplomacy" if file == FILE else file
