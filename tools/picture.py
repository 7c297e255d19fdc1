"""Make docs/report.png, the picture of the README: the top of the report of the built-in arena.

python tools/picture.py    # needs Chromium and '.[dev]'
"""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import FloatRect, sync_playwright

import softcondorcet as sc

PICTURE = Path(__file__).parent.parent / "docs" / "report.png"
# Down to the first agent below the circle.
TOP: FloatRect = {"x": 12, "y": 45, "width": 976, "height": 705}

if __name__ == "__main__":
    with TemporaryDirectory() as folder, sync_playwright() as driver:
        page = Path(folder, "report.html")
        page.write_text(sc.report(sc.synthetic.demo(), title="The built-in arena"), encoding="utf-8")
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        window = browser.new_page(viewport={"width": 1000, "height": 900}, color_scheme="light")
        window.goto(page.as_uri())
        window.screenshot(path=PICTURE, clip=TOP)
        browser.close()
    print(f"wrote {PICTURE} ({PICTURE.stat().st_size / 1000:.0f} KB)")
