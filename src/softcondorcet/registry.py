"""Every method by name: the same word is the function, the word on the command line and the anchor in the docs.

Listing methods imports none of them; ``METHODS[name].function`` does, when it is first asked for.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

from softcondorcet.errors import OptionError
from softcondorcet.ratings import Ratings


@dataclass(frozen=True)
class Method:
    """A method: where it lives, what it is called, where it comes from, and which properties it has.

    The properties are those of the property tests: "condorcet" (a Condorcet winner is first), "unanimity" (an agent
    above another in all votes is rated higher), "weights" (weight 2 equals the vote twice), "order" (the order of votes
    does not matter), "names" (the names do not matter), "reversal" (reversed votes reverse the order), "smith" (all
    that are first are in the Smith set).

    `link` is "logistic" where ratings are log-odds, so that ``Ratings.probability`` predicts who comes out above.
    """

    name: str
    title: str
    module: str
    citation: str
    properties: frozenset[str]
    link: str | None = None

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
            frozenset({"condorcet", "smith", "unanimity", "weights", "order", "names", "reversal"}),
        ),
        Method(
            "sigmoidal_program",
            "the sigmoid loss, minimised globally",
            "softcondorcet.methods.sigmoidal_program",
            "Lanctot et al., AAMAS 2025, section 3; Udell and Boyd, Maximizing a Sum of Sigmoids, 2013",
            frozenset({"condorcet", "unanimity", "weights", "order", "names", "reversal"}),
        ),
        Method(
            "kemeny",
            "Kemeny-Young, exact",
            "softcondorcet.methods.kemeny",
            "Kemeny, Mathematics without Numbers, 1959; Young and Levenglick, A Consistent Extension of Condorcet's "
            "Election Principle, 1978",
            frozenset({"condorcet", "smith", "unanimity", "weights", "order", "names", "reversal"}),
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
            frozenset({"condorcet", "smith", "unanimity", "weights", "order"}),
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
        ),
        Method(
            "elo",
            "Elo, vote by vote",
            "softcondorcet.methods.elo",
            "Elo, The Rating of Chessplayers, Past and Present, 1978",
            frozenset({"unanimity", "names", "reversal"}),
            "logistic",
        ),
        Method(
            "weng_lin",
            "Weng-Lin, online skills of votes of any size",
            "softcondorcet.methods.weng_lin",
            "Weng and Lin, A Bayesian Approximation Method for Online Ranking, JMLR 2011",
            frozenset({"names"}),
        ),
        Method(
            "approval",
            "approval of the first k of each vote",
            "softcondorcet.methods.scoring",
            "Brams and Fishburn, Approval Voting, 1978; by places: Lanctot et al., Evaluating Agents using Social "
            "Choice Theory, 2023",
            frozenset({"weights", "order", "names"}),
        ),
        Method(
            "plurality",
            "plurality, the number of votes on top of which an agent stands",
            "softcondorcet.methods.scoring",
            "Lanctot et al., Evaluating Agents using Social Choice Theory, 2023",
            frozenset({"weights", "order", "names"}),
        ),
        Method(
            "borda",
            "Borda, a point for each agent below in a vote",
            "softcondorcet.methods.scoring",
            "Borda, Memoire sur les elections au scrutin, 1781",
            frozenset({"unanimity", "weights", "order", "names", "reversal"}),
        ),
        Method(
            "copeland",
            "Copeland, agents beaten less agents beaten by",
            "softcondorcet.methods.copeland",
            "Copeland, A Reasonable Social Welfare Function, 1951",
            frozenset({"condorcet", "smith", "unanimity", "weights", "order", "names", "reversal"}),
        ),
        Method(
            "ranked_pairs",
            "ranked pairs, from the largest margin down",
            "softcondorcet.methods.ranked_pairs",
            "Tideman, Independence of Clones as a Criterion for Voting Rules, 1987",
            frozenset({"condorcet", "smith", "unanimity", "weights", "order"}),
        ),
        Method(
            "schulze",
            "Schulze, strongest paths",
            "softcondorcet.methods.schulze",
            "Schulze, A New Monotonic, Clone-Independent, Reversal Symmetric, and Condorcet-Consistent Single-Winner "
            "Election Method, 2011",
            frozenset({"condorcet", "smith", "unanimity", "weights", "order", "names", "reversal"}),
        ),
        Method(
            "maximal_lotteries",
            "maximal lotteries, probabilities that no agent beats",
            "softcondorcet.methods.lotteries",
            "Kreweras, Aggregation of Preference Orderings, 1965; Fishburn, Probabilistic Social Choice Based on "
            "Simple Voting Comparisons, 1984",
            frozenset({"condorcet", "smith", "weights", "order", "names"}),
        ),
        Method(
            "iterated_maximal_lotteries",
            "maximal lotteries, level by level",
            "softcondorcet.methods.lotteries",
            "Lanctot et al., Evaluating Agents using Social Choice Theory, 2023",
            frozenset({"condorcet", "smith", "unanimity", "weights", "order", "names"}),
        ),
        Method(
            "stv",
            "single transferable vote, by default instant-runoff",
            "softcondorcet.methods.stv",
            "Tideman, The Single Transferable Vote, 1995",
            frozenset({"unanimity", "weights", "order", "names"}),
        ),
    )
}


def rank(data: Any, method: str = "sco", **options: Any) -> Ratings:
    """Rate the agents of a profile by any method of ``METHODS``; options are those of the method.

    >>> from softcondorcet import Profile
    >>> rank(Profile.from_rankings([["a", "b"], ["a", "c"]]), "sco").order[0]
    'a'
    """
    if not isinstance(method, str) or method not in METHODS:
        raise OptionError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    unknown = [name for name in options if name not in METHODS[method].options]
    if unknown:
        raise OptionError(f"{method} has no option {unknown[0]!r}; it has {', '.join(METHODS[method].options)}")
    return METHODS[method].function(data, **options)
