"""Which walk from easy to sharp finds the best orders? Evidence for the default of ``sco``.

    python benchmarks/walk.py preflib-paper.zip [--csv benchmarks/results/walk.csv]

On a seeded sample of PrefLib instances, descends along several walks of 100 steps and reports, per walk: the mean
excess of the discrete loss over the best walk's, before and after best insertion, how often it is best, CPU time.
"""

from __future__ import annotations

import random
import sys
import time
import zipfile

import numpy as np
from rows import arguments, show

import softcondorcet as sc
from softcondorcet.backends.cpu import PairwiseLoss, Stage
from softcondorcet.solvers.components import improve_order
from softcondorcet.solvers.descent import descend

BOX, STEPS, SAMPLE = (0.0, 100.0), 100, 60
GROUPS = [(11, 20), (21, 50), (51, 100), (101, 200), (201, 500)]


def walks(heat: float) -> dict[str, list[Stage]]:
    """A hundred steps each."""
    third = STEPS // 3
    return {
        "no walk": [Stage(1.0, heat)] * STEPS,
        "temperature from 1/2 of the box": [Stage(1.0, float(t)) for t in np.geomspace(50, heat, STEPS)],
        "temperature from 1/4 of the box": [Stage(1.0, float(t)) for t in np.geomspace(25, heat, STEPS)],
        "temperature from 1/8 of the box": [Stage(1.0, float(t)) for t in np.geomspace(12.5, heat, STEPS)],
        "temperature from 1/16 of the box": [Stage(1.0, float(t)) for t in np.geomspace(6.25, heat, STEPS)],
        "sharpness 0 to 1 while the temperature falls from 1/4": [
            Stage(float(q), float(t))
            for q, t in zip(np.minimum(np.linspace(0, 2, STEPS), 1), np.geomspace(25, heat, STEPS), strict=True)
        ],
        "sharpness 0, then 1, then the temperature from 1/8": [
            *[Stage(0.0, 12.5)] * third,
            *(Stage(1.0, float(t)) for t in np.geomspace(12.5, heat, STEPS - third)),
        ],
    }


def run(profile: sc.Profile) -> dict[str, tuple[float, float, float]]:
    """Of each walk: discrete loss before and after insertion, CPU seconds."""
    pairs = profile.pairs()
    m, rows = pairs.n_agents, pairs.by_agent
    found = {}
    for name, stages in walks(100 / float(np.clip(4 * m, 100, 640))).items():
        began = time.process_time()
        end = descend(PairwiseLoss(pairs, BOX), np.full(m, 50.0), stages, bounds=BOX, steps=STEPS, tol=1e-300)
        order = np.argsort(-end.ratings, kind="stable")
        place = -np.argsort(order).astype(float)
        before = pairs.discrete_loss(place)
        improve_order(rows.row, rows.column, rows.margin, order, m + 100)
        spent = time.process_time() - began
        found[name] = (before, pairs.discrete_loss(-np.argsort(order).astype(float)), spent)
    return found


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("archive")
    options = parser.parse_args()
    archive, by_group = zipfile.ZipFile(options.archive), dict[tuple[int, int], list[str]]()
    for member in archive.namelist():
        head = archive.open(member).read(2000).decode("utf-8", "replace")
        m = int(head.partition("# NUMBER ALTERNATIVES:")[2].split()[0])
        for group in GROUPS:
            if group[0] <= m <= group[1]:
                by_group.setdefault(group, []).append(member)
    rows = []
    for group in GROUPS:
        chosen = random.Random(0).sample(sorted(by_group[group]), SAMPLE)
        results = [run(sc.read(archive.open(member))) for member in chosen]
        results = [r for r in results if min(loss for _, loss, _ in r.values()) > 0]
        best = np.array([min(loss for _, loss, _ in r.values()) for r in results])
        for name in results[0]:
            before, after, spent = np.array([r[name] for r in results]).T
            rows.append({
                "agents": f"{group[0]}-{group[1]}", "instances": len(results), "walk": name,
                "excess_before_insertion": f"{np.mean(before / best - 1):.2e}",
                "excess_after_insertion": f"{np.mean(after / best - 1):.2e}",
                "best": round(float(np.mean(after <= best + 1e-9)), 2), "cpu_ms": round(1e3 * float(np.mean(spent)), 1),
            })  # fmt: skip
    show(rows, options.csv)
    return 0


if __name__ == "__main__":
    sys.exit(main())
