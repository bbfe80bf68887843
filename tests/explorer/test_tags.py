import sys

import pytest

from bilex.errors import ExplorerError, MissingExtraError
from bilex.explorer.tags import Tag, read_tags


def test_a_file(tmp_path):
    path = tmp_path / "tags.tsv"
    path.write_bytes("\ufeffhouses\thouse\tNOUN\r\n\nthe\tthe\tDET\nhouses\tother\tVERB\nran\trun\n".encode())
    tags = read_tags(str(path))
    assert tags.of("houses") == Tag("house", "NOUN"), "the first line about a word counts"
    assert tags.of("the") == Tag("", "DET"), "a lemma that is the word says nothing"
    assert tags.of("ran") == Tag("run", "")
    assert tags.of("unheard") == Tag()
    assert tags.parts == ["DET", "NOUN"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"word\n", "line 1: found 'word'"),
        (b"a\tb\tc\td\n", "line 1"),
        (b"a\tb\n\tb\n", "line 2"),
        (b"a\t" + b"b" * 101, "line 1"),
        (b"\xff\xfe\n", "not UTF-8"),
        (b"".join(b"%d\tx\tp%d\n" % (i, i) for i in range(60)), "more than 50 different parts"),
    ],
)
def test_files_that_are_refused(tmp_path, content, says):
    path = tmp_path / "tags.tsv"
    path.write_bytes(content)
    with pytest.raises(ExplorerError, match=says):
        read_tags(str(path))


def test_no_file(tmp_path):
    with pytest.raises(ExplorerError, match="No such file"):
        read_tags(str(tmp_path / "none"))
    with pytest.raises(ExplorerError, match="a folder"):
        read_tags(str(tmp_path))


def test_simplemma():
    pytest.importorskip("simplemma", reason="the extra `lemmas` is not installed")
    assert read_tags("simplemma:en").of("houses") == Tag("house", "")
    with pytest.raises(ExplorerError, match="does not have this language"):
        read_tags("simplemma:xx")


def test_without_simplemma(monkeypatch):
    monkeypatch.setitem(sys.modules, "simplemma", None)
    with pytest.raises(MissingExtraError, match=r"bilex\[lemmas\]"):
        read_tags("simplemma:en")
