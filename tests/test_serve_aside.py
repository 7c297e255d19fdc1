"""A fit gives way to votes: before it loads anything, with one core and one thread."""

from __future__ import annotations

import os
import subprocess
import sys

from softcondorcet.serve import aside

# Who runs the module sees the first import of something large.
WATCHED = """
import os, runpy, sys
class Watch:
    def find_spec(self, name, *_):
        if name in ("numpy", "numba"):
            print(name, os.nice(0), len(os.sched_getaffinity(0)), flush=True)
sys.meta_path.insert(0, Watch())
sys.argv = ["aside", str(os.getppid())]
try:
    runpy.run_module("softcondorcet.serve.aside", run_name="__main__")
except Exception:  # there are no votes
    pass
import numba
print("threads", numba.config.NUMBA_NUM_THREADS, len(os.listdir("/proc/self/task")) <= 3)
"""


def test_a_fit_gives_way_before_it_loads_anything() -> None:
    command = [sys.executable, "-c", WATCHED]
    found = subprocess.run(command, capture_output=True, text=True, input="", timeout=120, check=True)
    said = found.stdout.splitlines()
    modest = os.nice(0) + 10
    assert said[0] == f"numpy {min(modest, 19)} 1", found
    assert said[-1] == "threads 1 True"


def test_one_core_is_left_where_there_is_only_one() -> None:
    code = f"import os; os.sched_setaffinity(0, {{{max(os.sched_getaffinity(0))}}}); " + (
        f"from {aside.__name__} import give_way; give_way(); print(len(os.sched_getaffinity(0)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert found.stdout.strip() == "1"
