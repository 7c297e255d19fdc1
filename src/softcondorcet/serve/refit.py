"""A fit of all votes of a board, in a process of its own, so that votes go on being taken at the same pace.

Votes go in as NumPy arrays, what was found out comes back as JSON: ratings, intervals, other methods, doubts about the
data, and how little it would take to change the answer. Nothing that could run as code passes either way.
"""

from __future__ import annotations

import io
import json
import os
import sys
import time
import warnings
from collections.abc import Sequence
from threading import Thread
from typing import Any

import numpy as np

from softcondorcet.arrays import Floats, Ints
from softcondorcet.errors import DataError, NotConverged
from softcondorcet.profile import Profile

_COLUMNS = ("start", "agent", "tier", "weight", "group", "when", "turned")
# The search for the fewest votes fits some hundred times: only where a fit takes less than this many seconds.
_QUICK = 0.05
# Seconds that exact methods may take: a board that changes cannot wait for a proof.
_EXACT = 3.0


def pack(profile: Profile, voters: Ints, voter_names: Sequence[str], resamples: int) -> bytes:
    """Votes as bytes for another process."""
    about = {
        "agents": profile.agents, "groups": profile.groups, "voters": voter_names, "resamples": resamples,
    }  # fmt: skip
    columns = {name: getattr(profile, name) for name in _COLUMNS if getattr(profile, name) is not None}
    packed = io.BytesIO()
    np.savez(packed, voter=voters, about=np.frombuffer(json.dumps(about).encode(), np.uint8), **columns)
    return packed.getvalue()


def unpack(packed: bytes) -> tuple[Profile, Ints, list[str], int]:
    """The inverse of ``pack``."""
    with np.load(io.BytesIO(packed), allow_pickle=False) as columns:
        about = json.loads(columns["about"].tobytes())
        found = {name: columns[name] for name in _COLUMNS if name in columns}
        profile = Profile(tuple(about["agents"]), groups=tuple(about["groups"]), **found)
        return profile, columns["voter"], about["voters"], about["resamples"]


def analyse(profile: Profile, resamples: int) -> dict[str, Any]:
    """All that a page shows beside what can be counted, as plain numbers and words; agents are their numbers."""
    from softcondorcet.reporting.gather import USUAL, gather
    from softcondorcet.reporting.sureness import sureness
    from softcondorcet.reporting.view import method_notes, summary

    began = time.perf_counter()
    found = gather(
        profile, method="sco", options={}, methods=USUAL, resamples=resamples, by="votes", seed=0, time_limit=_EXACT
    )
    board, sure, race = found.board, found.uncertainty, found.comparison
    number = {name: k for k, name in enumerate(profile.agents)}
    word, sentence = sureness(found)
    return {
        "values": board.values.tolist(),
        "n_votes": profile.n_votes,
        "summary": summary(board),
        "sure_word": word,
        "sure": sentence,
        "unsure": "" if sure is not None else found.unsure,
        "level": None if sure is None else sure.level,
        "rating_low": None if sure is None else _known(sure.rating_low),
        "rating_high": None if sure is None else _known(sure.rating_high),
        "rank_low": None if sure is None else sure.rank_low.tolist(),
        "rank_high": None if sure is None else sure.rank_high.tolist(),
        "tie_groups": [] if sure is None else [[number[n] for n in g] for g in sure.tie_groups if len(g) > 1],
        "provisional": np.flatnonzero(found.provisional).tolist(),
        "methods": {
            title: {str(number[name]): ratings.rank_of(name) for name in ratings.agents}
            for title, ratings in race.boards.items()
        },
        "violations": race.violations() if len(race.boards) > 1 else [],
        "moves": race.moves(6) if len(race.boards) > 1 else [],
        "method_notes": method_notes(found),
        "findings": [
            {"name": f.name, "severity": f.severity, "text": f.text, "advice": f.advice}
            for f in found.inspection.findings
        ],
        "unchecked": found.inspection.unchecked,
        "warnings": [*board.warnings, *(sure.warnings if sure is not None else ())],
        "robust": robust(profile),
        "seconds": time.perf_counter() - began,
    }  # fmt: skip


def robust(profile: Profile) -> dict[str, Any]:
    """How few votes would change the first place, and which groups or agents it hangs on."""
    from softcondorcet.methods.sco import sco
    from softcondorcet.robust import robustness

    began = time.perf_counter()
    sco(profile)
    if (took := time.perf_counter() - began) > _QUICK:
        return {
            "lines": [],
            "flip": None,
            "why_not": f"one fit takes {took:.2g} s, and the search for the fewest votes some hundred",
        }
    try:
        found = robustness(profile, parts=("votes", "groups") if profile.groups else ("votes",))
    except DataError as error:
        return {"lines": [], "flip": None, "why_not": str(error)}
    flip = found.flip
    return {
        "lines": found.summary(),
        "flip": None if flip is None else {"bound": flip.bound, "votes": flip.votes, "new_top": flip.new_top},
        "why_not": "; ".join(f"{part}: {why}" for part, why in found.skipped.items()),
    }


def _known(values: Floats) -> list[float | None]:
    """JSON has no word for an interval that is not known."""
    return [None if np.isnan(value) else float(value) for value in values]


def end_with(parent: int) -> None:
    """Nobody wants the answer of a process whose parent was killed."""
    while os.getppid() == parent:
        time.sleep(0.2)
    os._exit(1)


def main() -> None:
    """Read votes from standard input, write what was found out about them to standard output."""
    Thread(target=end_with, args=(int(sys.argv[1]),), daemon=True).start()
    warnings.simplefilter("ignore", NotConverged)  # the result says it too
    from softcondorcet.serve.integrity import suspects

    profile, voters, names, resamples = unpack(sys.stdin.buffer.read())
    try:
        found = analyse(profile, resamples)
        if names:  # of some votes only, nobody is suspected
            found["suspects"] = suspects(profile, voters, names)
    except DataError as error:
        found = {"error": str(error)}
    sys.stdout.write(json.dumps(found))
