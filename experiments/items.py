"""All items of the paper, by name."""

from __future__ import annotations

from importlib import import_module

from experiments.study import Study
from softcondorcet.errors import OptionError

NAMES = ("warmup", "preflib", "sparse", "diplomacy", "online", "posterior", "landscape", "atari", "arena")


def study(name: str) -> Study:
    if name not in NAMES:
        raise OptionError(f"item must be one of {', '.join(NAMES)}, got {name!r}")
    found: Study = import_module(f"experiments.{name}").STUDY
    return found
