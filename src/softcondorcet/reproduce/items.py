"""All items of the paper, by name."""

from __future__ import annotations

from importlib import import_module

from softcondorcet.errors import OptionError
from softcondorcet.reproduce.study import Study

NAMES = ("warmup", "preflib", "sparse", "diplomacy", "online", "posterior", "landscape", "atari", "arena")


def study(name: str) -> Study:
    if name not in NAMES:
        raise OptionError(f"item must be one of {', '.join(NAMES)}, got {name!r}")
    found: Study = import_module(f"softcondorcet.reproduce.{name}").STUDY
    return found
