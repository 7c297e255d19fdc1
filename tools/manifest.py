"""Write the parts of a data set, as they are in an archive, into the package's manifest.

python tools/manifest.py preflib preflib-paper.zip
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

from softcondorcet.datasets import parts_of

MANIFEST = Path(__file__).parent.parent / "src" / "softcondorcet" / "manifest.json"

if __name__ == "__main__":
    name, archive = sys.argv[1:]
    manifest = json.loads(MANIFEST.read_text(encoding="utf-8"))
    manifest[name]["parts"] = {part: asdict(facts) for part, facts in parts_of(Path(archive)).items()}
    MANIFEST.write_text(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{name}: {len(manifest[name]['parts'])} parts")
