"""How a kernel runs: interpreted by Python while its inputs are small, compiled by numba once they are not.

Compiling takes seconds, once on a machine, and loading what was compiled half a second in each process. A file of some
thousand votes needs neither: its kernels are done before. Both ways give the same bits, so it never shows in a result
which of them ran; a kernel whose arithmetic the compiler may change is always compiled.

Compiled kernels are cached on disk and free of the interpreter's lock. The cache of a file is renewed when that file
changes, not when a kernel it calls from another file does: after a change to a shared kernel, delete
``kernels/__pycache__``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dis import get_instructions
from functools import cached_property
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from time import thread_time
from types import FunctionType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Function = Callable[..., Any]

# error_model="numpy" lets loops with a division vectorise.
_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}
# Without _nrt=False numba counts references to every slice of an array, with locked instructions: for one short vote
# they take longer than the mathematics, and longer to compile. A kernel so compiled cannot allocate.
_LEAN = {**_OPTIONS, "_nrt": False}
_REGROUP = {"contract", "reassoc", "nsz"}
# The longest array of a small input. And how many seconds of the processor a kernel may be interpreted for, in all, if
# a compiled one only has to be loaded, or else: about what the change takes, so no work takes much over twice its time.
SMALL, TO_LOAD, TO_COMPILE = 10_000, 0.1, 1.0


class Kernel:
    """A loop over arrays, and the options that numba compiles it by."""

    def __init__(self, function: Function, options: dict[str, Any]) -> None:
        self.function, self.options = function, options
        self.__name__, self.__module__, self.__doc__ = function.__name__, function.__module__, function.__doc__
        self.interpreted_for = 0.0
        self._always: Function | None = None

    def __call__(self, *arrays: Any) -> Any:
        return (self._always or self._choose(arrays))(*arrays)

    def use(self, way: Literal["interpreted", "compiled", "either"]) -> None:
        """Run it in one way from now on, whatever its inputs; "either" goes by them again."""
        self.interpreted_for = 0.0
        self._always = None
        if way == "compiled" or (way == "interpreted" and not self.exact):
            self._always = self.compiled
        elif way == "interpreted":
            self._always = self.interpret

    @property
    def title(self) -> str:
        """What it is called, with its file."""
        return f"{self.__module__.rpartition('.')[2]}.{self.__name__}"

    @cached_property
    def compiled(self) -> Any:
        """The function as numba has it: compiled, or loaded, at its first call."""
        import numba

        try:
            return numba.njit(**self.options)(self.function)
        except RuntimeError:  # no folder can be written for a cache, neither beside the source nor in the user's home
            return numba.njit(**{**self.options, "cache": False})(self.function)

    @property
    def _numba_type_(self) -> Any:
        """Numba asks for this where one kernel calls another."""
        return self.compiled._numba_type_

    @cached_property
    def parts(self) -> dict[str, Kernel]:
        """The kernels that it calls."""
        names = {step.argval for step in get_instructions(self.function) if step.opname == "LOAD_GLOBAL"}
        scope = self.function.__globals__
        return {name: scope[name] for name in names if isinstance(scope.get(name), Kernel)}

    @cached_property
    def exact(self) -> bool:
        """Whether arithmetic is done as written, here and in its parts, so that Python comes to the same bits."""
        return "fastmath" not in self.options and all(part.exact for part in self.parts.values())

    @cached_property
    def interpreted(self) -> Function:
        """The function and its parts as Python has them."""
        scope = {**self.function.__globals__, **{name: part.interpreted for name, part in self.parts.items()}}
        return FunctionType(self.function.__code__, scope, self.__name__)

    def interpret(self, *arrays: Any) -> Any:
        """Run it in Python. Numbers read from a memoryview are Python's own, several times as fast as an array's."""
        began, written = thread_time(), [(a, a.copy()) for a in _arrays(arrays) if a.flags.writeable]
        try:
            with np.errstate(all="ignore"):
                return self.interpreted(*map(_view, arrays))
        except (ArithmeticError, ValueError):  # where compiled arithmetic goes on with an infinity or a nan
            for array, before in written:
                array[:] = before
            return self.compiled(*arrays)
        finally:
            self.interpreted_for += thread_time() - began

    def _choose(self, arrays: tuple[Any, ...]) -> Function:
        """Interpret a small input as long as that has not taken long; else compile it, and stay with that."""
        small = self.exact and all(array.size <= SMALL for array in _arrays(arrays))
        if small and self.interpreted_for < self._patience():
            return self.interpret
        self._always = self.compiled
        return self._always

    def _patience(self) -> float:
        """Seconds for which it may be interpreted: none where it is compiled already, and numba is loaded too."""
        if not self._is_cached:
            return TO_COMPILE
        return 0.0 if "numba" in sys.modules else TO_LOAD

    @cached_property
    def _is_cached(self) -> bool:
        """Whether it seems to have been compiled before. Asked of the file system, since numba takes long to import."""
        source, index = Path(self.function.__code__.co_filename), f"{self.title}-*.nbi"
        folder = os.environ.get("NUMBA_CACHE_DIR")
        places = Path(folder).glob(f"*/{index}") if folder else (source.parent / "__pycache__").glob(index)
        return any(places)


def _arrays(values: tuple[Any, ...]) -> Iterator[NDArray[Any]]:
    for value in values:
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, tuple):
            yield from _arrays(value)


def _view(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_view, value))
    return value.data if isinstance(value, np.ndarray) and value.ndim == 1 else value


def kernels() -> list[Kernel]:
    """All kernels of the package."""
    package = import_module(__package__)
    modules = [import_module(f"{__package__}.{found.name}") for found in iter_modules(package.__path__)]
    named = [(module, value) for module in modules for value in vars(module).values()]
    return [value for module, value in named if isinstance(value, Kernel) and value.__module__ == module.__name__]


def kernel(function: Function) -> Kernel:
    """Exact arithmetic in the order written."""
    return Kernel(function, _OPTIONS)


def lean(function: Function) -> Kernel:
    """Exact, for kernels that allocate nothing."""
    return Kernel(function, _LEAN)


def fused(function: Function) -> Kernel:
    """Lean, with fused multiply-add, otherwise in the order written; always compiled."""
    return Kernel(function, {**_LEAN, "fastmath": {"contract"}})


def lean_sum(function: Function) -> Kernel:
    """Lean, and sums may be taken in any order; always compiled. Not for a body that rounds, as `exp` does."""
    return Kernel(function, {**_LEAN, "fastmath": _REGROUP})


def summing_kernel(function: Function) -> Kernel:
    """Sums may be regrouped and fused, so that a reduction vectorises; the same on every call. Always compiled."""
    return Kernel(function, {**_OPTIONS, "fastmath": {*_REGROUP, "arcp"}})
