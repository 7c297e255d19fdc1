"""What tests of readers share: bytes with a name, votes as text, how many examples of hypothesis."""

from __future__ import annotations

import io
import os
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

import softcondorcet as sc

EXAMPLES = int(os.environ.get("SCO_FUZZ_EXAMPLES", "60"))
THOROUGH = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=EXAMPLES == 60,
    suppress_health_check=[*HealthCheck],
)


def fuzz(test: Any) -> Any:
    """A few examples in the default run; marked when their number is given, so that -m fuzz runs just these."""
    return pytest.mark.fuzz(test) if "SCO_FUZZ_EXAMPLES" in os.environ else test


class Named(io.BytesIO):
    """Bytes with the name of a file."""

    def __init__(self, data: bytes, name: str) -> None:
        super().__init__(data)
        self.name = name


def votes_of(profile: sc.Profile) -> dict[str, list[str]]:
    """Votes by task as text, best first, ``=`` for a tie; battles with their weight, under the empty name."""
    found: dict[str, list[str]] = {}
    for v, tiers in enumerate(profile.rankings()):
        text = " > ".join(" = ".join(sorted(tier)) for tier in tiers)
        if profile.group_by == "task" and profile.group is not None:
            found.setdefault(profile.groups[profile.group[v]], []).append(text)
        else:
            found.setdefault("", []).append(f"{profile.weight[v]:g} {text}")
    return {task: sorted(votes) for task, votes in found.items()}


def notes(profile: sc.Profile) -> str:
    assert profile.source is not None
    return "\n".join(profile.source.notes)
