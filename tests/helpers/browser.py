"""Chromium for tests, and what it finds outside the window."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ARGUMENTS = [
    f"--{word}"
    for word in (
        *("no-sandbox", "disable-gpu", "disable-dev-shm-usage", "no-first-run"),
        *("disable-background-networking", "disable-component-update", "disable-sync"),
    )
]


# Everything with letters in it must lie inside the window; what lies in a box that scrolls may be wider.
OUTSIDE = """() => [...document.querySelectorAll('body *')].filter(e => {
    const box = e.getBoundingClientRect();
    return box.width && box.right > innerWidth + 1 && !e.closest('.scroll') && !e.closest('.votes');
}).map(e => e.tagName + '.' + (e.className.baseVal ?? e.className) + ' ' + (e.textContent || '').slice(0, 40))"""


# The path of axe.min.js, of the package axe-core (npm pack axe-core).
AXE = os.environ.get("AXE", "")
needs_axe = pytest.mark.skipif(not AXE, reason="needs axe-core: set AXE to the path of its axe.min.js")


def axe_violations(page: Any) -> list[Any]:
    """What axe finds wrong with a page when all that can be unfolded is."""
    for summary in page.locator("summary").all():
        summary.click()
    page.evaluate(Path(AXE).read_text(encoding="utf-8"))
    assert page.evaluate("axe.run().then(r => r.passes.length)") > 15, "it looked"
    found: list[Any] = page.evaluate(
        "axe.run().then(r => r.violations.map(v => [v.id, v.nodes.map(n => n.target.join())]))"
    )
    return found


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()
