"""A crowd of honest voters as unlike each other as real ones, and several ways to rig their board."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from softcondorcet import Profile
from softcondorcet.arrays import Flags, Floats, Ints

AGENTS = 30
NAMES = tuple(f"agent-{k:02}" for k in range(1, AGENTS + 1))


@dataclass(frozen=True)
class Battles:
    """One row per vote: the voter's name, who was put first, who second, and whether it was a tie."""

    voter: list[str]
    first: Ints
    second: Ints
    tied: Flags

    def __add__(self, other: Battles) -> Battles:
        columns = ((getattr(self, c), getattr(other, c)) for c in ("first", "second", "tied"))
        return Battles(self.voter + other.voter, *(np.concatenate(both) for both in columns))

    def shuffled(self, rng: np.random.Generator) -> Battles:
        turn = rng.permutation(len(self.voter))
        return Battles([self.voter[k] for k in turn], self.first[turn], self.second[turn], self.tied[turn])

    def profile(self) -> Profile:
        """The same as a profile with voters."""
        names = list(dict.fromkeys(self.voter))
        code = {name: k for k, name in enumerate(names)}
        n = len(self.voter)
        agent = np.stack([self.first, self.second], axis=1).ravel()
        tier = np.stack([np.zeros(n, int), (~self.tied).astype(int)], axis=1).ravel()
        voter = [code[name] for name in self.voter]
        return Profile(NAMES, np.arange(n + 1) * 2, agent, tier, np.ones(n), voter=voter, voters=names)

    def bodies(self) -> list[dict[str, str]]:
        """What ``POST /votes`` takes."""
        rows = zip(self.voter, self.first.tolist(), self.second.tolist(), self.tied.tolist(), strict=True)
        return [
            {"a": NAMES[a], "b": NAMES[b], "winner": "tie" if tie else "a", "voter": voter} for voter, a, b, tie in rows
        ]


def skills(seed: int) -> Floats:
    return np.sort(np.random.default_rng([seed, 1]).normal(0, 0.6, AGENTS))[::-1]


def crowd(seed: int, votes: int = 100_000) -> Battles:
    """Honest votes, of which most voters cast a few and a few voters hundreds.

    Every voter has tastes: a shift of log-odds for each agent. Of all voters, 4 % are fans, who prefer one agent by
    2 in log-odds (0.88 to 0.12 where others are even); 5 % only ever compare three agents; 1 % are devoted: fans who
    only vote on their favourite; 5 % click almost at random; 2 % never tie. Others call one vote in ten a tie.
    """
    rng, skill = np.random.default_rng([seed, 2]), skills(seed)
    size = 1 + rng.lognormal(1.0, 1.5, votes).astype(int)
    size = size[: int(np.searchsorted(np.cumsum(size), votes)) + 1]
    count = len(size)
    taste = rng.normal(0, 0.5, (count, AGENTS))
    kind = rng.random(count)
    favourite = rng.choice(AGENTS, count, p=np.exp(skill) / np.exp(skill).sum())
    fan, few, random, never = kind < 0.05, (kind > 0.05) & (kind < 0.1), (kind > 0.1) & (kind < 0.15), kind > 0.98
    devoted = kind < 0.01
    taste[fan, favourite[fan]] += 2.0
    voter = np.repeat(np.arange(count), size)[:votes]
    a, b = _two(rng, len(voter), AGENTS)
    chosen = rng.permuted(np.tile(np.arange(AGENTS), (count, 1)), axis=1)[:, :3]
    i, j = _two(rng, len(voter), 3)
    a, b = np.where(few[voter], chosen[voter, i], a), np.where(few[voter], chosen[voter, j], b)
    swap = devoted[voter] & (b != favourite[voter])
    a = np.where(swap, favourite[voter], a)
    b = np.where(b == a, (a + 1) % AGENTS, b)
    lead = skill[a] + taste[voter, a] - skill[b] - taste[voter, b]
    lead = np.where(random[voter], 0.2 * lead, lead)
    won = rng.random(len(voter)) < 1 / (1 + np.exp(-lead))
    tied = (rng.random(len(voter)) < 0.1) & ~never[voter]
    votes_made = Battles([f"voter-{k}" for k in voter.tolist()], np.where(won, a, b), np.where(won, b, a), tied)
    return votes_made.shuffled(rng)


def _two(rng: np.random.Generator, n: int, m: int) -> tuple[Ints, Ints]:
    a = rng.integers(m, size=n)
    return a, (a + 1 + rng.integers(m - 1, size=n)) % m


@dataclass(frozen=True)
class Style:
    """How 500 votes are rigged: by how many voters, and how many votes that look honest go with each rigged one.

    `against`: the agents that the target is put above; the strongest, or any. `down`: the target is put below instead.
    `blind`: voters do not choose who meets, so they cast as many honest votes as it takes to be dealt the target.
    """

    voters: int
    camouflage: float = 0.0
    top: int = AGENTS
    down: bool = False
    blind: bool = False


STYLES = {
    "1 x 500": Style(1),
    "5 x 100": Style(5),
    "25 x 20": Style(25),
    "100 x 5": Style(100),
    "5 x 100, against the top 3": Style(5, top=3),
    "100 x 5, against the top 3": Style(100, top=3),
    "25 x 20, target pushed down": Style(25, down=True),
    "5 x 100, 50 % camouflage": Style(5, camouflage=0.5),
    "25 x 20, 30 % camouflage": Style(25, camouflage=0.3),
    "25 x 20, 50 % camouflage": Style(25, camouflage=0.5),
    "100 x 5, 30 % camouflage": Style(100, camouflage=0.3),
    "100 x 5, 50 % camouflage": Style(100, camouflage=0.5),
    "5 x 100, blind": Style(5, blind=True),
}


def rigged(seed: int, style: Style, target: int, votes: int = 500) -> Battles:
    """`votes` that put the target first (or last), and the camouflage around them; voters are called rigger-N.

    With camouflage of 0.3, three votes in ten of the 500 are honest-looking; blind voters cast 14 more for each.
    """
    rng, skill = np.random.default_rng([seed, 3, style.voters]), skills(seed)
    who = np.arange(votes) % style.voters
    other = np.setdiff1d(np.arange(AGENTS), [target])[: style.top]
    rivals = rng.choice(other, votes)
    first, second = np.full(votes, target), rivals
    if style.down:
        first, second = second, first
    tied = np.zeros(votes, bool)
    hidden = rng.random(votes) < style.camouflage
    extra = 14 * votes if style.blind else 0
    a, b = _two(rng, votes + extra, AGENTS)
    won = rng.random(votes + extra) < 1 / (1 + np.exp(skill[b] - skill[a]))
    a, b = np.where(won, a, b), np.where(won, b, a)
    first, second = np.where(hidden, a[:votes], first), np.where(hidden, b[:votes], second)
    own = Battles([f"rigger-{k}" for k in who], first, second, tied)
    keep = (a[votes:] != target) & (b[votes:] != target)
    more = Battles(
        [f"rigger-{k % style.voters}" for k in range(int(keep.sum()))],
        a[votes:][keep], b[votes:][keep], np.zeros(int(keep.sum()), bool),
    )  # fmt: skip
    return own + more


def scores(flagged: Sequence[str], votes: Battles) -> dict[str, float]:
    """How many riggers were found, and how many honest voters accused."""
    voters, accused = set(votes.voter), set(flagged)
    riggers = {voter for voter in voters if voter.startswith("rigger-")}
    honest = voters - riggers
    return {
        "found": len(riggers & accused) / max(len(riggers), 1),
        "false": len(honest & accused) / len(honest),
        "n_false": len(honest & accused),
        "n_honest": len(honest),
    }
