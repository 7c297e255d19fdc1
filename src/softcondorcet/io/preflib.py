"""PrefLib files: soc, soi (strict; complete or not), toc, toi (with ties).

A header of ``# KEY: value`` lines, then one line ``count: 1,2,{3,4},5`` for each distinct order, best first. The older
form without '#' (number of alternatives, ``i,name`` lines, ``voters,sum,unique``, then ``count,order`` lines) is read
too. The body is parsed as one array of bytes; one that is not well formed is read again line by line, only to say what
is wrong and where. Files in circulation have headers that do not fit their votes: an error, unless ``lenient`` asks to
take the votes as they stand, with a warning that counts what was wrong.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softcondorcet.errors import DataError
from softcondorcet.formatting import plural
from softcondorcet.profile import Kind, Profile
from softcondorcet.source import Source

TYPES = ("soc", "soi", "toc", "toi")
NUMBERS = ("NUMBER ALTERNATIVES", "NUMBER VOTERS", "NUMBER UNIQUE ORDERS")
MOST_UNSEEN = 1_000_000  # alternatives that are neither named nor voted for: beyond this the header is a slip
POWERS = 10 ** np.arange(16, dtype=np.int64)
ORDER = re.compile(r"(\d+|\{\d+(,\d+)*\})(,(\d+|\{\d+(,\d+)*\}))*", re.ASCII)

Ints = NDArray[np.int64]


@dataclass
class Header:
    """What stands above the votes, and the line (from 1) at which they begin."""

    numbers: dict[str, int] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    data_type: str = ""
    body_line: int = 1


@dataclass
class Slips:
    """What is wrong in a file and leaves its votes as they are: an error, or counted where that is asked for."""

    name: str
    lenient: bool
    found: list[str] = field(default_factory=list)

    def __call__(self, message: str) -> None:
        if not self.lenient:
            raise DataError(f"{message}; --lenient takes the votes as they stand")
        where = message.removeprefix(self.name).lstrip(": ")
        self.found.append(f"line {where}" if where[0].isdigit() else where)

    def warn(self) -> None:
        if self.found:
            more = f" and {len(self.found) - 3:,} more" if len(self.found) > 3 else ""
            listed = "; ".join(found.replace("; expected", ", expected") for found in self.found[:3])
            warnings.warn(
                f"{self.name}: {plural(len(self.found), 'thing')} wrong, votes taken as they stand: {listed}{more}",
                stacklevel=2,
            )


def is_preflib(data: bytes) -> bool:
    """Whether a file begins as PrefLib does: with ``# FILE NAME`` and the like, or with a number alone in its line."""
    head = data[:1000].removeprefix(b"\xef\xbb\xbf")
    keys = rb"FILE NAME|TITLE|DESCRIPTION|DATA TYPE|MODIFICATION|RELATE[SD]|PUBLICATION|NUMBER [A-Z]|ALTERNATIVE NAME"
    return re.match(rb"\s*(?:#[^\n]*\n\s*)*?#\s*(%b)|\s*\d+\s*(:|\r?\n|$)" % keys, head) is not None


def parse(
    text: str,
    name: str,
    data_type: str | None = None,
    *,
    kind: Kind = "election",
    source: Source | None = None,
    lenient: bool = False,
) -> Profile:
    """The profile of a PrefLib text; ``name`` is its place in errors, ``data_type`` what its suffix says it is.

    ``lenient`` takes the votes as they stand where header, type or comments do not fit them, with a warning.
    """
    slips = Slips(name, lenient)
    text = text.replace("\r\n", "\n")
    if lenient:
        text = _without_comments(text, slips)
    new = text.lstrip()[:1] == "#" or ":" in text.partition("\n")[0]
    header, body = _new_header(text, name, slips) if new else _old_header(text, name, slips)
    if data_type and header.data_type and data_type != header.data_type:
        slips(f"{name}: DATA TYPE is {header.data_type!r}; expected {data_type!r} as the suffix says")
    data_type = data_type or header.data_type or "toi"
    entries = _entries(body)
    if entries is None:
        raise _explain(body, name, header.body_line)
    count, start, agent, tied = entries
    lines = Lines(body, name, header.body_line)
    m = _number_of_alternatives(header, agent, slips)
    vote = np.repeat(np.arange(len(count)), np.diff(start))
    if (agent > m).any():
        slips(lines.at(vote[agent > m], f"an alternative above {m}; expected 1 to {m}"))
        m = _number_of_alternatives(Header(names=header.names), agent, slips)
    lines.refuse(vote[agent < 1], f"alternative 0; expected 1 to {m}")
    order = np.lexsort((agent, np.cumsum(~tied))) if tied.any() else slice(None)  # one spelling for {3,4} and {4,3}
    agent = agent[order] - 1
    again = np.sort(vote * m + agent)
    lines.refuse(again[1:][again[1:] == again[:-1]] // max(m, 1), "an alternative appears twice; expected once")
    if data_type[0] == "s" and tied.any():
        slips(lines.at(vote[tied], f"a tie in braces; expected a strict order in a {data_type} file"))
    short = np.flatnonzero(np.diff(start) != m)
    if data_type[2] == "c" and len(short):
        slips(lines.at(short, f"expected all {m} alternatives in a {data_type} file"))
    arrays = start, agent.astype(np.int32), np.cumsum(~tied), count.astype(float)
    profile = Profile(_names(header.names, m), *arrays, kind=kind, source=source)
    profile = _distinct(profile, tied)
    for key, there, words in (
        ("NUMBER VOTERS", int(count.sum()), "the counts add up to"),
        ("NUMBER UNIQUE ORDERS", profile.n_votes, "the number of distinct orders is"),
    ):
        if header.numbers.get(key, there) != there:
            slips(f"{name}: {key} is {header.numbers[key]}; expected {there}, as {words} that")
    slips.warn()
    return profile


def _without_comments(text: str, slips: Slips) -> str:
    """The text without lines that are neither header nor vote, which the older form may not have at all."""
    kept, votes = [], False
    rows = text.lstrip("\ufeff").split("\n")
    new = any(row.lstrip().startswith("#") for row in rows)
    for number, row in enumerate(rows, 1):
        head = re.match(r"\s*#[^:]+:", row) is not None and not votes
        vote = re.match(r"\s*\d+\s*(?:[:,]|$)", row, re.ASCII) is not None
        votes = votes or (vote and new)
        if head or vote or not row.strip():
            kept.append(row.lstrip() if head else row)
        else:
            slips(f"{slips.name}:{number}: {row.strip()[:40]!r} is neither header nor vote")
            kept += [""] if new else []
    return "\n".join(kept).lstrip("\n") if not new else "\n".join(kept)


def _new_header(text: str, name: str, slips: Slips) -> tuple[Header, str]:
    header = Header()
    position = 0
    for number, line in enumerate(text.split("\n"), 1):
        if line[:1] != "#" and line.strip():
            header.body_line = number
            break
        position += len(line) + 1
        if line[:1] != "#":
            continue
        key, colon, value = line[1:].partition(":")
        key, value = key.strip().upper(), value.strip()
        if key.startswith("ALTERNATIVE NAME"):
            code = _whole(key[16:].strip(), f"{name}:{number}: number of the alternative name")
            if code in header.names:
                slips(f"{name}:{number}: alternative {code} has a second name {value!r}; expected one")
            header.names.setdefault(code, value)
        elif key in NUMBERS:
            if key in header.numbers:
                slips(f"{name}:{number}: {key} appears twice; expected once")
            header.numbers[key] = _whole(value, f"{name}:{number}: {key}")
        elif key == "DATA TYPE":
            header.data_type = value.lower()
            if header.data_type not in TYPES:
                slips(f"{name}:{number}: DATA TYPE is {value!r}; expected 'soc', 'soi', 'toc' or 'toi'")
                header.data_type = ""
        elif not colon and key:
            slips(f"{name}:{number}: header line is {line[:60]!r}; expected '# KEY: value'")
    else:
        raise DataError(f"{name}: a header and no votes; expected 'count: order' lines below it")
    return header, text[position:]


def _old_header(text: str, name: str, slips: Slips) -> tuple[Header, str]:
    lines = text.split("\n", 1)
    header = Header()
    if not lines[0].strip().isdigit():
        raise DataError(f"{name}:1: first line is {lines[0][:60]!r}; expected '# KEY: value' or 'count: order'")
    m = _whole(lines[0].strip(), f"{name}:1: number of alternatives")
    if m > text.count("\n"):
        raise DataError(f"{name}:1: number of alternatives is {m}; expected a line 'number,name' for each of them")
    lines = text.split("\n", m + 2)
    for number, line in enumerate(lines[1 : m + 1], 2):
        code, comma, value = line.partition(",")
        key = _whole(code.strip() if comma else line, f"{name}:{number}: number before the alternative's name")
        if key in header.names:
            raise DataError(f"{name}:{number}: alternative {key} has a second name {value!r}; expected one")
        header.names[key] = value.strip()
    sums = lines[m + 1].split(",") if len(lines) == m + 3 else []
    if len(sums) != 3:
        raise DataError(f"{name}:{m + 2}: expected 'voters,sum of counts,unique orders' below the names")
    voters, total, unique = (_whole(cell.strip(), f"{name}:{m + 2}: number") for cell in sums)
    if voters != total:
        slips(f"{name}:{m + 2}: {voters} voters and a sum of counts of {total}; expected them to be equal")
    header.numbers = dict(zip(NUMBERS, (m, total, unique), strict=True))
    header.body_line = m + 3
    return header, re.sub(r"^([ \t]*\d+[ \t]*),", r"\1:", lines[m + 2], flags=re.MULTILINE | re.ASCII)


def _whole(text: str, what: str) -> int:
    if not re.fullmatch(r"\d{1,15}", text, re.ASCII):
        raise DataError(f"{what} is {text[:60]!r}; expected a whole number of at most 15 digits")
    return int(text)


def _entries(body: str) -> tuple[Ints, Ints, Ints, NDArray[np.bool_]] | None:
    """Counts, starts, alternatives, and whether each is tied with the one before; None if the body is ill formed."""
    if not body.isascii():
        return None
    data = body.encode().replace(b": ", b":")
    if data.translate(None, b"0123456789,:\n") or b"\n\n" in data or data[-1:] != b"\n":  # the rarer spellings
        data = re.sub(rb"[ \t]*([,:{}\n])[ \t]*", rb"\1", data.strip() + b"\n")
        data = re.sub(rb"\n+", b"\n", data)
    if data.translate(None, b"0123456789,:\n{}"):
        return None
    braces = b"{" in data or b"}" in data
    if braces and not _well_braced(data):
        return None
    raw = np.frombuffer(data, dtype=np.uint8)
    plain = np.frombuffer(data.translate(None, b"{}"), dtype=np.uint8) if braces else raw
    stop = np.flatnonzero((plain < 48) | (plain > 57))
    mark = plain[stop]
    line_end = np.flatnonzero(mark == 10)
    colon = np.flatnonzero(mark == 58)
    if len(colon) != len(line_end) or colon[0] != 0 or (colon[1:] != line_end[:-1] + 1).any():
        return None
    digits = np.diff(stop, prepend=-1) - 1
    longest = int(digits.max())
    if digits.min() < 1 or longest > 15:
        return None
    value = plain[stop - 1].astype(np.int64) - 48
    for k in range(1, longest):
        longer = np.flatnonzero(digits > k)
        value[longer] += (plain[stop[longer] - 1 - k] - np.uint8(48)) * POWERS[k]
    is_entry = np.ones(len(value), dtype=bool)
    is_entry[colon] = False
    tied = np.zeros(len(value), dtype=bool)
    if braces:
        depth = np.cumsum((raw == ord("{")).astype(np.int8) - (raw == ord("}")))
        tied[1:] = depth[(raw == 44) | (raw == 58) | (raw == 10)][:-1] > 0
    start = np.concatenate([[0], np.cumsum(line_end - colon)])
    return value[colon], start, value[is_entry], tied[is_entry]


def _well_braced(data: bytes) -> bool:
    """Every '{' begins an entry, every '}' ends one, and they alternate inside each line."""
    openings, closings = data.count(b"{"), data.count(b"}")
    skeleton = data.translate(None, b"0123456789,:")
    return (
        openings == data.count(b",{") + data.count(b":{")
        and closings == data.count(b"},") + data.count(b"}\n")
        and skeleton.replace(b"{}", b"").strip(b"\n") == b""
    )


def _explain(body: str, name: str, first: int) -> DataError:
    """What is wrong with a body that could not be read."""
    for number, line in enumerate(body.split("\n"), first):
        count, colon, order = line.partition(":")
        if not line.strip():
            continue
        if not colon or not re.fullmatch(r"\d{1,15}", count.strip(), re.ASCII):
            return DataError(f"{name}:{number}: vote is {line[:60]!r}; expected 'count: order' as in '3: 1,2,{{3,4}}'")
        if not ORDER.fullmatch(re.sub(r"[ \t]*([,{}])[ \t]*", r"\1", order.strip())) or re.search(r"\d{16}", order):
            return DataError(
                f"{name}:{number}: order is {order.strip()[:60]!r}; expected numbers of alternatives "
                "with commas between, ties in braces"
            )
    return DataError(f"{name}:{first}: no votes; expected 'count: order' lines")


@dataclass(frozen=True)
class Lines:
    """Finds the line of a vote, when there is something to say about it."""

    body: str
    name: str
    first: int

    def refuse(self, votes: NDArray[np.int64], message: str) -> None:
        if len(votes):
            raise DataError(self.at(votes, message))

    def at(self, votes: NDArray[np.int64], message: str) -> str:
        """The message with the line of the first of the votes."""
        full = [number for number, line in enumerate(self.body.split("\n"), self.first) if line.strip()]
        return f"{self.name}:{full[int(votes.min())]}: {message}"


def _number_of_alternatives(header: Header, agent: Ints, slips: Slips) -> int:
    name = slips.name
    seen = max(header.names, default=0)
    m = header.numbers.get(NUMBERS[0], max(seen, int(agent.max(initial=0))))
    words = f"{name}: NUMBER ALTERNATIVES is {m}; expected every ALTERNATIVE NAME from 1 to {m}, got"
    if header.names and min(header.names) < 1:
        raise DataError(f"{words} {min(header.names)}")
    if seen > m:
        slips(f"{words} {seen}")
        m = seen
    if m > max(len(header.names), len(agent), MOST_UNSEEN):
        raise DataError(f"{name}: NUMBER ALTERNATIVES is {m}; expected at most {MOST_UNSEEN} where they have no names")
    return m


def _names(given: dict[int, str], m: int) -> tuple[str, ...]:
    """Names by number, the number itself where there is none, and the number added where two are the same."""
    names = [given.get(k) or str(k) for k in range(1, m + 1)]
    while len(set(names)) < m:
        seen: set[str] = set()
        twice = {name for name in names if name in seen or seen.add(name)}  # type: ignore[func-returns-value]
        names = [f"{name} #{k}" if name in twice else name for k, name in enumerate(names, 1)]
    return tuple(names)


def _distinct(profile: Profile, tied: NDArray[np.bool_]) -> Profile:
    """Equal orders as one vote, at the place of the first, with their weights added."""
    spelling = profile.agent * 2 + tied
    start = profile.start.tolist()
    first: dict[bytes, int] = {}
    vote = [first.setdefault(spelling[a:b].tobytes(), len(first)) for a, b in pairwise(start)]
    if len(first) == profile.n_votes:
        return profile
    kept = np.unique(vote, return_index=True)[1]
    return replace(profile.take(kept), weight=np.bincount(vote, weights=profile.weight).astype(float))


def text_of(profile: Profile, data_type: str | None = None) -> str:
    """The profile as a PrefLib text. Votes of one order become one line; groups, times and their order are not kept."""
    complete = bool((profile.length == profile.n_agents).all())
    fits = ("t" if profile.has_ties else "s") + "o" + ("c" if complete else "i")
    data_type = data_type or fits
    if (data_type[0] == "s" and fits[0] == "t") or (data_type[2] == "c" and fits[2] == "i"):
        words = " and ".join(["ties"] * (fits[0] == "t") + ["votes that leave agents out"] * (fits[2] == "i"))
        raise DataError(f"the votes have {words}; expected the suffix '.{fits}', got '.{data_type}'")
    if (profile.weight % 1).any() or profile.weight.sum() >= 1e15:
        raise DataError("weights are not whole numbers below 1e15; expected counts (write csv or jsonl instead)")
    if not profile.n_votes:
        raise DataError("there are no votes; a PrefLib file has at least one")
    for name in profile.agents:
        if "\n" in name or "\r" in name:
            raise DataError(f"agent {name!r} has a line break; expected names of one line")
    counts: dict[str, int] = {}
    for v, weight in enumerate(profile.weight.tolist()):
        line = _line(
            profile.agent[profile.start[v] : profile.start[v + 1]] + 1,
            profile.tier[profile.start[v] : profile.start[v + 1]],
        )
        counts[line] = counts.get(line, 0) + int(weight)
    header = [
        f"# DATA TYPE: {data_type}",
        f"# NUMBER ALTERNATIVES: {profile.n_agents}",
        f"# NUMBER VOTERS: {sum(counts.values())}",
        f"# NUMBER UNIQUE ORDERS: {len(counts)}",
    ]
    header += [f"# ALTERNATIVE NAME {k}: {name}" for k, name in enumerate(profile.agents, 1)]
    return "\n".join([*header, *(f"{count}: {line}" for line, count in counts.items()), ""])


def _line(agents: NDArray[Any], tiers: NDArray[Any]) -> str:
    levels: list[list[int]] = [[] for _ in range(int(tiers.max()) + 1)]
    for agent, tier in zip(agents.tolist(), tiers.tolist(), strict=True):
        levels[tier].append(agent)
    words = [",".join(map(str, sorted(level))) for level in levels]
    return ",".join(f"{{{word}}}" if "," in word else word for word in words)
