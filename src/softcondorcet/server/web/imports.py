"""Reads uploaded files of votes in a process of its own, with limits on memory and time.

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
from collections.abc import Callable, Sequence
from contextlib import chdir
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import msgspec

from softcondorcet.columns import VOTER
from softcondorcet.errors import DataError, OptionError
from softcondorcet.profile import Profile
from softcondorcet.server.ledger.limits import BadName, name
from softcondorcet.server.ledger.writer import Ask
from softcondorcet.server.web.exports import plain
from softcondorcet.server.web.votes import WINNERS, BadBallot, Ballot, ask

MOST_VOTES = 50_000
Format = Literal["csv", "tsv", "jsonl", "parquet", "soc", "soi", "toc", "toi", "preflib"]
Kind = Literal["battles", "rankings", "scores"]
# Bytes of data and seconds of processor that reading a file may take.
MEMORY, _SECONDS = 2**29, 20


class Wanted(msgspec.Struct):
    """How to read a file: `voter` is the column that says who voted, if one does.

    Without a format it is read as the library reads a file of this `name`.
    """

    format: Format | None
    kind: Kind | None = None
    voter: str | None = None
    name: str = ""

    @property
    def neutral(self) -> bool:
        """Whether names may have been made harmless for spreadsheets, as exports of a board are."""
        return (self.format or self.name.rpartition(".")[2]) in ("csv", "tsv")


class Found(msgspec.Struct):
    """The votes of a file; how many rank one agent alone, say nothing and were left out; or what is wrong with it.

    `notes` say what the reader did with the file.
    """

    votes: list[Ask] = []
    left_out: int = 0
    error: str = ""
    notes: list[str] = []


async def read_apart(data: bytes, wanted: Wanted, *, memory: int = MEMORY) -> Found:
    """Read a file in another process, with a limit on its memory (``votes_of``)."""
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", __name__, msgspec.json.encode(wanted).decode(), str(memory),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # each thread would take its share of the memory
    )  # fmt: skip
    try:
        output, _ = await child.communicate(data)
    except asyncio.CancelledError:
        child.kill()
        await child.wait()
        raise
    if not output:
        return Found(error="this takes more memory or time to read than a file of votes may")
    return await asyncio.to_thread(msgspec.json.decode, output, type=Found)


def file_name(text: str) -> str:
    """A name for a file that somebody sends as `text`: without folders, and with its endings."""
    last = re.sub(r"[^\w.+ -]", "_", re.split(r"[/\\]", text)[-1]).strip(". ")
    return last[-80:].lstrip(". ") or "votes"


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
    shown = plain if wanted.neutral else str
    profile = replace(profile, agents=tuple(map(shown, profile.agents)))
    _check_names(data if wanted.format not in (None, "parquet") else b"", profile.agents)
    columns = (
        profile.rankings(),
        _names(profile, profile.group_by, shown),
        _names(profile, VOTER if wanted.voter else None, shown),
        profile.weight.tolist(),
        _times(profile),
        _winners(profile),
    )
    result = Found(notes=list(profile.source.notes) if profile.source else [])
    for v, (tiers, group, voter, weight, when, winner) in enumerate(zip(*columns, strict=True)):
        if sum(map(len, tiers)) < 2:
            result.left_out += 1
            continue
        vote = ask(Ballot(ranking=[*tiers], voter=voter, group=group, weight=weight), f"vote {v + 1}: ")
        result.votes.append(vote._replace(when=when, winner=winner if _says(vote, winner) else None))
    return result


def _read(data: bytes, wanted: Wanted) -> Profile:
    from softcondorcet.io.files import read  # only the process that reads needs the readers

    columns = {"voter": wanted.voter} if wanted.voter else None
    if wanted.format is None:
        with TemporaryDirectory() as folder, chdir(folder):
            Path(wanted.name).write_bytes(data)
            return read(wanted.name, kind=wanted.kind, columns=columns, keep=["winner"])
    if data.startswith(b"\x1f\x8b"):
        raise DataError("a gzip file; expected it unpacked")
    return read(io.BytesIO(data), kind=wanted.kind, format=wanted.format, columns=columns, keep=["winner"])


def _names(profile: Profile, column: str | None, shown: Callable[[str], str] = str) -> Sequence[str | None]:
    """The names in a column, None where there is none."""
    cells = [None] * profile.n_votes if column is None else profile.columns[column].named().cells()
    return [None if cell is None else shown(str(cell)) for cell in cells]


def _times(profile: Profile) -> Sequence[float | None]:
    if profile.when is None:
        return [None] * profile.n_votes
    if not 0 <= profile.when.min() <= profile.when.max() <= time.time():
        raise DataError("a vote of before 1970 or of the future; expected votes of the past")
    return list(profile.when.tolist())


def _winners(profile: Profile) -> Sequence[str | None]:
    """For battles, which side won: the check for position bias needs it later."""
    known: Sequence[str | None] = [None] * profile.n_votes
    if profile.turned is not None:
        tied = profile.tier[profile.start[1:] - 1] == 0
        known = ["tie" if tie else "b" if turned else "a" for tie, turned in zip(tied, profile.turned, strict=True)]
    column = next((name for name in profile.columns if name.casefold() == "winner"), None)
    words = _names(profile, column)
    return [word if word in WINNERS else side for word, side in zip(words, known, strict=True)]


def _says(vote: Ask, winner: str | None) -> bool:
    """Whether this is a winner that fits the vote."""
    return sum(map(len, vote.body)) == 2 and winner in WINNERS and len(WINNERS[winner]) == len(vote.body)


def _check_names(data: bytes, agents: Sequence[str]) -> None:
    """Refuse names that are not valid, with the first line that holds one."""
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
    memory = int(sys.argv[2])
    data = sys.stdin.buffer.read()
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
    sys.stdout.buffer.write(msgspec.json.encode(votes_of(data, wanted)))


if __name__ == "__main__":
    main()
