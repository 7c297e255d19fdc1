"""Twenty million battles of Parquet to ratings without any option: the most memory, and CPU seconds.

    python benchmarks/memory.py [--rows 20000000] [--csv benchmarks/results/memory.csv]

The file is made in a temporary folder: battles over 1,000 agents, once with their three columns alone and once with a
judge, a time and a language beside them. Each way to read it runs in a process of its own, whose largest resident set
is what `GB` says: the command line, which counts pairs; the same without DuckDB; the library, which keeps all votes.
Exits with 1 if one takes 1.5 GB or more of the three columns, or the command line of either.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import out_of_core
import pyarrow as pa
import pyarrow.parquet as pq
from rows import arguments, show

GIGABYTES = 1.5
MEASURED = """
import json, os, resource, sys, time
{}
print(json.dumps({{
    "cpu_s": round(time.process_time(), 1),
    "GB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
}}))
"""
COMMAND = """
from contextlib import redirect_stdout
from softcondorcet.cli import main
with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
    main(["rank", sys.argv[1], "-q"], standalone_mode=False)
"""
WAYS = {
    "sco rank": COMMAND,
    "sco rank, no DuckDB": "sys.modules['duckdb'] = None" + COMMAND,
    "sc.sco(sc.read)": "import softcondorcet as sc\nsc.sco(sc.read(sys.argv[1]))",
}


def more_columns(path: Path) -> Path:
    """The same file with a judge, a time and a language of each battle."""
    table = pq.read_table(path, read_dictionary=["model_a", "model_b", "winner"])
    rng, n = np.random.default_rng(2), len(table)
    for name, count in (("judge", 5000), ("language", 40)):
        names = pa.array([f"{name}-{k}" for k in range(count)])
        table = table.append_column(
            name, pa.DictionaryArray.from_arrays(rng.integers(0, count, n, dtype=np.int32), names)
        )
    table = table.append_column("tstamp", pa.array(1.7e9 + rng.random(n) * 3e7))
    target = path.with_name("more.parquet")
    pq.write_table(table, target)
    return target


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--rows", type=int, default=20_000_000)
    options = parser.parse_args()
    found: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="sco-") as name:
        out_of_core.PIECE = options.rows
        out_of_core.battles(Path(name), options.rows)
        plain = Path(name) / "000.parquet"
        for columns, path in ((3, plain), (6, more_columns(plain))):
            for way, code in WAYS.items():
                done = subprocess.run(
                    [sys.executable, "-c", MEASURED.format(code), str(path)],
                    stdout=subprocess.PIPE, text=True, check=True,
                )  # fmt: skip
                row = {"way": way, "rows": options.rows, "columns": columns, "file_MB": path.stat().st_size // 10**6}
                found.append({**row, **json.loads(done.stdout)})
    show(found, options.csv)
    return int(any(row["GB"] >= GIGABYTES for row in found if row["columns"] == 3 or "rank" in row["way"]))


if __name__ == "__main__":
    sys.exit(main())
