"""The report: one HTML file that says who is best, how sure that is, and what the data can support."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from softcondorcet import __version__
from softcondorcet.errors import DataError, OptionError
from softcondorcet.options import Watch, check, natural, one_of, whole
from softcondorcet.profile import Profile, as_profile
from softcondorcet.ratings import Ratings
from softcondorcet.registry import METHODS
from softcondorcet.reporting.gather import USUAL, Material, gather
from softcondorcet.reporting.page import page
from softcondorcet.reporting.view import view

__all__ = ["USUAL", "report"]


def report(
    profile: Profile,
    path: str | os.PathLike[str] | None = None,
    *,
    method: str = "sco",
    options: Mapping[str, Any] | None = None,
    methods: Sequence[str] = USUAL,
    resamples: int = 200,
    by: Literal["votes", "groups"] = "votes",
    top: int = 100,
    seed: int = 0,
    title: str | None = None,
    source: str | os.PathLike[str] | None = None,
    command: str | None = None,
    now: datetime | None = None,
    watch: Watch | None = None,
) -> str:
    """A report about a profile as HTML, written to `path` too where one is given.

    Parameters
    ----------
    profile: the votes.
    path: file to write; it is replaced if it is there.
    method, options: what the leaderboard is made by.
    methods: names of methods to hold it against.
    resamples: of the votes, for intervals and tie groups; 0 for none.
    by: what a resample draws: "votes", or "groups", all votes of a judge or task together.
    top: agents in the table, the best ones.
    seed: of the resamples and of methods that draw at random.
    title: stands above the answer; the name of the source by default.
    source: the file that the votes were read from, for its name and hash.
    command: how the report was made, for its last section.
    now: time of making; with the same time and seed the same votes give the same report, byte by byte.
    watch: called as ``watch(resample, resamples, None)``.

    >>> "A is best" in report(Profile.from_rankings([["A", "B"], ["A", "C"], ["A", "C"]]), resamples=0)
    True
    """
    as_profile(profile, "a Profile; sc.read makes one")
    if method not in METHODS:
        raise OptionError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    own = {"n", "by", "interval", "level", "seed", "watch"} & set(options or {})
    check(not own, "options", "options of the method without a seed, which is given apart", options)
    natural("resamples", resamples)
    check(resamples != 1, "resamples", "0, or at least 2", resamples)
    one_of("by", ("votes", "groups"), by)
    natural("seed", seed)
    whole("top", top)
    check(now is None or isinstance(now, datetime), "now", "a datetime", now)
    found = gather(
        profile,
        method=method,
        options=dict(options or {}),
        methods=tuple(methods),
        resamples=resamples,
        by=by,
        seed=seed,
        watch=watch,
    )
    name = "votes" if source is None else os.path.basename(os.fsdecode(source))
    html = page(view(found, top), title or name, provenance(found, source, command, now or datetime.now(UTC), seed))
    if path is not None:
        write(html, path)
    return html


def provenance(
    found: Material, source: str | os.PathLike[str] | None, command: str | None, now: datetime, seed: int
) -> list[tuple[str, str]]:
    """Where the report comes from: no folder, no user, no machine."""
    board: Ratings = found.board
    lines = []
    if source is not None:
        lines.append(("file", os.path.basename(os.fsdecode(source))))
        lines.append(("SHA-256 of it", digest(source)))
    lines.append(("votes", f"{found.profile.n_votes:,} rows, {found.profile.n_agents:,} agents"))
    lines.append(("method", board.method))
    lines.append(("options", ", ".join(f"{name} {_plain(value)}" for name, value in board.options.items()) or "none"))
    if found.uncertainty is not None:
        lines.append(("intervals", f"{found.uncertainty.source}; {100 * found.uncertainty.level:g} %"))
    lines.append(("seed", str(seed)))
    lines.append(("made", now.strftime("%Y-%m-%d %H:%M:%S ") + (now.tzname() or "")))
    lines.append(("by", f"softcondorcet {__version__}"))
    return [*lines, ("command", command)] if command else lines


def _plain(value: Any) -> str:
    """An option for people: not all digits of a number."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def digest(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file; of the archive, for a member of one."""
    try:
        with open(os.fsdecode(path).partition("::")[0], "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{os.fsdecode(path)}: cannot be read ({error.strerror})") from None


def write(html: str, path: str | os.PathLike[str]) -> None:
    try:
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(html)
    except OSError as error:
        raise DataError(f"{os.fsdecode(path)}: cannot be written ({error.strerror})") from None
