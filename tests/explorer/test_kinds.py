import numpy as np
import pytest

from bilex.explorer.kinds import Kinds, is_word, script_of


@pytest.mark.parametrize("text", ["</s>", "<unk>", "<s/>", "1984", "3.14", "...", "—", "", "٣"])
def test_no_words(text):
    assert not is_word(text)


@pytest.mark.parametrize("text", ["a", "l'eau", "1er", "שלום", "水", "<3x", "New_York", "<img src=x>"])
def test_words(text):
    assert is_word(text)


@pytest.mark.parametrize(
    ("word", "script"),
    [
        ("été", "Latin"),
        ("мир", "Cyrillic"),
        ("שלום", "Hebrew"),
        ("水", "Han"),
        ("سلام", "Arabic"),
        ("1a", "Latin"),
        ("12", ""),
    ],
)
def test_script(word, script):
    assert script_of(word) == script


def test_columns():
    kinds = Kinds(["the", "Paris", "May", "may", "мир", "12", "Élan", "a", "b"])
    assert kinds.capitals_mark_names
    assert np.flatnonzero(kinds.names).tolist() == [1, 6]
    assert np.flatnonzero(kinds.nonword).tolist() == [5]
    assert kinds.scripts == ["Latin", "Cyrillic"]
    assert np.flatnonzero(kinds.in_script("Cyrillic")).tolist() == [4]
    assert not kinds.in_script("Greek").any()
    assert Kinds([]).scripts == []


def test_capitals_mark_no_names_where_nouns_have_them():
    german = Kinds(["und", "die", "Frau", "in", "der", "Stadt", "ist", "ein", "Haus", "mit", "Garten"])
    assert not german.capitals_mark_names
    assert not german.names.any()
    assert not Kinds(["12", "."]).capitals_mark_names


def test_frequent_words_tell_what_capitals_mean():
    """Rare words are mostly names, whatever the language."""
    kinds = Kinds([f"word{i}" for i in range(5000)] + [f"Name{i}" for i in range(20_000)])
    assert kinds.names.sum() == 20_000
