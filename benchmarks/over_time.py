"""Ratings that know time or circumstances against those that do not, and against peers, on held-out votes.

    python benchmarks/over_time.py DATA --csv benchmarks/results/over_time.csv

DATA is a folder with football_intl/football_intl_battles.csv.gz, ti4/ti4_rankings.csv.gz, f1/f1_rankings.csv.gz and
codeforces/codeforces_groups7.csv.gz; files that are not there are left out. Three tasks:

- online: one pass over all votes, predict then update; the later half is scored.
- time: the last tenth of the votes is predicted from all before.
- random: a random tenth is predicted from all other votes, before and after.

Each row has the share of discordant comparisons (ties in a vote and equal ratings as half) and the log-loss, with the
difference to the best of its task and half of its 95 % interval, paired by vote. Options that are "tuned" were chosen
on votes that are not scored: of ours and of the peers alike, by log-loss. Peers that are installed take part:
openskill, trueskill, glicko2 and whole-history-rating, whose w2 (how far ratings move in a day) is chosen by predicting
the last tenth of the training votes.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rows import arguments, show

import softcondorcet as sc
from softcondorcet.evaluation.holdout import known_agents, split_at_random, split_by_time
from softcondorcet.evaluation.replay import tune_online, watch

FILES = {
    "football": "football_intl/football_intl_battles.csv.gz",
    "ti4": "ti4/ti4_rankings.csv.gz",
    "f1": "f1/f1_rankings.csv.gz",
    "codeforces groups": "codeforces/codeforces_groups7.csv.gz",
}
DAY, PI2 = 86400.0, math.pi**2
# Of whole-history-rating: Elo points squared that ratings move in a day, and its rounds while they are chosen.
_W2, _TUNING = (0.3, 1.0, 3.0, 10.0, 30.0), 8
# Votes above which peers that take milliseconds for each are left out.
SLOW = 50_000
Row = dict[str, Any]


class Comparisons(NamedTuple):
    """Each pair of each vote: the vote, the agent above and the one below, and whether they tie."""

    vote: Any
    upper: Any
    lower: Any
    tied: Any

    @classmethod
    def of(cls, votes: sc.Profile) -> Comparisons:
        parts = []
        for k in np.unique(votes.length):
            chosen = np.flatnonzero(votes.length == k)
            one, other = np.triu_indices(k, 1)
            entries = votes.start[:-1][chosen][:, None]
            agent, tier = votes.agent[entries + np.arange(k)], votes.tier[entries + np.arange(k)]
            parts.append((np.repeat(chosen, len(one)), agent[:, one].ravel(), agent[:, other].ravel(),
                          (tier[:, one] == tier[:, other]).ravel()))  # fmt: skip
        return cls(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def judge(self, odds: Any, n_votes: int) -> tuple[Any, Any]:
        """By vote: comparisons the wrong way round, and minus their log-likelihood."""
        wrong = np.where(self.tied | (np.abs(odds) < 1e-12), 0.5, odds < 0)
        surprise = np.logaddexp(0, -odds) + np.where(self.tied, odds / 2, 0.0)
        return tuple(np.bincount(self.vote, values, n_votes) for values in (wrong, surprise))  # type: ignore[return-value]


def rows_of(task: str, name: str, votes: sc.Profile, judged: dict[str, tuple[Any, Any, float]]) -> list[Row]:
    """Rows of all methods, the best by log-loss first, with paired differences to the best in each measure."""
    pairs = votes.length * (votes.length - 1) / 2
    mean = {method: [float(v.sum() / pairs.sum()) for v in found[:2]] for method, found in judged.items()}
    best = [min(mean.items(), key=lambda item, k=k: item[1][k])[0] for k in (0, 1)]  # type: ignore[misc]
    rows = []
    for method, found in sorted(judged.items(), key=lambda item: mean[item[0]][1]):
        row: Row = {"set": name, "task": task, "votes": votes.n_votes, "method": method}
        for k, what in enumerate(("discordant", "log_loss")):
            apart = np.asarray(found[k]) - np.asarray(judged[best[k]][k])
            behind = float(apart.sum() / pairs.sum())
            half = 1.96 * math.sqrt(float(((apart - behind * pairs) ** 2).sum())) / float(pairs.sum())
            row |= {what: round(mean[method][k], 4), f"{what}_behind": round(behind, 4),
                    f"{what}_half": round(half, 4)}  # fmt: skip
        rows.append({**row, "cpu_s": round(found[2], 2)})
    return rows


def timed(run: Callable[[], Any]) -> tuple[Any, float]:
    began = time.process_time()
    return run(), time.process_time() - began


# Online.


def online(name: str, profile: sc.Profile) -> list[Row]:
    first = profile.n_votes // 2
    late = np.arange(profile.n_votes) >= first
    judged: dict[str, tuple[Any, Any, float]] = {}
    for model in ("sco", "elo", "weng_lin", "kalman"):
        for tuned in (False, True):
            if tuned and model in ("elo", "weng_lin") and profile.n_votes > 20_000:
                continue  # vote by vote in Python, dozens of times

            def run(model: str = model, tuned: bool = tuned) -> Any:
                options = tune_online(profile, model, {}, first) if tuned else {}
                return watch(profile, model, options)

            (wrong, surprise), seconds = timed(run)
            judged[f"ours: {model}{', tuned' * tuned}"] = wrong[late], surprise[late], seconds
    for peer, (make, grid) in PEERS.items():
        if profile.n_votes > SLOW // 2 and peer == "trueskill":
            continue
        if (peer == "glicko2" and profile.length.max() > 2) or not find_spec(peer.split(" ")[0]):
            continue
        (wrong, surprise), seconds = timed(partial(one_pass, profile, *make()))
        judged[peer] = wrong[late], surprise[late], seconds
        if len(profile.agent) <= 2 * SLOW:
            (wrong, surprise), seconds = timed(partial(tuned_pass, profile, make, grid, first))
            judged[f"{peer}, tuned"] = wrong[late], surprise[late], seconds
    return rows_of("online", name, profile.take(late), judged)


def one_pass(profile: sc.Profile, new: Any, chance: Any, update: Any) -> tuple[Any, Any]:
    """Predict then update by a peer: `chance` gives log-odds of two skills, `update` new skills from places."""
    skill = [new() for _ in range(profile.n_agents)]
    wrong, surprise = np.zeros((2, profile.n_votes))
    for v in range(profile.n_votes):
        who = profile.agent[profile.start[v] : profile.start[v + 1]].tolist()
        place = profile.tier[profile.start[v] : profile.start[v + 1]].tolist()
        for i in range(len(who)):
            for j in range(i + 1, len(who)):
                odds, tied = chance(skill[who[i]], skill[who[j]]), place[i] == place[j]
                wrong[v] += 0.5 if tied or odds == 0 else odds < 0
                surprise[v] += max(-odds, 0) + math.log1p(math.exp(-abs(odds))) + (odds / 2 if tied else 0)
        if len(who) > 1:
            for a, after in zip(who, update([skill[a] for a in who], place), strict=True):
                skill[a] = after
    return wrong, surprise


def tuned_pass(profile: sc.Profile, make: Any, grid: list[Row], first: int) -> tuple[Any, Any]:
    """The same with the options that best predict the votes that are not scored."""
    early = profile.take(np.arange(profile.n_votes) < first)
    losses = [float(one_pass(early, *make(**options))[1].sum()) for options in grid]
    return one_pass(profile, *make(**grid[int(np.argmin(losses))]))


def normal_odds(mu: float, spread: float) -> float:
    """Log-odds of a normal chance."""
    p = min(max(0.5 * math.erfc(-mu / spread / math.sqrt(2)), 1e-9), 1 - 1e-9)
    return math.log(p / (1 - p))


def openskill(name: str, **options: float) -> tuple[Any, Any, Any]:
    from openskill import models

    model = getattr(models, name)(**options)

    def chance(a: Any, b: Any) -> float:
        return normal_odds(a.mu - b.mu, math.sqrt(2 * model.beta**2 + a.sigma**2 + b.sigma**2))

    def update(skills: Any, place: Any) -> Any:
        return [team[0] for team in model.rate([[skill] for skill in skills], ranks=place)]

    return model.rating, chance, update


def trueskill(**options: float) -> tuple[Any, Any, Any]:
    import trueskill as peer

    env = peer.TrueSkill(**options)

    def chance(a: Any, b: Any) -> float:
        return normal_odds(a.mu - b.mu, math.sqrt(2 * env.beta**2 + a.sigma**2 + b.sigma**2))

    def update(skills: Any, place: Any) -> Any:
        return [team[0] for team in env.rate([(skill,) for skill in skills], ranks=place)]

    return env.create_rating, chance, update


def glicko2(**options: float) -> tuple[Any, Any, Any]:
    import glicko2 as peer

    unit = 400 / math.log(10)

    def chance(a: Any, b: Any) -> float:
        rd = math.hypot(a.rd, b.rd) / unit
        return float((a.rating - b.rating) / unit / math.sqrt(1 + 3 * rd**2 / PI2))

    def update(skills: Any, place: Any) -> Any:
        a, b = skills
        won = 0.5 if place[0] == place[1] else 1.0
        before = a.rating, a.rd, b.rating, b.rd
        a.update_player([before[2]], [before[3]], [won])
        b.update_player([before[0]], [before[1]], [1 - won])
        return a, b

    return partial(peer.Player, **options), chance, update


# The spread of new agents and how far they move, around the defaults: 25 / 3 and 25 / 300.
_MOVES = [{"sigma": sigma, "tau": tau} for sigma in (1.5, 3.0, 25 / 3) for tau in (0.02, 25 / 300, 0.25)]
PEERS: dict[str, tuple[Callable[..., tuple[Any, Any, Any]], list[Row]]] = {
    "openskill PL": (partial(openskill, "PlackettLuce"), _MOVES),
    "openskill BT": (partial(openskill, "BradleyTerryFull"), _MOVES),
    "trueskill": (trueskill, _MOVES),
    "glicko2": (glicko2, [{"rd": rd, "vol": vol} for rd in (120, 200, 350) for vol in (0.01, 0.03, 0.06, 0.12)]),
}


# Held-out votes.

Leads = Callable[[sc.Profile, sc.Profile, Comparisons], Any]


def static(method: str, **options: Any) -> Leads:
    """Ratings that know no time."""

    def leads(train: sc.Profile, test: sc.Profile, each: Comparisons) -> Any:
        board = sc.rank(train, method, **options)
        values = board.values_of(train.agents)
        return (values[each.upper] - values[each.lower]) / (board.unit or 1.0)

    return leads


def decayed(train: sc.Profile, test: sc.Profile, each: Comparisons) -> Any:
    return static("bradley_terry", prior=0.5)(sc.decay(train, "auto"), test, each)


def history(train: sc.Profile, test: sc.Profile, each: Comparisons) -> Any:
    """Ratings at the date of each vote, and how sure they are."""
    found, odds = sc.history(train), np.zeros(len(each.vote))
    assert test.when is not None
    number = {name: k for k, name in enumerate(train.agents)}
    slots = np.clip(np.searchsorted(found.starts, test.when, side="right") - 1, 0, None)
    for slot in np.unique(slots):
        values, variance = np.zeros(train.n_agents), np.full(train.n_agents, found.deviation**2)
        late = slot == len(found.starts) - 1
        when = float(test.when[slots == slot].max()) if late else float(found.starts[slot])
        for row in found.board(when):
            values[number[row["agent"]]] = row["rating"]
            variance[number[row["agent"]]] = ((row["rating_high"] - row["rating"]) / 1.959964) ** 2
        here = slots[each.vote] == slot
        a, b = each.upper[here], each.lower[here]
        odds[here] = (values[a] - values[b]) / np.sqrt(1 + 3 * (variance[a] + variance[b]) / PI2)
    return odds


def at_home(fit: str) -> Leads:
    """Bradley-Terry with the home side, of all votes or of votes weighted by age."""

    def leads(train: sc.Profile, test: sc.Profile, each: Comparisons) -> Any:
        votes = sc.decay(train, "auto") if fit == "half-life" else train
        found = sc.controlled(votes, "home", "bradley_terry", prior=0.5 if fit == "half-life" else 0.01)
        known = dict(zip(found.ratings.agents, found.ratings.values.tolist(), strict=True))
        values = np.array([known.get(name, 0.0) for name in train.agents])
        assert test.turned is not None
        first = np.where(test.turned, -1.0, 1.0)
        neutral = np.array([str(cell).lower() == "true" for cell in test.columns["neutral"].cells()])
        return values[each.upper] - values[each.lower] + found["home"].effect * np.where(neutral, 0, first)[each.vote]

    return leads


def kalman(train: sc.Profile, test: sc.Profile, each: Comparisons) -> Any:
    """The online filter, frozen, read at the dates of the test."""
    best = tune_online(train, "kalman", {}, train.n_votes)
    made = sc.Online("kalman", train.agents, **best)
    made.update_many(train)
    assert test.when is not None
    values, odds = made.ratings().values_of(train.agents), np.zeros(len(each.vote))
    for when in np.unique(test.when):
        deviation, here = made.deviations(when=float(when)), test.when[each.vote] == when
        assert deviation is not None
        a, b = each.upper[here], each.lower[here]
        odds[here] = (values[a] - values[b]) / np.sqrt(1 + 3 * (deviation[a] ** 2 + deviation[b] ** 2) / PI2)
    return odds


def whole_history_rating(train: sc.Profile, test: sc.Profile, each: Comparisons) -> Any:
    """The peer of that name, with the w2 that best predicts the last tenth of the training votes."""
    before, late = split_by_time(train, train.n_votes // 10)
    late = known_agents(before, late)
    held = Comparisons.of(late)
    losses = [
        float(held.judge(whole_history_with(w2, before, late, held, _TUNING), late.n_votes)[1].sum()) for w2 in _W2
    ]
    return whole_history_with(_W2[int(np.argmin(losses))], train, test, each, 30)


def whole_history_with(w2: float, train: sc.Profile, test: sc.Profile, each: Comparisons, rounds: int) -> Any:
    """The peer on days; read on the line between its days."""
    from whr.whole_history_rating import WHR

    peer = WHR({"w2": w2})
    assert train.when is not None and test.when is not None
    for v, (a, b) in enumerate(train.agent.reshape(-1, 2).tolist()):
        tied = train.tier[2 * v + 1] == 0
        peer.create_game(f"a{a}", f"a{b}", "D" if tied else "B", int(train.when[v] // DAY), 0)
    peer.iterate(rounds)
    found: dict[int, Any] = {}
    for agent in np.unique([*each.upper, *each.lower]).tolist():
        found[agent] = np.array(peer.ratings_for_player(f"a{agent}"), dtype=float)
    day = test.when[each.vote] // DAY

    def rating(agent: int, on: float) -> float:
        curve = found[agent]
        return float(np.interp(on, curve[:, 0], curve[:, 1]))

    lead = [rating(a, d) - rating(b, d) for a, b, d in zip(each.upper, each.lower, day, strict=True)]
    return np.array(lead) / (400 / math.log(10))


def contestants(name: str, profile: sc.Profile, task: str) -> Iterator[tuple[str, Leads]]:
    yield "ours: bradley_terry", static("bradley_terry")
    yield "ours: sco", static("sco", shrink=True)
    yield "ours: half-life, bradley_terry", decayed
    yield "ours: history", history
    if task == "time":
        yield "ours: kalman, frozen", kalman
    if name == "football":
        yield "ours: bradley_terry, home", at_home("plain")
        yield "ours: half-life, home", at_home("half-life")
    if profile.length.max() == 2 and find_spec("whr"):
        yield "whole-history-rating, tuned", whole_history_rating


def held_out(name: str, profile: sc.Profile, task: str) -> list[Row]:
    test = profile.n_votes // 10
    train, late = split_by_time(profile, test) if task == "time" else split_at_random(profile, test, seed=0)
    late = known_agents(train, late)
    each = Comparisons.of(late)
    judged = {}
    for method, leads in contestants(name, profile, task):
        odds, seconds = timed(partial(leads, train, late, each))
        judged[method] = *each.judge(odds, late.n_votes), seconds
        print(name, task, method, round(seconds, 1), file=sys.stderr)
    return rows_of(task, name, late, judged)


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", default=",".join(FILES))
    given = parser.parse_args()
    rows: list[Row] = []
    for name in given.sets.split(","):
        path = given.data / FILES[name]
        if not path.exists():
            print(f"{path} is not there", file=sys.stderr)
            continue
        profile = sc.read(path)
        assert profile.when is not None
        profile = profile.take(np.argsort(profile.when, kind="stable"))
        profile = profile.take(profile.length > 1)
        rows += online(name, profile)
        for task in ("time", "random"):
            rows += held_out(name, profile, task)
        show(rows, given.csv)


if __name__ == "__main__":
    main()
