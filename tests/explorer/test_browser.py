"""The page in a real browser: what a person does there, from search to the next alignment."""

import json
import os
import shutil
import signal
import subprocess
import sys

import pytest

from bilex import Lexicon
from bilex.cli import main

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
WAIT = 600_000  # milliseconds, for machines that have other work; nothing waits that long if all is well


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed here")
    sync = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync.sync_playwright() as playwright:
        # Without its sandbox it also starts where the tests run as root, as in containers.
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"], timeout=WAIT)
        yield started
        started.close()


@pytest.fixture
def served(run):
    """Start and end the real program; gives its address."""
    programs = []

    def start():
        command = [sys.executable, "-m", "bilex", "explore", run, "--port", "0", "--no-open", "--json"]
        program = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
        )
        programs.append(program)
        return json.loads(program.stdout.readline())["url"]

    def kill():
        program = programs.pop()
        program.send_signal(signal.SIGKILL)
        program.communicate(timeout=60)

    start.kill = kill
    yield start
    while programs:
        kill()


@pytest.fixture
def page(browser):
    """A page that takes note of every error and of every request to elsewhere."""
    context = browser.new_context(viewport={"width": 1100, "height": 800})
    context.set_default_timeout(WAIT)
    opened = context.new_page()
    opened.problems = []
    opened.on("pageerror", lambda error: opened.problems.append(str(error)))
    opened.on("console", lambda message: opened.problems.append(message.text) if message.type == "error" else None)
    opened.on(
        "request", lambda asked: None if "127.0.0.1" in asked.url else opened.problems.append(f"request to {asked.url}")
    )
    yield opened
    context.close()
    assert opened.problems == []


def look_up(page, word, side="source"):
    page.keyboard.press("Escape")
    page.locator(f'.switch label:has(input[value="{side}"])').click()
    page.fill("#word", word)
    page.keyboard.press("Enter")
    page.wait_for_selector(f'h1 .word:text-is("{word}")')
    page.wait_for_selector("#main:not([aria-busy])")


def download(page, what):
    page.locator("h1").click()
    page.keyboard.press("d")
    with page.expect_download() as started:
        page.locator(f"dialog[open] [data-file={what}]").click()
    page.locator("dialog[open] button").click()
    return started.value


def test_from_search_to_the_next_alignment(served, page, run, tmp_path):
    page.goto(served())
    page.wait_for_selector("#progress", state="hidden")
    # Search with completion and keys alone.
    page.keyboard.press("Escape")
    page.locator("h1").click()
    page.keyboard.press("/")
    page.keyboard.type("peop")
    page.wait_for_selector('[role=option] :text-is("people")')
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector('h1 .word:text-is("people")')
    page.wait_for_selector(".planes svg")
    assert page.locator("#main table").first.locator("tbody tr").count() == 10
    assert page.locator(".planes svg").count() == 2
    assert page.locator(".planes svg").first.locator(".mark").count() == page.locator(".points li").count()
    best = page.locator("#main tbody tr a").first.inner_text()
    # The other direction, by a link.
    page.locator("#main tbody tr a").first.click()
    page.wait_for_selector(f'h1 .word:text-is("{best}")')
    assert page.locator('input[value="target"]').is_checked()
    page.wait_for_selector("#main:not([aria-busy])")
    page.go_back()
    page.wait_for_selector('h1 .word:text-is("people")')
    page.wait_for_selector("#main:not([aria-busy])")
    # Decide in the lexicon: accept, reject, correct, take back.
    page.locator("h1").click()
    page.keyboard.press("2")
    page.wait_for_selector(".entries li")
    entries = page.locator(".entries li")
    pairs = [entries.nth(i).locator(".word").all_inner_texts()[:2] for i in range(4)]
    entries.first.focus()
    page.keyboard.press("a")
    page.wait_for_selector('.entries li:nth-child(1)[data-verdict="accepted"]')
    page.wait_for_selector(".entries li:nth-child(2):focus")
    page.keyboard.press("r")
    page.wait_for_selector('.entries li:nth-child(2)[data-verdict="rejected"]')
    page.wait_for_selector(".entries li:nth-child(3):focus")
    page.keyboard.press("c")
    page.wait_for_selector("dialog[open] #right:focus")
    page.fill("#right", "juste")
    page.fill("#note", "said a native speaker")
    page.locator("dialog button.primary").click()
    page.wait_for_selector('.entries li:nth-child(3)[data-verdict="corrected"]')
    page.wait_for_selector(".entries li:nth-child(4):focus")
    page.keyboard.press("a")
    page.wait_for_selector('.entries li:nth-child(4)[data-verdict="accepted"]')
    page.keyboard.press("u")
    page.wait_for_selector('.entries li:nth-child(4)[data-verdict="open"]')
    assert page.locator("#counts").inner_text() == "1 accepted, 1 rejected, 1 corrected"
    # They are there after a reload, and after the program was killed.
    for again in range(2):
        if again:
            served.kill()
            page.goto(served())
            page.locator("nav a[data-view=lexicon]").click()
        else:
            page.reload()
        page.wait_for_selector('.entries li:nth-child(3)[data-verdict="corrected"]')
        assert [entries.nth(i).get_attribute("data-verdict") for i in range(4)] == [
            "accepted",
            "rejected",
            "corrected",
            "open",
        ]
        assert page.locator(".note").inner_text() == "said a native speaker"
    # What is downloaded is what the next alignment learns from.
    download(page, "corrections").save_as(tmp_path / "seed.tsv")
    expected = (tuple(pairs[0]), (pairs[2][0], "juste"))
    assert Lexicon.read(tmp_path / "seed.tsv").pairs == expected
    tables = [run / "source.safetensors", run / "target.safetensors"]
    command = ["align", *tables, "--train", tmp_path / "seed.tsv", "--output", tmp_path / "next"]
    with pytest.raises(SystemExit) as ended:
        main([str(part) for part in command])
    assert ended.value.code == 0
    assert Lexicon.read(tmp_path / "next" / "train.tsv").pairs == expected
    # What was learnt from goes with it, or the whole lexicon.
    download(page, "dictionary").save_as(tmp_path / "all.tsv")
    assert set(expected) <= set(Lexicon.read(tmp_path / "all.tsv"))
    assert len(Lexicon.read(tmp_path / "all.tsv")) > 100
    download(page, "lexicon").save_as(tmp_path / "lexicon.tsv")
    lexicon = set(Lexicon.read(tmp_path / "lexicon.tsv"))
    assert set(expected) <= lexicon
    assert tuple(pairs[1]) not in lexicon
    assert tuple(pairs[2]) not in lexicon


def test_corrections_by_keys_alone(served, page):
    page.goto(f"{served()}#/lexicon")
    page.wait_for_selector(".entries li")
    page.locator(".entries li").first.focus()
    # A word that the table does not have, and Enter.
    page.keyboard.press("c")
    page.wait_for_selector("dialog[open] #right:focus")
    page.keyboard.type("mot nouveau")
    page.keyboard.press("Enter")
    page.wait_for_selector('.entries li:nth-child(1)[data-verdict="corrected"] :text-is("mot nouveau")')
    # One of the list: Enter takes it, and once more keeps it.
    page.wait_for_selector(".entries li:nth-child(2):focus")
    page.keyboard.press("c")
    page.wait_for_selector("dialog[open] #right:focus")
    page.keyboard.type("polit")
    page.wait_for_selector("dialog [role=option]")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    taken = page.locator("#right").input_value()
    assert taken.startswith("polit")
    assert page.locator("dialog[open]").count() == 1
    page.keyboard.press("Tab")
    page.keyboard.type("as in the news")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(f'.entries li:nth-child(2)[data-verdict="corrected"] :text-is("{taken}")')
    assert page.locator(".note").inner_text() == "as in the news"
    # Escape changes nothing.
    page.wait_for_selector(".entries li:nth-child(3):focus")
    page.keyboard.press("c")
    page.wait_for_selector("dialog[open] #right:focus")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    assert page.locator("#counts").inner_text() == "2 corrected"


def test_hostile_words_are_shown_as_words(served, page, hostile):
    page.goto(served())
    page.wait_for_selector("#progress", state="hidden")
    page.fill("#word", hostile)
    page.keyboard.press("Enter")
    page.wait_for_selector(".planes svg")
    assert page.locator("h1 .word").inner_text() == hostile
    assert page.locator("#main img").count() == 0
    assert page.title().endswith("bilex explore")


def test_on_a_phone_in_the_dark(served, browser):
    context = browser.new_context(viewport={"width": 360, "height": 740}, color_scheme="dark")
    context.set_default_timeout(WAIT)
    page = context.new_page()
    page.goto(served())
    page.wait_for_selector("#progress", state="hidden")
    for address, ready in (("#/word/target/שלום", ".planes svg"), ("#/lexicon", ".entries li"), ("#/checks", "#hubs")):
        page.evaluate("address => { location.hash = address; }", address)
        page.wait_for_selector(ready)
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 360, address
    page.locator("#download").click()
    assert page.locator("dialog[open] dd").first.bounding_box()["width"] > 200
    assert page.evaluate("document.querySelector('dialog').scrollHeight") < 740
    page.locator("dialog[open] button").click()
    page.evaluate("location.hash = '#/word/target/שלום'")
    page.wait_for_selector("h1 .word")
    assert page.evaluate("getComputedStyle(document.querySelector('h1 .word')).direction") == "rtl"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    context.close()


def test_everything_has_a_name_and_a_role(served, page):
    page.goto(served())
    page.wait_for_selector("#progress", state="hidden")
    for address, ready in (
        ("#/word/source/people", ".planes svg"),
        ("#/lexicon", ".entries li"),
        ("#/checks", "#hubs"),
    ):
        page.evaluate("address => { location.hash = address; }", address)
        page.wait_for_selector(ready)
        nameless = page.evaluate(
            """() => [...document.querySelectorAll("button, a, input, select, textarea, svg[role=img]")].filter((e) =>
                !(e.getAttribute("aria-label") || e.textContent.trim() || e.labels?.length)).map((e) => e.outerHTML)"""
        )
        assert nameless == []
        assert page.locator("h1").count() == 1
    assert page.locator("#word").get_attribute("role") == "combobox"
