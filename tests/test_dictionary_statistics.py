import json
import sys

import pytest

import dictionary_statistics as script

DIFFERENT = {"en-fa", "fa-en", "en-he", "he-en", "ar-en"}


@pytest.fixture
def muse():
    if not script.MUSE.is_dir():
        pytest.skip("the MUSE dictionaries are not here: set BILEX_SHARED (default: `shared` beside the repository)")


def test_counts_pairs_and_unique_words_of_both_files(tmp_path):
    (tmp_path / "xx-yy.0-5000.txt").write_text("a x\na y\n# x\n", encoding="utf-8")
    (tmp_path / "xx-yy.5000-6500.txt").write_text("b\ty\na\tx\n", encoding="utf-8")
    assert script.count(tmp_path, "xx-yy") == script.Statistics(train=3, test=2, sources=3, targets=2)


def test_a_difference_is_marked_in_its_cell():
    paper = {"xx-yy": script.Statistics(5, 3, 4, 6)}
    text = script.table_text(paper, {"xx-yy": script.Statistics(5, 2, 4, 6)})
    assert "2 (3)" in text
    assert text.count("(") == 1


def test_says_what_to_set_when_the_files_are_absent(monkeypatch, tmp_path):
    monkeypatch.setattr(script, "MUSE", tmp_path / "absent")
    monkeypatch.setattr(sys, "argv", ["dictionary_statistics.py"])
    with pytest.raises(SystemExit, match="BILEX_SHARED"):
        script.main()


@pytest.mark.usefixtures("muse")
def test_fifteen_of_twenty_directions_agree_with_the_paper(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["dictionary_statistics.py", "--json"])
    script.main()
    found = json.loads(capsys.readouterr().out)
    assert {direction for direction, row in found.items() if row["differences"]} == DIFFERENT
    assert found["ar-en"]["differences"] == {"train": -1, "sources": -1, "targets": -1}


@pytest.mark.usefixtures("muse")
def test_the_printed_tables_name_the_directions_that_differ(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["dictionary_statistics.py"])
    script.main()
    printed = capsys.readouterr().out
    assert "rich-resource" in printed
    assert (
        "15 of 20 directions agree with the paper in all four figures; not: en-fa, fa-en, en-he, he-en, ar-en"
        in printed
    )
