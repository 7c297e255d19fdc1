"""Sparse data: which method finds the true order from a few contests of four among twenty agents? (Section 4.3.)

Skills come from N(100, 30), what a contest shows of them has noise N(0, 5), and the agents of a contest are drawn at
random or matched by skill (``synthetic.tournament``). A method sees n contests. Its order is held against the true one
by Kendall-tau distance (KTD, at most 190) and by the mean difference in true skill over the pairs that it has the wrong
way round (MTRD).

What the paper leaves open, and what is done here, the same for all methods:

- Agents in no contest (a third of them at n = 5) count as all others do, in the place that the method gives them: the
  middle for ratings, the end for most voting rules. `seen` is the share of wrong pairs among the agents seen only.
- Agents with equal ratings are tied, and a tie is half a mistake in both measures: what any way to break it costs on
  average.
- Rate and temperature of SGD: 0.1 and 1. Of the paper's two rates, 0.01 is too low for 10,000 steps: rows "sgd 0.01".
  Rates of 0.5 and 2, and half the temperature, change a mean of 60 seeds by about one pair.
- The box of 100: no rating comes near it. Sigma of Fenchel-Young is 1, where its loss is that of Bradley-Terry in the
  mean; with 100, the default of the authors' code, 10,000 steps at this rate end further from the truth.
- Elo is the fit of Bradley-Terry, as in the paper. Almost no tournament here has a finite one (`finite_elo` is the
  share that has), so it has a prior: a weak one, 0.01, the default. Rows "elo_fit 1" show what a strong prior does.
- Approval is of the better two of four; of the first only it would be plurality.

`over_sgd` and `over_fenchel_young` are differences to these methods, seed by seed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from experiments.figures import figure, look, shade, whiskers, words
from experiments.intervals import above, below, difference, shown, spread
from experiments.sparse_measure import CONTESTS, LOSSES, MISSING, PAPER, VASE, work
from experiments.study import Claim, Files, Job, Row, Scale, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SEEDS: dict[Scale, int] = {"tiny": 2, "quick": 40, "paper": 200}
_SEEDS_OF_PAIRS: dict[Scale, int] = {"tiny": 2, "quick": 200, "paper": 200}
_AT_ONCE = 20
# Fewer seeds say nothing about which method is lower.
_ENOUGH = 30
# Distances that differ by less than one pair in a hundred are called comparable.
_COMPARABLE = 1.9


def jobs(scale: Scale, files: Files) -> list[Job]:
    fits = [
        {"matching": matching, "n": n, "first": first, "last": min(first + _AT_ONCE, _SEEDS[scale])}
        for n in reversed(CONTESTS)
        for matching in MISSING
        for first in range(0, _SEEDS[scale], _AT_ONCE)
    ]
    return [*fits, *({"matching": matching, "pairs_of": _SEEDS_OF_PAIRS[scale]} for matching in MISSING)]


def table(rows: Sequence[Row]) -> list[Row]:
    fits: dict[tuple[str, int, str], list[list[float]]] = defaultdict(list)
    for row in rows:
        if "method" in row:
            fits[row["matching"], row["n"], row["method"]] += row["found"]
    pairs = [
        {"matching": row["matching"], "n": row["n"], "method": "missing pairs", "seeds": len(row["missing"]),
         **spread("missing", row["missing"]), "paper": MISSING[row["matching"]][CONTESTS.index(row["n"])],
         "finite_elo": sum(row["finite"]) / len(row["finite"])}
        for row in rows if "missing" in row
    ]  # fmt: skip
    kept = []
    for (matching, n, method), values in fits.items():
        made: Row = {"matching": matching, "n": n, "method": method, "seeds": len(values)}
        for column, name in enumerate(("distance", "mtrd", "seen")):
            own = [value[column] for value in values]
            made |= spread(name, own)
            for loss in LOSSES if name != "seen" else ():
                made |= difference(f"{name}_over_{loss}", own, [value[column] for value in fits[matching, n, loss]])
        kept.append(made)
    return [*kept, *pairs]


class Found:
    """The rows of the table by matching, n and method."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.by = {(row["matching"], row["n"], row["method"]): row for row in rows}
        self.enough = min(row["seeds"] for row in rows) >= _ENOUGH

    def claim(self, what: str, paper: str, ours: str, holds: bool, why: str = "") -> Claim:
        return Claim(what, paper, ours, holds if self.enough else None, why if self.enough else "too few seeds")

    def lowest(self, loss: str, measure: str, words: str, cases: Sequence[tuple[str, int]]) -> Claim:
        """Whether no other method of the paper is below SCO, by intervals of differences, in each of the cases."""
        column = f"{measure}_over_{loss}"
        lower = [
            (method, case)
            for case in cases
            for method in PAPER
            if method not in LOSSES and below(self.by[(*case, method)], column)
        ]
        best = len(cases) - len({case for _, case in lower})
        who = Counter(method for method, _ in lower)
        why = "below it: " + ", ".join(f"{name} in {count}" for name, count in who.most_common()) if who else ""
        return self.claim(
            f"{_SHORT[measure]} of {loss}, {words}",
            "lowest",
            f"no method below in {best} of {len(cases)}",
            not who,
            why,
        )


_SHORT = {"distance": "KTD", "mtrd": "MTRD"}


def _cases(missing: float, matchings: Iterable[str] = MISSING) -> list[tuple[str, int]]:
    """Where at least so many pairs are missing by the paper's count."""
    return [(key, n) for key in matchings for n, share in zip(CONTESTS, MISSING[key], strict=True) if share >= missing]


def claims(rows: Sequence[Row]) -> list[Claim]:
    found = Found(rows)
    return [*_pair_claims(found), *_lowest_claims(found), *_other_claims(found)]


def _pair_claims(found: Found) -> list[Claim]:
    made = []
    for matching in MISSING:
        for n in CONTESTS:
            row = found.by[matching, n, "missing pairs"]
            claim = Claim.near(f"missing pairs, {matching}, n = {n}", row["paper"], row["missing"], 0.01)
            why = ""
            if (matching, n) == ("skill", 5):
                # Of independent contests, f(10) = mean of (1 - p)^10 over pairs >= (mean of (1 - p)^5)^2 = f(5)^2.
                why = "contests drawn alike leave f(10) >= f(5)^2, so 0.88 here and 0.75 at n = 10 exclude each other"
            agrees = claim.agrees if row["seeds"] >= _ENOUGH else None
            made.append(replace(claim, agrees=agrees, why=why))
    return made


def _lowest_claims(found: Found) -> list[Claim]:
    made = []
    for loss in LOSSES:
        for measure in _SHORT:
            made.append(found.lowest(loss, measure, "59 % or more missing", _cases(0.59)))
            made.append(found.lowest(loss, measure, "uniform, 38 % or more missing", _cases(0.38, ["uniform"])))
    return made


def _other_claims(found: Found) -> list[Claim]:
    by, made = found.by, []
    dense = [n for n, share in zip(CONTESTS, MISSING["skill"], strict=True) if share < 0.5]
    pairs = [by["skill", n, "ranked_pairs"] for n in dense]
    apart = max((row["distance_over_sgd"] for row in pairs), key=abs)
    where = "skill, less than 50 % missing"
    made.append(found.claim(f"KTD of ranked_pairs less that of sgd, {where}", "comparable",
                            f"by {apart:+.1f}, the furthest", abs(apart) <= _COMPARABLE))  # fmt: skip
    level = [row for row in pairs if not below(row, "mtrd_over_sgd")]
    ours = f"lower in {len(pairs) - len(level)} of {len(pairs)}"
    why = "; ".join(f"n = {row['n']}: {shown(row, 'mtrd_over_sgd')}" for row in level)
    made.append(found.claim(f"MTRD of ranked_pairs, {where}", "lower than sgd", ours, not level, why))
    elo = {key: [by[key, n, "elo_fit"] for n in CONTESTS] for key in MISSING}
    apart = max((row["distance_over_sgd"] for row in elo["uniform"]), key=abs)
    made.append(found.claim("KTD of elo_fit less that of sgd, uniform", "comparable",
                            f"by {apart:+.1f}, the furthest", abs(apart) <= _COMPARABLE))  # fmt: skip
    higher = sum(above(row, "distance_over_sgd") for row in elo["skill"])
    strong = [f"{key} {shown(by[key, 20, 'elo_fit 1'], 'distance_over_sgd', 1)}" for key in MISSING]
    made.append(found.claim(
        "KTD of elo_fit, skill", "higher than sgd", f"higher in {higher} of {len(CONTESTS)}", higher == len(CONTESTS),
        f"a strong prior, 1, gives the paper's picture: at n = 20 over sgd by {', '.join(strong)}",
    ))  # fmt: skip
    return [*made, *(_worst_claim(found, measure) for measure in _SHORT)]


def _worst_claim(found: Found, measure: str) -> Claim:
    """Whether the intervals leave no other voting rule above one of the three that the paper calls highest."""
    worst, others = ("approval", "borda", "maximal_lotteries"), Counter[str]()
    cases = _cases(0.0)
    for case in cases:
        low, high = (
            {
                rule: found.by[(*case, rule)][measure] + side * found.by[(*case, rule)][f"{measure}_half"]
                for rule in VASE
            }
            for side in (-1, 1)
        )
        least = min(high[rule] for rule in worst)
        others.update(rule for rule in VASE if rule not in worst and low[rule] > least)
    why = "above one of them: " + ", ".join(
        f"{rule} in {count} of {len(cases)}" for rule, count in others.most_common()
    )
    if set(others) == {"plurality"}:
        why += "; without plurality it holds, and the paper does not say whether its figure has it"
    ours = "not only these" if others else "these"
    return found.claim(
        f"highest {_SHORT[measure]} of the voting rules", ", ".join(worst), ours, not others, why if others else ""
    )


_PANELS = {
    "fits of a model": ("sgd", "fenchel_young", "sco", "sco soft", "elo_fit", "plackett_luce"),
    "majority rules": ("sgd", "ranked_pairs", "schulze", "kemeny", "iterated_maximal_lotteries", "copeland"),
    "counts, and one pass": ("sgd", "approval", "plurality", "borda", "stv", "maximal_lotteries", "elo", "weng_lin"),
}
_NEAR = {
    "fits of a model": _PANELS["fits of a model"],
    "majority rules": _PANELS["majority rules"][:4],
    "other settings\n(else rate 0.1, prior 0.01)": ("sgd", "sgd 0.01", "elo_fit", "elo_fit 1"),
}
_TITLES = {"uniform": "drawn at random", "skill": "matched by skill"}


def draw(rows: Sequence[Row]) -> dict[str, Figure]:
    """Both measures against n for all methods, and the distance less that of SGD for those near it."""
    return {
        "distance": _draw(rows, "distance", "wrong pairs of 190 (Kendall-tau distance)", _PANELS),
        "mtrd": _draw(
            rows, "mtrd", "mean difference in skill of wrong pairs (skills: mean 100, deviation 30)", _PANELS
        ),
        "difference": _draw(
            rows, "distance_over_sgd", "wrong pairs of 190, less those of SCO by SGD on the same contests", _NEAR
        ),
    }


def _looks() -> dict[str, dict[str, Any]]:
    """The look of each method, the same in all panels: a colour is one method. What all are held against is black."""
    looks: dict[str, dict[str, Any]] = {}
    for methods, tone in zip(_PANELS.values(), (0.0, -0.45, 0.45), strict=True):
        for number, method in enumerate(name for name in methods if name != "sgd"):
            style = look(number if number < 6 else number + 1)  # black is taken
            looks[method] = {**style, "color": shade(style["color"], tone)}
    settings = {"sgd 0.01": "sgd", "elo_fit 1": "elo_fit"}
    looks["sgd"] = look(6)
    return looks | {name: {**looks[of], "linestyle": ":"} for name, of in settings.items()}


def _draw(rows: Sequence[Row], measure: str, label: str, panels: Mapping[str, Sequence[str]]) -> Figure:
    """A column of panels for each way to draw agents; intervals stand side by side, not on each other."""
    from matplotlib.ticker import FixedLocator, NullLocator

    absolute, looks = not measure.endswith("sgd"), _looks()
    made, axes = figure(9, 9.5, nrows=len(panels), ncols=2, sharey="row")
    for column, matching in zip(axes.T, MISSING, strict=True):
        share = {
            row["n"]: row["missing"] for row in rows if row["matching"] == matching and row.get("missing") is not None
        }
        column[0].set_title(f"agents {_TITLES[matching]}")
        for axis, methods in zip(column, panels.values(), strict=True):
            for number, method in enumerate(methods):
                picked = [row for row in rows if (row["matching"], row["method"]) == (matching, method)]
                picked.sort(key=lambda row: int(row["n"]))
                x = [place + 0.07 * (number - len(methods) / 2) for place in range(len(picked))]
                mean, half = ([row[key] for row in picked] for key in (measure, f"{measure}_half"))
                whiskers(axis, x, mean, half, looks[method], words(method))
            ticks = [f"{n}\n{f'{100 * part:.0f}' if part > 0.01 else '< 1'}" for n, part in share.items()]
            axis.set_xticks(range(len(share)), ticks)
            if absolute:
                axis.set(yscale="log")
                axis.yaxis.set_major_locator(FixedLocator([1, 2, 3, 5, 10, 20, 30, 50, 100]))
                axis.yaxis.set_major_formatter("{x:g}")
                axis.yaxis.set_minor_locator(NullLocator())
        column[-1].set_xlabel("contests; below, % of pairs in none")
    for axis, title in zip(axes[:, 1], panels, strict=True):
        axis.legend(title=title, loc="center left", bbox_to_anchor=(1, 0.5), fontsize="small", frameon=False)
    made.supylabel(label, fontsize="medium")
    seeds = next(row["seeds"] for row in rows if row.get(measure) is not None)
    made.suptitle(f"Sparse data: 20 agents, means of {seeds} seeds, 95 % intervals")
    return made


STUDY = Study("sparse", "Sparse data: the true order from a few contests (figure)", jobs, work, table, claims, draw)
