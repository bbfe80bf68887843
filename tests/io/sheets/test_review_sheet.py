import math

import openpyxl
import pytest

from bilex import Entry, Lexicon
from bilex.errors import LexiconError, MissingExtraError
from bilex.io.entries import write_entries
from bilex.io.sheets import review_writer
from bilex.io.sheets.read import read_sheets
from bilex.io.sheets.review_sheet import read_review_sheet
from bilex.io.sheets.review_writer import write_review_sheet

ENTRIES = [
    Entry("the", "le", 0.5, 1, "given"),
    Entry("the", "la, les", 0.25, 2),
    Entry("=1+1", "@SUM(A1)", -0.1, 1),
    Entry("a_x0041_b", "ü 動物園", math.nan, 1, "corrected"),
    Entry("+", "-", 0.3, 1),
]
ALTERNATIVES = {"the": ["le", "les", "un"], "+": ["=cmd()"]}
HEADINGS = ["source", "target", "alternatives", "decision", "note", "score", "rank", "origin"]


def values(path):
    return [[cell.value for cell in row] for row in openpyxl.load_workbook(path).active]


def test_what_openpyxl_reads(tmp_path):
    assert write_entries(tmp_path / "l.xlsx", ENTRIES, "xlsx", alternatives=ALTERNATIVES) == 0
    heading, first, second, third, fourth, fifth = values(tmp_path / "l.xlsx")
    assert heading == HEADINGS
    assert first == ["the", "le", "les; un", "", "", 0.5, 1, "given"]
    assert second == ["the", "la, les", "le; les; un", "", "", 0.25, 2, "found"]
    assert third[:2] == ["=1+1", "@SUM(A1)"]
    assert fourth[1:2] + fourth[5:] == ["ü 動物園", None, 1, "corrected"]
    assert fifth[2] == "=cmd()"


def test_nothing_is_computed(tmp_path):
    """Every word is a text, also if a person edits its cell and leaves it as it is."""
    write_review_sheet(tmp_path / "l.xlsx", ENTRIES, ALTERNATIVES)
    sheet = openpyxl.load_workbook(tmp_path / "l.xlsx").active
    for place in ("A4", "B4", "A6", "B6", "C6"):
        cell = sheet[place]
        assert (cell.data_type, cell.number_format, cell.quotePrefix) == ("s", "@", True)
    assert not sheet["A2"].quotePrefix
    assert sheet["D2"].number_format == "@"


def test_a_list_to_choose_from_that_allows_other_texts(tmp_path):
    write_review_sheet(tmp_path / "l.xlsx", ENTRIES, {})
    (choice,) = openpyxl.load_workbook(tmp_path / "l.xlsx").active.data_validations.dataValidation
    assert (choice.formula1, str(choice.sqref), choice.showErrorMessage) == ('"accept,reject"', "D2:D6", False)


def test_confidence_where_it_is_known(tmp_path):
    write_review_sheet(tmp_path / "l.xlsx", [Entry("a", "b", 0.5, 1, "found", 0.87654321), Entry("c", "d")], {})
    heading, first, second = values(tmp_path / "l.xlsx")
    assert heading == [*HEADINGS[:2], "confidence", *HEADINGS[2:]]
    assert (first[2], second[2]) == (0.8765, None)


def test_backward_the_headings_say_so(tmp_path):
    write_review_sheet(tmp_path / "l.xlsx", [Entry("chien", "dog", 0.5, 1)], {}, backward=True)
    assert values(tmp_path / "l.xlsx")[0][:2] == ["target", "source"]
    (sheet,) = read_sheets(tmp_path / "l.xlsx")
    assert read_review_sheet(sheet) == [(2, "dog", "chien", "", "")]
    assert Lexicon.read(tmp_path / "l.xlsx").pairs == (("dog", "chien"),)


def test_it_is_read_as_a_dictionary_word_by_word(tmp_path):
    """Its cells are words of the tables, and no lists. What is decided in it is not applied, which is said."""
    write_review_sheet(tmp_path / "l.xlsx", ENTRIES[:4], ALTERNATIVES)
    lexicon = Lexicon.read(tmp_path / "l.xlsx")
    assert list(lexicon) == [(entry.source, entry.target) for entry in ENTRIES[:4]]
    assert lexicon.report.doubts == ("the decisions in this sheet are not applied; import them with bilex explore",)


def test_the_same_entries_give_the_same_bytes(tmp_path):
    for name in ("a.xlsx", "b.xlsx"):
        write_review_sheet(tmp_path / name, ENTRIES, ALTERNATIVES)
    assert (tmp_path / "a.xlsx").read_bytes() == (tmp_path / "b.xlsx").read_bytes()


@pytest.mark.parametrize("word", ["a\x00", "\ud800", "\uffff", "x" * 20_000])
def test_what_a_cell_cannot_hold_is_left_out(tmp_path, word):
    assert write_entries(tmp_path / "l.xlsx", [Entry(word, "x"), Entry("x", word), Entry("a", "b")], "xlsx") == 2
    assert Lexicon.read(tmp_path / "l.xlsx").pairs == (("a", "b"),)


def test_more_rows_than_a_sheet_has(tmp_path, monkeypatch):
    monkeypatch.setattr(review_writer, "MAX_ROWS", 5)
    with pytest.raises(LexiconError, match=r"a sheet holds 4 pairs, found 5; keep fewer translations \(`n`\)"):
        write_review_sheet(tmp_path / "l.xlsx", ENTRIES, {})
    assert list(tmp_path.iterdir()) == []


def test_without_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "xlsxwriter", None)
    with pytest.raises(
        MissingExtraError, match=r"writing .xlsx needs the package xlsxwriter: pip install 'bilex\[sheets\]'"
    ):
        write_review_sheet(tmp_path / "l.xlsx", ENTRIES, {})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["review.csv", "review.tsv", "semicolon.csv"])
def test_columns_may_be_moved_and_the_sheet_saved_as_text(tmp_path, name):
    separator = {"review.csv": ",", "review.tsv": "\t", "semicolon.csv": ";"}[name]
    lines = [["Decision", "note", "target", "x", "SOURCE"], ["accept", "n", "le", "", "the"], ["", "", "", "y", ""]]
    text = "\r\n".join(separator.join(line) for line in lines)
    (tmp_path / name).write_text(f"My review{separator * 4}\r\n{text}\r\n", encoding="utf-8-sig")
    (sheet,) = read_sheets(tmp_path / name)
    assert read_review_sheet(sheet) == [(3, "the", "le", "accept", "n")]


def test_a_sheet_without_the_headings(tmp_path):
    (tmp_path / "d.csv").write_text("source,target\na,b\n")
    (sheet,) = read_sheets(tmp_path / "d.csv")
    assert read_review_sheet(sheet) is None
