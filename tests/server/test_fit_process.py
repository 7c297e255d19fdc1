"""A fit gives way to votes: before it loads anything, with one core and one thread."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np

from softcondorcet import Profile
from softcondorcet.server.ledger import fit_child, fit_process

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
    runpy.run_module("softcondorcet.server.ledger.fit_child", run_name="__main__")
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
        f"from {fit_child.__name__} import give_way; give_way(); print(len(os.sched_getaffinity(0)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert found.stdout.strip() == "1"


# As on a system where a process cannot choose its cores.
NO_AFFINITY = "import os; del os.sched_getaffinity, os.sched_setaffinity; "


def test_a_fit_is_made_where_cores_cannot_be_chosen() -> None:
    profile = Profile.from_rankings([["x", "y"], ["x", "y"], ["y", "x"]])
    packed = fit_process.pack(profile, np.full(3, -1), fit_process.Job(list(profile.agents), [], resamples=0))
    limits = f"'{2**30}', '60'"
    run = f"runpy.run_module({fit_child.__name__!r}, run_name='__main__')"
    command = [
        sys.executable,
        "-c",
        f"{NO_AFFINITY}import runpy, sys; sys.argv[1:] = [str(os.getppid()), {limits}]; {run}",
    ]
    done = subprocess.run(command, input=packed, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()
    high, low = json.loads(done.stdout)["values"]
    assert high > low


def test_a_process_gives_way_where_cores_cannot_be_chosen() -> None:
    code = NO_AFFINITY + f"from {fit_child.__name__} import give_way; give_way(); print(os.nice(0))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert int(done.stdout) == min(os.nice(0) + 10, 19)
