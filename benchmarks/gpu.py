"""How fast is the full gradient on a GPU, beside what its memory allows? And a thousand resamples?

    python benchmarks/gpu.py [--pairs 1000000000] [--csv benchmarks/results/gpu.csv]

Directed pairs per second of the gradient of the sigmoid loss (``backends.gpu.GpuRows``), over 1e5, 1e6 and 1e7 agents,
partners of each agent sorted as ``Pairs`` keeps them: drawn from all agents, and, for locality, from those near it.
`floor` is the time that reading 8 bytes a pair would take at the speed of a copy on the same GPU. Then 1,000 resamples
of 20 million pairs over 20,000 agents (``backends.gpu.Resamples``). Kernels run once before they are timed; medians of
10. Exits with 1 if a target is missed.
"""

from __future__ import annotations

import sys
import time
from statistics import median
from typing import Any

import numpy as np
from rows import arguments, show

from softcondorcet.backends.gpu import GpuRows, Resamples, torch_on_gpu

SPEED, SECONDS = 150e9, 60.0


def rows_of(m: int, pairs: int, near: int | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of equal length with sorted partners, drawn by strata of all agents or of the `near` next ones."""
    rng, per = np.random.default_rng(m), pairs // m
    row = np.arange(m + 1, dtype=np.int64) * per
    column = np.empty(m * per, np.uint32)
    width = (near or m) / per
    strata = np.arange(per, dtype=np.float32)
    for first in range(0, m, max(10_000_000 // per, 1)):
        last = min(first + max(10_000_000 // per, 1), m)
        drawn = ((strata + rng.random((last - first, per), dtype=np.float32)) * width).astype(np.int64)
        if near is not None:
            drawn = (drawn + np.arange(first, last)[:, None]) % m
            drawn.sort(axis=1)
        column[row[first] : row[last]] = np.minimum(drawn, m - 1).ravel()
    margin = np.tile(
        rng.integers(-20, 21, min(len(column), 10_000_000)).astype(np.float64), -(-len(column) // 10_000_000)
    )
    return row, column, margin[: len(column)]


def gpu_ms(torch: Any, work: Any, repeats: int = 10) -> float:
    work()
    times: list[float] = []
    for _ in range(repeats):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        work()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end))
    return median(times)


def bytes_a_second(torch: Any) -> float:
    """Bytes read and written by a copy within the memory of the GPU."""
    here = torch.empty(500_000_000, device="cuda")
    there = torch.empty_like(here)
    return float(2 * here.numel() * 4) / gpu_ms(torch, lambda: there.copy_(here)) * 1e3


def gradient(torch: Any, m: int, pairs: int, near: int | None, precision: Any, copy: float) -> dict[str, Any]:
    row, column, margin = rows_of(m, pairs, near)
    rows = GpuRows(row, column, margin, None, precision)
    x = np.random.default_rng(1).standard_normal(m) * 3
    ratings, out = torch.as_tensor(x, device="cuda", dtype=rows.real), torch.empty(m, device="cuda", dtype=rows.real)
    kernel = gpu_ms(torch, lambda: rows.run(ratings, out, 1.0))
    began = time.perf_counter()
    for _ in range(3):
        found = rows.gradient(x, 1.0)
    whole = (time.perf_counter() - began) / 3
    part = slice(row[7], row[8])
    d = x[7] - x[column[part]]
    p = 1 / (1 + np.exp(-d))
    expected = -(margin[part] * p * (1 - p)).sum()
    error = abs(found[7] - expected) / np.abs(margin[part] * p * (1 - p)).sum()
    return {
        "what": "gradient", "m": m, "pairs": len(column), "partners": "all" if near is None else f"{near:,} next",
        "precision": precision, "ms": round(kernel, 3), "G_pairs_s": round(len(column) / kernel / 1e6, 1),
        "floor_ms": round(8 * len(column) / copy * 1e3, 3), "ms_with_copies": round(whole * 1e3, 3),
        "error": f"{error:.1e}",
    }  # fmt: skip


def resamples(n: int, pairs: int, m: int) -> dict[str, Any]:
    rng = np.random.default_rng(2)
    keys = np.unique(rng.integers(0, m, 9 * pairs // 4) * m + rng.integers(0, m, 9 * pairs // 4))
    left, right = keys // m, keys % m
    kept = rng.permutation(np.flatnonzero(left < right))[:pairs]
    kept.sort()
    left, right = left[kept], right[kept]
    skill = rng.standard_normal(m)
    wins = rng.binomial(5, 1 / (1 + np.exp(skill[right] - skill[left]))).astype(float)
    both, number = np.concatenate([left, right]), np.arange(1, len(left) + 1)
    order = np.lexsort((np.concatenate([right, left]), both))
    column = np.concatenate([right, left])[order].astype(np.uint32)
    pair = np.concatenate([number, -number])[order]
    row = np.concatenate([[0], np.cumsum(np.bincount(both, minlength=m))])
    heats = np.geomspace(12.5, 0.15625, 100)
    drawn = Resamples(row, column, pair, wins, 5 - wins, heats)
    next(drawn.rate(1, 1, (0.0, 100.0), 0))
    began = time.perf_counter()
    found = np.concatenate(list(drawn.rate(n, 30, (0.0, 100.0), 0)))
    seconds = time.perf_counter() - began
    agreement = np.mean(
        [np.corrcoef(values.argsort().argsort(), skill.argsort().argsort())[0, 1] for values in found[:20]]
    )
    return {
        "what": f"{n:,} resamples", "m": m, "pairs": len(left), "partners": "all", "precision": "single",
        "ms": round(seconds * 1e3), "G_pairs_s": round(2 * len(left) * n * 130 / seconds / 1e9, 1), "floor_ms": "",
        "ms_with_copies": "", "error": f"ranks and skills correlate by {agreement:.4f}",
    }  # fmt: skip


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--pairs", type=int, default=1_000_000_000)
    options = parser.parse_args()
    torch = torch_on_gpu()
    copy = bytes_a_second(torch)
    found = []
    for m, near, precision in (
        (100_000, None, "single"), (1_000_000, None, "single"), (10_000_000, None, "single"),
        (1_000_000, 20_000, "single"), (10_000_000, 20_000, "single"), (100_000, None, "double"),
    ):  # fmt: skip
        found.append(gradient(torch, m, options.pairs, near, precision, copy))
        print(found[-1], flush=True)
        torch.cuda.empty_cache()
    found.append(resamples(1000, 20_000_000, 20_000))
    show(found, options.csv)
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, copy {copy / 1e12:.2f} TB/s")
    missed = found[0]["G_pairs_s"] * 1e9 < SPEED or found[-1]["ms"] > SECONDS * 1e3
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
