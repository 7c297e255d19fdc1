"""Names that may mean the same agent: case, spaces, punctuation, letters that look alike, one letter amiss.

Two agents that stand in one vote are two agents, whatever they are called; everything else is a doubt worth a look,
because a split agent has two ratings, each from a part of its votes. Cost: one dictionary look-up per letter.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from unicodedata import category, normalize

import numpy as np

from softcondorcet.doctor.comparisons import Case
from softcondorcet.doctor.finding import Finding, Severity
from softcondorcet.formatting import some

# Cyrillic and Greek letters that most typefaces draw like Latin ones.
_LOOKS = str.maketrans("авеікмнорстухѕјһԛԝԁɡαβεζηικμνορτυχ", "abeikmhopctyxsjhqwdgabezhikmnoptyx")
_SEPARATOR = re.compile(r"[^\w+#*%&@$€^=<>|~]+|_+")
_WORD = re.compile(r"[^\W\d_]+|\d+|[^\w\s]")
# A shorter word is as likely another word: "large" and "small" are not one letter apart, "base" and "case" are.
_WORD_LENGTH = 5
# If more names than this share are one letter from another one, names are made that way.
_SYSTEMATIC = 0.1

Couple = tuple[int, int]


def near_duplicates(case: Case) -> Iterator[Finding]:
    """Agents, or judges and tasks, that may be one under two names."""
    agents = case.profile.agents
    alike = list(_never_met(case, same_skeleton(agents)))
    if alike:
        text = f"{len(alike)} pairs of names differ only in case, spaces, punctuation or letters that look alike"
        yield _finding("caution", "near-duplicate-names", agents, alike, text)
    typos = list(_never_met(case, one_letter_apart(agents)))
    if typos and 2 * len(typos) <= _SYSTEMATIC * len(agents) + 2:
        text = f"{len(typos)} pairs of names are one letter apart"
        yield _finding("note", "misspelt-names", agents, typos, text)
    groups = case.profile.groups
    judges = same_skeleton(groups)
    if judges:
        text = f"{len(judges)} pairs of names of judges or tasks differ only in case, spaces or punctuation"
        yield _finding("caution", "near-duplicate-groups", groups, judges, text)


def _finding(severity: Severity, name: str, names: Sequence[str], couples: list[Couple], text: str) -> Finding:
    shown = some([f"{names[a]!r} and {names[b]!r}" for a, b in couples])
    advice = "If they are the same, give them one name before rating; if not, this can be ignored."
    involved = tuple(dict.fromkeys(names[k] for couple in couples for k in couple))
    return Finding(severity, name, len(couples), f"{text}: {shown}", advice, involved)


def skeleton(name: str) -> str:
    """What is left of a name without case, accents, spaces and punctuation, drawn in Latin letters.

    A separator between two digits stays, as a point: "1.11" is not "11.1". So do signs that mean something, such as +.

    >>> skeleton("GPT-4 (Turbo)"), skeleton("gpt4_turbo"), skeleton("v1.1") == skeleton("v11")
    ('gpt4turbo', 'gpt4turbo', False)
    """
    parts = [part for part in _SEPARATOR.split(_folded(name)) if part]
    joined = [
        ("." if before[-1:].isdigit() and part[0].isdigit() else "") + part
        for before, part in zip(["", *parts], parts, strict=False)
    ]
    return "".join(joined)


def _folded(name: str) -> str:
    """In small Latin letters, without accents and characters that do not show."""
    if name.isascii():
        return name.lower()
    plain = "".join(c for c in normalize("NFKD", name) if category(c) not in ("Mn", "Cf"))
    return plain.casefold().translate(_LOOKS)


def same_skeleton(names: Sequence[str]) -> list[Couple]:
    """Names with one skeleton, each with the first of them."""
    first: dict[str, int] = {}
    couples = []
    for k, name in enumerate(names):
        bones = skeleton(name)
        if bones and first.setdefault(bones, k) != k:
            couples.append((first[bones], k))
    return couples


def one_letter_apart(names: Sequence[str]) -> list[Couple]:
    """Names that differ in one word of five letters or more, by one letter: more, less, another, or two swapped.

    Words that are one letter apart become the same when the right letter of each, or of one, is left out.
    """
    shelves: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for k, name in enumerate(names):
        words = _WORD.findall(_folded(name))
        for w, word in enumerate(words):
            if len(word) < _WORD_LENGTH - 1 or not word.isalpha():
                continue
            around = " ".join([*words[:w], "\0", *words[w + 1 :]])
            for shorter in {word, *(word[:c] + word[c + 1 :] for c in range(len(word)))}:
                shelves[around, shorter].setdefault(word, k)
    near: set[Couple] = set()
    for shelf in shelves.values():
        for (x, a), (y, b) in combinations(shelf.items(), 2):
            if max(len(x), len(y)) >= _WORD_LENGTH and _one_apart(x, y):
                near.add((min(a, b), max(a, b)))
        if len(near) > len(names):  # names are made that way, and there is no end to them
            return []
    return sorted(near)


def _one_apart(x: str, y: str) -> bool:
    """Whether one letter added, removed, replaced, or two neighbours swapped make x into y."""
    x, y = sorted((x, y), key=len)
    k = next((k for k, (c, d) in enumerate(zip(x, y, strict=False)) if c != d), len(x))
    if len(x) < len(y):
        return x[k:] == y[k + 1 :]
    return x[k + 1 :] == y[k + 1 :] or (x[k : k + 2] == y[k : k + 2][::-1] and x[k + 2 :] == y[k + 2 :])


def _never_met(case: Case, couples: Iterable[Couple]) -> Iterator[Couple]:
    """Only the couples of names that no vote holds both of."""
    pairs, m = case.pairs, case.profile.n_agents
    met = pairs.left.astype(np.int64) * m + pairs.right
    listed = list(couples)
    key = np.array([min(c) * m + max(c) for c in listed], dtype=np.int64)
    place = np.searchsorted(met, key)
    both = met[np.minimum(place, len(met) - 1)] == key if len(met) else np.zeros(len(key), dtype=bool)
    return (couple for couple, together in zip(listed, both.tolist(), strict=True) if not together)
