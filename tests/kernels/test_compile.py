"""Kernels interpreted and compiled: the same bits, and which of the two runs when."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from softcondorcet import synthetic, write
from softcondorcet.cli.warm import jobs
from softcondorcet.kernels.compile import SMALL, TO_COMPILE, Kernel, fused, kernel, kernels, lean


@pytest.fixture(autouse=True)
def _either_way() -> Iterator[None]:
    yield
    for each in kernels():
        each.use("either")


def copied(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same arguments for a second run: arrays are written to."""
    return tuple(
        copied(value) if isinstance(value, tuple) else value.copy() if isinstance(value, np.ndarray) else value
        for value in values
    )


def bits(*values: Any) -> bytes:
    """Nan equals nan, 0.0 differs from -0.0, and a number of Python equals the same one of numpy."""
    parts = (bits(*v) if isinstance(v, tuple) else np.asarray(v, getattr(v, "dtype", float)).tobytes() for v in values)
    return b"".join(parts)


class Compared(set[str]):
    """Names of the kernels that were called; each call was interpreted, compiled, and compared."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        interpret = Kernel.interpret

        def both(called: Kernel, *arrays: Any) -> Any:
            again = copied(arrays)
            result, expected = interpret(called, *arrays), called.compiled(*again)
            assert bits(result) == bits(expected), called.title
            if called.title == "shrinkage.beta_binomial":  # Python's lgamma and the system's; sums of terms of 1e5
                np.testing.assert_allclose(arrays[-1], again[-1], atol=1e-7)
            else:
                assert bits(*arrays) == bits(*again), called.title
            self.add(called.title)
            return result

        monkeypatch.setattr(Kernel, "interpret", both)
        for each in kernels():
            each.use("interpreted")


def test_every_exact_kernel_comes_to_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = Compared(monkeypatch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of votes that settle little
        for job in jobs().values():
            job()
    parts = {id(part) for each in kernels() for part in each.parts.values()}
    assert {each.title for each in kernels() if each.exact and id(each) not in parts} - compared == set()


def test_the_first_answer_compiles_nothing(tmp_path: Path) -> None:
    write(synthetic.tournament(3_000, agents=30, size=2)[0], tmp_path / "battles.csv")
    code = "import sys, softcondorcet.cli as c; c.main(standalone_mode=False); assert 'numba' not in sys.modules"
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-c", code, "rank", str(tmp_path / "battles.csv"), "--quiet"]
    subprocess.run(command, env=env, check=True, capture_output=True)
    assert not (tmp_path / "cache").exists()


@lean
def double(values: Any) -> Any:
    for k in range(len(values)):
        values[k] *= 2.0


@fused
def multiply_and_add(values: Any) -> Any:
    for k in range(len(values)):
        values[k] = values[k] * 1.1 + 0.1


@kernel
def calls_a_fused_one(values: Any) -> Any:
    multiply_and_add(values)


def ways(called: Kernel, size: int, monkeypatch: pytest.MonkeyPatch) -> str:
    """How a call with an array of that size runs."""
    interpreted = []
    monkeypatch.setattr(Kernel, "interpret", lambda self, *_: interpreted.append(self))
    called(np.ones(size))
    return "interpreted" if interpreted else "compiled"


def test_small_inputs_are_interpreted_and_large_ones_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    double.use("either")
    assert ways(double, SMALL, monkeypatch) == "interpreted"
    assert ways(double, SMALL + 1, monkeypatch) == "compiled"
    assert ways(double, 1, monkeypatch) == "compiled"  # it is there now


def test_what_was_interpreted_for_long_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    double.use("either")
    double.interpreted_for = TO_COMPILE
    assert ways(double, 1, monkeypatch) == "compiled"


def test_time_interpreted_is_counted() -> None:
    double.use("either")
    double(np.ones(SMALL))
    assert double.interpreted_for > 0


@pytest.mark.parametrize("called", [multiply_and_add, calls_a_fused_one])
def test_arithmetic_that_the_compiler_may_change_is_always_compiled(
    called: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not called.exact
    called.use("interpreted")
    assert ways(called, 1, monkeypatch) == "compiled"


@lean
def divide(values: Any, total: Any) -> Any:
    for k in range(len(values)):
        values[k] = values[k] / total[k]


def test_a_division_by_zero_goes_on_as_compiled() -> None:
    values = np.array([3.0, 1.0, 0.0])
    divide.use("interpreted")
    divide(values, np.array([2.0, 0.0, 0.0]))
    np.testing.assert_array_equal(values, [1.5, np.inf, np.nan])


def test_a_kernel_without_a_place_for_its_cache_still_compiles() -> None:
    scope: dict[str, Any] = {}
    exec("def twice(values):\n    for k in range(len(values)):\n        values[k] *= 2.0", scope)
    twice, values = lean(scope["twice"]), np.ones(2)
    twice.use("compiled")
    twice(values)
    assert values.tolist() == [2.0, 2.0]
