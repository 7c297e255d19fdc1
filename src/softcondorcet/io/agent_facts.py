"""A table about agents: organisation, licence, price, context, link, colour, and other names (aliases) of each.

Its rows are agents; the column ``name`` (or ``agent``, ``model``) says which. ``alias`` lists other names of the agent
between semicolons: votes for them become its own. ``link`` and ``colour`` are checked, since pages show them. All other
columns are shown as they stand, as numbers where every cell is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from softcondorcet.arrays import Ints
from softcondorcet.errors import DataError
from softcondorcet.formatting import number, plural, some
from softcondorcet.io.cells import Table, is_blank, read_name, read_number
from softcondorcet.io.column_names import AGENTS
from softcondorcet.leaderboard import Row
from softcondorcet.pairs import Pairs, add_pairs
from softcondorcet.profile import Profile
from softcondorcet.source import Source

Fact = str | float

# The columns that have a meaning, and what else people call them.
_TITLES = {
    "alias": ("alias", "aliases"),
    "organisation": ("organisation", "organization", "org", "developer", "provider"),
    "licence": ("licence", "license"),
    "link": ("link", "url", "homepage", "website"),
    "colour": ("colour", "color"),
}
_LONGEST = 500
_COLOUR = re.compile(r"#(?:[0-9a-fA-F]{3}){1,2}|[a-zA-Z]{3,20}", re.ASCII)
# Columns of a leaderboard, which no fact may hide.
_OWN = {field.name for field in fields(Row)}


@dataclass(frozen=True)
class AgentFacts:
    """Facts by agent and title; `aliases` lead from other names of an agent to its own. `name` is the file's."""

    name: str
    facts: Mapping[str, Mapping[str, Fact]]
    aliases: Mapping[str, str]


def agent_facts_of(table: Table) -> AgentFacts:
    """The facts in a table; an error with its place for a name that stands twice, a link or colour that is none."""
    column = table.find("name", *AGENTS)
    if column is None:
        raise DataError(f"{table.name}: no column 'name'; found {table.names}; expected the names of agents")
    names = _names(table, column)
    titles = _titles(table, column)
    facts: dict[str, dict[str, Fact]] = {name: {} for name in names}
    for title, given in titles.items():
        if title != "alias":
            for name, fact in zip(names, _facts(table, title, given), strict=True):
                if fact is not None:
                    facts[name][title] = fact
    aliases = _aliases(table, names, titles["alias"]) if "alias" in titles else {}
    return AgentFacts(table.name, facts, aliases)


def _names(table: Table, column: str) -> list[str]:
    known = table.read(column, read_name)
    names = [known[code] for code in table.column(column).codes.tolist()]
    first: dict[str, int] = {}
    for row, name in enumerate(names):
        if first.setdefault(name, row) != row:
            raise DataError(
                f"{table.place(row)}: agent {name!r} stands here and at {table.place(first[name])}; expected once"
            )
    return names


def _titles(table: Table, name: str) -> dict[str, str]:
    """The columns by the names that facts have here."""
    known = {word: title for title, words in _TITLES.items() for word in words}
    titles: dict[str, str] = {}
    for column in table.columns:
        if column == name or all(map(is_blank, table.cells(column))):
            continue
        folded = column.strip().casefold()
        title = known.get(folded, folded if folded in ("price", "context") else column.strip())
        if title in titles:
            raise DataError(
                f"{table.name}: columns {titles[title]!r} and {column!r} are both the {title}; expected one"
            )
        if title.casefold() in _OWN or not title:
            raise DataError(f"{table.name}: column {column!r} is one of the leaderboard's own; expected another title")
        titles[title] = column
    return titles


def _facts(table: Table, title: str, column: str) -> list[Fact | None]:
    """The facts in a column: numbers if all of them are."""
    cells = table.cells(column)
    if title == "link":
        return _checked(table, column, _link)
    if title == "colour":
        return _checked(table, column, _colour)
    try:
        return [None if is_blank(cell) else _number(cell) for cell in cells]
    except ValueError:
        return _checked(table, column, _text)


def _number(cell: Any) -> float:
    number = read_number(cell)
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def _checked(table: Table, column: str, reader: Any) -> list[Fact | None]:
    answers = table.read(column, lambda cell: None if is_blank(cell) else reader(cell))
    return [answers[code] for code in table.column(column).codes.tolist()]


def _text(cell: Any) -> str:
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    text = read_name(cell)
    if len(text) > _LONGEST:
        raise ValueError(f"at most {_LONGEST} letters")
    return text


def _link(cell: Any) -> str:
    """An address that a page may lead to: no script, no file, no user name."""
    text = _text(cell)
    expected = ValueError("an address such as https://example.org/model")
    if not re.fullmatch(r"https?://[^\s<>\"'`\\]+", text, re.IGNORECASE):
        raise expected
    try:
        parts = urlsplit(text)
    except ValueError:
        raise expected from None
    if not parts.hostname or "@" in parts.netloc:
        raise expected
    return text


def _colour(cell: Any) -> str:
    text = _text(cell)
    if not _COLOUR.fullmatch(text):
        raise ValueError("a colour such as #1f77b4 or teal")
    return text


def _aliases(table: Table, names: list[str], column: str) -> dict[str, str]:
    own, aliases = set(names), dict[str, str]()
    for row, (name, cell) in enumerate(zip(names, table.cells(column), strict=True)):
        for alias in _listed(cell):
            taken = alias if alias in own and alias != name else aliases.get(alias, name)
            if taken != name:
                whose = "the name of another agent" if taken == alias else f"also an alias of {taken!r}"
                raise DataError(f"{table.place(row)}: alias {alias!r} is {whose}; expected a name of {name!r} alone")
            if alias != name:
                aliases[alias] = name
    return aliases


def _listed(cell: Any) -> Iterator[str]:
    for part in cell if isinstance(cell, list | tuple) else str("" if is_blank(cell) else cell).split(";"):
        if not is_blank(part):
            yield read_name(part)


def described(profile: Profile, about: AgentFacts) -> Profile:
    """The votes with aliases joined, and with the facts of their agents; its source says whom the table lacks."""
    joined, said = _joined(profile, about)
    facts, notes = _facts_of(joined.agents, about, said)
    source = joined.source
    if source is not None:
        source = replace(source, notes=(*source.notes, *notes))
    return replace(joined, facts={**joined.facts, **facts}, source=source)


def described_pairs(pairs: Pairs, about: AgentFacts) -> Pairs:
    """The same for votes that are counted already; two names of one agent that met are left out and counted."""
    place, agents = _renamed(pairs.agents, about)
    left, right = place[pairs.left], place[pairs.right]
    met = left == right
    others = [name for name in pairs.agents if name in about.aliases]
    said = [_said_joined(about, others)] if others else []
    if met.any():
        lost = float((pairs.wins + pairs.losses + pairs.ties)[met].sum())
        said.append(f"left out: {number(lost)} comparison{'s' * (lost != 1)} of an agent with its own alias")
    if met.all():
        raise DataError(f"{about.name}: all votes are between an agent and its own alias; expected others")
    counts = (getattr(pairs, name)[~met] for name in ("wins", "losses", "ties"))
    joined = add_pairs([Pairs(agents, left[~met], right[~met], *counts, kind=pairs.kind)])
    facts, notes = _facts_of(agents, about, said)
    source = pairs.source or Source("votes", "")
    source = replace(source, notes=(*source.notes, *notes))
    return replace(joined, balance=pairs.balance, facts={**pairs.facts, **facts}, source=source)


def _facts_of(agents: tuple[str, ...], about: AgentFacts, said: list[str]) -> tuple[Mapping[str, Any], list[str]]:
    """The facts about these agents, and what to say of them."""
    there = set(agents)
    facts = {name: given for name, given in about.facts.items() if name in there}
    unknown = [name for name in about.facts if name not in there]
    without = [name for name in agents if name not in facts]
    notes = [f"{about.name}: {plural(len(facts), 'agent')} of {len(there):,} described", *said]
    if unknown:
        notes.append(f"{about.name}: {plural(len(unknown), 'name')} that no vote has: {some(unknown)}")
    if without:
        notes.append(f"{about.name}: nothing about {plural(len(without), 'agent')}: {some(without)}")
    return facts, notes


def _said_joined(about: AgentFacts, others: list[str]) -> str:
    return f"{about.name}: {plural(len(others), 'alias', 'aliases')} joined: {some(others)}"


def _renamed(agents: tuple[str, ...], about: AgentFacts) -> tuple[Ints, tuple[str, ...]]:
    """The number of each agent by its own name, and these names."""
    code: dict[str, int] = {}
    place = np.array([code.setdefault(about.aliases.get(name, name), len(code)) for name in agents], dtype=np.int32)
    return place, tuple(code)


def _joined(profile: Profile, about: AgentFacts) -> tuple[Profile, list[str]]:
    """The votes with one agent for all its names, and what to say of it."""
    others = [name for name in profile.agents if name in about.aliases]
    if not others:
        return profile, []
    said = [_said_joined(about, others)]
    place, agents = _renamed(profile.agents, about)
    vote = np.repeat(np.arange(profile.n_votes), profile.length)
    key = vote * len(agents) + place[profile.agent]
    order = np.argsort(key, kind="stable")
    twice = np.unique(vote[order[1:][key[order][1:] == key[order][:-1]]])
    longer = twice[profile.length[twice] > 2]
    if len(longer):
        inside = profile.agent[vote == longer[0]]
        same = [repr(profile.agents[k]) for k in inside if (place[inside] == place[k]).sum() > 1]
        raise DataError(
            f"{about.name}: {some(same)} are one agent, but stand in one vote, vote {longer[0] + 1} of "
            f"{profile.source.name if profile.source else 'the votes'}; leave the alias out"
        )
    if len(twice):
        said.append(f"left out: {plural(len(twice), 'vote')} between an agent and its own alias")
        kept = np.ones(profile.n_votes, dtype=bool)
        kept[twice] = False
        profile = profile.take(kept)
        if not profile.n_votes:
            raise DataError(f"{about.name}: all votes are between an agent and its own alias; expected others")
    return replace(profile, agents=agents, agent=place[profile.agent]), said
