"""Kernels interpreted and compiled: the same bits, and which of the two runs when."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from softcondorcet import synthetic, write
from softcondorcet.cli.warm import jobs
from softcondorcet.kernels.compile import SMALL, TO_COMPILE, TO_LOAD, Function, Kernel, fused, kernel, kernels, lean


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


def made(decorator: Callable[[Function], Kernel], body: str, **names: Any) -> Kernel:
    """A kernel of one array that has no file, so that numba has no place for its cache."""
    scope: dict[str, Any] = {"__name__": "toy", **names}
    exec(f"def loop(values):\n    for k in range(len(values)):\n        {body}", scope)
    return decorator(scope["loop"])


def doubling() -> Kernel:
    return made(lean, "values[k] = values[k] * 2.0")


def way(called: Kernel, size: int, monkeypatch: pytest.MonkeyPatch) -> str:
    """How a call with an array of that size runs."""
    interpreted = []
    monkeypatch.setattr(Kernel, "interpret", lambda self, *_: interpreted.append(self))
    called(np.ones(size))
    return "interpreted" if interpreted else "compiled"


def test_small_inputs_are_interpreted_and_large_ones_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    double = doubling()
    assert way(double, SMALL, monkeypatch) == "interpreted"
    assert way(double, SMALL + 1, monkeypatch) == "compiled"
    assert way(double, 1, monkeypatch) == "compiled"  # it is there now


@pytest.mark.parametrize(("cached", "numba", "patience"), [(False, True, TO_COMPILE), (True, False, TO_LOAD)])
def test_what_was_interpreted_for_long_is_compiled(
    cached: bool, numba: bool, patience: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    before, after = doubling(), doubling()
    if cached:
        (tmp_path / "kernels").mkdir()
        (tmp_path / "kernels" / f"{before.title}-1.nbi").touch()
    if not numba:
        monkeypatch.delitem(sys.modules, "numba", raising=False)
    before.interpreted_for, after.interpreted_for = 0.9 * patience, patience
    assert way(before, 1, monkeypatch) == "interpreted"
    monkeypatch.setattr(Kernel, "compiled", len)  # numba itself cannot be loaded twice
    assert way(after, 1, monkeypatch) == "compiled"


def test_what_is_cached_is_compiled_where_numba_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    double = doubling()
    double.use("compiled")  # loads numba
    double.use("either")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / f"{double.title}-1.nbi").touch()
    assert way(double, 1, monkeypatch) == "compiled"


def test_time_interpreted_is_counted() -> None:
    double = doubling()
    double.use("interpreted")
    double(np.ones(SMALL))
    assert double.interpreted_for > 0


def test_arithmetic_that_the_compiler_may_change_is_always_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    multiply_and_add = made(fused, "values[k] = values[k] * 1.1 + 0.1")
    caller = made(kernel, "part(values)", part=multiply_and_add)
    assert caller.parts == {"part": multiply_and_add}
    for called in (multiply_and_add, caller):
        assert not called.exact
        called.use("interpreted")
        assert way(called, 1, monkeypatch) == "compiled"


def test_a_division_by_zero_goes_on_as_compiled() -> None:
    invert, values = made(lean, "values[k] = 1.0 / values[k]"), np.array([2.0, 0.0, 4.0])
    invert.use("interpreted")
    invert(values)
    np.testing.assert_array_equal(values, [0.5, np.inf, 0.25])


def test_a_kernel_without_a_place_for_its_cache_still_compiles() -> None:
    double, values = doubling(), np.ones(2)
    double.use("compiled")
    double(values)
    assert values.tolist() == [2.0, 2.0]
