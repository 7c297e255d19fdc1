"""Where would an agent stand on one more task, judge or prompt, one that is not among these?

``bootstrap(by="groups")`` says how well the order over *all* tasks like these is known: it narrows as tasks are added.
On a single new task agents stand where tasks put them, and that does not narrow. So each group is rated alone, by the
same method: what it says is what a new one might have said, as long as groups are alike (exchangeable). The ranks that
an agent has in G groups, but for the tails, hold its rank in one more; the whole range from best to worst holds it in
(G - 1) / (G + 1) of cases, which for fewer than 39 groups is below 95 %, and then a warning says how much it is.

Cost: one fit per group, of its votes. Votes of a group are few: what they say has the noise of as many votes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from softcondorcet.arrays import Ints
from softcondorcet.checks import Watch, natural, one_of, whole
from softcondorcet.errors import DataError, OptionError
from softcondorcet.evaluation.compare import run
from softcondorcet.formatting import confidence, percent, some
from softcondorcet.methods.registry import METHODS
from softcondorcet.profile import Profile, as_profile
from softcondorcet.seeds import stream
from softcondorcet.uncertainty.intervals import Uncertainty, check_level
from softcondorcet.uncertainty.resampling import present


def new_group(
    data: Profile,
    method: str = "sco",
    *,
    n: int = 200,
    level: float = 0.95,
    seed: int = 0,
    watch: Watch | None = None,
    **options: Any,
) -> Uncertainty:
    """Ranges for one more group (task, judge, prompt): each group rated alone.

    Parameters
    ----------
    data: a Profile with groups; of scores each task is one.
    method: a name of ``METHODS``; `options` are those of the method.
    n: at most so many groups, drawn at random where there are more.
    level: the share of new groups in which a rank interval should hold the rank.
    seed: of the groups drawn, and of methods that draw at random.
    watch: called as ``watch(group, groups, None)``.

    >>> frame = {"agent": ["a", "b"] * 8, "task": [k // 2 for k in range(16)], "score": [2, 1] * 7 + [1, 2]}
    >>> found = new_group(Profile.from_scores(frame))
    >>> found.rank_low.tolist(), found.rank_high.tolist()
    ([1, 1], [2, 2])
    """
    profile = as_profile(data, "a Profile: pairs know no groups")
    one_of("method", METHODS, method)
    whole("n", n)
    check_level(level)
    natural("seed", seed)
    group = _groups(profile)
    board = run(profile, method, options, seed)
    codes = np.unique(group[profile.weight > 0])
    if len(codes) > n:
        codes = np.sort(stream(seed, "resamples").choice(codes, n, replace=False))
    samples, failed = [], []
    for k, code in enumerate(codes.tolist()):
        votes = profile.take(np.flatnonzero(group == code))
        try:
            samples.append(np.where(present(votes), run(votes, method, options, seed).values, np.nan))
        except DataError as error:
            failed.append(str(error))
        if watch is not None:
            watch(k + 1, len(codes), None)
    if len(samples) < 2:
        reason = f" ({failed[0]})" if failed else ""
        raise DataError(f"groups: expected at least 2 that can be rated alone, got {len(samples)}{reason}")
    found = Uncertainty(board, np.array(samples), f"{len(samples):,} groups, each rated alone", level, ranges="new")
    return replace(found, warnings=tuple(_limits(found, failed, len(codes))))


def _groups(profile: Profile) -> Ints:
    """The group of each vote; of scores each task is one."""
    if profile.group is not None:
        return profile.group
    if profile.noun == "vote":
        raise OptionError("data must be votes with groups (a judge, task or prompt of each), got votes without")
    return np.arange(profile.n_votes)


def _limits(found: Uncertainty, failed: list[str], asked: int) -> list[str]:
    """What the groups cannot tell, in words."""
    notes = [f"{len(failed)} of {asked:,} groups could not be rated and are left out: {failed[0]}"] if failed else []
    held = (~found.absent).sum(axis=0)
    few = [found.agents[k] for k in np.flatnonzero(held <= 5).tolist()]
    if few:
        notes.append(f"{len(few)} agents are in five groups or fewer, so their rank is open: {some(few)}")
    usual = int(np.median(held))
    if (usual - 1) / (usual + 1) < found.level:
        holds = f"{percent((usual - 1) / (usual + 1))}, not {confidence(found.level)}"
        notes.append(
            f"{usual} groups of an agent are few: its best to its worst rank in them hold a new one in {holds}"
        )
    return notes
