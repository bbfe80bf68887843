"""The page in a real browser: what a person does there, from search to the next alignment."""

import shutil
import signal
import threading

import pytest

from bilex import Alignment, Lexicon
from bilex.cli import main
from bilex.run.corrections import Corrections

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
# Without its sandbox it also starts where the tests run as root, as in containers; it asks the network for nothing.
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip
WAIT = 600_000  # milliseconds, for machines that have other work; nothing waits that long if all is well


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed here")
    sync = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS, timeout=WAIT)
        yield started
        started.close()


@pytest.fixture
def served(explore, run):
    """Start and end the real program; gives its address."""

    def start():
        start.program = explore(run)
        return start.program.url

    start.kill = lambda: start.program.end(signal.SIGKILL)
    return start


@pytest.fixture(scope="module")
def shown(exploring, made, tmp_path_factory):
    """The address of one program for all tests that only look."""
    with exploring(shutil.copytree(made, tmp_path_factory.mktemp("shown") / "run")) as program:
        yield program.url


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
    page.keyboard.insert_text("peop")
    page.wait_for_selector('[role=option] :text-is("people")')
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector('h1 .word:text-is("people")')
    page.wait_for_selector(".planes svg")
    assert page.locator("#main table").first.locator("tbody tr").count() >= 10
    assert page.locator(".planes svg").count() == 2
    assert page.locator(".planes svg").first.locator(".mark").count() == page.locator(".points li").count()
    best = page.locator("#main tbody tr a").first.inner_text()
    # The other direction, by a link.
    page.locator("#main tbody tr a").first.click()  # of a word with a vector
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
    command = ["align", *tables, "--train", tmp_path / "seed.tsv", "--fast", "--output", tmp_path / "next"]
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
    page.keyboard.insert_text("polit")
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


def test_several_translations_at_once(served, page, run):
    page.goto(f"{served()}#/lexicon?origin=found")
    page.wait_for_selector(".entries li:focus")
    entry = page.locator(".entries li").first
    pair = tuple(entry.locator(".pair .word").all_inner_texts())
    page.keyboard.press("c")
    page.wait_for_selector("dialog[open] #right:focus")
    # The second of them is completed, and the first stays.
    page.keyboard.insert_text("mot nouveau, polit")
    page.wait_for_selector("dialog [role=option]")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    typed = page.locator("#right").input_value()
    assert typed.startswith("mot nouveau, polit")
    page.keyboard.press("Enter")
    page.wait_for_selector("#live:has-text('mot nouveau is not in the target table')")
    page.wait_for_selector('.entries li:nth-child(1)[data-verdict="corrected"]')
    assert entry.locator(".told .word").all_inner_texts() == typed.split(", ")
    assert kept(run) == {pair: ("corrected", typed)}
    # They come again as they were typed, and a note changes none of them.
    entry.focus()
    page.keyboard.press("c")
    page.wait_for_selector("dialog[open] #right:focus")
    assert page.locator("#right").input_value() == typed
    page.fill("#note", "both")
    page.locator("#keep-note").click()
    page.wait_for_selector('.note:text-is("both")')
    assert kept(run) == {pair: ("corrected", typed)}
    for _ in range(2):
        page.locator("#undo").click()
    page.wait_for_selector('.entries li:nth-child(1)[data-verdict="open"]')
    assert kept(run) == {}


def test_what_is_given_is_marked_and_comes_first(shown, page, made):
    alignment = Alignment.load(made)
    given = {source: targets for source, targets in alignment.given.targets_of().items() if source in alignment.source}
    several = next(source for source, targets in given.items() if len(targets) > 1)
    page.goto(f"{shown}#/lexicon?origin=given")
    page.wait_for_selector(".entries li:focus")
    assert page.locator("main p[role=status]").inner_text().endswith(f"of {len(given)}")
    assert page.locator(".entries .tag.given").count() == page.locator(".entries li").count()
    for place in range(5):
        source, *targets = page.locator(".entries li").nth(place).locator(".pair .word").all_inner_texts()
        assert targets == given[source]
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


def test_ten_entries_by_keys_alone(served, page, run):
    page.goto(served())
    page.keyboard.press("2")
    page.wait_for_selector(".entries li:first-child:focus")
    entries = page.locator(".entries li")
    pairs = [tuple(entries.nth(i).locator(".pair .word").all_inner_texts()[:2]) for i in range(11)]
    # As fast as the keys come, without waiting for an answer.
    for key in "aarra":
        page.keyboard.press(key)
    for right in ("mot nouveau", "deux mots"):
        page.keyboard.press("c")
        page.wait_for_selector("dialog[open] #right:focus")
        page.keyboard.type(right)
        page.keyboard.press("Enter")
        page.wait_for_selector("dialog", state="detached")
    page.wait_for_selector(".entries li:nth-child(8):focus")
    page.keyboard.press("ArrowDown")
    # It is open before it is accepted, too; only the answer says that it was taken back.
    with page.expect_response("**/api/undo"):
        for key in "rau":
            page.keyboard.press(key)
    page.wait_for_selector(".entries li:nth-child(11):focus")
    page.wait_for_selector('.entries li:nth-child(10)[data-verdict="open"]')
    stored = kept(run)
    verdicts = [
        "accepted",
        "accepted",
        "rejected",
        "rejected",
        "accepted",
        "corrected",
        "corrected",
        None,
        "rejected",
        None,
    ]
    assert [stored.get(pair, (None,))[0] for pair in pairs] == [*verdicts, None]
    assert [stored[pair][1] for pair in pairs[5:7]] == ["mot nouveau", "deux mots"]
    assert len(stored) == 8
    # Accepting again what is accepted opens it.
    page.keyboard.press("Escape")
    for _ in range(10):
        page.keyboard.press("ArrowUp")
    page.keyboard.press("a")
    page.wait_for_selector('.entries li:nth-child(1)[data-verdict="open"]')
    assert pairs[0] not in kept(run)


def kept(run):
    """What the server has stored: verdict and target by pair."""
    corrections = Corrections(run / "corrections.sqlite")
    counting = {
        pair: (d.verdict, ", ".join(d.targets) or None)
        for pair, d in corrections.current().items()
        if d.verdict != "open"
    }
    corrections.close()
    return counting


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
    page.keyboard.press("2")
    answered.set()
    for route in waiting:
        route.continue_()
    page.wait_for_selector(".entries li:first-child:focus")


def test_keys_work_in_every_view(shown, page):
    page.goto(shown)
    page.wait_for_selector("#progress", state="hidden")
    search, views = page.locator("#word"), {"1": "h1", "2": ".entries li:focus", "3": ".entries li:focus"}
    look_up(page, "people")
    views["w"] = "tbody tr:first-child:focus"
    for key, ready in views.items():
        if key == "w":
            page.go_back()
            page.go_back()
            page.go_back()
        else:
            page.keyboard.press(key)
        page.wait_for_selector(f"main {ready}")
        # A letter of a word does not turn round the direction, and begins nothing that is not said.
        page.keyboard.press("s")
        assert page.locator('input[value="source"]').is_checked()
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
    late = []
    page.route("**/api/complete*", lambda route: late.append(route))
    with page.expect_request("**/api/complete*"):
        page.keyboard.insert_text("p")
    page.keyboard.press(key)
    late[0].fulfill(json=["late"])
    page.evaluate("() => fetch('/api/status').then((response) => response.text())")  # takes longer than the answer
    assert page.locator("[role=listbox]").is_visible() == (key == "ArrowDown")
    if key == "ArrowDown":
        chosen = page.locator("[role=option][aria-selected=true]").inner_text()
        page.keyboard.press("Enter")
        page.wait_for_selector(f'h1 .word:text-is("{chosen}")')


def test_decisions_about_a_word_by_keys_alone(served, page, run):
    page.goto(f"{served()}#/word/source/people")
    page.wait_for_selector("tbody tr:first-child:focus")
    words = page.locator("tbody").first.locator("tr .word").all_inner_texts()
    for key in ("r", "ArrowDown", "A"):
        page.keyboard.press(key)
    page.wait_for_selector(f'tr[data-verdict="accepted"] :text-is("{words[2]}")')
    assert kept(run) == {("people", words[0]): ("rejected", None), ("people", words[2]): ("accepted", words[2])}
    page.wait_for_selector(".planes svg")
    ranks = page.locator("tbody").first.locator("[data-label='by cosine']").all_inner_texts()
    assert sorted(map(int, filter(None, ranks)))[0] == 1, "those without a vector have none"
    # Without a row in the focus a key leads back to it, and decides nothing.
    page.locator("h1").click()
    page.keyboard.press("a")
    page.wait_for_selector("tbody tr:nth-child(4):focus")
    assert len(kept(run)) == 2


def test_the_end_of_a_page_leads_to_the_next(served, page, run):
    page.goto(f"{served()}#/lexicon")
    page.wait_for_selector(".entries li:focus")
    page.keyboard.press("End")
    page.keyboard.press("r")
    page.wait_for_selector('main p[role=status]:text-is("51 to 100 of 600")')
    page.wait_for_selector(".entries li:first-child:focus")
    assert [verdict for verdict, _ in kept(run).values()] == ["rejected"]


def test_what_could_not_be_kept_is_returned_to(served, page):
    page.goto(f"{served()}#/lexicon")
    page.wait_for_selector(".entries li:focus")
    page.route("**/api/decide", lambda route: route.fulfill(status=400, json={"error": "the disk is full"}))
    with page.expect_console_message(lambda message: message.type == "error"):  # the browser says so too
        page.keyboard.press("a")
        page.wait_for_selector('#live:text-is("the disk is full")')
    page.wait_for_selector('.entries li:first-child:focus[data-verdict="open"]')
    page.problems.clear()


def test_letters_of_another_keyboard(served, page, run):
    page.goto(f"{served()}#/lexicon")
    page.wait_for_selector(".entries li:focus")
    page.evaluate(
        """() => document.activeElement.dispatchEvent(
            new KeyboardEvent("keydown", { key: "ф", code: "KeyA", bubbles: true, cancelable: true }))"""
    )
    page.wait_for_selector('.entries li:first-child[data-verdict="accepted"]')
    assert len(kept(run)) == 1


def test_hostile_words_are_shown_as_words(shown, page, hostile):
    page.goto(shown)
    page.wait_for_selector("#progress", state="hidden")
    page.fill("#word", hostile)
    page.keyboard.press("Enter")
    page.wait_for_selector(".planes svg")
    assert page.locator("h1 .word").inner_text() == hostile
    assert page.locator("#main img").count() == 0
    assert page.title().endswith("bilex explore")


def test_on_a_phone_in_the_dark(shown, browser):
    context = browser.new_context(viewport={"width": 360, "height": 740}, color_scheme="dark")
    context.set_default_timeout(WAIT)
    page = context.new_page()
    page.goto(shown)
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


def test_everything_has_a_name_and_a_role(shown, page):
    page.goto(shown)
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
