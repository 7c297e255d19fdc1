"""All that can be said about votes, computed once: ratings, how sure they are, other methods, what the data supports.

``Analysis`` is the one shape of it. ``analyse`` computes it, the report shows it, a live board stores it with each fit
(``to_dict``) and joins it to its newer ratings for pages and JSON (``of_fit``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain, count
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from softcondorcet import majority
from softcondorcet.arrays import Floats
from softcondorcet.checks import Watch
from softcondorcet.errors import DataError
from softcondorcet.evaluation.budget import budget
from softcondorcet.evaluation.compare import Comparison, as_methods, run, too_slow, usual_methods
from softcondorcet.evaluation.task_scores import task_scores
from softcondorcet.formatting import clipped, confidence, number, some
from softcondorcet.leaderboard import Row, Unplaced, leaderboard
from softcondorcet.methods.placement import main_pairs
from softcondorcet.pairs import Pairs
from softcondorcet.profile import Profile
from softcondorcet.ratings import Ratings
from softcondorcet.reporting.verdict import Verdict, neighbours, title_of

# Loaded by ``analyse``: a server that shows what another process found needs none of it.
if TYPE_CHECKING:
    from softcondorcet.doctor import Inspection
    from softcondorcet.uncertainty.intervals import Uncertainty
from softcondorcet.uncertainty.first_place import LIKELY, first_place, share_in_words
from softcondorcet.uncertainty.sequential_test import sequential_test

# Above this many agents a search for the exact order ends by its time limit, and so differs from run to run.
_EXACT = 1000
# Letters of a name.
_LONGEST = 120
# Why an agent that the last fit does not know has no rank.
_NOT_FITTED = "new since the last fit of all votes: the next one places it, or says what would"
# Agents of which it is said how their rank depends on the method.
_MOVES = 6

Column = Sequence[float | None]


@dataclass(frozen=True)
class Analysis:
    """All that a report or a page shows. Agents are numbers, as in ``ratings``; None is what is not known of an agent.

    ``ratings``, ``pairs`` and ``inspection`` are those at hand; all else is of the fit, which on a live board may be
    older. ``noun`` is what a vote is called. ``sure_word`` is "settled", "likely" or "open", ``sure`` the sentence it
    rests on, ``unsure`` the reason why there are no intervals. ``share`` of the resamples have the ``first`` agent
    first, up to ``share_error``; ``lead`` is the verb of headlines for it. ``methods`` are ranks by method and agent,
    ``findings`` None where nobody has looked for any. ``flip`` says how few votes would change the first place,
    ``cuts`` say what was left out or made smaller because of the size of the votes.
    """

    ratings: Ratings
    pairs: Pairs
    inspection: Inspection | None = None
    n_votes: int = 0
    noun: str = "vote"
    summary: str = ""
    sure_word: str = ""
    sure: str = ""
    unsure: str = ""
    level: float | None = None
    source: str = ""
    rating_low: Column | None = None
    rating_high: Column | None = None
    rank_low: Sequence[int | None] | None = None
    rank_high: Sequence[int | None] | None = None
    tie_groups: Sequence[Sequence[int]] = ()
    first: str = ""
    lead: str = ""
    share: float | None = None
    share_error: float | None = None
    not_told_from: Sequence[int] = ()
    provisional: Sequence[int] = ()
    unplaced: Sequence[str | None] = ()
    methods: Mapping[str, Mapping[str, int]] | None = None
    violations: Sequence[str] = ()
    moves: Sequence[str] = ()
    method_notes: Sequence[str] = ()
    findings: Sequence[Mapping[str, str]] | None = None
    unchecked: Mapping[str, str] | None = None
    warnings: Sequence[str] = ()
    cuts: Sequence[str] = ()
    flip: str = ""
    robust: Mapping[str, Any] | None = None

    def rows(self, more: Mapping[str, Any] | None = None) -> list[Row]:
        """The leaderboard, best first; `more` has further fields by agent."""
        m = len(self.ratings)
        group = {k: place for place, agents in enumerate(self.tie_groups) for k in agents}
        known: dict[str, Sequence[Any]] = {"tie_group": list(map(group.get, range(m)))}
        few = set(self.provisional)
        known["provisional"] = [k in few for k in range(m)]
        return leaderboard(self.ratings, self, more={**known, **(more or {})})

    def headline(self, says: Verdict) -> Verdict:
        """The verdict of the pairs, without more certainty than the resamples give."""
        if not self.sure_word or says.kind != "winner" or says.top != self.first:
            return says
        how = {"settled": "is best", "likely": "leads"}.get(self.sure_word, self.lead or "leads narrowly")
        if self.share is not None and self.share_error is not None:
            sure = f"; first in {share_in_words(self.share, self.share_error)} of resamples"
        else:
            others = [self.ratings.agents[k] for k in self.not_told_from]
            sure = f", but cannot be told from {some(others, 4)}" if others else ""
        return replace(says, answer=f"{says.top} {how}: {says.lead}{sure}.")

    def to_dict(self) -> dict[str, Any]:
        """What a live board stores with a fit: plain data without the agents' names."""
        stored = {f.name: getattr(self, f.name) for f in fields(self)}
        del stored["ratings"], stored["pairs"], stored["inspection"]
        return {"values": self.ratings.values.tolist(), "unit": self.ratings.unit, **stored}

    @classmethod
    def of_fit(cls, stored: Mapping[str, Any], ratings: Ratings, pairs: Pairs) -> Analysis:
        """What was stored with a fit, joined to the ratings of now. Agents that the fit does not know come last."""
        m, known = len(ratings), len(stored.get("values", ()))
        given = {f.name: stored[f.name] for f in fields(cls) if f.name in stored}
        for name in ("rating_low", "rating_high", "rank_low", "rank_high"):
            if given.get(name) is not None:
                given[name] = [*given[name], *[None] * (m - known)]
        if not given.get("unplaced"):
            # Fits of older releases know who is provisional, but not why: agents keep their rank until the next fit.
            return cls(ratings, pairs, **{**given, "provisional": [*given.get("provisional", ()), *range(known, m)]})
        reasons = given.pop("unplaced")
        given["unplaced"] = [*reasons, *[_NOT_FITTED] * (m - known)]
        given["provisional"] = [k for k, why in enumerate(given["unplaced"]) if why]
        apart = {name: Unplaced(why) for name, why in zip(ratings.agents, given["unplaced"], strict=True) if why}
        return cls(replace(ratings, placement=apart), pairs, **given)


def analyse(
    profile: Profile,
    *,
    method: str = "sco",
    options: Mapping[str, Any] | None = None,
    methods: Sequence[str] | None = None,
    resamples: int = 200,
    by: Literal["votes", "groups"] = "votes",
    seed: int = 0,
    time_limit: float | None = None,
    flips: bool = True,
    watch: Watch | None = None,
) -> Analysis:
    """Fit, resample, compare and inspect. Names too long to be shown are cut first: a page repeats them many times."""
    from softcondorcet.doctor import inspect
    from softcondorcet.uncertainty.bootstrap import bootstrap

    profile = with_brief_names(profile)
    uncertainty, unsure = None, ""
    plan = budget(profile, method, options or {}, resamples)
    if plan.resamples:
        try:
            how: dict[str, Any] = {"n": plan.resamples, "level": plan.level, "by": by, "seed": seed, "watch": watch}
            uncertainty = bootstrap(profile, method, **how, **plan.options)
        except DataError as error:
            unsure = f"There are no intervals: {error}."
    ratings = run(profile, method, plan.options, seed) if uncertainty is None else uncertainty.board
    inspection = inspect(profile)
    return Analysis(
        ratings,
        profile.pairs(),
        inspection,
        n_votes=profile.n_votes,
        noun=profile.noun,
        summary=summary(ratings),
        unsure=unsure,
        **({} if uncertainty is None else _sure(uncertainty, profile)),
        # The name of older releases for agents without a rank.
        provisional=[k for k, reason in enumerate(ratings.unplaced) if reason],
        unplaced=ratings.unplaced,
        **_compared(profile, ratings, methods, seed, time_limit),
        findings=[
            {"name": f.name, "severity": f.severity, "text": f.text, "advice": f.advice} for f in inspection.findings
        ],
        unchecked=inspection.unchecked,
        warnings=[*ratings.warnings, *(uncertainty.warnings if uncertainty else ())],
        cuts=plan.cuts,
        flip=fewest(profile, ratings, plan.options, seed) if flips and ratings.places.any() else "",
    )


def fewest(profile: Profile, ratings: Ratings, options: Mapping[str, Any], seed: int) -> str:
    """How few votes would change the first place, in one sentence; nothing where no vote compares two agents."""
    from softcondorcet.evaluation.robustness import robustness

    try:
        found = robustness(profile, ratings.method, options=options, parts=("votes",), seed=seed, board=ratings)
    except DataError:
        return ""
    total = float(profile.weight.sum())
    return "" if found.flip is None else found.flip.headline(total, profile.noun)


def with_brief_names(profile: Profile) -> Profile:
    if all(len(name) <= _LONGEST for name in (*profile.agents, *profile.groups)):
        return profile
    shorter = replace(profile, agents=brief(profile.agents))
    return shorter if profile.group is None else shorter.with_groups(profile.group, brief(profile.groups))


def brief(names: Sequence[str]) -> tuple[str, ...]:
    """The same names, none longer than a line or two, still different from each other."""
    given: dict[str, None] = {}
    for name in names:
        short = name if len(name) <= _LONGEST else clipped(name, _LONGEST)
        candidates = chain([short], (f"{short} ({k})" for k in count(2)))
        given[next(candidate for candidate in candidates if candidate not in given)] = None
    return tuple(given)


def summary(ratings: Ratings) -> str:
    """How good the order is as an order, in one sentence."""
    if not ratings.discrete_loss:
        return "The order contradicts none of the comparisons." if ratings.discrete_loss == 0 else ""
    words = f"The order contradicts {number(ratings.discrete_loss)} of the comparisons"
    if ratings.gap is None or ratings.lower_bound is None:
        return f"{words}."
    if ratings.gap > 0:
        return f"{words}; no order contradicts fewer than {number(ratings.lower_bound)}."
    others = {True: ", and no other as few", False: "; others contradict as few", None: ""}[ratings.only_optimum]
    return f"{words}; no order contradicts fewer{others}."


def _sure(sure: Uncertainty, profile: Profile) -> dict[str, Any]:
    """The fields of an analysis that intervals give. How sure is a first place that no vote compares with another?"""
    number = {name: k for k, name in enumerate(sure.agents)}
    pairs, first = profile.pairs(), sure.first_place
    compared = len(pairs) and len(neighbours(pairs, int(sure.board.listing[0]))[0])
    word, sentence = sureness(sure, profile) if compared else ("", "")
    return {
        "sure_word": word,
        "sure": sentence,
        "first": "" if first is None else first.agent,
        "lead": "" if first is None else first.lead,
        "share": None if first is None else first.share,
        "share_error": None if first is None else first.error,
        "not_told_from": [] if first is None else [number[name] for name in (*first.shares_with, *first.not_told_from)],
        "level": sure.level,
        "source": sure.source,
        "rating_low": _known(sure.rating_low),
        "rating_high": _known(sure.rating_high),
        "rank_low": sure.rank_low.tolist(),
        "rank_high": sure.rank_high.tolist(),
        "tie_groups": [[number[name] for name in group] for group in sure.tie_groups if len(group) > 1],
    }


def _known(values: Floats) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]


def sureness(sure: Uncertainty, profile: Profile) -> tuple[str, str]:
    """How sure the first place is, as a word ("settled", "likely" or "open"), and what the word rests on."""
    first = first_place(sure)
    if first is None:
        return "open", f"The {profile.noun}s give no agent a rank."
    if first.share is None:
        return "open", f"No resample of the {profile.noun}s holds {first.agent}: they cannot say how sure its place is."
    k, others = sure.board.agents.index(first.agent), [*first.shares_with, *first.not_told_from]
    word = "open" if others or first.share < LIKELY else "settled" if _is_settled(sure, profile) else "likely"
    low, high = int(sure.rank_low[k]), int(sure.rank_high[k])
    place = f"its rank is {low:,}" if low == high else f"its rank is {low:,} to {high:,}"
    shared = " or shares first place" if first.shares_with else ""
    sentence = f"{first.agent} is first{shared} in {first.share_in_words()} of {len(sure):,} resamples of the "
    sentence += f"{profile.noun}s; {place} at {confidence(sure.level)}."
    if word == "settled":
        sentence += f" It beats every other agent head to head, at {confidence(sure.level)} however often one looks."
    return word, sentence + (f" It cannot be told apart from {some(others, 4)}." if others else "")


def _is_settled(sure: Uncertainty, profile: Profile) -> bool:
    """By a rule that may be asked after every vote, as a live board and its readers do; it knows no balanced votes."""
    if profile.balance is not None:
        return False
    return sequential_test(profile, level=sure.level, order=sure.board.order).settled


def _compared(
    profile: Profile, ratings: Ratings, methods: Sequence[str] | None, seed: int, time_limit: float | None
) -> dict[str, Any]:
    """The fields of an analysis that other methods give: those that readers use where none are named.

    They are compared on the largest linked group of agents: ranks across groups mean nothing.
    """
    chosen = as_methods(usual_methods(profile) if methods is None else methods)
    others = [method for _, (method, _) in chosen.items() if method != ratings.method and profile.n_agents]
    table = task_scores(profile) if methods is None else None
    means = None if table is None else table.mean_order
    skipped = {}
    if profile.n_agents > _EXACT and "kemeny" in others:
        others.remove("kemeny")
        skipped["kemeny"] = f"the exact order of more than {_EXACT:,} agents takes too long"
    skipped |= too_slow(profile, others)
    others = [name for name in others if name not in skipped]
    by_method = {ratings.method: ratings}
    if means is not None:
        # What readers of score tables use in place of the win rate.
        others = [name for name in others if name != "win_rate"]
        by_method["mean_score"] = Ratings(profile.agents, means, "mean_score", placement=ratings.placement)
    for name in others:
        try:
            by_method[name] = replace(run(profile, name, {}, seed, time_limit), placement=ratings.placement)
        except DataError as error:
            skipped[name] = str(error)
    core = main_pairs(profile.pairs())
    race = Comparison(
        {name: _among(given, core) for name, given in by_method.items()},
        majority.condorcet_winner(core),
        majority.condorcet_loser(core),
        majority.smith_set(core),
        skipped,
        {name: title_of(name) for name in (*by_method, *skipped)},
    )
    number, several = {name: k for k, name in enumerate(profile.agents)}, len(by_method) > 1 < len(core.agents)
    return {
        "methods": {
            name: {str(number[agent]): rank for agent in given.agents if (rank := given.place_of(agent)) is not None}
            for name, given in race.boards.items()
        },
        "violations": race.violations() if several else [],
        "moves": race.moves(_MOVES) if several else [],
        "method_notes": method_notes(profile, race),
    }


def _among(ratings: Ratings, core: Pairs) -> Ratings:
    """The ratings of the agents of `core` alone."""
    if len(core.agents) == len(ratings):
        return ratings
    values = np.array([ratings[name] for name in core.agents])
    return Ratings(core.agents, values, ratings.method, placement=ratings.placement)


def method_notes(profile: Profile, race: Comparison) -> list[str]:
    """What to know before comparing methods."""
    notes = [f"{race.title(name)} is left out: {why}." for name, why in race.skipped.items()]
    if "elo" in race.boards and bool((profile.weight != 1).any()):
        notes.insert(
            0, "Elo depends on the order of votes, which counted votes do not have: its ranks are one draw of many."
        )
    return notes
