"""What an item of the paper is made of: jobs that can run side by side, a table, claims to check, and a picture.

A job is a dict of plain values, so that it can be sent to another process, and found again in a journal after a stop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Scale = Literal["tiny", "quick", "paper"]
SCALES: tuple[Scale, ...] = ("tiny", "quick", "paper")
Job = dict[str, Any]
Row = dict[str, Any]
# From the name of a file that a study needs to where it lies.
Files = Mapping[str, Path]


@dataclass(frozen=True)
class Claim:
    """A figure of the paper beside ours. `agrees` is None where there is nothing to agree with: `why` says more.

    `difference` is ours less the paper's, where both are numbers.
    """

    what: str
    paper: str
    ours: str
    agrees: bool | None
    why: str = ""
    difference: str = ""

    @classmethod
    def near(
        cls,
        what: str,
        paper: float,
        ours: float,
        within: float,
        why: str = "",
        *,
        form: str = ".4g",
        judge: bool = True,
    ) -> Claim:
        """Two numbers, ours in that form, that should differ by at most `within`, if they are to be judged."""
        agrees = near(paper, ours, within) if judge else None
        return cls(what, f"{paper:g}", f"{ours:{form}}", agrees, why, f"{ours - paper:+{form}}")


def near(paper: float, ours: float, within: float) -> bool:
    """Whether two numbers differ by at most so much, up to rounding."""
    return abs(paper - ours) <= within * (1 + 1e-9)


@dataclass(frozen=True)
class Study:
    """An item of the paper.

    `needs` names the files of data; `jobs(scale, files)` lists the work, dearest first; `work(job, files)` does one job
    in a process of its own and returns rows; `table(rows)` is what is kept; `claims(table)` holds it against the paper;
    `draw(table)` gives the figures by name ("" for the only one).
    """

    name: str
    title: str
    jobs: Callable[[Scale, Files], list[Job]]
    work: Callable[[Job, Files], list[Row]]
    table: Callable[[Sequence[Row]], list[Row]]
    claims: Callable[[Sequence[Row]], list[Claim]]
    draw: Callable[[Sequence[Row]], dict[str, Figure]]
    needs: tuple[str, ...] = ()
