"""Make docs/images/explore-*.png: the page of `bilex explore` on a run of the bundled sample.

    python tools/make_screenshots.py [RUN]

Without RUN the English-French sample is aligned first. Needs playwright and an installed
Chromium (the environment variable CHROMIUM is its path, default: `chromium`). Decisions are saved to a temporary file.
The examples come from tools/texts. The page from right to left shows a run whose words are a few lines of Hebrew.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

from bilex import EmbeddingTable, Lexicon, align
from bilex.run.corrections import Corrections

if TYPE_CHECKING:
    from collections.abc import Iterator

TOOLS = Path(__file__).resolve().parent
IMAGES = TOOLS.parent / "docs" / "images"
WAIT = 600_000
LARGEST = 200 * 1024
HEBREW = "בית ספר מים אור שמש לילה יום עץ דרך אדם ילד אישה עיר שיר לב ארץ שמים יד עין זמן"
ENGLISH = "house book water light sun night day tree road man child woman city song heart land sky hand eye time"


def main() -> None:
    """Start `bilex explore`, and take a screenshot of each view."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"], timeout=WAIT)
        run = Path(sys.argv[1]) if len(sys.argv) > 1 else make_run(folder / "en-fr")
        texts = ["--source-corpus", TOOLS / "texts" / "en.txt", "--target-corpus", TOOLS / "texts" / "fr.txt"]
        with explored(run, folder / "anna.sqlite", "--reviewer", "Anna", *texts) as url:
            take(browser, url)
            take_people(browser, url, folder)
            take_phone(browser, url)
        with explored(make_hebrew(folder / "he-en"), folder / "sara.sqlite", "--reviewer", "שרה") as url:
            take_hebrew(browser, url)
        browser.close()
    for image in IMAGES.glob("explore-*.png"):
        assert image.stat().st_size < LARGEST, image


@contextmanager
def explored(run: Path, decisions: Path, *options: object) -> Iterator[str]:
    """Run `bilex explore`; the address of its page."""
    command = [sys.executable, "-m", "bilex", "explore", run, "--port", "0", "--no-open", "--json"]
    with subprocess.Popen(
        [*command, "--corrections", decisions, *options], stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            yield json.loads(server.stdout.readline())["url"]
        finally:
            server.terminate()


def opened(browser: Browser, address: str, ready: str, **options: object) -> Page:
    """A new page at this address, loaded."""
    page = browser.new_page(**{"viewport": {"width": 1200, "height": 760}, **options})
    page.set_default_timeout(WAIT)
    page.goto(address)
    page.wait_for_selector("#progress", state="hidden")
    page.wait_for_selector(ready)
    page.wait_for_selector("#main:not([aria-busy])")
    return page


def take(browser: Browser, url: str) -> None:
    """The second page of the list with examples, downloads, the first page, a word, its map, and the checks."""
    page = opened(browser, f"{url}#/lexicon?origin=found", ".entries tr:focus")
    page.get_by_role("button", name="Next", exact=True).click()
    page.locator('tr[data-source="new"]').focus()
    for key in "1234j2jaaras":
        page.keyboard.press(key)
    page.locator('tr[data-source="year"]').focus()
    page.keyboard.press("e")
    page.wait_for_selector('.evidence[data-of="year"] mark')
    page.wait_for_selector('body[data-pending="0"]')
    keep(page, "explore-review")
    page.keyboard.press("e")
    page.keyboard.press("d")
    page.wait_for_selector("dialog[open] .export")
    keep(page, "explore-download")
    page.keyboard.press("Escape")
    show(page, "#/", "#go-on")
    keep(page, "explore-home")
    show(page, "#/word/source/school", ".side mark")
    keep(page, "explore-word")
    page.keyboard.press("f")
    page.wait_for_selector(".planes svg")
    page.locator("section[aria-labelledby=map]").screenshot(path=IMAGES / "explore-map.png")
    page.keyboard.press("f")
    show(page, "#/checks", "#hubs")
    keep(page, "explore-checks")


def take_people(browser: Browser, url: str, folder: Path) -> None:
    """Two reviewers, with a conflict: the second one decides what the list shows first, and differs once."""
    page = opened(browser, f"{url}#/lexicon?status=decided", ".entries tr:focus")
    entries = page.evaluate("[...document.querySelectorAll('.entries tr[data-entry]')].map((row) => row.entry)")
    with closing(Corrections(folder / "ben.sqlite")) as ben:
        for place, entry in enumerate(entries):
            ben.decide(entry["source"], entry["target"], "rejected" if place == 1 else "accepted")
    page.keyboard.press("w")
    page.set_input_files("#merge", folder / "ben.sqlite")
    page.wait_for_selector("[data-conflict]")
    keep(page, "explore-people")


def take_phone(browser: Browser, url: str) -> None:
    """The list and a word on a phone, in the dark."""
    phone = {"viewport": {"width": 390, "height": 760}, "color_scheme": "dark"}
    keep(opened(browser, f"{url}#/lexicon?status=open", ".entries tr:focus", **phone), "explore-phone")


def take_hebrew(browser: Browser, url: str) -> None:
    """A language that is written from right to left."""
    page = opened(browser, f"{url}#/lexicon", ".entries tr:focus", viewport={"width": 1200, "height": 460})
    for key in "aa12j":
        page.keyboard.press(key)
    page.wait_for_selector('body[data-pending="0"]')
    keep(page, "explore-hebrew")


def show(page: Page, address: str, ready: str) -> None:
    """Open a view and wait until it is loaded."""
    page.evaluate("address => { location.hash = address; }", address)
    page.wait_for_selector(ready)
    page.wait_for_selector("#main:not([aria-busy])")


def keep(page: Page, name: str) -> None:
    """Save a screenshot, without the message of the last key."""
    page.evaluate("document.getElementById('live').textContent = ''")
    page.screenshot(path=IMAGES / f"{name}.png")


def make_run(folder: Path) -> Path:
    """Align the bundled sample."""
    from bilex import sample

    data = sample.load("en-fr")
    align(data.source, data.target, data.train).save(folder)
    return folder


def make_hebrew(folder: Path) -> Path:
    """Align twenty words by vectors that are a rotation of each other, with noise."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((20, 8)).astype(np.float32)
    z = x @ np.linalg.qr(rng.standard_normal((8, 8)))[0].astype(np.float32)
    z += 0.4 * rng.standard_normal(z.shape).astype(np.float32)
    source, target = folder.parent / "he.vec", folder.parent / "en.vec"
    EmbeddingTable(HEBREW.split(), x).write(source)
    EmbeddingTable(ENGLISH.split(), z).write(target)
    train = Lexicon.from_pairs(zip(HEBREW.split()[::2], ENGLISH.split()[::2], strict=True))
    align(source, target, train, method="procrustes", measured=False).save(folder)
    return folder


if __name__ == "__main__":
    main()
