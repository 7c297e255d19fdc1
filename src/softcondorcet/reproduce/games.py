"""The votes of ``diplomacy`` and ``online``, cut into training and held-out votes.

The paper's votes, games of seven on webDiplomacy.net, are not public. In their place stand contests of Codeforces, cut
into groups of seven: as many votes, and about as many agents, but other people and another game. Whoever has the
original votes gives their file instead, and is told how near the paper's numbers are.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from softcondorcet.heldout import split_at_random
from softcondorcet.profile import Profile
from softcondorcet.readers import read
from softcondorcet.reproduce.study import Files, Row

FILE = "codeforces_groups7.csv.gz"
# Agents and votes of the original data.
_ORIGINAL = (52_958, 31_049)
_HELD_OUT = 3_000


def split(files: Files, seed: int) -> tuple[Profile, Profile]:
    """Training votes and 3,000 held-out votes, or a tenth where that is fewer."""
    votes = _votes(files[FILE])
    return split_at_random(votes, max(1, min(_HELD_OUT, votes.n_votes // 10)), seed=seed)


@lru_cache(maxsize=1)
def _votes(path: Path) -> Profile:
    """Read once in each process."""
    return read(path)


def size(train: Profile, test: Profile) -> Row:
    """What tells one set of votes from another."""
    return {"agents": train.n_agents, "train": train.n_votes, "test": test.n_votes}


def is_original(rows: Sequence[Row]) -> bool:
    """Whether these may be the paper's votes."""
    return all((row["agents"], row["train"] + row["test"]) == _ORIGINAL for row in rows)


def name_of_votes(rows: Sequence[Row]) -> str:
    return "webDiplomacy" if is_original(rows) else "stand-in for webDiplomacy"
