"""Examples in context: what is indexed, what is found, and what a stranger's file can do."""

import sqlite3
from contextlib import closing

import pytest

from bilex.errors import ExplorerError
from bilex.explorer import corpus_index
from bilex.explorer.corpus import CONTEXT, Corpus
from bilex.explorer.corpus_index import MAX_CHARACTERS, ensure_index, sentences


@pytest.fixture
def indexed(tmp_path):
    """Index a text and open it."""
    opened = []

    def make(text, name="text.txt"):
        data = text if isinstance(text, bytes) else text.encode()
        (tmp_path / name).write_bytes(data)
        index = tmp_path / "cache" / f"{name}.sqlite"
        ensure_index(tmp_path / name, index)
        opened.append(Corpus(index))
        return opened[-1]

    yield make
    for corpus in opened:
        corpus.close()


def matches(corpus, word):
    return ["".join(example) for example in corpus.examples(word, 10).examples]


def test_a_word_as_a_whole_in_any_letter_case(indexed):
    corpus = indexed("The school is old.\nSchools are new.\nA SCHOOL-bus came.\nNothing here.\n")
    assert matches(corpus, "school") == ["The school is old.", "A SCHOOL-bus came."]
    (before, match, after), *_ = corpus.examples("old", 1).examples
    assert (before, match, after) == ("The school is ", "old", ".")
    assert matches(corpus, "") == matches(corpus, "...") == matches(corpus, "absent") == []


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("我们在学校学习。", "学校"),
        ("שלום לכולם.", "שלום"),
        ("l’école d'aujourd'hui", "aujourd'hui"),
        ("Élan vital", "élan"),
        ('ein "Wort" AND NOT (x*)', '"Wort" AND NOT (x'),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
    ],
)
def test_words_of_any_script_and_of_any_malice(indexed, text, word):
    assert matches(indexed(f"other line\n{text}\n"), word) == [text]


def test_every_sentence_is_found_once_and_long_ones_are_cut(indexed):
    long = "word " * 400
    corpus = indexed(f"same line\nsame line\n{long}needle {long}\n")
    assert matches(corpus, "same") == ["same line"]
    (example,) = corpus.examples("needle", 3).examples
    assert len(example.before) <= CONTEXT + 1
    assert len(example.after) <= CONTEXT + 1
    assert corpus.examples("word", 3).sentences >= 4000 // MAX_CHARACTERS


def test_nothing_of_a_text_is_lost(tmp_path, monkeypatch):
    """Whatever the blocks are in which it is read, as a plain split of the whole text says."""
    text = "Ein Satz. Noch einer! " * 30 + "\n\n" + "été 水 " * 200 + "\nlast"
    (tmp_path / "t").write_text(text)
    for size in (1 << 20, 997):
        monkeypatch.setattr(corpus_index, "BLOCK", size)
        found = " ".join(sentences(tmp_path / "t", [0]))
        if size > len(text.encode()):
            assert found.split() == text.split()
        assert found.split()[:60] == text.split()[:60]


def test_a_folder_and_bytes_that_are_no_text(tmp_path):
    folder = tmp_path / "texts"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.txt").write_text("first file\n")
    (folder / "sub" / "b").write_bytes(b"second \xff file\n")
    (folder / ".hidden").write_text("third file\n")
    index = tmp_path / "i.sqlite"
    assert ensure_index(folder, index)
    with closing(Corpus(index)) as corpus:
        assert matches(corpus, "file") == ["second \ufffd file", "first file"]
    (folder / "c.bin").write_bytes(b"\0" * 10)
    with pytest.raises(ExplorerError, match=r"c\.bin: this is no plain text"):
        ensure_index(folder, index)
    with closing(Corpus(index)) as corpus:
        assert corpus.examples("file", 3).sentences == 2, "the former index is still there"


def test_an_index_is_made_once_and_again_for_another_text(tmp_path):
    text, index = tmp_path / "t.txt", tmp_path / "i.sqlite"
    text.write_text("one\n")
    told = []
    assert ensure_index(text, index, lambda done, total: told.append((done, total)))
    assert told[-1] == (4, 4)
    assert not ensure_index(text, index)
    text.write_text("one and two\n")
    assert ensure_index(text, index)
    index.write_bytes(b"damaged")
    assert ensure_index(text, index)
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".tmp"] == []


@pytest.mark.parametrize("content", ["", "\n\n"])
def test_no_text(tmp_path, content):
    (tmp_path / "t").write_text(content)
    with pytest.raises(ExplorerError, match="there is no text"):
        ensure_index(tmp_path / "t", tmp_path / "i")
    assert not (tmp_path / "i").exists()
    with pytest.raises(ExplorerError, match="no such file or folder"):
        ensure_index(tmp_path / "none", tmp_path / "i")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ExplorerError, match="no text file in this folder"):
        ensure_index(tmp_path / "empty", tmp_path / "i")


def test_an_index_with_a_trigger_is_not_opened(tmp_path):
    text, index = tmp_path / "t.txt", tmp_path / "i.sqlite"
    text.write_text("one\n")
    ensure_index(text, index)
    with closing(sqlite3.connect(index)) as file:
        file.execute("CREATE TRIGGER evil AFTER INSERT ON examples BEGIN DELETE FROM about; END")
        file.commit()
    with pytest.raises(ExplorerError, match="damaged"):
        Corpus(index)
    assert ensure_index(text, index), "it is made again"


def test_memory_does_not_grow_with_the_corpus(tmp_path):
    import tracemalloc

    (tmp_path / "t").write_text("a line of some words in a text that repeats\n" * 200_000)
    tracemalloc.start()
    assert sum(1 for _ in sentences(tmp_path / "t", [0])) == 200_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * (1 << 20)
