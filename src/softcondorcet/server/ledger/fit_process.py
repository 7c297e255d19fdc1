"""Fits all votes of a board in a process of its own, so that the server keeps accepting votes meanwhile.

Votes go in as NumPy arrays, what was found out comes back as JSON: ratings, intervals, other methods, doubts about the
data, and how little it would take to change the answer. Nothing that could run as code passes either way.
"""

from __future__ import annotations

import io
import json
import os
import resource
import sys
import time
import warnings
from dataclasses import replace
from threading import Thread
from typing import Any

import msgspec
import numpy as np

from softcondorcet.arrays import Ints
from softcondorcet.errors import DataError, NotConverged, place
from softcondorcet.profile import Profile
from softcondorcet.server.ledger.snapshot import listed

_COLUMNS = ("start", "agent", "tier", "weight", "unbalanced", "group", "when", "turned")
# Seconds that exact methods may take: a board that changes cannot wait for a proof.
_EXACT = 3.0
# Pairs of all resamples together, about ten seconds of work; of some of the votes, a second. Below 40 resamples there
# are no intervals at 95 %.
_RESAMPLED, _RESAMPLED_PART, _FEWEST = 30_000_000, 3_000_000, 40
# Groups whose boards are made together with a fit, the largest first, and the seconds that this may take.
_GROUPS, _GROUPS_SECONDS = 30, 5.0

Found = dict[str, Any]


class Job(msgspec.Struct):
    """What a fit process is to compute about the votes that are sent with it.

    `part` says that they are some of a board's votes: then nobody is suspected and no other method is tried. `lean`
    asks for ratings and nothing that takes much more memory than they do. `balance` is how votes are weighed.
    """

    agents: list[str]
    groups: list[str]
    voters: list[str] = []
    resamples: int = 100
    part: bool = False
    lean: bool = False
    balance: str | None = None


def pack(profile: Profile, voters: Ints, job: Job) -> bytes:
    """A job and its votes as bytes, to be sent to the fit process."""
    columns = {name: getattr(profile, name) for name in _COLUMNS if getattr(profile, name) is not None}
    packed = io.BytesIO()
    np.savez(packed, voter=voters, job=np.frombuffer(msgspec.json.encode(job), np.uint8), **columns)
    return packed.getvalue()


def unpack(packed: bytes) -> tuple[Profile, Ints, Job]:
    """The inverse of ``pack``."""
    with np.load(io.BytesIO(packed), allow_pickle=False) as columns:
        job = msgspec.json.decode(columns["job"].tobytes(), type=Job)
        given = {name: columns[name] for name in _COLUMNS if name in columns}
        profile = Profile(tuple(job.agents), groups=tuple(job.groups), balance=job.balance, **given)
        return profile, columns["voter"], job


def find(profile: Profile, voters: Ints, job: Job) -> Found:
    """Compute what a job asks for."""
    if job.lean:
        return ratings_alone(profile)
    result = analyse(profile, job.resamples, part=job.part)
    if not job.part:
        from softcondorcet.doctor.voters import suspects

        result["suspects"] = suspects(profile.with_voters(voters, job.voters)) if job.voters else []
        result["by_group"] = by_group(profile, job.resamples)
    return result


def by_group(profile: Profile, resamples: int) -> dict[str, Found]:
    """The same for the votes of each group alone, as far as time allows."""
    if profile.group is None:
        return {}
    began, results = time.perf_counter(), {}
    votes = np.bincount(profile.group, minlength=len(profile.groups))
    for k in np.argsort(-votes, kind="stable")[:_GROUPS].tolist():
        if not votes[k] or time.perf_counter() - began > _GROUPS_SECONDS:
            break
        votes_of = listed(profile.take(profile.group == k))
        if votes_of.balance is not None:
            votes_of = votes_of.balanced()
        results[profile.groups[k]] = {**analyse(votes_of, resamples, part=True), "agents": votes_of.agents}
    return results


def ratings_alone(profile: Profile) -> Found:
    """The ratings alone, where all else would take too much memory or time."""
    from softcondorcet.methods.placement import Placement
    from softcondorcet.methods.sco import sco
    from softcondorcet.reporting.analysis import Analysis, summary

    pairs, ratings = profile.pairs(), sco(profile)
    why = f"{len(pairs):,} pairs take too much memory or time here"
    alone = Analysis(
        ratings,
        pairs,
        n_votes=profile.n_votes,
        summary=summary(ratings),
        unsure=f"There are no intervals: {why}.",
        unplaced=replace(ratings, placement=Placement(pairs, ranges=False)).unplaced,
        unchecked={"all": why},
        warnings=ratings.warnings,
        robust=_not_searched(why),
    )
    return alone.to_dict()


def analyse(profile: Profile, resamples: int, *, part: bool = False) -> Found:
    """The result of a fit that pages show, as plain data: ratings, intervals, findings. Agents are their numbers."""
    from softcondorcet.reporting import analysis

    began = time.perf_counter()
    n_pairs = len(profile.pairs())
    affordable = _affordable(resamples, n_pairs, _RESAMPLED_PART if part else _RESAMPLED)
    methods = ("sco",) if part else None
    how: dict[str, Any] = {"resamples": affordable, "time_limit": _EXACT, "flips": False}  # see ``robust``
    result = analysis.analyse(profile, methods=methods, **how).to_dict()
    if not affordable:
        result["unsure"] = f"There are no intervals: resampling {n_pairs:,} pairs takes too long here."
    result["robust"] = _not_searched("it is searched for all votes of a board") if part else robust(profile)
    return {**result, "seconds": time.perf_counter() - began}


def _affordable(resamples: int, n_pairs: int, most: int) -> int:
    """So many resamples, or fewer, or none where too few would be left to tell anything."""
    some = min(resamples, most // max(n_pairs, 1))
    return some if some >= min(resamples, _FEWEST) else 0


def _not_searched(why: str) -> Found:
    return {"lines": [], "flip": None, "why_not": why}


def robust(profile: Profile) -> dict[str, Any]:
    """How few votes would change the first place, and which groups or agents it depends on."""
    from softcondorcet.evaluation.robustness import robustness

    try:
        result = robustness(profile, parts=("votes", "groups") if profile.groups else ("votes",))
    except DataError as error:
        return _not_searched(str(error))
    flip = result.flip
    return {
        "lines": result.summary(),
        "flip": None
        if flip is None
        else {
            "bound": flip.bound,
            "votes": flip.votes,
            "new_top": flip.new_top,
            "words": flip.headline(float(profile.weight.sum())),
        },
        "why_not": "; ".join(f"{part}: {why}" for part, why in result.skipped.items()),
    }


def end_with(parent: int) -> None:
    """End this process when its parent ends: nobody would read its answer."""
    while os.getppid() == parent:
        time.sleep(0.2)
    os._exit(1)


def main() -> None:
    """Read a job and its votes from standard input, write the result to standard output.

    Arguments: the process that wants to know, the bytes of data and the seconds of processor that this may take.
    """
    parent, memory, seconds = map(int, sys.argv[1:])
    Thread(target=end_with, args=(parent,), daemon=True).start()
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    warnings.simplefilter("ignore", NotConverged)  # the result says it too
    try:
        result = find(*unpack(sys.stdin.buffer.read()))
    except DataError as error:
        result = {"error": str(error)}
    except Exception as error:  # of memory, mostly
        result = {"failed": f"the fit ended with {place(error)}"}
    sys.stdout.write(json.dumps(result))
