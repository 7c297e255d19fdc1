"""Every method by name: the same word is the function, the word on the command line and the anchor in the docs.

Listing methods imports none of them; ``METHODS[name].function`` does, when it is first asked for.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

from softcondorcet.checks import near, one_of
from softcondorcet.errors import OptionError
from softcondorcet.ratings import Ratings


@dataclass(frozen=True)
class Method:
    """A method: where it lives, what it is called, where it comes from, and which properties it has.

    The properties are those of the property tests: "condorcet" (a Condorcet winner is first), "unanimity" (an agent
    above another in all votes is rated higher), "weights" (weight 2 equals the vote twice), "order" (the order of votes
    does not matter), "names" (the names do not matter), "reversal" (reversed votes reverse the order),
    "cancellation" (a vote and its reverse change no rank), "smith" (all that are first are in the Smith set).

    `link` is "logistic" where ratings are log-odds, so that ``Ratings.probability`` predicts who comes out above.
    `whole_votes` is True for a method that needs whole votes, not only counts of pairs; or the options, each with the
    value with which it needs them.
    """

    name: str
    title: str
    module: str
    citation: str
    properties: frozenset[str]
    link: str | None = None
    whole_votes: bool | tuple[tuple[str, Any], ...] = False

    def takes_pairs(self, options: Mapping[str, Any]) -> bool:
        """Whether counts of pairs are all that the method needs with these options."""
        if isinstance(self.whole_votes, tuple):
            return all(options.get(option) != value for option, value in self.whole_votes)
        return not self.whole_votes

    @cached_property
    def function(self) -> Callable[..., Ratings]:
        found: Callable[..., Ratings] = getattr(import_module(self.module), self.name)
        return found

    @cached_property
    def starts_from_ratings(self) -> bool:
        """Whether its option `start` takes the ratings of an earlier fit; that of ``elo`` is a number."""
        start = inspect.signature(self.function).parameters.get("start")
        return start is not None and "Ratings" in str(start.annotation)

    @cached_property
    def options(self) -> tuple[str, ...]:
        """Names of the keyword options."""
        return tuple(inspect.signature(self.function).parameters)[1:]


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            "sco",
            "Soft Condorcet Optimization, sigmoid loss",
            "softcondorcet.methods.sco",
            "Lanctot et al., Soft Condorcet Optimization for Ranking of General Agents, AAMAS 2025",
            frozenset({"condorcet", "smith", "unanimity", "weights", "order", "names", "reversal", "cancellation"}),
            "logistic",
            whole_votes=(("solver", "sgd"), ("over", "votes")),
        ),
        Method(
            "sigmoidal_program",
            "the sigmoid loss, minimised globally",
            "softcondorcet.methods.sigmoidal_program",
            "Lanctot et al., AAMAS 2025, section 3; Udell and Boyd, Maximizing a Sum of Sigmoids, 2013",
            frozenset({"condorcet", "unanimity", "weights", "order", "names", "reversal", "cancellation"}),
        ),
        Method(
            "kemeny",
            "Kemeny-Young, exact",
            "softcondorcet.methods.kemeny",
            "Kemeny, Mathematics without Numbers, 1959; Young and Levenglick, A Consistent Extension of Condorcet's "
            "Election Principle, 1978",
            frozenset({"condorcet", "smith", "unanimity", "weights", "order", "names", "reversal", "cancellation"}),
        ),
        Method(
            "kwiksort",
            "KwikSort, quicksort by the majority",
            "softcondorcet.methods.kwiksort",
            "Ailon, Charikar and Newman, Aggregating Inconsistent Information: Ranking and Clustering, 2008",
            frozenset({"condorcet", "smith", "unanimity", "weights", "order"}),
        ),
        Method(
            "insertion_search",
            "Borda's order improved by best insertion",
            "softcondorcet.methods.local_search",
            "Schiavinotto and Stuetzle, The Linear Ordering Problem: Instances, Search Space Analysis and Algorithms, "
            "2004",
            frozenset({"condorcet", "smith", "unanimity", "weights", "order", "cancellation"}),
        ),
        Method(
            "iterated_search",
            "rounds of annealing and best insertion",
            "softcondorcet.methods.local_search",
            "Schiavinotto and Stuetzle, 2004; Kirkpatrick, Gelatt and Vecchi, Optimization by Simulated "
            "Annealing, 1983",
            frozenset({"condorcet", "smith", "unanimity", "weights", "order"}),
        ),
        Method(
            "fenchel_young",
            "Soft Condorcet Optimization, Fenchel-Young loss",
            "softcondorcet.methods.fenchel_young",
            "Lanctot et al., AAMAS 2025, after Berthet et al., Learning with Differentiable Perturbed Optimizers, 2020",
            frozenset({"unanimity"}),
            whole_votes=True,
        ),
        Method(
            "bradley_terry",
            "Bradley-Terry, what Elo fits",
            "softcondorcet.methods.bradley_terry",
            "Bradley and Terry, Rank Analysis of Incomplete Block Designs, 1952; Hunter, MM Algorithms for Generalized "
            "Bradley-Terry Models, 2004",
            frozenset({"unanimity", "weights", "order", "names", "reversal"}),
            "logistic",
        ),
        Method(
            "plackett_luce",
            "Plackett-Luce, whole votes",
            "softcondorcet.methods.plackett_luce",
            "Luce, Individual Choice Behavior, 1959; Plackett, The Analysis of Permutations, 1975",
            frozenset({"unanimity", "weights", "order", "names"}),
            "logistic",
            whole_votes=True,
        ),
        Method(
            "elo",
            "Elo, vote by vote",
            "softcondorcet.methods.elo",
            "Elo, The Rating of Chessplayers, Past and Present, 1978",
            frozenset({"unanimity", "names", "reversal"}),
            "logistic",
            whole_votes=True,
        ),
        Method(
            "weng_lin",
            "Weng-Lin, online skills of votes of any size",
            "softcondorcet.methods.weng_lin",
            "Weng and Lin, A Bayesian Approximation Method for Online Ranking, JMLR 2011",
            frozenset({"names"}),
            whole_votes=True,
        ),
        Method(
            "approval",
            "approval of the first k of each vote",
            "softcondorcet.methods.scoring",
            "Brams and Fishburn, Approval Voting, 1978; by places: Lanctot et al., Evaluating Agents using Social "
            "Choice Theory, 2023",
            frozenset({"weights", "order", "names"}),
            whole_votes=True,
        ),
        Method(
            "plurality",
            "plurality, the number of votes on top of which an agent stands",
            "softcondorcet.methods.scoring",
            "Lanctot et al., Evaluating Agents using Social Choice Theory, 2023",
            frozenset({"weights", "order", "names"}),
            whole_votes=True,
        ),
        Method(
            "borda",
            "Borda, a point for each agent below in a vote",
            "softcondorcet.methods.scoring",
            "Borda, Memoire sur les elections au scrutin, 1781",
            frozenset({"unanimity", "weights", "order", "names", "reversal", "cancellation"}),
        ),
        Method(
            "win_rate",
            "win rate, the share of its comparisons that an agent won",
            "softcondorcet.methods.scoring",
            "The mean win rate of arenas; Borda's count divided by the comparisons",
            frozenset({"weights", "order", "names", "reversal"}),
        ),
        Method(
            "copeland",
            "Copeland, agents beaten less agents beaten by",
            "softcondorcet.methods.copeland",
            "Copeland, A Reasonable Social Welfare Function, 1951",
            frozenset({"condorcet", "smith", "unanimity", "weights", "order", "names", "reversal", "cancellation"}),
        ),
        Method(
            "ranked_pairs",
            "ranked pairs, from the largest margin down",
            "softcondorcet.methods.ranked_pairs",
            "Tideman, Independence of Clones as a Criterion for Voting Rules, 1987",
            frozenset({"condorcet", "smith", "unanimity", "weights", "order", "cancellation"}),
        ),
        Method(
            "schulze",
            "Schulze, strongest paths",
            "softcondorcet.methods.schulze",
            "Schulze, A New Monotonic, Clone-Independent, Reversal Symmetric, and Condorcet-Consistent Single-Winner "
            "Election Method, 2011",
            frozenset({"condorcet", "smith", "unanimity", "weights", "order", "names", "reversal", "cancellation"}),
        ),
        Method(
            "maximal_lotteries",
            "maximal lotteries, probabilities that no agent beats",
            "softcondorcet.methods.maximal_lotteries",
            "Kreweras, Aggregation of Preference Orderings, 1965; Fishburn, Probabilistic Social Choice Based on "
            "Simple Voting Comparisons, 1984",
            frozenset({"condorcet", "smith", "weights", "order", "names", "cancellation"}),
        ),
        Method(
            "iterated_maximal_lotteries",
            "maximal lotteries, level by level",
            "softcondorcet.methods.maximal_lotteries",
            "Lanctot et al., Evaluating Agents using Social Choice Theory, 2023",
            frozenset({"condorcet", "smith", "unanimity", "weights", "order", "names", "cancellation"}),
        ),
        Method(
            "stv",
            "single transferable vote, by default instant-runoff",
            "softcondorcet.methods.stv",
            "Tideman, The Single Transferable Vote, 1995",
            frozenset({"unanimity", "weights", "order", "names"}),
            whole_votes=True,
        ),
    )
}


def rank(data: Any, method: str = "sco", **options: Any) -> Ratings:
    """Rate the agents of a profile by any method of ``METHODS``; options are those of the method.

    Every method has two more: ``scale="elo"`` gives Elo points and ``"odds"`` natural log-odds under the order of the
    method (see ``odds``), "own" the ratings of the method itself; ``anchor=("agent", 1000)`` sets the zero of the Elo
    scale. ``sco`` has Elo points unless asked for others, all other methods their own.

    >>> from softcondorcet import Profile
    >>> rank(Profile.from_rankings([["a", "b"], ["a", "c"]]), "sco").order[0]
    'a'
    """
    one_of("method", METHODS, method)
    known = METHODS[method].options
    scale, anchor = None, None
    if "scale" not in known:
        anchor = options.pop("anchor", None)
        scale = options.pop("scale", "own" if anchor is None else "elo")
    elif options.get("scale") == "own":
        options.pop("scale")
    for name in options:
        if name not in known:
            raise OptionError(f"{method} has no option {name!r}; it has {', '.join(known)}{near(name, known)}")
    if scale is None:
        return METHODS[method].function(data, **options)
    from softcondorcet.methods.odds import check_scale, in_scale, odds

    check_scale(scale, ("elo", "odds", "own"), anchor)
    board = METHODS[method].function(data, **options)
    if scale == "own":
        return board
    return in_scale(odds(data, board) if board.unit is None else board, scale, anchor)
