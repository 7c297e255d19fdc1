"""Votes from a file that somebody sends, read by the readers of the library in a process of its own.

Reading a file may take time and memory in no proportion to its size: here it holds up no vote, and ends at a limit.
"""

from __future__ import annotations

import asyncio
import io
import os
import re
import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import msgspec

from softcondorcet.errors import DataError, OptionError
from softcondorcet.profile import Profile
from softcondorcet.readers import read
from softcondorcet.serve.ballots import WINNERS, BadBallot, Ballot, ask
from softcondorcet.serve.names import BadName, name
from softcondorcet.serve.sheets import plain
from softcondorcet.serve.store import Ask

MOST_VOTES = 50_000
Format = Literal["csv", "tsv", "jsonl", "parquet", "soc", "soi", "toc", "toi", "preflib"]
Kind = Literal["battles", "rankings", "scores"]
# Bytes of data and seconds of processor that reading a file may take.
_MEMORY, _SECONDS = 2**29, 20


class Wanted(msgspec.Struct):
    """How to read a file: `voter` is the column that says who voted, if one does."""

    format: Format
    kind: Kind | None = None
    voter: str | None = None


class Found(msgspec.Struct):
    """The votes of a file; how many rank one agent alone, say nothing and were left out; or what is wrong with it."""

    votes: list[Ask] = []
    left_out: int = 0
    error: str = ""


async def read_apart(data: bytes, wanted: Wanted) -> Found:
    """What ``votes_of`` finds, in another process."""
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", __name__, msgspec.json.encode(wanted).decode(),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # each thread would take its share of the memory
    )  # fmt: skip
    try:
        said, _ = await child.communicate(data)
    except asyncio.CancelledError:
        child.kill()
        await child.wait()
        raise
    if not said:
        return Found(error="this takes more memory or time to read than a file of votes may")
    return await asyncio.to_thread(msgspec.json.decode, said, type=Found)


def votes_of(data: bytes, wanted: Wanted) -> Found:
    """The votes of a file in order of time, or what is wrong with it and in which line."""
    try:
        return _votes(data, wanted)
    except (DataError, OptionError) as error:
        # A reader begins with the name of the file, and here it has none: "<stream>:418: ..." or "<stream>: ...".
        return Found(error=re.sub(r"^<stream>:(\d+)", r"line \1", str(error)).removeprefix("<stream>: "))
    except (BadName, BadBallot) as error:
        return Found(error=str(error))


def _votes(data: bytes, wanted: Wanted) -> Found:
    profile = _read(data, wanted)
    if profile.n_votes > MOST_VOTES:
        raise DataError(f"{profile.n_votes:,} votes; expected at most {MOST_VOTES:,} at a time")
    _check_names(data if wanted.format != "parquet" else b"", profile.agents)
    columns = (
        profile.rankings(),
        _groups(profile),
        # To the reader a voter is a group like any other: so each vote keeps its own, whatever the order.
        _groups(_read(data, wanted, wanted.voter) if wanted.voter else None, profile.n_votes),
        profile.weight.tolist(),
        _times(profile),
        _winners(profile) if profile.turned is not None else _sides(data, wanted, profile.n_votes),
    )
    found = Found()
    for v, (tiers, group, voter, weight, when, winner) in enumerate(zip(*columns, strict=True)):
        if sum(map(len, tiers)) < 2:
            found.left_out += 1
            continue
        vote = ask(Ballot(ranking=[*tiers], voter=voter, group=group, weight=weight), f"vote {v + 1}: ")
        found.votes.append(replace(vote, when=when, winner=winner if _says(vote, winner) else None))
    return found


def _read(data: bytes, wanted: Wanted, group: str | None = None) -> Profile:
    if data.startswith(b"\x1f\x8b"):
        raise DataError("a gzip file; expected it unpacked")
    columns = {"group": group} if group else None
    profile = read(io.BytesIO(data), kind=wanted.kind, format=wanted.format, columns=columns)
    if wanted.format not in ("csv", "tsv"):
        return profile
    return replace(profile, agents=tuple(map(plain, profile.agents)), groups=tuple(map(plain, profile.groups)))


def _groups(profile: Profile | None, n_votes: int = 0) -> Sequence[str | None]:
    if profile is None or profile.group is None:
        return [None] * (n_votes if profile is None else profile.n_votes)
    return [profile.groups[k] for k in profile.group.tolist()]


def _times(profile: Profile) -> Sequence[float | None]:
    if profile.when is None:
        return [None] * profile.n_votes
    if not 0 <= profile.when.min() <= profile.when.max() <= time.time():
        raise DataError("a vote of before 1970 or of the future; expected votes of the past")
    return list(profile.when.tolist())


def _winners(profile: Profile) -> Sequence[str | None]:
    """For battles, which side won: whether the one shown first wins more often is asked of them later."""
    assert profile.turned is not None
    tied = profile.tier[profile.start[1:] - 1] == 0
    return ["tie" if tie else "b" if turned else "a" for tie, turned in zip(tied, profile.turned, strict=True)]


def _sides(data: bytes, wanted: Wanted, n_votes: int) -> Sequence[str | None]:
    """For battles among rankings, as an export has them, which side won: the column `winner`, if there is one."""
    try:
        return _groups(_read(data, wanted, "winner")) if b"winner" in data else [None] * n_votes
    except DataError:  # all else in the file has been read: this column is not there, or is blank here and there
        return [None] * n_votes


def _says(vote: Ask, winner: str | None) -> bool:
    """Whether this word can be what a battle said."""
    return sum(map(len, vote.body)) == 2 and winner in WINNERS and len(WINNERS[winner]) == len(vote.body)


def _check_names(data: bytes, agents: Sequence[str]) -> None:
    """Refuse a name with the first line that holds it."""
    for agent in agents:
        try:
            name(agent, "agent")
        except BadName as error:
            lines = data.decode("utf-8-sig").split("\n")
            number = next((k for k, line in enumerate(lines, 1) if agent in line), 0)
            raise BadName(f"line {number}: {error}" if number else str(error)) from None


def main() -> None:
    """Read a file from standard input, write its votes to standard output."""
    wanted = msgspec.json.decode(sys.argv[1], type=Wanted)
    data = sys.stdin.buffer.read()
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
    sys.stdout.buffer.write(msgspec.json.encode(votes_of(data, wanted)))


if __name__ == "__main__":
    main()
