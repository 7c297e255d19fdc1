"""Records of results, as readers of logs and tables return them: scores (agent, task, item, score) or battles.

Both keep every column as integer codes into its distinct values, so that a million rows take tens of megabytes, and
both count what they left out, with the reason. From there one way leads to a profile (``record_votes``):

    scores   one vote per item (or per task), over the agents that have a score there; the task is the group
    battles  one vote each; a share of a win is two votes that share the weight
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from softcondorcet.errors import DataError
from softcondorcet.io.cells import read_name

if TYPE_CHECKING:
    from softcondorcet.io.input_files import InputFile
    from softcondorcet.profile import Kind

NONE = -1
TASK = "task"


@dataclass(frozen=True)
class Options:
    """Options of readers: what files do not say themselves.

    ``metric`` holds names, or ``TASK=NAME``; ``lower_is_better`` and ``higher_is_better`` names of tasks or metrics;
    ``agent_from`` is ``file``, ``folder`` or a regular expression searched in the path; ``tasks`` keeps these only;
    ``keep`` are columns that are wanted even if they are long texts or have many names.
    """

    metric: tuple[str, ...] = ()
    lower_is_better: tuple[str, ...] = ()
    higher_is_better: tuple[str, ...] = ()
    agent_from: str | None = None
    tasks: tuple[str, ...] = ()
    failures: str | None = None
    per: str = "item"
    keep: tuple[str, ...] = ()

    @property
    def said(self) -> list[tuple[str, Any]]:
        """What the user says that has a meaning for scores only."""
        names = ("metric", "lower_is_better", "higher_is_better", "tasks", "failures")
        return [(name, value) for name in names if (value := getattr(self, name))]

    def metrics_for(self, task: str) -> tuple[str, ...]:
        """The metrics asked for in a task: its own, else those asked for in all."""
        pairs = [name.partition("=") for name in self.metric]
        own = tuple(value for key, equals, value in pairs if equals and key == task)
        return own or tuple(key for key, equals, _ in pairs if not equals)

    def direction(self, *names: str) -> bool | None:
        """Whether higher is better, by what the user said of a task or of a metric."""
        for chosen, answer in ((self.lower_is_better, False), (self.higher_is_better, True)):
            if any(name in chosen for name in names):
                return answer
        return None


@dataclass(frozen=True)
class Format:
    """A file format of one tool: how it is recognised, read, and what it says to those who ask."""

    name: str
    title: str
    recognise: Callable[[InputFile], bool]
    read: Callable[[list[InputFile], Options], Scores | Battles]
    vote: str
    leaves_out: str
    example: str


class Codes:
    """A column that grows: integer codes into distinct values, by first appearance."""

    def __init__(self, rows: int = 0) -> None:
        self.codes = array("i", [NONE]) * rows
        self.values: dict[Any, int] = {}

    def add(self, value: Any) -> None:
        self.codes.append(NONE if value is None else self.values.setdefault(value, len(self.values)))

    @property
    def array(self) -> NDArray[np.int32]:
        return np.frombuffer(self.codes, dtype=np.int32) if self.codes else np.zeros(0, dtype=np.int32)

    @property
    def names(self) -> list[Any]:
        return list(self.values)


def as_codes(codes: NDArray[np.int32], values: Sequence[Any]) -> Codes:
    """A column that is coded already."""
    made = Codes()
    made.codes = array("i", codes.astype(np.int32).tobytes())
    made.values = {value: k for k, value in enumerate(values)}
    return made


@dataclass
class Rows:
    """Extra columns, what was left out and why, and what to tell the user."""

    name: str
    columns: dict[str, Codes] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    files: int = 0

    def _extra(self, rows: int, columns: dict[str, Any]) -> None:
        """One more row of the extra columns; a column that a row does not have is blank there."""
        for name, value in columns.items():
            if name not in self.columns:
                if value is None:
                    continue
                self.columns[name] = Codes(rows)
            self.columns[name].add(value)
        for name, column in self.columns.items():
            if name not in columns:
                column.add(None)

    def summary(self) -> list[str]:
        """One line each: what was done and what was left out."""
        return [*self.notes, *(f"left out: {what} ({count:,})" for what, count in self.left_out.items())]


class Scores(Rows):
    """Scores in rows: agent, task, metric, item, score, and any other columns."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.agent, self.task, self.metric, self.item = Codes(), Codes(), Codes(), Codes()
        self.score = array("d")
        self.higher: dict[tuple[str, str], bool] = {}  # of (task, metric), where a file says it
        self.order: tuple[str, ...] = ()  # of metrics, where a task has several
        self.failed: list[int] = []  # rows of runs that failed
        self.kind: Kind = "election"
        self.asks = False  # whether a metric of unknown direction is a question rather than to be high

    def add(
        self,
        agent: str,
        task: str,
        score: float,
        *,
        item: Any = None,
        metric: str = "",
        **columns: Any,
    ) -> None:
        """One score. ``item`` is None for the score of a whole task."""
        self.agent.add(agent)
        self.task.add(task)
        self.metric.add(metric)
        self.item.add(item)
        if columns or self.columns:
            self._extra(len(self.score), columns)
        self.score.append(score)

    def add_failed(self, agent: str, task: str, item: Any = None) -> None:
        """A run that failed: below all scores of the task."""
        self.failed.append(len(self.score))
        self.add(agent, task, float("nan"), item=item)

    def told(self, task: str, metric: str, higher: bool, place: str) -> None:
        """A file says whether higher is better; all must say the same of a task and metric."""
        if self.higher.setdefault((task, metric), higher) != higher:
            words = ("lower", "higher") if higher else ("higher", "lower")
            raise DataError(
                f"{place}: {words[1]} is better in {task!r}; expected {words[0]}, as another file says of the same task"
            )

    @property
    def agents(self) -> tuple[str, ...]:
        return tuple(self.agent.names)

    def __len__(self) -> int:
        return len(self.score)


class Battles(Rows):
    """Battles in rows: two agents, the share of a win that the first has (1, 0, a half for a tie), weight, columns.

    ``text`` says that numbers in the columns are written as text, as in a csv file.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.place: Callable[[int], str] = lambda row: f"{self.name}: battle {row + 1}"
        self.text = False
        self.a, self.b = Codes(), Codes()
        self.share, self.weight = array("d"), array("d")

    def add(self, a: str, b: str, share: float, weight: float = 1.0, **columns: Any) -> None:
        self.a.add(a)
        self.b.add(b)
        if columns or self.columns:
            self._extra(len(self.share), columns)
        self.share.append(share)
        self.weight.append(weight)

    def __len__(self) -> int:
        return len(self.share)


def number(value: Any) -> float | None:
    """A score as it stands in JSON: a number or a truth value; None for anything else, and for NaN."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, int | float):
        try:
            score = float(value)
        except OverflowError:
            return None
        return score if isfinite(score) or score in (float("inf"), float("-inf")) else None
    return None


def name_of(value: Any, place: str, what: str) -> str:
    """A name in a file, or an error that says what is missing there."""
    try:
        return read_name(value)
    except ValueError as error:
        said = "missing" if value is None else f"{str(value)[:60]!r}"
        raise DataError(f"{place}: {what} is {said}; expected {error}") from None


# From battles to a table that the reader of battles takes.
