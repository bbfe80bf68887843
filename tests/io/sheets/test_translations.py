import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilex.io.sheets.translations import SPREADSHEET_ERROR, take_apart, without_remarks


@pytest.mark.parametrize(
    ("cell", "words", "signs"),
    [
        ("le, autre / x", ("le", "autre", "x"), {",", "/"}),
        ("chien", ("chien",), set()),
        ("  ice   cream\u00a0", ("ice cream",), set()),
        ("a; b;c ;", ("a", "b", "c"), {";"}),
        ("one\ntwo\r\nthree", ("one", "two", "three"), {"\n"}),
        ("a | b", ("a", "b"), {"|"}),
        ("狗、犬；狗子", ("狗", "犬", "狗子"), {",", ";"}),
        ("منزل، بيت", ("منزل", "بيت"), {","}),
        ("chien/chienne", ("chien", "chienne"), {"/"}),
        ("km/h", ("km/h",), set()),
        ("24/7", ("24/7",), set()),
        ("1,000", ("1,000",), set()),
        ("1,a", ("1", "a"), {","}),
        ("a, a", ("a",), set()),
        ("a, -, ?", ("a",), set()),
        ("—", (), set()),
        ("", (), set()),
        ("l'eau", ("l'eau",), set()),
        ("\ufeffdog\u200b", ("dog",), set()),
        ("می\u200cروم", ("می\u200cروم",), set()),
    ],
)
def test_words_and_signs(cell, words, signs):
    found = take_apart(cell)
    assert (found.words, found.signs, found.remark) == (words, frozenset(signs), False)


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("year (n., m.)", ("year",)),
        ("oui [fam. ouais]", ("oui",)),
        ("(le) chien", ("chien",)),
        ("a (b (c, d)), e", ("a", "e")),
        ("狗（动物）", ("狗",)),
        ("(archaic)", ()),
    ],
)
def test_remarks_are_left_out(cell, words):
    found = take_apart(cell)
    assert (found.words, found.remark) == (words, True)


@pytest.mark.parametrize("cell", [":)", "a (b", "a) b (c", "a (b]", "plain"])
def test_brackets_that_do_not_match_stay(cell):
    assert without_remarks(cell) is cell


@given(st.text(max_size=30))
def test_words_are_tidy_and_come_from_the_cell(cell):
    for word in take_apart(cell).words:
        assert word == " ".join(word.split())
        assert any(map(str.isalnum, word))
        assert set(word) <= set(cell) | {" "}


@pytest.mark.parametrize("text", ["#N/A", "#REF!", "#NAME?", "#DIV/0!", "#NV", "#BEZUG!", "Err:502"])
def test_errors_of_spreadsheets(text):
    assert SPREADSHEET_ERROR.fullmatch(text)


@pytest.mark.parametrize("text", ["#tag", "#", "# a", "#1"])
def test_words_with_a_hash_are_no_errors(text):
    assert not SPREADSHEET_ERROR.fullmatch(text)
