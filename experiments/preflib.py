"""Table 2: Condorcet winners first, and distance to the Kemeny order, on PrefLib (section 4.2 and its appendix).

The paper's SGD, our default and other rules on the soc and soi files of PrefLib with two agents or more, in the paper's
15 groups by number of agents. Past the paper: exact Kemeny above 10 agents, or the gap of its bound, so that distance
and excess are known in every group; and the sigmoidal program up to 20 agents.

SGD runs with the paper's settings. Since that takes days on all of the long votes, groups above 20 agents are sampled,
with a seed, and votes of very many pairs get fewer steps; above 500 agents exact orders are sought for a sample too.
The columns sgd_instances, sgd_seeds, sgd_steps and kemeny_instances say how many.

Two things decide the shares. The paper defines strong winners, which beat all others, and weak ones, which lose to
none, and does not say which of them count as "a Condorcet winner" here: its shares agree best with those of weak
winners (`sgd_weak_match`), a reading chosen after seeing both. And it speaks of ratings from 0 to 100. In that box
the ratings of long votes end level at the upper bound, dozens at once, so that nobody is on top; open_spiel's own SGD
ends with the same ratings. But its authors' code has a box of 1000 by default, and the steps of its warm-up are those
of that box (reproduce/warmup.py): there no two are level, and its shares come out. So SGD has that box here.

Above 500 agents most instances are charts of some 2,400 songs in 53 countries, each country listing 200. Many songs
meet few others and lose to none; SGD puts one of these weak winners on top in two charts of five, and in nine of ten
of the other instances. That makes the paper's 0.56.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from experiments.datasets import BROKEN
from experiments.figures import figure, look, wilson, words
from experiments.preflib_measure import PROGRAM, RULES, measure
from experiments.preflib_table import GROUPS, Group, claims, table
from experiments.study import Files, Job, Row, Scale, Study
from softcondorcet.arrays import Floats
from softcondorcet.errors import DataError
from softcondorcet.io.files import read
from softcondorcet.profile import Profile

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ARCHIVE = "preflib-paper.zip"
_EXPECTED = "expected a zip archive of PrefLib soc and soi files"
DRAWN = ("sco", "sgd", *RULES, PROGRAM)


@dataclass(frozen=True)
class Plan:
    """How much of a group to do; None is all of it.

    Of its instances in a random order the first `instances` are measured; SGD runs on the first `sgd` of these, from
    `seeds` seeds each, and an exact order is sought for the first `exact`, in `limit` seconds. A run of SGD takes fewer
    steps where steps times pairs in a vote would exceed `work`, a unit of which costs 5 ns of CPU time, up to 25 for
    sparse votes.
    """

    instances: int | None = None
    sgd: int | None = None
    exact: int | None = None
    seeds: int = 3
    work: float = 1.2e10
    limit: float = 2.0


# By the largest number of agents in a group.
PLANS: dict[Scale, dict[int, Plan]] = {
    "tiny": {100: Plan(2, seeds=1, work=1e5, limit=0.5), 10**9: Plan(0)},
    "quick": {
        10: Plan(30),
        20: Plan(60),
        100: Plan(40, seeds=1),
        200: Plan(20, seeds=1),
        500: Plan(12, seeds=1, work=1e9),
        10**9: Plan(12, exact=6, seeds=1, work=2e8, limit=5.0),
    },
    "paper": {
        20: Plan(),
        100: Plan(sgd=100),
        200: Plan(sgd=80),
        500: Plan(sgd=60, seeds=1),
        10**9: Plan(sgd=100, exact=60, seeds=1, work=2e9, limit=10.0),
    },
}


def plan_of(group: Group, scale: Scale) -> Plan:
    return next(plan for largest, plan in PLANS[scale].items() if group.high <= largest)


def jobs(scale: Scale, files: Files) -> list[Job]:
    """From the largest group down, within a group those with SGD first. Members with one agent are in no group."""
    sizes = sizes_of(files[ARCHIVE])
    listed = []
    for group in reversed(GROUPS):
        own = sorted(name for name, (m, _) in sizes.items() if group.low <= m <= group.high)
        plan = plan_of(group, scale)
        order = [own[k] for k in np.random.default_rng(group.low).permutation(len(own))][: plan.instances]
        settings = {**group.sgd(), "seeds": plan.seeds, "work": plan.work}
        kinds: dict[tuple[bool, bool], list[str]] = {}
        for place, name in enumerate(order):
            kind = (plan.sgd is None or place < plan.sgd, plan.exact is None or place < plan.exact)
            kinds.setdefault(kind, []).append(name)
        for (with_sgd, exact), part in kinds.items():
            part.sort(key=lambda name: -sizes[name][1])
            size = _chunk(group, with_sgd)
            listed += [
                {
                    "members": part[k : k + size],
                    "limit": plan.limit if exact else None,
                    "sgd": settings if with_sgd else None,
                    "sample": plan.instances is not None,
                }
                for k in range(0, len(part), size)
            ]
    if not listed:
        raise DataError(
            f"{files[ARCHIVE]}: holds {len(sizes):,} soc and soi files, and none of two agents or more for scale "
            f"{scale}; {_EXPECTED}"
        )
    return listed


def _chunk(group: Group, with_sgd: bool) -> int:
    """Instances in a job: some seconds of work."""
    if group.low > 100:
        return 1 if with_sgd else 5 if group.low > 500 else 20
    return 10 if with_sgd else 40


def sizes_of(archive: Path) -> dict[str, tuple[int, int]]:
    """Number of agents and bytes of each member."""
    found = {}
    try:
        with zipfile.ZipFile(archive) as opened:
            for member in opened.infolist():
                if not member.filename.endswith((".soc", ".soi")):
                    continue
                with opened.open(member) as file:
                    said = re.search(rb"^# NUMBER ALTERNATIVES: *(\d+)", file.read(4096), re.MULTILINE)
                if said is None:
                    raise DataError(f"{archive}::{member.filename}: expected '# NUMBER ALTERNATIVES: m' near its top")
                found[member.filename] = int(said[1]), member.file_size
    except BROKEN as error:
        raise DataError(f"{archive}: cannot be read ({error}); {_EXPECTED}") from error
    return found


def work(job: Job, files: Files) -> list[Row]:
    archive = _opened(files[ARCHIVE])
    rows = []
    for member in job["members"]:
        try:
            with archive.open(member) as file:
                measured = measure(read(file), job["limit"], job["sgd"])
            rows.append({"name": member, "sample": job["sample"], **measured})
        except DataError as error:
            raise DataError(f"{files[ARCHIVE]}: {error}") from error
    return rows


@cache
def _opened(path: Path) -> zipfile.ZipFile:
    """Opened once per process: the index of 12,693 members takes longer to read than most members.

    Also compiles once, so that no instance is charged for it.
    """
    small = Profile.from_rankings([["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]])
    measure(small, 1.0, {**GROUPS[0].sgd(), "steps": 10, "seeds": 1, "work": 1e3})
    return zipfile.ZipFile(path)


def draw(rows: Sequence[Row]) -> dict[str, Figure]:
    """By group, less is better: who misses the winner, how far from the Kemeny order, how much worse than it."""
    made, (first, far, worse) = figure(8.5, 11, nrows=3, sharex=True, height_ratios=(4, 3, 3))
    x = np.arange(len(rows))
    aside = 0.08  # so that series that agree do not hide each other
    proven = _column(rows, "kemeny_proven") >= 0.5
    for number, name in enumerate(DRAWN):
        missed = 1 - _column(rows, f"{name}_match")
        for axis, y in (
            (first, missed),
            (far, _column(rows, f"{name}_distance")),
            (worse, _column(rows, f"{name}_excess")),
        ):
            place = x + aside * (number - 3)
            axis.plot(place, y, label=words(name), **look(number))
            if axis is not first:
                open_mark = {**look(number), "linestyle": "none", "markerfacecolor": "white"}
                axis.plot(place[~proven], y[~proven], **open_mark)
    weak, of = _column(rows, "sgd_weak_match"), _column(rows, "sgd_weak_winners")
    down, up = wilson(weak, np.where(of > 0, of, np.nan))
    first.errorbar(x, 1 - weak, yerr=[up, down], label="SGD: a weak winner, 95 % interval",
                   **{**look(1), "linestyle": ":", "marker": "x", "capsize": 3})  # fmt: skip
    hollow = {"linestyle": "none", "markerfacecolor": "none", "markersize": 10, "color": "black", "marker": "o"}
    first.plot(x, 1 - _column(rows, "paper_match"), label="SGD, the paper", **hollow)
    first.plot([], [], "o", color="0.4", markerfacecolor="white", label="hollow: most Kemeny orders not proven")
    mean, half = _column(rows, "sgd_distance"), _column(rows, "sgd_distance_95")
    far.errorbar(x - 2 * aside, mean, [np.minimum(mean, half), half], fmt="none", ecolor=look(1)["color"], capsize=3)
    far.plot(x, _column(rows, "paper_distance"), **hollow)
    first.set(ylabel="elections whose winner\nis not on top, as a share")
    far.set(ylabel="distance to the Kemeny order,\nas a share of pairs")
    for axis in (first, far):
        axis.set_yscale("symlog", linthresh=0.02)
        axis.set_ylim(bottom=-0.002)
        axis.set_yticks([0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5], ["0", "0.01", "0.02", "0.05", "0.1", "0.2", "0.5"])
    worse.set(ylabel="discrete loss above the least found,\nas a share of it", xlabel="agents")
    worse.set_yscale("symlog", linthresh=1e-5)
    worse.set_ylim(-2e-6, 3 * worse.dataLim.ymax)
    worse.set_xticks(x, [_span(row).replace("-", "-\n") for row in rows])
    shown = first.get_legend_handles_labels()
    made.legend(*shown, loc="outside lower center", ncols=3, columnspacing=1, frameon=False)
    made.suptitle("PrefLib by number of agents: less is better; whiskers: 95 % intervals")
    return {"": made}


def _column(rows: Sequence[Row], key: str) -> Floats:
    return np.array([np.nan if row[key] is None else row[key] for row in rows], dtype=float)


def _span(row: Row) -> str:
    if row["m_to"] is None:
        return f"{row['m_from']}+"
    return f"{row['m_from']}" if row["m_from"] == row["m_to"] else f"{row['m_from']}-{row['m_to']}"


TITLE = "Table 2: Condorcet winners first and distance to Kemeny on 12,680 PrefLib instances"
STUDY = Study("preflib", TITLE, jobs, work, table, claims, draw, needs=(ARCHIVE,))
