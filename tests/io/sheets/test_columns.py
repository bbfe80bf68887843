import pytest

from bilex.errors import LexiconError, SettingsError
from bilex.io.sheets.columns import by_content, by_heading, differs_in_kind, find_layout, parse_columns, says_heading
from bilex.io.sheets.grid import Row
from bilex.io.sheets.languages import Heading, understand


def row(*texts, number=1):
    return Row(number, {column: text for column, text in enumerate(texts) if text})


def rows(*many):
    return [row(*texts, number=number) for number, texts in enumerate(many, start=1)]


@pytest.mark.parametrize(
    ("text", "heading"),
    [
        ("English", Heading("en")),
        ("english (UK)", Heading("en")),
        ("FRENCH:", Heading("fr")),
        ("Français", Heading("fr")),
        ("中文", Heading("zh")),
        ("English word", Heading("en", "source")),
        ("French translation", Heading("fr", "target")),
        ("English note", Heading("en", "other")),
        ("Translation (FR)", Heading("fr", "target")),
        ("EN", Heading("en")),
        ("en-GB", Heading("en")),
        ("en", Heading("en", is_code=True)),
        ("fra", Heading("fr", is_code=True)),
        ("Wort", Heading(None, "source")),
        ("# source", Heading(None, "source")),
        ("Übersetzung", Heading(None, "target")),
        ("POS", Heading(None, "other")),
        ("#", Heading(None, "other")),
        ("dog", Heading()),
        ("a sentence about the English language", Heading()),
        ("", Heading()),
    ],
)
def test_what_a_heading_says(text, heading):
    assert understand(text) == heading


@pytest.mark.parametrize(
    ("texts", "columns"),
    [
        (("English", "French"), (0, (1,))),
        (("French", "POS", "English", "Notes"), (0, (2,))),
        (("Word", "Translation"), (0, (1,))),
        (("Translation", "Word"), (1, (0,))),
        (("id", "headword", "gloss", "translation"), (1, (3,))),
        (("French translation", "English word"), (1, (0,))),
        (("English", "Translation"), (0, (1,))),
        (("Word", "Finnish"), (0, (1,))),
        (("English", "French 1", "French 2"), (0, (1, 2))),
        (("EN", "FR"), (0, (1,))),
        (("", "en", "fr"), (1, (2,))),
        (("en", "fr", "pos"), (0, (1,))),
    ],
)  # fmt: skip
def test_columns_by_heading(texts, columns):
    assert by_heading(row(*texts), "dictionary") == columns


@pytest.mark.parametrize(
    "texts",
    [
        ("dog", "chien"),
        ("English", "anglais"),
        ("word", "Wort"),
        ("it", "es"),
        ("no", "nein"),
        ("English", "dog"),
        ("note", "note"),
        (" English", "French"),
        ("source", "note"),
    ],
)
def test_words_are_no_heading(texts):
    assert by_heading(row(*texts), "dictionary") is None


def test_codes_in_lower_case_are_headings_if_the_file_is_named_so():
    assert by_heading(row("en", "fr"), "my-en-fr") == (0, (1,))
    assert by_heading(row("it", "es"), "en-de") is None
    assert says_heading(["it", "es"])


def test_three_languages_are_never_guessed():
    with pytest.raises(LexiconError, match="row 1 is a heading with 3 languages: column 1 'English', column 2"):
        find_layout(rows(("English", "French", "German"), ("a", "b", "c")), None, header=None, name="")
    layout = find_layout(
        rows(("English", "French", "German"), ("a", "b", "c")), ("English", "German"), header=None, name=""
    )
    assert layout == (0, 0, (2,), "named")


class TestByContent:
    def test_numbers_are_no_words(self):
        assert by_content(rows(("1", "dog", "0,5"), ("2", "chien", "1e-3"))) is None
        assert by_content(rows(("1", "dog", "chien"), ("2", "cat", "chat"))) == (1, 2)

    def test_categories_sparse_remarks_and_long_texts_are_not_words(self):
        many = [(f"s{i}", "noun" if i % 2 else "verb", f"t{i}") for i in range(40)]
        assert by_content(rows(*many)) == (0, 2)
        remarked = [(f"s{i}", f"t{i}", "see there" if i == 3 else "") for i in range(10)]
        assert by_content(rows(*remarked)) == (0, 1)
        explained = [(f"s{i}", f"a long text that explains what word {i} is used for", f"t{i}") for i in range(10)]
        assert by_content(rows(*explained)) == (0, 2)

    def test_three_columns_of_words_are_never_guessed(self):
        found = rows(("dog", "chien", "Hund"), ("cat", "chat", "Katze"))
        assert by_content(found) is None
        with pytest.raises(
            LexiconError, match=r"3 columns of text: column 1 \('dog', 'cat'\), .*; say which .*`columns='1,3'`"
        ):
            find_layout(found, None, header=None, name="")

    def test_an_untranslated_dictionary_is_still_one(self):
        assert by_content(rows(("dog", ""), ("cat", ""), ("cow", "vache"))) == (0, 1)


class TestHeadingByKind:
    def test_text_above_numbers(self):
        assert differs_in_kind(rows(("w", "x", "n"), ("a", "b", "1"), ("c", "d", "2"), ("e", "f", "3")))

    def test_nothing_above_row_numbers(self):
        assert differs_in_kind(rows(("", "w", "x"), ("0", "a", "b"), ("1", "c", "d"), ("2", "e", "f")))

    @pytest.mark.parametrize(
        "texts",
        [
            [("a", "b", "1"), ("c", "d", "2"), ("e", "f", "3"), ("g", "h", "4")],
            [("a", "b", ""), ("c", "d", "2"), ("e", "f", "3"), ("g", "h", "4")],
            [("w", "x", "n"), ("a", "b", "1")],
        ],
    )
    def test_no_heading(self, texts):
        assert not differs_in_kind(rows(*texts))


def test_a_heading_can_be_said_to_be_there_or_not():
    found = rows(("Kata", "Arti"), ("anjing", "dog"))
    assert find_layout(found, None, header=None, name="").heading is None
    assert find_layout(found, None, header=True, name="").heading == 0
    named = rows(("English", "French"), ("dog", "chien"))
    assert find_layout(named, None, header=False, name="") == (None, 0, (1,), "content")


def test_a_title_above_the_heading():
    found = rows(("A dictionary",), ("", ""), ("English", "French"), ("dog", "chien"))
    assert find_layout(found, None, header=None, name="") == (2, 0, (1,), "heading")


@pytest.mark.parametrize("given", ["1", "1,1", "0,2", "", ",", (1,), (-1, 2)])
def test_columns_that_cannot_be(given):
    with pytest.raises(SettingsError, match=r"`columns`: found .*; needed the source column"):
        parse_columns(given)


def test_columns_as_they_are_given():
    assert parse_columns(None) is None
    assert parse_columns("1, 3") == (1, 3)
    assert parse_columns("English,French") == ("English", "French")
    assert parse_columns(["English", 3]) == ("English", 3)
