"""The page in a real browser: what a person does there, from search to the next alignment."""

import threading

import pytest

from bilex import Alignment

WAIT = 600_000
"""Milliseconds; see conftest."""
ROW = "tr[data-entry]"


def look_up(page, word, side="source"):
    page.keyboard.press("Escape")
    page.locator(f'.switch label:has(input[value="{side}"])').click()
    page.fill("#word", word)
    page.keyboard.press("Enter")
    page.wait_for_selector(f'h1 .word:text-is("{word}")')
    page.wait_for_selector("#main:not([aria-busy])")


def open_figures(page):
    page.locator("h1").click()
    page.keyboard.press("f")
    page.wait_for_selector(".planes svg")


def test_from_search_to_the_figures_and_to_the_other_direction(shown, page):
    page.goto(shown)
    page.wait_for_selector("#progress", state="hidden")
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.insert_text("peop")
    page.wait_for_selector('[role=option] :text-is("people")')
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector('h1 .word:text-is("people")')
    page.wait_for_selector(".candidates tr[data-entry]:focus")
    assert page.locator(".candidates tbody tr").count() >= 10
    assert page.locator(".planes svg").count() == 0, "figures are one click away"
    open_figures(page)
    assert page.locator(".planes svg").count() == 2
    assert page.locator(".planes svg").first.locator(".mark").count() == page.locator(".points li").count()
    ranks = page.locator(".figure-table").first.locator("tbody tr td:nth-child(7)").all_inner_texts()
    assert "1" in ranks
    # Whoever has opened the figures sees them with the next word too; the other direction, by a link.
    best = page.locator(".candidates tbody a").first.inner_text()
    page.locator(".candidates tbody a").first.click()
    page.wait_for_selector(f'h1 .word:text-is("{best}")')
    page.wait_for_selector(".planes svg")
    assert page.locator('input[value="target"]').is_checked()
    page.go_back()
    page.wait_for_selector('h1 .word:text-is("people")')
    page.wait_for_selector("#main:not([aria-busy])")


def test_what_is_given_is_marked_and_comes_first(shown, page, made):
    alignment = Alignment.load(made)
    given = {source: targets for source, targets in alignment.given.targets_of().items() if source in alignment.source}
    several = next(source for source, targets in given.items() if len(targets) > 1)
    page.goto(f"{shown}#/lexicon?origin=given&hide=none")
    page.wait_for_selector(f"{ROW}:focus")
    assert page.locator(".total").inner_text().endswith(f"of {len(given)}")
    assert page.locator(".entries .tag.given").count() == page.locator(f".entries {ROW}").count()
    for place in range(5):
        row = page.locator(f".entries {ROW}").nth(place)
        source = row.locator(".headword").inner_text()
        assert row.locator("[data-given] .word").all_inner_texts() == given[source]
        words = row.locator(".choice .word").all_inner_texts()
        assert words[: len(given[source])] == given[source]
    assert "null" not in page.locator(".entries").inner_text()
    look_up(page, several)
    rows = page.locator("#main table").first.locator("tbody tr")
    marked = rows.filter(has=page.locator(".tag.given"))
    assert marked.locator(".word").all_inner_texts() == given[several]
    words = rows.locator(".word").all_inner_texts()
    assert words[: len(given[several])] == given[several]
    assert len(set(words)) == len(words) >= 10


def test_what_was_accepted_comes_before_what_is_given(served, page, made):
    alignment = Alignment.load(made)
    source = next(source for source, _ in alignment.given if source in alignment.source)
    page.goto(served())
    look_up(page, source)
    rows = page.locator("#main table").first.locator("tbody tr")
    last = rows.last.locator(".word").inner_text()
    rows.last.locator("button").first.click()
    page.wait_for_selector('#main [data-verdict="accepted"]')
    page.reload()
    page.wait_for_selector('#main tbody tr:first-child[data-verdict="accepted"]')
    assert rows.first.locator(".word").inner_text() == last


def test_keys_work_before_the_server_has_answered(shown, page):
    answered = threading.Event()
    waiting = []
    page.route("**/api/status", lambda route: route.continue_() if answered.is_set() else waiting.append(route))
    page.goto(shown)
    assert not page.locator("main h1").count(), "nothing is there but the frame"
    page.keyboard.press("/")
    page.keyboard.type("peop")
    assert page.locator("#word").input_value() == "peop"
    page.wait_for_selector("[role=option]")
    page.keyboard.press("Escape")  # closes the list of completions
    page.keyboard.press("Escape")  # leaves the field
    page.keyboard.press("l")
    answered.set()
    for route in waiting:
        route.continue_()
    page.wait_for_selector(f".entries {ROW}:first-child:focus")


def test_keys_work_in_every_view(shown, page):
    page.goto(shown)
    page.wait_for_selector("#progress", state="hidden")
    search = page.locator("#word")
    views = dict.fromkeys("hlx", f".entries {ROW}:focus") | {"w": "#files"}
    for key, ready in views.items():
        page.keyboard.press(key)
        page.wait_for_selector(f"main {ready}")
        page.keyboard.press("?")
        page.wait_for_selector("dialog[open] .keys")
        page.keyboard.press("Escape")
        page.wait_for_selector("dialog", state="detached")
        # The key that leads to the field is no part of the word, nor is it once more.
        for _ in range(2):
            page.keyboard.press("/")
            page.wait_for_selector("#word:focus")
        page.keyboard.type("of")
        assert search.input_value() == "of"
        page.keyboard.type("/s")
        assert search.input_value() == "of/s", "within a word it is a letter"
        page.keyboard.press("Control+A")
        page.keyboard.press("/")
        page.keyboard.press("Backspace")
        page.keyboard.press("Escape")
        page.wait_for_selector(f"main {ready}")
        for direction, side in (("<", "target"), (">", "source"), (">", "source")):
            page.keyboard.press(direction)
            page.wait_for_selector("#word:focus")
            assert page.locator(f'input[value="{side}"]').is_checked()
            assert search.input_value() == ""
            page.keyboard.press("Escape")
        page.wait_for_selector(f"main {ready}")


@pytest.mark.parametrize("key", ["ArrowDown", "Escape"])
def test_no_list_comes_late(shown, page, key):
    """Who chooses from a list, or closes it, gets no other one for what was typed before."""
    page.goto(shown)
    page.wait_for_selector("#progress", state="hidden")
    page.keyboard.press("/")
    page.keyboard.insert_text("peo")
    page.wait_for_selector("[role=option]")
    page.evaluate(
        """() => {
            const send = window.fetch;
            const late = () => new Response(JSON.stringify(["late"]));
            window.fetch = (url, ...more) => String(url).includes("/api/complete")
                ? new Promise((resolve) => { window.answer = () => resolve(late()); })
                : send(url, ...more);
        }"""
    )
    page.keyboard.insert_text("p")
    page.wait_for_function("() => window.answer")
    page.keyboard.press(key)
    page.evaluate("() => window.answer()")
    page.evaluate("() => fetch('/api/status').then((response) => response.text())")  # takes longer than the answer
    assert page.locator("[role=listbox]").is_visible() == (key == "ArrowDown")
    if key == "ArrowDown":
        chosen = page.locator("[role=option][aria-selected=true]").inner_text()
        page.keyboard.press("Enter")
        page.wait_for_selector(f'h1 .word:text-is("{chosen}")')


def test_decisions_about_a_word_by_keys_alone(served, page, kept, saved):
    page.goto(f"{served()}#/word/source/people")
    page.wait_for_selector("tbody tr:first-child:focus")
    words = page.locator("tbody").first.locator("tr .word").all_inner_texts()
    for key in ("r", "ArrowDown", "A"):
        page.keyboard.press(key)
    page.wait_for_selector(f'tr[data-verdict="accepted"] :text-is("{words[2]}")')
    saved()
    assert kept() == {("people", words[0]): ("rejected", None), ("people", words[2]): ("accepted", words[2])}
    # Without a row in the focus a key leads back to it, and decides nothing.
    page.locator("h1").click()
    page.keyboard.press("a")
    page.wait_for_selector("tbody tr:nth-child(4):focus")
    assert len(kept()) == 2


def test_hostile_words_are_shown_as_words(shown, page, hostile):
    page.goto(shown)
    page.wait_for_selector("#progress", state="hidden")
    page.fill("#word", hostile)
    page.keyboard.press("Enter")
    page.wait_for_selector(".candidates tr")
    open_figures(page)
    assert page.locator("h1 .word").inner_text() == hostile
    assert page.locator("#main img").count() == 0
    assert page.title().endswith("bilex explore")


def test_on_a_phone_in_the_dark(shown, browser):
    context = browser.new_context(viewport={"width": 360, "height": 740}, color_scheme="dark")
    context.set_default_timeout(WAIT)
    page = context.new_page()
    page.goto(shown)
    page.wait_for_selector("#progress", state="hidden")
    addresses = [
        ("#/word/target/שלום", ".candidates tr"),
        ("#/lexicon", ROW),
        ("#/checks", "#hubs"),
        ("#/people", "#files"),
    ]
    for address, ready in [("#/", "#go-on"), *addresses]:
        page.evaluate("address => { location.hash = address; }", address)
        page.wait_for_selector(ready)
        page.wait_for_selector("#main:not([aria-busy])")
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 360, address
    page.locator("#download").click()
    assert page.locator("dialog[open] dd").first.bounding_box()["width"] > 200
    assert page.evaluate("document.querySelector('dialog').scrollHeight") < 740
    assert page.evaluate("document.querySelector('dialog').scrollWidth") <= 360
    page.locator("dialog[open] .actions button").click()
    page.evaluate("location.hash = '#/word/target/שלום'")
    page.wait_for_selector("h1 .word")
    assert page.evaluate("getComputedStyle(document.querySelector('h1 .word')).direction") == "rtl"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    context.close()


def test_everything_has_a_name_and_a_role(shown, page):
    page.goto(shown)
    page.wait_for_selector("#progress", state="hidden")
    for address, ready in (
        ("#/", "#go-on"),
        ("#/word/source/people", ".candidates tr"),
        ("#/lexicon", ROW),
        ("#/checks", "#hubs"),
        ("#/people", "#files"),
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
