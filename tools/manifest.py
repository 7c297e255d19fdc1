"""Write the parts of a data set, as they are in an archive, into the manifest of the experiments.

python tools/manifest.py preflib preflib-paper.zip
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from experiments.datasets import parts_of  # noqa: E402

MANIFEST = ROOT / "experiments" / "manifest.json"

if __name__ == "__main__":
    name, archive = sys.argv[1:]
    manifest = json.loads(MANIFEST.read_text(encoding="utf-8"))
    manifest[name]["parts"] = {part: asdict(facts) for part, facts in parts_of(Path(archive)).items()}
    MANIFEST.write_text(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{name}: {len(manifest[name]['parts'])} parts")
