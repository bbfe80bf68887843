"""Dictionary files that real programs have written (README.md beside them): what is understood of each."""

import json
from pathlib import Path

import pytest

from bilex.errors import LexiconError
from bilex.io.sheets.recognize import is_dictionary
from bilex.lexicon import Lexicon

FILES = Path(__file__).parent / "files"
EXPECTED = json.loads((FILES / "understood.json").read_text(encoding="utf-8"))
FRENCH = [
    *(("the", "le"), ("the", "la"), ("the", "les"), ("dog", "chien"), ("to go", "aller"), ("to go", "partir")),
    *(("ice cream", "glace"), ("ice cream", "crème glacée"), ("year", "an"), ("year", "année")),
]
ALL_FRENCH = [
    *FRENCH,
    *(("colour", "couleur"), ("color", "couleur"), ("1,000", "mille"), ("km/h", "km/h"), ("yes", "oui")),
    ("Christmas", "Noël"),
]
GERMAN = [
    *(("Straße", "street"), ("Straße", "road"), ("Mädchen", "girl"), ("Käse", "cheese"), ("grün", "green")),
    ("Tür", "door"),
]
PLAIN = [("dog", "chien"), ("cat", "chat"), ("house", "maison"), ("school", "école"), ("ice cream", "glace")]
RUSSIAN = [("дом", "house"), ("дом", "home"), ("вода", "water"), ("ёлка", "fir")]
MERGED = [("perro", "dog"), ("perro", "hound"), ("perro", "doggy"), ("gato", "cat"), ("gato", "tomcat")]
DECORATED = [("maison", "منزل"), ("maison", "بيت"), ("école", "مدرسة"), ("livre", "كتاب"), ("cahier", "كتاب")]
SEPARATOR_LINE = [*(("Hund", "dog"), ("Hund", "hound"), ("Schloss", "castle"), ("Schloss", "lock"), ("Bank", "bank"))]
FAR = [*PLAIN, *[("same", "même")] * 3]
FORMULAS = [("dog", "chien"), ("cat", "chat"), ("true", "TRUE"), ("old", "vieux")]
PAIRS = {
    "lo-comma-utf8.csv": ALL_FRENCH,
    "lo-semicolon-cp1252.csv": ALL_FRENCH,
    "lo-tab-utf16.txt": ALL_FRENCH,
    "lo-all-quoted.csv": ALL_FRENCH,
    "lo-unquoted-tab.tsv": ALL_FRENCH,
    "lo.xlsx": ALL_FRENCH,
    "lo-open-xml.xlsx": ALL_FRENCH,
    "lo.ods": ALL_FRENCH,
    "lo-russian.ods": RUSSIAN,
    "lo-merged.xlsx": MERGED,
    "lo-merged.ods": MERGED,
    "lo-formulas.xlsx": FORMULAS,
    "lo-formulas.ods": FORMULAS,
    "lo-decorated.xlsx": DECORATED,
    "lo-decorated.ods": DECORATED,
    "lo-two-sheets.xlsx": GERMAN,
    "lo-two-sheets.ods": GERMAN,
    "lo-far-cell.xlsx": FAR,
    "lo-far-cell.ods": FAR,
    "excel-utf8-bom.csv": ALL_FRENCH,
    "excel-unicode-text.txt": GERMAN,
    "excel-macintosh.csv": GERMAN,
    "excel-no-heading.csv": FRENCH,
    "excel-separator-line.csv": SEPARATOR_LINE,
    "headless-comma.csv": PLAIN,
    "pandas-index.csv": ALL_FRENCH,
    "pandas.xlsx": ALL_FRENCH,
    "polars-numbers.csv": PLAIN,
    "polars.xlsx": PLAIN,
    "openpyxl-uncomputed.xlsx": GERMAN,
    "sqlite.csv": PLAIN,
    "sqlite-tabs.tsv": PLAIN,
}
ENCODINGS = {"excel-cp1250.csv": "cp1250", "lo-cp1251.csv": "cp1251"}
"""Texts in a Windows code page."""


@pytest.mark.parametrize("name", PAIRS)
def test_pairs(name):
    assert list(Lexicon.read(FILES / name)) == PAIRS[name]
    assert list(Lexicon.of(FILES / name)) == PAIRS[name]


@pytest.mark.parametrize("name", PAIRS)
def test_what_is_said(name):
    assert Lexicon.read(FILES / name).report.summary() == EXPECTED[name]


@pytest.mark.parametrize("name", [*PAIRS, *ENCODINGS])
def test_every_file_is_known_as_a_dictionary(name):
    assert is_dictionary(FILES / name)


def test_all_files_are_tested():
    names = {path.name for path in FILES.iterdir()} - {"README.md", "understood.json"}
    assert names == {*PAIRS, *ENCODINGS}
    readme = (FILES / "README.md").read_text(encoding="utf-8")
    assert [name for name in names if f"`{name}`" not in readme] == []
    assert len(names) >= 25


def test_cyrillic_of_windows_is_not_guessed():
    with pytest.raises(LexiconError, match=r"which is not utf-8; .*cp1251 'Русский;English'"):
        Lexicon.read(FILES / "lo-cp1251.csv")
    assert list(Lexicon.read(FILES / "lo-cp1251.csv", encoding="cp1251")) == RUSSIAN


def test_czech_of_windows_is_recognized_and_said():
    lexicon = Lexicon.read(FILES / "excel-cp1250.csv")
    assert list(lexicon) == [("řeka", "river"), ("žlutý", "yellow"), ("dům", "house"), ("dům", "home")]
    assert lexicon.report.understood.heading_row == 1
    assert lexicon.report.summary()[-1] == (
        "read as cp1250, with words such as 'česky', which would be 'èesky' in cp1252; if they are wrong, name another "
        "encoding with `encoding`"
    )
    named = Lexicon.read(FILES / "excel-cp1250.csv", encoding="cp1252")
    assert "øeka" in named.sources
    assert named.report.doubts == ()


@pytest.mark.parametrize("suffix", ["xlsx", "ods"])
def test_a_sheet_by_name_or_number(suffix):
    path = FILES / f"lo-two-sheets.{suffix}"
    assert Lexicon.read(path, sheet="Words & more").pairs == Lexicon.read(path, sheet=2).pairs
    assert Lexicon.read(path, sheet="Hidden").pairs == (("secret", "geheim"),)
    with pytest.raises(LexiconError, match="there is no sheet 'Wörter'; `sheet` can be 'Read me', 'Words & more'"):
        Lexicon.read(path, sheet="Wörter")
    with pytest.raises(LexiconError, match="sheet 'Read me': found 1 column of text"):
        Lexicon.read(path, sheet=1)


@pytest.mark.parametrize("name", ["lo.xlsx", "lo.ods", "lo-comma-utf8.csv", "lo-tab-utf16.txt"])
def test_columns_by_number_and_by_heading(name):
    path = FILES / name
    tagged = [("n", "dog"), ("v", "to go")]
    for columns in ("2,1", "POS,English", (2, 1), ("POS", "English")):
        lexicon = Lexicon.read(path, columns=columns)
        assert [pair for pair in lexicon if pair in tagged] == tagged
        assert lexicon.report.understood.why == "named"
    both = Lexicon.read(path, columns="English,French,POS", cells="whole")
    assert ("ice cream", "glace, crème glacée") in both
    assert ("ice cream", "n") in both
    with pytest.raises(LexiconError, match="no row has the headings 'English', 'Frensh'; the first has 'English'"):
        Lexicon.read(path, columns="English,Frensh")
    with pytest.raises(LexiconError, match="`columns` names column 9, and there are 4: 4 columns of text"):
        Lexicon.read(path, columns="1,9")
