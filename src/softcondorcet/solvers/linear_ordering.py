"""The linear ordering problem on a margin matrix, by linear programs with 3-cycle cuts added as they are broken.

Variables x_ij in [0, 1] for i < j, 1 where i stands above j; the margins an order contradicts are

    sum over i < j of max(m_ij, 0) - m_ij x_ij,     subject to  0 <= x_ij + x_jk - x_ik <= 1.

Real votes rarely need more than these cuts: the solution is then whole and the order optimal. If it is not, pairs whose
reduced cost exceeds what a better order may cost are fixed, and what is left is solved in whole numbers. The bound of a
linear program is computed from dual values by weak duality, which holds for any dual values whatever: the solver's
tolerances cannot make it too high (Neumaier and Shcherbina, 2004). In whole numbers it is the solver's own, which takes
losses for different only where they are so by more than its tolerances may do. Margins should be whole, or near 1.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from softcondorcet.arrays import Floats, Ints
from softcondorcet.kernels import linear_ordering
from softcondorcet.solvers.components import WHOLE, contradicted, improve_order

# Cuts per round, and per pair and round: enough to converge in a few rounds, few enough for a quick re-solve.
_CUTS, _EACH = 20_000, 3
# Up to so many agents all inequalities are looked through for those that are nearly broken, by less than this.
_ALL, _NEAR = 64, 0.1
# In whole numbers the solver drops a branch whose program is above the best loss less one, and by this much more: more
# than its tolerances on the program can add up to, less than would let two losses pass for one.
_BRANCH = 1e-4
# Those tolerances: the default, and for losses so large that it is a mistake, or margins that are not whole, as small
# as they may be, which makes it slower.
_USUAL, _EXACT, _LARGE = 1e-7, 1e-10, 1e5


class Program:
    """The linear program of one margin matrix, growing by cuts."""

    def __init__(self, margin: Floats) -> None:
        import highspy

        self.margin, self.m = margin, len(margin)
        self.i, self.j = np.triu_indices(self.m, 1)
        self.column = np.zeros((self.m, self.m), dtype=np.int32)
        self.column[self.i, self.j] = np.arange(len(self.i))
        self.cost = -margin[self.i, self.j]
        self.always = float(np.maximum(margin[self.i, self.j], 0).sum())
        # More than rounding can do to sums of this many numbers of this size.
        self.rounding = 1e-11 * float(np.abs(self.cost).sum())
        self.rows: list[Ints] = []
        self.side: list[Floats] = []
        self.in_whole_numbers = False
        self.highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        self.highs.setOptionValue("output_flag", False)
        n = len(self.i)
        self.highs.addVars(n, np.zeros(n), np.ones(n))
        self.highs.changeColsCost(n, np.arange(n, dtype=np.int32), self.cost)

    def solve(self, seconds: float) -> tuple[Floats, float] | None:
        """Solution as a matrix and a safe lower bound; None when time ran out before there was one."""
        # The solver's clock goes on from one linear program to the next, but begins anew for whole numbers.
        spent = 0.0 if self.in_whole_numbers else self.highs.getRunTime()
        self.highs.setOptionValue("time_limit", spent + max(seconds, 0.01))
        self.highs.run()
        solution = self.highs.getSolution()
        if not solution.value_valid:
            return None
        x = np.full((self.m, self.m), 0.5)
        value = np.clip(np.array(solution.col_value), 0, 1)
        x[self.i, self.j], x[self.j, self.i] = value, 1 - value
        return x, self._bound(np.array(solution.row_dual)) if solution.dual_valid else -np.inf

    def _bound(self, dual: Floats) -> float:
        """Weak duality with these row duals, whatever their quality: sum of row terms plus each column at its best.

        A column at its other side costs its `reduced` cost on top of that.
        """
        self.reduced, total = self.cost.copy(), self.always
        if self.rows:
            columns = np.concatenate(self.rows)
            side = np.concatenate(self.side)  # 0 where the row reads >= 0, 1 where it reads <= 1
            dual = np.where(side == 0, np.maximum(dual, 0), np.minimum(dual, 0))
            total += float((dual * side).sum())
            np.subtract.at(self.reduced, columns, dual[:, None] * np.array([1.0, 1.0, -1.0]))
        self.bound = total + float(np.minimum(self.reduced, 0).sum()) - self.rounding
        return self.bound

    def fix(self, order: Ints, loss: float, apart: float) -> None:
        """Fix the pairs that must stand as in `order`, of that `loss`, in any order that is better by `apart`.

        Only pairs that `order` itself puts so: it stays a solution, and the program cannot become infeasible.
        """
        place = np.empty(self.m, dtype=np.int64)
        place[order] = np.arange(self.m)
        above = place[self.i] < place[self.j]
        dear = np.where(above, -self.reduced, self.reduced) > loss - apart - self.bound
        fixed, side = np.flatnonzero(dear).astype(np.int32), above[dear].astype(float)
        self.highs.changeColsBounds(len(fixed), fixed, side, side)

    def cut(self, x: Floats) -> int:
        """Add the 3-cycle inequalities that x breaks; returns how many."""
        found = np.empty((_CUTS, 4), dtype=np.int64)
        count = int(linear_ordering.broken_triples(x, _EACH, found))
        if count:
            self.add(found[:count])
        return count

    def add(self, triples: Ints) -> None:
        """Add inequalities, rows (i, j, k, side) with i < j < k: x_ij + x_jk - x_ik is >= 0 or, on side 1, <= 1."""
        i, j, k, side = triples.T
        columns = np.stack([self.column[i, j], self.column[j, k], self.column[i, k]], axis=1)
        count, bound = len(triples), side.astype(float)
        self.rows.append(columns)
        self.side.append(bound)
        self.highs.addRows(
            count,
            np.where(bound == 0, 0.0, -np.inf),
            np.where(bound == 0, np.inf, 1.0),
            3 * count,
            3 * np.arange(count, dtype=np.int32),
            columns.ravel().astype(np.int32),
            np.tile([1.0, 1.0, -1.0], count),
        )

    def add_near(self, x: Floats) -> None:
        """Add the inequalities that x nearly breaks and the program lacks, the nearest first.

        A search in whole numbers begins anew after each cut. With these it mostly needs no other.
        """
        if self.m > _ALL:
            return
        i, j, k = np.array(list(combinations(range(self.m), 3))).T
        value = x[i, j] + x[j, k] - x[i, k]
        slack = np.concatenate([value, 1 - value])
        triples = np.concatenate([np.stack([i, j, k, np.full(len(i), side)], axis=1) for side in (0, 1)])
        key = (self.column[triples[:, 0], triples[:, 1]] * len(self.i) + self.column[triples[:, 1], triples[:, 2]]) * 2
        there = [
            (rows[:, 0] * len(self.i) + rows[:, 1]) * 2 + side for rows, side in zip(self.rows, self.side, strict=True)
        ]
        new = np.flatnonzero((slack < _NEAR) & ~np.isin(key + triples[:, 3], np.concatenate([[-1], *there])))
        if len(new):
            self.add(triples[new[np.argsort(slack[new], kind="stable")[:_CUTS]]])

    def whole(self, order: Ints, apart: float) -> None:
        """From now on in whole numbers, starting from an order; two losses that differ do so by `apart` at least."""
        import highspy

        n, self.apart, self.in_whole_numbers = len(self.i), apart, True
        kinds = np.full(n, highspy.HighsVarType.kInteger)
        self.highs.changeColsIntegrality(n, np.arange(n, dtype=np.int32), kinds)
        usual = apart == WHOLE and contradicted(self.margin, order) < _LARGE
        tolerance = _USUAL if usual else _EXACT
        settings = {
            "mip_rel_gap": 0.0,  # by default it stops at 1e-4, which is many mistakes
            "mip_abs_gap": 0.99 if apart == WHOLE else 0.5 * apart,
            "mip_feasibility_tolerance": _BRANCH if apart == WHOLE else 10 * tolerance,
            "primal_feasibility_tolerance": tolerance,
            "dual_feasibility_tolerance": tolerance,
            # The start is good and has been improved already; beginning again at the root costs more than it saves.
            "mip_heuristic_effort": 0.0,
            "mip_allow_restart": False,
            "mip_detect_symmetry": False,
        }
        for name, value in settings.items():
            self.highs.setOptionValue(name, value)
        place = np.argsort(order)
        self.start = (place[:, None] < place).astype(float)

    def solve_whole(self, seconds: float) -> tuple[Floats, float] | None:
        """The same in whole numbers, from the start, which is also the solution where time ends before another."""
        import highspy

        start = highspy.HighsSolution()
        start.col_value = self.start[self.i, self.j].tolist()
        self.highs.setSolution(start)  # rows that were added have made it forget
        solved = self.solve(seconds)
        info, status = self.highs.getInfo(), self.highs.getModelStatus()
        if not info.valid or status not in (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kTimeLimit):
            return None
        if solved is not None and not self._is_whole(solved[0], info.objective_function_value):
            return solved[0], -np.inf
        bound = self.always + info.mip_dual_bound
        if self.apart == WHOLE:
            bound -= _BRANCH
        else:  # it calls its best solution the bound, where none is better by the gap
            bound -= 0.5 * self.apart + 10 * _EXACT * max(abs(bound), 1.0)
        return self.start if solved is None else solved[0], bound

    def _is_whole(self, x: Floats, value: float) -> bool:
        """Whether a solution is worth what the solver says when it is rounded: else the solver dropped branches for

        one that is whole only up to its tolerance, and costs less than any order does.
        """
        exact = float(self.cost @ np.round(x[self.i, self.j]))
        return abs(exact - value) <= 0.01 * self.apart


class Search:
    """The best order so far and the best bound; losses count as equal if they differ by less than `apart`."""

    def __init__(self, margin: Floats, apart: float) -> None:
        m = len(margin)
        self.margin, self.apart = margin, apart
        others = ~np.eye(m, dtype=bool)
        self.rows = np.arange(m + 1) * (m - 1), np.nonzero(others)[1].astype(np.uint32), margin[others]
        self.order: Ints = np.arange(m)
        self.loss, self.bound = np.inf, 0.0
        self.try_order(np.arange(m))

    def try_order(self, order: Ints) -> None:
        """Improve an order by best insertion and keep it if it is the best so far."""
        improve_order(*self.rows, order, len(order) + 100)
        loss = contradicted(self.margin, order)
        if loss < self.loss:
            self.order, self.loss = order, loss

    def learn(self, x: Floats, bound: float) -> bool:
        """Take in a solution of a program; True when the best order is proven optimal.

        A program may have fixed pairs that only orders as good as the best up to `apart` have the other way round.
        """
        whole = self.apart == WHOLE
        if whole:  # losses are whole, and so is a bound that no rounding has raised
            bound = float(np.ceil(bound))
        self.bound = max(self.bound, min(bound, self.loss - (0.0 if whole else 0.99 * self.apart)))
        self.try_order(np.argsort(-x.sum(axis=1), kind="stable"))
        return self.loss - self.bound <= self.apart


def solve_program(
    margin: Floats, apart: float, ends: float, *, start: Ints | None = None, cuts: Ints | None = None
) -> tuple[Ints, float]:
    """The best order found before `ends` (a time of the monotonic clock), and a lower bound on what it contradicts.

    Losses of two orders count as equal if they differ by less than `apart`: ``WHOLE`` for whole margins. `start` is an
    order to begin with, `cuts` are inequalities, as ``Program.add`` takes them.
    """
    search, program = Search(margin, apart), Program(margin)
    if start is not None:
        search.try_order(start.copy())
    if cuts is not None and len(cuts):
        program.add(cuts)
    x = _cut_until_done(program.solve, program, search, ends)
    if x is not None:
        program.fix(search.order, search.loss, 0.99 * apart)  # fixed pairs hide no order that `learn` rules out
        program.add_near(x)
        program.whole(search.order, apart)
        _cut_until_done(program.solve_whole, program, search, ends)
    return search.order, search.bound


def _cut_until_done(
    solve: Callable[[float], tuple[Floats, float] | None], program: Program, search: Search, ends: float
) -> Floats | None:
    """Solve and cut until a solution breaks no inequality, which is returned; None if there is nothing left to do."""
    while True:
        left = ends - time.monotonic()
        solved = solve(left) if left > 0 else None
        if solved is None or search.learn(*solved):
            return None
        if not program.cut(solved[0]):
            return solved[0]
