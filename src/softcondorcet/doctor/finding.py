"""One thing to know about the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["problem", "caution", "note"]
# From bad to harmless.
SEVERITIES: tuple[Severity, ...] = ("problem", "caution", "note")


@dataclass(frozen=True)
class Finding:
    """One thing to know: "problem" makes some answers meaningless, "caution" weakens them, "note" is good to know.

    `name` is the kind of finding, `number` how much of it there is, `text` what was seen, `advice` what to do, and
    `names` the agents, judges or tasks concerned.
    """

    severity: Severity
    name: str
    number: float
    text: str
    advice: str = ""
    names: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """For people to read."""
        return [f"{self.severity}: {self.text}", *([f"  {self.advice}"] if self.advice else [])]


class Unchecked(Exception):  # noqa: N818
    """A check could not be made; says why."""
