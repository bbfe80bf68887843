"""Make docs/images/explore-*.png: the page of `bilex explore` on a run of the bundled sample.

    python tools/make_screenshots.py [RUN]

Without RUN the English-French sample is aligned with RAPO first, for a few epochs. Needs playwright and an installed
Chromium (the environment variable CHROMIUM is its path, default: `chromium`). Decisions are saved to a temporary file.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
WAIT = 600_000
LARGEST = 200 * 1024


def main() -> None:
    """Start `bilex explore`, and take a screenshot of each view."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        run = Path(sys.argv[1]) if len(sys.argv) > 1 else make_run(Path(folder) / "en-fr")
        command = [sys.executable, "-m", "bilex", "explore", run, "--port", "0", "--no-open", "--json"]
        command += ["--corrections", Path(folder) / "corrections.sqlite"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, sync_playwright() as playwright:
            try:
                url = json.loads(server.stdout.readline())["url"]
                chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
                browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"], timeout=WAIT)
                take(browser, url)
                browser.close()
            finally:
                server.terminate()


def take(browser: object, url: str) -> None:
    """Take all screenshots."""
    page = browser.new_page(viewport={"width": 1100, "height": 760})
    page.set_default_timeout(WAIT)
    page.goto(url)
    page.wait_for_selector("#progress", state="hidden")
    show(page, "#/word/source/school", ".planes svg")
    page.locator("#main tbody tr").first.locator("button").first.click()
    page.wait_for_selector('[data-verdict="accepted"]')
    page.evaluate("document.getElementById('live').textContent = ''")
    keep(page, "explore-word")
    page.locator("section[aria-labelledby=map]").scroll_into_view_if_needed()
    page.locator("section[aria-labelledby=map]").screenshot(path=IMAGES / "explore-map.png")
    show(page, "#/lexicon?by=frequency&status=open", ".entries li")
    for key, place in (("a", 1), ("r", 2), ("a", 3)):
        page.locator(f".entries li:nth-child({place})").focus()
        page.keyboard.press(key)
        page.wait_for_selector(f'.entries li:nth-child({place}):not([data-verdict="open"])')
    page.evaluate("document.getElementById('live').textContent = ''")
    keep(page, "explore-lexicon")
    show(page, "#/checks", "#hubs")
    keep(page, "explore-checks")
    phone = browser.new_page(viewport={"width": 390, "height": 760}, color_scheme="dark")
    phone.set_default_timeout(WAIT)
    phone.goto(f"{url}#/word/target/école")
    phone.wait_for_selector(".planes svg")
    keep(phone, "explore-phone")
    for image in IMAGES.glob("explore-*.png"):
        assert image.stat().st_size < LARGEST, image


def show(page: Page, address: str, ready: str) -> None:
    """Open a view and wait until it is loaded."""
    page.evaluate("address => { location.hash = address; }", address)
    page.wait_for_selector(ready)
    page.wait_for_selector("#main:not([aria-busy])")


def keep(page: Page, name: str) -> None:
    """Save a screenshot."""
    page.screenshot(path=IMAGES / f"{name}.png")


def make_run(folder: Path) -> Path:
    """Align the bundled sample."""
    from bilex import align, get_method, sample

    data = sample.load("en-fr")
    align(data.source, data.target, data.train, method=get_method("rapo", {"epochs": "5"})).save(folder)
    return folder


if __name__ == "__main__":
    main()
