"""A review in a real browser, as a lexicographer does it: by keys, with evidence, and together with others."""

import sqlite3
from contextlib import closing

import pytest

from bilex import Alignment, Lexicon
from bilex.cli import main
from bilex.explorer.kinds import is_word
from bilex.run.corrections import Corrections
from lexicon_files import read_pairs

ROW = ".entries tr[data-entry]"
FOCUSED = f"{ROW}:focus"


def row(page, place):
    """The entry at this place of the list, from 1."""
    return page.locator(f".entries tr:nth-child({place})[data-entry]")


def headwords(page):
    return page.locator(f"{ROW} .headword").all_inner_texts()


def candidates(page, place):
    return row(page, place).locator(".choice .word").all_inner_texts()


def chosen(page, place):
    return row(page, place).locator('.choice[aria-pressed="true"] .word').all_inner_texts()


def wait_focus(page, place):
    page.wait_for_selector(f".entries tr:nth-child({place}):focus")


def total(page):
    return int(page.locator(".total").inner_text().split("of ")[1].replace(",", ""))


@pytest.fixture
def corpora(run, tmp_path):
    """A text of each language. The first has every source word of the list, also in hostile company."""
    words = Alignment.load(run).tables
    english, french = tmp_path / "english.txt", tmp_path / "texts"
    lines = [f"Here one reads {word} in the middle of a line.\n" for word in words.source.words[:80]]
    english.write_text("".join(lines) + "<img src=x onerror=document.title='gone'> is text here, as the rest is.\n")
    french.mkdir()
    (french / "un.txt").write_text("".join(f"On y lit {word} au milieu.\n" for word in words.target.words[:400]))
    return english, french


def test_a_whole_review(served, page, run, kept, saved, corpora, tmp_path):
    english, french = corpora
    url = served("--source-corpus", english, "--target-corpus", french, "--reviewer", "Anna")
    page.goto(f"{url}#/lexicon?origin=found")
    page.wait_for_selector(FOCUSED)
    words, shown = headwords(page), [candidates(page, place) for place in range(1, 12)]
    before = total(page)
    # Ten entries by keys only, as fast as they come; the first two candidates of the third are both right.
    for key in ("a", "r", "1", "2", "j", "s", "p", "2", "ArrowDown", "a", "a"):
        page.keyboard.press(key)
    wait_focus(page, 9)
    page.keyboard.press("c")
    page.wait_for_selector("dialog[open] #right:focus")
    page.keyboard.type("mot nouveau")
    page.keyboard.press("Tab")
    page.keyboard.type("said a native speaker")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("dialog", state="detached")
    wait_focus(page, 10)
    page.keyboard.press("a")
    wait_focus(page, 11)
    saved()
    pairs = {word: (word, first[0]) for word, first in zip(words, shown, strict=False)}
    expected = {
        0: ("accepted", shown[0][0]),
        1: ("rejected", None),
        2: ("corrected", ", ".join(shown[2][:2])),
        5: ("corrected", shown[5][1]),
        6: ("accepted", shown[6][0]),
        7: ("accepted", shown[7][0]),
        8: ("corrected", "mot nouveau"),
        9: ("accepted", shown[9][0]),
    }
    refused = {(words[1], candidate): ("rejected", None) for candidate in shown[1]}
    assert kept() == refused | {pairs[words[place]]: right for place, right in expected.items()}
    # An example in context, of the word and of its candidates, side by side.
    page.keyboard.press("e")
    page.wait_for_selector(f'.evidence[data-of="{words[10]}"] .of-word mark')
    assert page.locator(".evidence .of-word mark").first.inner_text() == words[10]
    assert page.locator(".evidence .side").count() == 1 + len(shown[10])
    page.keyboard.press("ArrowUp")
    page.wait_for_selector(f'.evidence[data-of="{words[9]}"] .of-word mark')
    page.keyboard.press("e")
    page.wait_for_selector(".evidence", state="hidden")
    # One bulk accept, and its undo.
    decided = kept()
    page.keyboard.press("b")
    page.wait_for_selector("dialog[open] #threshold:focus")
    page.keyboard.type("-1")
    page.wait_for_selector("dialog button.primary:not([disabled])")
    many = int(page.locator("dialog button.primary").inner_text().split()[1].replace(",", ""))
    assert many > 100
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog", state="detached")
    page.wait_for_selector('.entries tr:nth-child(12)[data-verdict="accepted"]')
    saved()
    assert len(kept()) == len(decided) + many
    page.keyboard.press("u")
    page.wait_for_selector('.entries tr:nth-child(12)[data-verdict="open"]')
    saved()
    assert kept() == decided
    # All is there after a reload, and after the program was killed.
    for again in range(2):
        if again:
            served.kill()
            url = served("--source-corpus", english, "--target-corpus", french)
            page.goto(f"{url}#/lexicon?origin=found")
        else:
            page.reload()
        page.wait_for_selector(FOCUSED)
        assert total(page) == before
        assert chosen(page, 3) == shown[2][:2]
        assert row(page, 9).locator(".note").inner_text() == "said a native speaker"
        assert [row(page, place).get_attribute("data-mark") for place in (4, 5)] == ["skipped", "name"]
        assert row(page, 1).locator(".by").inner_text() == "Anna"
    merged_and_exported(page, run, kept, saved, pairs[words[0]], tmp_path)


def merged_and_exported(page, run, kept, saved, pair, tmp_path):
    """Merge a second reviewer's file, settle what they differ on, export, and align again."""
    with closing(Corrections(tmp_path / "ben.sqlite")) as ben:
        ben.decide(*pair, "rejected", note="never heard")
        ben.decide("quite", "new", "accepted")
    with closing(sqlite3.connect(tmp_path / "ben.sqlite")) as file:
        file.execute("PRAGMA journal_mode = DELETE")
    page.keyboard.press("w")
    page.set_input_files("#merge", tmp_path / "ben.sqlite")
    page.wait_for_selector(f"[data-conflict={pair[0]!r}]")
    saved()
    assert kept()[pair][0] == "accepted", "what was decided here counts"
    assert kept()["quite", "new"][0] == "accepted"
    assert page.locator("section[aria-labelledby=who] tbody tr td:first-child").all_inner_texts() == ["Anna", "ben"]
    assert page.locator("section[aria-labelledby=agreement] tbody td").all_inner_texts()[1:3] == ["1", "0 (0 %)"]
    page.locator(f"[data-conflict={pair[0]!r}] li", has_text="ben").get_by_text("Take this").click()
    page.wait_for_selector("[data-conflict]", state="detached")
    saved()
    assert kept()[pair] == ("rejected", None)
    right = {(source, target) for (source, _), (_, t) in kept().items() if t for target in t.split(", ")}
    for what, name in (("corrections", "pairs.tsv"), ("dictionary", "all.tsv"), ("decisions", "copy.sqlite")):
        page.keyboard.press("Escape")
        page.keyboard.press("d")
        with page.expect_download() as started:
            page.locator(f"dialog[open] [data-file={what}]").click()
        started.value.save_as(tmp_path / name)
        page.locator("dialog[open] .actions button").click()
        page.wait_for_selector("dialog", state="detached")
    assert set(Lexicon.read(tmp_path / "pairs.tsv")) == right
    assert right <= set(Lexicon.read(tmp_path / "all.tsv"))
    with closing(Corrections(tmp_path / "copy.sqlite", reading=True)) as copy:
        assert {decision.reviewer for decision in copy.of_reviewers()} == {"Anna", "ben", ""}
    tables = [run / "source.safetensors", run / "target.safetensors"]
    command = ["align", *tables, "--corrections", run, "--method", "procrustes", "--output", tmp_path / "next"]
    with pytest.raises(SystemExit) as ended:
        main([str(part) for part in command])
    assert ended.value.code == 0
    learnt = set(Lexicon.read(tmp_path / "next" / "train.tsv"))
    assert right <= learnt
    assert pair not in learnt


def test_home_tells_of_the_lexicon_and_leads_on(served, page, kept, saved):
    page.goto(served())
    page.wait_for_selector(FOCUSED)
    assert page.locator("h1").inner_text() == "en → fr"
    assert page.locator("[data-fact=Words]").inner_text() == "600 of en, 800 of fr"
    useful = headwords(page)
    assert len(useful) == 8
    page.keyboard.press("a")
    wait_focus(page, 2)
    saved()
    assert [source for source, _ in kept()] == [useful[0]]
    page.reload()
    page.wait_for_selector(FOCUSED)
    assert useful[0] not in headwords(page)
    assert "1 of" in page.locator(".far label").first.inner_text()
    page.fill("#reviewer", "שרה")
    page.keyboard.press("Enter")
    page.locator("#go-on").click()
    page.wait_for_selector(".total")
    page.wait_for_selector(FOCUSED)
    page.keyboard.press("r")
    saved()
    assert page.locator(".by").first.inner_text() == "שרה"
    # The list is found again as it was left.
    page.select_option("[name=status]", "rejected")
    page.wait_for_selector('.total:text-is("1 to 1 of 1")')
    page.locator("nav [data-view=home]").click()
    page.wait_for_selector("#go-on")
    page.locator("#go-on").click()
    page.wait_for_selector('.total:text-is("1 to 1 of 1")')


def test_the_dialog_by_keys_alone(served, page, kept, saved):
    page.goto(f"{served()}#/lexicon?origin=found")
    page.wait_for_selector(FOCUSED)
    words = headwords(page)
    # The second of several is completed, and the first stays.
    page.keyboard.press("c")
    page.wait_for_selector("dialog[open] #right:focus")
    page.keyboard.insert_text("mot nouveau, polit")
    page.wait_for_selector("dialog [role=option]")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    typed = page.locator("#right").input_value()
    assert typed.startswith("mot nouveau, polit")
    page.keyboard.press("Enter")
    page.wait_for_selector("#live:has-text('mot nouveau is not in the target table')")
    page.wait_for_selector("dialog", state="detached")
    wait_focus(page, 2)
    saved()
    assert chosen(page, 1) == typed.split(", ")
    assert {source: right for (source, _), right in kept().items()} == {words[0]: ("corrected", typed)}
    # They come again as they were typed, and a note or a mark changes none of them.
    page.keyboard.press("ArrowUp")
    page.keyboard.press("c")
    page.wait_for_selector("dialog[open] #right:focus")
    assert page.locator("#right").input_value() == typed
    page.fill("#note", "both")
    page.select_option("#mark", "multiword")
    page.locator("#keep-note").click()
    page.wait_for_selector('.note:text-is("both")')
    saved()
    assert {source: right for (source, _), right in kept().items()} == {words[0]: ("corrected", typed)}
    assert row(page, 1).get_attribute("data-mark") == "multiword"
    # A candidate joins them by its digit; taking back goes step by step.
    page.wait_for_selector(f"{ROW}:focus")
    row(page, 1).focus()
    page.keyboard.press("1")
    saved()
    assert len(chosen(page, 1)) == 3
    for _ in range(3):
        page.locator("#undo").click()
        saved()
    page.wait_for_selector('.entries tr:nth-child(1)[data-verdict="open"]')
    assert kept() == {}
    # Escape changes nothing.
    row(page, 1).focus()
    page.keyboard.press("n")
    page.wait_for_selector("dialog[open] #note:focus")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    assert kept() == {}


def test_a_rejection_is_taken_back_in_one_step(served, page, kept, saved):
    page.goto(f"{served()}#/lexicon?origin=found")
    page.wait_for_selector(FOCUSED)
    word, shown = headwords(page)[0], candidates(page, 1)
    page.keyboard.press("r")
    page.wait_for_selector('#counts:text-is("1 rejected")')
    assert kept() == {(word, candidate): ("rejected", None) for candidate in shown}
    page.keyboard.press("u")
    page.wait_for_selector('.entries tr:nth-child(1)[data-verdict="open"]')
    saved()
    assert kept() == {}
    assert page.locator("#live").inner_text() == f"Taken back: {word} – {shown[0]}"
    wait_focus(page, 2)


@pytest.mark.parametrize(("kind", "suffix"), [("tmx", ".tmx"), ("stardict", ".zip"), ("xlsx", ".xlsx")])
def test_the_lexicon_in_a_format_of_ones_choice(served, page, saved, tmp_path, kind, suffix):
    page.goto(f"{served()}#/lexicon?origin=found")
    page.wait_for_selector(FOCUSED)
    pair = headwords(page)[0], candidates(page, 1)[0]
    page.keyboard.press("a")
    saved()
    page.keyboard.press("d")
    page.select_option("#format", kind)
    page.select_option("#which", "true")
    assert page.locator("#source-language").is_visible() == (kind != "xlsx")
    if kind == "tmx":
        page.fill("#source-language", "en-GB")
    with page.expect_download() as started:
        page.locator("#get-lexicon").click()
    assert started.value.suggested_filename == f"en-fr{suffix}"
    started.value.save_as(tmp_path / f"lexicon{suffix}")
    assert read_pairs(tmp_path / f"lexicon{suffix}") == [pair]
    page.wait_for_selector("dialog [role=status]:text-is('Downloaded.')")
    if kind == "tmx":
        assert 'xml:lang="en-GB"' in (tmp_path / "lexicon.tmx").read_text()


def test_no_entry_is_skipped_at_the_end_of_a_page(served, page, run, kept, saved):
    page.goto(f"{served()}#/lexicon?status=open")
    page.wait_for_selector(FOCUSED)
    first = headwords(page)
    for key in ("a", "r", "End", "a"):
        page.keyboard.press(key)
    page.wait_for_selector(f'.entries tr:nth-child(1):not([data-source="{first[0]}"])')
    wait_focus(page, 1)
    saved()
    assert len({source for source, _ in kept()}) == 3
    words = [word for word in Alignment.load(run).source.words if is_word(word)]
    assert headwords(page)[0] == words[words.index(first[-1]) + 1]
    page.get_by_role("button", name="Back", exact=True).click()
    page.wait_for_selector('.total:has-text("1 to 50 of")')
    assert set(headwords(page)) >= set(first) - {first[0], first[1], first[-1]}


def test_columns_sort_and_the_address_remembers(shown, page):
    page.goto(f"{shown}#/lexicon")
    page.wait_for_selector(FOCUSED)
    page.locator("[data-order=score]").click()
    page.wait_for_selector("th[aria-sort=descending] [data-order=score]")
    figures = page.locator(f"{ROW} [data-name=score]").all_inner_texts()
    values = [float(text.replace("−", "-")) for text in figures if text]
    assert values == sorted(values, reverse=True)
    page.locator("[data-order=score]").click()
    page.wait_for_selector("th[aria-sort=ascending] [data-order=score]")
    page.reload()
    page.wait_for_selector("th[aria-sort=ascending] [data-order=score]")
    assert "order=score" in page.url


def test_what_is_no_word_is_hidden_until_it_is_asked_for(shown, page, made):
    page.goto(f"{shown}#/lexicon")
    page.wait_for_selector(FOCUSED)
    hidden = total(page)
    page.locator("[name=hide][value=nonwords]").uncheck()
    page.wait_for_selector('.total:has-text("of 600")')
    assert hidden == sum(map(is_word, Alignment.load(made).source.words)) < 600
    page.locator("[name=hide][value=given]").check()
    page.wait_for_selector(".tag.given", state="detached")
    assert "hide=given" in page.url


def test_what_could_not_be_saved_is_shown_as_it_was(served, page):
    page.goto(f"{served()}#/lexicon")
    page.wait_for_selector(FOCUSED)
    page.evaluate(
        """() => {
            const send = window.fetch;
            const refusal = () => new Response(JSON.stringify({ error: "the disk is full" }), { status: 400 });
            window.fetch = async (url, ...more) => String(url).includes("/api/review") ? refusal() : send(url, ...more);
        }"""
    )
    page.keyboard.press("a")
    page.wait_for_selector('#live:text-is("the disk is full")')
    page.wait_for_selector('.entries tr:first-child:focus[data-verdict="open"]')


def test_keys_that_are_faster_than_the_server(served, page, kept, saved):
    """A key between the answers to the two before is about what is shown, not about what the server knows yet."""
    page.goto(f"{served()}#/lexicon?origin=found")
    page.wait_for_selector(FOCUSED)
    page.evaluate(
        """() => {
            const send = window.fetch;
            let requests = 0;
            window.fetch = async (url, ...more) => {
                if (String(url).includes("/api/review") && ++requests === 2)
                    await new Promise((release) => { window.release = release; });
                return send(url, ...more);
            };
        }"""
    )
    page.keyboard.press("1")
    page.keyboard.press("2")
    page.wait_for_function("() => window.release")  # the first is answered, and the second waits
    page.keyboard.press("3")
    page.evaluate("() => window.release()")
    saved()
    assert chosen(page, 1) == candidates(page, 1)[:3]
    assert [right for _, right in kept().values()] == [", ".join(candidates(page, 1)[:3])]


@pytest.mark.parametrize(("key", "code"), [("ф", "KeyA"), ("&", "Digit1")], ids=["Russian", "French"])
def test_keys_of_other_keyboards(served, page, kept, saved, key, code):
    page.goto(f"{served()}#/lexicon")
    page.wait_for_selector(FOCUSED)
    page.evaluate(
        """([key, code]) => document.activeElement.dispatchEvent(
            new KeyboardEvent("keydown", { key, code, bubbles: true, cancelable: true }))""",
        [key, code],
    )
    page.wait_for_selector('.entries tr:first-child[data-verdict="accepted"]')
    saved()
    assert len(kept()) == 1


def test_learning_from_decisions_and_taking_it_back(explore, page, reranked, alike, tmp_path):
    reranked.save(tmp_path / "second")
    with closing(Corrections(tmp_path / "second" / "corrections.sqlite")) as corrections:
        for source, target in list(alike.test)[:30]:
            corrections.decide(source, target, "accepted")
    page.goto(explore(tmp_path / "second").url)
    page.wait_for_selector("#learn:enabled")
    assert page.locator("#learn").inner_text() == "Learn from my decisions"
    assert page.locator("#forget").count() == 0
    before = page.locator("[data-fact=Expected]").inner_text()
    page.locator("#learn").click()
    page.wait_for_selector("#forget:enabled")
    assert "Ranked with what 30 decided entries taught." in page.locator("#learning").inner_text()
    page.locator("#forget").click()
    page.wait_for_selector('#learn:enabled:text-is("Learn from my decisions")')
    page.wait_for_function("text => document.querySelector('[data-fact=Expected]')?.innerText === text", arg=before)
    # While the lexicon is ranked anew, the page asks for it until it is there, which a browser reports.
    page.problems[:] = [problem for problem in page.problems if "503" not in problem]


def test_a_run_without_a_second_stage_has_nothing_to_learn_with(served, page):
    page.goto(served())
    page.wait_for_selector(FOCUSED)
    assert page.locator("#learning").count() == 0


def test_hostile_words_and_texts_are_shown_as_text(served, page, corpora):
    english, french = corpora
    page.goto(f"{served('--source-corpus', english, '--target-corpus', french)}#/lexicon?text=onerror&hide=none")
    page.wait_for_selector(FOCUSED)
    page.keyboard.press("e")
    page.wait_for_selector(".evidence .of-word mark")
    assert page.locator(".evidence .of-word mark").inner_text() == "<img src=x onerror=document.title='gone'>"
    assert page.locator("#main img").count() == 0
    assert page.title().endswith("bilex explore")
