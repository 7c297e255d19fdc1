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
    does not matter), "names" (the names do not matter), "reversal" (reversed votes reverse the order).
    """

    name: str
    title: str
    module: str
    citation: str
    properties: frozenset[str]

    @cached_property
    def function(self) -> Callable[..., Ratings]:
        found: Callable[..., Ratings] = getattr(import_module(self.module), self.name)
        return found

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
            frozenset({"condorcet", "unanimity", "weights", "order", "names", "reversal"}),
        ),
        Method(
            "kemeny",
            "Kemeny-Young, exact",
            "softcondorcet.methods.kemeny",
            "Kemeny, Mathematics without Numbers, 1959; Young and Levenglick, A Consistent Extension of Condorcet's "
            "Election Principle, 1978",
            frozenset({"condorcet", "unanimity", "weights", "order", "names", "reversal"}),
        ),
        Method(
            "fenchel_young",
            "Soft Condorcet Optimization, Fenchel-Young loss",
            "softcondorcet.methods.fenchel_young",
            "Lanctot et al., AAMAS 2025, after Berthet et al., Learning with Differentiable Perturbed Optimizers, 2020",
            frozenset({"unanimity"}),
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
