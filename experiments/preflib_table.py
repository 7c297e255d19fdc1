"""The paper's Table 2 as it is printed, ours beside it, and what they say of each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, stdev
from typing import Any

from experiments.preflib_measure import PROGRAM, RULES
from experiments.study import Claim, Row, near


@dataclass(frozen=True)
class Group:
    """A row of the paper's table.

    m from `low` to `high`, instances, mean m and n; C and K of gradient descent and of sigmoidal programming.
    """

    low: int
    high: int
    size: int
    m: float
    n: int
    match: float
    distance: float | None = None
    program_match: float | None = None
    program_distance: float | None = None

    def sgd(self) -> dict[str, Any]:
        """The settings of the appendix, which depend on the number of agents, in the box of the authors' code."""
        own: dict[str, Any] = {"lr": 0.01, "temperature": 1.0, "steps": 10_000 if self.high <= 10 else 100_000}
        if self.low > 500:
            own = {"lr": 0.1, "temperature": 0.5, "steps": 100_000}
        return {"batch": 32, "bounds": [0.0, 1000.0], **own}


GROUPS = (
    Group(2, 2, 11, 2.00, 29, 1.00, 0.0, 1.00, 0.0),
    Group(3, 3, 115, 3.00, 1878, 1.00, 0.0, 1.00, 0.0),
    Group(4, 4, 162, 4.00, 7189, 1.00, 0.005, 0.99, 0.009),
    Group(5, 5, 135, 5.00, 34666, 1.00, 0.024, 0.66, 0.039),
    Group(6, 6, 109, 6.00, 33266, 0.99, 0.043),
    Group(7, 7, 92, 7.00, 28755, 0.97, 0.029),
    Group(8, 8, 73, 8.00, 18336, 0.96, 0.032),
    Group(9, 9, 88, 9.00, 4190, 0.94, 0.027),
    Group(10, 10, 80, 10.00, 3289, 0.97, 0.023),
    Group(11, 20, 1721, 16.48, 127, 0.99),
    Group(21, 50, 1465, 30.75, 34, 0.98),
    Group(51, 100, 567, 71.50, 40, 0.92),
    Group(101, 200, 2989, 124.00, 25, 0.99),
    Group(201, 500, 4540, 302.81, 65, 0.98),
    Group(501, 10**9, 533, 2190.04, 50, 0.56),
)


def table(rows: Sequence[Row]) -> list[Row]:
    """One row per group, from one row per instance."""
    by_group = [(group, [row for row in rows if group.low <= row["m"] <= group.high]) for group in GROUPS]
    return [_line(group, own) for group, own in by_group if own]


def _line(group: Group, rows: list[Row]) -> Row:
    ran = [row for row in rows if "sgd_cpu" in row]
    exact = [row for row in rows if row["proven"] is not None]
    line: Row = {
        "m_from": group.low, "m_to": group.high if group.high < 10**9 else None,
        "instances": len(rows), "paper_instances": group.size, "sample": any(row["sample"] for row in rows),
        "mean_m": _mean(rows, "m", 2), "paper_m": group.m, "mean_n": _mean(rows, "n", 2), "paper_n": group.n,
        "winners": sum(row["winner"] for row in rows), "weak_winners": sum(row["weak"] for row in rows),
        "paper_match": group.match, "paper_distance": group.distance,
        "paper_program_match": group.program_match, "paper_program_distance": group.program_distance,
        "sgd_steps": _span([row["sgd_steps"] for row in ran]), "sgd_seeds": _span([row["sgd_seeds"] for row in ran]),
        "sgd_instances": len(ran), "sgd_winners": sum(row["winner"] for row in ran),
        "sgd_weak_winners": sum(row["weak"] for row in ran), "sgd_half": _mean(ran, "sgd_half"),
        f"{PROGRAM}_proven": _mean(rows, f"{PROGRAM}_proven"),
    }  # fmt: skip
    for name in ("sgd", "sco", PROGRAM, *RULES):
        more = () if name in RULES else ("alone", "weak_match", "nearest")
        line |= {f"{name}_{key}": _mean(rows, f"{name}_{key}") for key in ("match", "distance", "excess", *more)}
    line |= {f"sgd_{key}_95": _half_interval(ran, f"sgd_{key}") for key in ("weak_match", "distance")}
    gaps = [row["gap"] for row in exact if not row["proven"]]
    return line | {
        "nearest_of": sum(row.get("sco_nearest") is not None for row in rows),
        "kemeny_instances": len(exact), "kemeny_proven": _mean(exact, "proven"),
        "kemeny_open_gap": round(median(gaps), 6) if gaps else None,
        "kemeny_cpu_s": _sum(rows, "kemeny_cpu"), "sco_cpu_s": _sum(rows, "sco_cpu"),
        "sgd_cpu_s": _sum(ran, "sgd_cpu"), "sco_there_cpu_s": _sum(ran, "sco_cpu"),
    }  # fmt: skip


def _mean(rows: Sequence[Row], key: str, digits: int = 5) -> float | None:
    known = [row[key] for row in rows if row.get(key) is not None]
    return round(sum(known) / len(known), digits) if known else None


def _half_interval(rows: Sequence[Row], key: str) -> float | None:
    """Half of the 95 % interval of the mean over instances; 0 where all agree."""
    known = [row[key] for row in rows if row.get(key) is not None]
    return round(1.96 * stdev(known) / len(known) ** 0.5, 5) if len(known) > 1 else None


def _sum(rows: Sequence[Row], key: str) -> float:
    return round(float(sum(row[key] for row in rows)), 3)


def _span(numbers: list[int]) -> str:
    if not numbers:
        return ""
    low, high = min(numbers), max(numbers)
    return f"{low}" if low == high else f"{low} to {high}"


def where(row: Row) -> str:
    """The group of a row, in words."""
    if row["m_to"] is None:
        return f"{row['m_from']} agents and more"
    return f"{row['m_from']} agents" if row["m_from"] == row["m_to"] else f"{row['m_from']} to {row['m_to']} agents"


def claims(rows: Sequence[Row]) -> list[Claim]:
    sample = any(row["sample"] for row in rows)
    whole = all(row["instances"] == row["paper_instances"] for row in rows) and len(rows) == len(GROUPS)
    found = [
        Claim("instances by group", _list(rows, "paper_instances"), _list(rows, "instances"),
              None if sample else whole, "a sample" if sample else ""),
        _means(rows, "m", 0.005, sample),
        _means(rows, "n", 0.5, sample),
        *(_match(row) for row in rows if row["sgd_weak_match"] is not None),
        _readings([row for row in rows if row["sgd_weak_match"] is not None]),
        *(_distance(row) for row in rows if row["paper_distance"] is not None and row["sgd_distance"] is not None),
    ]  # fmt: skip
    program = [_program(rows), _program_proven(rows), _program_distance(rows)]
    return [*found, _default(rows), *program, _cpu(rows), _exact(rows)]


def _list(rows: Sequence[Row], key: str, form: str = "g") -> str:
    return ", ".join("-" if row[key] is None else f"{row[key]:{form}}" for row in rows)


def _means(rows: Sequence[Row], key: str, half: float, sample: bool) -> Claim:
    """Of each group, to half a unit of what the paper prints."""
    differ = [row for row in rows if not near(row[f"mean_{key}"], row[f"paper_{key}"], half)]
    why = (
        f"differ: {', '.join(where(row) for row in differ)}; not explained: group sizes agree exactly, but some of the "
        "paper's files must have been others"
    )
    return Claim(f"mean {key} by group", _list(rows, f"paper_{key}"), _list(rows, f"mean_{key}"),
                 None if sample else not differ, "a sample" if sample else why if differ else "")  # fmt: skip


def _match(row: Row) -> Claim:
    """The paper's shares are those of weak winners."""
    sampled = row["sgd_instances"] < row["paper_instances"]
    spread = f" (95 % interval ± {row['sgd_weak_match_95']:.2f})" if sampled and row["sgd_weak_match_95"] else ""
    why = (
        f"weak winners, in {row['sgd_weak_winners']} instances{spread}; the Condorcet winner, in {row['sgd_winners']}: "
        f"{_share(row['sgd_match'])}; after half of the steps {_share(row['sgd_half'])}; steps {row['sgd_steps']}, "
        f"seeds {row['sgd_seeds']}"
    )
    few = sampled and row["sgd_weak_winners"] < 20
    what = f"Condorcet match of SGD, {where(row)}"
    return Claim.near(what, row["paper_match"], row["sgd_weak_match"], _within(row), why, form=".3f", judge=not few)


def _within(row: Row) -> float:
    """How far a share may be from the paper's: further where few instances were drawn."""
    return 0.06 if row["sgd_instances"] < row["paper_instances"] else 0.03


def _readings(rows: Sequence[Row]) -> Claim:
    """What the paper may have counted, and in how many groups that gives its share."""
    keys = {"sgd_weak_match": "weak winners", "sgd_match": "Condorcet winners"}
    known = {key: [row for row in rows if row[key] is not None] for key in keys}
    counts = {key: sum(near(row[key], row["paper_match"], _within(row)) for row in known[key]) for key in keys}
    ours = ", ".join(f"{words}: {counts[key]} of {len(known[key])}" for key, words in keys.items())
    why = "which of these the paper counts it does not say; the first was chosen after seeing both"
    return Claim("groups whose Condorcet match agrees, by who counts as a winner", "", ours, None, why)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _distance(row: Row) -> Claim:
    """The paper's mean of three seeds, to three digits: as near as two sets of seeds are to each other."""
    whole = row["instances"] == row["paper_instances"]
    why = f"to the nearest optimal order {row['sgd_nearest']:.4f}; our default {row['sco_distance']:.4f}"
    what = f"distance of SGD to Kemeny, {where(row)}"
    return Claim.near(what, row["paper_distance"], row["sgd_distance"], 0.003, why, form=".4f", judge=whole)


def _default(rows: Sequence[Row]) -> Claim:
    first = [row for row in rows if row["sco_alone"] is not None]
    alone = sum(row["sco_alone"] == 1 for row in first)
    counts = [sum(row[key] for row in rows) for key in ("winners", "sco_cpu_s", "instances")]
    why = "{:,} winners, first by construction; {:,.0f} CPU seconds for {:,} instances".format(*counts)
    return Claim("Condorcet winner alone on top by our default, in all groups", _list(rows, "paper_match", ".2f"),
                 f"1 in {alone} of {len(first)}", alone == len(first) if first else None, why)  # fmt: skip


def _program(rows: Sequence[Row]) -> Claim:
    printed = _printed(rows)
    return Claim("Condorcet match of sigmoidal programming", _list(printed, "paper_program_match", ".2f"),
                 _list(printed, f"{PROGRAM}_match"), None,
                 "first by construction; the paper's solver failed numerically from 5 agents on")  # fmt: skip


def _program_proven(rows: Sequence[Row]) -> Claim:
    done = [row for row in rows if row[f"{PROGRAM}_proven"] is not None]
    count = sum(row["instances"] for row in done)
    proven = round(sum(row[f"{PROGRAM}_proven"] * row["instances"] for row in done))
    return Claim("sigmoidal programming: minima proven to 0.1 %, up to 20 agents", "up to 4 agents",
                 f"{proven:,} of {count:,}", proven == count if done else None)  # fmt: skip


def _program_distance(rows: Sequence[Row]) -> Claim:
    printed = _printed(rows)
    return Claim("distance of sigmoidal programming to Kemeny", _list(printed, "paper_program_distance"),
                 _list(printed, f"{PROGRAM}_distance"), None,
                 f"to the nearest optimal order: {_list(printed, f'{PROGRAM}_nearest')}")  # fmt: skip


def _printed(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["paper_program_match"] is not None]


def _cpu(rows: Sequence[Row]) -> Claim:
    ran = [row for row in rows if row["sgd_cpu_s"]]
    times = sum(row["sgd_cpu_s"] for row in ran) / max(sum(row["sco_there_cpu_s"] for row in ran), 1e-9)
    each = ", ".join(f"{row['sgd_cpu_s'] / max(row['sco_there_cpu_s'], 1e-9):.0f}" for row in ran)
    return Claim("CPU time of our own SGD over our default's, same instances, all groups together", "", f"{times:.0f}",
                 None, f"by group: {each}; up to 10 agents both take milliseconds; against the code of the paper's "
                 "authors: benchmarks/default.py")  # fmt: skip


def _exact(rows: Sequence[Row]) -> Claim:
    larger = [row for row in rows if row["m_from"] > 10]
    shares = ", ".join(_share(row["kemeny_proven"]) for row in larger)
    gaps = ", ".join("-" if row["kemeny_open_gap"] is None else f"{row['kemeny_open_gap']:.1e}" for row in larger)
    return Claim(
        "exact Kemeny above 10 agents: share proven", "not run", shares, None, f"median gap of the others: {gaps}"
    )
